//! Least squares.

use faer::dyn_stack::{MemStack, StackReq};
use faer::{MatMut, MatRef};
use wick_core::ops::BinaryOp;
use wick_core::{DType, Real, named_ops};
use wick_dense::Vectors;

use super::batch::*;
use super::lu::{Right, indices};
use super::products::{binary_new, product, sum_over};
use super::svd::{self, Tolerance, invert_into};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::tensor::Tensor;

named_ops! {
    /// LAPACK's ways to solve least squares, by what they give.
    Driver {
        /// Any rank: the solution of least length, and the ranks.
        Gelsy "gelsy",
        /// Matrices of full rank alone.
        Gels "gels",
        /// As gelsy, with the singular values.
        Gelsd "gelsd",
        /// As gelsd.
        Gelss "gelss",
    }
}

/// Solution, residuals, ranks, singular values; what a driver does not give is empty.
pub(super) fn lstsq(
    ctx: &Context,
    op: &'static str,
    a: &Tensor,
    b: &Tensor,
    rcond: f64,
    driver: Driver,
) -> Result<[Tensor; 4]> {
    let dtype = check_float(op, &[a, b])?;
    let (m, n) = check_matrix(op, a)?;
    let right = Right::new(op, a, b)?;
    if last(&right.b, 2) != m {
        let text = format!("the right-hand side has {} rows, the matrix {m}", last(&right.b, 2));
        return Err(Error::shape(op, &[a, b], text));
    }
    let (size, k) = (m.min(n), last(&right.b, 1));
    let shape = common_batch(op, a, &right.b)?;
    let (wide, rhs) = (expand_batch(op, a, &shape)?, expand_batch(op, &right.b, &shape)?);
    let x = matrices(ctx, op, dtype, &shape, (n, k))?;
    let rank = Tensor::empty(ctx, op, DType::I64, &shape)?;
    let by_values = matches!(driver, Driver::Gelsd | Driver::Gelss);
    let none = Tensor::empty(ctx, op, dtype, &[0])?;
    let values = vectors(ctx, op, dtype, &shape, size)?;
    let tolerance = Tolerance::new(dtype, (m, n), f64::NAN, rcond);
    with_float!(dtype, T => {
        let from = (Mats::<T>::of(&wide), Mats::<T>::of(&rhs));
        let to = (Mats::<T>::of(&x), Mats::<i64>::numbers(&rank), Mats::<T>::columns(&values));
        let batch = Batch::new(&[&wide, &rhs]);
        let cost = svd::cost(m, n) + 0.5 * volume([m, n, k]);
        let room = by_qr_scratch::<T>(m, n, k).or(by_svd_scratch::<T>(m, n, k));
        batch.each(ctx, (op, &[a, b]), cost, room, &|i, stack| {
            // SAFETY: operands' and the results' matrices.
            let (source, b, mut x, rank, s) = unsafe {
                let (a, b) = (from.0.at(batch.offset(0, i)), from.1.at(batch.offset(1, i)));
                (a, b, to.0.result(i), &mut to.1.slice(i)[0], to.2.slice(i))
            };
            *rank = 0;
            if size == 0 {
                x.fill(0.0);
                return Ok(());
            }
            if !all_finite(source) {
                return Err(Fault::matrix("has elements that are not finite"));
            }
            if m >= n && !by_values && by_qr(source, b, x.as_mut(), tolerance, stack) {
                *rank = n as i64;
                return Ok(());
            }
            *rank = by_svd(source, b, x, s, tolerance, stack)? as i64;
            if driver == Driver::Gels && (*rank as usize) < size {
                return Err(Fault::matrix(format!(
                    "has rank {rank}, not the full rank {size} that the driver gels needs"
                )));
            }
            Ok(())
        })?;
    });
    let full = driver != Driver::Gelsy && m > n && {
        let ranks = Mats::<i64>::numbers(&rank);
        let count: i64 = shape.iter().product();
        // SAFETY: a new tensor.
        (0..count).all(|i| unsafe { ranks.slice(i)[0] } == n as i64)
    };
    let residuals = if full {
        let difference = binary_new(ctx, BinaryOp::Sub, &product(ctx, &wide, &x)?, &rhs)?;
        sum_over(ctx, &binary_new(ctx, BinaryOp::Mul, &difference, &difference)?, &[-2])?
    } else {
        none.clone()
    };
    let rank =
        if driver == Driver::Gels { Tensor::empty(ctx, op, DType::I64, &[0])? } else { rank };
    let values = if by_values { values } else { none };
    Ok([right.result(op, x)?, residuals, rank, values])
}

fn by_qr_scratch<T: Float>(m: usize, n: usize, k: usize) -> StackReq {
    if m < n || n == 0 {
        return StackReq::EMPTY;
    }
    let parts = [
        matrix_scratch::<T>(m, n),
        matrix_scratch::<T>(T::block(m, n), n),
        matrix_scratch::<T>(m, k),
        StackReq::new::<usize>(2 * n),
    ];
    StackReq::all_of(&parts).and(T::least_squares_scratch(m, n, k))
}

/// Solves by QR factors with exchanged columns where the matrix is clearly of full rank.
fn by_qr<T: Float>(
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    x: MatMut<'_, T>,
    tolerance: Tolerance,
    stack: &mut MemStack,
) -> bool {
    let (m, n, k) = (a.nrows(), a.ncols(), b.ncols());
    let (mut qr, rest) = matrix::<T>(stack, m, n);
    let (coeff, rest) = matrix::<T>(rest, T::block(m, n), n);
    let (mut rhs, rest) = matrix::<T>(rest, m, k);
    let (places, rest) = indices(rest, 2 * n);
    let (places, inverse) = places.split_at_mut(n);
    copy(qr.as_mut(), a);
    copy(rhs.as_mut(), b);
    // The diagonal of R may say too much of the least singular value; near the limit that decides.
    let limit = <T as Real>::from_f64(n as f64 * tolerance.rtol);
    if !T::least_squares(qr, coeff, (places, inverse), rhs.as_mut(), limit, rest) {
        return false;
    }
    copy(x, rhs.as_ref().subrows(0, n));
    true
}

fn by_svd_scratch<T: Float>(m: usize, n: usize, k: usize) -> StackReq {
    let size = m.min(n);
    StackReq::all_of(&[
        matrix_scratch::<T>(m, size),
        matrix_scratch::<T>(n, size),
        matrix_scratch::<T>(n, m),
        matrix_scratch::<T>(m, k),
        svd::scratch::<T>(m, n, Vectors::Thin),
    ])
}

/// Solves by singular values: the solution of least length. The rank.
fn by_svd<T: Float>(
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    x: MatMut<'_, T>,
    s: &mut [T],
    tolerance: Tolerance,
    stack: &mut MemStack,
) -> std::result::Result<usize, Fault> {
    let (m, n) = (a.nrows(), a.ncols());
    let size = m.min(n);
    let (mut u, rest) = matrix::<T>(stack, m, size);
    let (mut v, rest) = matrix::<T>(rest, n, size);
    let (mut inverse, rest) = matrix::<T>(rest, n, m);
    svd::decompose(a, s, Some(u.as_mut()), Some(v.as_mut()), rest)?;
    let least = tolerance.least(s[0].to_f64());
    let rank = invert_into(inverse.as_mut(), s, u.as_ref(), v, least);
    T::multiply(x, false, inverse.as_ref(), b, T::ONE);
    Ok(rank)
}
