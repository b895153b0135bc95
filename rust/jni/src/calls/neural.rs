//! Neural operations: one native for all that take lists of operands and numbers.

use jni::objects::{JClass, JDoubleArray, JLongArray};
use jni::sys::{jdouble, jint, jlong};
use jni::{EnvUnowned, NativeMethod, native_method};
use wick_core::named_ops;
use wick_core::ops::gradient::{PairOp, TripleOp};
use wick_runtime::ops::loss::{self, Reduction};
use wick_runtime::ops::{backward, embedding};
use wick_runtime::{Context, Error, Result, Tensor};

use crate::array::{all_longs, doubles, write_longs};
use crate::boundary::boundary;
use crate::runtime::{Pin, Target, dtype, no_op, runtime};

pub const METHODS: &[NativeMethod<'static>] = &[
    native_method! { static raw fn pair(op: jint, a: jlong, b: jlong, p0: jdouble, p1: jdouble, p2: jdouble, out: jlong) -> jlong },
    native_method! { static raw fn neural(op: jint, operands: jlong[], numbers: jlong[], factors: jdouble[], results: jlong[]) -> () },
];

/// Gradients and losses of two operands, element by element.
pub fn pair_code(name: &str) -> Option<i32> {
    PairOp::from_name(name).map(|op| op as i32)
}

pub fn code(name: &str) -> Option<i32> {
    NeuralOp::from_name(name).map(|op| op as i32)
}

named_ops! {
    /// Operations by the lists they take: operands; numbers; factors.
    NeuralOp {
        /// input target; reduction.
        MseLoss "mse_loss",
        /// input target; reduction.
        L1Loss "l1_loss",
        /// input target; reduction; beta.
        SmoothL1Loss "smooth_l1_loss",
        /// input target; reduction; delta.
        HuberLoss "huber_loss",
        /// input target; reduction.
        KlDiv "kl_div",
        /// input target; reduction.
        KlDivLog "kl_div_log",
        /// input target; reduction.
        SoftMarginLoss "soft_margin_loss",
        /// grad input target; reduction.
        MseLossBackward "mse_loss_backward",
        /// grad input target; reduction.
        L1LossBackward "l1_loss_backward",
        /// grad input target; reduction; beta.
        SmoothL1LossBackward "smooth_l1_loss_backward",
        /// grad input target; reduction; delta.
        HuberLossBackward "huber_loss_backward",
        /// grad input target; reduction.
        KlDivBackward "kl_div_backward",
        /// grad input target; reduction.
        KlDivLogBackward "kl_div_log_backward",
        /// grad input target; reduction.
        SoftMarginLossBackward "soft_margin_loss_backward",
        /// input target weight?; reduction.
        BinaryCrossEntropy "binary_cross_entropy",
        /// grad input target weight?; reduction.
        BinaryCrossEntropyBackward "binary_cross_entropy_backward",
        /// input target weight? pos_weight?; reduction.
        BceLogits "binary_cross_entropy_with_logits",
        /// grad input target weight? pos_weight?; reduction.
        BceLogitsBackward "binary_cross_entropy_with_logits_backward",
        /// input target weight?; reduction, ignore index. Results: loss, total weight.
        NllLoss "nll_loss_forward",
        /// grad input target total weight?; reduction, ignore index.
        NllLossBackward "nll_loss_backward",
        /// input target weight?; reduction, ignore index; label smoothing.
        CrossEntropy "cross_entropy_loss",
        /// weight indices.
        Embedding "embedding",
        /// grad indices; rows, padding index, by frequency.
        EmbeddingBackward "embedding_dense_backward",
        /// grad result; dimension, dtype.
        SoftmaxBackward "_softmax_backward_data",
        /// grad result; dimension, dtype.
        LogSoftmaxBackward "_log_softmax_backward_data",
    }
}

