//! Singular values, and what follows from them: pseudoinverses, ranks, least squares.

use faer::dyn_stack::{MemStack, StackReq};
use faer::{MatMut, MatRef};
use wick_core::{DType, Real};
use wick_dense::Vectors;

use super::batch::*;
use super::eigen;
use crate::context::Context;
use crate::error::Result;
use crate::tensor::Tensor;

/// Nanoseconds, roughly.
pub(super) fn cost(m: usize, n: usize) -> f64 {
    1500.0 + 2.0 * volume([m, n, m.min(n)])
}

/// What [`decompose`] takes of a stack.
pub(super) fn scratch<T: Float>(m: usize, n: usize, vectors: Vectors) -> StackReq {
    // The operand may be taken as its transpose.
    T::svd_scratch(m, n, vectors).or(T::svd_scratch(n, m, vectors))
}

/// Singular values in falling order, with U and V of A = U S Vᵀ where they are wanted.
pub(super) fn decompose<T: Float>(
    a: MatRef<'_, T>,
    s: &mut [T],
    u: Option<MatMut<'_, T>>,
    v: Option<MatMut<'_, T>>,
    stack: &mut MemStack,
) -> std::result::Result<(), Fault> {
    if !all_finite(a) {
        return Err(Fault::matrix("has elements that are not finite"));
    }
    let (mut u, mut v) = (u, v);
    for vectors in [&mut u, &mut v].into_iter().flatten() {
        // faer leaves places of square factors of long matrices as they are.
        vectors.fill(T::ZERO);
    }
    let lies_by_rows = a.row_stride() != 1 && a.col_stride() == 1;
    let (a, mut u, mut v) = if lies_by_rows { (a.transpose(), v, u) } else { (a, u, v) };
    let (u_part, v_part) = (u.as_mut().map(|u| u.as_mut()), v.as_mut().map(|v| v.as_mut()));
    T::svd(a, s, u_part, v_part, stack)
        .map_err(|_| Fault::matrix("has singular values that did not converge"))?;
    sort(s, [u, v], |a, b| a >= b);
    Ok(())
}

