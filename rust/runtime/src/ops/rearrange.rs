//! Copies whose elements lie elsewhere than before: flipped, rolled, repeated, cut to a triangle.

use wick_core::block::{BLOCK, Buffer, Operands, gather};
use wick_core::kernels::copy::Copy;
use wick_core::kernels::elementwise::Scalar;
use wick_core::kernels::triangle::Triangle;
use wick_core::layout::{Layout, MAX_RANK, dim_mask, wrap_dim};
use wick_core::{DType, Element, Nest, Number, View};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::creation::{fill_values, full};
use crate::ops::elementwise::copy_values;
use crate::ops::promote::check_out;
use crate::tensor::Tensor;

/// The same values in memory of their own, in row-major order.
pub fn clone(ctx: &Context, op: &'static str, a: &Tensor) -> Result<Tensor> {
    let out = Tensor::empty(ctx, op, a.dtype(), a.shape())?;
    copy_values(ctx, &out, a);
    Ok(out)
}

fn copy_view(ctx: &Context, out: &Tensor, from: View) {
    let operands = Operands::new(ctx.arch(), out.view_mut(), [from], false);
    ctx.run(&Copy::new(operands));
}

/// Dimensions in reversed order; none listed: none is.
pub fn flip(ctx: &Context, a: &Tensor, dims: &[i64]) -> Result<Tensor> {
    if dims.is_empty() {
        return clone(ctx, "flip", a);
    }
    let mask = dim_mask(dims, a.rank()).map_err(|e| Error::layout("flip", a, e))?;
    let out = Tensor::empty(ctx, "flip", a.dtype(), a.shape())?;
    copy_view(ctx, &out, a.view().with(a.layout().reversed(mask)));
    Ok(out)
}

/// Elements moved on by `shift` places in row-major order, the last ones to the front.
pub fn roll_flat(ctx: &Context, a: &Tensor, shift: i64) -> Result<Tensor> {
    let flat = super::shape::reshape(ctx, "roll", a, &[-1]);
    let flat = match a.numel() {
        0 => return clone(ctx, "roll", a),
        _ => flat?,
    };
    let rolled = roll(ctx, &flat, &[shift], &[0])?;
    rolled.with_layout("roll", Layout::contiguous(a.shape()))
}

/// Elements moved on by shifts along dimensions; what leaves at the end comes back at the start.
pub fn roll(ctx: &Context, a: &Tensor, shifts: &[i64], dims: &[i64]) -> Result<Tensor> {
    if shifts.len() != dims.len() {
        let text = format!("{} shifts for {} dimensions", shifts.len(), dims.len());
        return Err(Error::shape("roll", &[a], text));
    }
    let mut by = [0i64; MAX_RANK];
    for (&shift, &dim) in shifts.iter().zip(dims) {
        let d = wrap_dim(dim, a.rank()).map_err(|e| Error::layout("roll", a, e))?;
        let size = a.shape().get(d).copied().unwrap_or(1).max(1);
        by[d] = (by[d] + shift.rem_euclid(size)) % size;
    }
    let out = Tensor::empty(ctx, "roll", a.dtype(), a.shape())?;
    roll_from(ctx, &out, a, &by, 0)?;
    Ok(out)
}

/// Each rolled dimension cuts the tensor in two pieces that change places.
fn roll_from(ctx: &Context, out: &Tensor, a: &Tensor, by: &[i64], from: usize) -> Result<()> {
    let Some(d) = (from..a.rank()).find(|d| by[*d] != 0) else {
        copy_values(ctx, out, a);
        return Ok(());
    };
    let (size, shift, dim) = (a.shape()[d], by[d], d as i64);
    let part =
        |t: &Tensor, start, length| t.with_layout("roll", t.layout().narrow(dim, start, length));
    for (to, at, length) in [(shift, 0, size - shift), (0, size - shift, shift)] {
        roll_from(ctx, &part(out, to, length)?, &part(a, at, length)?, by, d + 1)?;
    }
    Ok(())
}

