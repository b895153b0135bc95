//! LU factors and what they give: determinants, inverses, solutions.

use faer::dyn_stack::{MemStack, StackReq};
use faer::{MatMut, MatRef};
use wick_core::kernels::linalg::{Triangular, lu_panel, substitute};
use wick_core::{Arch, DType, Real};
use wick_dense::Triangle;

use super::batch::*;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::elementwise::copy_values;
use crate::ops::rearrange;
use crate::tensor::Tensor;

/// Up to this many columns are factored without cutting them.
const PANEL: usize = 16;

const LOWER: Triangle = Triangle { upper: false, unit: true };
const UPPER: Triangle = Triangle { upper: true, unit: false };

/// Up to this size systems are solved by plain loops.
const SMALL: usize = 16;

/// LU factors in the place of a column-major matrix; see [`lu_panel`].
pub(super) fn factor<T: Float>(arch: Arch, a: MatMut<'_, T>, pivots: &mut [usize]) {
    let mut a = a;
    let (m, n) = (a.nrows(), a.ncols());
    let k = m.min(n);
    if k <= PANEL {
        // SAFETY: a matrix that is borrowed mutably, with a pivot a step.
        return unsafe { lu_panel(arch, columns(&mut a), pivots) };
    }
    let half = (k / 2).next_multiple_of(8);
    let (left, mut right) = a.split_at_col_mut(half);
    let mut left = left;
    factor(arch, left.as_mut(), &mut pivots[..half]);
    exchange(&mut right, &pivots[..half]);
    let (top, bottom) = left.as_ref().split_at_row(half);
    let (mut right_top, mut right_bottom) = right.split_at_row_mut(half);
    T::solve_triangular(top, right_top.as_mut(), LOWER);
    let minus = T::ZERO - T::ONE;
    T::multiply(right_bottom.as_mut(), true, bottom, right_top.as_ref(), minus);
    factor(arch, right_bottom, &mut pivots[half..]);
    let (_, mut left_bottom) = left.split_at_row_mut(half);
    exchange(&mut left_bottom, &pivots[half..]);
    pivots[half..].iter_mut().for_each(|p| *p += half);
}

/// Exchanges rows as a factorization did.
fn exchange<T: Float>(a: &mut MatMut<'_, T>, pivots: &[usize]) {
    let (n, rows) = (a.ncols(), a.nrows());
    let (ptr, rs, cs) = (a.as_ptr_mut(), a.row_stride(), a.col_stride());
    for j in 0..n as isize {
        for (i, &p) in pivots.iter().enumerate() {
            if p != i {
                debug_assert!(p < rows);
                // SAFETY: both rows are the matrix's.
                unsafe {
                    let column = ptr.offset(j * cs);
                    std::ptr::swap(column.offset(i as isize * rs), column.offset(p as isize * rs));
                }
            }
        }
    }
}

/// The order of rows that exchanges lead to.
fn order(pivots: &[usize], rows: &mut [usize]) {
    rows.iter_mut().enumerate().for_each(|(i, row)| *row = i);
    for (i, &p) in pivots.iter().enumerate() {
        rows.swap(i, p);
    }
}

/// Numbers of a stack, all 0.
pub(super) fn indices(stack: &mut MemStack, n: usize) -> (&mut [usize], &mut MemStack) {
    let (room, rest) = stack.make_uninit::<usize>(n);
    room.iter_mut().for_each(|place| {
        place.write(0);
    });
    // SAFETY: all places were just written.
    (unsafe { std::slice::from_raw_parts_mut(room.as_mut_ptr().cast(), n) }, rest)
}

fn scratch<T>(m: usize, n: usize) -> StackReq {
    matrix_scratch::<T>(m, n).and(StackReq::new::<usize>(m.max(n)))
}

/// Nanoseconds that factors of a square matrix take, roughly.
fn cost(n: usize) -> f64 {
    let n = n as f64;
    60.0 + n * n + 0.1 * n * n * n
}

