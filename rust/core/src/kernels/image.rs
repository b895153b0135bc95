//! Images: stencils, histograms, colours. Images are planes in the last two dimensions, pixels u8 or
//! f32.
//!
//! Sums of u8 pixels are exact and divided by cutting off the fraction, as OpenVX and the Arm Compute
//! Library define these filters; f32 pixels are summed in one order whatever the window, so parts
//! of a plane have the bits of the whole.

pub mod color;
pub mod filters;
pub mod histogram;

use core::marker::PhantomData;
use core::slice;

use pulp::{Arch, Simd, WithSimd};

use crate::border::{Access, Border, BorderMode, Rect, Sides};
use crate::dtype::DType;
use crate::layout::Layout;
use crate::view::{View, ViewMut};
use crate::window::{Dim, Kernel, ThreadInfo, Window};
use filters::{Box3, Filter, Gaussian3, Gaussian5, Median3, Sobel3};

/// The widest stencil's rows.
pub const ROWS: usize = 5;

/// The most sums that a column of a stencil is made into.
pub const LANES: usize = 3;

crate::named_ops! {
    /// Filters that look at the pixels around one.
    StencilOp {
        /// 1 2 1 by 1 2 1, over 16.
        Gaussian3x3 "gaussian3x3",
        /// 1 4 6 4 1 by 1 4 6 4 1, over 256.
        Gaussian5x5 "gaussian5x5",
        /// The fifth of the nine in order.
        Median3x3 "median3x3",
        /// The mean of the nine.
        Box3x3 "box3x3",
        /// The slopes along rows (-1 0 1 by 1 2 1) and along columns.
        Sobel3x3 "sobel3x3",
    }
}

impl StencilOp {
    /// How far it looks to each side.
    pub const fn radius(self) -> i64 {
        match self {
            StencilOp::Gaussian5x5 => 2,
            _ => 1,
        }
    }

    /// How many results it has.
    pub const fn results(self) -> usize {
        match self {
            StencilOp::Sobel3x3 => 2,
            _ => 1,
        }
    }

    /// The type of its results.
    pub fn result(self, pixel: DType) -> DType {
        match (self, pixel) {
            (StencilOp::Sobel3x3, DType::U8) => DType::I16,
            _ => pixel,
        }
    }
}

/// Elements from the start of a layout to the start of a plane; planes are counted through all but
/// the last `inner` dimensions.
pub(crate) fn plane(layout: &Layout, inner: usize, index: i64) -> isize {
    let (mut left, mut offset) = (index, 0);
    for d in (0..layout.rank() - inner).rev() {
        offset += left % layout.shape()[d] * layout.strides()[d];
        left /= layout.shape()[d];
    }
    offset as isize
}

/// How many planes of `inner` dimensions there are.
pub(crate) fn planes(layout: &Layout, inner: usize) -> i64 {
    layout.shape()[..layout.rank() - inner].iter().product()
}

/// Steps of rows and of columns.
pub(crate) fn steps(layout: &Layout) -> (isize, isize) {
    let strides = &layout.strides()[layout.rank() - 2..];
    (strides[0] as isize, strides[1] as isize)
}

/// Scratch that is handed out piece by piece.
struct Room<'a>(&'a mut [u8]);

/// Where pieces of scratch start.
const ALIGN: usize = 64;

impl<'a> Room<'a> {
    /// `n` elements, not yet written.
    fn take<T>(&mut self, n: usize) -> *mut T {
        let all = core::mem::take(&mut self.0);
        let skip = all.as_ptr().align_offset(ALIGN);
        let (piece, rest) = all[skip..].split_at_mut(n * size_of::<T>());
        self.0 = rest;
        piece.as_mut_ptr().cast()
    }
}

/// A stencil on planes.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Stencil {
    pub op: StencilOp,
    pub arch: Arch,
    pub from: View,
    /// The results; twice the same where there is one.
    pub to: [ViewMut; 2],
    pub mode: BorderMode,
    /// The pixels of each plane that may be read; beyond the plane where there is room around it.
    pub region: Rect,
    /// The pixels of each plane that are computed; without a border mode all their neighbours lie
    /// in the region.
    pub window: Rect,
}

