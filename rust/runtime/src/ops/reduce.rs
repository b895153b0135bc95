//! Reductions: checks, result types, the cut into pieces.

use wick_core::kernels::reduce::{Combine, Plan, Reduce, ReduceOp, Whole, folds};
use wick_core::layout::{LayoutError, dim_mask};
use wick_core::window::{Dim, Window};
use wick_core::{DType, Layout, MAX_RANK, View};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::elementwise::{Out, cast};
use crate::ops::promote::{Overlap, check_out, overlap};
use crate::tensor::Tensor;

/// Which dimensions go, and how.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Over<'a> {
    /// None, or an empty list: all of them.
    pub dims: Option<&'a [i64]>,
    pub keep_dim: bool,
}

/// Reduces to one tensor. `dtype`: the result's, to which elements are cast first.
pub fn reduce(
    ctx: &Context,
    op: ReduceOp,
    a: &Tensor,
    over: Over,
    dtype: Option<DType>,
    correction: f64,
    out: Out,
) -> Result<Option<Tensor>> {
    let name = op.name();
    let result = result_type(op, a, dtype)?;
    let shapes = Shapes::new(op, a, over)?;
    let (target, fresh) = match out {
        Out::New => (Tensor::empty(ctx, name, result, shapes.result())?, true),
        Out::Into(t) => {
            check_out(name, t, shapes.result(), result, &[a])?;
            if overlap(t, a) != Overlap::None {
                let why = "the target overlaps the operand: clone it first";
                return Err(Error::shape(name, &[t, a], why));
            }
            (t.clone(), false)
        }
        Out::InPlace => {
            return Err(Error::internal("a reduction is not done in place".into()));
        }
    };
    // The place is a fold's second result.
    let results = match op {
        ReduceOp::Argmax | ReduceOp::Argmin => [None, Some(&target)],
        _ => [Some(&target), None],
    };
    let (input, elements) = prepare(ctx, op, a, dtype)?;
    run(ctx, op, &input, elements, &shapes, results, correction)?;
    Ok(fresh.then_some(target))
}

/// Elements up to which a reduction is done in one go.
pub(crate) const WHOLE: i64 = Plan::WHOLE;

/// Writes the elements from a place on into a row of them.
pub(crate) type Make<'a> = dyn Fn(i64, &Tensor) -> Result<()> + Sync + 'a;

/// Reduces `n` elements that are made piece by piece, with the bits that they would give if they
/// lay in one row.
pub(crate) fn reduce_made(
    ctx: &Context,
    op: ReduceOp,
    dtype: DType,
    n: i64,
    make: &Make,
) -> Result<Tensor> {
    let name = op.name();
    let row = Tensor::empty(ctx, name, dtype, &[])?.broadcast_to(name, &[n])?;
    let target = Tensor::empty(ctx, name, result_type(op, &row, None)?, &[])?;
    let fail = |e| Error::layout(name, &row, e);
    let layout = Layout::contiguous(&[n]).map_err(fail)?;
    let (compute, one) = (folds::compute(op, dtype), Layout::contiguous(&[1]).map_err(fail)?);
    let plan = Plan::new(&layout, 1, [&one, &one], dtype == compute, op.is_ordered());
    let plan = plan.map_err(fail)?;
    let mut all = Reduce {
        arch: ctx.arch(),
        op,
        compute,
        correction: 0.0,
        plan: &plan,
        input: View { layout, ..row.view() },
        outs: [Some(target.with_layout(name, Ok(one))?.view_mut()), None],
        states: std::ptr::null_mut(),
        cost: cost(op, compute),
    };
    in_pieces(ctx, &mut all, |all| {
        let piece = |index: i64| -> Result<()> {
            let (start, rows) = plan.piece(index);
            let part = Tensor::empty(ctx, name, dtype, &[rows])?;
            make(start, &part)?;
            let made = part.view();
            // Its elements stand where they would in the whole row, and no others are read.
            let ptr = made.ptr.wrapping_sub(start as usize * dtype.size());
            let all: &Reduce = all;
            let kernel = Reduce { input: View { ptr, ..all.input }, ..*all };
            let one = Dim { start: index, end: index + 1, step: 1 };
            ctx.run_part(&kernel, &Window::flat(plan.pieces()).with(0, one));
            Ok(())
        };
        ctx.try_each(plan.pieces(), plan.piece(0).1 as f64, &piece)
    })?;
    Ok(target)
}

