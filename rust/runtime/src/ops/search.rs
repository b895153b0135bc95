//! Places of values among sorted ones, and counts of values.

use std::hint::select_unpredictable;
use std::sync::{Mutex, PoisonError};

use wick_core::kernels::index::extremes;
use wick_core::kernels::sort::Key;
use wick_core::{DType, Element, Number, with_compute};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::array::contiguous;
use crate::ops::elementwise::cast;
use crate::ops::index::{gather, longs, longs_mut};
use crate::ops::mask::Shared;
use crate::ops::select::flattened;
use crate::tensor::Tensor;

/// Values that are looked for together.
const LANES: usize = 8;

/// More bins than this are counted by one thread, so that there is one set of counts only.
const MANY_BINS: usize = 1 << 14;

/// How places are found.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Search<'a> {
    /// The place after equal ones, not before.
    pub right: bool,
    /// Places as i32.
    pub i32: bool,
    /// Places of the sequence in order, where it is not sorted itself.
    pub sorter: Option<&'a Tensor>,
}

/// Elements of a contiguous tensor of this very type.
fn elements<T: Element>(t: &Tensor) -> &[T] {
    debug_assert!(t.dtype() == T::DTYPE && t.layout().is_contiguous());
    if t.numel() == 0 {
        return &[];
    }
    // SAFETY: contiguous, of this type, inside the storage that the tensor keeps alive.
    unsafe {
        std::slice::from_raw_parts(t.place().start.cast::<T>().cast_const(), t.numel() as usize)
    }
}

/// A contiguous tensor in the type that kernels compute `dtype` in.
fn computed(ctx: &Context, t: &Tensor, dtype: DType) -> Result<Tensor> {
    if t.dtype() == dtype.compute() { contiguous(ctx, t) } else { cast(ctx, t, dtype.compute()) }
}

/// For each value where it belongs in the last dimension of a sorted sequence: either a vector for
/// all, or one for each line of values.
pub fn searchsorted(
    ctx: &Context,
    op: &'static str,
    sequence: &Tensor,
    values: &Tensor,
    how: Search,
) -> Result<Tensor> {
    let Some((&n, lead)) = sequence.shape().split_last() else {
        return Err(Error::shape(op, &[sequence, values], "the sequence must have a dimension"));
    };
    let each = !lead.is_empty();
    if each && op == "bucketize" {
        return Err(Error::shape(op, &[values, sequence], "the boundaries must be a vector"));
    }
    let fits = values.shape().split_last().is_some_and(|(_, l)| l == lead);
    if each && !fits {
        let text = "the sequence must be a vector or have the values' sizes but for the last";
        return Err(Error::shape(op, &[sequence, values], text));
    }
    if how.i32 && n > i64::from(i32::MAX) {
        return Err(Error::shape(op, &[sequence, values], "places do not fit into i32"));
    }
    let ordered = match how.sorter {
        Some(sorter) if sorter.shape() != sequence.shape() => {
            let text = "the sorter must have the sequence's shape";
            return Err(Error::shape(op, &[sequence, sorter], text));
        }
        Some(sorter) => gather(ctx, sequence, -1, sorter)?,
        None => sequence.clone(),
    };
    let dtype = sequence.dtype().promote(values.dtype());
    let (ordered, wanted) = (computed(ctx, &ordered, dtype)?, computed(ctx, values, dtype)?);
    let out = Tensor::empty(ctx, op, DType::I64, values.shape())?;
    let width = if each { values.shape().last().copied().unwrap_or(1) } else { out.numel() };
    let to = Shared(out.place_mut().start.cast::<i64>());
    let cost = 4.0 + 2.0 * (n.max(1) as f64).log2();
    with_compute!(dtype, T => {
        let (ordered, wanted) = (elements::<T>(&ordered), elements::<T>(&wanted));
        ctx.for_ranges(out.numel(), cost, &|start, end| {
            let mut i = start;
            while i < end {
                let line = (i / width * n) as usize;
                let line = &ordered[line..line + n as usize];
                let here = (end - i).min(width - i % width).min(LANES as i64);
                // Beyond what is left the last one is looked for again.
                let values: [T; LANES] =
                    std::array::from_fn(|k| wanted[i as usize + k.min(here as usize - 1)]);
                let found = places(line, values, how.right);
                for k in 0..here {
                    // SAFETY: each value has its own place in the result.
                    unsafe { to.at(i + k).write(found[k as usize] as i64) };
                }
                i += here;
            }
        });
    });
    if how.i32 { cast(ctx, &out, DType::I32) } else { Ok(out) }
}

/// How many elements come before each value. The searches go in step, so that none waits for the
/// memory of another.
fn places<T: Key>(ordered: &[T], values: [T; LANES], right: bool) -> [usize; LANES] {
    let keys = values.map(T::key);
    let (mut first, mut left) = ([0; LANES], ordered.len());
    while left > 0 {
        let half = left.div_ceil(2);
        for (first, key) in first.iter_mut().zip(keys) {
            let there = ordered[*first + half - 1].key();
            let before = there < key || right && there == key;
            // Which half is chance: a jump would be guessed wrong every other time.
            *first = select_unpredictable(before, *first + half, *first);
        }
        left -= half;
    }
    first
}

