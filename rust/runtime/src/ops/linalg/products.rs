//! Products made of others: powers, chains, contractions, Kronecker and cross products.

use wick_core::kernels::linalg::cross::Cross;
use wick_core::kernels::reduce::ReduceOp;
use wick_core::layout::{checked_numel, wrap_dim};
use wick_core::ops::{BinaryOp, UnaryOp};
use wick_core::{DType, Layout, MAX_RANK, Nest};

use super::batch::*;
use super::lu;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::creation::eye;
use crate::ops::elementwise::{Out, binary, common_shape, unary};
use crate::ops::matmul::{MatmulOp, matmul};
use crate::ops::promote::Arg;
use crate::ops::reduce::{Over, reduce};
use crate::ops::shape::reshape;
use crate::tensor::Tensor;

/// An operation that makes a new tensor has made none.
pub(super) fn missing() -> Error {
    Error::internal("an operation without result".into())
}

pub(super) fn binary_new(ctx: &Context, op: BinaryOp, a: &Tensor, b: &Tensor) -> Result<Tensor> {
    binary(ctx, op, &[Arg::Tensor(a), Arg::Tensor(b)], None, Out::New)?.ok_or_else(missing)
}

pub(super) fn unary_new(ctx: &Context, op: UnaryOp, a: &Tensor) -> Result<Tensor> {
    unary(ctx, op, a, [0.0; 3], Out::New)?.ok_or_else(missing)
}

pub(super) fn reduce_new(
    ctx: &Context,
    op: ReduceOp,
    a: &Tensor,
    dims: &[i64],
    keep_dim: bool,
    dtype: Option<DType>,
) -> Result<Tensor> {
    reduce(ctx, op, a, Over { dims: Some(dims), keep_dim }, dtype, 0.0, Out::New)?
        .ok_or_else(missing)
}

/// Sums over dimensions in the operand's own type.
pub(super) fn sum_over(ctx: &Context, a: &Tensor, dims: &[i64]) -> Result<Tensor> {
    let dtype = (a.dtype() != DType::Bool).then_some(a.dtype());
    reduce_new(ctx, ReduceOp::Sum, a, dims, false, dtype)
}

/// Matrix product, batch dimensions broadcasting.
pub(super) fn product(ctx: &Context, a: &Tensor, b: &Tensor) -> Result<Tensor> {
    matmul(ctx, MatmulOp::Matmul, a, b, None)?.ok_or_else(missing)
}

/// Square matrices to a whole power; negative ones are powers of the inverse.
pub(super) fn matrix_power(ctx: &Context, op: &'static str, a: &Tensor, n: i64) -> Result<Tensor> {
    let size = check_square(op, a)?;
    if a.dtype() == DType::Bool {
        return Err(Error::dtype(op, &[a], "not defined for bool"));
    }
    let mut base = if n < 0 { lu::inverse(ctx, op, a, None)? } else { a.clone() };
    let mut left = n.unsigned_abs();
    if left == 0 {
        let out = Tensor::empty(ctx, op, a.dtype(), a.shape())?;
        let one = eye(ctx, a.dtype(), size as i64, size as i64)?;
        crate::ops::elementwise::copy_values(ctx, &out, &one.broadcast_to(op, a.shape())?);
        return Ok(out);
    }
    let mut power: Option<Tensor> = None;
    loop {
        if left & 1 == 1 {
            power = Some(match power {
                None => base.clone(),
                Some(p) => product(ctx, &p, &base)?,
            });
        }
        left >>= 1;
        if left == 0 {
            break;
        }
        base = product(ctx, &base, &base)?;
    }
    let power = power.ok_or_else(missing)?;
    // A first power is a copy.
    if power.shares_storage(a) { crate::ops::rearrange::clone(ctx, op, &power) } else { Ok(power) }
}

