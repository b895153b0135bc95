//! Elementwise gradients, and those of softmax.

use wick_core::DType;
use wick_core::kernels::backward::Pointwise;
use wick_core::kernels::softmax_backward::SoftmaxBackward;
use wick_core::layout::wrap_dim;
use wick_core::ops::Class;
use wick_core::ops::gradient::{PairOp, TripleOp};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::array::contiguous;
use crate::ops::elementwise::{Out, cast, run, types};
use crate::ops::promote::{Arg, result_type};
use crate::ops::softmax::sizes_along;
use crate::tensor::Tensor;

/// A row of two operands that broadcast.
pub fn pair(
    ctx: &Context,
    op: PairOp,
    a: &Tensor,
    b: &Tensor,
    p: [f64; 3],
    out: Out,
) -> Result<Option<Tensor>> {
    let args = [Arg::Tensor(a), Arg::Tensor(b)];
    let types = types(op.name(), Class::Strict, result_type(&args), &args)?;
    let compute = types.compute;
    run(ctx, op.name(), &types, &args, out, |operands| {
        ctx.run(&Pointwise { op, compute, p, operands })
    })
}

/// A row of three operands that broadcast; a number stands for a tensor of one value.
pub fn triple(
    ctx: &Context,
    op: TripleOp,
    args: [Arg; 3],
    p: [f64; 3],
    out: Out,
) -> Result<Option<Tensor>> {
    let types = types(op.name(), Class::Strict, result_type(&args), &args)?;
    let compute = types.compute;
    run(ctx, op.name(), &types, &args, out, |operands| {
        ctx.run(&Pointwise { op, compute, p, operands })
    })
}

/// A new result of an operation that was told to make one.
pub(crate) fn made(result: Result<Option<Tensor>>) -> Result<Tensor> {
    result?.ok_or_else(|| Error::internal("no result was made".into()))
}

/// The values densely in row-major order as a type: the tensor itself where it lies so already.
pub(crate) fn dense(ctx: &Context, t: &Tensor, dtype: DType) -> Result<Tensor> {
    if t.dtype() == dtype { contiguous(ctx, t) } else { cast(ctx, t, dtype) }
}

/// As another type; itself where it is that.
pub(crate) fn back(ctx: &Context, t: Tensor, dtype: DType) -> Result<Tensor> {
    if t.dtype() == dtype { Ok(t) } else { cast(ctx, &t, dtype) }
}

/// All of one float dtype, or the error that shows them.
pub(crate) fn floats(op: &'static str, operands: &[&Tensor]) -> Result<DType> {
    let dtype = operands[0].dtype();
    if !dtype.is_float() {
        return Err(Error::dtype(op, operands, "expected a float dtype"));
    }
    if operands.iter().any(|t| t.dtype() != dtype) {
        return Err(Error::dtype(op, operands, "expected one dtype: cast first"));
    }
    Ok(dtype)
}

/// The gradient of softmax or its logarithm along a dimension, from the gradient of the result
/// and the result. `dtype`: of the operand that softmax was taken of.
pub fn softmax_backward(
    ctx: &Context,
    log: bool,
    grad: &Tensor,
    result: &Tensor,
    dim: i64,
    dtype: DType,
) -> Result<Tensor> {
    let name = if log { "_log_softmax_backward_data" } else { "_softmax_backward_data" };
    let own = floats(name, &[grad, result])?;
    if grad.shape() != result.shape() {
        let text = "the gradient and the result must have one shape";
        return Err(Error::shape(name, &[grad, result], text));
    }
    if !dtype.is_float() {
        return Err(Error::dtype(name, &[grad, result], format!("{dtype} is no float dtype")));
    }
    let dim = wrap_dim(dim, grad.rank()).map_err(|e| Error::layout(name, grad, e))?;
    let compute = own.compute();
    let (g, y) = (dense(ctx, grad, compute)?, dense(ctx, result, compute)?);
    let out = Tensor::empty(ctx, name, compute, grad.shape())?;
    let kernel = SoftmaxBackward {
        arch: ctx.arch(),
        log,
        dtype: compute,
        sizes: sizes_along(grad.shape(), dim),
        grad: g.view().start(),
        result: y.view().start(),
        out: out.view_mut().start(),
    };
    if out.numel() > 0 {
        ctx.run(&kernel);
    }
    back(ctx, out, dtype)
}
