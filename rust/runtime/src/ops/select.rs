//! What is found in order without sorting all: the k first, the k-th, medians; and what sorted lines
//! tell: the mode, quantiles.

use std::sync::{Mutex, PoisonError};

use wick_core::kernels::sort::{
    Item, Key, Line, Lines, Order, radix, running as running_kernel, select, unpack,
};
use wick_core::{DType, Layout, with_compute};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::array::contiguous;
use crate::ops::elementwise::copy_values;
use crate::ops::index::dimension;
use crate::ops::promote::{Overlap, check_out, overlap};
use crate::ops::scratch::Room;
use crate::ops::sort::{along, each_line, order_of, range_of_line, with_item};
use crate::tensor::Tensor;

/// Lines up to this length are selected from all at once.
const SHORT: i64 = 1 << 14;

wick_core::named_ops! {
    /// One element, and its place, for each line.
    PickOp {
        /// The k-th least.
        Kthvalue "kthvalue",
        /// The lower of the middle ones; NaN where there is one.
        Median "median",
        /// The lower of the middle ones of those that are not NaN.
        Nanmedian "nanmedian",
        /// The most frequent; of several the least.
        Mode "mode",
    }
}

wick_core::named_ops! {
    /// The extreme element so far, and its place.
    RunningOp {
        /// The greatest.
        Cummax "cummax",
        /// The least.
        Cummin "cummin",
    }
}

/// Sizes with one of them replaced; a 0-d tensor has none.
pub(super) fn resized(shape: &[i64], d: usize, size: i64) -> Vec<i64> {
    let mut out = shape.to_vec();
    if let Some(s) = out.get_mut(d) {
        *s = size;
    }
    out
}

fn length(a: &Tensor, d: usize) -> i64 {
    a.shape().get(d).copied().unwrap_or(1)
}

fn lines<const N: usize>(op: &'static str, tensors: [&Tensor; N], d: usize) -> Result<Lines<N>> {
    let fail = |e| Error::layout(op, tensors[0], e);
    Lines::new(tensors.map(|t| (t.layout(), t.place())), d).map_err(fail)
}

/// Room for values of a tensor's type and for places.
fn pair(ctx: &Context, op: &'static str, a: &Tensor, shape: &[i64]) -> Result<[Tensor; 2]> {
    Ok([Tensor::empty(ctx, op, a.dtype(), shape)?, Tensor::empty(ctx, op, DType::I64, shape)?])
}

/// Without a dimension of size 1.
pub(super) fn dropped(op: &'static str, t: Tensor, d: usize, keep: bool) -> Result<Tensor> {
    if keep || t.rank() == 0 { Ok(t) } else { t.with_layout(op, t.layout().squeeze(d as i64)) }
}

/// The `k` greatest (least) elements along a dimension and their places; in order where `sorted`.
/// Of equal ones the first are taken. `out`: tensors for values and places.
#[allow(clippy::too_many_arguments)]
pub fn topk(
    ctx: &Context,
    a: &Tensor,
    k: i64,
    dim: i64,
    largest: bool,
    sorted: bool,
    out: Option<(&Tensor, &Tensor)>,
) -> Result<Option<(Tensor, Tensor)>> {
    let op = "topk";
    let d = dimension(op, a, dim)?;
    let size = length(a, d);
    if k < 0 || k > size || a.rank() == 0 && k != 1 {
        let text = format!("k = {k} elements of dimension {d} of size {size}");
        return Err(Error::index(op, &[a], text));
    }
    let shape = resized(a.shape(), d, k);
    if let Some((values, indices)) = out {
        for (t, dtype) in [(values, a.dtype()), (indices, DType::I64)] {
            check_out(op, t, &shape, dtype, &[a])?;
            if t.dtype() != dtype {
                let text = format!("the target must be {dtype}");
                return Err(Error::dtype(op, &[t, a], text));
            }
        }
        if overlap(values, indices) != Overlap::None {
            return Err(Error::shape(op, &[values, indices], "the targets overlap"));
        }
    }
    let [values, indices] = along(ctx, op, a, d, |a, d| {
        let [values, indices] = pair(ctx, op, a, &resized(a.shape(), d, k))?;
        if values.numel() > 0 {
            let lines = lines(op, [a, &values, &indices], d)?;
            let k = k as usize;
            with_compute!(a.dtype(), T => top_lines::<T>(ctx, &lines, k, largest, sorted))?;
        }
        Ok([values, indices])
    })?;
    let Some((to_values, to_indices)) = out else { return Ok(Some((values, indices))) };
    // The operand may share memory with the targets: it is no longer needed.
    copy_values(ctx, to_values, &values);
    copy_values(ctx, to_indices, &indices);
    Ok(None)
}

