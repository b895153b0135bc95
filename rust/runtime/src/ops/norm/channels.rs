//! Normalisation by channel and by group of channels.

use wick_core::kernels::norm::{Channels, LANES, Sums, affine};
use wick_core::{DType, Element, Number, Real};

use super::{check, expect, part, part_mut, whole};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::backward::{back, dense};
use crate::ops::elementwise::copy;
use crate::ops::promote::check_writable;
use crate::tensor::Tensor;

/// A tensor `[samples, channels, places…]`.
fn channels(op: &'static str, x: &Tensor) -> Result<Channels> {
    if x.rank() < 2 {
        return Err(Error::shape(op, &[x], "expected a batch of channels: at least 2 dimensions"));
    }
    Ok(Channels {
        samples: x.shape()[0] as usize,
        channels: x.shape()[1] as usize,
        places: x.shape()[2..].iter().product::<i64>() as usize,
    })
}

/// Two sums a channel, by the kernel.
fn sums<T: Real + Number + Element>(
    ctx: &Context,
    sizes: Channels,
    which: Sums,
    x: &Tensor,
    grad: &Tensor,
    mean: &[f64],
) -> Vec<(f64, f64)> {
    let mut out = vec![(0.0, 0.0); sizes.channels];
    let to = Results(out.as_mut_ptr());
    let blocks = sizes.channels.div_ceil(LANES) as i64;
    // Lone channels are whole tasks where they are long.
    let width = if sizes.places > 1 { 1 } else { LANES };
    let tasks = if width == 1 { sizes.channels as i64 } else { blocks };
    let cost = 5.0 + 0.3 * (sizes.samples * sizes.places * width) as f64;
    ctx.for_ranges(tasks, cost, &|start, end| {
        for task in start as usize..end as usize {
            let first = task * width;
            let count = width.min(sizes.channels - first);
            // SAFETY: dense tensors of this type; each channel is one task's.
            unsafe {
                let (x, grad) = (whole::<T>(x), whole::<T>(grad));
                let to = std::slice::from_raw_parts_mut(to.at(first), count);
                sizes.sums(ctx.arch(), which, x, grad, first, &mean[first..first + count], to);
            }
        }
    });
    out
}

/// Where results of channels go.
struct Results(*mut (f64, f64));

// SAFETY: each channel is one task's.
unsafe impl Sync for Results {}

impl Results {
    fn at(&self, i: usize) -> *mut (f64, f64) {
        self.0.wrapping_add(i)
    }
}

/// `grad * a + x * b + c` by channel and sample; `numbers` of each channel, or of each channel of
/// each sample.
fn apply<T: Real + Number + Element>(
    ctx: &Context,
    sizes: Channels,
    x: &Tensor,
    grad: Option<&Tensor>,
    numbers: &[[T; 3]],
    out: &Tensor,
) {
    let Channels { samples, channels, places } = sizes;
    // Channels of a task: whole samples of short ones.
    let width = if places >= 64 { 1 } else { channels.max(1) };
    let tasks = (samples * channels / width.max(1)) as i64;
    ctx.for_ranges(tasks, 5.0 + 0.25 * (width * places) as f64, &|start, end| {
        for task in start as usize..end as usize {
            let first = task * width;
            let (at, n) = (first * places, width * places);
            let from = if numbers.len() == channels { first % channels } else { first };
            // SAFETY: dense tensors of this type; each task has its own channels.
            unsafe {
                let grad = grad.map(|g| part::<T>(g, at, n));
                let numbers = &numbers[from..from + width];
                affine(ctx.arch(), places, part(x, at, n), grad, numbers, part_mut(out, at, n));
            }
        }
    });
}

/// What batch normalisation remembers: means and variances of the channels so far.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Running<'a> {
    pub mean: Option<&'a Tensor>,
    pub var: Option<&'a Tensor>,
}

/// The values of a vector as f64; missing ones are all `otherwise`.
fn numbers(ctx: &Context, t: Option<&Tensor>, n: usize, otherwise: f64) -> Result<Vec<f64>> {
    match t {
        None => Ok(vec![otherwise; n]),
        Some(t) => {
            let t = dense(ctx, t, DType::F64)?;
            // SAFETY: a dense tensor of type f64 that is only read.
            Ok(unsafe { whole::<f64>(&t) }.to_vec())
        }
    }
}

/// A vector of a dtype.
fn vector(ctx: &Context, op: &'static str, dtype: DType, values: &[f64]) -> Result<Tensor> {
    let out = Tensor::empty(ctx, op, DType::F64, &[values.len() as i64])?;
    // SAFETY: a fresh dense tensor.
    unsafe { part_mut::<f64>(&out, 0, values.len()) }.copy_from_slice(values);
    back(ctx, out, dtype)
}

