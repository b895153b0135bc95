//! Sparse tensors: coordinates as single numbers, and sums over rows that coordinates name.

use pulp::{Arch, Simd, WithSimd};

use crate::dtype::{DType, Element};
use crate::number::Number;

/// Columns that are summed at a time: an accumulator on the stack stays in the nearest cache.
const BLOCK: usize = 512;

/// Adds `stride` times each coordinate to its key.
pub fn add_keys(arch: Arch, keys: &mut [i64], coordinates: &[i64], stride: i64) {
    struct Add<'a>(&'a mut [i64], &'a [i64], i64);
    impl WithSimd for Add<'_> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            for (key, c) in self.0.iter_mut().zip(self.1) {
                *key = key.wrapping_add(c.wrapping_mul(self.2));
            }
        }
    }
    arch.dispatch(Add(keys, coordinates, stride));
}

/// Row `r` of the result is the sum of the terms `[heads[r], heads[r + 1])` times `alpha`, and
/// `beta` times a row that is there already. A term is a row of `rows`, times its weight.
///
/// It is the sum of equal coordinates, the way to dense tensors, and the product with a dense
/// matrix. Terms are added in their order and in the compute type; sums of truth values are "or".
#[allow(missing_docs)]
pub struct RowSums<'a, S: Element> {
    pub arch: Arch,
    /// None: row `r` has the one term `r`.
    pub heads: Option<&'a [i64]>,
    /// Which row of `rows` a term is; none: the one of its number.
    pub terms: Option<&'a [i64]>,
    pub weights: Option<&'a [S]>,
    pub rows: *const S,
    /// Elements of a row.
    pub columns: usize,
    pub alpha: S::Compute,
    /// A factor, and what it multiplies: rows as the result's.
    pub base: Option<(S::Compute, *const S)>,
    /// Which row of the result (and the base) row `r` is; none: `r`.
    pub places: Option<&'a [i64]>,
    pub out: *mut S,
}

// SAFETY: parts write different rows, as the caller of `run` says.
unsafe impl<S: Element> Sync for RowSums<'_, S> {}

impl<S: Element> RowSums<'_, S> {
    /// Runs the rows `[start, end)`.
    ///
    /// # Safety
    /// Places and terms lie in what the pointers reach, and nobody else touches these rows of the
    /// result. Where two places are equal, one call has both and base is the result itself.
    pub unsafe fn run(&self, start: usize, end: usize) {
        self.arch.dispatch(Part { all: self, start, end });
    }

    #[inline(always)]
    fn terms(&self, row: usize) -> (usize, usize) {
        match self.heads {
            Some(heads) => (heads[row] as usize, heads[row + 1] as usize),
            None => (row, row + 1),
        }
    }

    #[inline(always)]
    fn add(a: S::Compute, b: S::Compute) -> S::Compute {
        if matches!(S::DTYPE, DType::Bool) { a.maximum(b) } else { a.add(b) }
    }

    #[inline(always)]
    fn term(&self, term: usize) -> usize {
        self.terms.map_or(term, |t| t[term] as usize)
    }

    /// The sum with factor and base.
    #[inline(always)]
    fn finish(&self, sum: S::Compute, at: usize) -> S {
        let sum = sum.mul(self.alpha);
        S::store(match self.base {
            // SAFETY: as the caller of `run` says.
            Some((beta, base)) => Self::add(unsafe { *base.add(at) }.load().mul(beta), sum),
            None => sum,
        })
    }

    /// Rows of one element.
    #[inline(always)]
    fn single(&self, start: usize, end: usize) {
        for row in start..end {
            let (first, last) = self.terms(row);
            let mut sum = S::Compute::ZERO;
            for term in first..last {
                // SAFETY: as the caller of `run` says.
                let value = unsafe { *self.rows.add(self.term(term)) }.load();
                let weight = self.weights.map(|w| w[term].load());
                let value = weight.map_or(value, |w| value.mul(w));
                // The first term starts the sum, so that a sum of -0 stays -0.
                sum = if term == first { value } else { Self::add(sum, value) };
            }
            let at = self.places.map_or(row, |p| p[row] as usize);
            // SAFETY: as the caller of `run` says.
            unsafe { self.out.add(at).write(self.finish(sum, at)) };
        }
    }

    /// Columns `[from, from + width)` of a row.
    #[inline(always)]
    fn block(&self, row: usize, from: usize, width: usize, sums: &mut [S::Compute; BLOCK]) {
        let (first, last) = self.terms(row);
        let sums = &mut sums[..width];
        if first == last {
            sums.fill(S::Compute::ZERO);
        }
        for term in first..last {
            let start = self.term(term) * self.columns + from;
            // SAFETY: as the caller of `run` says.
            let values = unsafe { core::slice::from_raw_parts(self.rows.add(start), width) };
            let weight = self.weights.map(|w| w[term].load());
            match (weight, term == first) {
                (None, true) => {
                    for (sum, v) in sums.iter_mut().zip(values) {
                        *sum = v.load();
                    }
                }
                (None, false) => {
                    for (sum, v) in sums.iter_mut().zip(values) {
                        *sum = Self::add(*sum, v.load());
                    }
                }
                (Some(w), true) => {
                    for (sum, v) in sums.iter_mut().zip(values) {
                        *sum = v.load().mul(w);
                    }
                }
                (Some(w), false) => {
                    for (sum, v) in sums.iter_mut().zip(values) {
                        *sum = Self::add(*sum, v.load().mul(w));
                    }
                }
            }
        }
        let place = self.places.map_or(row, |p| p[row] as usize);
        let start = place * self.columns + from;
        for (i, sum) in sums.iter().enumerate() {
            // SAFETY: as the caller of `run` says.
            unsafe { self.out.add(start + i).write(self.finish(*sum, start + i)) };
        }
    }
}

struct Part<'a, 'b, S: Element> {
    all: &'a RowSums<'b, S>,
    start: usize,
    end: usize,
}

impl<T: Element> WithSimd for Part<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Part { all, start, end } = self;
        if all.columns == 1 {
            return all.single(start, end);
        }
        let mut sums = [T::Compute::ZERO; BLOCK];
        for row in start..end {
            for from in (0..all.columns).step_by(BLOCK) {
                all.block(row, from, BLOCK.min(all.columns - from), &mut sums);
            }
        }
    }
}
