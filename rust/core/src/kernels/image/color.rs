//! Colours: pixels of three planes mixed to one to three others, and pixels replaced by a table.

use core::marker::PhantomData;
use core::slice;

use pulp::{Arch, Simd, WithSimd};

use super::filters::Pixel;
use super::{plane, planes, steps};
use crate::dtype::DType;
use crate::view::{View, ViewMut};
use crate::window::{Dim, Kernel, ThreadInfo, Window};

/// Pixels computed at a time.
const BLOCK: usize = 256;

/// Binary places of the weights of u8 pixels.
const PLACES: u32 = 16;

/// What three colours are mixed to: weights of each and what is added.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs)]
pub struct Mixing {
    /// A row for each result; as many as there are results.
    pub weights: [[f64; 3]; 3],
    /// Added to u8 pixels.
    pub offset: [f64; 3],
    /// Taken from u8 pixels before.
    pub before: [f64; 3],
}

/// Mixes images `[…, 3, height, width]`. Of u8 pixels weights are rounded to 16 binary places, sums
/// to the nearest, halves up, and kept within 0 to 255.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Mix {
    pub arch: Arch,
    pub mixing: Mixing,
    pub from: View,
    /// `[…, 1 to 3, height, width]`.
    pub to: ViewMut,
}

impl Mix {
    fn results(&self) -> usize {
        self.to.layout.shape()[self.to.layout.rank() - 3] as usize
    }

    fn sizes(&self) -> (i64, i64) {
        let shape = self.from.layout.shape();
        (shape[shape.len() - 2], shape[shape.len() - 1])
    }
}

impl Kernel for Mix {
    /// Images, rows.
    fn window(&self) -> Window {
        Window::new(&[Dim::upto(planes(&self.from.layout, 3)), Dim::upto(self.sizes().0)])
    }

    fn split_dim(&self) -> Option<usize> {
        Some(if planes(&self.from.layout, 3) >= self.sizes().0 { 0 } else { 1 })
    }

    fn cost(&self) -> f64 {
        let (height, width) = self.sizes();
        let images = planes(&self.from.layout, 3);
        (width * if images >= height { height } else { images }) as f64
    }

    fn id(&self) -> &'static str {
        "color"
    }

    fn run(&self, part: &Window, _: ThreadInfo, _: &mut [u8]) {
        match self.from.dtype {
            DType::U8 => self.arch.dispatch(Part::<u8> { mix: self, part, pixel: PhantomData }),
            _ => self.arch.dispatch(Part::<f32> { mix: self, part, pixel: PhantomData }),
        }
    }
}

struct Part<'a, T> {
    mix: &'a Mix,
    part: &'a Window,
    pixel: PhantomData<T>,
}

/// Pixels that can be mixed.
trait Mixed: Pixel {
    /// Those of three rows to those of result `k`.
    fn mix(rows: [&[Self; BLOCK]; 3], mixing: &Mixing, k: usize, out: &mut [Self; BLOCK]);
}

impl Mixed for u8 {
    #[inline(always)]
    fn mix(rows: [&[u8; BLOCK]; 3], mixing: &Mixing, k: usize, out: &mut [u8; BLOCK]) {
        let one = f64::from(1u32 << PLACES);
        let weights = mixing.weights[k].map(|w| crate::Real::round(w * one) as i32);
        let before: f64 = (0..3).map(|c| mixing.before[c] * f64::from(weights[c])).sum();
        let half = 1 << (PLACES - 1);
        let bias = half + (mixing.offset[k] * one - before) as i32;
        for i in 0..BLOCK {
            let mut sum = bias;
            for c in 0..3 {
                sum += weights[c] * i32::from(rows[c][i]);
            }
            out[i] = (sum >> PLACES).clamp(0, 255) as u8;
        }
    }
}

impl Mixed for f32 {
    #[inline(always)]
    fn mix(rows: [&[f32; BLOCK]; 3], mixing: &Mixing, k: usize, out: &mut [f32; BLOCK]) {
        let weights = mixing.weights[k].map(|w| w as f32);
        for i in 0..BLOCK {
            out[i] = weights[0] * rows[0][i] + weights[1] * rows[1][i] + weights[2] * rows[2][i];
        }
    }
}

