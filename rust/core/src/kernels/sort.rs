//! Sorting and selection. An element becomes an item: its order as an unsigned number in the high
//! bits, its place in the line below. Items of a line are all different and compare as numbers, so
//! any sort of them is stable. Every function here works on memory that the caller gives.

pub mod items;
pub mod key;
pub mod radix;
pub mod running;
pub mod select;

use core::slice;

use pulp::{Arch, Simd, WithSimd};

use crate::block::{BLOCK, Buffer, Place, convert};
use crate::dtype::{DType, Element};
use crate::layout::{Layout, LayoutError, MAX_RANK};
use crate::nest::Nest;
use crate::with_dtype;
pub use items::Item;
pub use key::{Key, Word};

/// How elements become items: their keys with `flip` applied, less `base`, are of `bits` bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Order {
    pub flip: u64,
    pub base: u64,
    pub bits: u32,
}

impl Order {
    /// The full range of a type's keys.
    pub fn full<T: Key>(descending: bool) -> Order {
        let ones = T::Bits::ONES.wide();
        Order { flip: if descending { ones } else { 0 }, base: 0, bits: T::BITS }
    }

    /// The range of the keys at hand: least and greatest, in ascending order.
    pub fn within<T: Key>(descending: bool, least: u64, greatest: u64) -> Order {
        let full = Order::full::<T>(descending);
        let (low, high) = (least ^ full.flip, greatest ^ full.flip);
        let base = low.min(high);
        let bits = u64::BITS - low.max(high).wrapping_sub(base).leading_zeros();
        Order { base, bits: bits.max(1), ..full }
    }

    /// The element's key again.
    #[inline(always)]
    fn key<I: Item>(&self, item: I) -> u64 {
        item.key().wrapping_add(self.base) ^ self.flip
    }

    /// Whether an item is a NaN, the greatest of keys.
    #[inline(always)]
    pub fn is_nan<T: Key, I: Item>(&self, item: I) -> bool {
        T::FLOAT && self.key(item) == T::Bits::ONES.wide()
    }
}

/// One dimension of a tensor: where its elements lie.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Line {
    pub first: Place,
    /// Elements.
    pub length: i64,
    /// Elements from one to the next.
    pub step: i64,
}

impl Line {
    /// Reads elements from place `start` on.
    ///
    /// # Safety
    /// The places lie in memory that stays alive.
    unsafe fn read<T: Element>(&self, arch: Arch, start: i64, out: &mut [T]) {
        with_dtype!(self.first.dtype, S => {
            let step = self.step as isize;
            // SAFETY: the caller's promise.
            unsafe {
                let first = self.first.start.cast::<S>().cast_const().offset(start as isize * step);
                if step == 1 {
                    convert(arch, slice::from_raw_parts(first, out.len()), out);
                } else {
                    for (i, v) in out.iter_mut().enumerate() {
                        *v = T::store((*first.offset(i as isize * step)).load());
                    }
                }
            }
        })
    }

    /// `start` elements further on.
    pub fn from(&self, start: i64) -> Line {
        let by = start * self.step * self.first.dtype.size() as i64;
        let first = Place { start: self.first.start.wrapping_offset(by as isize), ..self.first };
        Line { first, length: self.length - start, step: self.step }
    }

    /// Calls `f(place, values)` for blocks of the line.
    ///
    /// # Safety
    /// The line lies in memory that stays alive.
    pub unsafe fn for_blocks<T: Key>(&self, arch: Arch, mut f: impl FnMut(i64, &[T])) {
        let mut buffer = Buffer::<T>::uninit();
        let mut at = 0;
        while at < self.length {
            let n = (self.length - at).min(BLOCK as i64);
            // SAFETY: inside the line; read writes the whole block.
            unsafe {
                let values = buffer.slice(n as usize);
                self.read(arch, at, values);
                f(at, values);
            }
            at += n;
        }
    }

