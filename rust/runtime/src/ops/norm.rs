//! Batch, layer, group and RMS normalisation, and their gradients. Here: those of rows.

mod channels;

pub use channels::{Running, batch_norm, batch_norm_backward, group_norm, group_norm_backward};

use wick_core::kernels::norm::{LANES, Rows, Weights};
use wick_core::{DType, Element, Number, Real};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::backward::{back, dense};
use crate::tensor::Tensor;

/// Elements `[start, start + n)` of a dense tensor.
///
/// # Safety
/// The tensor is dense, of type T, and has them; nobody writes them meanwhile.
unsafe fn part<T>(t: &Tensor, start: usize, n: usize) -> &[T] {
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(t.view().start().cast::<T>().add(start), n) }
}

/// As [`part`], to write.
///
/// # Safety
/// As [`part`], and nobody else touches them meanwhile.
#[allow(clippy::mut_from_ref)]
unsafe fn part_mut<T>(t: &Tensor, start: usize, n: usize) -> &mut [T] {
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts_mut(t.view_mut().start().cast::<T>().add(start), n) }
}

/// All of a dense tensor that nobody writes.
///
/// # Safety
/// As [`part`].
unsafe fn whole<T>(t: &Tensor) -> &[T] {
    // SAFETY: the caller's promise.
    unsafe { part(t, 0, t.numel() as usize) }
}

/// A float input and the operands beside it, which have its dtype or, where it is a half type, f32.
fn check(op: &'static str, x: &Tensor, others: &[Option<&Tensor>]) -> Result<DType> {
    let mut all = vec![x];
    all.extend(others.iter().flatten());
    if !x.dtype().is_float() {
        return Err(Error::dtype(op, &all, "expected a float dtype"));
    }
    let mut parameters = None;
    for t in others.iter().flatten() {
        let fits = t.dtype() == x.dtype() || x.dtype().is_half() && t.dtype() == DType::F32;
        if !fits || parameters.is_some_and(|d| d != t.dtype()) {
            let text = "expected one dtype (beside a half type, f32 too): cast first";
            return Err(Error::dtype(op, &all, text));
        }
        parameters = Some(t.dtype());
    }
    Ok(parameters.unwrap_or(x.dtype()))
}

fn expect(
    op: &'static str,
    what: &str,
    t: Option<&Tensor>,
    x: &Tensor,
    shape: &[i64],
) -> Result<()> {
    match t {
        Some(t) if t.shape() != shape => {
            Err(Error::shape(op, &[x, t], format!("the {what} must have shape {shape:?}")))
        }
        _ => Ok(()),
    }
}

fn dense_some(ctx: &Context, t: Option<&Tensor>, dtype: DType) -> Result<Option<Tensor>> {
    t.map(|t| dense(ctx, t, dtype)).transpose()
}

/// Rows of one normalisation.
struct Layers {
    rows: i64,
    n: i64,
    /// Shape of mean and rstd.
    stats: Vec<i64>,
}

impl Layers {
    fn new(
        op: &'static str,
        x: &Tensor,
        normalized: &[i64],
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
    ) -> Result<Layers> {
        let rank = normalized.len();
        if rank == 0 || x.rank() < rank || x.shape()[x.rank() - rank..] != *normalized {
            let text = format!("the last dimensions must be {normalized:?}, at least one");
            return Err(Error::shape(op, &[x], text));
        }
        expect(op, "weight", weight, x, normalized)?;
        expect(op, "bias", bias, x, normalized)?;
        let outer = &x.shape()[..x.rank() - rank];
        let mut stats = outer.to_vec();
        stats.resize(x.rank(), 1);
        Ok(Layers { rows: outer.iter().product(), n: normalized.iter().product(), stats })
    }
}

/// Layer normalisation (RMS normalisation where not `centred`): result, means, and one over the
/// deviations.
#[allow(clippy::too_many_arguments)]
pub fn layer_norm(
    ctx: &Context,
    op: &'static str,
    x: &Tensor,
    normalized: &[i64],
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    eps: f64,
    centred: bool,
) -> Result<[Tensor; 3]> {
    let stats = check(op, x, &[weight, bias])?;
    let layers = Layers::new(op, x, normalized, weight, bias)?;
    let compute = x.dtype().compute();
    let input = dense(ctx, x, compute)?;
    let (w, b) = (dense_some(ctx, weight, compute)?, dense_some(ctx, bias, compute)?);
    let out = Tensor::empty(ctx, op, compute, x.shape())?;
    let mean = Tensor::empty(ctx, op, compute, &layers.stats)?;
    let rstd = Tensor::empty(ctx, op, compute, &layers.stats)?;
    let all = [&input, &out, &mean, &rstd];
    match compute {
        DType::F64 => layers.forward::<f64>(ctx, all, w.as_ref(), b.as_ref(), eps, centred),
        _ => layers.forward::<f32>(ctx, all, w.as_ref(), b.as_ref(), eps, centred),
    }
    Ok([back(ctx, out, x.dtype())?, back(ctx, mean, stats)?, back(ctx, rstd, stats)?])
}

