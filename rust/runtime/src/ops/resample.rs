//! Padding and interpolation, one dimension after the other, and their gradients.

use wick_core::kernels::elementwise::Scalar;
use wick_core::kernels::resample::{Resample, TAPS, Tap};
use wick_core::{DType, Number};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::array::{contiguous, from_elements};
use crate::ops::backward::{back, dense, floats};
use crate::ops::creation::full;
use crate::ops::elementwise::copy;
use crate::ops::index::index_select;
use crate::ops::put::{PutOp, Source, index_put_slices};
use crate::tensor::Tensor;

wick_core::named_ops! {
    /// What stands beyond the edge.
    PadMode {
        /// The elements before the edge, mirrored; the edge itself once.
        Reflect "reflection_pad",
        /// The edge.
        Replicate "replication_pad",
        /// The elements from the other end.
        Circular "circular_pad",
    }
}

/// Pairs of paddings of the last dimension, the one before, and so on: (dimension, before, after).
fn pairs(op: &'static str, x: &Tensor, pad: &[i64]) -> Result<Vec<(usize, i64, i64)>> {
    if !pad.len().is_multiple_of(2) || pad.len() / 2 > x.rank() {
        let text =
            format!("padding {pad:?}: expected two numbers a dimension from the last one on");
        return Err(Error::shape(op, &[x], text));
    }
    Ok(pad.chunks_exact(2).enumerate().map(|(i, p)| (x.rank() - 1 - i, p[0], p[1])).collect())
}

/// The size of a padded dimension.
fn padded(op: &'static str, x: &Tensor, d: usize, before: i64, after: i64) -> Result<i64> {
    let size = x.shape()[d];
    let sum = size.checked_add(before).and_then(|n| n.checked_add(after));
    sum.filter(|n| *n >= 0).ok_or_else(|| {
        let text = format!("padding {before} and {after} of dimension {d} of size {size}");
        Error::shape(op, &[x], format!("{text} leaves no size"))
    })
}

/// Where the parts that stay lie: in the operand and in the result.
fn kept(
    op: &'static str,
    x: &Tensor,
    result: &Tensor,
    pads: &[(usize, i64, i64)],
) -> Result<(Tensor, Tensor)> {
    let (mut from, mut to) = (x.clone(), result.clone());
    for &(d, before, after) in pads {
        let (skip, cut) = ((-before).max(0), (-after).max(0));
        let n = (x.shape()[d] - skip - cut).max(0);
        let skip = skip.min(x.shape()[d]);
        let at = before.clamp(0, result.shape()[d]);
        from = from.with_layout(op, from.layout().narrow(d as i64, skip, n))?;
        to = to.with_layout(op, to.layout().narrow(d as i64, at, n))?;
    }
    Ok((from, to))
}

/// A number around the tensor; a negative padding cuts.
pub fn constant_pad(ctx: &Context, x: &Tensor, pad: &[i64], value: Scalar) -> Result<Tensor> {
    let op = "constant_pad_nd";
    let pads = pairs(op, x, pad)?;
    let mut shape = x.shape().to_vec();
    for &(d, before, after) in &pads {
        shape[d] = padded(op, x, d, before, after)?;
    }
    let out = full(ctx, x.dtype(), &shape, value)?;
    let (from, to) = kept(op, x, &out, &pads)?;
    copy(ctx, &to, &from)?;
    Ok(out)
}

/// Elements around the tensor.
pub fn pad(ctx: &Context, mode: PadMode, x: &Tensor, pad: &[i64]) -> Result<Tensor> {
    let op = mode.name();
    let mut out = contiguous(ctx, x)?;
    for (d, before, after) in pairs(op, x, pad)? {
        let index = edge(ctx, mode, x, d, before, after)?;
        let padded = index_select(ctx, &out, d as i64, &index, None)?;
        out = padded.ok_or_else(|| Error::internal("no result was made".into()))?;
    }
    if pad.is_empty() { crate::ops::rearrange::clone(ctx, op, x) } else { Ok(out) }
}

