//! Reading by index, and the checks of indices.

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use wick_core::kernels::index::{Gather, Index, extremes};
use wick_core::layout::wrap_dim;
use wick_core::{DType, Layout};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::array::contiguous;
use crate::ops::elementwise::cast;
use crate::ops::promote::{Overlap, check_out, overlap};
use crate::tensor::Tensor;

wick_core::named_ops! {
    /// Operations that read by index.
    IndexOp {
        /// Slices in the order of a vector.
        IndexSelect "index_select",
        /// One element an index, along a dimension.
        Gather "gather",
        /// Elements of the flattened tensor.
        Take "take",
        /// Elements where a mask holds.
        MaskedSelect "masked_select",
    }
}

/// What indices are checked against.
pub(super) struct Checked<'a> {
    pub op: &'static str,
    /// The operands, for errors; the first is the indexed tensor.
    pub operands: &'a [&'a Tensor],
    /// The dimension that they index; none: the flattened tensor.
    pub dim: Option<usize>,
    pub size: i64,
    /// Negative indices count from the end.
    pub wrap: bool,
    pub i32: bool,
}

impl Checked<'_> {
    /// Contiguous i64 indices in `[0, size)`, or the error that names the first that is not.
    pub(super) fn indices(&self, ctx: &Context, index: &Tensor) -> Result<Tensor> {
        let allowed = index.dtype() == DType::I64 || self.i32 && index.dtype() == DType::I32;
        if !allowed {
            let expected = if self.i32 { "i64 or i32" } else { "i64" };
            return self.dtype(format!("indices must be {expected}, not {}", index.dtype()));
        }
        let index = if index.dtype() == DType::I64 {
            contiguous(ctx, index)?
        } else {
            cast(ctx, index, DType::I64)?
        };
        let (least, greatest) = (AtomicI64::new(0), AtomicI64::new(-1));
        ctx.for_ranges(index.numel(), 0.3, &|start, end| {
            let (lo, hi) = extremes(ctx.arch(), &longs(&index)[start as usize..end as usize]);
            least.fetch_min(lo, Relaxed);
            greatest.fetch_max(hi, Relaxed);
        });
        let (least, greatest) = (least.into_inner(), greatest.into_inner());
        let lowest = if self.wrap { -self.size } else { 0 };
        if least < lowest || greatest >= self.size {
            return Err(self.bad(&index, lowest));
        }
        if least >= 0 {
            return Ok(index);
        }
        let wrapped = Tensor::empty(ctx, self.op, DType::I64, index.shape())?;
        for (to, &from) in longs_mut(&wrapped).iter_mut().zip(longs(&index)) {
            *to = if from < 0 { from + self.size } else { from };
        }
        Ok(wrapped)
    }

    #[cold]
    fn bad(&self, index: &Tensor, lowest: i64) -> Error {
        let bad = |v: &i64| *v < lowest || *v >= self.size;
        let found = longs(index).iter().enumerate().find(|(_, v)| bad(v));
        let Some((place, value)) = found else {
            // Another thread wrote the indices between two looks at them.
            return Error::index(self.op, self.operands, "the indices change during the call");
        };
        let place = match index.rank() {
            0 => String::new(),
            1 => format!(" at place {place}"),
            _ => format!(" at place {:?}", coordinates(index.shape(), place as i64)),
        };
        let (size, where_) = (self.size, self.dim);
        let range = match where_ {
            Some(d) => format!("dimension {d} of size {size}"),
            None => format!("the {size} elements"),
        };
        let text = format!("index {value}{place} is outside {range}");
        Error::index(self.op, self.operands, text)
    }

    pub(super) fn shape<T>(
        &self,
        expected: impl Into<std::borrow::Cow<'static, str>>,
    ) -> Result<T> {
        Err(Error::shape(self.op, self.operands, expected))
    }

    pub(super) fn dtype<T>(
        &self,
        expected: impl Into<std::borrow::Cow<'static, str>>,
    ) -> Result<T> {
        Err(Error::dtype(self.op, self.operands, expected))
    }
}

/// The index tuple of a flat position.
fn coordinates(shape: &[i64], mut place: i64) -> Vec<i64> {
    let mut out = vec![0; shape.len()];
    for d in (0..shape.len()).rev() {
        out[d] = place % shape[d];
        place /= shape[d];
    }
    out
}

/// The elements of a contiguous i64 tensor.
pub(super) fn longs(t: &Tensor) -> &[i64] {
    debug_assert!(t.dtype() == DType::I64 && t.layout().is_contiguous());
    if t.numel() == 0 {
        return &[];
    }
    // SAFETY: contiguous, inside the storage that the tensor keeps alive.
    unsafe { std::slice::from_raw_parts(t.view().start().cast(), t.numel() as usize) }
}

/// The elements of a contiguous i64 tensor that nobody else has seen yet.
#[allow(clippy::mut_from_ref)]
pub(super) fn longs_mut(t: &Tensor) -> &mut [i64] {
    debug_assert!(t.dtype() == DType::I64 && t.layout().is_contiguous());
    if t.numel() == 0 {
        return &mut [];
    }
    // SAFETY: as in longs; the tensor is fresh.
    unsafe { std::slice::from_raw_parts_mut(t.view_mut().start().cast(), t.numel() as usize) }
}

/// A layout whose parts come from layouts that exist.
pub(super) fn layout(
    op: &'static str,
    shape: &[i64],
    strides: &[i64],
    offset: i64,
) -> Result<Layout> {
    Layout::strided(shape, strides, offset).map_err(|e| Error::size(op, DType::I64, shape, e))
}

