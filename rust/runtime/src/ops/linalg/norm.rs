//! Norms of vectors and matrices, and condition numbers.

use wick_core::kernels::elementwise::Scalar;
use wick_core::kernels::reduce::ReduceOp;
use wick_core::ops::{BinaryOp, UnaryOp};
use wick_core::{DType, MAX_RANK};

use super::batch::*;
use super::products::{binary_new, missing, reduce_new, unary_new};
use super::{lu, svd};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::elementwise::cast;
use crate::ops::promote::Arg;
use crate::tensor::Tensor;

/// What libtorch tells a matrix norm by.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum MatrixNorm {
    /// The square root of the sum of squares.
    Frobenius,
    /// The sum of the singular values.
    Nuclear,
    /// 2 and -2: the greatest and least singular value; 1 and -1: of the columns' sums of absolute
    /// values; the infinities: of the rows'.
    Number(f64),
}

impl MatrixNorm {
    /// Of a kind's number (0: a number, 1: fro, 2: nuc) and a number.
    pub(super) fn of(kind: i64, number: f64) -> Option<MatrixNorm> {
        match kind {
            0 => Some(MatrixNorm::Number(number)),
            1 => Some(MatrixNorm::Frobenius),
            2 => Some(MatrixNorm::Nuclear),
            _ => None,
        }
    }
}

/// Which dimensions a norm takes; none: all.
#[derive(Clone, Copy)]
pub(super) struct Dims<'a> {
    pub dims: &'a [i64],
    pub keep: bool,
}

fn number(op: BinaryOp, ctx: &Context, a: &Tensor, x: f64) -> Result<Tensor> {
    let (a, x) = (Arg::Tensor(a), Arg::Scalar(Scalar::Float(x)));
    let out = crate::ops::elementwise::Out::New;
    crate::ops::elementwise::binary(ctx, op, &[a, x], None, out)?.ok_or_else(missing)
}

fn extreme(
    ctx: &Context,
    op: &'static str,
    a: &Tensor,
    over: Dims,
    greatest: bool,
) -> Result<Tensor> {
    let how = if greatest { ReduceOp::Amax } else { ReduceOp::Amin };
    let dims = wrapped(op, a, over.dims)?;
    if let Some(d) = (0..a.rank()).find(|d| dims.contains(d) && a.shape()[*d] == 0) {
        let text = format!("dimension {d} is empty: this norm of nothing has no value");
        return Err(Error::shape(op, &[a], text));
    }
    reduce_new(ctx, how, a, over.dims, over.keep, None)
}

/// Dimensions counted from the front; none listed: all.
fn wrapped(op: &'static str, a: &Tensor, dims: &[i64]) -> Result<Vec<usize>> {
    if dims.is_empty() {
        return Ok((0..a.rank()).collect());
    }
    let wrap = |d: &i64| wick_core::layout::wrap_dim(*d, a.rank());
    let wrapped: std::result::Result<Vec<usize>, _> = dims.iter().map(wrap).collect();
    wrapped.map_err(|e| Error::layout(op, a, e))
}

/// (Σ |x|^ord)^(1/ord) over dimensions; the infinities: the greatest and least |x|; 0: how many x
/// are not 0.
pub(super) fn vector_norm(
    ctx: &Context,
    op: &'static str,
    a: &Tensor,
    ord: f64,
    over: Dims,
    dtype: Option<DType>,
) -> Result<Tensor> {
    let result = dtype.unwrap_or(a.dtype());
    if !a.dtype().is_float() || !result.is_float() {
        return Err(Error::dtype(op, &[a], "expected a float dtype"));
    }
    if ord == 2.0 {
        return reduce_new(ctx, ReduceOp::Norm2, a, over.dims, over.keep, dtype);
    }
    let plain = ord == 0.0 || ord == 1.0 || ord.is_infinite();
    let compute = if plain { result } else { result.compute() };
    let a = if a.dtype() == compute { a.clone() } else { cast(ctx, a, compute)? };
    let made = if ord == 0.0 {
        let other = number(BinaryOp::Ne, ctx, &a, 0.0)?;
        reduce_new(ctx, ReduceOp::Sum, &other, over.dims, over.keep, Some(compute))?
    } else {
        let sizes = unary_new(ctx, UnaryOp::Abs, &a)?;
        if ord == 1.0 {
            reduce_new(ctx, ReduceOp::Sum, &sizes, over.dims, over.keep, None)?
        } else if ord.is_infinite() {
            extreme(ctx, op, &sizes, over, ord > 0.0)?
        } else {
            power_norm(ctx, op, &sizes, ord, over)?
        }
    };
    if made.dtype() == result { Ok(made) } else { cast(ctx, &made, result) }
}

