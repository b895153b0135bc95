//! Elementwise work block by block: operands that are contiguous and of the compute type are used
//! in place; the others pass through buffers small enough for the first-level cache. So a kernel's
//! body sees only slices of one type, whatever the layouts and dtypes.

use core::mem::MaybeUninit;
use core::slice;

use pulp::{Arch, Simd, WithSimd};

use crate::dtype::{DType, Element};
use crate::nest::Nest;
use crate::number::Number;
use crate::view::{View, ViewMut};
use crate::with_dtype;

/// Elements a buffer holds.
pub const BLOCK: usize = 512;

/// Rows at least this long are walked one by one.
const LONG_ROW: i64 = 64;

/// Room for one block, not initialised.
pub struct Buffer<T>(MaybeUninit<[T; BLOCK]>);

impl<T: Copy> Buffer<T> {
    /// A buffer whose elements are to be written before they are read. Inlined, so that it is made
    /// in place and never copied.
    #[inline(always)]
    pub const fn uninit() -> Self {
        Buffer(MaybeUninit::uninit())
    }

    /// The first `n` elements.
    ///
    /// # Safety
    /// The caller writes every element before reading it.
    #[inline(always)]
    pub unsafe fn slice(&mut self, n: usize) -> &mut [T] {
        assert!(n <= BLOCK);
        // SAFETY: in bounds; T is a plain number and the caller writes before it reads.
        unsafe { slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), n) }
    }
}

struct Convert<'a, S, D> {
    src: &'a [S],
    dst: &'a mut [D],
}

impl<S: Element, D: Element> WithSimd for Convert<'_, S, D> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, _: V) {
        for (d, s) in self.dst.iter_mut().zip(self.src) {
            *d = D::store(s.load());
        }
    }
}

/// Converts a run of elements.
pub fn convert<S: Element, D: Element>(arch: Arch, src: &[S], dst: &mut [D]) {
    debug_assert_eq!(src.len(), dst.len());
    arch.dispatch(Convert { src, dst });
}

/// Where an operand's first element lies, and its type; the nest knows the rest of its layout.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Place {
    pub start: *mut u8,
    pub dtype: DType,
}

// SAFETY: an address with a type, as a view.
unsafe impl Send for Place {}
// SAFETY: as above.
unsafe impl Sync for Place {}

impl From<&View> for Place {
    fn from(view: &View) -> Place {
        Place { start: view.start().cast_mut(), dtype: view.dtype }
    }
}

impl From<&ViewMut> for Place {
    fn from(view: &ViewMut) -> Place {
        Place { start: view.start(), dtype: view.dtype }
    }
}

/// Reads flat positions `[start, start + out.len())` of an operand.
///
/// # Safety
/// The operand's storage covers its layout, the nest was made from that at `operand`, and the
/// positions lie inside the nest.
pub unsafe fn gather<T: Element>(
    arch: Arch,
    place: impl Into<Place>,
    nest: &Nest,
    operand: usize,
    start: i64,
    out: &mut [T],
) {
    let place = place.into();
    with_dtype!(place.dtype, S => {
        let base = place.start.cast::<S>().cast_const();
        let stride = nest.inner_stride(operand) as isize;
        let mut at = 0;
        nest.pieces(operand, start, out.len() as i64, |length, offset| {
            let length = length as usize;
            let dst = &mut out[at..at + length];
            at += length;
            // SAFETY: the nest stays inside the layout, the layout inside the storage.
            unsafe {
                let src = base.offset(offset as isize);
                match stride {
                    1 => convert(arch, slice::from_raw_parts(src, length), dst),
                    0 => dst.fill(T::store((*src).load())),
                    -1 => {
                        let first = src.offset(1 - length as isize);
                        let from = slice::from_raw_parts(first, length);
                        for (d, s) in dst.iter_mut().zip(from.iter().rev()) {
                            *d = T::store(s.load());
                        }
                    }
                    _ => {
                        for (i, d) in dst.iter_mut().enumerate() {
                            *d = T::store((*src.offset(i as isize * stride)).load());
                        }
                    }
                }
            }
        });
    })
}

/// Writes flat positions `[start, start + values.len())` of operand 0.
///
/// # Safety
/// As [`gather`], and nobody else reads or writes these elements meanwhile.
pub unsafe fn scatter<T: Element>(
    arch: Arch,
    place: impl Into<Place>,
    nest: &Nest,
    start: i64,
    values: &[T],
) {
    let place = place.into();
    with_dtype!(place.dtype, D => {
        let base = place.start.cast::<D>();
        let stride = nest.inner_stride(0) as isize;
        let mut at = 0;
        nest.pieces(0, start, values.len() as i64, |length, offset| {
            let length = length as usize;
            let src = &values[at..at + length];
            at += length;
            // SAFETY: as in gather; the elements are ours to write.
            unsafe {
                let dst = base.offset(offset as isize);
                if stride == 1 {
                    convert(arch, src, slice::from_raw_parts_mut(dst, length));
                } else {
                    for (i, s) in src.iter().enumerate() {
                        *dst.offset(i as isize * stride) = D::store(s.load());
                    }
                }
            }
        });
    })
}

/// What is done with a block: inputs of one type, an output of another.
pub type BlockFn<'a, const N: usize, T, U> = dyn FnMut([&[T]; N], &mut [U]) + 'a;

