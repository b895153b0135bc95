//! Elements over again, products and combinations of vectors, index grids, differences of neighbours.

use wick_core::kernels::elementwise::Scalar;
use wick_core::kernels::reduce::ReduceOp;
use wick_core::ops::{BinaryOp, UnaryOp};
use wick_core::{DType, Layout};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::array::contiguous;
use crate::ops::elementwise::{Out, binary, cast, copy_of, copy_values, unary};
use crate::ops::index::{dimension, index_select, longs, longs_mut};
use crate::ops::join::cat;
use crate::ops::mask::masked_fill;
use crate::ops::promote::Arg;
use crate::ops::reduce::{Over, reduce};
use crate::ops::select::flattened;
use crate::tensor::Tensor;

/// How often each slice is repeated.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub enum Repeats<'a> {
    All(i64),
    /// A number for each slice, or one for all.
    Each(&'a Tensor),
}

fn missing(op: &'static str) -> Error {
    Error::internal(format!("{op} gave no result").into())
}

/// The counts as i64, checked: none negative, and their sum.
fn counts(ctx: &Context, op: &'static str, repeats: &Tensor) -> Result<(Tensor, i64)> {
    if !matches!(repeats.dtype(), DType::I64 | DType::I32) {
        return Err(Error::dtype(op, &[repeats], "the repeats must be i64 or i32"));
    }
    if repeats.rank() > 1 {
        return Err(Error::shape(op, &[repeats], "the repeats must be a number or a vector"));
    }
    let repeats = flattened(ctx, op, &cast(ctx, repeats, DType::I64)?)?;
    let mut sum = 0i64;
    for (i, n) in longs(&repeats).iter().enumerate() {
        if *n < 0 {
            let text = format!("{n} repeats at place {i}: expected none or more");
            return Err(Error::index(op, &[&repeats], text));
        }
        sum = sum
            .checked_add(*n)
            .ok_or_else(|| Error::shape(op, &[&repeats], "the repeats exceed 2^63 - 1"))?;
    }
    Ok((repeats, sum))
}

/// Each place as often as its count says, in the counts' type.
pub fn repeat_places(ctx: &Context, repeats: &Tensor) -> Result<Tensor> {
    let op = "repeat_interleave";
    if repeats.rank() != 1 {
        return Err(Error::shape(op, &[repeats], "the repeats must be a vector"));
    }
    let (counts, sum) = counts(ctx, op, repeats)?;
    let places = spread(ctx, op, longs(&counts), sum)?;
    if repeats.dtype() == DType::I64 { Ok(places) } else { cast(ctx, &places, repeats.dtype()) }
}

fn spread(ctx: &Context, op: &'static str, counts: &[i64], sum: i64) -> Result<Tensor> {
    let out = Tensor::empty(ctx, op, DType::I64, &[sum])?;
    let mut left = longs_mut(&out);
    for (i, n) in counts.iter().enumerate() {
        let (these, rest) = left.split_at_mut(*n as usize);
        these.fill(i as i64);
        left = rest;
    }
    Ok(out)
}

/// Slices along a dimension, or all elements, each repeated in place.
pub fn repeat_interleave(
    ctx: &Context,
    a: &Tensor,
    repeats: Repeats,
    dim: Option<i64>,
) -> Result<Tensor> {
    let op = "repeat_interleave";
    let a = if dim.is_none() { flattened(ctx, op, a)? } else { a.clone() };
    let d = dimension(op, &a, dim.unwrap_or(0))?;
    let size = a.shape().get(d).copied().unwrap_or(1);
    let same = |n: i64| -> Result<Tensor> {
        if n < 0 {
            return Err(Error::index(op, &[&a], format!("{n} repeats: expected none or more")));
        }
        let total = size.checked_mul(n).ok_or_else(|| {
            Error::shape(op, &[&a], format!("{size} slices {n} times exceed 2^63 - 1"))
        })?;
        let out = Tensor::empty(ctx, op, DType::I64, &[total])?;
        if n > 0 {
            for (i, these) in longs_mut(&out).chunks_mut(n as usize).enumerate() {
                these.fill(i as i64);
            }
        }
        Ok(out)
    };
    let places = match repeats {
        Repeats::All(n) => same(n)?,
        Repeats::Each(t) => {
            let (counts, sum) = counts(ctx, op, t)?;
            if counts.numel() == 1 {
                same(longs(&counts)[0])?
            } else if counts.numel() == size {
                spread(ctx, op, longs(&counts), sum)?
            } else {
                let text = format!("expected one number of repeats or {size}, one a slice");
                return Err(Error::shape(op, &[&a, t], text));
            }
        }
    };
    let a = if a.rank() == 0 { a.with_layout(op, a.layout().unsqueeze(0))? } else { a };
    index_select(ctx, &a, d as i64, &places, None)?.ok_or_else(|| missing(op))
}

