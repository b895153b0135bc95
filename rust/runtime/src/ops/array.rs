//! Between tensors and plain memory: what the JVM's arrays go through.

use wick_core::DType;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::elementwise::{cast, copy_values};
use crate::tensor::Tensor;

/// A new tensor whose bytes `write(bytes)` fills; `length` elements are at hand.
pub fn from_elements(
    ctx: &Context,
    dtype: DType,
    shape: &[i64],
    length: usize,
    write: impl FnOnce(&mut [u8]),
) -> Result<Tensor> {
    let out = Tensor::empty(ctx, "from array", dtype, shape)?;
    if out.numel() != length as i64 {
        let expected = format!("the array has {length} elements, the shape {}", out.numel());
        return Err(Error::shape("from array", &[&out], expected));
    }
    // SAFETY: a fresh contiguous tensor that nobody else has seen.
    write(unsafe { std::slice::from_raw_parts_mut(out.view_mut().start(), bytes_len(&out)) });
    Ok(out)
}

/// Calls `read` with the elements in row-major order, which must be of type `dtype` and `length`.
pub fn with_elements<R>(
    ctx: &Context,
    a: &Tensor,
    dtype: DType,
    length: usize,
    read: impl FnOnce(&[u8]) -> R,
) -> Result<R> {
    if a.dtype() != dtype {
        return Err(Error::dtype("to array", &[a], format!("the array holds {dtype}: cast first")));
    }
    if a.numel() != length as i64 {
        return Err(Error::shape("to array", &[a], format!("the array has {length} elements")));
    }
    if a.layout().is_contiguous() {
        return Ok(read(bytes(a)));
    }
    Ok(read(bytes(&contiguous(ctx, a)?)))
}

/// The same values in row-major order: itself where it lies so already.
pub fn contiguous(ctx: &Context, a: &Tensor) -> Result<Tensor> {
    if a.layout().is_contiguous() {
        return Ok(a.clone());
    }
    let out = Tensor::empty(ctx, "contiguous", a.dtype(), a.shape())?;
    copy_values(ctx, &out, a);
    Ok(out)
}

/// The one element, as a number of type `T`.
pub fn item<T: wick_core::Number + wick_core::Element>(ctx: &Context, a: &Tensor) -> Result<T> {
    if a.numel() != 1 {
        return Err(Error::shape("item", &[a], "expected exactly one element"));
    }
    let one = cast(ctx, a, T::DTYPE)?;
    // SAFETY: one element of type T was just written.
    Ok(unsafe { one.view().start().cast::<T>().read() })
}

fn bytes_len(a: &Tensor) -> usize {
    a.numel() as usize * a.dtype().size()
}

fn bytes(a: &Tensor) -> &[u8] {
    // SAFETY: contiguous, inside the storage that the tensor keeps alive.
    unsafe { std::slice::from_raw_parts(a.view().start(), bytes_len(a)) }
}