/// Which element stands at each place of a padded dimension.
fn edge(
    ctx: &Context,
    mode: PadMode,
    x: &Tensor,
    d: usize,
    before: i64,
    after: i64,
) -> Result<Tensor> {
    let op = mode.name();
    let size = x.shape()[d];
    let n = padded(op, x, d, before, after)?;
    let most = match mode {
        PadMode::Reflect => size - 1,
        PadMode::Circular => size,
        PadMode::Replicate => i64::MAX,
    };
    if before < 0 || after < 0 || before > most || after > most || size == 0 {
        let text = format!("padding {before} and {after} of dimension {d} of size {size}");
        return Err(Error::shape(op, &[x], format!("{text}: expected 0 to {}", most.max(0))));
    }
    let elements = usize::try_from(n).unwrap_or(usize::MAX);
    from_elements(ctx, DType::I64, &[n], elements, |bytes| {
        for (i, to) in bytes.chunks_exact_mut(8).enumerate() {
            let at = i as i64 - before;
            let place = match mode {
                PadMode::Replicate => at.clamp(0, size - 1),
                PadMode::Circular => at.rem_euclid(size),
                PadMode::Reflect if at < 0 => -at,
                PadMode::Reflect if at >= size => 2 * (size - 1) - at,
                PadMode::Reflect => at,
            };
            to.copy_from_slice(&place.to_ne_bytes());
        }
    })
}

/// The gradient of [`pad`]: what each element stands for is added up.
pub fn pad_backward(
    ctx: &Context,
    mode: PadMode,
    grad: &Tensor,
    x: &Tensor,
    pad: &[i64],
) -> Result<Tensor> {
    let op = mode.name();
    let dtype = floats(op, &[grad, x])?;
    let pads = pairs(op, x, pad)?;
    let mut shape = x.shape().to_vec();
    for &(d, before, after) in &pads {
        shape[d] = padded(op, x, d, before, after)?;
    }
    if grad.shape() != shape {
        let text = format!("the gradient must have shape {shape:?}");
        return Err(Error::shape(op, &[grad, x], text));
    }
    let compute = dtype.compute();
    let mut out = crate::ops::elementwise::cast(ctx, grad, compute)?;
    for &(d, before, after) in pads.iter().rev() {
        let index = edge(ctx, mode, x, d, before, after)?;
        shape[d] = x.shape()[d];
        let sums = full(ctx, compute, &shape, Scalar::Int(0))?;
        let source = Source::Tensor(&out);
        index_put_slices(ctx, PutOp::IndexAdd, &sums, d as i64, &index, source, true)?;
        out = sums;
    }
    back(ctx, out, dtype)
}

wick_core::named_ops! {
    /// How new elements come about.
    Interpolation {
        /// The nearest, rounded down.
        Nearest "upsample_nearest",
        /// Between the two neighbours of each dimension.
        Linear "upsample_linear",
        /// By cubics through four neighbours of each dimension.
        Cubic "upsample_bicubic",
    }
}

/// The greatest size that is made by interpolation.
const LARGEST: i64 = 1 << 26;

/// What each of `m` elements is made of. `scale`: how much larger the result is said to be.
fn taps(mode: Interpolation, n: i64, m: i64, align: bool, scale: Option<f64>) -> Vec<Tap> {
    let last = (n - 1).max(0);
    let one = |at: i64| Tap { at: [at as usize, 0, 0, 0], weight: [1.0, 0.0, 0.0, 0.0], count: 1 };
    if mode == Interpolation::Nearest {
        // As libtorch, in f32.
        let step = scale.map_or(n as f32 / m as f32, |s| (1.0 / s) as f32);
        return (0..m).map(|i| one(((i as f32 * step) as i64).min(last))).collect();
    }
    let step = if align {
        if m > 1 { last as f64 / (m - 1) as f64 } else { 0.0 }
    } else {
        scale.map_or(n as f64 / m as f64, |s| 1.0 / s)
    };
    (0..m)
        .map(|i| {
            let at = if align { step * i as f64 } else { step * (i as f64 + 0.5) - 0.5 };
            if mode == Interpolation::Linear {
                let at = at.max(0.0);
                let first = (at as i64).min(last);
                let part = (at - first as f64).clamp(0.0, 1.0);
                let next = (first + 1).min(last);
                return Tap {
                    at: [first as usize, next as usize, 0, 0],
                    weight: [1.0 - part, part, 0.0, 0.0],
                    count: 2,
                };
            }
            let first = at.floor();
            let t = at - first;
            let near = |x: f64| (1.25 * x - 2.25) * x * x + 1.0;
            let far = |x: f64| ((-0.75 * x + 3.75) * x - 6.0) * x + 3.0;
            Tap {
                at: std::array::from_fn(|k| (first as i64 - 1 + k as i64).clamp(0, last) as usize),
                weight: [far(t + 1.0), near(t), near(1.0 - t), far(2.0 - t)],
                count: TAPS,
            }
        })
        .collect()
}

