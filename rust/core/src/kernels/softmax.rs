//! Softmax and its logarithm along a dimension.

use core::slice;

use pulp::{Arch, Simd, WithSimd};

use crate::block::{BLOCK, Buffer, gather, scatter};
use crate::dtype::{DType, Element};
use crate::kernels::lines::{Lines, moved, moved_mut};
use crate::number::Number;
use crate::scalar::Real;
use crate::view::{View, ViewMut};
use crate::window::{Kernel, ThreadInfo, Window};

/// Lines taken together where they lie side by side.
const TILE: i64 = 64;
/// Independent chains of a sum or maximum.
const LANES: usize = 64;
/// Rows whose exponentials are summed before the sum is widened.
const ROWS: i64 = 32;

/// out = exp(x) / Σ exp(x), or its logarithm, along lines.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Softmax {
    pub arch: Arch,
    pub log: bool,
    /// f32 or f64.
    pub compute: DType,
    pub lines: Lines,
    pub input: View,
    pub out: ViewMut,
}

impl Kernel for Softmax {
    fn window(&self) -> Window {
        let lines = self.lines.count;
        Window::flat(if self.lines.side_by_side {
            (lines + TILE - 1) / TILE
        } else {
            lines
        })
    }

    fn cost(&self) -> f64 {
        let lines = if self.lines.side_by_side {
            self.lines.count.min(TILE)
        } else {
            1
        };
        let wide = if self.compute == DType::F64 { 2.0 } else { 1.0 };
        wide * (lines * self.lines.length) as f64
    }

    fn run(&self, part: &Window, _: ThreadInfo, _: &mut [u8]) {
        let dim = part.dim(0);
        for item in dim.start..dim.end {
            // SAFETY: items of the window; the kernel's maker keeps the storages.
            unsafe {
                match (self.compute, self.lines.side_by_side) {
                    (DType::F64, true) => self.tile::<f64>(item),
                    (DType::F64, false) => self.line::<f64>(item),
                    (_, true) => self.tile::<f32>(item),
                    (_, false) => self.line::<f32>(item),
                }
            }
        }
    }
}

/// The greatest of a line; a NaN or an infinity makes the sum NaN later.
struct Max<'a, T> {
    x: &'a [T],
}

impl<T: Real + Number> WithSimd for Max<'_, T> {
    type Output = T;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> T {
        let mut lanes = [T::LOWEST; LANES];
        let mut blocks = self.x.chunks_exact(LANES);
        for x in &mut blocks {
            for i in 0..LANES {
                lanes[i] = if x[i] > lanes[i] { x[i] } else { lanes[i] };
            }
        }
        for (lane, x) in lanes.iter_mut().zip(blocks.remainder()) {
            *lane = if *x > *lane { *x } else { *lane };
        }
        lanes
            .into_iter()
            .fold(T::LOWEST, |a, b| if b > a { b } else { a })
    }
}

/// Σ exp(x - max), the exponentials kept where there is room for them.
struct Exponentials<'a, T> {
    x: &'a [T],
    kept: Option<&'a mut [T]>,
    max: T,
}

impl<T: Real + Number> WithSimd for Exponentials<'_, T> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) -> f64 {
        let max = self.max;
        let mut total = 0.0;
        for (b, x) in self.x.chunks(BLOCK).enumerate() {
            let mut own = [<T as Real>::ZERO; BLOCK];
            let to = match &mut self.kept {
                Some(kept) => &mut kept[b * BLOCK..][..x.len()],
                None => &mut own[..x.len()],
            };
            for (to, x) in to.iter_mut().zip(x) {
                *to = Real::exp(*x - max);
            }
            total += sum(to);
        }
        total
    }
}

