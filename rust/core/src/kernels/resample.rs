//! Resampling along the middle of three dimensions: each result is a weighted sum of a few
//! elements of its line.

use core::slice;

use pulp::{Arch, Simd, WithSimd};

use crate::number::Number;

/// The most elements that a result is made of.
pub const TAPS: usize = 4;

/// The elements of one result and their weights; unused ones weigh 0.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Tap {
    pub at: [usize; TAPS],
    pub weight: [f64; TAPS],
    /// How many are used.
    pub count: usize,
}

/// Dense tensors `[outer, n, inner]` and `[outer, taps, inner]`.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Resample<'a, T> {
    pub n: usize,
    pub inner: usize,
    pub taps: &'a [Tap],
    pub large: *mut T,
    pub small: *mut T,
}

// SAFETY: parts write disjoint lines.
unsafe impl<T> Sync for Resample<'_, T> {}

struct Part<'a, T>(Resample<'a, T>, usize, usize, bool);

impl<T: Number> WithSimd for Part<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Part(all, start, end, back) = self;
        let Resample { n, inner, taps, .. } = all;
        for outer in start..end {
            for (i, tap) in taps.iter().enumerate() {
                // SAFETY: promised to `run`.
                let result = unsafe {
                    let at = (outer * taps.len() + i) * inner;
                    slice::from_raw_parts_mut(all.small.add(at), inner)
                };
                for t in 0..tap.count {
                    let w = T::from_f64(tap.weight[t]);
                    // SAFETY: as above; the places were made for lines of n.
                    let line = unsafe {
                        let at = (outer * n + tap.at[t]) * inner;
                        slice::from_raw_parts_mut(all.large.add(at), inner)
                    };
                    if back {
                        for (to, from) in line.iter_mut().zip(&*result) {
                            *to = to.add(from.mul(w));
                        }
                    } else if t == 0 {
                        for (to, from) in result.iter_mut().zip(&*line) {
                            *to = from.mul(w);
                        }
                    } else {
                        for (to, from) in result.iter_mut().zip(&*line) {
                            *to = to.add(from.mul(w));
                        }
                    }
                }
            }
        }
    }
}

impl<T: Number> Resample<'_, T> {
    /// Outer lines `[start, end)`: `small` from `large`, or (`back`) `small` added to `large`.
    ///
    /// # Safety
    /// The pointers cover the sizes, taps lie below `n`, and nobody else touches these lines.
    pub unsafe fn run(self, arch: Arch, start: usize, end: usize, back: bool) {
        arch.dispatch(Part(self, start, end, back));
    }
}
