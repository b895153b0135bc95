//! Pooling: a number a window of each plane, and back. Planes are dense and have three dimensions,
//! the first ones of size 1 where fewer were given.

use core::slice;

use crate::dtype::Element;
use crate::kernels::conv::Geometry;
use crate::number::Number;

/// The windows of a pooling.
#[derive(Clone, Copy, Debug)]
pub enum Windows {
    /// Of one size, moved by steps.
    Moved(Geometry),
    /// As many as wanted, of nearly one size, covering everything: sizes of plane and result.
    Adaptive([i64; 3], [i64; 3]),
}

/// The elements `from + i * step` for `i` in `[0, count)` of a dimension, and how many there would
/// be with the padding.
#[derive(Clone, Copy)]
struct Span {
    from: i64,
    count: i64,
    step: i64,
    padded: i64,
}

impl Windows {
    fn sizes(&self) -> ([i64; 3], [i64; 3]) {
        match self {
            Windows::Moved(g) => (g.large, g.small),
            Windows::Adaptive(large, small) => (*large, *small),
        }
    }

    /// Elements of a plane.
    pub fn volume(&self) -> usize {
        self.sizes().0.iter().product::<i64>() as usize
    }

    /// Windows of a plane.
    pub fn places(&self) -> usize {
        self.sizes().1.iter().product::<i64>() as usize
    }

    /// Elements of a window, about.
    pub fn elements(&self) -> f64 {
        match self {
            Windows::Moved(g) => g.taps() as f64,
            Windows::Adaptive(..) => (self.volume() as f64 / self.places().max(1) as f64).max(1.0),
        }
    }

    #[inline(always)]
    fn span(&self, d: usize, place: i64) -> Span {
        match self {
            Windows::Moved(g) => {
                let (size, step, padding) = (g.large[d], g.dilation[d], g.padding[d]);
                let start = place * g.stride[d] - padding;
                let skip = if start < 0 { (step - 1 - start) / step } else { 0 };
                let from = start + skip * step;
                let inside = if from < size { (size - from + step - 1) / step } else { 0 };
                let count = inside.min(g.kernel[d] - skip).max(0);
                let padded = (start + g.kernel[d]).min(size + padding) - start;
                Span { from, count, step, padded }
            }
            Windows::Adaptive(large, small) => {
                let (n, m) = (large[d] as i128, small[d] as i128);
                let from = (place as i128 * n / m) as i64;
                let to = (((place as i128 + 1) * n + m - 1) / m) as i64;
                Span { from, count: to - from, step: 1, padded: to - from }
            }
        }
    }

    /// Calls `f(window, spans)` for each window of a plane.
    #[inline(always)]
    fn each(&self, mut f: impl FnMut(usize, [Span; 3])) {
        let [depth, height, width] = self.sizes().1;
        let mut window = 0;
        for d in 0..depth {
            let first = self.span(0, d);
            for h in 0..height {
                let second = self.span(1, h);
                for w in 0..width {
                    f(window, [first, second, self.span(2, w)]);
                    window += 1;
                }
            }
        }
    }

    /// Calls `f(place in the plane)` for the elements of a window, in order.
    #[inline(always)]
    fn elements_of(&self, spans: [Span; 3], mut f: impl FnMut(i64)) {
        let [_, height, width] = self.sizes().0;
        let [a, b, c] = spans;
        for i in 0..a.count {
            for j in 0..b.count {
                let row = ((a.from + i * a.step) * height + b.from + j * b.step) * width;
                for k in 0..c.count {
                    f(row + c.from + k * c.step);
                }
            }
        }
    }

    /// The greatest element of each window, a NaN if there is one, and its place in the plane.
    ///
    /// # Safety
    /// The pointers cover a plane and its windows, which are ours to write.
    pub unsafe fn max<S: Element>(&self, x: *const S, out: *mut S, places: *mut i64) {
        self.each(|window, spans| {
            let mut best = S::Compute::LOWEST;
            let mut place = -1;
            self.elements_of(spans, |at| {
                // SAFETY: spans lie inside the plane.
                let v = unsafe { *x.add(at as usize) }.load();
                if v > best || v.is_nan() || place < 0 {
                    best = v;
                    place = at;
                }
            });
            // SAFETY: the caller's promise.
            unsafe {
                *out.add(window) = S::store(best);
                *places.add(window) = place;
            }
        });
    }

    /// Adds each window's gradient to the element that its place names; places were checked.
    ///
    /// # Safety
    /// The pointers cover a plane and its windows, and the plane is ours to write.
    pub unsafe fn max_backward<T: Number>(&self, grad: *const T, places: *const i64, out: *mut T) {
        let n = self.places();
        // SAFETY: the caller's promise.
        unsafe {
            let (grad, places) = (slice::from_raw_parts(grad, n), slice::from_raw_parts(places, n));
            let out = slice::from_raw_parts_mut(out, self.volume());
            for (g, at) in grad.iter().zip(places) {
                let to = &mut out[*at as usize];
                *to = to.add(*g);
            }
        }
    }

    /// What a window's sum is divided by.
    #[inline(always)]
    fn divisor(spans: &[Span; 3], rule: Divisor) -> i64 {
        match rule {
            Divisor::Given(n) => n,
            Divisor::Padded => spans.iter().map(|s| s.padded).product(),
            Divisor::Inside => spans.iter().map(|s| s.count).product(),
        }
    }

    /// The mean of each window; 0 of one without elements.
    ///
    /// # Safety
    /// As [`Windows::max`].
    pub unsafe fn mean<S: Element>(&self, rule: Divisor, x: *const S, out: *mut S) {
        self.each(|window, spans| {
            let mut sum = S::Compute::ZERO;
            let mut count = 0;
            self.elements_of(spans, |at| {
                // SAFETY: spans lie inside the plane.
                sum = sum.add(unsafe { *x.add(at as usize) }.load());
                count += 1;
            });
            let divisor = Self::divisor(&spans, rule) as f64;
            let mean = if count == 0 { 0.0 } else { sum.to_f64() / divisor };
            // SAFETY: the caller's promise.
            unsafe { *out.add(window) = S::store(mean) };
        });
    }

    /// Adds each window's gradient to its elements in equal parts.
    ///
    /// # Safety
    /// As [`Windows::max_backward`].
    pub unsafe fn mean_backward<T: Number>(&self, rule: Divisor, grad: *const T, out: *mut T) {
        self.each(|window, spans| {
            // SAFETY: the caller's promise.
            let g = unsafe { *grad.add(window) }.to_f64();
            let share = T::from_f64(g / Self::divisor(&spans, rule) as f64);
            self.elements_of(spans, |at| {
                // SAFETY: spans lie inside the plane.
                unsafe { *out.add(at as usize) = (*out.add(at as usize)).add(share) };
            });
        });
    }
}

/// What the sum of a window is divided by.
#[derive(Clone, Copy, Debug)]
pub enum Divisor {
    /// A number.
    Given(i64),
    /// Its elements, padding counted.
    Padded,
    /// Its elements that are there.
    Inside,
}
