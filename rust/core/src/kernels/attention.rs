//! Attention: what is done to a tile of scores between the matrix products.

use core::slice;

use pulp::{Arch, Simd, WithSimd};

use crate::number::Number;
use crate::scalar::Real;

/// Independent chains of a sum or maximum.
const LANES: usize = 32;

/// A tile of scores, rows of `cols` adjacent elements: its place in the whole, and what joins it.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Tile<T> {
    pub scores: *mut T,
    pub rows: usize,
    pub cols: usize,
    pub first_row: usize,
    pub first_col: usize,
    /// A row sees columns up to its own number.
    pub causal: bool,
    /// Numbers to add: the first one of the whole and the steps to the next row and column.
    pub bias: Option<(*const T, isize, isize)>,
}

impl<T: Real + Number> Tile<T> {
    /// A row's scores, and how many of them count.
    ///
    /// # Safety
    /// The tile is ours, and the row is one of it.
    #[inline(always)]
    unsafe fn row<'a>(&self, r: usize) -> (&'a mut [T], usize) {
        // SAFETY: the caller's promise.
        let row = unsafe { slice::from_raw_parts_mut(self.scores.add(r * self.cols), self.cols) };
        if !self.causal {
            return (row, self.cols);
        }
        let seen = (self.first_row + r + 1).saturating_sub(self.first_col);
        (row, seen.min(self.cols))
    }

    /// Adds the bias to the scores that count.
    ///
    /// # Safety
    /// The bias covers the whole.
    #[inline(always)]
    unsafe fn add_bias(&self, r: usize, row: &mut [T]) {
        let Some((first, down, across)) = self.bias else { return };
        let at = (self.first_row + r) as isize * down + self.first_col as isize * across;
        // SAFETY: the caller's promise.
        unsafe {
            let from = first.offset(at);
            match across {
                1 => {
                    let from = slice::from_raw_parts(from, row.len());
                    for (s, b) in row.iter_mut().zip(from) {
                        *s += *b;
                    }
                }
                _ => {
                    for (i, s) in row.iter_mut().enumerate() {
                        *s += *from.offset(i as isize * across);
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn greatest<T: Number>(x: &[T], start: T) -> T {
    let mut lanes = [start; LANES];
    let chunks = x.chunks_exact(LANES);
    for (lane, v) in lanes.iter_mut().zip(chunks.remainder()) {
        *lane = if *v > *lane { *v } else { *lane };
    }
    for x in chunks {
        for i in 0..LANES {
            lanes[i] = if x[i] > lanes[i] { x[i] } else { lanes[i] };
        }
    }
    lanes.into_iter().fold(start, |a, b| if b > a { b } else { a })
}

/// x becomes e^(x - shift); the sum of that.
#[inline(always)]
fn exponentials<T: Real>(x: &mut [T], shift: T) -> f64 {
    let mut sums = [T::ZERO; LANES];
    let mut chunks = x.chunks_exact_mut(LANES);
    for x in &mut chunks {
        for i in 0..LANES {
            let e = (x[i] - shift).exp();
            x[i] = e;
            sums[i] += e;
        }
    }
    for (x, sum) in chunks.into_remainder().iter_mut().zip(&mut sums) {
        let e = (*x - shift).exp();
        *x = e;
        *sum += e;
    }
    sums.into_iter().map(Real::to_f64).sum()
}

/// A shift that keeps the exponentials of rows without any score 0.
#[inline(always)]
fn finite<T: Real>(shift: T) -> T {
    if shift == T::NEG_INFINITY { T::ZERO } else { shift }
}

struct Online<'a, T> {
    tile: Tile<T>,
    max: &'a mut [T],
    total: &'a mut [f64],
    out: *mut T,
    out_cols: usize,
}

impl<T: Real + Number> WithSimd for Online<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for r in 0..self.tile.rows {
            // SAFETY: promised to `online`.
            let (row, seen) = unsafe { self.tile.row(r) };
            row[seen..].fill(<T as Real>::ZERO);
            let row = &mut row[..seen];
            // SAFETY: as above.
            unsafe { self.tile.add_bias(r, row) };
            let max = greatest(row, self.max[r]);
            let (old, new) = (self.max[r], finite(max));
            let sum = exponentials(row, new);
            self.max[r] = max;
            if old == max || self.total[r] == 0.0 {
                self.total[r] += sum;
                continue;
            }
            let factor = Real::exp(old - new);
            self.total[r] = self.total[r] * Real::to_f64(factor) + sum;
            // SAFETY: as above.
            let out = unsafe {
                slice::from_raw_parts_mut(self.out.add(r * self.out_cols), self.out_cols)
            };
            for v in out {
                *v *= factor;
            }
        }
    }
}

struct Finish<'a, T> {
    max: &'a [T],
    total: &'a [f64],
    out: *mut T,
    cols: usize,
    log: &'a mut [T],
}

impl<T: Real> WithSimd for Finish<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for r in 0..self.max.len() {
            let total = self.total[r];
            // SAFETY: promised to `finish`.
            let out = unsafe { slice::from_raw_parts_mut(self.out.add(r * self.cols), self.cols) };
            let scale = T::from_f64(if total == 0.0 { 0.0 } else { 1.0 / total });
            for v in out {
                *v *= scale;
            }
            self.log[r] = if total == 0.0 {
                T::NEG_INFINITY
            } else {
                T::from_f64(self.max[r].to_f64() + total.ln())
            };
        }
    }
}

