//! The inner product in f64 of elements of any type.

use pulp::{Arch, Simd, WithSimd};

use crate::block::{BLOCK, Buffer, Place, gather};
use crate::nest::Nest;

/// Sums side by side: as many as the widest vector has, twice.
const LANES: usize = 16;

struct Dot<'a> {
    a: &'a [f64],
    b: &'a [f64],
    sums: &'a mut [f64; LANES],
}

impl WithSimd for Dot<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, _: V) {
        let (a, a_rest) = self.a.as_chunks::<LANES>();
        let (b, b_rest) = self.b.as_chunks::<LANES>();
        for (x, y) in a.iter().zip(b) {
            for i in 0..LANES {
                self.sums[i] += x[i] * y[i];
            }
        }
        for (i, (x, y)) in a_rest.iter().zip(b_rest).enumerate() {
            self.sums[i] += x * y;
        }
    }
}

/// The sum of products at flat positions `[start, end)`. Positions decide which products are summed
/// first, so that the CPU level changes no bit.
///
/// # Safety
/// The operands' storages cover their layouts, from which the nest was made as 1 and 2, and the
/// positions lie inside the nest.
pub unsafe fn dot(arch: Arch, a: Place, b: Place, nest: &Nest, start: i64, end: i64) -> f64 {
    let mut sums = [0.0; LANES];
    let (mut x, mut y) = (Buffer::<f64>::uninit(), Buffer::<f64>::uninit());
    let mut at = start;
    while at < end {
        let n = (BLOCK as i64).min(end - at);
        // SAFETY: gather writes all of the slices; the caller's promises are passed on.
        unsafe {
            let (x, y) = (x.slice(n as usize), y.slice(n as usize));
            gather(arch, a, nest, 1, at, x);
            gather(arch, b, nest, 2, at, y);
            arch.dispatch(Dot { a: x, b: y, sums: &mut sums });
        }
        at += n;
    }
    let mut width = LANES / 2;
    while width > 0 {
        for i in 0..width {
            sums[i] += sums[i + width];
        }
        width /= 2;
    }
    sums[0]
}
