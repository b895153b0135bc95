//! What is folded: one state an output, and how rows of adjacent columns go into it.

use core::marker::PhantomData;

use crate::dtype::{Bool, DType, Element};
use crate::number::Number;
use crate::scalar::Real;

use super::ReduceOp;

/// A reduction of elements to a state, and of a state to one or two results.
pub trait Fold: Copy + Send + Sync {
    /// What elements are read as.
    type Element: Element;
    /// What is known of the elements seen so far.
    type State: Copy;
    /// The result.
    type First: Number;
    /// The second result, where there are two.
    type Second: Number;
    /// Most rows of one block.
    const ROWS: usize;

    /// Nothing seen.
    fn start(self) -> Self::State;

    /// Adds `rows` ≥ 1 rows of `W` columns, `stride` elements apart, to a state a column; `row`
    /// counts the rows that those states have seen.
    ///
    /// # Safety
    /// All those elements can be read.
    unsafe fn block<const W: usize>(
        self,
        from: *const Self::Element,
        stride: isize,
        rows: usize,
        row: i64,
        states: &mut [Self::State],
    );

    /// Joins two states of one output.
    fn join(self, all: &mut Self::State, other: Self::State);

    /// Turns the row that a state remembers into a place: `row * step + first`.
    #[inline(always)]
    fn place(self, _state: &mut Self::State, _step: i64, _first: i64) {}

    /// The results of `count` elements.
    fn finish(self, state: &Self::State, count: i64) -> (Self::First, Self::Second);
}

/// One row as an array.
///
/// # Safety
/// The elements can be read.
#[inline(always)]
unsafe fn row<T: Copy, const W: usize>(from: *const T, stride: isize, row: usize) -> [T; W] {
    // SAFETY: the caller's promise; an array has the alignment of its elements.
    unsafe { from.offset(row as isize * stride).cast::<[T; W]>().read() }
}

/// Column by column.
macro_rules! each {
    ($w:ident, $i:ident => $body:expr) => {
        core::array::from_fn::<_, $w, _>(
            #[inline(always)]
            |$i| $body,
        )
    };
}

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
        let (large, small) = if Real::abs(self.sum) >= Real::abs(x) {
            (self.sum, x)
        } else {
            (x, self.sum)
        };
        self.lost += (large - sum) + small;
        self.sum = sum;
    }
}

impl Total for f64 {
    type Total = Compensated;
    type Sum = f64;
    const EMPTY: Compensated = Compensated {
        sum: 0.0,
        lost: 0.0,
    };
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
        let sum = if Real::is_finite(total.sum) {
            total.sum + total.lost
        } else {
            total.sum
        };
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
        Sum {
            mean,
            of: PhantomData,
        }
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

/// Whether `x` takes the place of `best`: it is better, or the first NaN.
#[inline(always)]
fn beats<T: Number, const MAX: bool>(x: T, best: T) -> bool {
    let better = if MAX { x > best } else { x < best };
    (better | x.is_nan()) & !best.is_nan()
}

/// Least and greatest elements; a NaN is both.
#[derive(Clone, Copy)]
pub struct Extreme<T, const MAX: bool>(PhantomData<T>);

impl<T, const MAX: bool> Extreme<T, MAX> {
    /// Greatest where `MAX`, else least.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Extreme(PhantomData)
    }
}

impl<T: Number + Element, const MAX: bool> Fold for Extreme<T, MAX> {
    type Element = T;
    type State = T;
    type First = T;
    type Second = i64;
    const ROWS: usize = 4096;

    #[inline(always)]
    fn start(self) -> T {
        if MAX { T::LOWEST } else { T::HIGHEST }
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
        let mut best: [T; W] = each!(W, i => states[i]);
        for r in 0..rows {
            // SAFETY: rows below `rows` can be read.
            let x: [T; W] = unsafe { row(from, stride, r) };
            for i in 0..W {
                best[i] = if beats::<T, MAX>(x[i], best[i]) {
                    x[i]
                } else {
                    best[i]
                };
            }
        }
        states[..W].copy_from_slice(&best);
    }

    #[inline(always)]
    fn join(self, all: &mut T, other: T) {
        if beats::<T, MAX>(other, *all) {
            *all = other;
        }
    }

    #[inline(always)]
    fn finish(self, state: &T, _: i64) -> (T, i64) {
        (*state, 0)
    }
}

/// Both extremes at once.
#[derive(Clone, Copy)]
pub struct Extremes<T>(PhantomData<T>);

impl<T> Extremes<T> {
    /// Least, then greatest.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Extremes(PhantomData)
    }
}

