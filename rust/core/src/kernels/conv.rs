//! What convolutions do besides products: patches of the larger side as columns of a matrix and
//! back, and results put in place; and the direct way for groups of few channels.
//!
//! The larger side is what the kernel moves over (the input of a convolution, the output of a
//! transposed one), the smaller side has one element a place of the kernel. All tensors are dense
//! and there are three spatial dimensions, the first ones of size 1 where fewer were given.

pub mod direct;

use core::slice;

use pulp::{Arch, Simd, WithSimd};

use crate::number::Number;

/// Sizes of one sample and one group.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Geometry {
    /// The larger side.
    pub large: [i64; 3],
    /// The smaller side.
    pub small: [i64; 3],
    pub kernel: [i64; 3],
    pub stride: [i64; 3],
    pub padding: [i64; 3],
    pub dilation: [i64; 3],
}

/// What one element of the kernel sees of a dimension: where its first place lies on the larger
/// side, and the places `[from, to)` of the smaller side for which it lies inside.
#[derive(Clone, Copy)]
struct Reach {
    first: i64,
    from: i64,
    to: i64,
}

impl Geometry {
    /// Elements of a channel of the larger side.
    pub fn volume(&self) -> usize {
        self.large.iter().product::<i64>() as usize
    }

    /// Elements of a channel of the smaller side.
    pub fn places(&self) -> usize {
        self.small.iter().product::<i64>() as usize
    }

    /// Elements of the kernel.
    pub fn taps(&self) -> usize {
        self.kernel.iter().product::<i64>() as usize
    }

    /// Whether a column is just the element that it stands over.
    pub fn is_pointwise(&self) -> bool {
        let plain = self.stride == [1; 3] && self.padding == [0; 3];
        self.kernel == [1; 3] && plain && self.large == self.small
    }

    #[inline(always)]
    fn reach(&self, d: usize, tap: i64) -> Reach {
        let first = tap * self.dilation[d] - self.padding[d];
        let step = self.stride[d];
        // Least place p with first + p * step >= bound.
        let least = |bound: i64| {
            let gap = bound - first;
            if gap <= 0 { 0 } else { (gap + step - 1) / step }
        };
        let to = least(self.large[d]).min(self.small[d]);
        Reach { first, from: least(0).min(to), to }
    }

    /// Calls `f(row, place in the row, length, position)` for the rows of the smaller side that
    /// positions `[start, start + n)` touch; `row` is its first two coordinates.
    #[inline(always)]
    fn rows(&self, start: usize, n: usize, mut f: impl FnMut([i64; 2], i64, i64, usize)) {
        if n == 0 {
            return;
        }
        let [_, height, width] = self.small;
        let (row, mut w) = (start as i64 / width, start as i64 % width);
        let (mut d, mut h) = (row / height, row % height);
        let mut at = 0;
        while at < n {
            let length = (width - w).min((n - at) as i64);
            f([d, h], w, length, at);
            at += length as usize;
            w = 0;
            h += 1;
            if h == height {
                h = 0;
                d += 1;
            }
        }
    }

    /// Where a row of the larger side starts, or nothing where it is padding.
    #[inline(always)]
    fn line(&self, row: [i64; 2], tap: [i64; 2]) -> Option<i64> {
        let mut at = 0;
        for d in 0..2 {
            let place = row[d] * self.stride[d] + tap[d] * self.dilation[d] - self.padding[d];
            if place < 0 || place >= self.large[d] {
                return None;
            }
            at = at * self.large[d] + place;
        }
        Some(at * self.large[2])
    }

    fn tap(&self, t: usize) -> [i64; 3] {
        let [_, height, width] = self.kernel;
        let t = t as i64;
        [t / (height * width), t / width % height, t % width]
    }
}

/// Positions `[start, start + n)` of the smaller side as columns: a row a channel and element of
/// the kernel, `ld` elements apart.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Columns<T> {
    pub geometry: Geometry,
    pub channels: usize,
    pub start: usize,
    pub n: usize,
    pub columns: *mut T,
    pub ld: usize,
}

struct Gather<T>(Columns<T>, *const T);

