//! Losses with reduction modes, and their gradients.

use wick_core::kernels::elementwise::Scalar;
use wick_core::kernels::loss::{Classes, RUN};
use wick_core::kernels::reduce::ReduceOp;
use wick_core::ops::gradient::{PairOp, TripleOp};
use wick_core::ops::{BinaryOp, UnaryOp};
use wick_core::{DType, Number, with_dtype};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::array::item;
use crate::ops::backward::{dense, floats, made, pair, triple};
use crate::ops::creation::full;
use crate::ops::elementwise::{Out, binary, cast, unary};
use crate::ops::promote::Arg;
use crate::ops::reduce::{Over, reduce};
use crate::ops::softmax::softmax;
use crate::tensor::Tensor;

/// What becomes of the losses; libtorch's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Reduction {
    None,
    Mean,
    Sum,
}

impl Reduction {
    /// The reduction of a number.
    pub fn of(op: &'static str, code: i64) -> Result<Reduction> {
        match code {
            0 => Ok(Reduction::None),
            1 => Ok(Reduction::Mean),
            2 => Ok(Reduction::Sum),
            _ => Err(Error::shape(
                op,
                &[],
                format!("reduction {code}: expected 0 (none), 1 (mean) or 2 (sum)"),
            )),
        }
    }

    fn apply(self, ctx: &Context, losses: Tensor) -> Result<Tensor> {
        let op = match self {
            Reduction::None => return Ok(losses),
            Reduction::Mean => ReduceOp::Mean,
            Reduction::Sum => ReduceOp::Sum,
        };
        let over = Over { dims: None, keep_dim: false };
        made(reduce(ctx, op, &losses, over, None, 0.0, Out::New))
    }

    /// What each loss counts in the result.
    fn factor(self, n: i64) -> f64 {
        if self == Reduction::Mean { 1.0 / n as f64 } else { 1.0 }
    }
}

/// A loss of two operands; `p`: its number.
pub fn loss(
    ctx: &Context,
    op: PairOp,
    x: &Tensor,
    target: &Tensor,
    reduction: Reduction,
    p: f64,
) -> Result<Tensor> {
    check_number(op.name(), x, target, p)?;
    // A quadratic part of no width is none.
    let op = if op == PairOp::SmoothL1Loss && p == 0.0 { PairOp::L1Loss } else { op };
    let losses = made(pair(ctx, op, x, target, [p, 0.0, 0.0], Out::New))?;
    reduction.apply(ctx, losses)
}

/// Smooth and Huber losses have a width.
fn check_number(op: &'static str, x: &Tensor, target: &Tensor, p: f64) -> Result<()> {
    let least = match op {
        "smooth_l1_loss" | "smooth_l1_loss_backward" => p >= 0.0,
        "huber_loss" | "huber_loss_backward" => p > 0.0,
        _ => true,
    };
    if least {
        return Ok(());
    }
    Err(Error::shape(op, &[x, target], format!("the width {p} must be positive")))
}

/// The gradient of a loss for its first operand; `grad`: of the result.
pub fn loss_backward(
    ctx: &Context,
    op: TripleOp,
    grad: &Tensor,
    x: &Tensor,
    target: &Tensor,
    reduction: Reduction,
    p: f64,
) -> Result<Tensor> {
    check_number(op.name(), x, target, p)?;
    let twice = if op == TripleOp::MseLossBackward { 2.0 } else { 1.0 };
    let numbers = [twice * reduction.factor(x.numel()), p, 0.0];
    made(triple(ctx, op, [grad, x, target].map(Arg::Tensor), numbers, Out::New))
}

fn same_shape(op: &'static str, x: &Tensor, target: &Tensor) -> Result<()> {
    if x.shape() == target.shape() {
        return Ok(());
    }
    Err(Error::shape(op, &[x, target], "input and target must have one shape"))
}

/// `t` times a tensor that may be missing, in place; `t` is ours.
fn times(ctx: &Context, op: &'static str, t: Tensor, factor: Option<&Tensor>) -> Result<Tensor> {
    let Some(factor) = factor else { return Ok(t) };
    let fits = factor.broadcast_to(op, t.shape()).is_ok();
    if fits && factor.dtype() == t.dtype() {
        binary(ctx, BinaryOp::Mul, &[Arg::Tensor(&t), Arg::Tensor(factor)], None, Out::InPlace)?;
        return Ok(t);
    }
    made(binary(ctx, BinaryOp::Mul, &[Arg::Tensor(&t), Arg::Tensor(factor)], None, Out::New))
}