/// Batch normalisation: result, and in training the channels' means and one over their deviations
/// (else two empty tensors). In training the running values move by `momentum`.
#[allow(clippy::too_many_arguments)]
pub fn batch_norm(
    ctx: &Context,
    x: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    running: Running,
    training: bool,
    momentum: f64,
    eps: f64,
) -> Result<[Tensor; 3]> {
    let op = "native_batch_norm";
    let stats = check(op, x, &[weight, bias, running.mean, running.var])?;
    let sizes = channels(op, x)?;
    let n = [sizes.channels as i64];
    expect(op, "weight", weight, x, &n)?;
    expect(op, "bias", bias, x, &n)?;
    expect(op, "running mean", running.mean, x, &n)?;
    expect(op, "running variance", running.var, x, &n)?;
    for t in running.mean.iter().chain(running.var.iter()) {
        if training {
            check_writable(op, t, &[x])?;
        }
    }
    let count = sizes.samples * sizes.places;
    if !training && (running.mean.is_none() || running.var.is_none()) {
        let text = "without training, running mean and variance must be there";
        return Err(Error::shape(op, &[x], text));
    }
    if training && count == 0 && sizes.channels > 0 {
        return Err(Error::shape(op, &[x], "expected at least one value a channel in training"));
    }
    let compute = x.dtype().compute();
    let input = dense(ctx, x, compute)?;
    let out = Tensor::empty(ctx, op, compute, x.shape())?;
    let (mean, var) = if training {
        match compute {
            DType::F64 => batch_moments::<f64>(ctx, sizes, &input),
            _ => batch_moments::<f32>(ctx, sizes, &input),
        }
    } else {
        let c = sizes.channels;
        (numbers(ctx, running.mean, c, 0.0)?, numbers(ctx, running.var, c, 1.0)?)
    };
    let rstd: Vec<f64> = var.iter().map(|v| 1.0 / (v + eps).sqrt()).collect();
    let (w, b) = (numbers(ctx, weight, mean.len(), 1.0)?, numbers(ctx, bias, mean.len(), 0.0)?);
    let lines = |c: usize| {
        let scale = rstd[c] * w[c];
        [0.0, scale, b[c] - mean[c] * scale]
    };
    run_apply(ctx, compute, sizes, &input, None, mean.len(), &lines, &out);
    let out = back(ctx, out, x.dtype())?;
    if !training {
        let none = || Tensor::empty(ctx, op, stats, &[0]);
        return Ok([out, none()?, none()?]);
    }
    let saved = [vector(ctx, op, stats, &mean)?, vector(ctx, op, stats, &rstd)?];
    // Running variances are those without bias.
    let correction = count as f64 / (count as f64 - 1.0);
    let moved = |old: Option<&Tensor>, new: &[f64], factor: f64| -> Result<Option<Tensor>> {
        let Some(old) = old else { return Ok(None) };
        let mut values = numbers(ctx, Some(old), new.len(), 0.0)?;
        for (v, new) in values.iter_mut().zip(new) {
            *v = (1.0 - momentum) * *v + momentum * new * factor;
        }
        vector(ctx, op, old.dtype(), &values).map(Some)
    };
    let (new_mean, new_var) =
        (moved(running.mean, &mean, 1.0)?, moved(running.var, &var, correction)?);
    for (to, from) in [(running.mean, new_mean), (running.var, new_var)] {
        if let (Some(to), Some(from)) = (to, from) {
            copy(ctx, to, &from)?;
        }
    }
    let [mean, rstd] = saved;
    Ok([out, mean, rstd])
}

fn batch_moments<T: Real + Number + Element>(
    ctx: &Context,
    sizes: Channels,
    x: &Tensor,
) -> (Vec<f64>, Vec<f64>) {
    let count = (sizes.samples * sizes.places) as f64;
    let zeros = vec![0.0; sizes.channels];
    let of = |which, mean: &[f64]| -> Vec<f64> {
        sums::<T>(ctx, sizes, which, x, x, mean).iter().map(|s| s.0 / count).collect()
    };
    let mean = of(Sums::Plain, &zeros);
    let var = of(Sums::Square, &mean);
    (mean, var)
}