/// How many elements lie in each of `bins` equal parts of `[min, max]`; where both are equal, of the
/// range of the elements.
pub fn histc(ctx: &Context, a: &Tensor, bins: i64, min: f64, max: f64) -> Result<Tensor> {
    let op = "histc";
    if !a.dtype().is_float() {
        return Err(Error::dtype(op, &[a], "expected a float dtype: cast first"));
    }
    if bins < 1 {
        return Err(Error::shape(op, &[a], format!("{bins} bins: expected at least one")));
    }
    if !(min.is_finite() && max.is_finite() && min <= max) {
        let text = format!("the range [{min}, {max}] must be finite and not reversed");
        return Err(Error::index(op, &[a], text));
    }
    let flat = flattened(ctx, op, &computed(ctx, a, a.dtype())?)?;
    let counts = Tensor::empty(ctx, op, DType::I64, &[bins])?;
    longs_mut(&counts).fill(0);
    match flat.dtype() {
        DType::F64 => bin::<f64>(ctx, a, elements(&flat), longs_mut(&counts), min, max)?,
        _ => bin::<f32>(ctx, a, elements(&flat), longs_mut(&counts), min, max)?,
    }
    cast(ctx, &counts, a.dtype())
}

fn bin<T: Number>(
    ctx: &Context,
    a: &Tensor,
    values: &[T],
    counts: &mut [i64],
    min: f64,
    max: f64,
) -> Result<()> {
    let (mut low, mut high) = (T::from_f64(min), T::from_f64(max));
    if low == high && !values.is_empty() {
        (low, high) = (values[0], values[0]);
        for &v in values {
            (low, high) = (low.minimum(v), high.maximum(v));
        }
        if low.is_nan() || low.is_infinite() || high.is_infinite() {
            let text = format!("the elements' range [{low:?}, {high:?}] is not finite");
            return Err(Error::index("histc", &[a], text));
        }
    }
    if low == high {
        (low, high) = (low.sub(T::ONE), high.add(T::ONE));
    }
    let bins = counts.len();
    let (scale, width) = (T::from_f64(bins as f64), high.sub(low));
    let wide = width.mul(scale).is_infinite();
    let place = |v: T| {
        let at = if wide {
            // Beyond the type's range halves keep the quotient.
            let (v, low, high) = (v.to_f64(), low.to_f64() * 0.5, high.to_f64() * 0.5);
            (v * 0.5 - low) / (high - low) * bins as f64
        } else {
            // In the elements' type: at the edges its rounding decides.
            v.sub(low).mul(scale).to_f64() / width.to_f64()
        };
        (T::from_f64(at).to_i64() as usize).min(bins - 1)
    };
    let inside = |v: &T| *v >= low && *v <= high;
    if bins > MANY_BINS {
        values.iter().filter(|v| inside(v)).for_each(|v| counts[place(*v)] += 1);
        return Ok(());
    }
    let total = Mutex::new(counts);
    ctx.for_ranges(values.len() as i64, 3.0, &|start, end| {
        let mut counts = vec![0i64; bins];
        let values = &values[start as usize..end as usize];
        values.iter().filter(|v| inside(v)).for_each(|v| counts[place(*v)] += 1);
        let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
        total.iter_mut().zip(counts).for_each(|(t, c)| *t += c);
    });
    Ok(())
}

/// How often each number from 0 on is there, or the sums of its weights, in f32 where they are, else
/// in f64; at least `min_length` results.
pub fn bincount(
    ctx: &Context,
    a: &Tensor,
    weights: Option<&Tensor>,
    min_length: i64,
) -> Result<Tensor> {
    let op = "bincount";
    let mut all = vec![a];
    all.extend(weights);
    if a.dtype().is_float() || a.dtype() == DType::Bool {
        return Err(Error::dtype(op, &all, "expected integers"));
    }
    if a.rank() != 1 {
        return Err(Error::shape(op, &all, "expected a vector"));
    }
    if min_length < 0 {
        return Err(Error::shape(op, &all, format!("minimum length {min_length} is negative")));
    }
    if let Some(w) = weights
        && w.shape() != a.shape()
    {
        return Err(Error::shape(op, &all, "expected a weight for each element"));
    }
    let numbers = computed(ctx, a, DType::I64)?;
    let numbers = longs(&numbers);
    let (least, greatest) = extremes(ctx.arch(), numbers);
    if !numbers.is_empty() && least < 0 {
        let place = numbers.iter().position(|v| *v < 0).unwrap_or(0);
        let text = format!("{least} is negative; the first such element is at place {place}");
        return Err(Error::index(op, &all, text));
    }
    let size = if numbers.is_empty() { 0 } else { greatest.saturating_add(1) };
    let shape = [size.max(min_length)];
    let change = || Error::internal("the elements change during the call".into());
    let Some(weights) = weights else {
        let out = Tensor::empty(ctx, op, DType::I64, &shape)?;
        let counts = longs_mut(&out);
        counts.fill(0);
        for v in numbers {
            *counts.get_mut(*v as usize).ok_or_else(change)? += 1;
        }
        return Ok(out);
    };
    let values = computed(ctx, weights, DType::F64)?;
    let sums = Tensor::empty(ctx, op, DType::F64, &shape)?;
    let first = sums.place_mut().start.cast::<f64>();
    // SAFETY: a fresh contiguous tensor of f64.
    let to = unsafe { std::slice::from_raw_parts_mut(first, sums.numel() as usize) };
    to.fill(0.0);
    for (v, w) in numbers.iter().zip(elements::<f64>(&values)) {
        *to.get_mut(*v as usize).ok_or_else(change)? += w;
    }
    if weights.dtype() != DType::F32 {
        return Ok(sums);
    }
    cast(ctx, &sums, DType::F32)
}
