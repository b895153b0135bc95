//! Running sums, products and log-sums of exponentials along a dimension, in f64 or i64.

use pulp::{Arch, Simd, WithSimd};

use crate::block::{BLOCK, Buffer, gather, scatter};
use crate::dtype::{DType, Element};
use crate::kernels::lines::{Lines, moved, moved_mut};
use crate::number::Number;
use crate::scalar::Real;
use crate::view::{View, ViewMut};
use crate::window::{Kernel, ThreadInfo, Window};

crate::named_ops! {
    /// Running reductions.
    CumulativeOp {
        /// Sum so far.
        Sum "cumsum",
        /// Product so far.
        Prod "cumprod",
        /// Logarithm of the sum of exponentials so far.
        Logsumexp "logcumsumexp",
    }
}

/// Lines taken together where they lie side by side.
const TILE: i64 = BLOCK as i64;
/// Parts of a block whose running sums are independent chains.
const CHAINS: usize = 8;

/// out\[i\] = x\[0\] op … op x\[i\] along lines.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Cumulative {
    pub arch: Arch,
    pub op: CumulativeOp,
    /// f64 or i64.
    pub compute: DType,
    pub lines: Lines,
    pub input: View,
    pub out: ViewMut,
}

impl Kernel for Cumulative {
    fn window(&self) -> Window {
        let lines = self.lines.count;
        Window::flat(if self.lines.side_by_side { (lines + TILE - 1) / TILE } else { lines })
    }

    fn cost(&self) -> f64 {
        let element = match self.op {
            CumulativeOp::Sum => 0.7,
            CumulativeOp::Prod => 1.5,
            CumulativeOp::Logsumexp => 20.0,
        };
        let lines = if self.lines.side_by_side { self.lines.count.min(TILE) } else { 1 };
        element * (lines * self.lines.length) as f64
    }

    fn run(&self, part: &Window, _: ThreadInfo, _: &mut [u8]) {
        let dim = part.dim(0);
        match (self.op, self.compute) {
            (CumulativeOp::Sum, DType::I64) => self.part::<Add<i64>>(dim.start, dim.end),
            (CumulativeOp::Sum, _) => self.part::<Add<f64>>(dim.start, dim.end),
            (CumulativeOp::Prod, DType::I64) => self.part::<Times<i64>>(dim.start, dim.end),
            (CumulativeOp::Prod, _) => self.part::<Times<f64>>(dim.start, dim.end),
            (CumulativeOp::Logsumexp, _) => self.part::<LogAdd>(dim.start, dim.end),
        }
    }
}

/// An associative step.
trait Step {
    type T: Number + Element;
    const START: Self::T;
    /// Whether parts of a block may be summed first.
    const CHAINED: bool;
    fn step(so_far: Self::T, x: Self::T) -> Self::T;
}

struct Add<T>(T);
struct Times<T>(T);
struct LogAdd;

impl<T: Number + Element> Step for Add<T> {
    type T = T;
    const START: T = T::ZERO;
    const CHAINED: bool = true;
    #[inline(always)]
    fn step(so_far: T, x: T) -> T {
        so_far.add(x)
    }
}

impl<T: Number + Element> Step for Times<T> {
    type T = T;
    const START: T = T::ONE;
    // A part's product may overflow where the running one is 0.
    const CHAINED: bool = false;
    #[inline(always)]
    fn step(so_far: T, x: T) -> T {
        so_far.mul(x)
    }
}

impl Step for LogAdd {
    type T = f64;
    const START: f64 = f64::NEG_INFINITY;
    const CHAINED: bool = false;
    #[inline(always)]
    fn step(so_far: f64, x: f64) -> f64 {
        let (high, low) = if so_far < x { (x, so_far) } else { (so_far, x) };
        // Equal infinities have no difference.
        if high == low && Real::is_infinite(high) {
            return high;
        }
        high + Real::log1p(Real::exp(low - high))
    }
}

/// One block in place, continuing from `so_far`, which becomes the last.
struct Chain<'a, S: Step> {
    values: &'a mut [S::T],
    so_far: &'a mut S::T,
}

impl<S: Step> WithSimd for Chain<'_, S> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, _: V) {
        const PART: usize = BLOCK / CHAINS;
        let Chain { values, so_far } = self;
        if S::CHAINED && values.len() == BLOCK {
            let mut run = [*so_far; CHAINS];
            let mut total = *so_far;
            for (run, part) in run.iter_mut().zip(values.chunks_exact(PART)) {
                *run = total;
                let mut lanes = [S::START; 8];
                for x in part.chunks_exact(8) {
                    for i in 0..8 {
                        lanes[i] = S::step(lanes[i], x[i]);
                    }
                }
                for half in [4, 2, 1] {
                    for i in 0..half {
                        lanes[i] = S::step(lanes[i], lanes[i + half]);
                    }
                }
                total = S::step(total, lanes[0]);
            }
            // Where a part overflows, the plain chain below may not.
            if !total.is_infinite() && !total.is_nan() {
                for i in 0..PART {
                    for (c, run) in run.iter_mut().enumerate() {
                        let x = &mut values[c * PART + i];
                        *run = S::step(*run, *x);
                        *x = *run;
                    }
                }
                *so_far = run[CHAINS - 1];
                return;
            }
        }
        for x in values {
            *so_far = S::step(*so_far, *x);
            *x = *so_far;
        }
    }
}

/// One row of lines that lie side by side.
struct Across<'a, S: Step> {
    values: &'a [S::T],
    so_far: &'a mut [S::T],
}

impl<S: Step> WithSimd for Across<'_, S> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, _: V) {
        for (so_far, x) in self.so_far.iter_mut().zip(self.values) {
            *so_far = S::step(*so_far, *x);
        }
    }
}

impl Cumulative {
    fn part<S: Step>(&self, start: i64, end: i64) {
        let lines = &self.lines;
        let mut buffer = Buffer::<S::T>::default();
        for item in start..end {
            // SAFETY: lines and positions inside the layouts, whose storages the kernel's maker
            // keeps; each line is written by one item; buffers are filled before they are read.
            unsafe {
                if lines.side_by_side {
                    let first = item * TILE;
                    let n = (lines.count - first).min(TILE) as usize;
                    let mut so_far = [S::START; TILE as usize];
                    let so_far = &mut so_far[..n];
                    for i in 0..lines.length {
                        let values = buffer.slice(n);
                        let input = moved(&self.input, i * lines.in_stride);
                        gather(self.arch, &input, &lines.others, 1, first, values);
                        self.arch.dispatch(Across::<S> { values, so_far });
                        let out = moved_mut(&self.out, i * lines.out_stride);
                        scatter(self.arch, &out, &lines.others, first, so_far);
                    }
                    continue;
                }
                let input = moved(&self.input, lines.others.offset(1, item));
                let out = moved_mut(&self.out, lines.others.offset(0, item));
                let mut so_far = S::START;
                let mut at = 0;
                while at < lines.length {
                    let n = (lines.length - at).min(BLOCK as i64);
                    let values = buffer.slice(n as usize);
                    gather(self.arch, &input, &lines.line, 1, at, values);
                    let so_far = &mut so_far;
                    self.arch.dispatch(Chain::<S> { values, so_far });
                    scatter(self.arch, &out, &lines.line, at, values);
                    at += n;
                }
            }
        }
    }
}