fn top_lines<T: Key>(
    ctx: &Context,
    lines: &Lines<3>,
    k: usize,
    largest: bool,
    sorted: bool,
) -> Result<()> {
    let order = Order::full::<T>(largest);
    let n = lines.get(0)[0].length;
    let room = select::room(n as usize, k);
    let arch = ctx.arch();
    with_item!(order, n, I => {
        each_line::<I>(ctx, lines.count, 1.0 * n as f64, room, &|i, items| {
            let [line, values, indices] = lines.get(i);
            // SAFETY: the tensors stay alive; each line writes its own.
            unsafe {
                select::least::<T, I>(arch, &line, order, k, items);
                let items = &mut items[..k];
                if sorted {
                    // Not by digits, which would want the places in order.
                    items.sort_unstable();
                }
                unpack::<T, I>(arch, &line, order, items, 0, Some(&values), Some(&indices));
            }
        })
    })
}

/// Which element of a line in order.
#[derive(Clone, Copy)]
enum Rank {
    At(i64),
    /// The lower middle; NaN first or left out.
    Middle {
        skip: bool,
    },
}

impl Rank {
    /// Among `n` of which `nans` are NaN, which come last.
    fn of(self, n: i64, nans: i64) -> i64 {
        match self {
            Rank::At(k) => k,
            Rank::Middle { skip: false } if nans > 0 => n - nans,
            Rank::Middle { .. } => (n - nans - 1).max(0) / 2,
        }
    }
}

/// One element of each line and its place. `k`: for kthvalue, from 1.
pub fn pick(
    ctx: &Context,
    op: PickOp,
    a: &Tensor,
    k: i64,
    dim: i64,
    keep_dim: bool,
) -> Result<(Tensor, Tensor)> {
    let name = op.name();
    let d = dimension(name, a, dim)?;
    let n = length(a, d);
    if n == 0 {
        let text = format!("dimension {d} is empty: it has no element to pick");
        return Err(Error::index(name, &[a], text));
    }
    if op == PickOp::Kthvalue && (k < 1 || k > n) {
        let text = format!("k = {k} is outside [1, {n}], the places of dimension {d}");
        return Err(Error::index(name, &[a], text));
    }
    let [values, indices] = along(ctx, name, a, d, |a, d| {
        let [values, indices] = pair(ctx, name, a, &resized(a.shape(), d, 1))?;
        if values.numel() > 0 {
            let lines = lines(name, [a, &values, &indices], d)?;
            with_compute!(a.dtype(), T => match op {
                PickOp::Kthvalue => rank_lines::<T>(ctx, &lines, Rank::At(k - 1)),
                PickOp::Median => rank_lines::<T>(ctx, &lines, Rank::Middle { skip: false }),
                PickOp::Nanmedian => rank_lines::<T>(ctx, &lines, Rank::Middle { skip: true }),
                PickOp::Mode => mode_lines::<T>(ctx, &lines),
            })?;
        }
        Ok([values, indices])
    })?;
    Ok((dropped(name, values, d, keep_dim)?, dropped(name, indices, d, keep_dim)?))
}

fn rank_lines<T: Key>(ctx: &Context, lines: &Lines<3>, rank: Rank) -> Result<()> {
    let order = Order::full::<T>(false);
    let n = lines.get(0)[0].length;
    let arch = ctx.arch();
    with_item!(order, n, I => {
        if n > SHORT {
            for i in 0..lines.count {
                let [line, values, indices] = lines.get(i);
                let item = [at_rank::<T, I>(ctx, &line, rank)?];
                // SAFETY: the tensors stay alive.
                unsafe {
                    unpack::<T, I>(arch, &line, order, &item, 0, Some(&values), Some(&indices))
                };
            }
            return Ok(());
        }
        each_line::<I>(ctx, lines.count, 4.0 * n as f64, n as usize, &|i, items| {
            let [line, values, indices] = lines.get(i);
            // SAFETY: the tensors stay alive; each line writes its own.
            unsafe {
                wick_core::kernels::sort::pack::<T, I>(arch, &line, order, 0, items);
                let nans = match rank {
                    Rank::At(_) => 0,
                    Rank::Middle { .. } => {
                        items.iter().filter(|i| order.is_nan::<T, I>(**i)).count()
                    }
                };
                let (_, item, _) = items.select_nth_unstable(rank.of(n, nans as i64) as usize);
                unpack::<T, I>(arch, &line, order, &[*item], 0, Some(&values), Some(&indices));
            }
        })
    })
}

