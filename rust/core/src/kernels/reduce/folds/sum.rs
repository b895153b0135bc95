//! Sums, products, truth.

use core::marker::PhantomData;

use crate::dtype::{Bool, Element};
use crate::number::Number;
use crate::scalar::Real;

use super::{Fold, each, row};

/// What block totals of a type are summed in.
pub trait Total: Number + Element {
    /// The running total.
    type Total: Copy;
    /// The type of the result.
    type Sum: Number;
    /// Nothing summed.
    const EMPTY: Self::Total;
    /// Adds a block's total.
    fn add_to(self, total: &mut Self::Total);
    /// Adds two totals.
    fn join(total: &mut Self::Total, other: Self::Total);
    /// The sum, divided by a count if it is a mean's.
    fn value(total: &Self::Total, divide: Option<i64>) -> Self::Sum;
}

impl Total for f32 {
    type Total = f64;
    type Sum = f64;
    const EMPTY: f64 = 0.0;
    #[inline(always)]
    fn add_to(self, total: &mut f64) {
        *total += self as f64;
    }
    #[inline(always)]
    fn join(total: &mut f64, other: f64) {
        *total += other;
    }
    #[inline(always)]
    fn value(total: &f64, divide: Option<i64>) -> f64 {
        divide.map_or(*total, |n| total / n as f64)
    }
}

/// A sum and what its roundings lost.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Compensated {
    pub sum: f64,
    pub lost: f64,
}

impl Compensated {
    #[inline(always)]
    fn add(&mut self, x: f64) {
        let sum = self.sum + x;
        let (large, small) =
            if Real::abs(self.sum) >= Real::abs(x) { (self.sum, x) } else { (x, self.sum) };
        self.lost += (large - sum) + small;
        self.sum = sum;
    }
}

impl Total for f64 {
    type Total = Compensated;
    type Sum = f64;
    const EMPTY: Compensated = Compensated { sum: 0.0, lost: 0.0 };
    #[inline(always)]
    fn add_to(self, total: &mut Compensated) {
        total.add(self);
    }
    #[inline(always)]
    fn join(total: &mut Compensated, other: Compensated) {
        total.add(other.sum);
        total.lost += other.lost;
    }
    #[inline(always)]
    fn value(total: &Compensated, divide: Option<i64>) -> f64 {
        // Past an infinity the correction is NaN and means nothing.
        let sum = if Real::is_finite(total.sum) { total.sum + total.lost } else { total.sum };
        divide.map_or(sum, |n| sum / n as f64)
    }
}

impl Total for i64 {
    type Total = i64;
    type Sum = i64;
    const EMPTY: i64 = 0;
    #[inline(always)]
    fn add_to(self, total: &mut i64) {
        *total = total.wrapping_add(self);
    }
    #[inline(always)]
    fn join(total: &mut i64, other: i64) {
        *total = total.wrapping_add(other);
    }
    #[inline(always)]
    fn value(total: &i64, _: Option<i64>) -> i64 {
        *total
    }
}

/// Sum or mean: plain sums of at most 32 rows, their totals wider or compensated.
#[derive(Clone, Copy)]
pub struct Sum<T> {
    mean: bool,
    of: PhantomData<T>,
}

impl<T: Total> Sum<T> {
    /// A sum, or a mean.
    pub fn new(mean: bool) -> Sum<T> {
        Sum { mean, of: PhantomData }
    }
}

impl<T: Total> Fold for Sum<T>
where
    T::Total: Send + Sync,
{
    type Element = T;
    type State = T::Total;
    type First = T::Sum;
    type Second = i64;
    const ROWS: usize = 32;

    #[inline(always)]
    fn start(self) -> T::Total {
        T::EMPTY
    }

    #[inline(always)]
    unsafe fn block<const W: usize>(
        self,
        from: *const T,
        stride: isize,
        rows: usize,
        _: i64,
        states: &mut [T::Total],
    ) {
        // SAFETY: rows below `rows` can be read.
        unsafe {
            let mut sums: [T; W] = row(from, stride, 0);
            for r in 1..rows {
                let x: [T; W] = row(from, stride, r);
                for i in 0..W {
                    sums[i] = sums[i].add(x[i]);
                }
            }
            for (total, sum) in states[..W].iter_mut().zip(sums) {
                sum.add_to(total);
            }
        }
    }

    #[inline(always)]
    fn join(self, all: &mut T::Total, other: T::Total) {
        T::join(all, other);
    }

    #[inline(always)]
    fn finish(self, state: &T::Total, count: i64) -> (T::Sum, i64) {
        (T::value(state, self.mean.then_some(count)), 0)
    }
}

/// Product, in f64 or i64.
#[derive(Clone, Copy)]
pub struct Prod<T>(PhantomData<T>);

impl<T> Prod<T> {
    /// A product.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Prod<T> {
        Prod(PhantomData)
    }
}

impl<T: Number + Element> Fold for Prod<T> {
    type Element = T;
    type State = T;
    type First = T;
    type Second = i64;
    const ROWS: usize = 4096;

    #[inline(always)]
    fn start(self) -> T {
        T::ONE
    }

    #[inline(always)]
    unsafe fn block<const W: usize>(
        self,
        from: *const T,
        stride: isize,
        rows: usize,
        _: i64,
        states: &mut [T],
    ) {
        let mut all: [T; W] = each!(W, i => states[i]);
        for r in 0..rows {
            // SAFETY: rows below `rows` can be read.
            let x: [T; W] = unsafe { row(from, stride, r) };
            for i in 0..W {
                all[i] = all[i].mul(x[i]);
            }
        }
        states[..W].copy_from_slice(&all);
    }

    #[inline(always)]
    fn join(self, all: &mut T, other: T) {
        *all = all.mul(other);
    }

    #[inline(always)]
    fn finish(self, state: &T, _: i64) -> (T, i64) {
        (*state, 0)
    }
}

/// Whether all, or any, are true.
#[derive(Clone, Copy)]
pub struct Truth<const ALL: bool>;

impl<const ALL: bool> Fold for Truth<ALL> {
    type Element = Bool;
    type State = u8;
    type First = u8;
    type Second = i64;
    const ROWS: usize = 4096;

    #[inline(always)]
    fn start(self) -> u8 {
        ALL as u8
    }

    #[inline(always)]
    unsafe fn block<const W: usize>(
        self,
        from: *const Bool,
        stride: isize,
        rows: usize,
        _: i64,
        states: &mut [u8],
    ) {
        let mut all: [u8; W] = each!(W, i => states[i]);
        for r in 0..rows {
            // SAFETY: rows below `rows` can be read.
            let x: [Bool; W] = unsafe { row(from, stride, r) };
            for i in 0..W {
                let x = x[i].load();
                all[i] = if ALL { all[i] & x } else { all[i] | x };
            }
        }
        states[..W].copy_from_slice(&all);
    }

    #[inline(always)]
    fn join(self, all: &mut u8, other: u8) {
        *all = if ALL { *all & other } else { *all | other };
    }

    #[inline(always)]
    fn finish(self, state: &u8, _: i64) -> (u8, i64) {
        (*state, 0)
    }
}
