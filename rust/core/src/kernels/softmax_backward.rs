//! The gradients of softmax and its logarithm along a dimension of dense tensors.

use core::slice;

use pulp::{Arch, Simd, WithSimd};

use crate::dtype::DType;
use crate::scalar::Real;
use crate::window::{Kernel, ThreadInfo, Window};

/// Columns of one work item, and chains of a sum.
const LANES: usize = 32;

/// `(g - sum(g * y)) * y` of softmax, `g - e^y * sum(g)` of its logarithm, along the middle of
/// three dimensions.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct SoftmaxBackward {
    pub arch: Arch,
    pub log: bool,
    /// f32 or f64, of all tensors.
    pub dtype: DType,
    /// Sizes: outer, the dimension itself, inner.
    pub sizes: [i64; 3],
    /// The first element of each; the output shares no bytes with the others.
    pub grad: *const u8,
    pub result: *const u8,
    pub out: *mut u8,
}

// SAFETY: parts of the window write disjoint elements.
unsafe impl Sync for SoftmaxBackward {}

impl Kernel for SoftmaxBackward {
    fn window(&self) -> Window {
        let [outer, _, inner] = self.sizes;
        Window::flat(outer * inner.div_ceil_positive(LANES as i64))
    }

    fn cost(&self) -> f64 {
        let wide = if self.dtype == DType::F64 { 2.0 } else { 1.0 };
        wide * (self.sizes[1] * self.sizes[2].min(LANES as i64)) as f64
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

/// Division rounded up, for positive numbers.
trait DivCeil {
    fn div_ceil_positive(self, by: i64) -> i64;
}

impl DivCeil for i64 {
    fn div_ceil_positive(self, by: i64) -> i64 {
        (self + by - 1) / by
    }
}

impl SoftmaxBackward {
    /// # Safety
    /// Elements are of type T; items are of the window.
    unsafe fn items<T: Real>(&self, start: i64, end: i64) {
        let (g, y, out) = (self.grad.cast::<T>(), self.result.cast::<T>(), self.out.cast::<T>());
        let (n, inner) = (self.sizes[1] as usize, self.sizes[2] as usize);
        let tiles = (inner as i64).div_ceil_positive(LANES as i64);
        for item in start..end {
            let (line, tile) = ((item / tiles) as usize, (item % tiles) as usize);
            let first = line * n * inner + tile * LANES;
            // SAFETY: one line, or columns of the dense tensors.
            unsafe {
                let (g, y, out) = (g.add(first), y.add(first), out.add(first));
                if inner == 1 {
                    let g = slice::from_raw_parts(g, n);
                    let y = slice::from_raw_parts(y, n);
                    let out = slice::from_raw_parts_mut(out, n);
                    self.arch.dispatch(Line { g, y, out, log: self.log });
                } else {
                    let columns = (inner - tile * LANES).min(LANES);
                    let log = self.log;
                    self.arch.dispatch(Columns { g, y, out, columns, rows: n, inner, log });
                }
            }
        }
    }
}

/// What an element adds to the sum.
#[inline(always)]
fn term<T: Real>(log: bool, g: T, y: T) -> f64 {
    if log { g.to_f64() } else { (g * y).to_f64() }
}

#[inline(always)]
fn slope<T: Real>(log: bool, g: T, y: T, sum: T) -> T {
    if log { g - y.exp() * sum } else { (g - sum) * y }
}

struct Line<'a, T> {
    g: &'a [T],
    y: &'a [T],
    out: &'a mut [T],
    log: bool,
}

impl<T: Real> WithSimd for Line<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let log = self.log;
        let mut sums = [0f64; LANES];
        let (gs, ys) = (self.g.chunks_exact(LANES), self.y.chunks_exact(LANES));
        let mut sum = 0.0;
        for (g, y) in gs.remainder().iter().zip(ys.remainder()) {
            sum += term(log, *g, *y);
        }
        for (g, y) in gs.zip(ys) {
            for i in 0..LANES {
                sums[i] += term(log, g[i], y[i]);
            }
        }
        let sum = T::from_f64(sum + sums.iter().sum::<f64>());
        for ((out, g), y) in self.out.iter_mut().zip(self.g).zip(self.y) {
            *out = slope(log, *g, *y, sum);
        }
    }
}

struct Columns<T> {
    g: *const T,
    y: *const T,
    out: *mut T,
    columns: usize,
    rows: usize,
    inner: usize,
    log: bool,
}

impl<T: Real> WithSimd for Columns<T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Columns { columns, rows, inner, log, .. } = self;
        // SAFETY: `columns` elements of each row lie inside.
        let row = |r: usize| unsafe {
            (
                slice::from_raw_parts(self.g.add(r * inner), columns),
                slice::from_raw_parts(self.y.add(r * inner), columns),
            )
        };
        let mut sums = [0f64; LANES];
        for r in 0..rows {
            let (g, y) = row(r);
            for i in 0..columns {
                sums[i] += term(log, g[i], y[i]);
            }
        }
        let sums = sums.map(T::from_f64);
        for r in 0..rows {
            let (g, y) = row(r);
            // SAFETY: as above; these elements are written here alone.
            let out = unsafe { slice::from_raw_parts_mut(self.out.add(r * inner), columns) };
            for i in 0..columns {
                out[i] = slope(log, g[i], y[i], sums[i]);
            }
        }
    }
}