/// The product of several matrices in the order of the fewest multiplications; the first and the
/// last may be vectors.
pub(super) fn multi_dot(ctx: &Context, op: &'static str, all: &[&Tensor]) -> Result<Tensor> {
    let (Some(first), Some(end)) = (all.first(), all.last()) else {
        return Err(Error::shape(op, all, "expected at least two operands"));
    };
    if all.len() < 2 {
        return Err(Error::shape(op, all, "expected at least two operands"));
    }
    let inner = all[1..all.len() - 1].iter().all(|t| t.rank() == 2);
    if !inner || ![1, 2].contains(&first.rank()) || ![1, 2].contains(&end.rank()) {
        let text = "expected matrices, or vectors as the first and last";
        return Err(Error::shape(op, all, text));
    }
    let as_matrix = |t: &Tensor, dim: i64| match t.rank() {
        1 => t.with_layout(op, t.layout().unsqueeze(dim)),
        _ => Ok(t.clone()),
    };
    let mut matrices: Vec<Tensor> = all.iter().map(|t| (*t).clone()).collect();
    matrices[0] = as_matrix(first, 0)?;
    let n = matrices.len();
    matrices[n - 1] = as_matrix(end, 1)?;
    for pair in matrices.windows(2) {
        if pair[0].shape()[1] != pair[1].shape()[0] {
            let text = format!("{} columns meet {} rows", pair[0].shape()[1], pair[1].shape()[0]);
            return Err(Error::shape(op, all, text));
        }
    }
    // cost[i][j]: of the product of i to j; cut[i][j]: after which operand it is cut.
    let size = |i: usize| matrices[i].shape()[0] as f64;
    let width = |i: usize| matrices[i].shape()[1] as f64;
    let (mut cost, mut cut) = (vec![vec![0.0; n]; n], vec![vec![0usize; n]; n]);
    for length in 1..n {
        for i in 0..n - length {
            let j = i + length;
            cost[i][j] = f64::INFINITY;
            for k in i..j {
                let all = cost[i][k] + cost[k + 1][j] + size(i) * width(k) * width(j);
                if all < cost[i][j] {
                    (cost[i][j], cut[i][j]) = (all, k);
                }
            }
        }
    }
    let mut out = chain(ctx, &matrices, &cut, 0, n - 1)?;
    if end.rank() == 1 {
        out = out.with_layout(op, out.layout().squeeze(1))?;
    }
    if first.rank() == 1 {
        out = out.with_layout(op, out.layout().squeeze(0))?;
    }
    Ok(out)
}

fn chain(ctx: &Context, all: &[Tensor], cut: &[Vec<usize>], i: usize, j: usize) -> Result<Tensor> {
    if i == j {
        return Ok(all[i].clone());
    }
    let left = chain(ctx, all, cut, i, cut[i][j])?;
    product(ctx, &left, &chain(ctx, all, cut, cut[i][j] + 1, j)?)
}

/// The product of sizes, which is representable.
fn count(op: &'static str, t: &Tensor, sizes: &[i64]) -> Result<i64> {
    checked_numel(sizes).map_err(|e| Error::size(op, t.dtype(), sizes, e))
}

