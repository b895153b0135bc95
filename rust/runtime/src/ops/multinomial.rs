//! Samples of categories by weight.

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use wick_core::DType;

use crate::context::{Context, Stream};
use crate::error::{Error, Result};
use crate::ops::array::contiguous;
use crate::ops::elementwise::cast;
use crate::ops::random::{Parameters, RandomOp, first_outside, random};
use crate::tensor::Tensor;

const OP: &str = "multinomial";

/// `samples` indices for each row of non-negative weights, which need not sum to 1: as i64, of shape
/// `[samples]` or `[rows, samples]`.
///
/// With replacement by the inverse of the cumulated weights. Without, the order in which clocks
/// that run as fast as the weights strike (Efraimidis & Spirakis, 2006). Weight 0 is never drawn.
pub fn multinomial(
    ctx: &Context,
    weights: &Tensor,
    samples: i64,
    replacement: bool,
    stream: Option<Stream>,
) -> Result<Tensor> {
    let shape = weights.shape();
    if !weights.dtype().is_float() {
        return Err(Error::dtype(OP, &[weights], "weights need a float dtype"));
    }
    let (rows, categories) = match *shape {
        [n] => (1, n),
        [rows, n] => (rows, n),
        _ => return Err(Error::shape(OP, &[weights], "expected one or two dimensions")),
    };
    if samples < 1 {
        return Err(Error::shape(
            OP,
            &[weights],
            format!("expected a sample or more, got {samples}"),
        ));
    }
    let weights64 = contiguous(ctx, &cast(ctx, weights, DType::F64)?)?;
    if let Some(i) = first_outside(ctx, &weights64, f64::MAX) {
        let text = format!("the weight at element {i} is negative, infinite or NaN");
        return Err(Error::dtype(OP, &[weights], text));
    }
    let least = if replacement { 1 } else { samples };
    let w = start(&weights64);
    // SAFETY: rows of a contiguous tensor that lives as long as these closures.
    let row = move |r: i64| unsafe {
        let first = (w as *const f64).offset((r * categories) as isize);
        std::slice::from_raw_parts(first, categories as usize)
    };
    let poor = AtomicI64::new(i64::MAX);
    ctx.for_ranges(rows, categories as f64, &|first, end| {
        let few = |r: &i64| (row(*r).iter().filter(|w| **w > 0.0).count() as i64) < least;
        if let Some(r) = (first..end).find(few) {
            poor.fetch_min(r, Relaxed);
        }
    });
    let poor = poor.into_inner();
    if poor < i64::MAX {
        let text = format!("row {poor} has fewer than {least} positive weights");
        return Err(Error::dtype(OP, &[weights], text));
    }
    let mut sizes = shape.to_vec();
    sizes[shape.len() - 1] = samples;
    let out = Tensor::empty(ctx, OP, DType::I64, &sizes)?;
    let (numbers, drawn) = if replacement {
        let none = Parameters::Float(0.0, 0.0);
        (random(ctx, RandomOp::Rand, DType::F64, &sizes, none, stream)?, samples)
    } else {
        let rate = Parameters::Float(1.0, 0.0);
        (random(ctx, RandomOp::Exponential, DType::F64, shape, rate, stream)?, categories)
    };
    let (u, to) = (start(&numbers), start(&out));
    ctx.for_ranges(rows, 20.0 * (categories + samples) as f64, &|first, end| {
        for r in first..end {
            // SAFETY: rows of contiguous tensors; those of the output are this part's alone.
            let (u, to) = unsafe {
                let u = (u as *const f64).offset((r * drawn) as isize);
                let to = (to as *mut i64).offset((r * samples) as isize);
                (
                    std::slice::from_raw_parts(u, drawn as usize),
                    std::slice::from_raw_parts_mut(to, samples as usize),
                )
            };
            if replacement { with_replacement(row(r), u, to) } else { without(row(r), u, to) }
        }
    });
    Ok(out)
}

/// A tensor's first element, as a number that closures of other threads may hold.
fn start(t: &Tensor) -> usize {
    t.place().start as usize
}

fn with_replacement(w: &[f64], u: &[f64], to: &mut [i64]) {
    // Divided by the greatest first, so that the sum stays finite.
    let most = w.iter().copied().fold(0.0, f64::max);
    let mut sum = 0.0;
    let add = |w: &f64| {
        sum += w / most;
        sum
    };
    let sums: Vec<f64> = w.iter().map(add).collect();
    let last = w.iter().rposition(|w| *w > 0.0).unwrap_or(0);
    for (to, u) in to.iter_mut().zip(u) {
        // The first whose sum exceeds the number has a weight; rounding may leave none.
        *to = sums.partition_point(|s| *s <= u * sum).min(last) as i64;
    }
}

fn without(w: &[f64], u: &[f64], to: &mut [i64]) {
    let strikes = |(i, (w, u)): (usize, (&f64, &f64))| (*w > 0.0).then(|| (u / w, i as i64));
    let mut times: Vec<(f64, i64)> = w.iter().zip(u).enumerate().filter_map(strikes).collect();
    let order = |a: &(f64, i64), b: &(f64, i64)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    if to.len() < times.len() {
        times.select_nth_unstable_by(to.len() - 1, order);
        times.truncate(to.len());
    }
    times.sort_unstable_by(order);
    for (to, (_, i)) in to.iter_mut().zip(times) {
        *to = i;
    }
}