/// All tuples with one element of each vector, the last varying fastest; of one vector itself.
pub fn cartesian_product(ctx: &Context, vectors: &[&Tensor]) -> Result<Tensor> {
    let op = "cartesian_prod";
    let Some(first) = vectors.first() else {
        return Err(Error::shape(op, &[], "expected at least one vector"));
    };
    let mut total = 1i64;
    for t in vectors {
        if t.rank() != 1 {
            return Err(Error::shape(op, &[t], "expected vectors"));
        }
        if t.dtype() != first.dtype() {
            return Err(Error::dtype(op, &[first, t], "expected vectors of one dtype"));
        }
        total = total
            .checked_mul(t.numel())
            .ok_or_else(|| Error::shape(op, vectors, "there are more than 2^63 - 1 tuples"))?;
    }
    if vectors.len() == 1 {
        return Ok((*first).clone());
    }
    let width = vectors.len() as i64;
    let out = Tensor::empty(ctx, op, first.dtype(), &[total, width])?;
    if total == 0 {
        return Ok(out);
    }
    let mut outer = 1;
    for (j, t) in vectors.iter().enumerate() {
        let n = t.numel();
        let inner = total / outer / n;
        let shape = [outer, n, inner];
        let to = Layout::strided(&shape, &[n * inner * width, inner * width, width], j as i64);
        let step = t.layout().strides()[0];
        let from = Layout::strided(&shape, &[0, step, 0], t.layout().offset());
        copy_values(ctx, &out.with_layout(op, to)?, &t.with_layout(op, from)?);
        outer *= n;
    }
    Ok(out)
}

/// `n` over `k`, if it is a number that can be.
fn choices(n: i64, k: i64) -> Option<i64> {
    if k > n {
        return Some(0);
    }
    let k = k.min(n - k);
    let mut out = 1i128;
    for i in 1..=i128::from(k) {
        out = out * (i128::from(n) - i128::from(k) + i) / i;
        if out > i128::from(i64::MAX) {
            return None;
        }
    }
    i64::try_from(out).ok()
}

/// All subsets of `r` elements of a vector, in the order of places; `again`: an element may be
/// taken several times.
pub fn combinations(ctx: &Context, a: &Tensor, r: i64, again: bool) -> Result<Tensor> {
    let op = "combinations";
    if a.rank() != 1 {
        return Err(Error::shape(op, &[a], "expected a vector"));
    }
    if r < 0 {
        return Err(Error::index(op, &[a], format!("{r} elements: expected none or more")));
    }
    if r == 0 {
        return Tensor::empty(ctx, op, a.dtype(), &[0]);
    }
    let n = a.numel();
    let from = if again && n > 0 { n.saturating_add(r - 1) } else { n };
    let size = choices(from, r).and_then(|count| Some((count, count.checked_mul(r)?)));
    let Some((count, total)) = size else {
        let text = format!("the subsets of {r} are more than 2^63 - 1");
        return Err(Error::shape(op, &[a], text));
    };
    let places = Tensor::empty(ctx, op, DType::I64, &[total])?;
    let r = r as usize;
    if count > 0 {
        let all = longs_mut(&places);
        for (i, p) in all[..r].iter_mut().enumerate() {
            *p = if again { 0 } else { i as i64 };
        }
        for row in 1..count as usize {
            let (before, rest) = all.split_at_mut(row * r);
            let (last, next) = (&before[(row - 1) * r..], &mut rest[..r]);
            next.copy_from_slice(last);
            // The last place that can still grow, and those after it start anew.
            let top = |j: usize| if again { n - 1 } else { n - (r - j) as i64 };
            let grows = (0..r).rev().find(|j| last[*j] < top(*j)).unwrap_or(0);
            next[grows] += 1;
            for j in grows + 1..r {
                next[j] = next[j - 1] + i64::from(!again);
            }
        }
    }
    let out = index_select(ctx, a, 0, &places, None)?.ok_or_else(|| missing(op))?;
    out.with_layout(op, out.layout().view(&[count, r as i64]))
}

/// The rows and the columns of the places on and below (above where `upper`) a diagonal.
pub fn triangle_places(
    ctx: &Context,
    rows: i64,
    columns: i64,
    diagonal: i64,
    upper: bool,
) -> Result<Tensor> {
    let op = if upper { "triu_indices" } else { "tril_indices" };
    if rows < 0 || columns < 0 {
        let text = format!("{rows} rows and {columns} columns: expected none or more");
        return Err(Error::shape(op, &[], text));
    }
    let (r, c, d) = (i128::from(rows), i128::from(columns), i128::from(diagonal));
    // Below a diagonal, rows hold 1, 2, … places up to all columns.
    let below = |d: i128| {
        let full = (r - (c - d - 1).max(0)).clamp(0, r);
        let first = (-d).clamp(0, r);
        let (from, to) = (first, r - full);
        let partial = if to > from { (to - from) * ((from + d + 1) + (to + d)) / 2 } else { 0 };
        partial + full * c
    };
    let n = if upper { r * c - below(d - 1) } else { below(d) };
    let n = i64::try_from(n).ok().filter(|n| n.checked_mul(2).is_some());
    let n = n.ok_or_else(|| Error::shape(op, &[], "there are more than 2^62 places"))?;
    let out = Tensor::empty(ctx, op, DType::I64, &[2, n])?;
    let (to_rows, to_columns) = longs_mut(&out).split_at_mut(n as usize);
    if n == 0 {
        return Ok(out);
    }
    let mut at = 0;
    let mut row = if upper { 0 } else { (-d).max(0) };
    while at < n as usize {
        let from = if upper { (row + d).clamp(0, c) } else { 0 };
        let to = if upper { c } else { (row + d + 1).clamp(0, c) };
        for column in from..to {
            (to_rows[at], to_columns[at]) = (row as i64, column as i64);
            at += 1;
        }
        row += 1;
    }
    Ok(out)
}

