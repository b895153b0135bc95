//! Neural operations: one native for all that take lists of operands and numbers.

use jni::objects::{JClass, JDoubleArray, JLongArray};
use jni::sys::{jdouble, jint, jlong};
use jni::{EnvUnowned, NativeMethod, native_method};
use wick_core::kernels::elementwise::Scalar;
use wick_core::named_ops;
use wick_core::ops::gradient::{PairOp, TripleOp};
use wick_runtime::ops::attention::{Attention, attention, attention_backward};
use wick_runtime::ops::conv::{Moves, col2im, convolution, convolution_backward, im2col};
use wick_runtime::ops::loss::{self, Reduction};
use wick_runtime::ops::norm::{self, Running};
use wick_runtime::ops::pool::{self, Pool};
use wick_runtime::ops::resample::{
    self, Interpolation, PadMode, constant_pad, interpolate, interpolate_backward,
};
use wick_runtime::ops::{backward, embedding};
use wick_runtime::{Context, Error, Result, Tensor};

use crate::array::{all_longs, doubles, got};
use crate::boundary::{operation, operation_all};
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
        /// input weight bias?; stride, padding, dilation, transposed, output padding, groups.
        Convolution "convolution",
        /// grad input weight; as convolution, then which gradients are wanted.
        ConvolutionBackward "convolution_backward",
        /// input; dims, kernel, stride, padding, dilation, ceil. Results: maxima, places.
        MaxPool "max_pool_with_indices",
        /// grad input indices; dims.
        MaxPoolBackward "max_pool_with_indices_backward",
        /// input; dims, kernel, stride, padding, ceil, count padding, divisor (0: none).
        AvgPool "avg_pool",
        /// grad input; as avg_pool.
        AvgPoolBackward "avg_pool_backward",
        /// input; output sizes. Results: maxima, places.
        AdaptiveMaxPool "adaptive_max_pool",
        /// input; output sizes.
        AdaptiveAvgPool "adaptive_avg_pool",
        /// grad input; dims.
        AdaptiveAvgPoolBackward "adaptive_avg_pool_backward",
        /// input weight? bias? running mean? running var?; training; momentum, eps.
        BatchNorm "native_batch_norm",
        /// grad input weight? running mean? running var? mean? rstd?; training, wanted; eps.
        BatchNormBackward "native_batch_norm_backward",
        /// input weight? bias?; sizes; eps.
        LayerNorm "native_layer_norm",
        /// grad input mean rstd weight?; sizes, wanted.
        LayerNormBackward "native_layer_norm_backward",
        /// input weight?; sizes; eps. Results: normalised, rstd.
        RmsNorm "_fused_rms_norm",
        /// grad input rstd weight?; sizes, wanted.
        RmsNormBackward "_fused_rms_norm_backward",
        /// input weight? bias?; groups; eps.
        GroupNorm "native_group_norm",
        /// grad input mean rstd weight?; groups, wanted.
        GroupNormBackward "native_group_norm_backward",
        /// query key value bias?; causal, whether there is a scale; scale. Results: out, logsumexp.
        Attention "scaled_dot_product_attention",
        /// grad query key value out logsumexp bias?; as attention, and whether the bias is wanted.
        AttentionBackward "scaled_dot_product_attention_backward",
        /// input; kernel, stride, padding, dilation.
        Im2col "im2col",
        /// columns; image, kernel, stride, padding, dilation.
        Col2im "col2im",
        /// input; padding; value.
        ConstantPad "constant_pad_nd",
        /// input; padding.
        ReflectionPad "reflection_pad",
        /// input; padding.
        ReplicationPad "replication_pad",
        /// input; padding.
        CircularPad "circular_pad",
        /// grad input; padding.
        ReflectionPadBackward "reflection_pad_backward",
        /// grad input; padding.
        ReplicationPadBackward "replication_pad_backward",
        /// grad input; padding.
        CircularPadBackward "circular_pad_backward",
        /// input; sizes, align; scales.
        UpsampleNearest "upsample_nearest",
        /// input; sizes, align; scales.
        UpsampleLinear "upsample_linear",
        /// input; sizes, align; scales.
        UpsampleBicubic "upsample_bicubic",
        /// grad; sizes of the input, align; scales.
        UpsampleNearestBackward "upsample_nearest_backward",
        /// grad; sizes of the input, align; scales.
        UpsampleLinearBackward "upsample_linear_backward",
        /// grad; sizes of the input, align; scales.
        UpsampleBicubicBackward "upsample_bicubic_backward",
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
    Error::internal("too few arguments".into())
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

    fn flag(&mut self) -> Result<bool> {
        Ok(self.n()? != 0)
    }

    /// Numbers behind their count.
    fn list(&mut self) -> Result<&'a [i64]> {
        let n = usize::try_from(self.n()?).map_err(|_| missing())?;
        let list = self.numbers.as_slice().get(..n).ok_or_else(missing)?;
        self.numbers = self.numbers.as_slice()[n..].iter();
        Ok(list)
    }

    /// Stride, padding and dilation of patches.
    fn patches(&mut self) -> Result<Moves<'a>> {
        Ok(Moves {
            stride: self.list()?,
            padding: self.list()?,
            dilation: self.list()?,
            transposed: false,
            output_padding: &[0],
            groups: 1,
        })
    }

    fn moves(&mut self) -> Result<Moves<'a>> {
        Ok(Moves {
            stride: self.list()?,
            padding: self.list()?,
            dilation: self.list()?,
            transposed: self.flag()?,
            output_padding: self.list()?,
            groups: self.n()?,
        })
    }

    /// Which three results are wanted.
    fn wanted(&mut self) -> Result<[bool; 3]> {
        Ok([self.flag()?, self.flag()?, self.flag()?])
    }

    fn running(&mut self) -> Result<Running<'a>> {
        Ok(Running { mean: self.some()?, var: self.some()? })
    }

    /// Number of dimensions, kernel, stride and padding.
    fn pool(&mut self) -> Result<Pool<'a>> {
        Ok(Pool {
            dims: (self.n()?.clamp(1, 3)) as usize,
            kernel: self.list()?,
            stride: self.list()?,
            padding: self.list()?,
            dilation: &[1],
            ceil: false,
        })
    }

    fn attention(&mut self) -> Result<Attention<'a>> {
        let (query, key, value) = (self.t()?, self.t()?, self.t()?);
        self.joined(query, key, value)
    }

    /// Bias, causality and scale.
    fn joined(
        &mut self,
        query: &'a Tensor,
        key: &'a Tensor,
        value: &'a Tensor,
    ) -> Result<Attention<'a>> {
        let (bias, causal, scaled, scale) = (self.some()?, self.flag()?, self.flag()?, self.f()?);
        Ok(Attention { query, key, value, bias, causal, scale: scaled.then_some(scale) })
    }

    fn reduction(&mut self, op: NeuralOp) -> Result<Reduction> {
        Reduction::of(op.name(), self.n()?)
    }
}

