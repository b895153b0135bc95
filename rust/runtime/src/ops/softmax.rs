//! Softmax and its logarithm.

use wick_core::DType;
use wick_core::kernels::softmax::Softmax;
use wick_core::layout::wrap_dim;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::backward::{back, dense};
use crate::ops::elementwise::cast;
use crate::tensor::Tensor;

/// Softmax along a dimension. `dtype`: a float type that elements are cast to first.
pub fn softmax(
    ctx: &Context,
    log: bool,
    a: &Tensor,
    dim: i64,
    dtype: Option<DType>,
) -> Result<Tensor> {
    let name = if log { "log_softmax" } else { "softmax" };
    let result = dtype.unwrap_or(a.dtype());
    if !result.is_float() {
        return Err(Error::dtype(name, &[a], "expected a float dtype"));
    }
    let fail = |e| Error::layout(name, a, e);
    let dim = wrap_dim(dim, a.rank()).map_err(fail)?;
    // The kernel takes dense tensors of one float type; others are copied to that first.
    let compute = result.compute();
    let rounded = if result.is_half() && a.dtype() != result { &cast(ctx, a, result)? } else { a };
    let input = dense(ctx, rounded, compute)?;
    let out = Tensor::empty(ctx, name, compute, a.shape())?;
    let kernel = Softmax {
        arch: ctx.arch(),
        log,
        dtype: compute,
        sizes: sizes_along(a.shape(), dim),
        input: input.view().start(),
        out: out.view_mut().start(),
    };
    if out.numel() > 0 {
        ctx.run(&kernel);
    }
    back(ctx, out, result)
}

/// Elements before, along and after a dimension; a number is one line of one.
pub(super) fn sizes_along(shape: &[i64], dim: usize) -> [i64; 3] {
    let size = |sizes: &[i64]| sizes.iter().product();
    let (before, after) = shape.split_at(dim.min(shape.len()));
    let along = after.first().copied().unwrap_or(1);
    [size(before), along, size(after.get(1..).unwrap_or(&[]))]
}
