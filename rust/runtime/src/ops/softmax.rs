//! Softmax and its logarithm.

use wick_core::DType;
use wick_core::kernels::softmax::Softmax;
use wick_core::layout::wrap_dim;

use crate::context::Context;
use crate::error::{Error, Result};
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
    let input = if rounded.dtype() == compute && rounded.layout().is_contiguous() {
        rounded.clone()
    } else {
        cast(ctx, rounded, compute)?
    };
    let out = Tensor::empty(ctx, name, compute, a.shape())?;
    let size = |sizes: &[i64]| sizes.iter().product();
    let (before, after) = a.shape().split_at(dim.min(a.rank()));
    let kernel = Softmax {
        arch: ctx.arch(),
        log,
        dtype: compute,
        sizes: [
            size(before),
            after.first().copied().unwrap_or(1),
            size(after.get(1..).unwrap_or(&[])),
        ],
        input: input.view().start(),
        out: out.view_mut().start(),
    };
    if out.numel() > 0 {
        ctx.run(&kernel);
    }
    if compute == result { Ok(out) } else { cast(ctx, &out, result) }
}