struct Probabilities<'a, T>(Tile<T>, &'a [T]);

impl<T: Real + Number> WithSimd for Probabilities<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Probabilities(tile, log) = self;
        for r in 0..tile.rows {
            // SAFETY: promised to `probabilities`.
            let (row, seen) = unsafe { tile.row(r) };
            let none = log[r] == T::NEG_INFINITY;
            let seen = if none { 0 } else { seen };
            row[seen..].fill(<T as Real>::ZERO);
            let row = &mut row[..seen];
            // SAFETY: as above.
            unsafe { tile.add_bias(r, row) };
            for s in row {
                *s = Real::exp(*s - log[r]);
            }
        }
    }
}

struct Slopes<'a, T> {
    p: &'a [T],
    dp: &'a mut [T],
    cols: usize,
    mean: &'a [T],
}

impl<T: Real> WithSimd for Slopes<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let rows = self.p.chunks_exact(self.cols).zip(self.dp.chunks_exact_mut(self.cols));
        for ((p, dp), mean) in rows.zip(self.mean) {
            for i in 0..self.cols {
                dp[i] = p[i] * (dp[i] - *mean);
            }
        }
    }
}

struct Dots<'a, T> {
    x: &'a [T],
    y: &'a [T],
    cols: usize,
    out: &'a mut [T],
}

impl<T: Real> WithSimd for Dots<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (r, out) in self.out.iter_mut().enumerate() {
            let range = r * self.cols..(r + 1) * self.cols;
            let (x, y) = (&self.x[range.clone()], &self.y[range]);
            let mut sum = 0.0;
            for i in 0..self.cols {
                sum += (x[i] * y[i]).to_f64();
            }
            *out = T::from_f64(sum);
        }
    }
}

impl<T: Real + Number> Tile<T> {
    /// Scores become exponentials less the greatest so far; the sums and the rows of the result so
    /// far are brought to the new greatest.
    ///
    /// # Safety
    /// The pointers cover the tile, its place in the bias, and `rows` by `out_cols` of the result;
    /// all are ours.
    pub unsafe fn online(
        self,
        arch: Arch,
        max: &mut [T],
        total: &mut [f64],
        out: *mut T,
        out_cols: usize,
    ) {
        arch.dispatch(Online { tile: self, max, total, out, out_cols });
    }

    /// Scores become probabilities by the logarithms of their rows' sums.
    ///
    /// # Safety
    /// As [`Tile::online`].
    pub unsafe fn probabilities(self, arch: Arch, log: &[T]) {
        arch.dispatch(Probabilities(self, log));
    }
}

/// Divides the rows of the result by their sums, and gives the logarithms of these.
///
/// # Safety
/// `out` has a row of `cols` elements a number of `max`, and is ours.
pub unsafe fn finish<T: Real>(
    arch: Arch,
    max: &[T],
    total: &[f64],
    out: *mut T,
    cols: usize,
    log: &mut [T],
) {
    arch.dispatch(Finish { max, total, out, cols, log });
}

/// `dp = p * (dp - mean)`, a mean a row.
pub fn slopes<T: Real>(arch: Arch, p: &[T], dp: &mut [T], cols: usize, mean: &[T]) {
    if cols > 0 {
        arch.dispatch(Slopes { p, dp, cols, mean });
    }
}

/// The sums of products of rows.
pub fn dots<T: Real>(arch: Arch, x: &[T], y: &[T], cols: usize, out: &mut [T]) {
    arch.dispatch(Dots { x, y, cols, out });
}
