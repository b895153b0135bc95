//! Eigenvalues and eigenvectors.

use faer::dyn_stack::{MemStack, StackReq};
use faer::{MatMut, MatRef};
use wick_core::Real;
use wick_dense::Dense;

use super::batch::*;
use super::svd::{slice_of, sort};
use crate::context::Context;
use crate::error::Result;
use crate::tensor::Tensor;

fn cost(n: usize) -> f64 {
    1000.0 + 1.5 * volume([n, n, n])
}

/// What [`decompose`] takes of a stack.
pub(super) fn scratch<T: Float>(n: usize, vectors: bool) -> StackReq {
    if n == 0 { StackReq::EMPTY } else { T::eigh_scratch(n, vectors) }
}

/// Eigenvalues in rising order, and eigenvectors where they are wanted, of a symmetric matrix of
/// which the lower triangle is read.
pub(super) fn decompose<T: Float>(
    a: MatRef<'_, T>,
    s: &mut [T],
    u: Option<MatMut<'_, T>>,
    stack: &mut MemStack,
) -> std::result::Result<(), Fault> {
    let finite = (0..a.ncols()).all(|j| (j..a.nrows()).all(|i| Real::is_finite(a[(i, j)])));
    if !finite {
        return Err(Fault::matrix("has elements that are not finite"));
    }
    if s.is_empty() {
        return Ok(());
    }
    let mut u = u;
    T::eigh(a, s, u.as_mut().map(|u| u.as_mut()), stack)
        .map_err(|_| Fault::matrix("has eigenvalues that did not converge"))?;
    sort(s, [u, None], |a, b| a <= b);
    Ok(())
}

/// Eigenvalues in rising order and eigenvectors of symmetric matrices.
pub(super) fn eigh(
    ctx: &Context,
    op: &'static str,
    a: &Tensor,
    upper: bool,
) -> Result<(Tensor, Tensor)> {
    let dtype = check_float(op, &[a])?;
    let n = check_square(op, a)?;
    let s = vectors(ctx, op, dtype, batch_shape(a), n)?;
    let u = matrices(ctx, op, dtype, batch_shape(a), (n, n))?;
    with_float!(dtype, T => {
        let (from, to) = (Mats::<T>::of(a), (Mats::<T>::columns(&s), Mats::<T>::of(&u)));
        let batch = Batch::new(&[a]);
        batch.each(ctx, (op, &[a]), 2.0 * cost(n), scratch::<T>(n, true), &|i, stack| {
            // SAFETY: an operand's and the results' matrices.
            let (source, s, u) = unsafe {
                (from.at(batch.offset(0, i)), to.0.slice(i), to.1.result(i))
            };
            decompose(if upper { source.transpose() } else { source }, s, Some(u), stack)
        })?;
    });
    Ok((s, u))
}

/// Eigenvalues in rising order of symmetric matrices.
pub(super) fn eigvalsh(ctx: &Context, op: &'static str, a: &Tensor, upper: bool) -> Result<Tensor> {
    let dtype = check_float(op, &[a])?;
    let n = check_square(op, a)?;
    let s = vectors(ctx, op, dtype, batch_shape(a), n)?;
    with_float!(dtype, T => {
        let (from, to) = (Mats::<T>::of(a), Mats::<T>::columns(&s));
        let batch = Batch::new(&[a]);
        batch.each(ctx, (op, &[a]), cost(n), scratch::<T>(n, false), &|i, stack| {
            // SAFETY: an operand's and a result's matrix.
            let (source, s) = unsafe { (from.at(batch.offset(0, i)), to.slice(i)) };
            decompose(if upper { source.transpose() } else { source }, s, None, stack)
        })?;
    });
    Ok(s)
}