/// The norm of an exponent, of absolute values: they are divided by the greatest (by the least where
/// the exponent is negative) so that their powers neither overflow nor vanish.
fn power_norm(ctx: &Context, op: &'static str, a: &Tensor, ord: f64, over: Dims) -> Result<Tensor> {
    let dims = wrapped(op, a, over.dims)?;
    let empty = dims.iter().any(|d| a.shape().get(*d) == Some(&0));
    if empty && ord < 0.0 {
        let text = format!("the norm of exponent {ord} of nothing has no value");
        return Err(Error::shape(op, &[a], text));
    }
    if empty {
        return reduce_new(ctx, ReduceOp::Sum, a, over.dims, over.keep, None);
    }
    let how = if ord > 0.0 { ReduceOp::Amax } else { ReduceOp::Amin };
    let scale = reduce_new(ctx, how, a, over.dims, true, None)?;
    let scale = usable(ctx, &scale)?;
    let parts = number(BinaryOp::Pow, ctx, &binary_new(ctx, BinaryOp::Div, a, &scale)?, ord)?;
    let sum = reduce_new(ctx, ReduceOp::Sum, &parts, over.dims, true, None)?;
    let root = number(BinaryOp::Pow, ctx, &sum, 1.0 / ord)?;
    let norm = binary_new(ctx, BinaryOp::Mul, &root, &scale)?;
    if over.keep {
        return Ok(norm);
    }
    let dims: Vec<i64> = dims.iter().map(|d| *d as i64).collect();
    match dims.len() {
        0 => Ok(norm),
        _ => norm.with_layout(op, norm.layout().squeeze_dims(&dims)),
    }
}

/// Divisors, with 1 in the place of zeros and infinities.
fn usable(ctx: &Context, scale: &Tensor) -> Result<Tensor> {
    use crate::ops::elementwise::{Out, ternary};
    let zero = number(BinaryOp::Eq, ctx, scale, 0.0)?;
    let infinite = unary_new(ctx, UnaryOp::Isinf, scale)?;
    let bad = binary_new(ctx, BinaryOp::LogicalOr, &zero, &infinite)?;
    let args = [Arg::Tensor(&bad), Arg::Scalar(Scalar::Float(1.0)), Arg::Tensor(scale)];
    ternary(ctx, wick_core::ops::TernaryOp::Where, &args, Scalar::Int(1), Out::New)?
        .ok_or_else(missing)
}