/// Brings values into order, and columns with them: faer leaves the least ones of a matrix of low
/// rank as they come.
pub(super) fn sort<T: Float>(
    s: &mut [T],
    columns: [Option<MatMut<'_, T>>; 2],
    in_order: impl Fn(&T, &T) -> bool,
) {
    let mut columns = columns;
    if s.windows(2).all(|w| in_order(&w[0], &w[1])) {
        return;
    }
    for i in 0..s.len() {
        let mut first = i;
        for k in i + 1..s.len() {
            if !in_order(&s[first], &s[k]) {
                first = k;
            }
        }
        if first == i {
            continue;
        }
        s.swap(i, first);
        for matrix in columns.iter_mut().flatten() {
            let (left, right) = matrix.as_mut().split_at_col_mut(first);
            let (mut x, mut y) = (left.col_mut(i), right.col_mut(0));
            for r in 0..x.nrows() {
                std::mem::swap(&mut x[r], &mut y[r]);
            }
        }
    }
}

/// U, S and Vᵀ; with `full` U and V are square.
pub(super) fn svd(
    ctx: &Context,
    op: &'static str,
    a: &Tensor,
    full: bool,
) -> Result<(Tensor, Tensor, Tensor)> {
    let dtype = check_float(op, &[a])?;
    let (m, n) = check_matrix(op, a)?;
    let k = m.min(n);
    let (rows, cols) = if full { (m, n) } else { (k, k) };
    let shape = batch_shape(a);
    let u = matrices(ctx, op, dtype, shape, (m, rows))?;
    let v = matrices(ctx, op, dtype, shape, (n, cols))?;
    let s = vectors(ctx, op, dtype, shape, k)?;
    let which = if full { Vectors::Full } else { Vectors::Thin };
    with_float!(dtype, T => {
        let from = Mats::<T>::of(a);
        let to = (Mats::<T>::of(&u), Mats::<T>::columns(&s), Mats::<T>::of(&v));
        let batch = Batch::new(&[a]);
        batch.each(ctx, (op, &[a]), 2.0 * cost(m, n), scratch::<T>(m, n, which), &|i, stack| {
            // SAFETY: an operand's and the results' matrices.
            let (source, u, s, v) = unsafe {
                let source = from.at(batch.offset(0, i));
                (source, to.0.result(i), to.1.slice(i), to.2.result(i))
            };
            decompose(source, s, Some(u), Some(v), stack)
        })?;
    });
    Ok((u, s, v.with_layout(op, v.layout().transpose(-2, -1))?))
}

/// Singular values in falling order.
pub(super) fn svdvals(ctx: &Context, op: &'static str, a: &Tensor) -> Result<Tensor> {
    let dtype = check_float(op, &[a])?;
    let (m, n) = check_matrix(op, a)?;
    let s = vectors(ctx, op, dtype, batch_shape(a), m.min(n))?;
    with_float!(dtype, T => {
        let (from, to) = (Mats::<T>::of(a), Mats::<T>::columns(&s));
        let batch = Batch::new(&[a]);
        let room = scratch::<T>(m, n, Vectors::No);
        batch.each(ctx, (op, &[a]), cost(m, n), room, &|i, stack| {
            // SAFETY: an operand's and a result's matrix.
            let (source, s) = unsafe { (from.at(batch.offset(0, i)), to.slice(i)) };
            decompose(source, s, None, None, stack)
        })?;
    });
    Ok(s)
}

/// What counts as zero: values up to the greater of `atol` and `rtol` times the greatest.
#[derive(Clone, Copy)]
pub(super) struct Tolerance {
    pub atol: f64,
    pub rtol: f64,
}

impl Tolerance {
    /// NaN stands for libtorch's default: 0 for `atol`; for `rtol` the rounding of the dtype times
    /// the longer side, or 0 where `atol` is given.
    pub fn new(dtype: DType, (m, n): (usize, usize), atol: f64, rtol: f64) -> Tolerance {
        let epsilon = if dtype == DType::F64 { f64::EPSILON } else { f32::EPSILON.into() };
        let rtol = match (atol.is_nan() || atol == 0.0, rtol.is_nan()) {
            (_, false) => rtol,
            (true, true) => epsilon * m.max(n) as f64,
            (false, true) => 0.0,
        };
        Tolerance { atol: if atol.is_nan() { 0.0 } else { atol }, rtol }
    }

    pub fn least(self, greatest: f64) -> f64 {
        self.atol.max(self.rtol * greatest)
    }
}

/// The ranks: numbers of singular values, or of eigenvalues' absolute values, above a tolerance.
/// `tol`: absolute tolerances, one a matrix or what broadcasts to that.
pub(super) fn matrix_rank(
    ctx: &Context,
    op: &'static str,
    a: &Tensor,
    tol: Option<&Tensor>,
    (atol, rtol): (f64, f64),
    hermitian: bool,
) -> Result<Tensor> {
    let dtype = check_float(op, &[a])?;
    let sizes = check_matrix(op, a)?;
    let values = if hermitian { eigen::eigvalsh(ctx, op, a, false)? } else { svdvals(ctx, op, a)? };
    let (shape, k) = (batch_shape(a), sizes.0.min(sizes.1));
    let tolerance = Tolerance::new(dtype, sizes, atol, rtol);
    let own = match tol {
        None => None,
        Some(t) => {
            let all = [a, t];
            if t.dtype().category() == wick_core::dtype::Category::Bool {
                return Err(crate::error::Error::dtype(op, &all, "a tolerance is not bool"));
            }
            let t = crate::ops::elementwise::cast(ctx, t, DType::F64)?;
            Some(t.broadcast_to(op, shape)?)
        }
    };
    let own = match own {
        Some(t) => Some(crate::ops::array::contiguous(ctx, &t)?),
        None => None,
    };
    let out = Tensor::empty(ctx, op, DType::I64, shape)?;
    let count: i64 = shape.iter().product();
    with_float!(dtype, T => {
        let (from, to) = (Mats::<T>::columns(&values), Mats::<i64>::numbers(&out));
        let own = own.as_ref().map(Mats::<f64>::numbers);
        for i in 0..count {
            // SAFETY: new tensors that nobody else has.
            let values = unsafe { &*from.slice(i) };
            let greatest = values[..k].iter().fold(0.0f64, |m, v| m.max(v.to_f64().abs()));
            let least = match &own {
                // SAFETY: as above.
                Some(t) => unsafe { t.slice(i)[0] },
                None => tolerance.least(greatest),
            };
            let rank = values.iter().filter(|v| v.to_f64().abs() > least).count();
            // SAFETY: as above.
            unsafe { to.slice(i)[0] = rank as i64 };
        }
    });
    Ok(out)
}

/// `to = V diag(1 / s) Uᵀ`, where values up to `least` count as having no inverse; `v` is written
/// over. The number of values above.
pub(super) fn invert_into<T: Float>(
    to: MatMut<'_, T>,
    s: &[T],
    u: MatRef<'_, T>,
    v: MatMut<'_, T>,
    least: f64,
) -> usize {
    let mut v = v;
    let mut rank = 0;
    for (j, value) in s.iter().enumerate() {
        let kept = value.to_f64().abs() > least;
        rank += usize::from(kept);
        let factor = if kept { T::ONE / *value } else { T::ZERO };
        for i in 0..v.nrows() {
            v[(i, j)] = if kept { v[(i, j)] * factor } else { T::ZERO };
        }
    }
    T::multiply(to, false, v.as_ref(), u.transpose(), T::ONE);
    rank
}

/// Pseudoinverses.
pub(super) fn pinv(
    ctx: &Context,
    op: &'static str,
    a: &Tensor,
    (atol, rtol): (f64, f64),
    hermitian: bool,
) -> Result<Tensor> {
    let dtype = check_float(op, &[a])?;
    let (m, n) = if hermitian {
        let n = check_square(op, a)?;
        (n, n)
    } else {
        check_matrix(op, a)?
    };
    let k = m.min(n);
    let tolerance = Tolerance::new(dtype, (m, n), atol, rtol);
    let out = matrices(ctx, op, dtype, batch_shape(a), (n, m))?;
    with_float!(dtype, T => {
        let (from, to) = (Mats::<T>::of(a), Mats::<T>::of(&out));
        let batch = Batch::new(&[a]);
        let inner = scratch::<T>(m, n, Vectors::Thin).or(eigen::scratch::<T>(n, true));
        let parts = [matrix_scratch::<T>(m, k), matrix_scratch::<T>(n, k), matrix_scratch::<T>(k, 1)];
        let room = StackReq::all_of(&parts).and(inner);
        batch.each(ctx, (op, &[a]), 2.0 * cost(m, n), room, &|i, stack| {
            // SAFETY: an operand's and a result's matrix.
            let (source, mut result) = unsafe { (from.at(batch.offset(0, i)), to.result(i)) };
            if k == 0 {
                result.fill(0.0);
                return Ok(());
            }
            let (mut u, rest) = matrix::<T>(stack, m, k);
            let (mut v, rest) = matrix::<T>(rest, n, k);
            let (mut s, rest) = matrix::<T>(rest, k, 1);
            let s = slice_of(&mut s);
            if hermitian {
                eigen::decompose(source, s, Some(u.as_mut()), rest)?;
                copy(v.as_mut(), u.as_ref());
            } else {
                decompose(source, s, Some(u.as_mut()), Some(v.as_mut()), rest)?;
            }
            let greatest = s.iter().fold(0.0f64, |m, v| m.max(v.to_f64().abs()));
            invert_into(result, s, u.as_ref(), v, tolerance.least(greatest));
            Ok(())
        })?;
    });
    Ok(out)
}

/// The elements of a single column.
pub(super) fn slice_of<'a, T: Float>(column: &'a mut MatMut<'_, T>) -> &'a mut [T] {
    let n = column.nrows();
    // SAFETY: a column of a stack's matrix is dense.
    unsafe { std::slice::from_raw_parts_mut(column.as_ptr_mut(), n) }
}