/// Sums of products over pairs of dimensions.
pub(super) fn tensordot(
    ctx: &Context,
    op: &'static str,
    a: &Tensor,
    b: &Tensor,
    (dims_a, dims_b): (&[i64], &[i64]),
) -> Result<Tensor> {
    let both = [a, b];
    if dims_a.len() != dims_b.len() {
        let text =
            format!("{} dimensions of the first, {} of the second", dims_a.len(), dims_b.len());
        return Err(Error::shape(op, &both, text));
    }
    let wrap = |t: &Tensor, dims: &[i64]| -> Result<Vec<usize>> {
        let mut out = vec![];
        for &dim in dims {
            let d = match t.rank() {
                0 => {
                    return Err(Error::shape(
                        op,
                        &both,
                        "a tensor without dimensions has none to sum",
                    ));
                }
                rank => wrap_dim(dim, rank).map_err(|e| Error::layout(op, t, e))?,
            };
            if out.contains(&d) {
                return Err(Error::shape(op, &both, format!("dimension {dim} is named twice")));
            }
            out.push(d);
        }
        Ok(out)
    };
    let (x, y) = (wrap(a, dims_a)?, wrap(b, dims_b)?);
    let (mut a, mut b) = (a.clone(), b.clone());
    for (&i, &j) in x.iter().zip(&y) {
        match (a.shape()[i], b.shape()[j]) {
            (p, q) if p == q => {}
            // A dimension of size 1 stretches: the other one is summed.
            (1, _) => b = reduce_new(ctx, ReduceOp::Sum, &b, &[j as i64], true, Some(b.dtype()))?,
            (_, 1) => a = reduce_new(ctx, ReduceOp::Sum, &a, &[i as i64], true, Some(a.dtype()))?,
            (p, q) => {
                let text = format!("dimension {i} of size {p} meets dimension {j} of size {q}");
                return Err(Error::shape(op, &both, text));
            }
        }
    }
    let rest = |t: &Tensor, gone: &[usize]| -> Vec<usize> {
        (0..t.rank()).filter(|d| !gone.contains(d)).collect()
    };
    let (free_a, free_b) = (rest(&a, &x), rest(&b, &y));
    let sizes =
        |t: &Tensor, dims: &[usize]| -> Vec<i64> { dims.iter().map(|d| t.shape()[*d]).collect() };
    let moved = |t: &Tensor, order: Vec<usize>| {
        let order: Vec<i64> = order.iter().map(|d| *d as i64).collect();
        t.with_layout(op, t.layout().permute(&order))
    };
    let (m, n) = (sizes(&a, &free_a), sizes(&b, &free_b));
    let k = count(op, &a, &sizes(&a, &x))?;
    let left = moved(&a, [&free_a[..], &x[..]].concat())?;
    let right = moved(&b, [&y[..], &free_b[..]].concat())?;
    let left = reshape(ctx, op, &left, &[count(op, &a, &m)?, k])?;
    let right = reshape(ctx, op, &right, &[k, count(op, &b, &n)?])?;
    let out = matmul(ctx, MatmulOp::Mm, &left, &right, None)?.ok_or_else(missing)?;
    out.with_layout(op, out.layout().view(&[m, n].concat()))
}

/// The tensor that undoes `tensordot(a, _, ind)`.
pub(super) fn tensorinv(ctx: &Context, op: &'static str, a: &Tensor, ind: i64) -> Result<Tensor> {
    check_float(op, &[a])?;
    let cut = usize::try_from(ind).ok().filter(|i| *i > 0 && *i <= a.rank());
    let Some(cut) = cut else {
        let text = format!("the matrix's rows cannot be the first {ind} dimensions");
        return Err(Error::shape(op, &[a], text));
    };
    let (front, back) = a.shape().split_at(cut);
    let (m, n) = (count(op, a, front)?, count(op, a, back)?);
    if m != n {
        let text = format!("the first {ind} dimensions have {m} places, the others {n}");
        return Err(Error::shape(op, &[a], text));
    }
    let inverse = lu::inverse(ctx, op, &reshape(ctx, op, a, &[m, n])?, None)?;
    reshape(ctx, op, &inverse, &[back, front].concat())
}