/// Vectors stretched to the grid that they span; `xy`: the first two dimensions change places.
pub fn meshgrid(vectors: &[&Tensor], xy: bool) -> Result<Vec<Tensor>> {
    let op = "meshgrid";
    let mut shape = Vec::new();
    for t in vectors {
        if t.rank() > 1 {
            return Err(Error::shape(op, &[t], "expected vectors or single values"));
        }
        if t.dtype() != vectors[0].dtype() {
            return Err(Error::dtype(op, &[vectors[0], t], "expected one dtype"));
        }
        shape.push(t.numel());
    }
    if vectors.is_empty() {
        return Err(Error::shape(op, &[], "expected at least one vector"));
    }
    let swap = xy && vectors.len() > 1;
    if swap {
        shape.swap(0, 1);
    }
    let place = |i: usize| if swap && i < 2 { 1 - i } else { i };
    let stretch = |(i, t): (usize, &&Tensor)| {
        let mut strides = vec![0; shape.len()];
        strides[place(i)] = t.layout().strides().first().copied().unwrap_or(0);
        t.with_layout(op, Layout::strided(&shape, &strides, t.layout().offset()))
    };
    vectors.iter().enumerate().map(stretch).collect()
}

/// The `n`-th differences of neighbours along a dimension, of the tensor between two others.
pub fn diff(
    ctx: &Context,
    a: &Tensor,
    n: i64,
    dim: i64,
    before: Option<&Tensor>,
    after: Option<&Tensor>,
) -> Result<Tensor> {
    let op = "diff";
    if a.rank() == 0 {
        return Err(Error::shape(op, &[a], "a single value has no neighbours"));
    }
    if n < 0 {
        return Err(Error::index(op, &[a], format!("order {n} is negative")));
    }
    let d = dimension(op, a, dim)? as i64;
    let parts: Vec<&Tensor> = before.into_iter().chain([a]).chain(after).collect();
    if let Some(t) = parts.iter().find(|t| t.rank() != a.rank()) {
        let text = "expected as many dimensions in what stands before and after";
        return Err(Error::shape(op, &[a, t], text));
    }
    let mut out = match parts.len() {
        1 => a.clone(),
        _ => cat(ctx, &parts, d, None)?.ok_or_else(|| missing(op))?,
    };
    if n == 0 {
        return copy_of(ctx, op, a);
    }
    let minus = if out.dtype() == DType::Bool { BinaryOp::LogicalXor } else { BinaryOp::Sub };
    for _ in 0..n.min(out.shape()[d as usize].max(1)) {
        let rest = (out.shape()[d as usize] - 1).max(0);
        let size = out.shape()[d as usize];
        let part = |start: i64| out.with_layout(op, out.layout().narrow(d, start, rest));
        let (high, low) = (part(size - rest)?, part(0)?);
        let result = binary(ctx, minus, &[Arg::Tensor(&high), Arg::Tensor(&low)], None, Out::New)?;
        out = result.ok_or_else(|| missing(op))?;
    }
    Ok(out)
}

/// Sums, or means, of the elements that are not NaN.
pub fn nan_reduce(
    ctx: &Context,
    a: &Tensor,
    over: Over,
    dtype: Option<DType>,
    mean: bool,
) -> Result<Tensor> {
    let op = if mean { "nanmean" } else { "nansum" };
    let total = |t: &Tensor, dtype| {
        reduce(ctx, ReduceOp::Sum, t, over, dtype, 0.0, Out::New)?.ok_or_else(|| missing(op))
    };
    if mean && !dtype.unwrap_or(a.dtype()).is_float() {
        return Err(Error::dtype(op, &[a], "a mean needs a float dtype"));
    }
    let nan = unary(ctx, UnaryOp::Isnan, a, [0.0; 3], Out::New)?.ok_or_else(|| missing(op))?;
    let kept = if a.dtype().is_float() {
        masked_fill(ctx, a, &nan, Scalar::Float(0.0), false)?.ok_or_else(|| missing(op))?
    } else {
        contiguous(ctx, a)?
    };
    let sum = total(&kept, dtype)?;
    if !mean {
        return Ok(sum);
    }
    let there = unary(ctx, UnaryOp::LogicalNot, &nan, [0.0; 3], Out::InPlace);
    let there = there?.unwrap_or(nan);
    let count = total(&there, None)?;
    binary(ctx, BinaryOp::Div, &[Arg::Tensor(&sum), Arg::Tensor(&count)], None, Out::InPlace)?;
    Ok(sum)
}
