//! Cholesky factors, and systems with triangular matrices.

use faer::dyn_stack::{MemStack, StackReq};
use faer::{MatMut, MatRef};
use wick_core::Arch;
use wick_core::kernels::linalg::{Triangular, cholesky as small_cholesky, substitute};
use wick_dense::{Dense, Triangle};

use super::batch::*;
use super::lu::Right;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::elementwise::copy_values;
use crate::tensor::Tensor;

/// Up to this size plain loops do.
const SMALL: usize = 16;

/// Nanoseconds that a factor takes, roughly.
fn cost(n: usize) -> f64 {
    let n = n as f64;
    50.0 + n * n + 0.05 * n * n * n
}

fn factor_scratch<T: Float>(n: usize) -> StackReq {
    matrix_scratch::<T>(n, n).and(if n > SMALL { T::cholesky_scratch(n) } else { StackReq::EMPTY })
}

/// The lower factor in the place of a column-major matrix, of which the lower triangle is read.
fn factor<T: Float>(
    arch: Arch,
    a: &mut MatMut<'_, T>,
    stack: &mut MemStack,
) -> std::result::Result<(), Fault> {
    let failed = if a.nrows() <= SMALL {
        // SAFETY: a matrix that is borrowed mutably.
        unsafe { small_cholesky(arch, columns(a)) }.err()
    } else {
        T::cholesky(a.as_mut(), stack).err()
    };
    match failed {
        None => Ok(()),
        Some(place) => {
            let text =
                format!("is not positive-definite: its leading minor of order {}", place + 1);
            Err(Fault::matrix(text + " is not positive"))
        }
    }
}

/// Cholesky factors of symmetric matrices, of which the triangle of the wanted factor is read.
pub(super) fn cholesky(ctx: &Context, op: &'static str, a: &Tensor, upper: bool) -> Result<Tensor> {
    let dtype = check_float(op, &[a])?;
    let n = check_square(op, a)?;
    let out = matrices(ctx, op, dtype, batch_shape(a), (n, n))?;
    with_float!(dtype, T => {
        let (from, to) = (Mats::<T>::of(a), Mats::<T>::of(&out));
        let batch = Batch::new(&[a]);
        batch.each(ctx, (op, &[a]), cost(n), factor_scratch::<T>(n), &|i, stack| {
            let (mut work, rest) = matrix::<T>(stack, n, n);
            // SAFETY: an operand's and a result's matrix.
            let (source, result) = unsafe { (from.at(batch.offset(0, i)), to.result(i)) };
            copy(work.as_mut(), if upper { source.transpose() } else { source });
            factor(ctx.arch(), &mut work, rest)?;
            for j in 1..n {
                work.as_mut().col_mut(j).subrows_mut(0, j).fill(0.0);
            }
            copy(result, if upper { work.as_ref().transpose() } else { work.as_ref() });
            Ok(())
        })?;
    });
    Ok(out)
}

/// Solves a triangular system for the columns of a column-major `x`, in its place.
fn solve_triangular<T: Float>(
    arch: Arch,
    a: MatRef<'_, T>,
    x: MatMut<'_, T>,
    how: Triangular,
    stack: &mut MemStack,
) {
    let (n, mut x) = (a.nrows(), x);
    if n <= SMALL {
        let (mut dense, _) = matrix::<T>(stack, n, n);
        copy(dense.as_mut(), a);
        // SAFETY: two matrices that are borrowed mutably.
        return unsafe { substitute(arch, columns(&mut dense), columns(&mut x), how) };
    }
    let a = if how.transposed { a.transpose() } else { a };
    T::solve_triangular(a, x, Triangle { upper: how.upper != how.transposed, unit: how.unit });
}