/// Gives a reduction room for the states of its pieces, has them done, and joins them.
fn in_pieces(
    ctx: &Context,
    kernel: &mut Reduce,
    pieces: impl FnOnce(&Reduce) -> Result<()>,
) -> Result<()> {
    let count = kernel.plan.states();
    let bytes = count as usize * Reduce::state_size(kernel.op, kernel.compute);
    let mut states = vec![0u64; bytes.div_ceil(8)];
    kernel.states = states.as_mut_ptr().cast();
    pieces(kernel)?;
    if count > 0 {
        ctx.run(&Combine(kernel));
    }
    Ok(())
}

/// Reduces to two tensors: value and place, or variance and mean.
pub fn reduce_pair(
    ctx: &Context,
    op: ReduceOp,
    a: &Tensor,
    over: Over,
    correction: f64,
) -> Result<(Tensor, Tensor)> {
    use ReduceOp::*;
    let name = op.name();
    let first = result_type(op, a, None)?;
    let second = match op {
        Max | Min => DType::I64,
        VarMean | StdMean => first,
        _ => return Err(Error::internal(format!("{name} has one result").into())),
    };
    let shapes = Shapes::new(op, a, over)?;
    let make = |dtype| Tensor::empty(ctx, name, dtype, shapes.result());
    let (first, second) = (make(first)?, make(second)?);
    let results = [Some(&first), Some(&second)];
    run(ctx, op, a, a.dtype(), &shapes, results, correction)?;
    Ok((first, second))
}

/// The result's type, where the operation takes the operand's.
fn result_type(op: ReduceOp, a: &Tensor, dtype: Option<DType>) -> Result<DType> {
    use ReduceOp::*;
    let (name, own) = (op.name(), a.dtype());
    let refuse = |why: String| Err(Error::dtype(name, &[a], why));
    match op {
        Sum | Prod if !own.is_float() => Ok(dtype.unwrap_or(DType::I64)),
        Sum | Prod => Ok(dtype.unwrap_or(own)),
        Mean => match dtype.unwrap_or(own) {
            d if d.is_float() => Ok(d),
            d => refuse(format!("a mean is not of type {d}: give a float dtype")),
        },
        _ if dtype.is_some_and(|d| d != own) && op != Norm2 => {
            refuse("takes no other dtype".to_owned())
        }
        Max | Min | Amax | Amin => Ok(own),
        Argmax | Argmin => Ok(DType::I64),
        // libtorch's old exception: bytes answer in bytes.
        All | Any if own == DType::U8 => Ok(DType::U8),
        All | Any => Ok(DType::Bool),
        Logsumexp => Ok(own.to_float()),
        Var | Std | VarMean | StdMean | Norm2 => match dtype.unwrap_or(own) {
            d if d.is_float() && own.is_float() => Ok(d),
            _ => refuse("expected a float dtype".to_owned()),
        },
    }
}

/// The operand as the kernel takes it, and the type that its elements count as. Kernels convert on
/// the way to the type they compute in; where that is not the given type, a cast comes first.
fn prepare(
    ctx: &Context,
    op: ReduceOp,
    a: &Tensor,
    dtype: Option<DType>,
) -> Result<(Tensor, DType)> {
    match dtype {
        Some(d) if d != a.dtype() && folds::compute(op, d) != d => Ok((cast(ctx, a, d)?, d)),
        Some(d) => Ok((a.clone(), d)),
        None => Ok((a.clone(), a.dtype())),
    }
}

/// Which dimensions go, the result's shape, and its layout with those dimensions in place.
struct Shapes {
    mask: u32,
    keep_dim: bool,
    /// All dimensions go.
    all: bool,
    result: [i64; MAX_RANK],
    rank: usize,
}

