//! Masks, comparison of whole tensors, and the places of what is not zero.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use wick_core::kernels::elementwise::Scalar;
use wick_core::kernels::index::{Index, Write};
use wick_core::kernels::mask::{CHUNK, Equal, Mask, MaskedFill, MaskedSelect};
use wick_core::{DType, Layout};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::array::contiguous;
use crate::ops::elementwise::common_shape;
use crate::ops::index::{flat, layout, longs};
use crate::ops::promote::{Arg, Overlap, check_out, overlap};
use crate::ops::put::{Put, Work, apart, fitting};
use crate::tensor::Tensor;

fn check_mask(op: &'static str, a: &Tensor, mask: &Tensor) -> Result<()> {
    if mask.dtype() != DType::Bool {
        return Err(Error::dtype(op, &[a, mask], "the mask must be bool"));
    }
    Ok(())
}

/// The shape of the result and the mask stretched to it.
fn stretched(
    op: &'static str,
    a: &Tensor,
    mask: &Tensor,
    in_place: bool,
) -> Result<(Layout, Tensor)> {
    check_mask(op, a, mask)?;
    let shape = common_shape(op, &[Arg::Tensor(a), Arg::Tensor(mask)])?;
    if in_place && shape.shape() != a.shape() {
        return Err(Error::shape(op, &[a, mask], "the mask does not broadcast to the tensor"));
    }
    let mask = mask.broadcast_to(op, shape.shape())?;
    Ok((shape, mask))
}

/// `value` where the mask holds, elsewhere `a`.
pub fn masked_fill(
    ctx: &Context,
    a: &Tensor,
    mask: &Tensor,
    value: Scalar,
    in_place: bool,
) -> Result<Option<Tensor>> {
    let op = "masked_fill";
    let (shape, mask) = stretched(op, a, mask, in_place)?;
    let bits = fitting(op, a, value)?;
    let target = if in_place {
        check_out(op, a, shape.shape(), a.dtype(), &[&mask])?;
        a.clone()
    } else {
        Tensor::empty(ctx, op, a.dtype(), shape.shape())?
    };
    let aliased = in_place && overlap(a, &mask) == Overlap::Exact;
    let mask = if in_place && !aliased { apart(ctx, op, a, &mask)? } else { mask };
    let a = a.broadcast_to(op, shape.shape())?;
    ctx.run(&MaskedFill::new(ctx.arch(), target.view_mut(), mask.view(), a.view(), in_place, bits));
    Ok((!in_place).then_some(target))
}

/// Where each chunk's results begin, and how many there are in all.
fn starts(ctx: &Context, mask: &Mask) -> (Vec<i64>, i64) {
    let chunks = mask.numel().div_euclid(CHUNK) + (mask.numel() % CHUNK != 0) as i64;
    let mut starts = vec![0i64; chunks as usize + 1];
    let counts = Shared(starts.as_mut_ptr());
    ctx.for_ranges(chunks, 0.1 * CHUNK as f64, &|first, end| {
        for chunk in first..end {
            // SAFETY: the mask's tensor is alive; each chunk has its own count.
            unsafe {
                let count = mask.count(chunk * CHUNK, mask.numel().min((chunk + 1) * CHUNK));
                counts.at(chunk + 1).write(count);
            }
        }
    });
    for chunk in 0..chunks as usize {
        starts[chunk + 1] += starts[chunk];
    }
    let total = starts[chunks as usize];
    (starts, total)
}

/// An address that threads write apart from each other.
pub(super) struct Shared<T>(pub(super) *mut T);

// SAFETY: whoever uses it gives each thread its own elements.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// # Safety
    /// The place lies in what was shared.
    pub(super) unsafe fn at(&self, place: i64) -> *mut T {
        // SAFETY: as the caller says.
        unsafe { self.0.offset(place as isize) }
    }
}

/// The elements where the mask holds, as a vector, in row-major order.
pub fn masked_select(ctx: &Context, a: &Tensor, mask: &Tensor) -> Result<Tensor> {
    let op = "masked_select";
    let (shape, mask) = stretched(op, a, mask, false)?;
    let a = a.broadcast_to(op, shape.shape())?;
    let kernel = MaskedSelect::new(ctx.arch(), mask.view(), a.view());
    let (starts, total) = starts(ctx, kernel.mask());
    let out = Tensor::empty(ctx, op, a.dtype(), &[total])?;
    let (size, numel) = (a.dtype().size() as i64, shape.numel());
    let bytes = Shared(out.view_mut().start());
    ctx.for_ranges(starts.len() as i64 - 1, 1.0 * CHUNK as f64, &|first, end| {
        for chunk in first..end {
            let (from, to) = (starts[chunk as usize], starts[chunk as usize + 1]);
            // SAFETY: the tensors are alive; each chunk writes its own part of the result.
            unsafe {
                let end = numel.min((chunk + 1) * CHUNK);
                kernel.pick(chunk * CHUNK, end, bytes.at(from * size), (to - from) as usize);
            }
        }
    });
    Ok(out)
}