/// The arguments of a call, taken in order.
struct Args<'a> {
    operands: std::slice::Iter<'a, Option<Pin>>,
    numbers: std::slice::Iter<'a, i64>,
    factors: std::slice::Iter<'a, f64>,
}

fn missing() -> Error {
    Error::Internal("too few arguments".into())
}

impl<'a> Args<'a> {
    /// The next operand, which must be there.
    fn t(&mut self) -> Result<&'a Tensor> {
        self.some()?.ok_or_else(missing)
    }

    /// The next operand, if it is there.
    fn some(&mut self) -> Result<Option<&'a Tensor>> {
        Ok(self.operands.next().ok_or_else(missing)?.as_deref())
    }

    fn n(&mut self) -> Result<i64> {
        self.numbers.next().copied().ok_or_else(missing)
    }

    fn f(&mut self) -> Result<f64> {
        self.factors.next().copied().ok_or_else(missing)
    }

    fn reduction(&mut self, op: NeuralOp) -> Result<Reduction> {
        Reduction::of(op.name(), self.n()?)
    }
}

fn pair(
    env: EnvUnowned,
    _: JClass,
    op: jint,
    a: jlong,
    b: jlong,
    p0: jdouble,
    p1: jdouble,
    p2: jdouble,
    out: jlong,
) -> jlong {
    boundary(env, || {
        let rt = runtime();
        let op = PairOp::from_code(op).ok_or_else(|| no_op(op))?;
        let (x, y) = (rt.pin(op.name(), a)?, rt.pin(op.name(), b)?);
        let target = Target::of(op.name(), a, out)?;
        let result = backward::pair(&rt.ctx, op, &x, &y, [p0, p1, p2], target.out())?;
        rt.give(result, Some(&x), Some(&y))
    })
}

fn neural<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    op: jint,
    operands: JLongArray<'l>,
    numbers: JLongArray<'l>,
    factors: JDoubleArray<'l>,
    results: JLongArray<'l>,
) {
    let inner = crate::array::same(&env);
    boundary(env, || {
        let rt = runtime();
        let op = NeuralOp::from_code(op).ok_or_else(|| no_op(op))?;
        let handles = all_longs(&inner, &operands)?;
        let operands =
            handles.iter().map(|h| rt.pin_some(op.name(), *h)).collect::<Result<Vec<_>>>()?;
        let (numbers, factors) = (all_longs(&inner, &numbers)?, doubles(&inner, &factors)?);
        let mut args =
            Args { operands: operands.iter(), numbers: numbers.iter(), factors: factors.iter() };
        let made = compute(&rt.ctx, op, &mut args)?;
        let mut handles = Vec::with_capacity(made.len());
        let mut owned = Ok(());
        for t in made {
            match t.map_or(Ok(0), |t| rt.own(t)) {
                Ok(handle) => handles.push(handle),
                Err(e) => owned = Err(e),
            }
        }
        owned.and_then(|()| write_longs(&inner, &results, &handles)).inspect_err(|_| {
            for handle in handles.iter().filter(|h| **h != 0) {
                rt.tensors.close(*handle);
            }
        })
    })
}

/// The row of a loss.
fn pair_row(op: NeuralOp) -> Result<PairOp> {
    PairOp::from_name(op.name()).ok_or_else(|| no_op(op as i32))
}

fn triple_row(op: NeuralOp) -> Result<TripleOp> {
    TripleOp::from_name(op.name()).ok_or_else(|| no_op(op as i32))
}

