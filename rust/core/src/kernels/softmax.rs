//! Softmax and its logarithm along a dimension of dense tensors.

use core::slice;

use pulp::{Arch, Simd, WithSimd};

use crate::dtype::DType;
use crate::number::Number;
use crate::scalar::{Real, reinterpret};
use crate::window::{Kernel, ThreadInfo, Window};

/// Columns of one work item.
const TILE: i64 = 64;
/// Independent chains of a sum or maximum, and the widest block of columns.
const LANES: usize = 64;
/// The narrower block of columns.
const FEW: usize = 8;
/// Rows whose exponentials are summed before the sum is widened.
const ROWS: usize = 32;

/// out = exp(x) / Σ exp(x), or its logarithm, along the middle of three dimensions.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Softmax {
    pub arch: Arch,
    pub log: bool,
    /// f32 or f64, of both tensors.
    pub dtype: DType,
    /// Sizes: outer, the dimension itself, inner.
    pub sizes: [i64; 3],
    /// The first element of each; they share no bytes.
    pub input: *const u8,
    pub out: *mut u8,
}

// SAFETY: parts of the window write disjoint elements.
unsafe impl Sync for Softmax {}

impl Kernel for Softmax {
    fn window(&self) -> Window {
        let [outer, _, inner] = self.sizes;
        Window::flat(outer * ((inner + TILE - 1) / TILE))
    }

    fn cost(&self) -> f64 {
        let wide = if self.dtype == DType::F64 { 2.0 } else { 1.0 };
        wide * (self.sizes[1] * self.sizes[2].min(TILE)) as f64
    }

    fn run(&self, part: &Window, _: ThreadInfo, _: &mut [u8]) {
        let dim = part.dim(0);
        // SAFETY: items of the window; the kernel's maker keeps the storages and gives the types.
        unsafe {
            match self.dtype {
                DType::F64 => self.items::<f64>(dim.start, dim.end),
                _ => self.items::<f32>(dim.start, dim.end),
            }
        }
    }
}

impl Softmax {
    /// # Safety
    /// Elements are of type T; items are of the window.
    unsafe fn items<T: Real + Number>(&self, start: i64, end: i64) {
        let (x, out) = (self.input.cast::<T>(), self.out.cast::<T>());
        let (n, inner) = (self.sizes[1] as usize, self.sizes[2] as usize);
        if inner == 1 {
            let (first, count) = (start as usize * n, (end - start) as usize * n);
            // SAFETY: whole lines of the dense tensors.
            let (x, out) = unsafe {
                (
                    slice::from_raw_parts(x.add(first), count),
                    slice::from_raw_parts_mut(out.add(first), count),
                )
            };
            let log = self.log;
            return self.arch.dispatch(Lines { x, out, n, log });
        }
        let tiles = (inner as i64 + TILE - 1) / TILE;
        for item in start..end {
            let (line, tile) = ((item / tiles) as usize, item % tiles);
            let column = (tile * TILE) as usize;
            let first = line * n * inner + column;
            // SAFETY: columns of the dense tensors.
            let columns = unsafe {
                Columns {
                    x: x.add(first),
                    out: out.add(first),
                    columns: (inner - column).min(TILE as usize),
                    rows: n,
                    stride: inner,
                    log: self.log,
                }
            };
            self.arch.dispatch(columns);
        }
    }
}

/// Lines of `n` adjacent elements.
struct Lines<'a, T> {
    x: &'a [T],
    out: &'a mut [T],
    n: usize,
    log: bool,
}

impl<T: Real + Number> WithSimd for Lines<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        if S::IS_SCALAR {
            self.each()
        } else {
            // SAFETY: made of numbers alone, and every level above the scalar one fuses.
            unsafe { reinterpret::<_, Lines<<T as Real>::Fused>>(self) }.each()
        }
    }
}

impl<T: Real + Number> Lines<'_, T> {
    #[inline(always)]
    fn each(self) {
        let lines = self.x.chunks_exact(self.n);
        for (x, out) in lines.zip(self.out.chunks_exact_mut(self.n)) {
            let max = greatest(x);
            let total = exponentials(x, out, max);
            if self.log {
                let log = <T as Real>::from_f64(Real::ln(total));
                for (out, x) in out.iter_mut().zip(x) {
                    // The maximum first: added to the logarithm it would swallow it.
                    *out = *x - max - log;
                }
            } else {
                let scale = <T as Real>::from_f64(1.0 / total);
                for out in out {
                    *out *= scale;
                }
            }
        }
    }
}

