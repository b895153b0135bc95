//! Quantiles: what lies at a fraction of the way through the elements in order.

use wick_core::kernels::sort::{Key, Line, Lines};
use wick_core::{DType, MAX_RANK};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::elementwise::cast;
use crate::ops::index::dimension;
use crate::ops::select::{dropped, flattened, resized};
use crate::ops::sort::sorted_values;
use crate::tensor::Tensor;

wick_core::named_ops! {
    /// What stands between two elements.
    Interpolation {
        /// In proportion to the distances.
        Linear "linear",
        /// The element below.
        Lower "lower",
        /// The element above.
        Higher "higher",
        /// Halfway.
        Midpoint "midpoint",
        /// The nearer one; the even place where both are as near.
        Nearest "nearest",
    }
}

/// The fractions: one, or those of a tensor.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub enum Fractions<'a> {
    One(f64),
    Each(&'a Tensor),
}

/// What a quantile is taken over.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct QuantileOf {
    /// None: all elements.
    pub dim: Option<i64>,
    pub keep_dim: bool,
    pub interpolation: Interpolation,
    /// Leave NaN out; else a line with one gives NaN.
    pub skip_nan: bool,
}

/// Quantiles along a dimension; several fractions make a new first dimension.
pub fn quantile(ctx: &Context, a: &Tensor, q: Fractions, over: QuantileOf) -> Result<Tensor> {
    let op = if over.skip_nan { "nanquantile" } else { "quantile" };
    if !a.dtype().is_float() {
        return Err(Error::dtype(op, &[a], "expected a float dtype"));
    }
    let fractions = fractions(ctx, op, a, q)?;
    let source = if over.dim.is_some() { a.clone() } else { flattened(ctx, op, a)? };
    let d = dimension(op, &source, over.dim.unwrap_or(0))?;
    if source.shape().get(d) == Some(&0) {
        return Err(Error::index(op, &[a], "no elements: there is no quantile"));
    }
    let sorted = sorted_values(ctx, op, &source, d as i64, false)?;
    let kept = match over.dim {
        Some(_) => resized(source.shape(), d, 1),
        None => vec![1; a.rank()],
    };
    let several = matches!(q, Fractions::Each(t) if t.rank() > 0);
    let mut shape = vec![fractions.len() as i64];
    shape.extend(&kept);
    if shape.len() > MAX_RANK {
        let text = format!("the result has more than {MAX_RANK} dimensions");
        return Err(Error::shape(op, &[a], text));
    }
    let out = Tensor::empty(ctx, op, a.dtype(), &shape)?;
    for (i, q) in fractions.iter().enumerate() {
        let mut part = out.with_layout(op, out.layout().select(0, i as i64))?;
        if over.dim.is_none() {
            part = part.with_layout(op, part.layout().view(&[1]))?;
        }
        if part.numel() > 0 {
            let tensors = [(sorted.layout(), sorted.place()), (part.layout(), part.place_mut())];
            let lines = Lines::new(tensors, d).map_err(|e| Error::layout(op, a, e))?;
            match a.dtype().compute() {
                DType::F64 => fill::<f64>(ctx, &lines, *q, over),
                _ => fill::<f32>(ctx, &lines, *q, over),
            }
        }
    }
    let out = if several { out } else { out.with_layout(op, out.layout().select(0, 0))? };
    if over.keep_dim {
        return Ok(out);
    }
    let lead = several as usize;
    match over.dim {
        Some(_) if a.rank() > 0 => dropped(op, out, d + lead, false),
        Some(_) => Ok(out),
        None => out.with_layout(op, out.layout().view(&vec![fractions.len() as i64; lead])),
    }
}

fn fractions(ctx: &Context, op: &'static str, a: &Tensor, q: Fractions) -> Result<Vec<f64>> {
    let out = match q {
        // As an element of the tensor's type, which libtorch makes of it.
        Fractions::One(q) if a.dtype() != DType::F64 => vec![f64::from(q as f32)],
        Fractions::One(q) => vec![q],
        Fractions::Each(t) => {
            if t.rank() > 1 {
                return Err(Error::shape(
                    op,
                    &[a, t],
                    "the fractions must be a number or a vector",
                ));
            }
            if !t.dtype().is_float() {
                return Err(Error::dtype(op, &[a, t], "the fractions must be floats"));
            }
            let q = flattened(ctx, op, &cast(ctx, t, DType::F64)?)?;
            let first = q.place().start.cast::<f64>();
            // SAFETY: a vector of f64 just made, alive.
            (0..q.numel()).map(|i| unsafe { *first.offset(i as isize) }).collect()
        }
    };
    if let Some(q) = out.iter().find(|q| !(0.0..=1.0).contains(*q)) {
        return Err(Error::index(op, &[a], format!("the fraction {q} is outside [0, 1]")));
    }
    Ok(out)
}

/// The place, in general between two elements, at a fraction of the way through `n`.
fn rank(q: f64, n: i64, wide: bool) -> f64 {
    let last = n - 1;
    if wide || last >= 1 << 24 {
        return (q * last as f64).min(last as f64);
    }
    // In the elements' type, which decides what rounds to a whole place.
    f64::from((q as f32 * last as f32).min(last as f32))
}

fn fill<T: Key>(ctx: &Context, lines: &Lines<2>, q: f64, over: QuantileOf) {
    ctx.for_ranges(lines.count, 20.0, &|start, end| {
        for i in start..end {
            let [sorted, to] = lines.get(i);
            let value = value::<T>(ctx, &sorted, q, over);
            // SAFETY: the tensors stay alive; each line writes its own.
            unsafe { to.write(ctx.arch(), 0, &[value]) };
        }
    });
}

fn value<T: Key>(ctx: &Context, sorted: &Line, q: f64, over: QuantileOf) -> T {
    let at = |i: i64| {
        let mut out = [T::ZERO];
        let part = Line { length: 1, ..sorted.from(i) };
        // SAFETY: the sorted tensor stays alive; `i` is inside.
        unsafe { part.for_blocks::<T>(ctx.arch(), |_, values| out[0] = values[0]) };
        out[0]
    };
    let mut n = sorted.length;
    if at(n - 1).is_nan() {
        let (mut low, mut high) = (0, n - 1);
        while low < high {
            let middle = (low + high) / 2;
            if at(middle).is_nan() { high = middle } else { low = middle + 1 }
        }
        if !over.skip_nan || low == 0 {
            return at(n - 1);
        }
        n = low;
    }
    let rank = rank(q, n, T::BITS == 64);
    let (below, above) = (rank.floor(), rank.ceil());
    let weight = match over.interpolation {
        Interpolation::Lower => return at(below as i64),
        Interpolation::Higher => return at(above as i64),
        Interpolation::Nearest => return at(rank.round_ties_even() as i64),
        Interpolation::Midpoint => 0.5,
        Interpolation::Linear => rank - below,
    };
    let (low, high) = (at(below as i64), at(above as i64));
    if low == high || weight == 0.0 {
        return low;
    }
    let (low, high) = (low.to_f64(), high.to_f64());
    // Differences of infinities are NaN; else the end that is nearer is met exactly.
    T::from_f64(if low.is_infinite() || high.is_infinite() {
        low * (1.0 - weight) + high * weight
    } else if weight < 0.5 {
        low + weight * (high - low)
    } else {
        high - (high - low) * (1.0 - weight)
    })
}