/// Solves triangular systems one after the other: the first with `steps[0]`, and so on.
fn solve_steps(
    ctx: &Context,
    op: &'static str,
    (a, b): (&Tensor, &Tensor),
    steps: &[Triangular],
) -> Result<Tensor> {
    let dtype = check_float(op, &[a, b])?;
    let n = check_square(op, a)?;
    let (rows, k) = check_matrix(op, b)?;
    if rows != n {
        let text = format!("the right-hand side has {rows} rows, the matrix {n}");
        return Err(Error::shape(op, &[a, b], text));
    }
    let shape = common_batch(op, a, b)?;
    let (wide, rhs) = (expand_batch(op, a, &shape)?, expand_batch(op, b, &shape)?);
    let out = matrices(ctx, op, dtype, &shape, (n, k))?;
    copy_values(ctx, &out, &rhs);
    with_float!(dtype, T => {
        let (from, to) = (Mats::<T>::of(&wide), Mats::<T>::of(&out));
        let batch = Batch::new(&[&wide]);
        let work = 60.0 + steps.len() as f64 * 0.2 * volume([n, n, k]);
        let room = if n <= SMALL { matrix_scratch::<T>(n, n) } else { StackReq::EMPTY };
        batch.each(ctx, (op, &[a, b]), work, room, &|i, stack| {
            for how in steps {
                // SAFETY: an operand's and a result's matrix.
                let (a, x) = unsafe { (from.at(batch.offset(0, i)), to.result(i)) };
                solve_triangular(ctx.arch(), a, x, *how, stack);
            }
            Ok(())
        })?;
    });
    Ok(out)
}

/// The solution X of A X = B with a triangular A.
pub(super) fn triangular_solve(
    ctx: &Context,
    op: &'static str,
    a: &Tensor,
    b: &Tensor,
    how: Triangular,
) -> Result<Tensor> {
    solve_steps(ctx, op, (a, b), &[how])
}

/// As [`triangular_solve`], or X A = B; vectors may stand on the right.
pub(super) fn solve_with_side(
    ctx: &Context,
    op: &'static str,
    (a, b): (&Tensor, &Tensor),
    how: Triangular,
    left: bool,
) -> Result<Tensor> {
    check_float(op, &[a, b])?;
    check_square(op, a)?;
    let right = Right::new(op, a, b)?;
    if left {
        return right.result(op, solve_steps(ctx, op, (a, &right.b), &[how])?);
    }
    if right.vector {
        return Err(Error::shape(op, &[a, b], "vectors can only stand on the right of the matrix"));
    }
    let turned = |t: &Tensor| t.with_layout(op, t.layout().transpose(-2, -1));
    let how = Triangular { transposed: !how.transposed, ..how };
    turned(&solve_steps(ctx, op, (a, &turned(b)?), &[how])?)
}

/// The solution X of A X = B from the Cholesky factor of A.
pub(super) fn cholesky_solve(
    ctx: &Context,
    op: &'static str,
    b: &Tensor,
    factor: &Tensor,
    upper: bool,
) -> Result<Tensor> {
    let first = Triangular { upper, unit: false, transposed: upper };
    let second = Triangular { upper, unit: false, transposed: !upper };
    solve_steps(ctx, op, (factor, b), &[first, second])
}

/// The inverse of A from its Cholesky factor.
pub(super) fn cholesky_inverse(
    ctx: &Context,
    op: &'static str,
    a: &Tensor,
    upper: bool,
) -> Result<Tensor> {
    let dtype = check_float(op, &[a])?;
    let n = check_square(op, a)?;
    let out = matrices(ctx, op, dtype, batch_shape(a), (n, n))?;
    with_float!(dtype, T => {
        let (from, to) = (Mats::<T>::of(a), Mats::<T>::of(&out));
        let batch = Batch::new(&[a]);
        let room = matrix_scratch::<T>(n, n).and(T::cholesky_inverse_scratch(n));
        batch.each(ctx, (op, &[a]), 3.0 * cost(n), room, &|i, stack| {
            let (mut work, rest) = matrix::<T>(stack, n, n);
            // SAFETY: an operand's and a result's matrix.
            let (source, mut result) = unsafe { (from.at(batch.offset(0, i)), to.result(i)) };
            copy(work.as_mut(), if upper { source.transpose() } else { source });
            if let Some(k) = (0..n).find(|&k| work[(k, k)] == 0.0) {
                let text = format!("is no Cholesky factor: element {} of its diagonal is 0", k + 1);
                return Err(Fault::matrix(text));
            }
            if n <= SMALL {
                result.fill(0.0);
                (0..n).for_each(|k| result[(k, k)] = 1.0);
                for transposed in [false, true] {
                    let how = Triangular { upper: false, unit: false, transposed };
                    let mut x = result.as_mut();
                    // SAFETY: two matrices that are borrowed mutably.
                    unsafe { substitute(ctx.arch(), columns(&mut work), columns(&mut x), how) };
                }
            } else {
                T::cholesky_inverse(result.as_mut(), work.as_ref(), rest);
            }
            for j in 1..n {
                for i in 0..j {
                    result[(i, j)] = result[(j, i)];
                }
            }
            Ok(())
        })?;
    });
    Ok(out)
}