impl Stencil {
    fn rows(&self) -> i64 {
        self.window.bottom - self.window.top
    }

    fn columns(&self) -> i64 {
        self.window.right - self.window.left
    }
}

impl Kernel for Stencil {
    /// Planes, rows, columns.
    fn window(&self) -> Window {
        let Rect { top, left, bottom, right } = self.window;
        let range = |start, end| Dim { start, end, step: 1 };
        let all = planes(&self.from.layout, 2);
        Window::new(&[Dim::upto(all), range(top, bottom), range(left, right)])
    }

    fn split_dim(&self) -> Option<usize> {
        Some(if planes(&self.from.layout, 2) >= self.rows() { 0 } else { 1 })
    }

    fn cost(&self) -> f64 {
        let pixel = match (self.op, self.from.dtype) {
            (StencilOp::Median3x3, _) => 1.5,
            (_, DType::U8) => 0.4,
            _ => 0.8,
        };
        let all = planes(&self.from.layout, 2);
        let rows = if all >= self.rows() { self.rows() } else { all };
        pixel * (self.columns() * rows) as f64
    }

    fn id(&self) -> &'static str {
        self.op.name()
    }

    fn border(&self) -> Border {
        Border { size: Sides::all(self.op.radius()), mode: self.mode }
    }

    fn access(&self) -> Access {
        Access::Rect(Sides::all(self.op.radius()))
    }

    fn scratch(&self) -> usize {
        let wide = (self.columns() + 2 * self.op.radius()) as usize;
        // Sums and results are twice as wide as u8 pixels, and as wide as f32 ones.
        let (pixel, sum) = if self.from.dtype == DType::U8 { (1, 2) } else { (4, 4) };
        let rows = ROWS + 1;
        wide * (rows * pixel + (LANES + 2) * sum) + (rows + LANES + 2 + 1) * ALIGN
    }

    fn run(&self, part: &Window, _: ThreadInfo, scratch: &mut [u8]) {
        match self.from.dtype {
            DType::U8 => self.of::<u8>(part, scratch),
            _ => self.of::<f32>(part, scratch),
        }
    }
}

impl Stencil {
    fn of<T: filters::Pixel>(&self, part: &Window, scratch: &mut [u8]) {
        match self.op {
            StencilOp::Gaussian3x3 => self.with::<Gaussian3<T>>(part, scratch),
            StencilOp::Gaussian5x5 => self.with::<Gaussian5<T>>(part, scratch),
            StencilOp::Median3x3 => self.with::<Median3<T>>(part, scratch),
            StencilOp::Box3x3 => self.with::<Box3<T>>(part, scratch),
            StencilOp::Sobel3x3 => self.with::<Sobel3<T>>(part, scratch),
        }
    }

    fn with<F: Filter>(&self, part: &Window, scratch: &mut [u8]) {
        self.arch.dispatch(Part { stencil: self, part, scratch, filter: PhantomData::<F> })
    }
}

/// A part of the window on its way to the CPU level's code.
struct Part<'a, F> {
    stencil: &'a Stencil,
    part: &'a Window,
    scratch: &'a mut [u8],
    filter: PhantomData<F>,
}

impl<F: Filter> WithSimd for Part<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        if self.part.iterations() == 0 {
            return;
        }
        // SAFETY: whoever made the stencil keeps the storages alive, region and window inside them
        // and inputs apart from results; the scheduler gives each part its own pixels.
        unsafe { self.run() }
    }
}

/// The scratch of a part.
struct Rows<F: Filter> {
    /// The sums of the columns that a row needs.
    sums: [*mut F::Sum; LANES],
    /// Rows of pixels that do not lie side by side.
    gathered: [*mut F::In; ROWS],
    /// A row beyond the edge.
    constant: *mut F::In,
    /// Results that will not lie side by side.
    spread: [*mut F::Out; 2],
}