    /// Writes values from place `start` on.
    ///
    /// # Safety
    /// As [`Line::for_blocks`], and nobody else touches these elements.
    pub unsafe fn write<T: Element>(&self, arch: Arch, start: i64, values: &[T]) {
        with_dtype!(self.first.dtype, S => {
            let step = self.step as isize;
            // SAFETY: the caller's promise.
            unsafe {
                let first = self.first.start.cast::<S>().offset(start as isize * step);
                if step == 1 {
                    convert(arch, values, slice::from_raw_parts_mut(first, values.len()));
                } else {
                    for (i, v) in values.iter().enumerate() {
                        *first.offset(i as isize * step) = S::store(v.load());
                    }
                }
            }
        })
    }
}

/// The lines along one dimension of tensors whose other dimensions agree.
#[derive(Clone, Copy, Debug)]
pub struct Lines<const N: usize> {
    others: Nest,
    lines: [Line; N],
    /// How many lines.
    pub count: i64,
}

impl<const N: usize> Lines<N> {
    /// Along dimension `dim` of each tensor, given as its layout and where its first element lies;
    /// a 0-d tensor is a line of one element. Lines are counted in the first one's memory order.
    pub fn new(tensors: [(&Layout, Place); N], dim: usize) -> Result<Lines<N>, LayoutError> {
        let mut others = [Layout::scalar(); N];
        let lines = core::array::from_fn(|i| {
            let (layout, first) = tensors[i];
            let at = |v: &[i64], or: i64| v.get(dim).copied().unwrap_or(or);
            Line { first, length: at(layout.shape(), 1), step: at(layout.strides(), 0) }
        });
        for (other, (layout, _)) in others.iter_mut().zip(&tensors) {
            let (mut sizes, mut strides, mut rank) = ([1; MAX_RANK], [0; MAX_RANK], 0);
            for d in (0..layout.rank()).filter(|d| *d != dim) {
                (sizes[rank], strides[rank]) = (layout.shape()[d], layout.strides()[d]);
                rank += 1;
            }
            *other = Layout::strided(&sizes[..rank], &strides[..rank], 0)?;
        }
        let refs: [&Layout; N] = core::array::from_fn(|i| &others[i]);
        Ok(Lines { others: Nest::new(&refs), lines, count: others[0].numel() })
    }

    /// One of the lines of each tensor.
    #[inline(always)]
    pub fn get(&self, i: i64) -> [Line; N] {
        core::array::from_fn(|k| {
            let Line { first: Place { start, dtype }, length, step } = self.lines[k];
            let by = self.others.offset(k, i) * dtype.size() as i64;
            Line { first: Place { start: start.wrapping_offset(by as isize), dtype }, length, step }
        })
    }
}

struct Pack<'a, T, I> {
    values: &'a [T],
    items: &'a mut [I],
    place: u64,
    order: Order,
}

impl<T: Key, I: Item> WithSimd for Pack<'_, T, I> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, _: V) {
        let flip = T::Bits::narrow(self.order.flip);
        let base = T::Bits::narrow(self.order.base);
        for (i, (item, v)) in self.items.iter_mut().zip(self.values).enumerate() {
            *item = I::new(v.key().xor(flip).less(base).wide(), self.place + i as u64);
        }
    }
}

/// The items of `[start, start + items.len())` of a line.
///
/// # Safety
/// As [`Line::for_blocks`].
pub unsafe fn pack<T: Key, I: Item>(
    arch: Arch,
    line: &Line,
    order: Order,
    start: i64,
    items: &mut [I],
) {
    let part = Line { length: items.len() as i64, ..line.from(start) };
    // SAFETY: the caller's promise.
    unsafe {
        part.for_blocks::<T>(arch, |at, values| {
            let items = &mut items[at as usize..][..values.len()];
            arch.dispatch(Pack { values, items, place: (start + at) as u64, order });
        });
    }
}

struct Extremes<'a, T> {
    values: &'a [T],
}

