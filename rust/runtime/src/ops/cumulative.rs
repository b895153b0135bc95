//! Running sums, products and log-sums of exponentials.

use wick_core::DType;
use wick_core::kernels::cumulative::{Cumulative, CumulativeOp};
use wick_core::kernels::lines::Lines;
use wick_core::layout::wrap_dim;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::elementwise::cast;
use crate::tensor::Tensor;

/// A running reduction along a dimension. `dtype`: what elements are cast to first; without it
/// integers and truth values become i64.
pub fn cumulative(
    ctx: &Context,
    op: CumulativeOp,
    a: &Tensor,
    dim: i64,
    dtype: Option<DType>,
) -> Result<Tensor> {
    let name = op.name();
    let own = a.dtype();
    let result = dtype.unwrap_or(if own.is_float() { own } else { DType::I64 });
    if op == CumulativeOp::Logsumexp && !(own.is_float() && result == own) {
        return Err(Error::dtype(name, &[a], "expected a float dtype"));
    }
    let compute = if result.is_float() { DType::F64 } else { DType::I64 };
    let fail = |e| Error::layout(name, a, e);
    let dim = wrap_dim(dim, a.rank()).map_err(fail)?;
    let input = if result != own && result != compute { cast(ctx, a, result)? } else { a.clone() };
    let out = Tensor::empty(ctx, name, result, a.shape())?;
    let kernel = Cumulative {
        arch: ctx.arch(),
        op,
        compute,
        lines: Lines::new(out.layout(), input.layout(), dim).map_err(fail)?,
        input: input.view(),
        out: out.view_mut(),
    };
    if out.numel() > 0 {
        ctx.run(&kernel);
    }
    Ok(out)
}