#[allow(clippy::too_many_arguments)]
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
    operation(env, move || {
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
    let (handles, numbers) = (all_longs(&env, &operands), all_longs(&env, &numbers));
    let factors = doubles(&env, &factors);
    operation_all(env, &results, move || {
        let rt = runtime();
        let op = NeuralOp::from_code(op).ok_or_else(|| no_op(op))?;
        let operands = got(&handles)?;
        let operands =
            operands.iter().map(|h| rt.pin_some(op.name(), *h)).collect::<Result<Vec<_>>>()?;
        let (numbers, factors) = (got(&numbers)?, got(&factors)?);
        let mut args =
            Args { operands: operands.iter(), numbers: numbers.iter(), factors: factors.iter() };
        compute(&rt.ctx, op, &mut args)
    })
}

/// Names by the number of dimensions, for errors.
const MAX_POOL: [&str; 3] =
    ["max_pool1d_with_indices", "max_pool2d_with_indices", "max_pool3d_with_indices"];
const AVG_POOL: [&str; 3] = ["avg_pool1d", "avg_pool2d", "avg_pool3d"];

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
        Convolution => {
            let (x, weight, bias) = (a.t()?, a.t()?, a.some()?);
            one(convolution(ctx, name, x, weight, bias, &a.moves()?)?)
        }
        ConvolutionBackward => {
            let (g, x, weight, moves) = (a.t()?, a.t()?, a.t()?, a.moves()?);
            Ok(convolution_backward(ctx, g, x, weight, &moves, a.wanted()?)?.into())
        }
        MaxPool => {
            let (x, mut pool) = (a.t()?, a.pool()?);
            (pool.dilation, pool.ceil) = (a.list()?, a.flag()?);
            let (max, places) = pool::max_pool(ctx, MAX_POOL[pool.dims - 1], x, &pool)?;
            Ok(vec![Some(max), Some(places)])
        }
        MaxPoolBackward => {
            let (g, x, places) = (a.t()?, a.t()?, a.t()?);
            let dims = (a.n()?.clamp(1, 3)) as usize;
            one(pool::max_pool_backward(ctx, name, g, x, places, dims)?)
        }
        AvgPool | AvgPoolBackward => {
            let g = if op == AvgPoolBackward { Some(a.t()?) } else { None };
            let (x, mut pool) = (a.t()?, a.pool()?);
            pool.ceil = a.flag()?;
            let (include, given, count) = (a.flag()?, a.flag()?, a.n()?);
            let given = given.then_some(count);
            let name = AVG_POOL[pool.dims - 1];
            one(match g {
                None => pool::avg_pool(ctx, name, x, &pool, include, given)?,
                Some(g) => pool::avg_pool_backward(ctx, name, g, x, &pool, include, given)?,
            })
        }
        AdaptiveMaxPool => {
            let (max, places) = pool::adaptive_max_pool(ctx, name, a.t()?, a.list()?)?;
            Ok(vec![Some(max), Some(places)])
        }
        AdaptiveAvgPool => one(pool::adaptive_avg_pool(ctx, name, a.t()?, a.list()?)?),
        AdaptiveAvgPoolBackward => {
            let (g, x) = (a.t()?, a.t()?);
            let dims = (a.n()?.clamp(1, 3)) as usize;
            one(pool::adaptive_avg_pool_backward(ctx, name, g, x, dims)?)
        }
        BatchNorm => {
            let (x, weight, bias, running) = (a.t()?, a.some()?, a.some()?, a.running()?);
            let (training, momentum, eps) = (a.flag()?, a.f()?, a.f()?);
            let made = norm::batch_norm(ctx, x, weight, bias, running, training, momentum, eps)?;
            Ok(made.map(Some).into())
        }
        BatchNormBackward => {
            let (g, x, weight, running) = (a.t()?, a.t()?, a.some()?, a.running()?);
            let (saved, training) = ([a.some()?, a.some()?], a.flag()?);
            let (wanted, eps) = (a.wanted()?, a.f()?);
            let made = norm::batch_norm_backward(
                ctx, g, x, weight, running, saved, training, eps, wanted,
            )?;
            Ok(made.into())
        }
        LayerNorm | RmsNorm => {
            let (x, weight, centred) = (a.t()?, a.some()?, op == LayerNorm);
            let bias = if centred { a.some()? } else { None };
            let (sizes, eps) = (a.list()?, a.f()?);
            let [out, mean, rstd] =
                norm::layer_norm(ctx, name, x, sizes, weight, bias, eps, centred)?;
            let all = if centred { vec![out, mean, rstd] } else { vec![out, rstd] };
            Ok(all.into_iter().map(Some).collect())
        }
        LayerNormBackward | RmsNormBackward => {
            let (g, x) = (a.t()?, a.t()?);
            let mean = if op == LayerNormBackward { Some(a.t()?) } else { None };
            let (rstd, weight, sizes) = (a.t()?, a.some()?, a.list()?);
            let wanted = a.wanted()?;
            let made =
                norm::layer_norm_backward(ctx, name, g, x, sizes, mean, rstd, weight, wanted)?;
            Ok(made.into())
        }
        GroupNorm => {
            let (x, weight, bias, groups) = (a.t()?, a.some()?, a.some()?, a.n()?);
            Ok(norm::group_norm(ctx, x, weight, bias, groups, a.f()?)?.map(Some).into())
        }
        GroupNormBackward => {
            let (g, x, mean, rstd) = (a.t()?, a.t()?, a.t()?, a.t()?);
            let (weight, groups, wanted) = (a.some()?, a.n()?, a.wanted()?);
            let made = norm::group_norm_backward(ctx, g, x, mean, rstd, weight, groups, wanted)?;
            Ok(made.into())
        }
        Attention => {
            let (out, log) = attention(ctx, name, &a.attention()?)?;
            Ok(vec![Some(out), Some(log)])
        }
        AttentionBackward => {
            let g = a.t()?;
            let (query, key, value, out, log) = (a.t()?, a.t()?, a.t()?, a.t()?, a.t()?);
            let inputs = a.joined(query, key, value)?;
            let (three, bias) = attention_backward(ctx, name, g, &inputs, out, log, a.flag()?)?;
            Ok(three.map(Some).into_iter().chain(bias.map(Some)).collect())
        }
        Im2col => {
            let (x, kernel) = (a.t()?, a.list()?);
            one(im2col(ctx, x, kernel, &a.patches()?)?)
        }
        Col2im => {
            let (columns, image, kernel) = (a.t()?, a.list()?, a.list()?);
            one(col2im(ctx, columns, image, kernel, &a.patches()?)?)
        }
        ConstantPad => {
            let (x, pad, value) = (a.t()?, a.list()?, a.f()?);
            let whole = value as i64;
            let exact = whole as f64 == value && !x.dtype().is_float();
            let value = if exact { Scalar::Int(whole) } else { Scalar::Float(value) };
            one(constant_pad(ctx, x, pad, value)?)
        }
        ReflectionPad | ReplicationPad | CircularPad => {
            let mode = PadMode::from_name(name).ok_or_else(missing)?;
            one(resample::pad(ctx, mode, a.t()?, a.list()?)?)
        }
        ReflectionPadBackward | ReplicationPadBackward | CircularPadBackward => {
            let name = name.trim_end_matches("_backward");
            let mode = PadMode::from_name(name).ok_or_else(missing)?;
            one(resample::pad_backward(ctx, mode, a.t()?, a.t()?, a.list()?)?)
        }
        UpsampleNearest | UpsampleLinear | UpsampleBicubic => {
            let mode = Interpolation::from_name(name).ok_or_else(missing)?;
            let (x, sizes, align) = (a.t()?, a.list()?, a.flag()?);
            one(interpolate(ctx, mode, x, sizes, align, a.factors.as_slice())?)
        }
        UpsampleNearestBackward | UpsampleLinearBackward | UpsampleBicubicBackward => {
            let name = name.trim_end_matches("_backward");
            let mode = Interpolation::from_name(name).ok_or_else(missing)?;
            let (g, sizes, align) = (a.t()?, a.list()?, a.flag()?);
            one(interpolate_backward(ctx, mode, g, sizes, align, a.factors.as_slice())?)
        }
        SoftmaxBackward | LogSoftmaxBackward => {
            let (g, y, dim) = (a.t()?, a.t()?, a.n()?);
            let dtype = dtype(name, a.n()? as i32)?;
            one(backward::softmax_backward(ctx, op == LogSoftmaxBackward, g, y, dim, dtype)?)
        }
    }
}