/// [`apply`] with the numbers of `lines(i)` for `i` below `n`.
#[allow(clippy::too_many_arguments)]
fn run_apply(
    ctx: &Context,
    dtype: DType,
    sizes: Channels,
    x: &Tensor,
    grad: Option<&Tensor>,
    n: usize,
    lines: &dyn Fn(usize) -> [f64; 3],
    out: &Tensor,
) {
    match dtype {
        DType::F64 => {
            let numbers: Vec<[f64; 3]> = (0..n).map(lines).collect();
            apply::<f64>(ctx, sizes, x, grad, &numbers, out);
        }
        _ => {
            let numbers: Vec<[f32; 3]> = (0..n).map(|i| lines(i).map(|v| v as f32)).collect();
            apply::<f32>(ctx, sizes, x, grad, &numbers, out);
        }
    }
}

fn run_sums(
    ctx: &Context,
    sizes: Channels,
    which: Sums,
    x: &Tensor,
    grad: &Tensor,
    mean: &[f64],
) -> Vec<(f64, f64)> {
    match x.dtype() {
        DType::F64 => sums::<f64>(ctx, sizes, which, x, grad, mean),
        _ => sums::<f32>(ctx, sizes, which, x, grad, mean),
    }
}

/// The gradients of [`batch_norm`] for input, weight and bias, those that are wanted. `saved`:
/// means and one over deviations that the training gave.
#[allow(clippy::too_many_arguments)]
pub fn batch_norm_backward(
    ctx: &Context,
    grad: &Tensor,
    x: &Tensor,
    weight: Option<&Tensor>,
    running: Running,
    saved: [Option<&Tensor>; 2],
    training: bool,
    eps: f64,
    wanted: [bool; 3],
) -> Result<[Option<Tensor>; 3]> {
    let op = "native_batch_norm_backward";
    check(op, x, &[Some(grad)])?;
    let saved = if training { saved } else { [None, None] };
    let stats = check(op, x, &[weight, running.mean, running.var, saved[0], saved[1]])?;
    let sizes = channels(op, x)?;
    expect(op, "gradient", Some(grad), x, x.shape())?;
    let n = [sizes.channels as i64];
    expect(op, "weight", weight, x, &n)?;
    let source = if training { saved } else { [running.mean, running.var] };
    if source.iter().any(Option::is_none) {
        let text = "in training the saved values must be there, else the running ones";
        return Err(Error::shape(op, &[grad, x], text));
    }
    expect(op, "mean", source[0], x, &n)?;
    expect(op, if training { "rstd" } else { "variance" }, source[1], x, &n)?;
    let c = sizes.channels;
    let mean = numbers(ctx, source[0], c, 0.0)?;
    let mut rstd = numbers(ctx, source[1], c, 1.0)?;
    if !training {
        rstd.iter_mut().for_each(|v| *v = 1.0 / (*v + eps).sqrt());
    }
    let compute = x.dtype().compute();
    let (input, g) = (dense(ctx, x, compute)?, dense(ctx, grad, compute)?);
    let totals = run_sums(ctx, sizes, Sums::Slope, &input, &g, &mean);
    let mut out = [None, None, None];
    if wanted[0] {
        let to = Tensor::empty(ctx, op, compute, x.shape())?;
        let w = numbers(ctx, weight, c, 1.0)?;
        let count = (sizes.samples * sizes.places) as f64;
        let lines = |c: usize| {
            let scale = w[c] * rstd[c];
            if !training {
                return [scale, 0.0, 0.0];
            }
            let slope = -scale * totals[c].1 * rstd[c] * rstd[c] / count;
            [scale, slope, -scale * totals[c].0 / count - mean[c] * slope]
        };
        run_apply(ctx, compute, sizes, &input, Some(&g), c, &lines, &to);
        out[0] = Some(back(ctx, to, x.dtype())?);
    }
    if wanted[1] {
        let dw: Vec<f64> = totals.iter().zip(&rstd).map(|(t, r)| t.1 * r).collect();
        out[1] = Some(vector(ctx, op, stats, &dw)?);
    }
    if wanted[2] {
        let db: Vec<f64> = totals.iter().map(|t| t.0).collect();
        out[2] = Some(vector(ctx, op, stats, &db)?);
    }
    Ok(out)
}

/// The groups of a tensor of channels.
fn groups(op: &'static str, x: &Tensor, groups: i64) -> Result<Channels> {
    let sizes = channels(op, x)?;
    if groups < 1 || x.shape()[1] % groups != 0 {
        let text = format!("groups {groups} must divide the {} channels", x.shape()[1]);
        return Err(Error::shape(op, &[x], text));
    }
    Ok(sizes)
}

