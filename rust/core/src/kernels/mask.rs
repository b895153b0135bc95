//! Masks: filling, and picking elements out in row-major order. What is picked is counted first,
//! chunk by chunk of fixed length, so that chunks can write their results side by side.

use pulp::{Arch, Simd, WithSimd};

use crate::block::{BLOCK, Buffer, Operands, gather};
use crate::dtype::{Bool, Element};
use crate::kernels::index::word_of;
use crate::layout::Layout;
use crate::nest::Nest;
use crate::number::Number;
use crate::view::{View, ViewMut};
use crate::window::{Kernel, ThreadInfo, Window};
use crate::{with_dtype, with_word};

/// Elements of a chunk.
pub const CHUNK: i64 = 8192;

/// out = value where the mask holds, else x; elements move bit by bit.
#[derive(Clone, Copy)]
pub struct MaskedFill {
    operands: Operands<2>,
    bits: u64,
}

impl MaskedFill {
    /// Mask and x of the output's shape, x of its dtype; `bits` hold a value of it.
    pub fn new(
        arch: Arch,
        mut out: ViewMut,
        mask: View,
        mut x: View,
        aliased: bool,
        bits: u64,
    ) -> MaskedFill {
        out.dtype = word_of(out.dtype);
        x.dtype = out.dtype;
        MaskedFill { operands: Operands::new(arch, out, [mask, x], aliased), bits }
    }
}

struct Select<'a, T> {
    mask: &'a [T],
    x: &'a [T],
    out: &'a mut [T],
    value: T,
}

impl<T: Number> WithSimd for Select<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let n = self.out.len();
        let (mask, x) = (&self.mask[..n], &self.x[..n]);
        for i in 0..n {
            self.out[i] = if mask[i].is_true() { self.value } else { x[i] };
        }
    }
}

impl Kernel for MaskedFill {
    fn window(&self) -> Window {
        Window::flat(self.operands.nest.numel())
    }

    fn cost(&self) -> f64 {
        0.4
    }

    fn run(&self, part: &Window, _: ThreadInfo, _: &mut [u8]) {
        let dim = part.dim(0);
        let arch = self.operands.arch;
        macro_rules! fill {
            ($t:ty) => {{
                type T = $t;
                let value = T::from_i64(self.bits as i64);
                // SAFETY: whoever made the operands keeps their storages alive and their layouts
                // inside; the scheduler gives each part its own elements.
                unsafe {
                    self.operands.for_blocks::<T, T>(dim.start, dim.end, &mut |[mask, x], out| {
                        arch.dispatch(Select { mask, x, out, value })
                    });
                }
            }};
        }
        match self.operands.out.dtype.size() {
            1 => fill!(u8),
            2 => fill!(i16),
            4 => fill!(i32),
            _ => fill!(i64),
        }
    }
}

/// A tensor seen as truth values, flat in row-major order.
#[derive(Clone, Copy)]
pub struct Mask {
    arch: Arch,
    view: View,
    nest: Nest,
}

impl Mask {
    /// Any dtype: what is not 0 is true.
    pub fn new(arch: Arch, view: View) -> Mask {
        Mask { arch, view, nest: row_major(&view.layout) }
    }

    /// Number of elements.
    pub fn numel(&self) -> i64 {
        self.nest.numel()
    }

    /// Calls `f(start, truths)` for blocks of `[start, end)`.
    ///
    /// # Safety
    /// The view's storage covers its layout and is alive; positions lie in it.
    unsafe fn blocks(&self, start: i64, end: i64, f: &mut dyn FnMut(i64, &[Bool])) {
        let mut buffer = Buffer::<Bool>::default();
        let direct = self.view.dtype == Bool::DTYPE
            && self.nest.rank() == 1
            && self.nest.inner_stride(1) == 1;
        let mut at = start;
        while at < end {
            let n = (end - at).min(BLOCK as i64);
            // SAFETY: as the caller says; gather writes the whole slice.
            let truths = unsafe {
                if direct {
                    let first = self.view.start().cast::<Bool>().offset(at as isize);
                    core::slice::from_raw_parts(first, n as usize)
                } else {
                    let buffer = buffer.slice(n as usize);
                    gather(self.arch, &self.view, &self.nest, 1, at, buffer);
                    buffer
                }
            };
            f(at, truths);
            at += n;
        }
    }

