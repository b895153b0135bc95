//! The negative log likelihood of classes, over dense tensors `[samples, classes, places]`.

use crate::dtype::Element;
use crate::number::Number;

/// Samples and places whose losses are summed in one go; sums do not depend on how the parts are
/// shared among threads.
pub const RUN: i64 = 4096;

/// Where the classes are and what they weigh.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Classes<T> {
    pub classes: i64,
    /// Elements after the class dimension.
    pub places: i64,
    /// One class a sample and place: in `[0, classes)` or `ignored`.
    pub target: *const i64,
    /// One weight a class, or null.
    pub weight: *const T,
    pub ignored: i64,
}

// SAFETY: addresses that are only read; whoever runs the loops keeps the memory alive.
unsafe impl<T> Send for Classes<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Classes<T> {}

impl<T: Number> Classes<T> {
    /// Place of the target's element in the input, and its weight; none: ignored.
    ///
    /// # Safety
    /// The pointers cover the sizes and `i` is a sample and place.
    #[inline(always)]
    unsafe fn element(&self, i: i64) -> Option<(usize, T)> {
        // SAFETY: the caller's promise; a class was checked.
        unsafe {
            let class = *self.target.add(i as usize);
            if class == self.ignored {
                return None;
            }
            let weight =
                if self.weight.is_null() { T::ONE } else { *self.weight.add(class as usize) };
            let (sample, place) = (i / self.places, i % self.places);
            Some((((sample * self.classes + class) * self.places + place) as usize, weight))
        }
    }

    /// Sums of the weighted losses and of the weights of `[start, end)`.
    ///
    /// # Safety
    /// The pointers cover the sizes, and all classes were checked.
    pub unsafe fn sums<S: Element<Compute = T>>(
        &self,
        x: *const S,
        start: i64,
        end: i64,
    ) -> (f64, f64) {
        let (mut loss, mut weights) = (0.0, 0.0);
        for i in start..end {
            // SAFETY: the caller's promise.
            if let Some((at, weight)) = unsafe { self.element(i) } {
                // SAFETY: as above.
                let value = unsafe { *x.add(at) }.load();
                loss -= value.mul(weight).to_f64();
                weights += weight.to_f64();
            }
        }
        (loss, weights)
    }

    /// Each loss.
    ///
    /// # Safety
    /// As [`Classes::sums`]; `out` has an element a sample and place, `[start, end)` are ours.
    pub unsafe fn each<S: Element<Compute = T>>(
        &self,
        x: *const S,
        out: *mut S,
        start: i64,
        end: i64,
    ) {
        for i in start..end {
            // SAFETY: the caller's promise.
            unsafe {
                let loss = match self.element(i) {
                    Some((at, weight)) => (*x.add(at)).load().mul(weight).neg(),
                    None => T::ZERO,
                };
                *out.add(i as usize) = S::store(loss);
            }
        }
    }

    /// Writes the gradient where it is not zero: `-weight * scale * grad`, grad being one element
    /// a sample and place or (`step` 0) one for all.
    ///
    /// # Safety
    /// As [`Classes::each`], `out` being as large as the input.
    pub unsafe fn slopes<S: Element<Compute = T>>(
        &self,
        (grad, step): (*const S, i64),
        scale: T,
        out: *mut S,
        start: i64,
        end: i64,
    ) {
        for i in start..end {
            // SAFETY: the caller's promise.
            unsafe {
                if let Some((at, weight)) = self.element(i) {
                    let g = (*grad.add((i * step) as usize)).load();
                    *out.add(at) = S::store(weight.mul(scale).mul(g).neg());
                }
            }
        }
    }
}