impl Shapes {
    fn new(op: ReduceOp, a: &Tensor, over: Over) -> Result<Shapes> {
        let dims = over.dims.unwrap_or(&[]);
        let mask = dim_mask(dims, a.rank()).map_err(|e| Error::layout(op.name(), a, e))?;
        let gone = |d: usize| mask >> d & 1 == 1;
        if op.needs_elements()
            && let Some(d) = (0..a.rank()).find(|d| gone(*d) && a.shape()[*d] == 0)
        {
            let why = format!("dimension {d} is empty: it has no extreme");
            return Err(Error::index(op.name(), &[a], why));
        }
        let mut shapes =
            Shapes { mask, keep_dim: over.keep_dim, all: true, result: [1; MAX_RANK], rank: 0 };
        for d in 0..a.rank() {
            if !gone(d) {
                shapes.all = false;
                shapes.result[shapes.rank] = a.shape()[d];
            }
            shapes.rank += (over.keep_dim || !gone(d)) as usize;
        }
        Ok(shapes)
    }

    fn result(&self) -> &[i64] {
        &self.result[..self.rank]
    }

    /// A result's layout in the operand's rank.
    fn layout(&self, a: &Tensor, result: &Layout) -> std::result::Result<Layout, LayoutError> {
        if self.keep_dim {
            return Ok(*result);
        }
        let (mut shape, mut strides) = ([1; MAX_RANK], [0; MAX_RANK]);
        let kept = (0..a.rank()).filter(|d| self.mask >> d & 1 == 0);
        for (i, d) in kept.enumerate() {
            shape[d] = result.shape()[i];
            strides[d] = result.strides()[i];
        }
        Layout::strided(&shape[..a.rank()], &strides[..a.rank()], 0)
    }
}

fn run(
    ctx: &Context,
    op: ReduceOp,
    a: &Tensor,
    elements: DType,
    shapes: &Shapes,
    results: [Option<&Tensor>; 2],
    correction: f64,
) -> Result<()> {
    let compute = folds::compute(op, elements);
    let mut input = a.view();
    if compute == DType::Bool && a.dtype().size() == 1 {
        // Any byte but 0 is true.
        input = View { dtype: DType::Bool, ..input };
    }
    let n = a.numel();
    let room = if input.dtype == compute { Plan::WHOLE } else { Whole::ROOM as i64 };
    if shapes.all && n <= room && a.layout().is_contiguous() {
        let kernel = Whole {
            arch: ctx.arch(),
            op,
            compute,
            dtype: input.dtype,
            correction,
            from: input.start(),
            count: n as usize,
            outs: results.map(|t| t.map(|t| (t.dtype(), t.view_mut().start()))),
        };
        // SAFETY: a contiguous tensor; the results have one element each.
        unsafe { kernel.run() };
        return Ok(());
    }
    let fail = |e| Error::layout(op.name(), a, e);
    let mut layouts = [*a.layout(); 2];
    for (to, from) in layouts.iter_mut().zip(results) {
        let from = from.or(results[0]).or(results[1]);
        let from = from.ok_or_else(|| Error::internal("a reduction without result".into()))?;
        *to = shapes.layout(a, from.layout()).map_err(fail)?;
    }
    let plan = Plan::new(
        a.layout(),
        shapes.mask,
        [&layouts[0], &layouts[1]],
        input.dtype == compute,
        op.is_ordered(),
    );
    let plan = match &plan {
        Ok(plan) => plan,
        Err(e) => return Err(fail(*e)),
    };
    let mut kernel = Reduce {
        arch: ctx.arch(),
        op,
        compute,
        correction,
        plan,
        input,
        outs: results.map(|t| t.map(Tensor::view_mut)),
        states: std::ptr::null_mut(),
        cost: cost(op, compute),
    };
    in_pieces(ctx, &mut kernel, |kernel| {
        ctx.run(kernel);
        Ok(())
    })
}

/// Rough nanoseconds an element.
fn cost(op: ReduceOp, compute: DType) -> f64 {
    use ReduceOp::*;
    let wide = if compute.size() == 8 { 2.0 } else { 1.0 };
    wide * match op {
        Logsumexp => 1.0,
        Var | Std | VarMean | StdMean => 0.3,
        _ => 0.12,
    }
}