/// Norms of the matrices of two dimensions, which go or stay with size 1.
pub(super) fn matrix_norm(
    ctx: &Context,
    op: &'static str,
    a: &Tensor,
    norm: MatrixNorm,
    over: Dims,
) -> Result<Tensor> {
    let &[first, second] = over.dims else {
        return Err(Error::shape(op, &[a], "expected two dimensions for the matrices"));
    };
    if !a.dtype().is_float() {
        return Err(Error::dtype(op, &[a], "expected a float dtype"));
    }
    if a.rank() < 2 {
        return Err(Error::shape(op, &[a], "expected a matrix or a batch of matrices"));
    }
    let places = wrapped(op, a, over.dims)?;
    if places[0] == places[1] {
        let text = format!("dimensions {first} and {second} are the same");
        return Err(Error::shape(op, &[a], text));
    }
    let sums = |kept: i64, summed: i64, greatest: bool| {
        let inner = Dims { dims: &[summed], keep: true };
        let sums = vector_norm(ctx, op, a, 1.0, inner, None)?;
        let sums = extreme(ctx, op, &sums, Dims { dims: &[kept], keep: true }, greatest)?;
        if over.keep {
            return Ok(sums);
        }
        sums.with_layout(op, sums.layout().squeeze_dims(&[kept, summed]))
    };
    match norm {
        MatrixNorm::Frobenius => reduce_new(ctx, ReduceOp::Norm2, a, over.dims, over.keep, None),
        MatrixNorm::Number(p) if p.abs() == 1.0 => sums(second, first, p > 0.0),
        MatrixNorm::Number(p) if p.is_infinite() => sums(first, second, p > 0.0),
        MatrixNorm::Nuclear => of_values(ctx, op, a, &places, over.keep, ReduceOp::Sum),
        MatrixNorm::Number(2.0) => of_values(ctx, op, a, &places, over.keep, ReduceOp::Amax),
        MatrixNorm::Number(-2.0) => of_values(ctx, op, a, &places, over.keep, ReduceOp::Amin),
        MatrixNorm::Number(p) => {
            let text = format!("there is no matrix norm {p}: fro, nuc, inf, -inf, 1, -1, 2, -2");
            Err(Error::shape(op, &[a], text))
        }
    }
}

/// A reduction of the singular values.
fn of_values(
    ctx: &Context,
    op: &'static str,
    a: &Tensor,
    places: &[usize],
    keep: bool,
    how: ReduceOp,
) -> Result<Tensor> {
    let mut order = [0i64; MAX_RANK];
    let rest = (0..a.rank()).filter(|d| !places.contains(d));
    for (to, d) in order.iter_mut().zip(rest.chain(places.iter().copied())) {
        *to = d as i64;
    }
    let moved = a.with_layout(op, a.layout().permute(&order[..a.rank()]))?;
    let values = svd::svdvals(ctx, op, &moved)?;
    if how != ReduceOp::Sum && last(&values, 1) == 0 {
        return Err(Error::shape(op, &[a], "an empty matrix has no such norm"));
    }
    let mut norm = reduce_new(ctx, how, &values, &[-1], false, None)?;
    if keep {
        let mut places = [places[0] as i64, places[1] as i64];
        places.sort_unstable();
        for d in places {
            norm = norm.with_layout(op, norm.layout().unsqueeze(d))?;
        }
    }
    Ok(norm)
}

/// Condition numbers: how much the inverse stretches what the matrix shrinks.
pub(super) fn cond(
    ctx: &Context,
    op: &'static str,
    a: &Tensor,
    norm: MatrixNorm,
) -> Result<Tensor> {
    check_float(op, &[a])?;
    check_matrix(op, a)?;
    if a.numel() == 0 {
        let zeros = Scalar::Int(0);
        return crate::ops::creation::full(ctx, a.dtype(), batch_shape(a), zeros);
    }
    if let MatrixNorm::Number(p) = norm
        && p.abs() == 2.0
    {
        let values = svd::svdvals(ctx, op, a)?;
        let end = |i: i64| values.with_layout(op, values.layout().select(-1, i));
        let (greatest, least) = (end(0)?, end(-1)?);
        let (x, y) = if p > 0.0 { (&greatest, &least) } else { (&least, &greatest) };
        return binary_new(ctx, BinaryOp::Div, x, y);
    }
    check_square(op, a)?;
    let dims = Dims { dims: &[-2, -1], keep: false };
    let size = matrix_norm(ctx, op, a, norm, dims)?;
    if norm == MatrixNorm::Nuclear {
        // Of a matrix without an inverse the norm cannot be taken as below.
        let values = svd::svdvals(ctx, op, a)?;
        let one_over = unary_new(ctx, UnaryOp::Reciprocal, &values)?;
        let inverse = reduce_new(ctx, ReduceOp::Sum, &one_over, &[-1], false, None)?;
        return binary_new(ctx, BinaryOp::Mul, &size, &inverse);
    }
    let inverse = lu::inverse(ctx, op, a, Some(f64::INFINITY))?;
    let inverse = matrix_norm(ctx, op, &inverse, norm, dims)?;
    binary_new(ctx, BinaryOp::Mul, &size, &inverse)
}