/// The operands of an elementwise kernel and the loops over them.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Operands<const N: usize> {
    pub arch: Arch,
    pub out: Place,
    pub inputs: [Place; N],
    /// The output shares its storage with an input: inputs are copied out block by block.
    pub aliased: bool,
    pub nest: Nest,
}

impl<const N: usize> Operands<N> {
    /// Operands of one shape; broadcast inputs have stride 0.
    pub fn new(arch: Arch, out: ViewMut, inputs: [View; N], aliased: bool) -> Self {
        let mut layouts = [&out.layout; 4];
        for (to, view) in layouts[1..].iter_mut().zip(&inputs) {
            *to = &view.layout;
        }
        let nest = Nest::new(&layouts[..N + 1]);
        let inputs = core::array::from_fn(|i| Place::from(&inputs[i]));
        Operands { arch, out: Place::from(&out), inputs, aliased, nest }
    }

    /// Calls `f(inputs, output)` for blocks of flat positions `[start, end)`.
    ///
    /// # Safety
    /// The views' storages cover their layouts and stay alive; nobody else touches the output's
    /// elements at these positions meanwhile.
    pub unsafe fn for_blocks<T: Number + Element, U: Element>(
        &self,
        start: i64,
        end: i64,
        f: &mut BlockFn<N, T, U>,
    ) {
        let nest = &self.nest;
        let direct: [bool; N] = core::array::from_fn(|i| {
            self.inputs[i].dtype == T::DTYPE && nest.inner_stride(i + 1) == 1 && !self.aliased
        });
        let out_direct = self.out.dtype == U::DTYPE && nest.inner_stride(0) == 1;
        let inner = nest.inner();
        // Long rows are walked one by one so that operands in place need no copy; short ones are
        // gathered across rows.
        let flat = nest.is_flat();
        let rows = flat || inner >= LONG_ROW || start / inner == (end - 1).max(start) / inner;
        if !(rows && out_direct && direct.iter().all(|d| *d)) {
            // SAFETY: the caller's promises are passed on.
            return unsafe { self.buffered(start, end, rows.then_some((direct, out_direct)), f) };
        }
        let mut at = start;
        while at < end {
            let n = if flat { end - at } else { (inner - at % inner).min(end - at) };
            // SAFETY: positions inside the nest, rows of unit stride; the inputs are slices that no
            // output shares (aliased turns this path off).
            unsafe {
                let slices = core::array::from_fn(|i| {
                    let first = self.inputs[i].start.cast::<T>();
                    slice::from_raw_parts(first.offset(nest.offset(i + 1, at) as isize), n as usize)
                });
                let first = self.out.start.cast::<U>().offset(nest.offset(0, at) as isize);
                f(slices, slice::from_raw_parts_mut(first, n as usize));
            }
            at += n;
        }
    }

    /// [`Operands::for_blocks`] where an operand needs a buffer. `in_place` says which inputs, and
    /// whether the output, may be used as they lie, row by row.
    ///
    /// # Safety
    /// As for `for_blocks`.
    #[inline(never)]
    unsafe fn buffered<T: Number + Element, U: Element>(
        &self,
        start: i64,
        end: i64,
        in_place: Option<([bool; N], bool)>,
        f: &mut BlockFn<N, T, U>,
    ) {
        let Operands { arch, out, inputs, aliased, ref nest } = *self;
        let rows = in_place.is_some();
        let (direct, out_direct) = in_place.unwrap_or(([false; N], false));
        let mut buffers: [Buffer<T>; N] = [const { Buffer::uninit() }; N];
        let mut result = Buffer::<U>::uninit();
        let constant: [bool; N] =
            core::array::from_fn(|i| nest.is_constant(i + 1) && !aliased && start < end);
        for i in 0..N {
            if constant[i] {
                let n = (end - start).min(BLOCK as i64) as usize;
                // SAFETY: all positions are the same element; the buffer is written here.
                unsafe { gather(arch, inputs[i], nest, i + 1, start, buffers[i].slice(n)) };
            }
        }
        let mut at = start;
        while at < end {
            let room = if rows { nest.inner() - at % nest.inner() } else { i64::MAX };
            let n = room.min(BLOCK as i64).min(end - at);
            let count = n as usize;
            // SAFETY: positions inside the nest; slices in place are inputs that no output shares
            // (aliased turns them off), or the output's own elements.
            unsafe {
                let mut slices: [&[T]; N] = [&[]; N];
                for (i, buffer) in buffers.iter_mut().enumerate() {
                    slices[i] = if constant[i] {
                        buffer.slice(count)
                    } else if direct[i] {
                        let first = inputs[i].start.cast::<T>();
                        slice::from_raw_parts(first.offset(nest.offset(i + 1, at) as isize), count)
                    } else {
                        let to = buffer.slice(count);
                        gather(arch, inputs[i], nest, i + 1, at, to);
                        to
                    };
                }
                if out_direct {
                    let first = out.start.cast::<U>().offset(nest.offset(0, at) as isize);
                    f(slices, slice::from_raw_parts_mut(first, count));
                } else {
                    let to = result.slice(count);
                    f(slices, to);
                    scatter(arch, out, nest, at, to);
                }
            }
            at += n;
        }
    }
}
