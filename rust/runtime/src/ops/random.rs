//! Random tensors. Each draw says where in which sequence it begins, or takes the context's next
//! steps; a draw that fails takes none.

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use wick_core::DType;
use wick_core::block::{BLOCK, Buffer, gather};
use wick_core::kernels::elementwise::Scalar;
use wick_core::kernels::random::{Draw, Law, Shuffle, steps};
use wick_core::kernels::rejection::{Rejection, Variate};

use crate::context::{Context, Stream};
use crate::error::{Error, Kind, Operand, Operands, Result};
use crate::ops::array::contiguous;
use crate::ops::creation::check_value;
use crate::ops::elementwise::copy;
use crate::ops::promote::check_writable;
use crate::tensor::Tensor;

wick_core::named_ops! {
    /// Operations with up to two numbers as parameters.
    RandomOp {
        /// Uniform on [0, 1).
        Rand "rand",
        /// Normal with mean 0 and deviation 1.
        Randn "randn",
        /// Uniform on [low, high).
        Uniform "uniform",
        /// Normal with a mean and a deviation.
        Normal "normal",
        /// Integers from low up to, not including, high.
        Randint "randint",
        /// 1 with a probability, else 0.
        Bernoulli "bernoulli",
        /// Exponential with a rate.
        Exponential "exponential",
    }
}

/// An operation's parameters; each uses its own kind.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum Parameters {
    Float(f64, f64),
    Int(i64, i64),
}

/// A new tensor.
pub fn random(
    ctx: &Context,
    op: RandomOp,
    dtype: DType,
    shape: &[i64],
    p: Parameters,
    stream: Option<Stream>,
) -> Result<Tensor> {
    let law = law(op, dtype, shape, p)?;
    let out = Tensor::empty(ctx, op.name(), dtype, shape)?;
    draw(ctx, &out, law, stream);
    Ok(out)
}

/// New values for all elements; element i in row-major order gets what it would in a new tensor.
pub fn random_in_place(
    ctx: &Context,
    op: RandomOp,
    a: &Tensor,
    p: Parameters,
    stream: Option<Stream>,
) -> Result<()> {
    let law = law(op, a.dtype(), a.shape(), p)?;
    check_writable(op.name(), a, &[])?;
    if a.layout().is_contiguous() {
        draw(ctx, a, law, stream);
        return Ok(());
    }
    let values = Tensor::empty(ctx, op.name(), a.dtype(), a.shape())?;
    draw(ctx, &values, law, stream);
    copy(ctx, a, &values)
}

/// 1 with the probability that stands in the same place of a float tensor, else 0.
pub fn bernoulli_of(ctx: &Context, probs: &Tensor, stream: Option<Stream>) -> Result<Tensor> {
    let op = "bernoulli";
    if !probs.dtype().is_float() {
        return Err(Error::dtype(op, &[probs], "probabilities need a float dtype"));
    }
    let lying = contiguous(ctx, probs)?;
    if let Some(i) = first_outside(ctx, &lying, 1.0) {
        let text = format!("the probability at element {i} is not in [0, 1]");
        return Err(Error::dtype(op, &[probs], text));
    }
    let out = Tensor::empty(ctx, op, probs.dtype(), probs.shape())?;
    let probs = lying.view();
    draw(ctx, &out, Law::BernoulliOf { probs }, stream);
    Ok(out)
}

wick_core::named_ops! {
    /// Distributions whose parameters are a float tensor, of which the result has shape and type.
    VariateOp {
        /// Poisson; the parameters are rates.
        Poisson "poisson",
        /// Gamma of scale 1; the parameters are shapes.
        Gamma "_standard_gamma",
    }
}