/// X with `tensordot(a, X, X's rank)` = b; `dims` of A are moved behind the others first.
pub(super) fn tensorsolve(
    ctx: &Context,
    op: &'static str,
    a: &Tensor,
    b: &Tensor,
    dims: &[i64],
) -> Result<Tensor> {
    check_float(op, &[a, b])?;
    let mut moved = a.clone();
    if !dims.is_empty() {
        let mut back = vec![];
        for dim in dims {
            let d = wrap_dim(*dim, a.rank()).map_err(|e| Error::layout(op, a, e))? as i64;
            if back.contains(&d) {
                return Err(Error::shape(op, &[a, b], format!("dimension {dim} is named twice")));
            }
            back.push(d);
        }
        let order: Vec<i64> = (0..a.rank() as i64)
            .filter(|d| !back.contains(d))
            .chain(back.iter().copied())
            .collect();
        moved = a.with_layout(op, a.layout().permute(&order))?;
    }
    let shape = moved.shape().get(b.rank()..).unwrap_or(&[]).to_vec();
    let (m, n) = (b.numel(), count(op, a, &shape)?);
    if moved.rank() < b.rank() || m != n || moved.numel() != m * n {
        let text = format!("the first does not map {n} numbers to the {m} of the second");
        return Err(Error::shape(op, &[a, b], text));
    }
    let matrix = reshape(ctx, op, &moved, &[m, n])?;
    let x = lu::solve(ctx, op, &matrix, &reshape(ctx, op, b, &[m])?, true)?;
    reshape(ctx, op, &x, &shape)
}

/// The Kronecker product: each element of the first times all of the second.
pub(super) fn kron(ctx: &Context, op: &'static str, a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let rank = a.rank().max(b.rank());
    if 2 * rank > MAX_RANK {
        let text = format!("at most {} dimensions are possible", MAX_RANK / 2);
        return Err(Error::shape(op, &[a, b], text));
    }
    let (mut x, mut y, mut sizes) = (vec![], vec![], vec![]);
    for d in 0..rank {
        let at = |t: &Tensor| (d + t.rank()).checked_sub(rank).map_or(1, |k| t.shape()[k]);
        x.extend([at(a), 1]);
        y.extend([1, at(b)]);
        let size = at(a).checked_mul(at(b));
        sizes.push(size.ok_or_else(|| Error::shape(op, &[a, b], "the result is too large"))?);
    }
    let (x, y) = (reshape(ctx, op, a, &x)?, reshape(ctx, op, b, &y)?);
    let out = binary_new(ctx, BinaryOp::Mul, &x, &y)?;
    reshape(ctx, op, &out, &sizes)
}

/// Cross products along a dimension of size 3, the others broadcasting.
pub(super) fn cross(
    ctx: &Context,
    op: &'static str,
    a: &Tensor,
    b: &Tensor,
    dim: i64,
) -> Result<Tensor> {
    let both = [a, b];
    if a.dtype() != b.dtype() {
        return Err(Error::dtype(op, &both, "expected one dtype: cast first"));
    }
    if a.dtype() == DType::Bool {
        return Err(Error::dtype(op, &both, "not defined for bool"));
    }
    if a.rank() != b.rank() || a.rank() == 0 {
        return Err(Error::shape(op, &both, "expected equally many dimensions, at least one"));
    }
    let d = wrap_dim(dim, a.rank()).map_err(|e| Error::layout(op, a, e))?;
    if a.shape()[d] != 3 || b.shape()[d] != 3 {
        let text = format!("expected size 3 at dimension {dim}");
        return Err(Error::shape(op, &both, text));
    }
    let shape = common_shape(op, &[Arg::Tensor(a), Arg::Tensor(b)])?;
    let out = Tensor::empty(ctx, op, a.dtype(), shape.shape())?;
    let (x, y) = (a.broadcast_to(op, shape.shape())?, b.broadcast_to(op, shape.shape())?);
    let all = [&out, &x, &y];
    let mut outer = [Layout::scalar(); 3];
    for (to, t) in outer.iter_mut().zip(all) {
        *to = t.layout().select(d as i64, 0).map_err(|e| Error::layout(op, t, e))?;
    }
    if out.numel() > 0 {
        let nest = Nest::new(&[&outer[0], &outer[1], &outer[2]]);
        let steps = all.map(|t| t.layout().strides()[d]);
        ctx.run(&Cross::new(ctx.arch(), nest, out.view_mut(), x.view(), y.view(), steps));
    }
    Ok(out)
}