impl<T: Number + Element> Fold for Extremes<T> {
    type Element = T;
    type State = (T, T);
    type First = T;
    type Second = T;
    const ROWS: usize = 4096;

    #[inline(always)]
    fn start(self) -> (T, T) {
        (T::HIGHEST, T::LOWEST)
    }

    #[inline(always)]
    unsafe fn block<const W: usize>(
        self,
        from: *const T,
        stride: isize,
        rows: usize,
        _: i64,
        states: &mut [(T, T)],
    ) {
        let mut low: [T; W] = each!(W, i => states[i].0);
        let mut high: [T; W] = each!(W, i => states[i].1);
        for r in 0..rows {
            // SAFETY: rows below `rows` can be read.
            let x: [T; W] = unsafe { row(from, stride, r) };
            for i in 0..W {
                low[i] = if beats::<T, false>(x[i], low[i]) {
                    x[i]
                } else {
                    low[i]
                };
                high[i] = if beats::<T, true>(x[i], high[i]) {
                    x[i]
                } else {
                    high[i]
                };
            }
        }
        for (i, state) in states[..W].iter_mut().enumerate() {
            *state = (low[i], high[i]);
        }
    }

    #[inline(always)]
    fn join(self, all: &mut (T, T), other: (T, T)) {
        if beats::<T, false>(other.0, all.0) {
            all.0 = other.0;
        }
        if beats::<T, true>(other.1, all.1) {
            all.1 = other.1;
        }
    }

    #[inline(always)]
    fn finish(self, state: &(T, T), _: i64) -> (T, T) {
        *state
    }
}

/// The first of the best elements and where it is; the first NaN is best of all.
#[derive(Clone, Copy)]
pub struct ArgExtreme<T, const MAX: bool>(PhantomData<T>);

impl<T, const MAX: bool> ArgExtreme<T, MAX> {
    /// Greatest where `MAX`, else least.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        ArgExtreme(PhantomData)
    }
}

/// An element and its place; a negative place: none yet.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Found<T> {
    pub best: T,
    pub place: i64,
}

impl<T: Number + Element, const MAX: bool> Fold for ArgExtreme<T, MAX> {
    type Element = T;
    type State = Found<T>;
    type First = T;
    type Second = i64;
    const ROWS: usize = 4096;

    #[inline(always)]
    fn start(self) -> Found<T> {
        Found {
            best: T::ZERO,
            place: -1,
        }
    }

    #[inline(always)]
    unsafe fn block<const W: usize>(
        self,
        from: *const T,
        stride: isize,
        rows: usize,
        first: i64,
        states: &mut [Found<T>],
    ) {
        // SAFETY: rows below `rows` can be read.
        unsafe {
            let mut best: [T; W] = row(from, stride, 0);
            let mut place = [0i32; W];
            for r in 1..rows {
                let x: [T; W] = row(from, stride, r);
                for i in 0..W {
                    let take = beats::<T, MAX>(x[i], best[i]);
                    best[i] = if take { x[i] } else { best[i] };
                    place[i] = if take { r as i32 } else { place[i] };
                }
            }
            for (i, state) in states[..W].iter_mut().enumerate() {
                let place = first + place[i] as i64;
                self.join(
                    state,
                    Found {
                        best: best[i],
                        place,
                    },
                );
            }
        }
    }

    #[inline(always)]
    fn join(self, all: &mut Found<T>, other: Found<T>) {
        if other.place < 0 {
            return;
        }
        let tie = other.best == all.best || other.best.is_nan() && all.best.is_nan();
        if all.place < 0 || beats::<T, MAX>(other.best, all.best) || tie && other.place < all.place
        {
            *all = other;
        }
    }

    #[inline(always)]
    fn place(self, state: &mut Found<T>, step: i64, first: i64) {
        if state.place >= 0 {
            state.place = state.place * step + first;
        }
    }