impl<T: Key> WithSimd for Extremes<'_, T> {
    type Output = (T::Bits, T::Bits, u32);

    #[inline(always)]
    fn with_simd<V: Simd>(self, _: V) -> Self::Output {
        let (mut low, mut high, mut top) = (T::Bits::ONES, T::Bits::ZERO, 0u32);
        for v in self.values {
            let key = v.key();
            low = if key < low { key } else { low };
            high = if key > high { key } else { high };
            top += (key == T::Bits::ONES) as u32;
        }
        (low, high, top)
    }
}

/// What is known of the keys of some elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Range {
    pub least: u64,
    pub greatest: u64,
    /// How many are NaN.
    pub nans: i64,
}

impl Range {
    /// Of no elements.
    pub const EMPTY: Range = Range { least: u64::MAX, greatest: 0, nans: 0 };

    /// Of both.
    pub fn and(self, o: Range) -> Range {
        Range {
            least: self.least.min(o.least),
            greatest: self.greatest.max(o.greatest),
            nans: self.nans + o.nans,
        }
    }
}

/// The keys' range of a line.
///
/// # Safety
/// As [`Line::for_blocks`].
pub unsafe fn range<T: Key>(arch: Arch, line: &Line) -> Range {
    let mut out = Range::EMPTY;
    // SAFETY: the caller's promise.
    unsafe {
        line.for_blocks::<T>(arch, |_, values| {
            let (low, high, top) = arch.dispatch(Extremes { values });
            let nans = if T::FLOAT { i64::from(top) } else { 0 };
            out = out.and(Range { least: low.wide(), greatest: high.wide(), nans });
        });
    }
    out
}

/// Reads one element as a compute value.
///
/// # Safety
/// The address holds an element of type `S`.
unsafe fn load<S: Element<Compute = T>, T>(at: *const u8) -> T {
    // SAFETY: the caller's promise.
    unsafe { at.cast::<S>().read() }.load()
}

/// The function that reads elements of a dtype whose compute type is `T`.
fn loader<T: Key>(dtype: DType) -> unsafe fn(*const u8) -> T {
    with_dtype!(dtype, S => {
        // SAFETY: callers pass the dtype of elements computed in T: both are one type.
        unsafe {
            core::mem::transmute::<
                unsafe fn(*const u8) -> <S as Element>::Compute,
                unsafe fn(*const u8) -> T,
            >(load::<S, <S as Element>::Compute>)
        }
    })
}

/// Writes the elements that items stand for to places `[start, …)` of `values`, and their places in
/// the line to `indices`. A zero's sign and a NaN are taken from the line itself.
///
/// # Safety
/// The lines lie in memory that stays alive, `line` holds elements of a dtype computed in `T`, the
/// items' places are its, and nobody else touches the written elements.
#[allow(clippy::too_many_arguments)]
pub unsafe fn unpack<T: Key, I: Item>(
    arch: Arch,
    line: &Line,
    order: Order,
    items: &[I],
    start: i64,
    values: Option<&Line>,
    indices: Option<&Line>,
) {
    let load = loader::<T>(line.first.dtype);
    let step = line.step as isize * line.first.dtype.size() as isize;
    let (mut block, mut places) = (Buffer::<T>::uninit(), Buffer::<i64>::uninit());
    for (i, items) in items.chunks(BLOCK).enumerate() {
        let at = start + (i * BLOCK) as i64;
        // SAFETY: the caller's promise; buffers are written before they are read.
        unsafe {
            if let Some(values) = values {
                let block = block.slice(items.len());
                for (v, item) in block.iter_mut().zip(items) {
                    *v = T::of_key(T::Bits::narrow(order.key(*item)));
                    if T::FLOAT && !v.is_plain() {
                        let place = item.place() as isize;
                        *v = load(line.first.start.wrapping_offset(place * step));
                    }
                }
                values.write(arch, at, block);
            }
            if let Some(indices) = indices {
                let places = places.slice(items.len());
                for (p, item) in places.iter_mut().zip(items) {
                    *p = item.place() as i64;
                }
                indices.write(arch, at, places);
            }
        }
    }
}