/// Eigenvalues of any square matrices, and eigenvectors of length 1 where they are wanted: real and
/// imaginary parts along a last dimension of size 2.
pub(super) fn eig(
    ctx: &Context,
    op: &'static str,
    a: &Tensor,
    with_vectors: bool,
) -> Result<(Tensor, Option<Tensor>)> {
    let dtype = check_float(op, &[a])?;
    let n = check_square(op, a)?;
    let shape = batch_shape(a);
    let values = Tensor::empty(ctx, op, dtype, &[shape, &[n as i64, 2]].concat())?;
    let all = [n as i64, n as i64, 2];
    let vectors = match with_vectors {
        true => Some(Tensor::empty(ctx, op, dtype, &[shape, &all].concat())?),
        false => None,
    };
    with_float!(dtype, T => {
        let (from, to) = (Mats::<T>::of(a), Mats::<T>::of(&values));
        // One row for all numbers of a matrix.
        let flat = vectors.as_ref().map(|v| {
            v.with_layout(op, v.layout().view(&[&[-1][..], &[2 * (n * n) as i64]].concat()))
        });
        let flat = match flat {
            Some(flat) if a.numel() > 0 => Some(Mats::<T>::columns(&flat?)),
            _ => None,
        };
        let inner = if n == 0 { StackReq::EMPTY } else { T::eig_scratch(n, with_vectors) };
        let parts = [matrix_scratch::<T>(n, 1), matrix_scratch::<T>(n, 1), matrix_scratch::<T>(n, n)];
        let room = StackReq::all_of(&parts).and(inner);
        let batch = Batch::new(&[a]);
        batch.each(ctx, (op, &[a]), 10.0 * cost(n), room, &|i, stack| {
            if n == 0 {
                return Ok(());
            }
            let (mut re, rest) = matrix::<T>(stack, n, 1);
            let (mut im, rest) = matrix::<T>(rest, n, 1);
            let (mut u, rest) = matrix::<T>(rest, n, n);
            // SAFETY: an operand's and a result's matrix.
            let (source, values) = unsafe { (from.at(batch.offset(0, i)), to.slice(i)) };
            if !all_finite(source) {
                return Err(Fault::matrix("has elements that are not finite"));
            }
            let (re, im) = (slice_of(&mut re), slice_of(&mut im));
            let right = with_vectors.then_some(u.as_mut());
            T::eig(source, (re, im), right, rest)
                .map_err(|_| Fault::matrix("has eigenvalues that did not converge"))?;
            for k in 0..n {
                (values[2 * k], values[2 * k + 1]) = (re[k], im[k]);
            }
            if let Some(flat) = &flat {
                // SAFETY: this matrix's place.
                pair_up(u.as_ref(), im, unsafe { flat.slice(i) });
            }
            Ok(())
        })?;
    });
    Ok((values, vectors))
}

/// Eigenvectors as complex numbers of length 1. Those of a pair of complex eigenvalues come as
/// columns of real and imaginary parts; as in LAPACK they are turned so that the greatest component
/// is real.
fn pair_up<T: Float>(u: MatRef<'_, T>, im: &[T], out: &mut [T]) {
    let n = im.len();
    let mut j = 0;
    while j < n {
        let pair = im[j] != T::ZERO && j + 1 < n;
        let part = |i: usize| (u[(i, j)].to_f64(), if pair { u[(i, j + 1)].to_f64() } else { 0.0 });
        let (mut greatest, mut turn) = (0.0, (1.0, 0.0));
        for i in 0..n {
            let (x, y) = part(i);
            if x.hypot(y) > greatest {
                greatest = x.hypot(y);
                turn = (x / greatest, y / greatest);
            }
        }
        let scale = if greatest > 0.0 { greatest } else { 1.0 };
        let sum: f64 = (0..n).map(part).map(|(x, y)| (x / scale).hypot(y / scale).powi(2)).sum();
        let length = scale * sum.sqrt();
        if !pair {
            turn = (1.0, 0.0);
        }
        for i in 0..n {
            let (x, y) = part(i);
            let re = (x * turn.0 + y * turn.1) / length;
            let im = (y * turn.0 - x * turn.1) / length;
            let at = 2 * (i * n + j);
            (out[at], out[at + 1]) = (<T as Real>::from_f64(re), <T as Real>::from_f64(im));
            if pair {
                (out[at + 2], out[at + 3]) =
                    (<T as Real>::from_f64(re), <T as Real>::from_f64(-im));
            }
        }
        j += 1 + usize::from(pair);
    }
}