/// Cross entropy of probabilities, which must lie in [0, 1].
pub fn binary_cross_entropy(
    ctx: &Context,
    x: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: Reduction,
) -> Result<Tensor> {
    let op = "binary_cross_entropy";
    floats(op, &[x, target])?;
    same_shape(op, x, target)?;
    if x.numel() > 0 {
        let extreme = |which| {
            let over = Over { dims: None, keep_dim: false };
            item::<f64>(ctx, &made(reduce(ctx, which, x, over, None, 0.0, Out::New))?)
        };
        let (least, greatest) = (extreme(ReduceOp::Amin)?, extreme(ReduceOp::Amax)?);
        if !(least >= 0.0 && greatest <= 1.0) {
            let bad = if least >= 0.0 { greatest } else { least };
            let text = format!("all elements of the input must lie in [0, 1], one is {bad}");
            return Err(Error::dtype(op, &[x, target], text));
        }
    }
    let losses = made(pair(ctx, PairOp::BinaryCrossEntropy, x, target, [0.0; 3], Out::New))?;
    reduction.apply(ctx, times(ctx, op, losses, weight)?)
}

/// Its gradient for the probabilities.
pub fn binary_cross_entropy_backward(
    ctx: &Context,
    grad: &Tensor,
    x: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: Reduction,
) -> Result<Tensor> {
    let op = TripleOp::BinaryCrossEntropyBackward;
    floats(op.name(), &[grad, x, target])?;
    same_shape(op.name(), x, target)?;
    let p = [reduction.factor(x.numel()), 0.0, 0.0];
    let slopes = made(triple(ctx, op, [grad, x, target].map(Arg::Tensor), p, Out::New))?;
    times(ctx, op.name(), slopes, weight)
}

/// What a missing weight of positives is.
fn positives(weight: Option<&Tensor>) -> Arg<'_> {
    weight.map_or(Arg::Scalar(Scalar::Float(1.0)), Arg::Tensor)
}

/// Cross entropy of logits, without overflow on the way.
pub fn binary_cross_entropy_with_logits(
    ctx: &Context,
    x: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    pos_weight: Option<&Tensor>,
    reduction: Reduction,
) -> Result<Tensor> {
    let op = TripleOp::BceLogits;
    same_shape(op.name(), x, target)?;
    let args = [Arg::Tensor(x), Arg::Tensor(target), positives(pos_weight)];
    let losses = made(triple(ctx, op, args, [0.0; 3], Out::New))?;
    reduction.apply(ctx, times(ctx, op.name(), losses, weight)?)
}

/// Its gradient for the logits.
pub fn binary_cross_entropy_with_logits_backward(
    ctx: &Context,
    grad: &Tensor,
    x: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    pos_weight: Option<&Tensor>,
    reduction: Reduction,
) -> Result<Tensor> {
    let op = "binary_cross_entropy_with_logits_backward";
    same_shape(op, x, target)?;
    let args = [Arg::Tensor(x), Arg::Tensor(target), positives(pos_weight)];
    // The slope has the sign of the sum in the bracket turned: d/dx = 1 - t - (...) * sigmoid(-x).
    let p = [reduction.factor(x.numel()), 0.0, 0.0];
    let slopes = made(triple(ctx, TripleOp::BceLogitsSlope, args, p, Out::New))?;
    let slopes = times(ctx, op, slopes, weight)?;
    times(ctx, op, slopes, Some(grad))
}

/// An input of a likelihood as `[samples, classes, places]`.
struct Nll {
    x: Tensor,
    target: Tensor,
    weight: Option<Tensor>,
    classes: i64,
    places: i64,
}

impl Nll {
    fn new(
        ctx: &Context,
        op: &'static str,
        x: &Tensor,
        target: &Tensor,
        weight: Option<&Tensor>,
        ignored: i64,
    ) -> Result<Nll> {
        let both = [x, target];
        let dtype = floats(op, &[x])?;
        if x.rank() == 0 {
            return Err(Error::shape(
                op,
                &both,
                "expected classes in dimension 1, or 0 of a vector",
            ));
        }
        if !matches!(target.dtype(), DType::I64 | DType::U8) {
            return Err(Error::dtype(op, &both, "classes must be i64 or u8"));
        }
        let at = (x.rank() > 1) as usize;
        let classes = x.shape()[at];
        let mut wanted = x.shape().to_vec();
        wanted.remove(at);
        if target.shape() != wanted {
            return Err(Error::shape(op, &both, format!("the classes must have shape {wanted:?}")));
        }
        if let Some(w) = weight {
            floats(op, &[x, w])?;
            if w.shape() != [classes] {
                let text = format!("the weights must have shape [{classes}]");
                return Err(Error::shape(op, &[x, target, w], text));
            }
        }
        let target = dense(ctx, target, DType::I64)?;
        let n = target.numel() as usize;
        // SAFETY: a dense tensor of type i64.
        let all = unsafe { std::slice::from_raw_parts(target.view().start().cast::<i64>(), n) };
        if let Some((i, bad)) =
            all.iter().enumerate().find(|(_, c)| **c != ignored && !(0..classes).contains(*c))
        {
            let text = format!("class {bad} at place {i} is outside [0, {classes})");
            return Err(Error::index(op, &[x, &target], text));
        }
        let places = x.shape()[(at + 1).min(x.rank())..].iter().product();
        let weight = weight.map(|w| dense(ctx, w, dtype.compute())).transpose()?;
        Ok(Nll { x: dense(ctx, x, dtype)?, target, weight, classes, places })
    }

