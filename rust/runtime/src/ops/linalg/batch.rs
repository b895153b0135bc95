//! Batches of matrices: checks, results, scratch, and the loop over them.
//!
//! Matrices of results lie column by column, as libtorch's do. Each matrix of a batch is computed
//! by one task, so that a result has the same bits however many threads there are.

use std::mem::MaybeUninit;
use std::sync::Mutex;
use std::sync::PoisonError;

use faer::dyn_stack::{MemStack, StackReq};
use faer::{MatMut, MatRef};
use wick_core::kernels::linalg::Columns;
use wick_core::layout::broadcast;
use wick_core::{DType, Layout, Nest, Real};
use wick_dense::Dense;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::scratch::Room;
use crate::tensor::Tensor;

/// The two types that decompositions are computed in.
pub(super) trait Float: Dense + Real {}
impl Float for f32 {}
impl Float for f64 {}

/// Runs an expression with `$t` standing for f32 or f64.
macro_rules! with_float {
    ($dtype:expr, $t:ident => $body:expr) => {
        match $dtype {
            ::wick_core::DType::F64 => {
                type $t = f64;
                $body
            }
            _ => {
                type $t = f32;
                $body
            }
        }
    };
}
pub(super) use with_float;

/// Checks that the operands have one dtype, f32 or f64.
pub(super) fn check_float(op: &'static str, operands: &[&Tensor]) -> Result<DType> {
    let dtype = operands[0].dtype();
    if operands.iter().any(|t| t.dtype() != dtype) {
        return Err(Error::dtype(op, operands, "expected one dtype: cast first"));
    }
    if !matches!(dtype, DType::F32 | DType::F64) {
        return Err(Error::dtype(op, operands, "expected f32 or f64: cast first"));
    }
    Ok(dtype)
}

/// Checks that a tensor holds matrices; their rows and columns.
pub(super) fn check_matrix(op: &'static str, a: &Tensor) -> Result<(usize, usize)> {
    if a.rank() < 2 {
        return Err(Error::shape(op, &[a], "expected a matrix or a batch of matrices"));
    }
    Ok((last(a, 2), last(a, 1)))
}

/// Checks that a tensor holds square matrices; their size.
pub(super) fn check_square(op: &'static str, a: &Tensor) -> Result<usize> {
    match check_matrix(op, a)? {
        (m, n) if m == n => Ok(n),
        (m, n) => Err(Error::shape(op, &[a], format!("expected square matrices, not {m} by {n}"))),
    }
}

/// A product of sizes, for the time that something takes.
pub(super) fn volume<const N: usize>(sizes: [usize; N]) -> f64 {
    sizes.iter().map(|n| *n as f64).product()
}

/// Size of a dimension counted from the last, which is 1.
pub(super) fn last(t: &Tensor, d: usize) -> usize {
    t.shape()[t.rank() - d] as usize
}

/// The dimensions before the last two.
pub(super) fn batch_shape(t: &Tensor) -> &[i64] {
    &t.shape()[..t.rank() - 2]
}

/// The batch shape that both broadcast to.
pub(super) fn common_batch(op: &'static str, a: &Tensor, b: &Tensor) -> Result<Vec<i64>> {
    let (x, y) = (batch_shape(a), batch_shape(b));
    match broadcast(x, y) {
        Ok((sizes, rank)) => Ok(sizes[..rank].to_vec()),
        Err(_) => {
            let text = format!("the batch sizes {x:?} and {y:?} do not fit each other");
            Err(Error::shape(op, &[a, b], text))
        }
    }
}

/// Matrices repeated along the batch dimensions that they lack.
pub(super) fn expand_batch(op: &'static str, t: &Tensor, batch: &[i64]) -> Result<Tensor> {
    t.broadcast_to(op, &[batch, &t.shape()[t.rank() - 2..]].concat())
}

/// A new tensor of matrices, each column by column; its elements not yet written.
pub(super) fn matrices(
    ctx: &Context,
    op: &'static str,
    dtype: DType,
    batch: &[i64],
    (m, n): (usize, usize),
) -> Result<Tensor> {
    let t = Tensor::empty(ctx, op, dtype, &[batch, &[n as i64, m as i64]].concat())?;
    t.with_layout(op, t.layout().transpose(-2, -1))
}

/// A new tensor of vectors; its elements not yet written.
pub(super) fn vectors(
    ctx: &Context,
    op: &'static str,
    dtype: DType,
    batch: &[i64],
    n: usize,
) -> Result<Tensor> {
    Tensor::empty(ctx, op, dtype, &[batch, &[n as i64]].concat())
}

/// The matrices of a tensor: address of the first element, sizes and steps. The tensor that it was
/// made of keeps the memory alive while an operation runs.
#[derive(Clone, Copy)]
pub(super) struct Mats<T> {
    ptr: *mut T,
    pub m: usize,
    pub n: usize,
    rows: isize,
    cols: isize,
    /// From one matrix to the next; results only.
    step: isize,
}

// SAFETY: an address with a description; each matrix is one task's.
unsafe impl<T> Send for Mats<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Mats<T> {}