impl<F: Filter> Part<'_, F> {
    /// Row by row: a pass along the columns makes `LANES` sums of each, the sums are carried over
    /// the plane's edges, and a pass along the row makes the results of neighbouring sums. What a
    /// border mode puts beyond the edge is the same for whole columns, so that no row is copied.
    ///
    /// # Safety
    /// As said in `with_simd`.
    #[inline(always)]
    unsafe fn run(self) {
        let Stencil { from, to, mode, region, .. } = *self.stencil;
        let radius = F::RADIUS as i64;
        let [planes, rows, columns] = [0, 1, 2].map(|d| self.part.dim(d));
        let first = columns.start - radius;
        let n = (columns.end - columns.start) as usize;
        let wide = n + 2 * F::RADIUS;
        // The columns that are there, and how many are missing before them.
        let there = [first.max(region.left), (columns.end + radius).min(region.right)];
        let (missing, m) = ((there[0] - first) as usize, (there[1] - there[0]) as usize);
        let mut room = Room(self.scratch);
        let scratch = Rows::<F> {
            sums: core::array::from_fn(|_| room.take(wide)),
            gathered: core::array::from_fn(|_| room.take(m)),
            constant: room.take(m),
            spread: core::array::from_fn(|_| room.take(n)),
        };
        let value = F::constant(if let BorderMode::Constant(v) = mode { v } else { 0.0 });
        let beyond = F::column(value);
        let (row_step, step) = steps(&from.layout);
        // SAFETY: pieces of scratch of these sizes, written before they are read; rows and columns
        // lie inside the storages.
        unsafe {
            slice::from_raw_parts_mut(scratch.constant, m).fill(value);
            for at in planes.start..planes.end {
                let source = from.start().cast::<F::In>().offset(plane(&from.layout, 2, at));
                let source = source.offset(there[0] as isize * step);
                let places = to.map(|t| t.start().cast::<F::Out>().offset(plane(&t.layout, 2, at)));
                for y in rows.start..rows.end {
                    let mut lines: [&[F::In]; ROWS] = [&[]; ROWS];
                    for (i, line) in lines[..2 * F::RADIUS + 1].iter_mut().enumerate() {
                        let row = mode.place(y + i as i64 - radius, region.top, region.bottom);
                        let start = row.map(|row| source.offset(row as isize * row_step));
                        let start = match start {
                            None => scratch.constant.cast_const(),
                            Some(start) if step == 1 => start,
                            Some(start) => {
                                let to = scratch.gathered[i];
                                for x in 0..m {
                                    *to.add(x) = *start.offset(x as isize * step);
                                }
                                to.cast_const()
                            }
                        };
                        *line = slice::from_raw_parts(start, m);
                    }
                    let sums = scratch.sums;
                    F::columns(lines, sums.map(|s| slice::from_raw_parts_mut(s.add(missing), m)));
                    for i in (0..missing).chain(missing + m..wide) {
                        let place = mode.place(first + i as i64, region.left, region.right);
                        for lane in 0..F::LANES {
                            *sums[lane].add(i) = match place {
                                None => beyond[lane],
                                Some(x) => *sums[lane].add((x - first) as usize),
                            };
                        }
                    }
                    let targets: [_; 2] = core::array::from_fn(|k| {
                        let (row_step, step) = steps(&to[k].layout);
                        let at = y as isize * row_step + columns.start as isize * step;
                        (places[k].offset(at), step)
                    });
                    let row = |k: usize| {
                        let (start, step) = targets[k];
                        // Of one result, the second row is not written.
                        let direct = step == 1 && k < F::RESULTS;
                        slice::from_raw_parts_mut(if direct { start } else { scratch.spread[k] }, n)
                    };
                    F::line(sums.map(|s| slice::from_raw_parts(s, wide)), [row(0), row(1)]);
                    for (k, (start, step)) in targets[..F::RESULTS].iter().enumerate() {
                        if *step != 1 {
                            for x in 0..n {
                                *start.offset(x as isize * step) = *scratch.spread[k].add(x);
                            }
                        }
                    }
                }
            }
        }
    }
}