/// The results of an operation; those that were not asked for are missing.
fn compute(ctx: &Context, op: NeuralOp, a: &mut Args<'_>) -> Result<Vec<Option<Tensor>>> {
    use NeuralOp::*;
    let name = op.name();
    let one = |t: Tensor| Ok(vec![Some(t)]);
    match op {
        MseLoss | L1Loss | KlDiv | KlDivLog | SoftMarginLoss => {
            one(loss::loss(ctx, pair_row(op)?, a.t()?, a.t()?, a.reduction(op)?, 0.0)?)
        }
        SmoothL1Loss | HuberLoss => {
            let (x, target, reduction) = (a.t()?, a.t()?, a.reduction(op)?);
            one(loss::loss(ctx, pair_row(op)?, x, target, reduction, a.f()?)?)
        }
        MseLossBackward
        | L1LossBackward
        | KlDivBackward
        | KlDivLogBackward
        | SoftMarginLossBackward => {
            let (g, x, target, reduction) = (a.t()?, a.t()?, a.t()?, a.reduction(op)?);
            one(loss::loss_backward(ctx, triple_row(op)?, g, x, target, reduction, 0.0)?)
        }
        SmoothL1LossBackward | HuberLossBackward => {
            let (g, x, target, reduction) = (a.t()?, a.t()?, a.t()?, a.reduction(op)?);
            one(loss::loss_backward(ctx, triple_row(op)?, g, x, target, reduction, a.f()?)?)
        }
        BinaryCrossEntropy => {
            let (x, target, weight) = (a.t()?, a.t()?, a.some()?);
            one(loss::binary_cross_entropy(ctx, x, target, weight, a.reduction(op)?)?)
        }
        BinaryCrossEntropyBackward => {
            let (g, x, target, weight) = (a.t()?, a.t()?, a.t()?, a.some()?);
            let reduction = a.reduction(op)?;
            one(loss::binary_cross_entropy_backward(ctx, g, x, target, weight, reduction)?)
        }
        BceLogits => {
            let (x, target, weight, positives) = (a.t()?, a.t()?, a.some()?, a.some()?);
            let reduction = a.reduction(op)?;
            one(loss::binary_cross_entropy_with_logits(
                ctx, x, target, weight, positives, reduction,
            )?)
        }
        BceLogitsBackward => {
            let (g, x, target) = (a.t()?, a.t()?, a.t()?);
            let (weight, positives, reduction) = (a.some()?, a.some()?, a.reduction(op)?);
            one(loss::binary_cross_entropy_with_logits_backward(
                ctx, g, x, target, weight, positives, reduction,
            )?)
        }
        NllLoss => {
            let (x, target, weight) = (a.t()?, a.t()?, a.some()?);
            let (reduction, ignored) = (a.reduction(op)?, a.n()?);
            let (loss, total) = loss::nll_loss(ctx, name, x, target, weight, reduction, ignored)?;
            Ok(vec![Some(loss), Some(total)])
        }
        NllLossBackward => {
            let (g, x, target, total) = (a.t()?, a.t()?, a.t()?, a.t()?);
            let (weight, reduction, ignored) = (a.some()?, a.reduction(op)?, a.n()?);
            one(loss::nll_loss_backward(
                ctx, name, g, x, target, weight, reduction, ignored, total,
            )?)
        }
        CrossEntropy => {
            let (x, target, weight) = (a.t()?, a.t()?, a.some()?);
            let (reduction, ignored, smoothing) = (a.reduction(op)?, a.n()?, a.f()?);
            one(loss::cross_entropy(ctx, x, target, weight, reduction, ignored, smoothing)?)
        }
        Embedding => one(embedding::embedding(ctx, a.t()?, a.t()?)?),
        EmbeddingBackward => {
            let (g, indices, rows, padding) = (a.t()?, a.t()?, a.n()?, a.n()?);
            let by_frequency = a.n()? != 0;
            one(embedding::embedding_dense_backward(ctx, g, indices, rows, padding, by_frequency)?)
        }
        SoftmaxBackward | LogSoftmaxBackward => {
            let (g, y, dim) = (a.t()?, a.t()?, a.n()?);
            let dtype = dtype(name, a.n()? as i32)?;
            one(backward::softmax_backward(ctx, op == LogSoftmaxBackward, g, y, dim, dtype)?)
        }
    }
}