/// The flat places of what is not zero, in row-major order.
fn places(ctx: &Context, op: &'static str, a: &Tensor) -> Result<Tensor> {
    let mask = Mask::new(ctx.arch(), a.view());
    let (starts, total) = starts(ctx, &mask);
    let out = Tensor::empty(ctx, op, DType::I64, &[total])?;
    let to = Shared(out.view_mut().start().cast::<i64>());
    ctx.for_ranges(starts.len() as i64 - 1, 1.0 * CHUNK as f64, &|first, end| {
        for chunk in first..end {
            let (from, length) =
                (starts[chunk as usize], starts[chunk as usize + 1] - starts[chunk as usize]);
            if length == 0 {
                continue;
            }
            // SAFETY: the tensor is alive; each chunk writes its own part of the result.
            unsafe {
                let out = std::slice::from_raw_parts_mut(to.at(from), length as usize);
                mask.positions(chunk * CHUNK, a.numel().min((chunk + 1) * CHUNK), out);
            }
        }
    });
    Ok(out)
}

/// The index vectors of what is not zero, one a dimension (a 0-d tensor counts as one element), as
/// the rows of a matrix.
pub fn nonzero_rows(ctx: &Context, a: &Tensor) -> Result<Tensor> {
    let op = "nonzero";
    let places = places(ctx, op, a)?;
    let shape = if a.rank() == 0 { &[1][..] } else { a.shape() };
    if shape.len() == 1 {
        return places.with_layout(op, places.layout().unsqueeze(0));
    }
    let n = places.numel();
    let out = Tensor::empty(ctx, op, DType::I64, &[shape.len() as i64, n])?;
    let to = Shared(out.view_mut().start().cast::<i64>());
    let flat = longs(&places);
    ctx.for_ranges(n, 4.0 * shape.len() as f64, &|start, end| {
        for k in start..end {
            let mut left = flat[k as usize];
            for d in (0..shape.len()).rev() {
                // SAFETY: inside the matrix; each k has its own column.
                unsafe { to.at(d as i64 * n + k).write(left % shape[d]) };
                left /= shape[d];
            }
        }
    });
    Ok(out)
}

/// The index tuples of what is not zero, one a row.
pub fn nonzero(ctx: &Context, a: &Tensor) -> Result<Tensor> {
    let rows = nonzero_rows(ctx, a)?;
    if a.rank() == 0 {
        return Tensor::empty(ctx, "nonzero", DType::I64, &[rows.numel(), 0]);
    }
    rows.with_layout("nonzero", rows.layout().transpose(0, 1))
}

/// Elements of `source`, in order, where the mask holds, elsewhere `a`.
pub fn masked_scatter(
    ctx: &Context,
    a: &Tensor,
    mask: &Tensor,
    source: &Tensor,
    in_place: bool,
) -> Result<Option<Tensor>> {
    let op = "masked_scatter";
    let operands = [a, mask, source];
    let (shape, mask) = stretched(op, a, mask, in_place)?;
    if source.dtype() != a.dtype() {
        return Err(Error::dtype(op, &operands, "the source must have the tensor's dtype"));
    }
    let places = places(ctx, op, &mask)?;
    let n = places.numel();
    if source.numel() < n {
        let text = format!("the mask holds {n} times, the source has {} elements", source.numel());
        return Err(Error::shape(op, &operands, text));
    }
    let a = a.broadcast_to(op, shape.shape())?;
    let work = Work::new(ctx, op, &a, in_place, Write::Set, true)?;
    let source = contiguous(ctx, &work.source(ctx, op, source)?)?;
    Put {
        target: &work.tensor,
        places: layout(op, &[n], &[0], work.tensor.layout().offset())?,
        source: source.view().with(layout(op, &[n], &[1], source.layout().offset())?),
        index: Index { view: places.view().with(flat(&places)?), step: 1, size: shape.numel() },
        write: Write::Set,
    }
    .run(ctx)?;
    Ok(work.done(ctx))
}

/// Whether shapes and all elements are equal; NaN equals nothing.
pub fn equal(ctx: &Context, a: &Tensor, b: &Tensor) -> Result<bool> {
    if a.dtype() != b.dtype() {
        return Err(Error::dtype("equal", &[a, b], "expected one dtype"));
    }
    if a.shape() != b.shape() {
        return Ok(false);
    }
    let kernel = Equal::new(ctx.arch(), a.view(), b.view());
    let different = AtomicBool::new(false);
    ctx.for_ranges(kernel.numel(), 0.3, &|start, end| {
        let stop = || different.load(Relaxed);
        // SAFETY: both tensors are alive.
        if !unsafe { kernel.part(start, end, &stop) } {
            different.store(true, Relaxed);
        }
    });
    Ok(!different.into_inner())
}