/// Solves a factored system for the columns of `x`.
fn solve_factored<T: Float>(arch: Arch, lu: MatMut<'_, T>, pivots: &[usize], x: MatMut<'_, T>) {
    let (mut lu, mut x) = (lu, x);
    exchange(&mut x, pivots);
    if lu.nrows() <= SMALL {
        let lower = Triangular { upper: false, unit: true, transposed: false };
        let upper = Triangular { upper: true, unit: false, transposed: false };
        // SAFETY: two matrices that are borrowed mutably.
        unsafe {
            substitute(arch, columns(&mut lu), columns(&mut x), lower);
            substitute(arch, columns(&mut lu), columns(&mut x), upper);
        }
    } else {
        T::solve_triangular(lu.as_ref(), x.as_mut(), LOWER);
        T::solve_triangular(lu.as_ref(), x.as_mut(), UPPER);
    }
}

/// The first pivot that is 0.
fn zero_pivot<T: Float>(lu: MatRef<'_, T>) -> Option<usize> {
    (0..lu.nrows().min(lu.ncols())).find(|&i| lu[(i, i)] == T::ZERO)
}

/// A product whose steps neither overflow nor vanish where the result does not.
struct Product {
    value: f64,
    /// Times 2 to this power.
    exponent: i32,
}

impl Product {
    fn new() -> Product {
        Product { value: 1.0, exponent: 0 }
    }

    fn times(&mut self, x: f64) {
        let (x, shift) = scaled(x);
        let (value, more) = scaled(self.value * x);
        self.value = value;
        self.exponent += shift + more;
    }

    fn result(&self) -> f64 {
        let (mut value, mut left) = (self.value, self.exponent);
        while left != 0 && value != 0.0 && value.is_finite() {
            let step = left.clamp(-600, 600);
            value *= 2f64.powi(step);
            left -= step;
        }
        value
    }
}

/// A number near 1 or as it is, and the power of 2 that was taken out.
fn scaled(x: f64) -> (f64, i32) {
    let size = x.abs();
    if size > 1e100 && size.is_finite() {
        (x * 2f64.powi(-600), 600)
    } else if size < 1e-100 && size > 0.0 {
        (x * 2f64.powi(600), -600)
    } else {
        (x, 0)
    }
}