    #[inline(always)]
    fn finish(self, state: &Found<T>, _: i64) -> (T, i64) {
        (state.best, state.place)
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
        Moments {
            correction,
            root,
            of: PhantomData,
        }
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
        Spread {
            count: 0.0,
            mean: 0.0,
            squares: 0.0,
        }
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
                self.join(
                    state,
                    Spread {
                        count,
                        mean: mean[i],
                        squares: squares[i],
                    },
                );
            }
        }
    }

    #[inline(always)]
    fn join(self, all: &mut Spread, other: Spread) {
        if all.count == 0.0 || other.count == 0.0 {
            if other.count != 0.0 {
                *all = other;
            }
            return;
        }
        let count = all.count + other.count;
        let share = other.count / count;
        let d = other.mean - all.mean;
        all.squares += other.squares + d * d * all.count * share;
        all.mean += d * share;
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
        Exponentials {
            max: T::LOWEST,
            sum: 0.0,
        }
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
        let max = if other.max > all.max {
            other.max
        } else {
            all.max
        };
        all.sum = all.raise(max) + other.raise(max);
        all.max = max;
    }

    #[inline(always)]
    fn finish(self, state: &Exponentials<T>, _: i64) -> (f64, i64) {
        let shift = Real::to_f64(Exponentials::shift(state.max));
        (Real::ln(state.sum) + shift, 0)
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
        Squares {
            great: 0.0,
            middle: 0.0,
            small: 0.0,
        }
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

/// The type that an operation computes elements of a type in.
pub fn compute(op: ReduceOp, dtype: DType) -> DType {
    use ReduceOp::*;
    let float = if dtype == DType::F64 {
        DType::F64
    } else {
        DType::F32
    };
    match op {
        Sum | Mean if dtype.is_float() => float,
        Sum | Mean => DType::I64,
        Prod if dtype.is_float() => DType::F64,
        Prod => DType::I64,
        Max | Min | Amax | Amin | Aminmax | Argmax | Argmin => match dtype {
            DType::F64 | DType::I64 => dtype,
            d if d.is_float() => DType::F32,
            _ => DType::I32,
        },
        All | Any => DType::Bool,
        Var | Std | VarMean | StdMean | Logsumexp | Norm2 => float,
    }
}

/// Runs an expression with `$fold` standing for the fold of an operation.
macro_rules! with_fold {
    ($op:expr, $compute:expr, $correction:expr, $fold:ident => $body:expr) => {{
        use $crate::dtype::DType;
        use $crate::kernels::reduce::{ReduceOp as Op, folds};
        macro_rules! go {
            ($make:expr) => {{
                let $fold = $make;
                $body
            }};
        }
        macro_rules! ordered {
                            ($name:ident $tail:tt) => {
                                match $compute {
                                    DType::F64 => go!(folds::with_fold!(@make $name f64 $tail)),
                                    DType::F32 => go!(folds::with_fold!(@make $name f32 $tail)),
                                    DType::I64 => go!(folds::with_fold!(@make $name i64 $tail)),
                                    _ => go!(folds::with_fold!(@make $name i32 $tail)),
                                }
                            };
                        }
        let correction = $correction;
        match ($op, $compute) {
            (Op::Sum | Op::Mean, DType::F64) => go!(folds::Sum::<f64>::new($op == Op::Mean)),
            (Op::Sum | Op::Mean, DType::F32) => go!(folds::Sum::<f32>::new($op == Op::Mean)),
            (Op::Sum | Op::Mean, _) => go!(folds::Sum::<i64>::new(false)),
            (Op::Prod, DType::F64) => go!(folds::Prod::<f64>::new()),
            (Op::Prod, _) => go!(folds::Prod::<i64>::new()),
            (Op::Amax, _) => ordered!(Extreme(true)),
            (Op::Amin, _) => ordered!(Extreme(false)),
            (Op::Aminmax, _) => ordered!(Extremes()),
            (Op::Max | Op::Argmax, _) => ordered!(ArgExtreme(true)),
            (Op::Min | Op::Argmin, _) => ordered!(ArgExtreme(false)),
            (Op::All, _) => go!(folds::Truth::<true>),
            (Op::Any, _) => go!(folds::Truth::<false>),
            (Op::Var | Op::Std | Op::VarMean | Op::StdMean, c) => {
                let root = matches!($op, Op::Std | Op::StdMean);
                match c {
                    DType::F64 => go!(folds::Moments::<f64>::new(correction, root)),
                    _ => go!(folds::Moments::<f32>::new(correction, root)),
                }
            }
            (Op::Logsumexp, DType::F64) => go!(folds::LogSumExp::<f64>::new()),
            (Op::Logsumexp, _) => go!(folds::LogSumExp::<f32>::new()),
            (Op::Norm2, DType::F64) => go!(folds::Norm2::<f64>::new()),
            (Op::Norm2, _) => go!(folds::Norm2::<f32>::new()),
        }
    }};
    (@make $name:ident $t:ident ($max:literal)) => {
        folds::$name::<$t, $max>::new()
    };
    (@make $name:ident $t:ident ()) => {
        folds::$name::<$t>::new()
    };
}
pub(crate) use with_fold;
