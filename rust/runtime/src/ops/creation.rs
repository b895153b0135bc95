//! Tensors from nothing: filled, counted, spaced.

use wick_core::kernels::creation::{Ramp, Sequence};
use wick_core::kernels::elementwise::Scalar;
use wick_core::kernels::fill::Fill;
use wick_core::{DType, Layout, LayoutError};

use crate::context::Context;
use crate::error::{Error, Kind, Operand, Operands, Result};
use crate::ops::array::item;
use crate::ops::promote::check_open;
use crate::tensor::Tensor;

/// All elements one value, cast to the dtype.
pub fn full(ctx: &Context, dtype: DType, shape: &[i64], value: Scalar) -> Result<Tensor> {
    check_value("full", dtype, shape, value)?;
    let out = Tensor::empty(ctx, "full", dtype, shape)?;
    fill_values(ctx, &out, value);
    Ok(out)
}

/// Elements to be written before they are read. They are any in a release build, and zeros in a
/// debug build, so that what depends on them is seen to.
pub fn empty(ctx: &Context, dtype: DType, shape: &[i64]) -> Result<Tensor> {
    let out = Tensor::empty(ctx, "empty", dtype, shape)?;
    if cfg!(debug_assertions) {
        fill_values(ctx, &out, Scalar::Int(0));
    }
    Ok(out)
}

/// Sets all elements. Allowed on elements that share a place: they all get the one value.
pub fn fill(ctx: &Context, a: &Tensor, value: Scalar) -> Result<()> {
    check_open("fill_", a)?;
    check_value("fill_", a.dtype(), a.shape(), value)?;
    fill_values(ctx, a, value);
    Ok(())
}

/// As [`fill`] with the value of a tensor without dimensions.
pub fn fill_tensor(ctx: &Context, a: &Tensor, value: &Tensor) -> Result<()> {
    if value.rank() != 0 {
        return Err(Error::shape(
            "fill_",
            &[a, value],
            "the value must be a number or a tensor without dimensions",
        ));
    }
    let value = match value.dtype() {
        DType::Bool => Scalar::Bool(item::<i64>(ctx, value)? != 0),
        d if d.is_float() => Scalar::Float(item(ctx, value)?),
        _ => Scalar::Int(item(ctx, value)?),
    };
    fill(ctx, a, value)
}

pub(crate) fn fill_values(ctx: &Context, a: &Tensor, value: Scalar) {
    ctx.run(&Fill::new(a.view_over(), value));
}

/// libtorch's rule for a number that becomes an element: a fraction is cut off and anything may
/// become bool, but what is outside the dtype's range is refused. Infinities and NaN are in the
/// range of floats; negative integers count from the top of u8.
pub(crate) fn check_value(
    op: &'static str,
    dtype: DType,
    shape: &[i64],
    value: Scalar,
) -> Result<()> {
    let fits = match (value, dtype) {
        (Scalar::Bool(_), _) | (_, DType::Bool) => true,
        (Scalar::Int(v), DType::U8) => (-255..=255).contains(&v),
        (Scalar::Int(v), DType::F16) => (-65504..=65504).contains(&v),
        (Scalar::Int(v), _) => match bits(dtype) {
            Some(bits) => v >= -1 << (bits - 1) && v <= i64::MAX >> (64 - bits),
            None => true,
        },
        (Scalar::Float(v), _) => match (bits(dtype), dtype) {
            (_, DType::U8) => (0.0..=255.0).contains(&v),
            (Some(64), _) => (-TWO_63..TWO_63).contains(&v),
            (Some(bits), _) => {
                let half = (1i64 << (bits - 1)) as f64;
                (-half..=half - 1.0).contains(&v)
            }
            (None, DType::F16) => !v.is_finite() || v.abs() <= 65504.0,
            (None, DType::BF16) => !v.is_finite() || v.abs() <= f64::from(half::bf16::MAX),
            (None, DType::F32) => !v.is_finite() || v.abs() <= f64::from(f32::MAX),
            (None, _) => true,
        },
    };
    if fits {
        return Ok(());
    }
    let expected = match value {
        Scalar::Int(v) => format!("the value {v} does not fit {dtype}"),
        Scalar::Float(v) => format!("the value {v} does not fit {dtype}"),
        Scalar::Bool(v) => format!("the value {v} does not fit {dtype}"),
    };
    Err(Kind::DType { op, operands: operand(dtype, shape), expected: expected.into() }.into())
}

const TWO_63: f64 = 9_223_372_036_854_775_808.0;

/// Bits of an integer type.
fn bits(dtype: DType) -> Option<u32> {
    (!dtype.is_float()).then_some(8 * dtype.size() as u32)
}

fn operand(dtype: DType, shape: &[i64]) -> Operands {
    Operands(vec![Operand { dtype, shape: shape.into() }])
}

/// Ones on the main diagonal, zeros elsewhere.
pub fn eye(ctx: &Context, dtype: DType, n: i64, m: i64) -> Result<Tensor> {
    let out = Tensor::empty(ctx, "eye", dtype, &[n, m])?;
    fill_values(ctx, &out, Scalar::Int(0));
    let step = m.saturating_add(1);
    let diagonal = out.with_layout("eye", Layout::strided(&[n.min(m)], &[step], 0))?;
    fill_values(ctx, &diagonal, Scalar::Int(1));
    Ok(out)
}