/// One item of a long line: a histogram says in which step of the keys' range it lies, and only the
/// items there are compared.
fn at_rank<T: Key, I: Item>(ctx: &Context, line: &Line, rank: Rank) -> Result<I> {
    let range = range_of_line::<T>(ctx, line);
    let rank = rank.of(line.length, range.nans);
    let total: Mutex<select::Histogram> = Mutex::new([0; select::STEPS]);
    ctx.for_ranges(line.length, 1.0, &|start, end| {
        let part = Line { length: end - start, ..line.from(start) };
        let mut counts = [0; select::STEPS];
        // SAFETY: the operation's tensors stay alive.
        unsafe { select::histogram::<T>(ctx.arch(), &part, range, &mut counts) };
        let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
        total.iter_mut().zip(counts).for_each(|(t, c)| *t += c);
    });
    let total = total.into_inner().unwrap_or_else(PoisonError::into_inner);
    let (mut step, mut below) = (0, 0);
    while step + 1 < select::STEPS && below + total[step] <= rank {
        below += total[step];
        step += 1;
    }
    let mut items = Room::<I>::new(ctx, total[step].max(1) as usize + 1)?;
    let items = items.slice();
    // SAFETY: the operation's tensors stay alive.
    let n = unsafe { select::collect::<T, I>(ctx.arch(), line, range, step, items) };
    if n == 0 {
        return Err(Error::internal("the elements change during the call".into()));
    }
    let at = ((rank - below).max(0) as usize).min(n - 1);
    Ok(*items[..n].select_nth_unstable(at).1)
}

fn mode_lines<T: Key>(ctx: &Context, lines: &Lines<3>) -> Result<()> {
    let order = order_of::<T, 3>(ctx, lines, 0, false);
    let length = lines.get(0)[0].length;
    let (arch, n) = (ctx.arch(), length as usize);
    with_item!(order, length, I => {
        each_line::<I>(ctx, lines.count, 12.0 * length as f64, 2 * n, &|i, room| {
            let [line, values, indices] = lines.get(i);
            let (items, spare) = room.split_at_mut(n);
            // SAFETY: the tensors stay alive; each line writes its own.
            unsafe {
                wick_core::kernels::sort::pack::<T, I>(arch, &line, order, 0, items);
                let items = if radix::sort(arch, items, spare, order.bits) { spare } else { items };
                let item = [select::mode::<T, I>(items, order)];
                unpack::<T, I>(arch, &line, order, &item, 0, Some(&values), Some(&indices));
            }
        })
    })
}

/// All elements as one line.
pub(super) fn flattened(ctx: &Context, op: &'static str, a: &Tensor) -> Result<Tensor> {
    let a = contiguous(ctx, a)?;
    let layout = Layout::strided(&[a.numel()], &[1], a.layout().offset());
    a.with_layout(op, layout)
}

/// The median of all elements. Of none it is NaN; integers have no such value.
pub fn median(ctx: &Context, a: &Tensor, skip_nan: bool) -> Result<Tensor> {
    let op = if skip_nan { PickOp::Nanmedian } else { PickOp::Median };
    let flat = flattened(ctx, op.name(), a)?;
    if flat.numel() == 0 {
        if !a.dtype().is_float() {
            let text = "a median of no integers has no value";
            return Err(Error::index(op.name(), &[a], text));
        }
        let nan = wick_core::kernels::elementwise::Scalar::Float(f64::NAN);
        return crate::ops::creation::full(ctx, a.dtype(), &[], nan);
    }
    Ok(pick(ctx, op, &flat, 0, 0, false)?.0)
}

/// The extreme elements so far along a dimension, and the places of the last that equal them.
pub fn running(ctx: &Context, op: RunningOp, a: &Tensor, dim: i64) -> Result<(Tensor, Tensor)> {
    let name = op.name();
    let d = dimension(name, a, dim)?;
    let [values, indices] = along(ctx, name, a, d, |a, d| {
        let [values, indices] = pair(ctx, name, a, a.shape())?;
        if values.numel() == 0 {
            return Ok([values, indices]);
        }
        let lines = lines(name, [a, &values, &indices], d)?;
        let cost = 2.0 * length(a, d) as f64;
        ctx.for_ranges(lines.count, cost, &|start, end| {
            for i in start..end {
                let [line, values, indices] = lines.get(i);
                let greatest = op == RunningOp::Cummax;
                // SAFETY: the tensors stay alive; each line writes its own.
                with_compute!(a.dtype(), T => unsafe {
                    running_kernel::running::<T>(ctx.arch(), &line, greatest, &values, &indices)
                });
            }
        });
        Ok([values, indices])
    })?;
    Ok((values, indices))
}
