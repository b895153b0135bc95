//! Softmax and its logarithm.

use wick_core::DType;
use wick_core::kernels::lines::Lines;
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
    let input = if result != a.dtype() && result.is_half() {
        cast(ctx, a, result)?
    } else {
        a.clone()
    };
    let out = Tensor::empty(ctx, name, result, a.shape())?;
    let kernel = Softmax {
        arch: ctx.arch(),
        log,
        compute: result.compute(),
        lines: Lines::new(out.layout(), input.layout(), dim).map_err(fail)?,
        input: input.view(),
        out: out.view_mut(),
    };
    if out.numel() > 0 {
        ctx.run(&kernel);
    }
    Ok(out)
}
