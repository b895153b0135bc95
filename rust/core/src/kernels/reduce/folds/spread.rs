//! Variance and norm.

use core::marker::PhantomData;

use crate::dtype::{DType, Element};
use crate::number::Number;
use crate::scalar::Real;

use super::{Fold, each, row};

/// Variance (or its root) and mean: exact blocks of at most 32 rows, joined by Chan's formula.
#[derive(Clone, Copy)]
pub struct Moments<T> {
    correction: f64,
    root: bool,
    of: PhantomData<T>,
}

impl<T> Moments<T> {
    /// `correction` is taken from the divisor; `root`: the standard deviation.
    pub fn new(correction: f64, root: bool) -> Self {
        Moments { correction, root, of: PhantomData }
    }
}

/// Count, mean and sum of squared distances from it.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Spread {
    pub count: f64,
    pub mean: f64,
    pub squares: f64,
}

impl<T: Number + Element> Fold for Moments<T> {
    type Element = T;
    type State = Spread;
    type First = f64;
    type Second = f64;
    const ROWS: usize = 32;

    #[inline(always)]
    fn start(self) -> Spread {
        Spread { count: 0.0, mean: 0.0, squares: 0.0 }
    }

    #[inline(always)]
    unsafe fn block<const W: usize>(
        self,
        from: *const T,
        stride: isize,
        rows: usize,
        _: i64,
        states: &mut [Spread],
    ) {
        // SAFETY: rows below `rows` can be read.
        unsafe {
            // Distances from the first row: equal elements give exactly 0.
            let first: [T; W] = row(from, stride, 0);
            let origin: [f64; W] = each!(W, i => first[i].to_f64());
            let mut mean = [0f64; W];
            for r in 1..rows {
                let x: [T; W] = row(from, stride, r);
                for i in 0..W {
                    mean[i] += x[i].to_f64() - origin[i];
                }
            }
            let count = rows as f64;
            for i in 0..W {
                mean[i] = origin[i] + mean[i] / count;
            }
            let mut squares = [0f64; W];
            for r in 0..rows {
                let x: [T; W] = row(from, stride, r);
                for i in 0..W {
                    let d = x[i].to_f64() - mean[i];
                    squares[i] += d * d;
                }
            }
            for (i, state) in states[..W].iter_mut().enumerate() {
                self.join(state, Spread { count, mean: mean[i], squares: squares[i] });
            }
        }
    }

    #[inline(always)]
    fn join(self, all: &mut Spread, other: Spread) {
        let count = all.count + other.count;
        let share = other.count / if count > 0.0 { count } else { 1.0 };
        let d = other.mean - all.mean;
        let both = (all.count > 0.0) & (other.count > 0.0);
        // Squares of great means may overflow where there is nothing to join.
        let across = d * d * all.count * share;
        all.squares += other.squares + if both { across } else { 0.0 };
        all.mean = if all.count > 0.0 {
            all.mean + if both { d * share } else { 0.0 }
        } else {
            other.mean
        };
        all.count = count;
    }

    #[inline(always)]
    fn finish(self, state: &Spread, count: i64) -> (f64, f64) {
        let divisor = count as f64 - self.correction;
        let divisor = if divisor > 0.0 { divisor } else { 0.0 };
        let var = state.squares / divisor;
        let mean = if count == 0 { f64::NAN } else { state.mean };
        (if self.root { Real::sqrt(var) } else { var }, mean)
    }
}

/// √Σx², in f64; f64 squares that would overflow or vanish are scaled first.
#[derive(Clone, Copy)]
pub struct Norm2<T>(PhantomData<T>);

impl<T> Norm2<T> {
    /// The Euclidean norm.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Norm2(PhantomData)
    }
}

/// Sums of squares of great, middling and small numbers, the first and last scaled.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Squares {
    pub great: f64,
    pub middle: f64,
    pub small: f64,
}

/// 2^500 and its inverse: squares of numbers between them are plain.
const GREAT: f64 = f64::from_bits((1023 + 500) << 52);
const SMALL: f64 = f64::from_bits((1023 - 500) << 52);
/// 2^600 and its inverse, the scales.
const UP: f64 = f64::from_bits((1023 + 600) << 52);
const DOWN: f64 = f64::from_bits((1023 - 600) << 52);

impl<T: Number + Element> Fold for Norm2<T> {
    type Element = T;
    type State = Squares;
    type First = f64;
    type Second = i64;
    const ROWS: usize = 32;

    #[inline(always)]
    fn start(self) -> Squares {
        Squares { great: 0.0, middle: 0.0, small: 0.0 }
    }

    #[inline(always)]
    unsafe fn block<const W: usize>(
        self,
        from: *const T,
        stride: isize,
        rows: usize,
        _: i64,
        states: &mut [Squares],
    ) {
        let (mut great, mut middle, mut small) = ([0f64; W], [0f64; W], [0f64; W]);
        for r in 0..rows {
            // SAFETY: rows below `rows` can be read.
            let x: [T; W] = unsafe { row(from, stride, r) };
            for i in 0..W {
                let x = x[i].to_f64();
                if matches!(T::DTYPE, DType::F64) {
                    let size = Real::abs(x);
                    let (is_great, is_small) = (size > GREAT, size < SMALL);
                    let g = if is_great { x * DOWN } else { 0.0 };
                    let m = if is_great | is_small { 0.0 } else { x };
                    let s = if is_small { x * UP } else { 0.0 };
                    great[i] += g * g;
                    middle[i] += m * m;
                    small[i] += s * s;
                } else {
                    middle[i] += x * x;
                }
            }
        }
        for (i, state) in states[..W].iter_mut().enumerate() {
            state.great += great[i];
            state.middle += middle[i];
            state.small += small[i];
        }
    }

    #[inline(always)]
    fn join(self, all: &mut Squares, other: Squares) {
        all.great += other.great;
        all.middle += other.middle;
        all.small += other.small;
    }

    #[inline(always)]
    fn finish(self, s: &Squares, _: i64) -> (f64, i64) {
        // A NaN lies in the middle and must show.
        let norm = if s.great > 0.0 {
            Real::sqrt(s.great + s.middle * DOWN * DOWN) * UP
        } else if s.middle == 0.0 {
            Real::sqrt(s.small) * DOWN
        } else {
            Real::sqrt(s.middle + s.small * DOWN * DOWN)
        };
        (norm, 0)
    }
}
