//! Sorting along a dimension, always stable: NaN counts as greatest, both zeros are equal.

use std::sync::{Mutex, PoisonError};

use wick_core::kernels::sort::{Item, Key, Line, Lines, Order, Range, pack, radix, range, unpack};
use wick_core::{DType, with_compute};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::array::contiguous;
use crate::ops::index::dimension;
use crate::ops::mask::Shared;
use crate::ops::scratch::Room;
use crate::tensor::Tensor;

/// Lines from this length on are worth sharing among threads.
const LONG: i64 = 1 << 16;

/// Rough nanoseconds to sort an element.
const COST: f64 = 10.0;

/// Runs `f(line, room)` for every line, each thread with its own room for `length` numbers.
pub(super) fn each_line<T: Copy>(
    ctx: &Context,
    count: i64,
    cost: f64,
    length: usize,
    f: &(dyn Fn(i64, &mut [T]) + Sync),
) -> Result<()> {
    ctx.try_ranges(count, cost, &|start, end| {
        let mut room = Room::new(ctx, length)?;
        (start..end).for_each(|line| f(line, room.slice()));
        Ok(())
    })
}

/// What is known of the keys of all lines.
pub(super) fn range_of<T: Key, const N: usize>(
    ctx: &Context,
    lines: &Lines<N>,
    which: usize,
) -> Range {
    let all = Mutex::new(Range::EMPTY);
    let join = |part: Range| {
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        *all = all.and(part);
    };
    let length = lines.get(0)[which].length;
    if lines.count >= 64 {
        ctx.for_ranges(lines.count, 0.3 * length as f64, &|start, end| {
            let mut part = Range::EMPTY;
            for i in start..end {
                // SAFETY: the operation's tensors stay alive.
                part = part.and(unsafe { range::<T>(ctx.arch(), &lines.get(i)[which]) });
            }
            join(part);
        });
    } else {
        for i in 0..lines.count {
            join(range_of_line::<T>(ctx, &lines.get(i)[which]));
        }
    }
    all.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// What is known of the keys of a line.
pub(super) fn range_of_line<T: Key>(ctx: &Context, line: &Line) -> Range {
    let all = Mutex::new(Range::EMPTY);
    ctx.for_ranges(line.length, 0.3, &|start, end| {
        let part = Line { length: end - start, ..line.from(start) };
        // SAFETY: the operation's tensors stay alive.
        let part = unsafe { range::<T>(ctx.arch(), &part) };
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        *all = all.and(part);
    });
    all.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Whether keys and places of an order fit into the narrow items.
pub(super) fn narrow(order: Order, length: i64) -> bool {
    order.bits <= <u64 as Item>::HALF && length <= 1 << <u64 as Item>::HALF
}

/// Runs an expression with `$i` standing for the narrowest item that fits.
macro_rules! with_item {
    ($order:expr, $length:expr, $i:ident => $body:expr) => {
        if $crate::ops::sort::narrow($order, $length) {
            type $i = u64;
            $body
        } else {
            type $i = u128;
            $body
        }
    };
}
pub(super) use with_item;

/// The order of all lines: for short lines the type's, else that of the keys there are, which may
/// take fewer bits.
pub(super) fn order_of<T: Key, const N: usize>(
    ctx: &Context,
    lines: &Lines<N>,
    which: usize,
    descending: bool,
) -> Order {
    if lines.count == 0 || (T::BITS <= 32 && lines.get(0)[which].length < 256) {
        return Order::full::<T>(descending);
    }
    let range = range_of::<T, N>(ctx, lines, which);
    Order::within::<T>(descending, range.least, range.greatest)
}

/// The items of one line, sorted; a long line is shared among threads.
pub(super) fn sorted<T: Key, I: Item>(ctx: &Context, line: &Line, order: Order) -> Result<Room<I>> {
    let n = line.length as usize;
    let (mut items, mut spare) = (Room::<I>::new(ctx, n)?, Room::<I>::new(ctx, n)?);
    let to = Shared(items.slice().as_mut_ptr());
    ctx.for_ranges(line.length, 1.0, &|start, end| {
        // SAFETY: the operation's tensors stay alive; each range has its own items.
        unsafe {
            let part = std::slice::from_raw_parts_mut(to.at(start), (end - start) as usize);
            pack::<T, I>(ctx.arch(), line, order, start, part);
        }
    });
    let parts = if line.length < LONG { 1 } else { 2 * ctx.threads().min(n >> 14) };
    if ctx.threads() == 1 || parts == 1 {
        let moved = radix::sort(ctx.arch(), items.slice(), spare.slice(), order.bits);
        return Ok(if moved { spare } else { items });
    }
    let digits = radix::Digits::new(order.bits, n);
    let mut room = Room::<radix::Counts>::new(ctx, parts)?;
    let of = |p: i64| p as usize * n / parts..(p as usize + 1) * n / parts;
    let cost = (n / parts) as f64;
    for shift in digits.shifts() {
        let from: &[I] = items.slice();
        let counts = Shared(room.slice().as_mut_ptr());
        ctx.for_ranges(parts as i64, cost, &|start, end| {
            for p in start..end {
                // SAFETY: each part has its own counts.
                radix::count(&from[of(p)], digits, shift, unsafe { &mut *counts.at(p) });
            }
        });
        if radix::places(room.slice(), digits) {
            continue;
        }
        let to = Shared(spare.slice().as_mut_ptr());
        ctx.for_ranges(parts as i64, 2.0 * cost, &|start, end| {
            for p in start..end {
                // SAFETY: counted above from the same items, which nobody else knows; places of
                // different parts are different.
                unsafe { radix::deal(&from[of(p)], digits, shift, &mut *counts.at(p), to.at(0)) };
            }
        });
        std::mem::swap(&mut items, &mut spare);
    }
    Ok(items)
}

/// Sorts every line into lines of values and of places.
fn sort_lines<T: Key>(
    ctx: &Context,
    lines: &Lines<3>,
    descending: bool,
    wanted: [bool; 2],
) -> Result<()> {
    if lines.count == 0 || lines.get(0)[0].length == 0 {
        return Ok(());
    }
    let arch = ctx.arch();
    let order = order_of::<T, 3>(ctx, lines, 0, descending);
    let length = lines.get(0)[0].length;
    with_item!(order, length, I => {
        if length >= LONG && lines.count < 2 * ctx.threads() as i64 {
            for i in 0..lines.count {
                let [line, values, indices] = lines.get(i);
                let mut items = sorted::<T, I>(ctx, &line, order)?;
                let items: &[I] = items.slice();
                ctx.for_ranges(length, 2.0, &|start, end| {
                    let items = &items[start as usize..end as usize];
                    let values = wanted[0].then_some(&values);
                    let indices = wanted[1].then_some(&indices);
                    // SAFETY: the tensors stay alive; each range writes its own elements.
                    unsafe { unpack::<T, I>(arch, &line, order, items, start, values, indices) };
                });
            }
            return Ok(());
        }
        let n = length as usize;
        each_line::<I>(ctx, lines.count, COST * length as f64, 2 * n, &|i, room| {
            let [line, values, indices] = lines.get(i);
            let (items, spare) = room.split_at_mut(n);
            // SAFETY: the tensors stay alive; each line writes its own.
            unsafe {
                pack::<T, I>(arch, &line, order, 0, items);
                let items = if radix::sort(arch, items, spare, order.bits) { spare } else { items };
                let values = wanted[0].then_some(&values);
                    let indices = wanted[1].then_some(&indices);
                unpack::<T, I>(arch, &line, order, items, 0, values, indices);
            }
        })
    })
}

fn run(
    ctx: &Context,
    a: &Tensor,
    d: usize,
    descending: bool,
    values: Option<&Tensor>,
    indices: Option<&Tensor>,
) -> Result<()> {
    let Some(any) = values.or(indices) else { return Ok(()) };
    let side = |t: Option<&Tensor>| (any.layout(), t.unwrap_or(any).place());
    let tensors = [(a.layout(), a.place()), side(values), side(indices)];
    let lines = Lines::new(tensors, d).map_err(|e| Error::layout("sort", a, e))?;
    let wanted = [values.is_some(), indices.is_some()];
    with_compute!(a.dtype(), T => sort_lines::<T>(ctx, &lines, descending, wanted))
}

/// Whether steps along a dimension leave the memory that neighbouring lines share, so that a copy
/// whose lines lie densely pays.
fn scattered(a: &Tensor, d: usize) -> bool {
    let (shape, strides) = (a.shape(), a.layout().strides());
    a.numel() >= 1 << 12
        && shape[d] >= 8
        && (0..a.rank()).any(|k| shape[k] >= 8 && strides[k] > 0 && strides[k] < strides[d])
}

/// Calls `f` with a tensor and the dimension to work along: the given ones, or a copy with that
/// dimension last. The results have their dimensions in the tensor's order.
pub(super) fn along<const N: usize>(
    ctx: &Context,
    op: &'static str,
    a: &Tensor,
    d: usize,
    f: impl FnOnce(&Tensor, usize) -> Result<[Tensor; N]>,
) -> Result<[Tensor; N]> {
    if !scattered(a, d) {
        return f(a, d);
    }
    let moved = a.with_layout(op, a.layout().movedim(d as i64, -1))?;
    let mut out = f(&contiguous(ctx, &moved)?, a.rank() - 1)?;
    for t in &mut out {
        let moved = t.with_layout(op, t.layout().movedim(-1, d as i64))?;
        *t = contiguous(ctx, &moved)?;
    }
    Ok(out)
}

/// The elements along a dimension in order, and the places they had.
pub fn sort(ctx: &Context, a: &Tensor, dim: i64, descending: bool) -> Result<(Tensor, Tensor)> {
    let op = "sort";
    let d = dimension(op, a, dim)?;
    let [values, indices] = along(ctx, op, a, d, |a, d| {
        let values = Tensor::empty(ctx, op, a.dtype(), a.shape())?;
        let indices = Tensor::empty(ctx, op, DType::I64, a.shape())?;
        run(ctx, a, d, descending, Some(&values), Some(&indices))?;
        Ok([values, indices])
    })?;
    Ok((values, indices))
}

/// The places along a dimension that the elements in order have.
pub fn argsort(ctx: &Context, a: &Tensor, dim: i64, descending: bool) -> Result<Tensor> {
    let op = "argsort";
    let d = dimension(op, a, dim)?;
    let [indices] = along(ctx, op, a, d, |a, d| {
        let indices = Tensor::empty(ctx, op, DType::I64, a.shape())?;
        run(ctx, a, d, descending, None, Some(&indices))?;
        Ok([indices])
    })?;
    Ok(indices)
}

/// The elements along a dimension in order.
pub fn sorted_values(
    ctx: &Context,
    op: &'static str,
    a: &Tensor,
    dim: i64,
    descending: bool,
) -> Result<Tensor> {
    let d = dimension(op, a, dim)?;
    let [values] = along(ctx, op, a, d, |a, d| {
        let values = Tensor::empty(ctx, op, a.dtype(), a.shape())?;
        run(ctx, a, d, descending, Some(&values), None)?;
        Ok([values])
    })?;
    Ok(values)
}
