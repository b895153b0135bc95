//! Numbers at equal distances.

use pulp::{Arch, Simd, WithSimd};

use crate::dtype::Element;
use crate::view::ViewMut;
use crate::window::{Kernel, ThreadInfo, Window};
use crate::with_dtype;

/// How element `i` comes from `i`: always by one product, never by a running sum.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum Ramp {
    /// start + i * step, wrapping.
    Int { start: i64, step: i64 },
    /// start + i * step.
    Float { start: f64, step: f64 },
    /// Counted from `start` below the middle and back from `end` above it, so that the last of the
    /// `count` elements is `end` itself.
    Between { start: f64, end: f64, step: f64, count: i64 },
}

/// out[i] = ramp(i), computed in i64 or f64 and rounded once.
#[derive(Clone, Copy)]
pub struct Sequence {
    arch: Arch,
    out: ViewMut,
    ramp: Ramp,
}

impl Sequence {
    /// `out` is contiguous.
    pub fn new(arch: Arch, out: ViewMut, ramp: Ramp) -> Sequence {
        debug_assert!(out.layout.is_contiguous());
        Sequence { arch, out, ramp }
    }
}

/// Elements whose places are counted in 32 bits, which converts to f64 in vectors.
const RUN: usize = 1024;

struct Count<'a, D> {
    out: &'a mut [D],
    start: i64,
    step: i64,
}

impl<D: Element> WithSimd for Count<'_, D> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (i, out) in self.out.iter_mut().enumerate() {
            *out = D::store(self.start.wrapping_add((i as i64).wrapping_mul(self.step)));
        }
    }
}

/// origin + (first + i) * step.
struct Space<'a, D> {
    out: &'a mut [D],
    origin: f64,
    first: f64,
    step: f64,
}

impl<D: Element> WithSimd for Space<'_, D> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (i, out) in self.out.iter_mut().enumerate() {
            let place = self.first + f64::from(i as u32);
            *out = D::store(self.origin + place * self.step);
        }
    }
}

impl Sequence {
    fn write<D: Element>(&self, out: &mut [D], first: i64) {
        match self.ramp {
            Ramp::Int { start, step } => {
                let start = start.wrapping_add(first.wrapping_mul(step));
                self.arch.dispatch(Count { out, start, step });
            }
            Ramp::Float { start, step } => self.space(out, start, first, step),
            Ramp::Between { start, end, step, count } => {
                let below = (count / 2 - first).clamp(0, out.len() as i64) as usize;
                let (low, high) = out.split_at_mut(below);
                self.space(low, start, first, step);
                self.space(high, end, first + below as i64 - (count - 1), step);
            }
        }
    }

    fn space<D: Element>(&self, out: &mut [D], origin: f64, first: i64, step: f64) {
        for (run, out) in out.chunks_mut(RUN).enumerate() {
            let first = (first + (run * RUN) as i64) as f64;
            self.arch.dispatch(Space { out, origin, first, step });
        }
    }
}

impl Kernel for Sequence {
    fn window(&self) -> Window {
        Window::flat(self.out.layout.numel())
    }

    fn cost(&self) -> f64 {
        0.5
    }

    fn run(&self, part: &Window, _: ThreadInfo, _: &mut [u8]) {
        let dim = part.dim(0);
        let (start, end) = (dim.start, dim.end);
        with_dtype!(self.out.dtype, D => {
            // SAFETY: contiguous and inside the storage; this part's elements are ours to write.
            let out = unsafe {
                let first = self.out.start().cast::<D>().offset(start as isize);
                core::slice::from_raw_parts_mut(first, (end - start) as usize)
            };
            self.write(out, start);
        })
    }
}