/// The greatest element. A NaN may be passed over: its exponential makes the sum NaN.
#[inline(always)]
fn greatest<T: Number>(x: &[T]) -> T {
    let mut max = T::LOWEST;
    let mut blocks = x.chunks_exact(LANES);
    if x.len() >= LANES {
        let mut lanes = [T::LOWEST; LANES];
        for x in &mut blocks {
            for i in 0..LANES {
                lanes[i] = if x[i] > lanes[i] { x[i] } else { lanes[i] };
            }
        }
        for half in [32, 16, 8, 4, 2, 1] {
            for i in 0..half {
                let other = lanes[i + half];
                lanes[i] = if other > lanes[i] { other } else { lanes[i] };
            }
        }
        max = lanes[0];
    }
    for x in blocks.remainder() {
        max = if *x > max { *x } else { max };
    }
    max
}

/// out = exp(x - max), and its sum.
#[inline(always)]
fn exponentials<T: Real>(x: &[T], out: &mut [T], max: T) -> f64 {
    let mut total = 0.0;
    let (mut xs, mut outs) = (x.chunks_exact(LANES), out.chunks_exact_mut(LANES));
    if x.len() >= LANES {
        let mut sums = [T::ZERO; LANES];
        for (row, (x, out)) in (&mut xs).zip(&mut outs).enumerate() {
            for i in 0..LANES {
                let e = Real::exp(x[i] - max);
                out[i] = e;
                sums[i] += e;
            }
            if row % ROWS == ROWS - 1 {
                total += folded(sums);
                sums = [T::ZERO; LANES];
            }
        }
        total += folded(sums);
    }
    let out = outs.into_remainder();
    for (out, x) in out.iter_mut().zip(xs.remainder()) {
        *out = Real::exp(*x - max);
    }
    let mut rest = T::ZERO;
    for e in out {
        rest += *e;
    }
    total + rest.to_f64()
}

/// The sum of lanes.
#[inline(always)]
fn folded<T: Real>(mut lanes: [T; LANES]) -> f64 {
    for half in [32, 16, 8, 4, 2, 1] {
        for i in 0..half {
            let other = lanes[i + half];
            lanes[i] += other;
        }
    }
    lanes[0].to_f64()
}

/// Lines that lie side by side.
struct Columns<T> {
    x: *const T,
    out: *mut T,
    columns: usize,
    rows: usize,
    stride: usize,
    log: bool,
}

impl<T: Real + Number> WithSimd for Columns<T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        if S::IS_SCALAR {
            self.each()
        } else {
            // SAFETY: made of numbers alone, and every level above the scalar one fuses.
            unsafe { reinterpret::<_, Columns<<T as Real>::Fused>>(self) }.each()
        }
    }
}

impl<T: Real + Number> Columns<T> {
    #[inline(always)]
    fn each(self) {
        let mut c = 0;
        while c < self.columns {
            let left = self.columns - c;
            // SAFETY: the next columns of the tile.
            c += unsafe {
                if left >= LANES {
                    self.block::<LANES>(c)
                } else if left >= FEW {
                    self.block::<FEW>(c)
                } else {
                    self.block::<1>(c)
                }
            };
        }
    }

    /// # Safety
    /// Columns [first, first + W) are the tile's.
    #[inline(always)]
    unsafe fn block<const W: usize>(&self, first: usize) -> usize {
        let at = |row: usize| row * self.stride + first;
        // SAFETY: rows below `rows` lie inside; an array has the alignment of its elements.
        let load = |row: usize| unsafe { self.x.add(at(row)).cast::<[T; W]>().read() };
        // SAFETY: likewise, and these elements are written here alone.
        let out = |row: usize| unsafe { &mut *self.out.add(at(row)).cast::<[T; W]>() };
        let mut max = [T::LOWEST; W];
        for r in 0..self.rows {
            let x = load(r);
            for i in 0..W {
                max[i] = if x[i] > max[i] { x[i] } else { max[i] };
            }
        }
        let mut totals = [0f64; W];
        let mut row = 0;
        while row < self.rows {
            let end = (row + ROWS).min(self.rows);
            let mut sums = [<T as Real>::ZERO; W];
            for r in row..end {
                let (x, out) = (load(r), out(r));
                for i in 0..W {
                    let e = Real::exp(x[i] - max[i]);
                    out[i] = e;
                    sums[i] += e;
                }
            }
            for i in 0..W {
                totals[i] += Real::to_f64(sums[i]);
            }
            row = end;
        }
        let mut last = [<T as Real>::ZERO; W];
        for i in 0..W {
            let total = totals[i];
            let value = if self.log { Real::ln(total) } else { 1.0 / total };
            last[i] = Real::from_f64(value);
        }
        for r in 0..self.rows {
            let to = out(r);
            if self.log {
                let x = load(r);
                for i in 0..W {
                    to[i] = x[i] - max[i] - last[i];
                }
            } else {
                for i in 0..W {
                    to[i] *= last[i];
                }
            }
        }
        W
    }
}