impl<T: Number> WithSimd for Gather<T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Gather(c, x) = self;
        let g = c.geometry;
        let (volume, taps, step) = (g.volume(), g.taps(), g.stride[2] as usize);
        for r in 0..c.channels * taps {
            let [t0, t1, t2] = g.tap(r % taps);
            let reach = g.reach(2, t2);
            // SAFETY: a channel and a row of columns, as promised.
            let (x, to) = unsafe { (x.add(r / taps * volume), c.columns.add(r * c.ld)) };
            g.rows(c.start, c.n, |row, w, length, at| {
                // SAFETY: inside the row of columns.
                let to = unsafe { slice::from_raw_parts_mut(to.add(at), length as usize) };
                let Some(line) = g.line(row, [t0, t1]) else {
                    return to.fill(T::ZERO);
                };
                let from = reach.from.clamp(w, w + length);
                let end = reach.to.clamp(from, w + length);
                let (a, b) = ((from - w) as usize, (end - w) as usize);
                to[..a].fill(T::ZERO);
                to[b..].fill(T::ZERO);
                if a == b {
                    return;
                }
                // SAFETY: `reach` keeps the places inside the line.
                unsafe {
                    let x = x.offset((line + reach.first + from * step as i64) as isize);
                    if step == 1 {
                        to[a..b].copy_from_slice(slice::from_raw_parts(x, b - a));
                    } else {
                        for (i, to) in to[a..b].iter_mut().enumerate() {
                            *to = *x.add(i * step);
                        }
                    }
                }
            });
        }
    }
}

struct Scatter<T>(Columns<T>, *mut T);

impl<T: Number> WithSimd for Scatter<T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Scatter(c, x) = self;
        let g = c.geometry;
        let (volume, taps, step) = (g.volume(), g.taps(), g.stride[2] as usize);
        for r in 0..c.channels * taps {
            let [t0, t1, t2] = g.tap(r % taps);
            let reach = g.reach(2, t2);
            // SAFETY: as in Gather.
            let (x, from) = unsafe { (x.add(r / taps * volume), c.columns.add(r * c.ld)) };
            g.rows(c.start, c.n, |row, w, length, at| {
                let Some(line) = g.line(row, [t0, t1]) else { return };
                let first = reach.from.clamp(w, w + length);
                let end = reach.to.clamp(first, w + length);
                if first == end {
                    return;
                }
                let n = (end - first) as usize;
                // SAFETY: `reach` keeps the places inside the line, which is ours.
                unsafe {
                    let from = slice::from_raw_parts(from.add(at + (first - w) as usize), n);
                    let x = x.offset((line + reach.first + first * step as i64) as isize);
                    if step == 1 {
                        let to = slice::from_raw_parts_mut(x, n);
                        for i in 0..n {
                            to[i] = to[i].add(from[i]);
                        }
                    } else {
                        for (i, from) in from.iter().enumerate() {
                            *x.add(i * step) = (*x.add(i * step)).add(*from);
                        }
                    }
                }
            });
        }
    }
}

impl<T: Number> Columns<T> {
    /// Fills the columns from the channels at `x`; padding is 0.
    ///
    /// # Safety
    /// `x` has the channels, `columns` has room, and the positions are of the smaller side.
    pub unsafe fn gather(self, arch: Arch, x: *const T) {
        arch.dispatch(Gather(self, x));
    }

    /// Adds the columns to the channels at `x`.
    ///
    /// # Safety
    /// As [`Columns::gather`]; nobody else touches the channels meanwhile.
    pub unsafe fn scatter(self, arch: Arch, x: *mut T) {
        arch.dispatch(Scatter(self, x));
    }
}

/// Copies rows of `n` elements, adding a number a row.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Place<T> {
    pub rows: usize,
    pub n: usize,
    pub from: *const T,
    pub from_step: usize,
    pub to: *mut T,
    pub to_step: usize,
    /// One number a row, or null.
    pub bias: *const T,
}

impl<T: Number> WithSimd for Place<T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for r in 0..self.rows {
            // SAFETY: promised to `run`.
            let (from, to, bias) = unsafe {
                (
                    slice::from_raw_parts(self.from.add(r * self.from_step), self.n),
                    slice::from_raw_parts_mut(self.to.add(r * self.to_step), self.n),
                    if self.bias.is_null() { T::ZERO } else { *self.bias.add(r) },
                )
            };
            for i in 0..self.n {
                to[i] = from[i].add(bias);
            }
        }
    }
}

impl<T: Number> Place<T> {
    /// Runs it.
    ///
    /// # Safety
    /// The pointers cover the rows, which do not overlap and are ours to write.
    pub unsafe fn run(self, arch: Arch) {
        arch.dispatch(self);
    }
}