impl<T: Mixed> WithSimd for Part<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Mix { from, to, .. } = self.mix;
        let width = self.mix.sizes().1;
        let channel = |l: &crate::Layout| l.strides()[l.rank() - 3] as isize;
        let ((from_row, from_step), (to_row, to_step)) = (steps(&from.layout), steps(&to.layout));
        let [images, rows] = [0, 1].map(|d| self.part.dim(d));
        let mut pixels = [[T::default(); BLOCK]; 3];
        let mut mixed = [T::default(); BLOCK];
        for image in images.start..images.end {
            let source = plane(&from.layout, 3, image);
            let target = plane(&to.layout, 3, image);
            for y in rows.start..rows.end {
                for x in (0..width).step_by(BLOCK) {
                    let n = (width - x).min(BLOCK as i64) as usize;
                    // SAFETY: whoever made the kernel keeps the storages alive, rows and columns
                    // inside them, and input and result apart; each part has its own rows.
                    unsafe {
                        for (c, row) in pixels.iter_mut().enumerate() {
                            let at = source
                                + c as isize * channel(&from.layout)
                                + y as isize * from_row
                                + x as isize * from_step;
                            read(from.start().cast::<T>().offset(at), from_step, &mut row[..n]);
                        }
                        for k in 0..self.mix.results() {
                            let rows = [&pixels[0], &pixels[1], &pixels[2]];
                            T::mix(rows, &self.mix.mixing, k, &mut mixed);
                            let at = target
                                + k as isize * channel(&to.layout)
                                + y as isize * to_row
                                + x as isize * to_step;
                            write(to.start().cast::<T>().offset(at), to_step, &mixed[..n]);
                        }
                    }
                }
            }
        }
    }
}

/// # Safety
/// So many elements may be read.
#[inline(always)]
unsafe fn read<T: Copy>(from: *const T, step: isize, to: &mut [T]) {
    // SAFETY: the caller's promise.
    unsafe {
        if step == 1 {
            to.copy_from_slice(slice::from_raw_parts(from, to.len()));
        } else {
            for (i, to) in to.iter_mut().enumerate() {
                *to = *from.offset(i as isize * step);
            }
        }
    }
}

/// # Safety
/// So many elements may be written.
#[inline(always)]
unsafe fn write<T: Copy>(to: *mut T, step: isize, from: &[T]) {
    // SAFETY: the caller's promise.
    unsafe {
        if step == 1 {
            slice::from_raw_parts_mut(to, from.len()).copy_from_slice(from);
        } else {
            for (i, from) in from.iter().enumerate() {
                *to.offset(i as isize * step) = *from;
            }
        }
    }
}

/// Replaces the u8 pixels of each plane by those of its table.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Lookup<'a> {
    pub from: View,
    pub to: ViewMut,
    /// A table a plane.
    pub tables: &'a [[u8; 256]],
}

impl Kernel for Lookup<'_> {
    /// Planes, rows.
    fn window(&self) -> Window {
        let layout = &self.from.layout;
        let height = layout.shape()[layout.rank() - 2];
        Window::new(&[Dim::upto(planes(layout, 2)), Dim::upto(height)])
    }

    fn split_dim(&self) -> Option<usize> {
        let window = self.window();
        Some((window.dim(0).end < window.dim(1).end) as usize)
    }

    fn cost(&self) -> f64 {
        let split = self.split_dim().map_or(1, |d| self.window().dim(d).end);
        0.7 * self.from.layout.numel() as f64 / split.max(1) as f64
    }

    fn id(&self) -> &'static str {
        "lookup"
    }

    fn run(&self, part: &Window, _: ThreadInfo, _: &mut [u8]) {
        let (from, to) = (&self.from.layout, &self.to.layout);
        let width = from.shape()[from.rank() - 1];
        let ((from_row, from_step), (to_row, to_step)) = (steps(from), steps(to));
        part.for_each_row(|place, rows| {
            let table = &self.tables[place[0] as usize];
            for y in rows.start..rows.end {
                // SAFETY: as for colours.
                unsafe {
                    let source =
                        self.from.start().offset(plane(from, 2, place[0]) + y as isize * from_row);
                    let target =
                        self.to.start().offset(plane(to, 2, place[0]) + y as isize * to_row);
                    for x in 0..width as isize {
                        *target.offset(x * to_step) =
                            table[usize::from(*source.offset(x * from_step))];
                    }
                }
            }
        });
    }
}