/// Group normalisation: result, and means and one over deviations `[samples, groups]`.
pub fn group_norm(
    ctx: &Context,
    x: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    count: i64,
    eps: f64,
) -> Result<[Tensor; 3]> {
    let op = "native_group_norm";
    let stats = check(op, x, &[weight, bias])?;
    let sizes = groups(op, x, count)?;
    let n = [sizes.channels as i64];
    expect(op, "weight", weight, x, &n)?;
    expect(op, "bias", bias, x, &n)?;
    let compute = x.dtype().compute();
    let input = dense(ctx, x, compute)?;
    let out = Tensor::empty(ctx, op, compute, x.shape())?;
    // A group of a sample is a channel of one sample that is as long as the group.
    let width = sizes.channels / count as usize;
    let flat = Channels {
        samples: 1,
        channels: sizes.samples * count as usize,
        places: width * sizes.places,
    };
    let (mean, var) = match compute {
        DType::F64 => batch_moments::<f64>(ctx, flat, &input),
        _ => batch_moments::<f32>(ctx, flat, &input),
    };
    let rstd: Vec<f64> = var.iter().map(|v| 1.0 / (v + eps).sqrt()).collect();
    let c = sizes.channels;
    let (w, b) = (numbers(ctx, weight, c, 1.0)?, numbers(ctx, bias, c, 0.0)?);
    let lines = |i: usize| {
        let scale = rstd[i / width] * w[i % c];
        [0.0, scale, b[i % c] - mean[i / width] * scale]
    };
    run_apply(ctx, compute, sizes, &input, None, sizes.samples * c, &lines, &out);
    let shape = [x.shape()[0], count];
    let saved = |values: &[f64]| {
        let t = vector(ctx, op, stats, values)?;
        t.with_layout(op, t.layout().view(&shape))
    };
    Ok([back(ctx, out, x.dtype())?, saved(&mean)?, saved(&rstd)?])
}

/// Its gradients for input, weight and bias, those that are wanted.
#[allow(clippy::too_many_arguments)]
pub fn group_norm_backward(
    ctx: &Context,
    grad: &Tensor,
    x: &Tensor,
    mean: &Tensor,
    rstd: &Tensor,
    weight: Option<&Tensor>,
    count: i64,
    wanted: [bool; 3],
) -> Result<[Option<Tensor>; 3]> {
    let op = "native_group_norm_backward";
    check(op, x, &[Some(grad)])?;
    let stats = check(op, x, &[weight, Some(mean), Some(rstd)])?;
    let sizes = groups(op, x, count)?;
    let c = sizes.channels;
    expect(op, "gradient", Some(grad), x, x.shape())?;
    expect(op, "weight", weight, x, &[c as i64])?;
    let shape = [x.shape()[0], count];
    expect(op, "mean", Some(mean), x, &shape)?;
    expect(op, "rstd", Some(rstd), x, &shape)?;
    let compute = x.dtype().compute();
    let (input, g) = (dense(ctx, x, compute)?, dense(ctx, grad, compute)?);
    let width = c / count as usize;
    let rows = sizes.samples * c;
    let (mean, rstd) = (numbers(ctx, Some(mean), 0, 0.0)?, numbers(ctx, Some(rstd), 0, 0.0)?);
    let w = numbers(ctx, weight, c, 1.0)?;
    // Sums of each channel of each sample: as channels of one sample.
    let flat = Channels { samples: 1, channels: rows, places: sizes.places };
    let means: Vec<f64> = (0..rows).map(|i| mean[i / width]).collect();
    let totals = run_sums(ctx, flat, Sums::Slope, &input, &g, &means);
    let mut out = [None, None, None];
    if wanted[0] {
        let to = Tensor::empty(ctx, op, compute, x.shape())?;
        let n = (width * sizes.places) as f64;
        let both: Vec<(f64, f64)> = (0..mean.len())
            .map(|group| {
                (group * width..(group + 1) * width).fold((0.0, 0.0), |(s, t), i| {
                    (s + w[i % c] * totals[i].0, t + w[i % c] * totals[i].1)
                })
            })
            .collect();
        let lines = |i: usize| {
            let group = i / width;
            let (s, t) = both[group];
            let r = rstd[group];
            let slope = -t * r * r * r / n;
            [w[i % c] * r, slope, -r * s / n - mean[group] * slope]
        };
        run_apply(ctx, compute, sizes, &input, Some(&g), rows, &lines, &to);
        out[0] = Some(back(ctx, to, x.dtype())?);
    }
    let mut dw = vec![0.0; c];
    let mut db = vec![0.0; c];
    for (i, (s, t)) in totals.iter().enumerate() {
        db[i % c] += s;
        dw[i % c] += t * rstd[i / width];
    }
    if wanted[1] {
        out[1] = Some(vector(ctx, op, stats, &dw)?);
    }
    if wanted[2] {
        out[2] = Some(vector(ctx, op, stats, &db)?);
    }
    Ok(out)
}