    /// How many are true in `[start, end)`.
    ///
    /// # Safety
    /// The view's storage covers its layout and is alive; positions lie in it.
    pub unsafe fn count(&self, start: i64, end: i64) -> i64 {
        let mut count = 0;
        // SAFETY: as the caller says.
        unsafe {
            self.blocks(start, end, &mut |_, truths| {
                count += self.arch.dispatch(Count(truths)) as i64;
            });
        }
        count
    }

    /// Writes the positions of the true ones in `[start, end)`: at most `out.len()` of them, since
    /// another thread may be changing what was counted. The rest of `out` is set to 0.
    ///
    /// # Safety
    /// The view's storage covers its layout and is alive; positions lie in it.
    pub unsafe fn positions(&self, start: i64, end: i64, out: &mut [i64]) {
        let mut at = 0;
        let mut found = [0u16; BLOCK];
        // SAFETY: as the caller says.
        unsafe {
            self.blocks(start, end, &mut |first, truths| {
                let mut count = 0;
                for (i, truth) in truths.iter().enumerate() {
                    // As in compress: written in any case.
                    found[count & (BLOCK - 1)] = i as u16;
                    count += (truth.0 != 0) as usize;
                }
                let count = count.min(out.len() - at);
                for (to, i) in out[at..at + count].iter_mut().zip(&found) {
                    *to = first + i64::from(*i);
                }
                at += count;
            });
        }
        out[at..].fill(0);
    }
}

/// A nest whose flat positions are row-major and whose operand 1 is the layout.
fn row_major(layout: &Layout) -> Nest {
    // A layout that exists has sizes that a contiguous one can have.
    let dense = Layout::contiguous(layout.shape()).unwrap_or(*layout);
    Nest::new(&[&dense, layout])
}

struct Count<'a>(&'a [Bool]);

impl WithSimd for Count<'_> {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        let mut count = 0;
        // Bytes cannot overflow within 255 additions.
        for chunk in self.0.chunks(128) {
            count += chunk.iter().fold(0u8, |n, b| n + (b.0 != 0) as u8) as usize;
        }
        count
    }
}

/// The elements of x where the mask holds.
#[derive(Clone, Copy)]
pub struct MaskedSelect {
    mask: Mask,
    x: View,
    nest: Nest,
}

impl MaskedSelect {
    /// Both of one shape.
    pub fn new(arch: Arch, mask: View, x: View) -> MaskedSelect {
        MaskedSelect { mask: Mask::new(arch, mask), x, nest: row_major(&x.layout) }
    }

    /// The mask, to count.
    pub fn mask(&self) -> &Mask {
        &self.mask
    }

    /// Writes what is picked in `[start, end)`, `length` elements, from `out` on. Elements beyond
    /// the mask's count (another thread may be changing it) are left as zeros.
    ///
    /// # Safety
    /// The views' storages cover their layouts and are alive; `out` has room for `length` elements
    /// of x's dtype that nobody else touches.
    pub unsafe fn pick(&self, start: i64, end: i64, out: *mut u8, length: usize) {
        with_word!(self.x.dtype.size(), W => {
            // SAFETY: as the caller says.
            unsafe {
                let out = core::slice::from_raw_parts_mut(out.cast::<W>(), length);
                self.pick_words(start, end, out)
            }
        })
    }