impl<T> Mats<T> {
    /// Where a tensor's first element lies; an empty one has none.
    fn start(t: &Tensor) -> *mut T {
        if t.numel() == 0 { std::ptr::dangling_mut() } else { t.place().start.cast() }
    }

    /// Of the last two dimensions.
    pub fn of(t: &Tensor) -> Mats<T> {
        let strides = t.layout().strides();
        let (m, n) = (last(t, 2), last(t, 1));
        let rank = t.rank();
        Mats {
            ptr: Mats::start(t),
            m,
            n,
            rows: strides[rank - 2] as isize,
            cols: strides[rank - 1] as isize,
            step: (m * n) as isize,
        }
    }

    /// Of a new tensor of vectors, each a column.
    pub fn columns(t: &Tensor) -> Mats<T> {
        let n = last(t, 1);
        Mats { ptr: Mats::start(t), m: n, n: 1, rows: 1, cols: n as isize, step: n as isize }
    }

    /// Of a new tensor of numbers.
    pub fn numbers(t: &Tensor) -> Mats<T> {
        Mats { ptr: Mats::start(t), m: 1, n: 1, rows: 1, cols: 1, step: 1 }
    }

    /// The matrix of an operand at an element offset.
    ///
    /// # Safety
    /// The offset is one of the tensor's batch; nobody writes the elements meanwhile.
    pub unsafe fn at<'a>(&self, offset: isize) -> MatRef<'a, T> {
        let ptr = self.ptr.wrapping_offset(offset);
        // SAFETY: the layout lies inside the storage.
        unsafe { MatRef::from_raw_parts(ptr, self.m, self.n, self.rows, self.cols) }
    }

    /// Matrix `i` of a result.
    ///
    /// # Safety
    /// The task is the only one that has it.
    pub unsafe fn result<'a>(&self, i: i64) -> MatMut<'a, T> {
        let ptr = self.ptr.wrapping_offset(i as isize * self.step);
        // SAFETY: the layout lies inside the storage.
        unsafe { MatMut::from_raw_parts_mut(ptr, self.m, self.n, self.rows, self.cols) }
    }

    /// The numbers of matrix `i` of a result that is dense.
    ///
    /// # Safety
    /// As [`Mats::result`].
    pub unsafe fn slice<'a>(&self, i: i64) -> &'a mut [T] {
        let ptr = self.ptr.wrapping_offset(i as isize * self.step);
        // SAFETY: a new tensor's matrices are dense.
        unsafe { std::slice::from_raw_parts_mut(ptr, self.m * self.n) }
    }
}

/// What is wrong with one matrix.
pub(super) enum Fault {
    /// What to say of it after "the matrix".
    Matrix(String),
    /// Not the matrix's: no memory, for example.
    Other(Error),
}

impl From<Error> for Fault {
    fn from(e: Error) -> Fault {
        Fault::Other(e)
    }
}

impl Fault {
    pub fn matrix(text: impl Into<String>) -> Fault {
        Fault::Matrix(text.into())
    }

    /// A pivot of an LU factorization is 0; counted from 1 as in libtorch.
    pub fn singular(pivot: usize) -> Fault {
        Fault::Matrix(format!("is singular: pivot {} of its LU factors is 0", pivot + 1))
    }
}

/// The loop over the matrices of operands that have one batch shape; it counts in row-major order.
pub(super) struct Batch {
    nest: Nest,
    pub shape: Vec<i64>,
    pub count: i64,
}

impl Batch {
    /// Of up to three operands.
    pub fn new(operands: &[&Tensor]) -> Batch {
        let shape = batch_shape(operands[0]);
        // Parts of valid layouts are valid.
        let outer = |t: &Tensor| {
            let rank = t.rank() - 2;
            let strides = &t.layout().strides()[..rank];
            Layout::strided(&t.shape()[..rank], strides, 0).unwrap_or(Layout::scalar())
        };
        let counter = Layout::contiguous(shape).unwrap_or(Layout::scalar());
        let layouts: Vec<Layout> =
            std::iter::once(counter).chain(operands.iter().map(|t| outer(t))).collect();
        let all: Vec<&Layout> = layouts.iter().collect();
        Batch { nest: Nest::new(&all), shape: shape.to_vec(), count: shape.iter().product() }
    }

    /// Where matrix `i` of an operand begins, in elements after the first.
    pub fn offset(&self, operand: usize, i: i64) -> isize {
        self.nest.offset(operand + 1, i) as isize
    }