/// The sum of a block.
#[inline(always)]
fn sum<T: Real>(x: &[T]) -> f64 {
    let mut lanes = [T::ZERO; 32];
    let mut blocks = x.chunks_exact(32);
    for x in &mut blocks {
        for i in 0..32 {
            lanes[i] += x[i];
        }
    }
    let mut rest = 0.0;
    for x in blocks.remainder() {
        rest += x.to_f64();
    }
    for half in [16, 8, 4, 2, 1] {
        for i in 0..half {
            let other = lanes[i + half];
            lanes[i] += other;
        }
    }
    lanes[0].to_f64() + rest
}

/// x · scale
struct Scale<'a, T> {
    x: &'a mut [T],
    scale: T,
}

impl<T: Real> WithSimd for Scale<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for x in self.x {
            *x = *x * self.scale;
        }
    }
}

/// out = x - max - ln(sum)
struct Shift<'a, T> {
    x: &'a [T],
    out: &'a mut [T],
    max: T,
    log: T,
}

impl<T: Real> WithSimd for Shift<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (out, x) in self.out.iter_mut().zip(self.x) {
            // The maximum first: together with the logarithm it would swallow it.
            *out = *x - self.max - self.log;
        }
    }
}

/// A line whose elements lie in slices: `out` may be half done work.
fn softmax<T: Real + Number>(arch: Arch, log: bool, x: &[T], out: &mut [T]) {
    let max = arch.dispatch(Max { x });
    if log {
        let sum = arch.dispatch(Exponentials { x, kept: None, max });
        let log = T::from_f64_real(Real::ln(sum));
        arch.dispatch(Shift { x, out, max, log });
    } else {
        let kept = Some(&mut *out);
        let sum = arch.dispatch(Exponentials { x, kept, max });
        let scale = T::from_f64_real(1.0 / sum);
        arch.dispatch(Scale { x: out, scale });
    }
}

trait FromF64 {
    fn from_f64_real(x: f64) -> Self;
}

impl<T: Real> FromF64 for T {
    #[inline(always)]
    fn from_f64_real(x: f64) -> T {
        <T as Real>::from_f64(x)
    }
}

/// A row of lines that lie side by side: what each knows so far, or its results.
struct Row<'a, T> {
    x: &'a mut [T],
    max: &'a mut [T],
    sums: &'a mut [T],
    pass: Pass,
}

#[derive(Clone, Copy)]
enum Pass {
    Max,
    Sum,
    Softmax,
    Log,
}

impl<T: Real + Number> WithSimd for Row<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let n = self.x.len();
        let (x, max, sums) = (self.x, &mut self.max[..n], &mut self.sums[..n]);
        match self.pass {
            Pass::Max => {
                for i in 0..n {
                    max[i] = if x[i] > max[i] { x[i] } else { max[i] };
                }
            }
            Pass::Sum => {
                for i in 0..n {
                    sums[i] += Real::exp(x[i] - max[i]);
                }
            }
            Pass::Softmax => {
                for i in 0..n {
                    x[i] = Real::exp(x[i] - max[i]) * sums[i];
                }
            }
            Pass::Log => {
                for i in 0..n {
                    x[i] = x[i] - max[i] - sums[i];
                }
            }
        }
    }
}