/// Copies beside each other along each dimension; more counts than dimensions make new ones in front.
pub fn repeat(ctx: &Context, a: &Tensor, counts: &[i64]) -> Result<Tensor> {
    let rank = counts.len();
    if rank < a.rank() {
        let text = format!("{rank} counts for {} dimensions", a.rank());
        return Err(Error::shape("repeat", &[a], text));
    }
    if rank > MAX_RANK {
        let text = format!("{rank} dimensions, at most {MAX_RANK} are possible");
        return Err(Error::shape("repeat", &[a], text));
    }
    if let Some(count) = counts.iter().find(|c| **c < 0) {
        return Err(Error::shape("repeat", &[a], format!("the count {count} is negative")));
    }
    let size = |d: usize| (d + a.rank()).checked_sub(rank).map_or(1, |k| a.shape()[k]);
    let mut shape = [0i64; MAX_RANK];
    // The result seen with each repeated dimension in two (which copy, where in it), and the
    // source stretched over the first of them.
    let (mut to, mut from) = ([1i64; 2 * MAX_RANK], [1i64; 2 * MAX_RANK]);
    let mut n = 0;
    for d in 0..rank {
        shape[d] = size(d)
            .checked_mul(counts[d])
            .ok_or_else(|| Error::shape("repeat", &[a], "the result exceeds 2^63 - 1 elements"))?;
        if counts[d] != 1 {
            (to[n], from[n]) = (counts[d], 1);
            n += 1;
        }
        if size(d) != 1 {
            (to[n], from[n]) = (size(d), size(d));
            n += 1;
        }
    }
    if n > MAX_RANK {
        // Too many for one pass: the front half of the dimensions first.
        let (mut front, mut back) = ([1i64; MAX_RANK], [1i64; MAX_RANK]);
        front[..rank / 2].copy_from_slice(&counts[..rank / 2]);
        back[rank / 2..rank].copy_from_slice(&counts[rank / 2..]);
        let half = repeat(ctx, a, &front[..rank])?;
        return repeat(ctx, &half, &back[..rank]);
    }
    let out = Tensor::empty(ctx, "repeat", a.dtype(), &shape[..rank])?;
    if out.numel() > 0 {
        let dst = out.with_layout("repeat", out.layout().view(&to[..n]))?;
        // Adding and dropping dimensions of size 1 is always a view.
        let src = a.with_layout("repeat", a.layout().view(&from[..n]))?;
        let src = src.with_layout("repeat", src.layout().expand(&to[..n]))?;
        copy_values(ctx, &dst, &src);
    }
    Ok(out)
}

/// The lower or upper triangle of the last two dimensions, zeros elsewhere.
pub fn triangle(
    ctx: &Context,
    op: &'static str,
    a: &Tensor,
    diagonal: i64,
    lower: bool,
    in_place: bool,
) -> Result<Option<Tensor>> {
    if a.rank() < 2 {
        return Err(Error::shape(op, &[a], "expected at least 2 dimensions"));
    }
    let out = if in_place {
        check_out(op, a, a.shape(), a.dtype(), &[])?;
        a.clone()
    } else {
        Tensor::empty(ctx, op, a.dtype(), a.shape())?
    };
    let source = (!in_place).then(|| a.view());
    ctx.run(&Triangle::new(out.view_mut(), source, diagonal, lower));
    Ok((!in_place).then_some(out))
}

/// A vector as a diagonal of a square matrix, or a matrix's diagonal as a vector; always a copy.
pub fn diag(ctx: &Context, a: &Tensor, diagonal: i64) -> Result<Tensor> {
    match a.rank() {
        1 => {
            let side = a.shape()[0]
                .checked_add(diagonal.checked_abs().unwrap_or(i64::MAX))
                .ok_or_else(|| Error::shape("diag", &[a], "the result exceeds 2^63 - 1 rows"))?;
            let out = full(ctx, a.dtype(), &[side, side], Scalar::Int(0))?;
            let line = out.with_layout("diag", out.layout().diagonal(diagonal, 0, 1))?;
            copy_values(ctx, &line, a);
            Ok(out)
        }
        2 => {
            let line = a.with_layout("diag", a.layout().diagonal(diagonal, 0, 1))?;
            clone(ctx, "diag", &line)
        }
        _ => Err(Error::shape("diag", &[a], "expected 1 or 2 dimensions")),
    }
}

/// The sum of a matrix's diagonal: integers as i64, floats in their own type.
pub fn trace(ctx: &Context, a: &Tensor) -> Result<Tensor> {
    if a.rank() != 2 {
        return Err(Error::shape("trace", &[a], "expected 2 dimensions"));
    }
    let line = a.with_layout("trace", a.layout().diagonal(0, 0, 1))?;
    let view = line.view();
    let nest = Nest::new(&[&view.layout]);
    let n = if line.numel() == 0 { 0 } else { nest.numel() };
    let (dtype, sum) = if a.dtype().is_float() {
        (a.dtype(), Scalar::Float(sum::<f64>(ctx, &view, &nest, 0, n)))
    } else {
        (DType::I64, Scalar::Int(sum::<i64>(ctx, &view, &nest, 0, n)))
    };
    let out = Tensor::empty(ctx, "trace", dtype, &[])?;
    fill_values(ctx, &out, sum);
    Ok(out)
}

/// Halves first, so that rounding errors grow with the logarithm of the length only.
fn sum<T: Number + Element>(ctx: &Context, view: &View, nest: &Nest, start: i64, n: i64) -> T {
    if n == 0 {
        return T::ZERO;
    }
    if n <= BLOCK as i64 {
        let mut buffer = Buffer::<T>::default();
        // SAFETY: gather writes the slice; the tensor behind the view is alive.
        let values = unsafe {
            let values = buffer.slice(n as usize);
            gather(ctx.arch(), view, nest, 0, start, values);
            values
        };
        return halves(values);
    }
    let half = n / 2 / BLOCK as i64 * BLOCK as i64;
    let half = half.max(BLOCK as i64);
    sum::<T>(ctx, view, nest, start, half).add(sum::<T>(ctx, view, nest, start + half, n - half))
}

fn halves<T: Number>(values: &[T]) -> T {
    match values {
        [] => T::ZERO,
        [one] => *one,
        _ => {
            let (a, b) = values.split_at(values.len() / 2);
            halves(a).add(halves(b))
        }
    }
}