    /// Runs `f(i, stack)` for each matrix, which takes about `cost` nanoseconds and wants scratch.
    /// The fault of the first matrix that has one comes out as the operation's error.
    pub fn each(
        &self,
        ctx: &Context,
        (op, operands): (&'static str, &[&Tensor]),
        cost: f64,
        scratch: StackReq,
        f: &(dyn Fn(i64, &mut MemStack) -> std::result::Result<(), Fault> + Sync),
    ) -> Result<()> {
        let first: Mutex<Option<(i64, Fault)>> = Mutex::new(None);
        let run = |start: i64, end: i64| -> std::result::Result<(), (i64, Fault)> {
            // More than can be is refused as any other size that is not there.
            let bytes = scratch.unaligned_bytes_required().min(isize::MAX as usize / 2);
            let room = Room::<MaybeUninit<u8>>::new(ctx, bytes);
            let mut room = room.map_err(|e| (start, Fault::Other(e)))?;
            for i in start..end {
                f(i, MemStack::new(room.slice())).map_err(|fault| (i, fault))?;
            }
            Ok(())
        };
        ctx.for_ranges(self.count, cost, &|start, end| {
            if start == end {
                return;
            }
            if let Err(fault) = run(start, end) {
                let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
                if first.as_ref().is_none_or(|(i, _)| fault.0 < *i) {
                    *first = Some(fault);
                }
            }
        });
        match first.into_inner().unwrap_or_else(PoisonError::into_inner) {
            None => Ok(()),
            Some((_, Fault::Other(e))) => Err(e),
            Some((i, Fault::Matrix(text))) => {
                let which = if self.shape.is_empty() {
                    "the matrix".to_owned()
                } else {
                    format!("matrix {:?} of the batch", index_of(i, &self.shape))
                };
                Err(Error::linalg(op, operands, format!("{which} {text}")))
            }
        }
    }
}

/// The index of a place counted in row-major order.
fn index_of(mut i: i64, shape: &[i64]) -> Vec<i64> {
    let mut index = vec![0; shape.len()];
    for (at, size) in index.iter_mut().zip(shape).rev() {
        *at = i % size;
        i /= size;
    }
    index
}

/// Columns as far apart as a decomposition likes them: apart from multiples of the page size, where
/// a row's elements would fall into few cache lines.
fn leading<T>(m: usize) -> usize {
    if (m * size_of::<T>()).is_multiple_of(512) { m + 64 / size_of::<T>() } else { m }
}

/// What [`matrix`] takes of a stack.
pub(super) fn matrix_scratch<T>(m: usize, n: usize) -> StackReq {
    match leading::<T>(m).checked_mul(n) {
        Some(count) => StackReq::new_aligned::<T>(count, 64),
        None => StackReq::OVERFLOW,
    }
}

/// A column-major matrix of a stack, not yet written.
pub(super) fn matrix<T: Float>(
    stack: &mut MemStack,
    m: usize,
    n: usize,
) -> (MatMut<'_, T>, &mut MemStack) {
    let ld = leading::<T>(m);
    let (room, rest) = stack.make_aligned_uninit::<T>(ld * n, 64);
    let ptr = room.as_mut_ptr().cast::<T>();
    // SAFETY: in bounds. Floats of any bits are floats, and the callers write before they read.
    (unsafe { MatMut::from_raw_parts_mut(ptr, m, n, 1, ld as isize) }, rest)
}

/// A matrix whose columns are dense, for the kernels.
pub(super) fn columns<T: Float>(a: &mut MatMut<'_, T>) -> Columns<T> {
    debug_assert!(a.row_stride() == 1 || a.nrows() <= 1);
    let ld = a.col_stride().unsigned_abs();
    Columns { ptr: a.as_ptr_mut(), rows: a.nrows(), cols: a.ncols(), ld }
}

/// Side of the squares that a transposing copy moves.
const SQUARE: usize = 16;

/// `to` takes the elements of `from`.
pub(super) fn copy<T: Float>(to: MatMut<'_, T>, from: MatRef<'_, T>) {
    let (m, n) = (from.nrows(), from.ncols());
    debug_assert_eq!((m, n), (to.nrows(), to.ncols()));
    let (dst, src) = (to.as_ptr_mut(), from.as_ptr());
    let (dr, dc) = (to.row_stride(), to.col_stride());
    let (sr, sc) = (from.row_stride(), from.col_stride());
    // SAFETY: both matrices cover their sizes; they lie apart, as `to` is borrowed mutably.
    unsafe {
        if dr == 1 && sr == 1 {
            for j in 0..n as isize {
                std::ptr::copy_nonoverlapping(src.offset(j * sc), dst.offset(j * dc), m);
            }
            return;
        }
        let mut j0 = 0;
        while j0 < n {
            let j1 = (j0 + SQUARE).min(n);
            let mut i0 = 0;
            while i0 < m {
                let i1 = (i0 + SQUARE).min(m);
                for j in j0 as isize..j1 as isize {
                    for i in i0 as isize..i1 as isize {
                        *dst.offset(i * dr + j * dc) = *src.offset(i * sr + j * sc);
                    }
                }
                i0 = i1;
            }
            j0 = j1;
        }
    }
}

/// Whether all elements are finite.
pub(super) fn all_finite<T: Float>(a: MatRef<'_, T>) -> bool {
    (0..a.ncols()).all(|j| {
        // The sum of zeros times elements is 0 only where none is infinite or NaN.
        (0..a.nrows()).fold(T::ZERO, |sum, i| sum + a[(i, j)] * T::ZERO) == T::ZERO
    })
}