impl Softmax {
    /// # Safety
    /// `item` is one of the window; the storages live.
    unsafe fn line<T: Real + Number + Element>(&self, item: i64) {
        let lines = &self.lines;
        let (arch, n) = (self.arch, lines.length as usize);
        let input = moved(&self.input, lines.others.offset(1, item));
        let out = moved_mut(&self.out, lines.others.offset(0, item));
        let reads = input.dtype == T::DTYPE && (lines.in_stride == 1 || n == 1);
        let writes = out.dtype == T::DTYPE && (lines.out_stride == 1 || n == 1);
        let (mut from, mut to) = (Buffer::<T>::default(), Buffer::<T>::default());
        // SAFETY: the line's elements; buffers are filled before they are read.
        unsafe {
            let direct = reads.then(|| slice::from_raw_parts(input.start().cast::<T>(), n));
            if writes && let Some(x) = direct {
                let out = slice::from_raw_parts_mut(out.start().cast::<T>(), n);
                return softmax(arch, self.log, x, out);
            }
            if n <= BLOCK {
                let x = from.slice(n);
                gather(arch, &input, &lines.line, 1, 0, x);
                let y = to.slice(n);
                softmax(arch, self.log, x, y);
                scatter(arch, &out, &lines.line, 0, y);
                return;
            }
            // Long and not in place: a block at a time, read once a pass.
            let mut blocks = |f: &mut dyn FnMut(i64, &[T])| {
                let mut at = 0;
                while at < n {
                    let m = (n - at).min(BLOCK);
                    let x = from.slice(m);
                    gather(arch, &input, &lines.line, 1, at as i64, x);
                    f(at as i64, x);
                    at += m;
                }
            };
            let mut max = T::LOWEST;
            blocks(&mut |_, x| {
                let m = arch.dispatch(Max { x });
                max = if m > max { m } else { max };
            });
            let mut sum = 0.0;
            blocks(&mut |_, x| sum += arch.dispatch(Exponentials { x, kept: None, max }));
            blocks(&mut |at, x| {
                let y = to.slice(x.len());
                if self.log {
                    let log = T::from_f64_real(Real::ln(sum));
                    arch.dispatch(Shift {
                        x,
                        out: y,
                        max,
                        log,
                    });
                } else {
                    let kept = Some(&mut *y);
                    arch.dispatch(Exponentials { x, kept, max });
                    let scale = T::from_f64_real(1.0 / sum);
                    arch.dispatch(Scale { x: y, scale });
                }
                scatter(arch, &out, &lines.line, at, y);
            });
        }
    }

    /// # Safety
    /// As [`Softmax::line`].
    unsafe fn tile<T: Real + Number + Element>(&self, item: i64) {
        const N: usize = TILE as usize;
        let lines = &self.lines;
        let arch = self.arch;
        let first = item * TILE;
        let n = (lines.count - first).min(TILE) as usize;
        let mut buffer = Buffer::<T>::default();
        let (mut max, mut sums) = ([T::LOWEST; N], [<T as Real>::ZERO; N]);
        let mut totals = [0f64; N];
        let mut rows = |from: i64, to: i64, pass: Pass, max: &mut [T], sums: &mut [T]| {
            for i in from..to {
                // SAFETY: rows of the lines; the buffer is filled before it is read; the tile's
                // elements are written by this item alone.
                unsafe {
                    let x = buffer.slice(n);
                    let input = moved(&self.input, i * lines.in_stride);
                    gather(arch, &input, &lines.others, 1, first, x);
                    let row = Row {
                        x: &mut *x,
                        max: &mut *max,
                        sums: &mut *sums,
                        pass,
                    };
                    arch.dispatch(row);
                    if matches!(pass, Pass::Softmax | Pass::Log) {
                        let out = moved_mut(&self.out, i * lines.out_stride);
                        scatter(arch, &out, &lines.others, first, x);
                    }
                }
            }
        };
        rows(0, lines.length, Pass::Max, &mut max, &mut sums);
        let mut at = 0;
        while at < lines.length {
            let end = (at + ROWS).min(lines.length);
            sums = [<T as Real>::ZERO; N];
            rows(at, end, Pass::Sum, &mut max, &mut sums);
            for (total, sum) in totals.iter_mut().zip(sums) {
                *total += Real::to_f64(sum);
            }
            at = end;
        }
        for (sum, total) in sums.iter_mut().zip(totals) {
            let value = if self.log {
                Real::ln(total)
            } else {
                1.0 / total
            };
            *sum = T::from_f64_real(value);
        }
        let pass = if self.log { Pass::Log } else { Pass::Softmax };
        rows(0, lines.length, pass, &mut max, &mut sums);
    }
}
