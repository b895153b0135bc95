//! Indexing by several tensors at once, as NumPy's advanced indexing: index tensors broadcast
//! together, masks stand for the places where they hold, and dimensions without an index stay.

use wick_core::kernels::index::{Gather, Index, Write};
use wick_core::{DType, Layout, MAX_RANK};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::array::contiguous;
use crate::ops::elementwise::{cast, common_shape, copy_values};
use crate::ops::index::{Checked, layout, longs, longs_mut};
use crate::ops::mask::nonzero_rows;
use crate::ops::promote::Arg;
use crate::ops::put::{Put, Work, apart};
use crate::tensor::Tensor;

/// What a list of indices means for a tensor of some shape.
struct Plan {
    /// For each indexed dimension its checked indices.
    indices: Vec<(usize, Tensor)>,
    /// The shape that the indices broadcast to.
    common: Layout,
    /// The shape of the selection, and where the common dimensions begin in it.
    shape: Vec<i64>,
    at: usize,
}

/// Masks become the index vectors of their true places.
fn expand_masks(
    ctx: &Context,
    check: &Checked,
    indices: &[Option<&Tensor>],
) -> Result<Vec<Option<Tensor>>> {
    let a = check.operands[0];
    let mut out = Vec::new();
    for index in indices {
        let Some(t) = index else {
            out.push(None);
            continue;
        };
        if !matches!(t.dtype(), DType::Bool | DType::U8) {
            out.push(Some((*t).clone()));
            continue;
        }
        let first = out.len();
        if t.rank() == 0 || a.shape().get(first..first + t.rank()) != Some(t.shape()) {
            return check.shape(format!(
                "the mask {:?} must have the sizes of the dimensions that it stands for",
                t.shape()
            ));
        }
        let rows = nonzero_rows(ctx, t)?;
        for d in 0..t.rank() {
            out.push(Some(rows.with_layout(check.op, rows.layout().select(0, d as i64))?));
        }
    }
    Ok(out)
}

impl Plan {
    fn new(ctx: &Context, op: &'static str, a: &Tensor, list: &[Option<&Tensor>]) -> Result<Plan> {
        let mut operands = vec![a];
        operands.extend(list.iter().flatten());
        let check = |d: usize, size: i64| Checked {
            op,
            operands: &operands,
            dim: Some(d),
            size,
            wrap: true,
            i32: true,
        };
        let expanded = expand_masks(ctx, &check(0, 0), list)?;
        if expanded.len() > a.rank() {
            return check(0, 0).shape("more indices than dimensions");
        }
        let mut indices = Vec::new();
        for (d, index) in expanded.iter().enumerate() {
            if let Some(index) = index {
                indices.push((d, check(d, a.shape()[d]).indices(ctx, index)?));
            }
        }
        let (Some(first), Some(last)) = (indices.first(), indices.last()) else {
            return check(0, 0).shape("expected at least one index");
        };
        // Common dimensions take the place of the indexed ones where those are neighbours.
        let neighbours = last.0 - first.0 + 1 == indices.len();
        let at = if neighbours { first.0 } else { 0 };
        let args: Vec<Arg> = indices.iter().map(|(_, t)| Arg::Tensor(t)).collect();
        let common = common_shape(op, &args)?;
        let kept = |d: &usize| indices.iter().all(|(i, _)| i != d);
        let mut shape: Vec<i64> = (0..a.rank()).filter(kept).map(|d| a.shape()[d]).collect();
        if shape.len() + common.rank() > MAX_RANK {
            return check(0, 0).shape(format!("the result has more than {MAX_RANK} dimensions"));
        }
        shape.splice(at..at, common.shape().iter().copied());
        Ok(Plan { indices, common, shape, at })
    }