fn check_sizes(op: &'static str, x: &Tensor, output: &[i64]) -> Result<()> {
    let dims = output.len();
    if !(1..=3).contains(&dims) || x.rank() != dims + 2 {
        let text = format!("sizes {output:?}: expected an input of {} dimensions", dims + 2);
        return Err(Error::shape(op, &[x], text));
    }
    if x.shape()[2..].iter().chain(output).any(|n| *n < 1) {
        let text = format!("sizes {:?} and {output:?} must be positive", &x.shape()[2..]);
        return Err(Error::shape(op, &[x], text));
    }
    if output.iter().any(|n| *n > LARGEST) {
        let text = format!("sizes {output:?} must be at most {LARGEST}");
        return Err(Error::shape(op, &[x], text));
    }
    Ok(())
}

/// The tensor `[batch, channels, sizes…]` in other sizes; scales are empty or one a dimension.
pub fn interpolate(
    ctx: &Context,
    mode: Interpolation,
    x: &Tensor,
    output: &[i64],
    align: bool,
    scales: &[f64],
) -> Result<Tensor> {
    let op = mode.name();
    let dtype = floats(op, &[x])?;
    check_sizes(op, x, output)?;
    let compute = dtype.compute();
    let mut from = dense(ctx, x, compute)?;
    for (i, m) in output.iter().enumerate() {
        let d = i + 2;
        let mut shape = from.shape().to_vec();
        shape[d] = *m;
        let to = Tensor::empty(ctx, op, compute, &shape)?;
        let taps = taps(mode, from.shape()[d], *m, align, scales.get(i).copied());
        run(ctx, &from, &to, d, &taps, false);
        from = to;
    }
    back(ctx, from, dtype)
}

/// The gradient of [`interpolate`] for an input of shape `shape`.
pub fn interpolate_backward(
    ctx: &Context,
    mode: Interpolation,
    grad: &Tensor,
    shape: &[i64],
    align: bool,
    scales: &[f64],
) -> Result<Tensor> {
    let op = mode.name();
    let dtype = floats(op, &[grad])?;
    let rank = shape.len();
    if grad.rank() != rank || rank < 3 || grad.shape()[..2] != shape[..2] {
        let text = format!("the gradient does not fit an input of shape {shape:?}");
        return Err(Error::shape(op, &[grad], text));
    }
    check_sizes(op, grad, &shape[2..])?;
    let compute = dtype.compute();
    let mut from = dense(ctx, grad, compute)?;
    for d in (2..rank).rev() {
        let taps = taps(mode, shape[d], grad.shape()[d], align, scales.get(d - 2).copied());
        let mut sizes = from.shape().to_vec();
        sizes[d] = shape[d];
        let to = full(ctx, compute, &sizes, Scalar::Int(0))?;
        run(ctx, &to, &from, d, &taps, true);
        from = to;
    }
    back(ctx, from, dtype)
}

fn run(ctx: &Context, large: &Tensor, small: &Tensor, d: usize, taps: &[Tap], back: bool) {
    match large.dtype() {
        DType::F64 => run_as::<f64>(ctx, large, small, d, taps, back),
        _ => run_as::<f32>(ctx, large, small, d, taps, back),
    }
}

fn run_as<T: Number>(
    ctx: &Context,
    large: &Tensor,
    small: &Tensor,
    d: usize,
    taps: &[Tap],
    back: bool,
) {
    let inner = large.shape()[d + 1..].iter().product::<i64>();
    let kernel = Resample::<T> {
        n: large.shape()[d] as usize,
        inner: inner as usize,
        taps,
        large: large.view().start().cast_mut().cast(),
        small: small.view().start().cast_mut().cast(),
    };
    let outer = large.shape()[..d].iter().product();
    let cost = 5.0 + taps.len() as f64 * (2.0 + inner as f64);
    ctx.for_ranges(outer, cost, &|start, end| {
        // SAFETY: dense tensors of these sizes; each line is one task's.
        unsafe { kernel.run(ctx.arch(), start as usize, end as usize, back) };
    });
}
