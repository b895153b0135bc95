//! Reading and writing by index. Both kernels walk an iteration space in which every operand has a
//! layout: the indexed tensor with stride 0 along the indexed dimension, the index with stride 0
//! along those it does not have; one more offset, index times step, places each element.

use core::ptr;
use core::sync::atomic::{AtomicI64, Ordering::Relaxed};

use pulp::{Arch, Simd, WithSimd};

use crate::dtype::{DType, Element};
use crate::layout::Layout;
use crate::nest::Nest;
use crate::number::Number;
use crate::view::{View, ViewMut};
use crate::window::{Kernel, ThreadInfo, Window};
use crate::with_dtype;

/// Runs an expression with `$w` standing for an unsigned word of `$size` bytes.
#[macro_export]
macro_rules! with_word {
    ($size:expr, $w:ident => $body:expr) => {
        match $size {
            1 => {
                type $w = u8;
                $body
            }
            2 => {
                type $w = u16;
                $body
            }
            4 => {
                type $w = u32;
                $body
            }
            _ => {
                type $w = u64;
                $body
            }
        }
    };
}

/// The indices, checked before: contiguous i64 in the storage, `layout` gives each place its own.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Index {
    pub view: View,
    /// Elements of the indexed tensor from one index to the next.
    pub step: i64,
    /// Indices lie in `[0, size)`.
    pub size: i64,
}

impl Index {
    fn base(&self) -> *const i64 {
        self.view.start().cast()
    }

    /// One index. Another thread may be writing the tensor that was checked, so it is held inside.
    ///
    /// # Safety
    /// `at` is an address of the index tensor.
    #[inline(always)]
    unsafe fn load(&self, at: *const i64) -> i64 {
        // SAFETY: aligned and alive, as the caller says; an atomic read may race.
        let value = unsafe { AtomicI64::from_ptr(at.cast_mut()) }.load(Relaxed);
        (value as u64).min(self.size.max(1) as u64 - 1) as i64
    }
}

/// Asks the processor to fetch an address that is read soon; any address may be given.
#[inline(always)]
fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing and SSE is part of x86-64.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(address.cast())
    };
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// How many rows ahead a row is fetched.
const AHEAD: i64 = 12;

/// out = source at index.
#[derive(Clone, Copy)]
pub struct Gather {
    out: ViewMut,
    source: View,
    index: Index,
    nest: Nest,
    /// Flat positions of the nest that are scheduled together: whole rows where there are many.
    grain: i64,
}

impl Gather {
    /// Operands of one shape.
    pub fn new(out: ViewMut, source: View, index: Index) -> Gather {
        let nest = Nest::new(&[&out.layout, &source.layout, &index.view.layout]);
        let rows = nest.numel() / nest.inner().max(1);
        let grain = if rows >= 64 { nest.inner() } else { 1 };
        Gather { out, source, index, nest, grain }
    }

    /// Rows of equal length, dense in both tensors, one index each.
    fn is_rows(&self) -> bool {
        let dense = |k| self.nest.inner_stride(k) == 1;
        self.grain > 1
            && self.nest.rank() == 2
            && dense(0)
            && dense(1)
            && self.nest.inner_stride(2) == 0
    }

    /// # Safety
    /// As [`Kernel::run`]; `is_rows` holds.
    unsafe fn rows<W: Copy>(&self, first: i64, end: i64) {
        let length = self.nest.inner() as usize;
        let index = self.index.base();
        let [o, s, i] = [0, 1, 2].map(|k| self.nest.stride(k, 0));
        // SAFETY: rows first..end lie in the layouts, the index value inside the source.
        unsafe {
            let out = self.out.start().cast::<W>();
            let source = self.source.start().cast::<W>();
            for row in first..end {
                let ahead = (row + AHEAD).min(end - 1);
                let next = self.index.load(index.offset((ahead * i) as isize));
                let soon = source.wrapping_offset((ahead * s + next * self.index.step) as isize);
                prefetch(soon);
                prefetch(soon.wrapping_add(length - 1));
                let at = self.index.load(index.offset((row * i) as isize));
                let from = source.offset((row * s + at * self.index.step) as isize);
                copy_row(from, out.offset((row * o) as isize), length);
            }
        }
    }

    /// # Safety
    /// As [`Kernel::run`].
    unsafe fn elements<W: Copy>(&self, start: i64, end: i64) {
        let [o, s, i] = [0, 1, 2].map(|k| self.nest.inner_stride(k) as isize);
        let out = self.out.start().cast::<W>();
        let source = self.source.start().cast::<W>();
        let (index, step) = (self.index.base(), self.index.step);
        self.nest.runs(start, end - start, |length, [to, from, at]| {
            // SAFETY: the nest stays inside the layouts, the index value inside the source.
            unsafe {
                let to = out.offset(to as isize);
                let at = index.offset(at as isize);
                if i == 0 {
                    let from = source.offset((from + self.index.load(at) * step) as isize);
                    if o == 1 && s == 1 {
                        return copy_row(from, to, length as usize);
                    }
                    for k in 0..length as isize {
                        to.offset(k * o).write(from.offset(k * s).read());
                    }
                    return;
                }
                let from = source.offset(from as isize);
                for k in 0..length as isize {
                    let at = self.index.load(at.offset(k * i)) * step;
                    to.offset(k * o).write(from.offset(k * s + at as isize).read());
                }
            }
        });
    }
}