    /// Strides of the selection in a tensor: those of the dimensions that stay, 0 for the common ones.
    fn strides(&self, t: &Tensor) -> Vec<i64> {
        let kept = |d: &usize| self.indices.iter().all(|(i, _)| i != d);
        let mut out: Vec<i64> =
            (0..t.rank()).filter(kept).map(|d| t.layout().strides()[d]).collect();
        let zeros = std::iter::repeat_n(0, self.common.rank());
        out.splice(self.at..self.at, zeros);
        out
    }

    /// Element offsets in a tensor, one for each place of the common shape, and one past the
    /// greatest that indices can give.
    fn offsets(&self, ctx: &Context, op: &'static str, t: &Tensor) -> Result<(Tensor, i64)> {
        let out = Tensor::empty(ctx, op, DType::I64, self.common.shape())?;
        let one = Tensor::empty(ctx, op, DType::I64, self.common.shape())?;
        let sum = longs_mut(&out);
        sum.fill(0);
        let mut size = 1;
        for (d, index) in &self.indices {
            copy_values(ctx, &one, &index.broadcast_to(op, self.common.shape())?);
            let stride = t.layout().strides()[*d];
            let last = (t.shape()[*d] - 1).max(0);
            size += last * stride;
            for (to, &i) in sum.iter_mut().zip(longs(&one)) {
                // Another thread may have written the indices since they were checked.
                *to += i.clamp(0, last) * stride;
            }
        }
        Ok((out, size))
    }

    fn index(&self, op: &'static str, offsets: &Tensor, size: i64) -> Result<Index> {
        let mut strides = vec![0; self.shape.len()];
        let common = offsets.layout().strides();
        strides[self.at..self.at + common.len()].copy_from_slice(common);
        let places = layout(op, &self.shape, &strides, offsets.layout().offset())?;
        Ok(Index { view: offsets.view().with(places), step: 1, size })
    }
}

/// Elements of `a` at a list of indices, one a dimension; `None`: the whole dimension.
pub fn index(ctx: &Context, a: &Tensor, list: &[Option<&Tensor>]) -> Result<Tensor> {
    let op = "index";
    let plan = Plan::new(ctx, op, a, list)?;
    let out = Tensor::empty(ctx, op, a.dtype(), &plan.shape)?;
    if out.numel() > 0 {
        let (offsets, size) = plan.offsets(ctx, op, a)?;
        let from = layout(op, &plan.shape, &plan.strides(a), a.layout().offset())?;
        ctx.run(&Gather::new(out.view_mut(), a.view().with(from), plan.index(op, &offsets, size)?));
    }
    Ok(out)
}

/// `a` with the elements at a list of indices set to, or grown by, values that broadcast to them.
pub fn index_put(
    ctx: &Context,
    a: &Tensor,
    list: &[Option<&Tensor>],
    values: &Tensor,
    accumulate: bool,
    in_place: bool,
) -> Result<Option<Tensor>> {
    let op = "index_put";
    if values.dtype() != a.dtype() {
        return Err(Error::dtype(op, &[a, values], "the values must have the tensor's dtype"));
    }
    let plan = Plan::new(ctx, op, a, list)?;
    let values = values.broadcast_to(op, &plan.shape).map_err(|_| {
        let text = format!("the values do not broadcast to the selection {:?}", plan.shape);
        Error::shape(op, &[a, values], text)
    })?;
    let write = if accumulate { Write::Add } else { Write::Set };
    let work = Work::new(ctx, op, a, in_place, write, false)?;
    let target = &work.tensor;
    let source = if values.dtype() != target.dtype() {
        cast(ctx, &contiguous(ctx, &values)?, target.dtype())?
    } else {
        apart(ctx, op, target, &values)?
    };
    if !plan.shape.contains(&0) {
        let (offsets, size) = plan.offsets(ctx, op, target)?;
        Put {
            target,
            places: layout(op, &plan.shape, &plan.strides(target), target.layout().offset())?,
            source: source.view(),
            index: plan.index(op, &offsets, size)?,
            write,
        }
        .run(ctx)?;
    }
    Ok(work.done(ctx))
}
