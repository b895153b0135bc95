//! Dense linear algebra of small matrices and narrow panels, column-major; larger matrices are cut
//! down to these by the runtime or go to `faer`.

pub mod cross;
pub mod distance;

use pulp::{Arch, Simd, WithSimd};

use crate::scalar::Real;

/// A column-major matrix: column `j` begins `j * ld` elements after the first.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Columns<T> {
    pub ptr: *mut T,
    pub rows: usize,
    pub cols: usize,
    pub ld: usize,
}

impl<T: Real> Columns<T> {
    #[inline(always)]
    unsafe fn at(&self, i: usize, j: usize) -> *mut T {
        debug_assert!(i < self.rows && j < self.cols);
        // SAFETY: the caller stays inside the matrix.
        unsafe { self.ptr.add(i + j * self.ld) }
    }

    /// Rows from `i` on of column `j`.
    #[inline(always)]
    unsafe fn below<'a>(&self, i: usize, j: usize) -> &'a mut [T] {
        // SAFETY: the caller stays inside the matrix and holds no other slice of these elements.
        unsafe { core::slice::from_raw_parts_mut(self.ptr.add(i + j * self.ld), self.rows - i) }
    }

    /// `column -= factor * from`.
    #[inline(always)]
    fn subtract(column: &mut [T], from: &[T], factor: T) {
        for (x, y) in column.iter_mut().zip(from) {
            *x -= factor * *y;
        }
    }
}

struct LuPanel<'a, T> {
    a: Columns<T>,
    pivots: &'a mut [usize],
}

/// LU factors of a panel in its place: rows are exchanged so that each pivot is the greatest of its
/// column, `pivots[j]` being the row that came to row `j`. A column whose pivot is 0 is left as it is.
///
/// # Safety
/// The matrix covers its memory, which is the caller's alone; `pivots` has as many places as the
/// shorter side.
pub unsafe fn lu_panel<T: Real>(arch: Arch, a: Columns<T>, pivots: &mut [usize]) {
    arch.dispatch(LuPanel { a, pivots });
}

impl<T: Real> WithSimd for LuPanel<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let LuPanel { a, pivots } = self;
        for j in 0..a.rows.min(a.cols) {
            // SAFETY: indices inside the matrix; columns are apart.
            unsafe {
                let column = a.below(j, j);
                let (mut row, mut greatest) = (0, column[0].abs());
                for (i, x) in column.iter().enumerate().skip(1) {
                    if x.abs() > greatest {
                        (row, greatest) = (i, x.abs());
                    }
                }
                pivots[j] = j + row;
                if row > 0 {
                    for k in 0..a.cols {
                        core::ptr::swap(a.at(j, k), a.at(j + row, k));
                    }
                }
                let pivot = *a.at(j, j);
                if pivot == T::ZERO || j + 1 == a.rows {
                    continue;
                }
                let factors = a.below(j + 1, j);
                if pivot.abs() >= T::MIN_POSITIVE {
                    let inverse = T::ONE / pivot;
                    factors.iter_mut().for_each(|x| *x *= inverse);
                } else {
                    factors.iter_mut().for_each(|x| *x /= pivot);
                }
                for k in j + 1..a.cols {
                    let top = *a.at(j, k);
                    Columns::subtract(a.below(j + 1, k), factors, top);
                }
            }
        }
    }
}

/// Which triangle a system has and how it is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Triangular {
    pub upper: bool,
    /// Ones stand on the diagonal, whatever lies there.
    pub unit: bool,
    /// The matrix counts as transposed.
    pub transposed: bool,
}

struct Substitute<T> {
    a: Columns<T>,
    x: Columns<T>,
    how: Triangular,
}

/// Solves a triangular system for each column of `x`, in its place.
///
/// # Safety
/// Both matrices cover their memory, which is the caller's alone; `a` is square with as many rows
/// as `x`.
pub unsafe fn substitute<T: Real>(arch: Arch, a: Columns<T>, x: Columns<T>, how: Triangular) {
    arch.dispatch(Substitute { a, x, how });
}

impl<T: Real> WithSimd for Substitute<T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Substitute { a, x, how } = self;
        let n = a.rows;
        for c in 0..x.cols {
            // SAFETY: indices inside the matrices, which are apart.
            unsafe {
                let x = x.below(0, c);
                for step in 0..n {
                    let from_end = how.upper != how.transposed;
                    let j = if from_end { n - 1 - step } else { step };
                    if how.transposed {
                        // Row j of the transposed matrix is column j.
                        let column = a.below(0, j);
                        let known = if from_end { j + 1..n } else { 0..j };
                        let mut sum = T::ZERO;
                        for i in known {
                            sum += column[i] * x[i];
                        }
                        x[j] -= sum;
                        if !how.unit {
                            x[j] /= column[j];
                        }
                    } else {
                        let column = a.below(0, j);
                        if !how.unit {
                            x[j] /= column[j];
                        }
                        let value = x[j];
                        if value != T::ZERO {
                            let left = if from_end { 0..j } else { j + 1..n };
                            Columns::subtract(&mut x[left.clone()], &column[left], value);
                        }
                    }
                }
            }
        }
    }
}

struct Cholesky<T>(Columns<T>);

/// The lower Cholesky factor of a matrix in its place, read from and written to the lower triangle;
/// on failure the place of the first pivot that is not positive.
///
/// # Safety
/// The matrix is square and covers its memory, which is the caller's alone.
pub unsafe fn cholesky<T: Real>(arch: Arch, a: Columns<T>) -> Result<(), usize> {
    arch.dispatch(Cholesky(a))
}

impl<T: Real> WithSimd for Cholesky<T> {
    type Output = Result<(), usize>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Result<(), usize> {
        let a = self.0;
        for j in 0..a.cols {
            // SAFETY: indices inside the matrix; columns are apart.
            unsafe {
                let pivot = *a.at(j, j);
                if pivot.is_nan() || pivot <= T::ZERO {
                    return Err(j);
                }
                let root = pivot.sqrt();
                *a.at(j, j) = root;
                let inverse = T::ONE / root;
                let factors = &mut a.below(j, j)[1..];
                factors.iter_mut().for_each(|x| *x *= inverse);
                for k in j + 1..a.cols {
                    let factor = *a.at(k, j);
                    Columns::subtract(a.below(k, k), &factors[k - j - 1..], factor);
                }
            }
        }
        Ok(())
    }
}