/// What a refused range is told by.
fn refuse(op: &'static str, expected: String) -> Error {
    Kind::Shape { op, operands: Operands(vec![]), expected: expected.into() }.into()
}

fn no_bool(op: &'static str, dtype: DType) -> Result<()> {
    if dtype == DType::Bool {
        return Err(Error::dtype(op, &[], "not defined for bool"));
    }
    Ok(())
}

/// start, start + step, … below `end` (above it where the step is negative). Element i is
/// start + i * step in i64 where the bounds are integers or the dtype is one (fractions of the
/// bounds are then cut off, as in libtorch), else in f64; it is rounded to the dtype once.
pub fn arange(
    ctx: &Context,
    dtype: DType,
    start: Scalar,
    end: Scalar,
    step: Scalar,
) -> Result<Tensor> {
    let op = "arange";
    no_bool(op, dtype)?;
    if let (Scalar::Int(start), Scalar::Int(end), Scalar::Int(step)) = (start, end, step) {
        let count = steps_between(op, dtype, start, end, step)?;
        return sequence(ctx, op, dtype, count, Ramp::Int { start, step });
    }
    let bounds = [start, end, step];
    let [s, e, by] = bounds.map(|v| v.to::<f64>());
    if !(s.is_finite() && e.is_finite() && by.is_finite()) {
        let text = format!("{dtype} from {s} to {e} by {by}: the range is not finite");
        return Err(refuse(op, text));
    }
    if dtype.is_float() {
        let count = float_steps(op, dtype, s, e, by)?;
        let ramp = Ramp::Float { start: s, step: by };
        return sequence(ctx, op, dtype, count, ramp);
    }
    for value in bounds {
        check_value(op, DType::I64, &[], value)?;
    }
    let [start, end, step] = bounds.map(|v| v.to::<i64>());
    let count = match dtype {
        DType::I64 => steps_between(op, dtype, start, end, step)?,
        _ => {
            check_step(op, dtype, start, end, step)?;
            float_steps(op, dtype, s, e, by)?
        }
    };
    sequence(ctx, op, dtype, count, Ramp::Int { start, step })
}

fn check_step<T: PartialOrd + Default + std::fmt::Display>(
    op: &'static str,
    dtype: DType,
    start: T,
    end: T,
    step: T,
) -> Result<()> {
    let zero = T::default();
    let why = if step == zero {
        "the step must not be 0"
    } else if step > zero && end < start || step < zero && end > start {
        "the step leads away from the end"
    } else {
        return Ok(());
    };
    let text = format!("{dtype} from {start} to {end} by {step}: {why}");
    Err(refuse(op, text))
}

fn steps_between(op: &'static str, dtype: DType, start: i64, end: i64, step: i64) -> Result<i64> {
    check_step(op, dtype, start, end, step)?;
    let (span, step) = ((i128::from(end) - i128::from(start)).abs(), i128::from(step).abs());
    let count = (span + step - 1) / step;
    i64::try_from(count).map_err(|_| Error::size(op, dtype, &[i64::MAX], LayoutError::Overflow))
}

fn float_steps(op: &'static str, dtype: DType, start: f64, end: f64, step: f64) -> Result<i64> {
    check_step(op, dtype, start, end, step)?;
    let count = ((end - start) / step).ceil();
    if !(0.0..TWO_63).contains(&count) {
        return Err(Error::size(op, dtype, &[i64::MAX], LayoutError::Overflow));
    }
    Ok(count as i64)
}

fn sequence(
    ctx: &Context,
    op: &'static str,
    dtype: DType,
    count: i64,
    ramp: Ramp,
) -> Result<Tensor> {
    let out = Tensor::empty(ctx, op, dtype, &[count])?;
    ctx.run(&Sequence::new(ctx.arch(), out.view_mut(), ramp));
    Ok(out)
}

/// `steps` numbers at equal distances, the first being `start` and the last `end` exactly; computed
/// in f64 and rounded to the dtype once. An infinite bound makes all of them NaN.
pub fn linspace(ctx: &Context, dtype: DType, start: f64, end: f64, steps: i64) -> Result<Tensor> {
    let op = "linspace";
    no_bool(op, dtype)?;
    for value in [start, end] {
        check_value(op, dtype, &[steps], Scalar::Float(value))?;
    }
    let (start, end) = if dtype.is_float() { (start, end) } else { (start.trunc(), end.trunc()) };
    let last = (steps.max(2) - 1) as f64;
    let step = match (end - start) / last {
        // The difference is too great for f64, the bounds are not.
        step if step.is_infinite() && start.is_finite() && end.is_finite() => {
            let step = end / last - start / last;
            if step.is_finite() { step } else { 0.0 }
        }
        step => step,
    };
    let ramp = match steps {
        1 => Ramp::Float { start, step: 0.0 },
        count => Ramp::Between { start, end, step, count },
    };
    sequence(ctx, op, dtype, steps, ramp)
}