/// A random element for each parameter.
pub fn variate(
    ctx: &Context,
    op: VariateOp,
    parameters: &Tensor,
    stream: Option<Stream>,
) -> Result<Tensor> {
    let name = op.name();
    if !parameters.dtype().is_float() {
        return Err(Error::dtype(name, &[parameters], "parameters need a float dtype"));
    }
    let lying = contiguous(ctx, parameters)?;
    if let Some(i) = first_outside(ctx, &lying, f64::INFINITY) {
        let text = format!("the parameter at element {i} is negative or NaN");
        return Err(Error::dtype(name, &[parameters], text));
    }
    let out = Tensor::empty(ctx, name, parameters.dtype(), parameters.shape())?;
    let Stream { seed, offset } = take(ctx, out.numel(), stream);
    let variate = match op {
        VariateOp::Poisson => Variate::Poisson,
        VariateOp::Gamma => Variate::Gamma,
    };
    let parameters = lying.view();
    ctx.run(&Rejection {
        arch: ctx.arch(),
        out: out.view_mut(),
        parameters,
        variate,
        seed,
        offset,
    });
    Ok(out)
}

/// 0 to n - 1 in random order.
pub fn randperm(ctx: &Context, dtype: DType, n: i64, stream: Option<Stream>) -> Result<Tensor> {
    let op = "randperm";
    let refuse = |expected: String| -> Error {
        Kind::DType { op, operands: operand(dtype, &[n]), expected: expected.into() }.into()
    };
    if dtype == DType::Bool {
        return Err(refuse("not defined for bool".into()));
    }
    let most = match exact_bits(dtype) {
        Some(bits) => (1 << bits) + 1,
        None if dtype == DType::U8 => 256,
        None if dtype == DType::I64 => i64::MAX,
        None => 1 << (8 * dtype.size() - 1),
    };
    if n > most {
        return Err(refuse(format!("not all numbers below {n} fit {dtype}")));
    }
    let out = Tensor::empty(ctx, op, dtype, &[n])?;
    let Stream { seed, offset } = take(ctx, n, stream);
    ctx.run(&Shuffle { out: out.view_mut(), seed, offset });
    Ok(out)
}

fn operand(dtype: DType, shape: &[i64]) -> Operands {
    Operands(vec![Operand { dtype, shape: shape.into() }])
}

fn take(ctx: &Context, n: i64, stream: Option<Stream>) -> Stream {
    stream.unwrap_or_else(|| ctx.draw(steps(n)))
}

fn draw(ctx: &Context, out: &Tensor, law: Law, stream: Option<Stream>) {
    let Stream { seed, offset } = take(ctx, out.numel(), stream);
    ctx.run(&Draw { arch: ctx.arch(), out: out.view_mut(), law, seed, offset });
}

/// Digits of a float type's significand.
fn exact_bits(dtype: DType) -> Option<u32> {
    match dtype {
        DType::F64 => Some(53),
        DType::F32 => Some(24),
        DType::F16 => Some(11),
        DType::BF16 => Some(8),
        _ => None,
    }
}

/// Checks an operation's parameters against the type.
fn law(op: RandomOp, dtype: DType, shape: &[i64], p: Parameters) -> Result<Law> {
    let refuse = |expected: String| {
        let operands = operand(dtype, shape);
        Err(Kind::DType { op: op.name(), operands, expected: expected.into() }.into())
    };
    use RandomOp::{Exponential, Normal, Rand, Randn, Uniform};
    let needs_float = matches!(op, Rand | Randn | Uniform | Normal | Exponential);
    if needs_float && !dtype.is_float() {
        return refuse("expected a float dtype".into());
    }
    match (op, p) {
        (RandomOp::Rand, _) => Ok(Law::Uniform { low: 0.0, span: 1.0, top: 1.0 }),
        (RandomOp::Randn, _) => Ok(Law::Normal { mean: 0.0, std: 1.0 }),
        (RandomOp::Uniform, Parameters::Float(low, high)) => {
            for v in [low, high] {
                check_value(op.name(), dtype, shape, Scalar::Float(v))?;
            }
            let (low, high) = (round(dtype, low), round(dtype, high));
            let span = round(dtype.compute(), high - low);
            if low > high || low.is_nan() || high.is_nan() {
                return refuse(format!("low {low} must not exceed high {high}"));
            }
            if !span.is_finite() {
                return refuse(format!("the distance from {low} to {high} is not finite"));
            }
            let top = if low < high { before(dtype, high) } else { low };
            Ok(Law::Uniform { low, span, top })
        }
        (RandomOp::Normal, Parameters::Float(mean, std)) => {
            if std < 0.0 || std.is_nan() {
                return refuse(format!("the deviation must not be negative: {std}"));
            }
            Ok(Law::Normal { mean, std })
        }
        (RandomOp::Exponential, Parameters::Float(rate, _)) => {
            if !(rate > 0.0 && rate.is_finite()) {
                return refuse(format!("the rate must be positive: {rate}"));
            }
            Ok(Law::Exponential { rate })
        }
        (RandomOp::Bernoulli, Parameters::Float(p, _)) => {
            if !(0.0..=1.0).contains(&p) {
                return refuse(format!("the probability {p} is not in [0, 1]"));
            }
            Ok(Law::Bernoulli { p })
        }
        (RandomOp::Randint, Parameters::Int(low, high)) => {
            if low >= high {
                return refuse(format!("low {low} must be less than high {high}"));
            }
            for v in [low, high - 1] {
                if !holds(dtype, v) {
                    return refuse(format!("{v} does not fit {dtype}"));
                }
            }
            let (bottom, top) = match exact_bits(dtype) {
                None => (low, high - 1),
                Some(bits) => {
                    let top = floor_to(bits, i128::from(high) - 1);
                    let bottom = -floor_to(bits, -i128::from(low));
                    if bottom > top {
                        return refuse(format!("no {dtype} lies in [{low}, {high})"));
                    }
                    (bottom as i64, top as i64)
                }
            };
            let span = high.wrapping_sub(low) as u64;
            Ok(Law::Integer { low, span, bottom, top })
        }
        _ => Err(Error::internal(format!("{}: parameters of another kind", op.name()).into())),
    }
}