/// Copies a row; short ones without a call.
///
/// # Safety
/// Both rows lie in their storages and do not overlap.
#[inline(always)]
unsafe fn copy_row<W: Copy>(from: *const W, to: *mut W, length: usize) {
    type Piece = [u64; 4];
    let bytes = length * size_of::<W>();
    // SAFETY: as the caller says; bytes may be copied whatever they mean.
    unsafe {
        if bytes.is_multiple_of(size_of::<Piece>()) && bytes <= 512 {
            for k in 0..bytes / size_of::<Piece>() {
                let piece = from.cast::<Piece>().add(k).read_unaligned();
                to.cast::<Piece>().add(k).write_unaligned(piece);
            }
        } else {
            ptr::copy_nonoverlapping(from, to, length);
        }
    }
}

impl Kernel for Gather {
    fn window(&self) -> Window {
        Window::flat(self.nest.numel() / self.grain)
    }

    fn cost(&self) -> f64 {
        let size = self.out.dtype.size() as f64;
        if self.grain == 1 {
            return 1.5;
        }
        5.0 + self.grain as f64 * if self.nest.inner_stride(2) == 0 { 0.1 * size } else { 1.0 }
    }

    fn run(&self, part: &Window, _: ThreadInfo, _: &mut [u8]) {
        let dim = part.dim(0);
        with_word!(self.out.dtype.size(), W => {
            // SAFETY: whoever made the kernel keeps the storages alive and the layouts inside; the
            // scheduler gives each part its own elements of the output.
            unsafe {
                if self.is_rows() {
                    self.rows::<W>(dim.start, dim.end)
                } else {
                    self.elements::<W>(dim.start * self.grain, dim.end * self.grain)
                }
            }
        })
    }
}

/// What a scatter does with an element and its target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Write {
    /// The target takes the element's value; of several the last in row-major order counts.
    Set,
    /// The target grows by the element, in row-major order: sums do not depend on threads.
    Add,
}

/// How a scatter is cut into parts that meet in no target element.
#[derive(Clone, Copy)]
enum Cut {
    /// Along a dimension of the iteration space that is not indexed.
    Dim(usize),
    /// By index: each part walks everything and writes the targets of its range. That pays where
    /// an index stands for a row.
    Range,
    /// Not at all.
    Whole,
}

/// target at index = or += source.
#[derive(Clone, Copy)]
pub struct Scatter {
    arch: Arch,
    target: ViewMut,
    source: View,
    index: Index,
    write: Write,
    cut: Cut,
}

/// A dimension shorter than this is not worth cutting along.
const WIDE: i64 = 32;

/// A row shorter than this is not worth deciding about once a part.
const ROW: i64 = 8;

impl Scatter {
    /// Operands of one shape and, for sums, one dtype. Two places of the iteration space meet in a
    /// target only where all dimensions along which the target has a stride agree.
    pub fn new(arch: Arch, target: ViewMut, source: View, index: Index, write: Write) -> Scatter {
        let (sizes, strides) = (target.layout.shape(), target.layout.strides());
        let wide = (0..sizes.len()).filter(|d| strides[*d] != 0 && sizes[*d] >= WIDE);
        // The outermost in memory: parts stay far from each other.
        let cut = wide.max_by_key(|d| strides[*d]).map(Cut::Dim);
        let cut = cut.unwrap_or_else(|| {
            let nest = Nest::new(&[&index.view.layout]);
            let rows = nest.inner_stride(0) == 0 && nest.inner() >= ROW;
            if rows { Cut::Range } else { Cut::Whole }
        });
        Scatter { arch, target, source, index, write, cut }
    }

    fn part(&self, lo: i64, hi: i64) -> Scatter {
        let mut out = *self;
        if let Cut::Dim(d) = self.cut {
            // A part of the window always fits; an empty layout would write nothing.
            let narrow = |l: &Layout| l.narrow(d as i64, lo, hi - lo).unwrap_or(*l);
            out.target.layout = narrow(&self.target.layout);
            out.source.layout = narrow(&self.source.layout);
            out.index.view.layout = narrow(&self.index.view.layout);
        }
        out
    }