/// Strides with that of one dimension replaced.
pub(super) fn with_stride(strides: &[i64], d: usize, stride: i64) -> Vec<i64> {
    let mut out = strides.to_vec();
    out[d] = stride;
    out
}

/// A 0-d tensor as one of one element.
pub(super) fn at_least_1d(t: &Tensor) -> Tensor {
    if t.rank() > 0 {
        return t.clone();
    }
    t.with_layout("view", t.layout().unsqueeze(0)).unwrap_or_else(|_| t.clone())
}

pub(super) fn dimension(op: &'static str, t: &Tensor, dim: i64) -> Result<usize> {
    wrap_dim(dim, t.rank()).map_err(|e| Error::layout(op, t, e))
}

pub(super) fn flat(t: &Tensor) -> Result<Layout> {
    layout("flatten", &[t.numel()], &[1], t.layout().offset())
}

/// Rows (of any dimension) of `a` in the order of a vector of indices.
pub fn index_select(
    ctx: &Context,
    a: &Tensor,
    dim: i64,
    index: &Tensor,
    out: Option<&Tensor>,
) -> Result<Option<Tensor>> {
    let op = "index_select";
    let d = dimension(op, a, dim)?;
    let source = at_least_1d(a);
    let size = source.shape()[d];
    let check = Checked { op, operands: &[a, index], dim: Some(d), size, wrap: false, i32: true };
    if index.rank() > 1 {
        return check.shape("the index must be a vector");
    }
    let n = index.numel();
    if a.rank() == 0 && n != 1 {
        return check.shape("a single value takes exactly one index");
    }
    let indices = check.indices(ctx, index)?;
    let mut shape = source.shape().to_vec();
    shape[d] = n;
    let result = if a.rank() == 0 { &[][..] } else { &shape[..] };
    let target = match out {
        None => Tensor::empty(ctx, op, a.dtype(), result)?,
        Some(t) => {
            check_out(op, t, result, a.dtype(), &[a, index])?;
            if t.dtype() != a.dtype() {
                return Err(Error::dtype(op, &[t, a], "the target must have the source's dtype"));
            }
            if overlap(t, a) != Overlap::None || overlap(t, index) != Overlap::None {
                let text = "the target overlaps an operand: clone it first";
                return Err(Error::shape(op, &[t, a, index], text));
            }
            t.clone()
        }
    };
    if target.numel() > 0 {
        let strides = source.layout().strides();
        let from = layout(op, &shape, &with_stride(strides, d, 0), source.layout().offset())?;
        let mut ones = vec![0; shape.len()];
        ones[d] = 1;
        let places = layout(op, &shape, &ones, indices.layout().offset())?;
        ctx.run(&Gather::new(
            at_least_1d(&target).view_mut(),
            source.view().with(from),
            Index { view: indices.view().with(places), step: strides[d], size },
        ));
    }
    Ok(out.is_none().then_some(target))
}

/// One element of `a` for each index, which says the place along `dim`.
pub fn gather(ctx: &Context, a: &Tensor, dim: i64, index: &Tensor) -> Result<Tensor> {
    let op = "gather";
    let d = dimension(op, a, dim)?;
    let (source, at) = (at_least_1d(a), at_least_1d(index));
    let check = Checked {
        op,
        operands: &[a, index],
        dim: Some(d),
        size: source.shape()[d],
        wrap: false,
        i32: false,
    };
    let out = Tensor::empty(ctx, op, a.dtype(), index.shape())?;
    if index.numel() == 0 {
        return Ok(out);
    }
    check.sizes(&source, &at, d)?;
    let indices = check.indices(ctx, &at)?;
    let strides = source.layout().strides();
    let from = with_stride(strides, d, 0);
    let from = layout(op, at.shape(), &from, source.layout().offset())?;
    ctx.run(&Gather::new(
        at_least_1d(&out).view_mut(),
        source.view().with(from),
        Index { view: indices.view(), step: strides[d], size: check.size },
    ));
    Ok(out)
}

impl Checked<'_> {
    /// An index has as many dimensions as the tensor and is no longer in any but the indexed one.
    pub(super) fn sizes(&self, a: &Tensor, index: &Tensor, d: usize) -> Result<()> {
        if index.rank() != a.rank() {
            return self.shape("the index must have as many dimensions as the tensor");
        }
        for k in (0..a.rank()).filter(|k| *k != d) {
            if index.shape()[k] > a.shape()[k] {
                return self.shape(format!("the index is longer than the tensor in dimension {k}"));
            }
        }
        Ok(())
    }
}

/// Elements of the flattened `a`; negative indices count from the end.
pub fn take(ctx: &Context, a: &Tensor, index: &Tensor) -> Result<Tensor> {
    let op = "take";
    let check =
        Checked { op, operands: &[a, index], dim: None, size: a.numel(), wrap: true, i32: false };
    let indices = check.indices(ctx, index)?;
    let out = Tensor::empty(ctx, op, a.dtype(), index.shape())?;
    if out.numel() > 0 {
        let source = contiguous(ctx, a)?;
        let zeros = vec![0; index.rank()];
        let from = layout(op, index.shape(), &zeros, source.layout().offset())?;
        ctx.run(&Gather::new(
            out.view_mut(),
            source.view().with(from),
            Index { view: indices.view(), step: 1, size: check.size },
        ));
    }
    Ok(out)
}