/// Whether a type holds an integer, or one near it.
fn holds(dtype: DType, v: i64) -> bool {
    match dtype {
        DType::Bool => (0..=1).contains(&v),
        DType::U8 => (0..=255).contains(&v),
        _ => check_value("", dtype, &[], Scalar::Int(v)).is_ok(),
    }
}

/// The largest number of so many binary digits that is not above `v`.
fn floor_to(digits: u32, v: i128) -> i128 {
    let length = i128::BITS - v.unsigned_abs().leading_zeros();
    let shift = length.saturating_sub(digits);
    v >> shift << shift
}

/// `v` as the type has it.
fn round(dtype: DType, v: f64) -> f64 {
    wick_core::with_dtype!(dtype, D => {
        let stored = <D as wick_core::Element>::store(v);
        wick_core::Number::to_f64(wick_core::Element::load(stored))
    })
}

/// The float before `v`, which the type holds.
fn before(dtype: DType, v: f64) -> f64 {
    // Bits of both half types order as the numbers do, downwards below zero.
    let down = |bits: u16| match bits {
        0 | 0x8000 => 0x8001,
        b if b & 0x8000 != 0 => b + 1,
        b => b - 1,
    };
    match dtype {
        DType::F64 => v.next_down(),
        DType::F16 => half::f16::from_bits(down(half::f16::from_f64(v).to_bits())).into(),
        DType::BF16 => half::bf16::from_bits(down(half::bf16::from_f64(v).to_bits())).into(),
        _ => f64::from((v as f32).next_down()),
    }
}

/// The first element in row-major order that is not in [0, `most`], NaNs among them.
pub(super) fn first_outside(ctx: &Context, a: &Tensor, most: f64) -> Option<i64> {
    let view = a.view();
    let nest = wick_core::Nest::new(&[&view.layout]);
    let first = AtomicI64::new(i64::MAX);
    ctx.for_ranges(nest.numel(), 0.5, &|start, end| {
        let mut buffer = Buffer::<f64>::uninit();
        for at in (start..end).step_by(BLOCK) {
            let n = (end - at).min(BLOCK as i64) as usize;
            // SAFETY: gather writes the whole slice; the tensor keeps its storage.
            let values = unsafe {
                let values = buffer.slice(n);
                gather(ctx.arch(), &view, &nest, 0, at, values);
                values
            };
            if let Some(i) = values.iter().position(|v| !(0.0..=most).contains(v)) {
                first.fetch_min(at + i as i64, Relaxed);
                return;
            }
        }
    });
    Some(first.into_inner()).filter(|i| *i < i64::MAX)
}