    /// # Safety
    /// As [`MaskedSelect::pick`]; W has the size of x's elements.
    unsafe fn pick_words<W: Copy + Default>(&self, start: i64, end: i64, out: &mut [W]) {
        let mut picked = [W::default(); BLOCK];
        let mut block = [W::default(); BLOCK];
        let direct = self.nest.rank() == 1 && self.nest.inner_stride(1) == 1;
        let base = self.x.start().cast::<W>();
        let stride = self.nest.inner_stride(1) as isize;
        let mut at = 0;
        // SAFETY: the nest stays inside the layout, the layout inside the storage.
        unsafe {
            self.mask.blocks(start, end, &mut |first, truths| {
                let n = truths.len();
                let values = if direct {
                    core::slice::from_raw_parts(base.offset(first as isize), n)
                } else {
                    let mut filled = 0;
                    self.nest.pieces(1, first, n as i64, |length, offset| {
                        let from = base.offset(offset as isize);
                        for k in 0..length as usize {
                            block[filled + k] = from.offset(k as isize * stride).read();
                        }
                        filled += length as usize;
                    });
                    &block[..n]
                };
                let count = compress(truths, values, &mut picked).min(out.len() - at);
                out[at..at + count].copy_from_slice(&picked[..count]);
                at += count;
            });
        }
        out[at..].fill(W::default());
    }
}

/// Moves the values whose truth holds to the front of `out`; returns their number.
#[inline(always)]
fn compress<W: Copy>(truths: &[Bool], values: &[W], out: &mut [W; BLOCK]) -> usize {
    let mut count = 0;
    for (truth, value) in truths.iter().zip(values) {
        // Written in any case and overwritten by the next: no branch to mispredict.
        out[count & (BLOCK - 1)] = *value;
        count += (truth.0 != 0) as usize;
    }
    count
}

/// Whether two tensors of one shape and dtype are equal in `[start, end)` of their common nest.
#[derive(Clone, Copy)]
pub struct Equal {
    arch: Arch,
    a: View,
    b: View,
    nest: Nest,
}

struct AllEqual<'a, T>(&'a [T], &'a [T]);

impl<T: Number> WithSimd for AllEqual<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> bool {
        self.0.iter().zip(self.1).fold(true, |all, (a, b)| all & (a == b))
    }
}

impl Equal {
    /// Both of one shape.
    pub fn new(arch: Arch, a: View, b: View) -> Equal {
        Equal { arch, a, b, nest: Nest::new(&[&a.layout, &b.layout]) }
    }

    /// Number of positions.
    pub fn numel(&self) -> i64 {
        self.nest.numel()
    }

    /// Compares a part; `stop` says whether the answer is known already.
    ///
    /// # Safety
    /// The views' storages cover their layouts and are alive; positions lie in the nest.
    pub unsafe fn part(&self, start: i64, end: i64, stop: &dyn Fn() -> bool) -> bool {
        with_dtype!(self.a.dtype, E => {
            type T = <E as Element>::Compute;
            let direct = |view: &View, k| {
                view.dtype == T::DTYPE && self.nest.rank() == 1 && self.nest.inner_stride(k) == 1
            };
            let both = direct(&self.a, 0) && direct(&self.b, 1);
            let block = if both { CHUNK } else { BLOCK as i64 };
            let (mut x, mut y) = (Buffer::<T>::default(), Buffer::<T>::default());
            let mut at = start;
            while at < end && !stop() {
                let n = (end - at).min(block);
                // SAFETY: as the caller says; gather writes the whole slices.
                let equal = unsafe {
                    let (a, b) = if both {
                        let of = |view: &View| {
                            let first = view.start().cast::<T>().offset(at as isize);
                            core::slice::from_raw_parts(first, n as usize)
                        };
                        (of(&self.a), of(&self.b))
                    } else {
                        let (x, y) = (x.slice(n as usize), y.slice(n as usize));
                        gather(self.arch, &self.a, &self.nest, 0, at, x);
                        gather(self.arch, &self.b, &self.nest, 1, at, y);
                        (&*x, &*y)
                    };
                    self.arch.dispatch(AllEqual(a, b))
                };
                if !equal {
                    return false;
                }
                at += n;
            }
            true
        })
    }
}