impl Layers {
    fn forward<T: Real + Number + Element>(
        &self,
        ctx: &Context,
        [x, out, mean, rstd]: [&Tensor; 4],
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        eps: f64,
        centred: bool,
    ) {
        // SAFETY: dense tensors of this type that are only read.
        let (weight, bias) = unsafe { (weight.map(|t| whole(t)), bias.map(|t| whole(t))) };
        let n = self.n as usize;
        let rows = Rows::<T> { n, eps, centred, weight, bias };
        ctx.for_ranges(self.rows, 5.0 + 0.5 * n as f64, &|start, end| {
            let (start, count) = (start as usize, (end - start) as usize);
            // SAFETY: dense tensors of this type; each row is one task's.
            unsafe {
                rows.forward(
                    ctx.arch(),
                    part(x, start * n, count * n),
                    part_mut(out, start * n, count * n),
                    part_mut(mean, start, count),
                    part_mut(rstd, start, count),
                );
            }
        });
    }
}

/// The gradients of [`layer_norm`] for input, weight and bias, those that are wanted.
#[allow(clippy::too_many_arguments)]
pub fn layer_norm_backward(
    ctx: &Context,
    op: &'static str,
    grad: &Tensor,
    x: &Tensor,
    normalized: &[i64],
    mean: Option<&Tensor>,
    rstd: &Tensor,
    weight: Option<&Tensor>,
    wanted: [bool; 3],
) -> Result<[Option<Tensor>; 3]> {
    let stats = check(op, x, &[mean, Some(rstd), weight])?;
    let layers = Layers::new(op, x, normalized, weight, None)?;
    check(op, x, &[Some(grad)])?;
    expect(op, "gradient", Some(grad), x, x.shape())?;
    for t in mean.into_iter().chain([rstd]) {
        if t.numel() != layers.rows {
            let text = format!("mean and rstd must have {} elements", layers.rows);
            return Err(Error::shape(op, &[x, t], text));
        }
    }
    let compute = x.dtype().compute();
    let (input, g) = (dense(ctx, x, compute)?, dense(ctx, grad, compute)?);
    let rstd = dense(ctx, rstd, compute)?;
    let centre = match mean {
        Some(mean) => dense(ctx, mean, compute)?,
        None => zeros(ctx, compute, rstd.shape())?,
    };
    let weight = dense_some(ctx, weight, compute)?;
    let all = [&g, &input, &centre, &rstd];
    let run = match compute {
        DType::F64 => Layers::backward::<f64>,
        _ => Layers::backward::<f32>,
    };
    let [dx, dw, db] =
        run(&layers, ctx, op, all, weight.as_ref(), mean.is_some(), normalized, wanted)?;
    Ok([
        dx.map(|t| back(ctx, t, x.dtype())).transpose()?,
        dw.map(|t| back(ctx, t, stats)).transpose()?,
        db.map(|t| back(ctx, t, stats)).transpose()?,
    ])
}

fn zeros(ctx: &Context, dtype: DType, shape: &[i64]) -> Result<Tensor> {
    crate::ops::creation::full(ctx, dtype, shape, wick_core::kernels::elementwise::Scalar::Int(0))
}

impl Layers {
    #[allow(clippy::too_many_arguments)]
    fn backward<T: Real + Number + Element>(
        &self,
        ctx: &Context,
        op: &'static str,
        [grad, x, mean, rstd]: [&Tensor; 4],
        weight: Option<&Tensor>,
        centred: bool,
        normalized: &[i64],
        wanted: [bool; 3],
    ) -> Result<[Option<Tensor>; 3]> {
        let mut out = [None, None, None];
        let n = self.n as usize;
        if wanted[0] {
            let to = Tensor::empty(ctx, op, x.dtype(), x.shape())?;
            // SAFETY: a dense tensor of this type that is only read.
            let weight = unsafe { weight.map(|t| whole(t)) };
            let rows = Rows::<T> { n, eps: 0.0, centred, weight, bias: None };
            ctx.for_ranges(self.rows, 5.0 + 0.6 * n as f64, &|start, end| {
                let (start, count) = (start as usize, (end - start) as usize);
                // SAFETY: dense tensors of this type; each row is one task's.
                unsafe {
                    rows.backward(
                        ctx.arch(),
                        part(grad, start * n, count * n),
                        part(x, start * n, count * n),
                        (part(mean, start, count), part(rstd, start, count)),
                        part_mut(&to, start * n, count * n),
                    );
                }
            });
            out[0] = Some(to);
        }
        if wanted[1] || wanted[2] {
            let dw = Tensor::empty(ctx, op, x.dtype(), normalized)?;
            let db = Tensor::empty(ctx, op, x.dtype(), normalized)?;
            let blocks = n.div_ceil(LANES) as i64;
            let cost = 5.0 + 0.4 * (self.rows as f64) * LANES as f64;
            ctx.for_ranges(blocks, cost, &|start, end| {
                for block in start as usize..end as usize {
                    let start = block * LANES;
                    let count = LANES.min(n - start);
                    // SAFETY: dense tensors of this type; each column is one task's.
                    unsafe {
                        let (w, b) = ctx.arch().dispatch(Weights::<T> {
                            n,
                            grad: whole(grad),
                            x: whole(x),
                            mean: whole(mean),
                            rstd: whole(rstd),
                            start,
                            count,
                        });
                        let to = part_mut::<T>(&dw, start, count);
                        to.iter_mut().zip(w).for_each(|(t, v)| *t = Real::from_f64(v));
                        let to = part_mut::<T>(&db, start, count);
                        to.iter_mut().zip(b).for_each(|(t, v)| *t = Real::from_f64(v));
                    }
                }
            });
            out[1] = wanted[1].then_some(dw);
            out[2] = wanted[2].then_some(db);
        }
        Ok(out)
    }
}