    fn classes<T>(&self, ignored: i64) -> Classes<T> {
        Classes {
            classes: self.classes,
            places: self.places,
            target: self.target.view().start().cast(),
            weight: self.weight.as_ref().map_or(std::ptr::null(), |w| w.view().start().cast()),
            ignored,
        }
    }
}

/// Negative log likelihoods of classes, and the sum of the weights that counted (0 where each
/// loss is wanted). `x`: `[classes]` or `[samples, classes, places…]`.
pub fn nll_loss(
    ctx: &Context,
    op: &'static str,
    x: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: Reduction,
    ignored: i64,
) -> Result<(Tensor, Tensor)> {
    let nll = Nll::new(ctx, op, x, target, weight, ignored)?;
    let n = nll.target.numel();
    if reduction == Reduction::None {
        let out = Tensor::empty(ctx, op, x.dtype(), target.shape())?;
        let to = out.view_mut();
        with_dtype!(x.dtype(), S => {
            let classes = nll.classes::<<S as wick_core::Element>::Compute>(ignored);
            let from = nll.x.view();
            ctx.for_ranges(n, 3.0, &|start, end| {
                // SAFETY: dense tensors of the sizes that were checked, as were the classes.
                unsafe {
                    classes.each::<S>(from.start().cast(), to.start().cast(), start, end);
                }
            });
        });
        return Ok((out, full(ctx, x.dtype(), &[], Scalar::Int(0))?));
    }
    let runs = (n + RUN - 1) / RUN;
    let mut sums = vec![(0.0f64, 0.0f64); runs.max(1) as usize];
    let to = Sums(sums.as_mut_ptr());
    with_dtype!(x.dtype(), S => {
        let classes = nll.classes::<<S as wick_core::Element>::Compute>(ignored);
        let from = nll.x.view();
        ctx.for_ranges(runs, 3.0 * RUN as f64, &|start, end| {
            for run in start..end {
                let first = run * RUN;
                // SAFETY: as above; each run's sum is one task's.
                unsafe {
                    *to.at(run) =
                        classes.sums::<S>(from.start().cast(), first, (first + RUN).min(n));
                }
            }
        });
    });
    let (loss, total) = sums.iter().fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
    let loss = if reduction == Reduction::Mean { loss / total } else { loss };
    let number = |v| full(ctx, x.dtype(), &[], Scalar::Float(v));
    Ok((number(loss)?, number(total)?))
}

/// Where the sums of runs go.
struct Sums(*mut (f64, f64));

// SAFETY: each element is written by one task.
unsafe impl Sync for Sums {}

impl Sums {
    fn at(&self, i: i64) -> *mut (f64, f64) {
        self.0.wrapping_add(i as usize)
    }
}

/// The gradient of [`nll_loss`] for the log probabilities.
#[allow(clippy::too_many_arguments)]
pub fn nll_loss_backward(
    ctx: &Context,
    op: &'static str,
    grad: &Tensor,
    x: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: Reduction,
    ignored: i64,
    total: &Tensor,
) -> Result<Tensor> {
    let nll = Nll::new(ctx, op, x, target, weight, ignored)?;
    let dtype = floats(op, &[x, grad, total])?;
    let each = reduction == Reduction::None;
    let wanted: &[i64] = if each { target.shape() } else { &[] };
    if grad.shape() != wanted && !(wanted.is_empty() && grad.numel() == 1) {
        let text = format!("the gradient must have shape {wanted:?}");
        return Err(Error::shape(op, &[grad, x, target], text));
    }
    let scale = if reduction == Reduction::Mean { 1.0 / item::<f64>(ctx, total)? } else { 1.0 };
    let g = dense(ctx, grad, dtype)?;
    let out = full(ctx, dtype, x.shape(), Scalar::Int(0))?;
    let to = out.view_mut();
    with_dtype!(dtype, S => {
        type C = <S as wick_core::Element>::Compute;
        let classes = nll.classes::<C>(ignored);
        let from = g.view();
        ctx.for_ranges(nll.target.numel(), 4.0, &|start, end| {
            let grads = (from.start().cast::<S>(), i64::from(each));
            // SAFETY: as in nll_loss; each sample and place is one task's.
            unsafe {
                classes.slopes::<S>(grads, C::from_f64(scale), to.start().cast(), start, end);
            }
        });
    });
    Ok(out)
}

