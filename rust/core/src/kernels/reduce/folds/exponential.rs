//! The logarithm of a sum of exponentials.

use core::marker::PhantomData;

use crate::dtype::Element;
use crate::number::Number;
use crate::scalar::Real;

use super::{Fold, each, row};

/// log Σ eˣ, the greatest element of a block taken off first.
#[derive(Clone, Copy)]
pub struct LogSumExp<T>(PhantomData<T>);

impl<T> LogSumExp<T> {
    /// The logarithm of a sum of exponentials.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        LogSumExp(PhantomData)
    }
}

/// The greatest element and Σ exp(x - greatest), or Σ exp(x) where that is infinite.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Exponentials<T> {
    pub max: T,
    pub sum: f64,
}

impl<T: Real> Exponentials<T> {
    /// What is taken off before exponentials are summed.
    #[inline(always)]
    pub fn shift(max: T) -> T {
        if max.is_infinite() { T::ZERO } else { max }
    }

    /// The same sum with `max` as the greatest element.
    #[inline(always)]
    fn raise(&self, max: T) -> f64 {
        if self.sum == 0.0 || self.max == max {
            return self.sum;
        }
        let d = Self::shift(self.max).to_f64() - Self::shift(max).to_f64();
        self.sum * Real::exp(d)
    }
}

impl<T: Real + Number + Element> Fold for LogSumExp<T> {
    type Element = T;
    type State = Exponentials<T>;
    type First = f64;
    type Second = i64;
    const ROWS: usize = 32;

    #[inline(always)]
    fn start(self) -> Exponentials<T> {
        Exponentials { max: T::LOWEST, sum: 0.0 }
    }

    #[inline(always)]
    unsafe fn block<const W: usize>(
        self,
        from: *const T,
        stride: isize,
        rows: usize,
        _: i64,
        states: &mut [Exponentials<T>],
    ) {
        // SAFETY: rows below `rows` can be read.
        unsafe {
            let mut max: [T; W] = each!(W, i => states[i].max);
            for r in 0..rows {
                let x: [T; W] = row(from, stride, r);
                for i in 0..W {
                    // A NaN is no maximum here: its exponential makes the sum NaN.
                    max[i] = if x[i] > max[i] { x[i] } else { max[i] };
                }
            }
            let shift: [T; W] = each!(W, i => Exponentials::shift(max[i]));
            let mut sums = [<T as Real>::ZERO; W];
            for r in 0..rows {
                let x: [T; W] = row(from, stride, r);
                for i in 0..W {
                    sums[i] += Real::exp(x[i] - shift[i]);
                }
            }
            for (i, state) in states[..W].iter_mut().enumerate() {
                state.sum = state.raise(max[i]) + Real::to_f64(sums[i]);
                state.max = max[i];
            }
        }
    }

    #[inline(always)]
    fn join(self, all: &mut Exponentials<T>, other: Exponentials<T>) {
        let max = if other.max > all.max { other.max } else { all.max };
        all.sum = all.raise(max) + other.raise(max);
        all.max = max;
    }

    #[inline(always)]
    fn finish(self, state: &Exponentials<T>, _: i64) -> (f64, i64) {
        let shift = Real::to_f64(Exponentials::shift(state.max));
        (Real::ln(state.sum) + shift, 0)
    }
}