/// Calls `give(i, factors, whether rows were exchanged an odd number of times)` for each matrix.
fn with_factors<T: Float>(
    ctx: &Context,
    op: &'static str,
    a: &Tensor,
    give: &(dyn Fn(i64, MatRef<'_, T>, bool) + Sync),
) -> Result<()> {
    let (n, from) = (last(a, 1), Mats::<T>::of(a));
    let batch = Batch::new(&[a]);
    batch.each(ctx, (op, &[a]), cost(n), scratch::<T>(n, n), &|i, stack| {
        let (mut lu, rest) = matrix::<T>(stack, n, n);
        let (pivots, _) = indices(rest, n);
        // SAFETY: an operand's matrix.
        let source = unsafe { from.at(batch.offset(0, i)) };
        // The transposed matrix has the same determinant: as it lies better.
        copy(lu.as_mut(), if source.row_stride() == 1 { source } else { source.transpose() });
        factor(ctx.arch(), lu.as_mut(), pivots);
        let odd = pivots.iter().enumerate().filter(|(i, p)| i != *p).count() % 2 == 1;
        give(i, lu.as_ref(), odd);
        Ok(())
    })
}

/// Determinants.
pub(super) fn det(ctx: &Context, op: &'static str, a: &Tensor) -> Result<Tensor> {
    let dtype = check_float(op, &[a])?;
    check_square(op, a)?;
    let out = Tensor::empty(ctx, op, dtype, batch_shape(a))?;
    with_float!(dtype, T => {
        let to = Mats::<T>::numbers(&out);
        with_factors::<T>(ctx, op, a, &|i, lu, odd| {
            let mut product = Product::new();
            (0..lu.nrows()).for_each(|k| product.times(lu[(k, k)].to_f64()));
            let value = if odd { -product.result() } else { product.result() };
            // SAFETY: this matrix's place.
            unsafe { to.slice(i)[0] = <T as Real>::from_f64(value) };
        })?;
    });
    Ok(out)
}

/// Signs of determinants, and the logarithms of their absolute values.
pub(super) fn slogdet(ctx: &Context, op: &'static str, a: &Tensor) -> Result<(Tensor, Tensor)> {
    let dtype = check_float(op, &[a])?;
    check_square(op, a)?;
    let signs = Tensor::empty(ctx, op, dtype, batch_shape(a))?;
    let logs = Tensor::empty(ctx, op, dtype, batch_shape(a))?;
    with_float!(dtype, T => {
        let to = (Mats::<T>::numbers(&signs), Mats::<T>::numbers(&logs));
        with_factors::<T>(ctx, op, a, &|i, lu, odd| {
            let (mut sign, mut log) = (if odd { -1.0 } else { 1.0 }, 0.0);
            for k in 0..lu.nrows() {
                let x = lu[(k, k)].to_f64();
                sign *= if x == 0.0 || x.is_nan() { x } else { x.signum() };
                log += x.abs().ln();
            }
            // SAFETY: this matrix's places.
            unsafe {
                to.0.slice(i)[0] = <T as Real>::from_f64(sign);
                to.1.slice(i)[0] = <T as Real>::from_f64(log);
            }
        })?;
    });
    Ok((signs, logs))
}

/// Inverses. `singular`: what a singular matrix's inverse is full of; none: it is an error.
pub(super) fn inverse(
    ctx: &Context,
    op: &'static str,
    a: &Tensor,
    singular: Option<f64>,
) -> Result<Tensor> {
    let dtype = check_float(op, &[a])?;
    let n = check_square(op, a)?;
    let out = matrices(ctx, op, dtype, batch_shape(a), (n, n))?;
    with_float!(dtype, T => inverse_of::<T>(ctx, op, a, &out, singular)?);
    Ok(out)
}

fn inverse_of<T: Float>(
    ctx: &Context,
    op: &'static str,
    a: &Tensor,
    out: &Tensor,
    singular: Option<f64>,
) -> Result<()> {
    let n = last(a, 1);
    let (from, to) = (Mats::<T>::of(a), Mats::<T>::of(out));
    let batch = Batch::new(&[a]);
    let large = if n > SMALL { matrix_scratch::<T>(n, n) } else { StackReq::EMPTY };
    let room = scratch::<T>(n, n).and(StackReq::new::<usize>(n)).and(large);
    batch.each(ctx, (op, &[a]), 3.0 * cost(n), room, &|i, stack| {
        let (mut lu, rest) = matrix::<T>(stack, n, n);
        let (pivots, rest) = indices(rest, n);
        let (rows, rest) = indices(rest, n);
        // SAFETY: an operand's and a result's matrix.
        let (source, mut result) = unsafe { (from.at(batch.offset(0, i)), to.result(i)) };
        copy(lu.as_mut(), source);
        factor(ctx.arch(), lu.as_mut(), pivots);
        if let Some(pivot) = zero_pivot(lu.as_ref()) {
            let Some(value) = singular else { return Err(Fault::singular(pivot)) };
            result.fill(<T as Real>::from_f64(value));
            return Ok(());
        }
        if n <= SMALL {
            result.fill(T::ZERO);
            (0..n).for_each(|k| result[(k, k)] = T::ONE);
            solve_factored(ctx.arch(), lu, pivots, result);
            return Ok(());
        }
        order(pivots, rows);
        let (mut work, _) = matrix::<T>(rest, n, n);
        work.fill(T::ZERO);
        T::invert_unit_lower(work.as_mut(), lu.as_ref());
        (0..n).for_each(|k| work[(k, k)] = T::ONE);
        T::solve_triangular(lu.as_ref(), work.as_mut(), UPPER);
        for (k, &column) in rows.iter().enumerate() {
            copy(result.as_mut().subcols_mut(column, 1), work.as_ref().subcols(k, 1));
        }
        Ok(())
    })
}

/// What a right-hand side is: vectors, or matrices of them.
pub(super) struct Right {
    /// As matrices.
    pub b: Tensor,
    /// They were vectors.
    pub vector: bool,
}

impl Right {
    /// By libtorch's rule: vectors where there is one dimension, or one fewer than the matrices have
    /// and the sizes are those of the matrices without the last.
    pub fn new(op: &'static str, a: &Tensor, b: &Tensor) -> Result<Right> {
        let sizes = &a.shape()[..a.rank() - 1];
        if b.rank() == 0 {
            return Err(Error::shape(op, &[a, b], "expected vectors or matrices on the right"));
        }
        let vector = b.rank() == 1 || b.rank() + 1 == a.rank() && b.shape() == sizes;
        let b = if vector { b.with_layout(op, b.layout().unsqueeze(-1))? } else { b.clone() };
        Ok(Right { b, vector })
    }

    /// A result as the right-hand side was.
    pub fn result(&self, op: &'static str, x: Tensor) -> Result<Tensor> {
        if self.vector { x.with_layout(op, x.layout().squeeze(-1)) } else { Ok(x) }
    }
}

/// The solution X of A X = B, or of X A = B.
pub(super) fn solve(
    ctx: &Context,
    op: &'static str,
    a: &Tensor,
    b: &Tensor,
    left: bool,
) -> Result<Tensor> {
    let dtype = check_float(op, &[a, b])?;
    let n = check_square(op, a)?;
    let right = Right::new(op, a, b)?;
    if right.vector && !left {
        return Err(Error::shape(op, &[a, b], "vectors can only stand on the right of the matrix"));
    }
    let turned = |t: &Tensor| t.with_layout(op, t.layout().transpose(-2, -1));
    if !left {
        let x = solve(ctx, op, &turned(a)?, &turned(&right.b)?, true)?;
        return turned(&x);
    }
    if last(&right.b, 2) != n {
        let text = format!("the right-hand side has {} rows, the matrix {n}", last(&right.b, 2));
        return Err(Error::shape(op, &[a, b], text));
    }
    let shape = common_batch(op, a, &right.b)?;
    let wide = expand_batch(op, a, &shape)?;
    let columns_of = expand_batch(op, &right.b, &shape)?;
    let k = last(&right.b, 1);
    let out = matrices(ctx, op, dtype, &shape, (n, k))?;
    with_float!(dtype, T => {
        let (from, rhs, to) = (Mats::<T>::of(&wide), Mats::<T>::of(&columns_of), Mats::<T>::of(&out));
        let batch = Batch::new(&[&wide, &columns_of]);
        let work = cost(n) + 0.2 * volume([n, n, k]);
        batch.each(ctx, (op, &[a, b]), work, scratch::<T>(n, n), &|i, stack| {
            let (mut lu, rest) = matrix::<T>(stack, n, n);
            let (pivots, _) = indices(rest, n);
            // SAFETY: operands' and a result's matrices.
            let (source, b, mut x) = unsafe {
                (from.at(batch.offset(0, i)), rhs.at(batch.offset(1, i)), to.result(i))
            };
            copy(lu.as_mut(), source);
            factor(ctx.arch(), lu.as_mut(), pivots);
            if let Some(pivot) = zero_pivot(lu.as_ref()) {
                return Err(Fault::singular(pivot));
            }
            copy(x.as_mut(), b);
            solve_factored(ctx.arch(), lu, pivots, x);
            Ok(())
        })?;
    });
    right.result(op, out)
}

/// LU factors in one matrix, and which row came to each row, counted from 1.
pub(super) fn lu_factor(ctx: &Context, op: &'static str, a: &Tensor) -> Result<(Tensor, Tensor)> {
    let dtype = check_float(op, &[a])?;
    let (m, n) = check_matrix(op, a)?;
    let k = m.min(n);
    let out = matrices(ctx, op, dtype, batch_shape(a), (m, n))?;
    let rows = vectors(ctx, op, DType::I32, batch_shape(a), k)?;
    with_float!(dtype, T => {
        let (from, to) = (Mats::<T>::of(a), Mats::<T>::of(&out));
        let places = Mats::<i32>::columns(&rows);
        let batch = Batch::new(&[a]);
        batch.each(ctx, (op, &[a]), cost(m.max(n)), scratch::<T>(m, n), &|i, stack| {
            let (mut lu, rest) = matrix::<T>(stack, m, n);
            let (pivots, _) = indices(rest, k);
            // SAFETY: an operand's and the results' matrices.
            let (source, result) = unsafe { (from.at(batch.offset(0, i)), to.result(i)) };
            copy(lu.as_mut(), source);
            factor(ctx.arch(), lu.as_mut(), pivots);
            copy(result, lu.as_ref());
            // SAFETY: as above.
            let places = unsafe { places.slice(i) };
            places.iter_mut().zip(&*pivots).for_each(|(to, p)| *to = *p as i32 + 1);
            Ok(())
        })?;
    });
    Ok((out, rows))
}

/// P, L and U with A = P L U.
pub(super) fn lu(ctx: &Context, op: &'static str, a: &Tensor) -> Result<[Tensor; 3]> {
    let (m, n) = check_matrix(op, a)?;
    let (factors, rows) = lu_factor(ctx, op, a)?;
    let (k, batch) = (m.min(n), batch_shape(a));
    let dtype = a.dtype();
    let p = matrices(ctx, op, dtype, batch, (m, m))?;
    with_float!(dtype, T => {
        let (to, places) = (Mats::<T>::of(&p), Mats::<i32>::columns(&rows));
        let loops = Batch::new(&[a]);
        loops.each(ctx, (op, &[a]), volume([m, m]), StackReq::new::<usize>(m + k), &|i, stack| {
            let (pivots, rest) = indices(stack, k);
            let (order_of, _) = indices(rest, m);
            // SAFETY: the results' matrices, each this task's.
            let (mut p, places) = unsafe { (to.result(i), places.slice(i)) };
            pivots.iter_mut().zip(&*places).for_each(|(to, row)| *to = *row as usize - 1);
            order(pivots, order_of);
            p.fill(T::ZERO);
            for (j, &row) in order_of.iter().enumerate() {
                p[(row, j)] = T::ONE;
            }
            Ok(())
        })?;
    });
    let part = |rows: usize, cols: usize| {
        let layout = factors.layout().narrow(-2, 0, rows as i64);
        factors.with_layout(op, layout.and_then(|l| l.narrow(-1, 0, cols as i64)))
    };
    let triangle = |t: Tensor, diagonal: i64, lower: bool| {
        let t = rearrange::triangle(ctx, op, &t, diagonal, lower, false)?;
        t.ok_or_else(|| Error::internal("a new triangle".into()))
    };
    let l = triangle(part(m, k)?, -1, true)?;
    let diagonal = l.with_layout(op, l.layout().diagonal(0, -2, -1))?;
    crate::ops::creation::fill_values(
        ctx,
        &diagonal,
        wick_core::kernels::elementwise::Scalar::Int(1),
    );
    let u = triangle(part(k, n)?, 0, false)?;
    Ok([p, l, u])
}

/// The solution X of A X = B from the factors of A.
pub(super) fn lu_solve(
    ctx: &Context,
    op: &'static str,
    factors: &Tensor,
    rows: &Tensor,
    b: &Tensor,
) -> Result<Tensor> {
    let dtype = check_float(op, &[factors, b])?;
    let all = [factors, rows, b];
    let n = check_square(op, factors)?;
    let (_, k) = check_matrix(op, b)?;
    if rows.dtype() != DType::I32 {
        return Err(Error::dtype(op, &all, "the pivots must be i32"));
    }
    if rows.shape() != &factors.shape()[..factors.rank() - 1] || last(b, 2) != n {
        let text = "expected as many pivots and rows on the right as the factors have rows";
        return Err(Error::shape(op, &all, text));
    }
    let shape = common_batch(op, factors, b)?;
    let lu = expand_batch(op, factors, &shape)?;
    let pivots = rows.with_layout(op, rows.layout().unsqueeze(-1))?;
    let pivots = expand_batch(op, &pivots, &shape)?;
    let rhs = expand_batch(op, b, &shape)?;
    let out = matrices(ctx, op, dtype, &shape, (n, k))?;
    copy_values(ctx, &out, &rhs);
    with_float!(dtype, T => {
        let (from, to) = (Mats::<T>::of(&lu), Mats::<T>::of(&out));
        let places = Mats::<i32>::of(&pivots);
        let batch = Batch::new(&[&lu, &pivots]);
        let work = 60.0 + 0.2 * volume([n, n, k]);
        batch.each(ctx, (op, &all), work, scratch::<T>(n, n), &|i, stack| {
            let (mut lu, rest) = matrix::<T>(stack, n, n);
            let (order_of, _) = indices(rest, n);
            // SAFETY: operands' and a result's matrices.
            let (source, places, x) = unsafe {
                (from.at(batch.offset(0, i)), places.at(batch.offset(1, i)), to.result(i))
            };
            for (j, to) in order_of.iter_mut().enumerate() {
                let row = places[(j, 0)];
                if row < j as i32 + 1 || row > n as i32 {
                    return Err(Fault::matrix(format!("has pivot {row} for row {}", j + 1)));
                }
                *to = row as usize - 1;
            }
            copy(lu.as_mut(), source);
            solve_factored(ctx.arch(), lu, order_of, x);
            Ok(())
        })?;
    });
    Ok(out)
}