/// Cross entropy of logits: against classes, or against probabilities of the input's shape.
#[allow(clippy::too_many_arguments)]
pub fn cross_entropy(
    ctx: &Context,
    x: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: Reduction,
    ignored: i64,
    smoothing: f64,
) -> Result<Tensor> {
    let op = "cross_entropy_loss";
    if !(0.0..=1.0).contains(&smoothing) {
        let text = format!("the label smoothing {smoothing} must lie in [0, 1]");
        return Err(Error::shape(op, &[x, target], text));
    }
    if x.rank() == 0 {
        return Err(Error::shape(op, &[x, target], "expected at least one dimension"));
    }
    let dim = (x.rank() > 1) as i64;
    let logs = softmax(ctx, true, x, dim, None)?;
    let over = Over { dims: Some(&[dim]), keep_dim: false };
    let classes = x.shape()[dim as usize];
    let mul =
        |a: &Tensor, b: Arg| made(binary(ctx, BinaryOp::Mul, &[Arg::Tensor(a), b], None, Out::New));
    let weights = match weight {
        None => None,
        Some(w) => {
            floats(op, &[x, w])?;
            if w.shape() != [classes] {
                let text = format!("the weights must have shape [{classes}]");
                return Err(Error::shape(op, &[x, target, w], text));
            }
            let mut sizes = vec![1; x.rank()];
            sizes[dim as usize] = classes;
            let w = dense(ctx, w, w.dtype())?;
            Some(w.with_layout(op, w.layout().view(&sizes))?)
        }
    };
    if target.dtype().is_float() {
        floats(op, &[x, target])?;
        same_shape(op, x, target)?;
        let mut target = target.clone();
        if smoothing > 0.0 {
            target = mul(&target, Arg::Scalar(Scalar::Float(1.0 - smoothing)))?;
            let add = Arg::Scalar(Scalar::Float(smoothing / classes as f64));
            binary(ctx, BinaryOp::Add, &[Arg::Tensor(&target), add], None, Out::InPlace)?;
        }
        let mut terms = mul(&logs, Arg::Tensor(&target))?;
        if let Some(w) = &weights {
            terms = mul(&terms, Arg::Tensor(w))?;
        }
        let sums = made(reduce(ctx, ReduceOp::Sum, &terms, over, None, 0.0, Out::New))?;
        unary(ctx, UnaryOp::Neg, &sums, [0.0; 3], Out::InPlace)?;
        // The mean is one over the samples and places.
        return reduction.apply(ctx, sums);
    }
    let (loss, total) = nll_loss(ctx, op, &logs, target, weight, reduction, ignored)?;
    if smoothing == 0.0 {
        return Ok(loss);
    }
    // The smooth part: the mean over classes of the weighted losses of samples that count.
    let terms = match &weights {
        Some(w) => mul(&logs, Arg::Tensor(w))?,
        None => logs.clone(),
    };
    let smooth = made(reduce(ctx, ReduceOp::Sum, &terms, over, None, 0.0, Out::New))?;
    let ignored = Arg::Scalar(Scalar::Int(ignored));
    let counts = made(binary(ctx, BinaryOp::Ne, &[Arg::Tensor(target), ignored], None, Out::New))?;
    let mut smooth = mul(&smooth, Arg::Tensor(&cast(ctx, &counts, x.dtype())?))?;
    if reduction != Reduction::None {
        smooth = Reduction::Sum.apply(ctx, smooth)?;
    }
    if reduction == Reduction::Mean {
        smooth = if weights.is_some() {
            made(binary(
                ctx,
                BinaryOp::Div,
                &[Arg::Tensor(&smooth), Arg::Tensor(&total)],
                None,
                Out::New,
            ))?
        } else {
            let n = Reduction::Sum.apply(ctx, cast(ctx, &counts, x.dtype())?)?;
            made(binary(
                ctx,
                BinaryOp::Div,
                &[Arg::Tensor(&smooth), Arg::Tensor(&n)],
                None,
                Out::New,
            ))?
        };
    }
    let part = mul(&smooth, Arg::Scalar(Scalar::Float(-smoothing / classes as f64)))?;
    let rest = mul(&loss, Arg::Scalar(Scalar::Float(1.0 - smoothing)))?;
    made(binary(ctx, BinaryOp::Add, &[Arg::Tensor(&rest), Arg::Tensor(&part)], None, Out::New))
}