    /// Calls `run(target, source, length)` for runs of one index and `one(target, source)` for
    /// single elements.
    ///
    /// # Safety
    /// As [`Kernel::run`].
    #[inline(always)]
    unsafe fn walk<T: Copy>(
        &self,
        range: core::ops::Range<i64>,
        run: impl Fn(*mut T, *const T, usize),
        one: impl Fn(*mut T, *const T),
    ) {
        // The index first: the walk follows its order, so that the last of several writes wins.
        let nest = Nest::new(&[&self.index.view.layout, &self.target.layout, &self.source.layout]);
        let [i, t, s] = [0, 1, 2].map(|k| nest.inner_stride(k) as isize);
        let target = self.target.start().cast::<T>();
        let source = self.source.start().cast::<T>();
        let (index, step) = (self.index.base(), self.index.step);
        nest.runs(0, nest.numel(), |length, [at, to, from]| {
            // SAFETY: the nest stays inside the layouts, the index value inside the target.
            unsafe {
                let at = index.offset(at as isize);
                let to = target.offset(to as isize);
                let from = source.offset(from as isize);
                if i == 0 {
                    let value = self.index.load(at);
                    if !range.contains(&value) {
                        return;
                    }
                    let to = to.offset((value * step) as isize);
                    if t == 1 && s == 1 {
                        return run(to, from, length as usize);
                    }
                    for k in 0..length as isize {
                        one(to.offset(k * t), from.offset(k * s));
                    }
                    return;
                }
                for k in 0..length as isize {
                    let value = self.index.load(at.offset(k * i));
                    if range.contains(&value) {
                        one(to.offset(k * t + (value * step) as isize), from.offset(k * s));
                    }
                }
            }
        });
    }

    /// # Safety
    /// As [`Kernel::run`].
    unsafe fn set<W: Copy>(&self, range: core::ops::Range<i64>) {
        // SAFETY: walk gives places inside the storages; source and target share none.
        unsafe {
            self.walk::<W>(
                range,
                |to, from, length| copy_row(from, to, length),
                |to, from| to.write(from.read()),
            )
        }
    }

    /// # Safety
    /// As [`Kernel::run`].
    unsafe fn add<T: Element>(&self, range: core::ops::Range<i64>) {
        // SAFETY: as in set.
        unsafe {
            self.walk::<T>(
                range,
                |to, from, length| {
                    let to = core::slice::from_raw_parts_mut(to, length);
                    let from = core::slice::from_raw_parts(from, length);
                    self.arch.dispatch(AddRow { to, from });
                },
                |to, from| to.write(plus(to.read(), from.read())),
            )
        }
    }
}

#[inline(always)]
fn plus<T: Element>(a: T, b: T) -> T {
    T::store(a.load().add(b.load()))
}

struct AddRow<'a, T> {
    to: &'a mut [T],
    from: &'a [T],
}

impl<T: Element> WithSimd for AddRow<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (to, from) in self.to.iter_mut().zip(self.from) {
            *to = plus(*to, *from);
        }
    }
}

impl Kernel for Scatter {
    fn window(&self) -> Window {
        let nothing = self.index.view.layout.numel() == 0;
        Window::flat(match self.cut {
            _ if nothing => 0,
            Cut::Dim(d) => self.target.layout.shape()[d],
            Cut::Range => self.index.size,
            Cut::Whole => 1,
        })
    }

    fn cost(&self) -> f64 {
        let work = 2.0 * self.index.view.layout.numel() as f64;
        work / self.window().iterations().max(1) as f64
    }

    fn run(&self, part: &Window, info: ThreadInfo, _: &mut [u8]) {
        let dim = part.dim(0);
        let (kernel, range) = match self.cut {
            Cut::Dim(_) => (self.part(dim.start, dim.end), 0..i64::MAX),
            Cut::Whole => (*self, 0..i64::MAX),
            Cut::Range if info.total == 1 => (*self, 0..i64::MAX),
            Cut::Range => (*self, dim.start..dim.end),
        };
        // SAFETY: whoever made the kernel keeps the storages alive and the layouts inside; parts
        // meet in no target element.
        unsafe {
            match self.write {
                Write::Set => with_word!(self.target.dtype.size(), W => kernel.set::<W>(range)),
                Write::Add => with_dtype!(self.target.dtype, T => kernel.add::<T>(range)),
            }
        }
    }
}

/// The type that moves elements of another type's size bit by bit.
pub fn word_of(dtype: DType) -> DType {
    match dtype.size() {
        1 => DType::U8,
        2 => DType::I16,
        4 => DType::I32,
        _ => DType::I64,
    }
}

/// The least and the greatest of some indices.
pub fn extremes(arch: Arch, indices: &[i64]) -> (i64, i64) {
    struct Extremes<'a>(&'a [i64]);
    impl WithSimd for Extremes<'_> {
        type Output = (i64, i64);

        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> (i64, i64) {
            let mut least = [i64::MAX; 8];
            let mut greatest = [i64::MIN; 8];
            let chunks = self.0.chunks_exact(8);
            for v in chunks.remainder() {
                least[0] = least[0].min(*v);
                greatest[0] = greatest[0].max(*v);
            }
            for chunk in chunks {
                for k in 0..8 {
                    least[k] = least[k].min(chunk[k]);
                    greatest[k] = greatest[k].max(chunk[k]);
                }
            }
            let least = least.into_iter().fold(i64::MAX, i64::min);
            (least, greatest.into_iter().fold(i64::MIN, i64::max))
        }
    }
    arch.dispatch(Extremes(indices))
}
