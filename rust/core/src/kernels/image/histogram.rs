//! Histograms: each part of a plane is counted into scratch of its own, and another step adds the
//! parts up, so that nothing is locked.

use core::slice;

use super::{plane, planes, steps};
use crate::border::Access;
use crate::dtype::DType;
use crate::view::View;
use crate::window::{Dim, Kernel, ThreadInfo, Window};

/// Values of a u8 pixel.
pub const VALUES: usize = 256;

/// Which bin a pixel falls into: `bins` of equal width over `[from, from + range)`.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs)]
pub struct Bins {
    pub bins: usize,
    pub from: f64,
    pub range: f64,
}

impl Bins {
    /// The bin of a value; values outside the range have none.
    #[inline(always)]
    pub fn of(&self, value: f64) -> Option<usize> {
        let at = value - self.from;
        // A NaN is not inside either.
        let inside = at >= 0.0 && at < self.range;
        let bin = (at * self.bins as f64 / self.range) as usize;
        inside.then(|| bin.min(self.bins - 1))
    }
}

/// Counts the pixels of planes, part by part.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Count {
    pub from: View,
    pub bins: Bins,
    /// How many parts the rows of a plane are cut into.
    pub parts: i64,
    /// `[planes, parts, bins]`, dense, zeros.
    pub counts: *mut i64,
}

// SAFETY: parts write disjoint counts.
unsafe impl Sync for Count {}

impl Kernel for Count {
    /// Planes, parts of a plane.
    fn window(&self) -> Window {
        Window::new(&[Dim::upto(planes(&self.from.layout, 2)), Dim::upto(self.parts)])
    }

    fn split_dim(&self) -> Option<usize> {
        Some(if planes(&self.from.layout, 2) >= self.parts { 0 } else { 1 })
    }

    fn cost(&self) -> f64 {
        let all = self.from.layout.numel() as f64;
        let split = self.split_dim().map_or(1, |d| self.window().dim(d).iterations());
        all / split.max(1) as f64
    }

    fn id(&self) -> &'static str {
        "histogram"
    }

    fn access(&self) -> Access {
        Access::Whole
    }

    fn run(&self, part: &Window, _: ThreadInfo, _: &mut [u8]) {
        let layout = &self.from.layout;
        let height = layout.shape()[layout.rank() - 2];
        part.for_each_row(|place, parts| {
            for p in parts.start..parts.end {
                let first = (place[0] * self.parts + p) as usize * self.bins.bins;
                let rows = Window::flat(height).split(0, p as usize, self.parts as usize).dim(0);
                // SAFETY: whoever made the kernel keeps both alive; each part has its counts.
                unsafe {
                    let counts = slice::from_raw_parts_mut(self.counts.add(first), self.bins.bins);
                    let start = plane(layout, 2, place[0]);
                    match self.from.dtype {
                        DType::U8 => self.bytes(start, rows, counts),
                        _ => self.floats(start, rows, counts),
                    }
                }
            }
        });
    }
}

impl Count {
    /// Calls `f` with each pixel of some rows.
    ///
    /// # Safety
    /// The view's storage covers its layout and holds pixels of `T`.
    #[inline(always)]
    unsafe fn each<T: Copy>(&self, start: isize, rows: Dim, mut f: impl FnMut(usize, T)) {
        let layout = &self.from.layout;
        let (row_step, step) = steps(layout);
        let width = layout.shape()[layout.rank() - 1] as usize;
        // SAFETY: the caller's promise.
        unsafe {
            let first = self.from.start().cast::<T>().offset(start);
            for y in rows.start..rows.end {
                let row = first.offset(y as isize * row_step);
                for x in 0..width {
                    f(x, *row.offset(x as isize * step));
                }
            }
        }
    }

    /// # Safety
    /// As [`Count::each`].
    unsafe fn bytes(&self, start: isize, rows: Dim, counts: &mut [i64]) {
        // Neighbours are often equal: four tables, so that one count need not wait for the last.
        let mut tables = [[0u32; VALUES]; 4];
        let mut pending = 0u32;
        let mut add = |tables: &mut [[u32; VALUES]; 4]| {
            for (value, bin) in (0..VALUES).map(|v| (v, self.bins.of(v as f64))) {
                let n: u64 = tables.iter().map(|t| u64::from(t[value])).sum();
                if let Some(bin) = bin {
                    counts[bin] += n as i64;
                }
            }
            *tables = [[0; VALUES]; 4];
        };
        // SAFETY: the caller's promise.
        unsafe {
            self.each::<u8>(start, rows, |x, v| {
                if pending == u32::MAX {
                    add(&mut tables);
                    pending = 0;
                }
                pending += 1;
                tables[x % 4][usize::from(v)] += 1;
            });
        }
        add(&mut tables);
    }

    /// # Safety
    /// As [`Count::each`].
    unsafe fn floats(&self, start: isize, rows: Dim, counts: &mut [i64]) {
        // SAFETY: the caller's promise.
        unsafe {
            self.each::<f32>(start, rows, |_, v| {
                if let Some(bin) = self.bins.of(f64::from(v)) {
                    counts[bin] += 1;
                }
            });
        }
    }
}

/// The table that spreads the values of a plane over all of u8, from how often each comes:
/// `255 * (cdf(v) - cdf(least)) / (pixels - cdf(least))`, rounded to the nearest, halves up. A plane
/// of one value stays as it is.
pub fn equalize(counts: &[i64; VALUES]) -> [u8; VALUES] {
    let pixels: i64 = counts.iter().sum();
    let least = counts.iter().copied().find(|n| *n > 0).unwrap_or(0);
    let spread = i128::from(pixels - least);
    let mut below = 0;
    core::array::from_fn(|value| {
        below += counts[value];
        if spread == 0 {
            return value as u8;
        }
        let above = i128::from((below - least).max(0));
        ((2 * 255 * above + spread) / (2 * spread)) as u8
    })
}
