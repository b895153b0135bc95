//! What is asked of the bytes behind tensors: imported memory, raw copies, elements in order.

use std::ptr::NonNull;

use wick_core::block::gather;
use wick_core::kernels::dot::dot;
use wick_core::{DType, Layout, Nest};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::elementwise::copy;
use crate::ops::promote::{check_open, check_writable};
use crate::ops::shape::reshape;
use crate::storage::{Giver, Storage};
use crate::tensor::Tensor;

/// Products that are summed on their own: results must not depend on the number of threads.
const CHUNK: i64 = 1 << 16;

/// A tensor over memory that stays its giver's: at least as many bytes as the shape needs, aligned
/// for the elements.
///
/// # Safety
/// If `address` is not null, then from it on `bytes` bytes may be read, and written unless
/// `read_only`, for as long as `giver` lives.
pub unsafe fn import(
    ctx: &Context,
    dtype: DType,
    shape: &[i64],
    address: *mut u8,
    bytes: i64,
    read_only: bool,
    giver: Giver,
) -> Result<Tensor> {
    let op = "import";
    let size = |e| Error::size(op, dtype, shape, e);
    let layout = Layout::contiguous(shape).map_err(size)?;
    let described = || format!("{dtype} {shape:?}: ");
    let Some(ptr) = NonNull::new(address) else {
        return Err(Error::shape(op, &[], described() + "the address is null"));
    };
    if !(address as usize).is_multiple_of(dtype.size()) {
        let text = format!("the address {address:?} is no multiple of {}", dtype.size());
        return Err(Error::dtype(op, &[], described() + &text));
    }
    let needed = layout.numel() as i128 * dtype.size() as i128;
    if bytes < 0 || needed > bytes as i128 {
        let text = format!("{needed} bytes needed, {bytes} given");
        return Err(Error::shape(op, &[], described() + &text));
    }
    // SAFETY: the caller's promise.
    let storage = unsafe { Storage::import(ctx.allocator(), ptr, bytes as usize, giver) };
    let whole = Tensor::imported(storage, layout, dtype);
    Ok(if read_only { whole.read_only() } else { whole })
}

/// The elements of one tensor, in row-major order, to those of another of as many elements and the
/// same type; where both see the same memory, as if all had been read before the first is written.
pub fn copy_elements(ctx: &Context, dst: &Tensor, src: &Tensor) -> Result<()> {
    let op = "memcpy";
    if dst.dtype() != src.dtype() {
        return Err(Error::dtype(op, &[dst, src], "expected one element type"));
    }
    if dst.numel() != src.numel() {
        return Err(Error::shape(op, &[dst, src], "expected as many elements in both"));
    }
    check_writable(op, dst, &[src])?;
    copy(ctx, dst, &reshape(ctx, op, src, dst.shape())?)
}

/// The sum of the products of elements, each in f64; shapes may differ, element counts may not.
pub fn dot_double(ctx: &Context, a: &Tensor, b: &Tensor) -> Result<f64> {
    let op = "dot_double";
    if a.numel() != b.numel() {
        return Err(Error::shape(op, &[a, b], "expected as many elements in both"));
    }
    let b = reshape(ctx, op, b, a.shape())?;
    let nest = row_major(a, &b)?;
    let (n, (x, y)) = (a.numel(), (a.place(), b.place()));
    let mut sums = vec![0f64; (n / CHUNK) as usize + 1];
    let to = Sums(sums.as_mut_ptr());
    ctx.for_ranges(sums.len() as i64, CHUNK as f64, &|start, end| {
        for chunk in start..end {
            let from = chunk * CHUNK;
            // SAFETY: tensors lie inside their storages; each sum is written by one part.
            unsafe {
                let sum = dot(ctx.arch(), x, y, &nest, from, (from + CHUNK).min(n));
                to.at(chunk as usize).write(sum);
            }
        }
    });
    Ok(sums.iter().sum())
}

struct Sums(*mut f64);

// SAFETY: each number is one part's.
unsafe impl Sync for Sums {}

impl Sums {
    unsafe fn at(&self, i: usize) -> *mut f64 {
        // SAFETY: the caller stays inside.
        unsafe { self.0.add(i) }
    }
}

/// Loops in row-major order over two tensors of one shape, as operands 1 and 2.
fn row_major(a: &Tensor, b: &Tensor) -> Result<Nest> {
    let order = Layout::contiguous(a.shape()).map_err(|e| Error::layout("elements", a, e))?;
    Ok(Nest::new(&[&order, a.layout(), b.layout()]))
}

/// The elements from place `from` of the row-major order on, as f64.
pub fn read_elements(ctx: &Context, a: &Tensor, from: i64, out: &mut [f64]) -> Result<()> {
    let end = from.checked_add(out.len() as i64);
    if from < 0 || end.is_none_or(|end| end > a.numel()) {
        let text = format!("{} elements from {from} of {}", out.len(), a.numel());
        return Err(Error::index("elements", &[a], text));
    }
    if !out.is_empty() {
        let nest = row_major(a, a)?;
        // SAFETY: the tensor lies inside its storage, the range inside the nest.
        unsafe { gather(ctx.arch(), a.place(), &nest, 1, from, out) };
    }
    Ok(())
}

/// Where bytes `[from, from + length)` of a tensor in row-major order lie, to read.
pub fn bytes(op: &'static str, a: &Tensor, from: i64, length: i64) -> Result<*const u8> {
    check_bytes(op, a, from, length)?;
    Ok(a.place().start.wrapping_add(from as usize))
}

/// As [`bytes`], to write.
pub fn bytes_mut(op: &'static str, a: &Tensor, from: i64, length: i64) -> Result<*mut u8> {
    check_open(op, a)?;
    check_bytes(op, a, from, length)?;
    Ok(a.place_mut().start.wrapping_add(from as usize))
}

fn check_bytes(op: &'static str, a: &Tensor, from: i64, length: i64) -> Result<()> {
    if !a.layout().is_contiguous() {
        return Err(Error::shape(op, &[a], "expected elements in row-major order"));
    }
    let size = a.numel() * a.dtype().size() as i64;
    if from < 0 || length < 0 || from.checked_add(length).is_none_or(|end| end > size) {
        let text = format!("{length} bytes from {from} of {size}");
        return Err(Error::index(op, &[a], text));
    }
    Ok(())
}
