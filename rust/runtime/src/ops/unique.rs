//! Different elements, or different slices along a dimension: each once. NaN differs from all.

use std::cmp::Ordering;

use wick_core::kernels::sort::{Item, Key, Line, Lines, Order, Word, pack, unpack};
use wick_core::{DType, Element, with_compute, with_dtype};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::array::contiguous;
use crate::ops::index::{dimension, index_select, longs_mut};
use crate::ops::mask::Shared;
use crate::ops::scratch::Room;
use crate::ops::select::flattened;
use crate::ops::sort::{order_of, sorted, with_item};
use crate::tensor::Tensor;

/// What is compared with what, and what else is wanted.
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Unique {
    /// Slices along a dimension; none: elements.
    pub dim: Option<i64>,
    /// Only neighbours are compared, and the order stays; else the result is sorted.
    pub consecutive: bool,
    pub inverse: bool,
    pub counts: bool,
}

impl Unique {
    fn name(&self) -> &'static str {
        match (self.consecutive, self.dim) {
            (true, _) => "unique_consecutive",
            (false, None) => "unique",
            (false, Some(_)) => "unique_dim",
        }
    }
}

/// The different elements or slices; for each one its number in them; how often each is there. What
/// is not wanted is empty.
pub fn unique(ctx: &Context, a: &Tensor, how: Unique) -> Result<[Tensor; 3]> {
    let op = how.name();
    let Some(dim) = how.dim else {
        let flat = flattened(ctx, op, a)?;
        return with_compute!(a.dtype(), T => elements::<T>(ctx, op, &flat, a.shape(), how));
    };
    let d = dimension(op, a, dim)?;
    let n = a.shape().get(d).copied().unwrap_or(1);
    if n > 0 && a.numel() == 0 {
        return Err(Error::shape(op, &[a], "slices without elements cannot be told apart"));
    }
    if a.numel() == n {
        // Slices of one element.
        let flat = flattened(ctx, op, a)?;
        let [values, inverse, counts] =
            with_compute!(a.dtype(), T => elements::<T>(ctx, op, &flat, &[n], how))?;
        let mut shape = a.shape().to_vec();
        match shape.get_mut(d) {
            Some(size) => *size = values.numel(),
            None => return Ok([values, inverse, counts]),
        }
        let values = values.with_layout(op, values.layout().view(&shape))?;
        return Ok([values, inverse, counts]);
    }
    let moved = a.with_layout(op, a.layout().movedim(d as i64, 0))?;
    let rows = contiguous(ctx, &moved)?;
    let groups = with_dtype!(a.dtype(), S => slices::<S>(ctx, op, &rows, how))?;
    let values = index_select(ctx, a, d as i64, &groups.heads, None)?;
    let values = values.ok_or_else(|| Error::internal("no slices were selected".into()))?;
    Ok([values, groups.inverse, groups.counts])
}

/// Groups of equal items: the place of each one's first, and what else is wanted.
struct Groups {
    heads: Tensor,
    inverse: Tensor,
    counts: Tensor,
}

impl Groups {
    /// `each` calls its argument with first and length of every group of items in turn.
    fn new<I: Item>(
        ctx: &Context,
        op: &'static str,
        items: &[I],
        shape: &[i64],
        how: Unique,
        each: impl Fn(&mut dyn FnMut(usize, usize)),
    ) -> Result<Groups> {
        let mut total = 0i64;
        each(&mut |_, _| total += 1);
        let make = |wanted: bool, shape: &[i64]| {
            Tensor::empty(ctx, op, DType::I64, if wanted { shape } else { &[0] })
        };
        let heads = make(true, &[total])?;
        let (inverse, counts) = (make(how.inverse, shape)?, make(how.counts, &[total])?);
        let (to_heads, to_inverse) = (longs_mut(&heads), longs_mut(&inverse));
        let to_counts = longs_mut(&counts);
        let mut group = 0;
        each(&mut |first, length| {
            to_heads[group] = items[first].place() as i64;
            if how.inverse {
                for item in &items[first..first + length] {
                    to_inverse[item.place() as usize] = group as i64;
                }
            }
            if how.counts {
                to_counts[group] = length as i64;
            }
            group += 1;
        });
        Ok(Groups { heads, inverse, counts })
    }
}

/// A line's items, sorted unless only neighbours matter.
fn items<T: Key, I: Item>(
    ctx: &Context,
    line: &Line,
    order: Order,
    consecutive: bool,
) -> Result<Room<I>> {
    if !consecutive {
        return sorted::<T, I>(ctx, line, order);
    }
    let mut items = Room::<I>::new(ctx, line.length as usize)?;
    let to = Shared(items.slice().as_mut_ptr());
    ctx.for_ranges(line.length, 1.0, &|start, end| {
        // SAFETY: the operation's tensors stay alive; each range has its own items.
        unsafe {
            let part = std::slice::from_raw_parts_mut(to.at(start), (end - start) as usize);
            pack::<T, I>(ctx.arch(), line, order, start, part);
        }
    });
    Ok(items)
}

/// The different elements of a vector; `shape`: of the inverse.
fn elements<T: Key>(
    ctx: &Context,
    op: &'static str,
    flat: &Tensor,
    shape: &[i64],
    how: Unique,
) -> Result<[Tensor; 3]> {
    let lines =
        Lines::new([(flat.layout(), flat.place())], 0).map_err(|e| Error::layout(op, flat, e))?;
    let [line] = lines.get(0);
    let order = if line.length == 0 {
        Order::full::<T>(false)
    } else {
        order_of::<T, 1>(ctx, &lines, 0, false)
    };
    with_item!(order, line.length, I => {
        let mut items = items::<T, I>(ctx, &line, order, how.consecutive)?;
        let items = items.slice();
        let make = |wanted: bool, shape: &[i64]| {
            Tensor::empty(ctx, op, DType::I64, if wanted { shape } else { &[0] })
        };
        let inverse = make(how.inverse, shape)?;
        let to_inverse = longs_mut(&inverse);
        // Where each group begins; its first item moves to its number's place.
        let mut starts = Room::<i64>::new(ctx, if how.counts { items.len() + 1 } else { 0 })?;
        let starts = starts.slice();
        let (mut groups, mut last) = (0, None);
        for i in 0..items.len() {
            let item = items[i];
            let key = item.key();
            if last != Some(key) || order.is_nan::<T, I>(item) {
                last = Some(key);
                items[groups] = item;
                if how.counts {
                    starts[groups] = i as i64;
                }
                groups += 1;
            }
            if how.inverse {
                to_inverse[item.place() as usize] = groups as i64 - 1;
            }
        }
        let counts = make(how.counts, &[groups as i64])?;
        if how.counts {
            starts[groups] = items.len() as i64;
            for (to, pair) in longs_mut(&counts).iter_mut().zip(starts.windows(2)) {
                *to = pair[1] - pair[0];
            }
        }
        let values = Tensor::empty(ctx, op, flat.dtype(), &[groups as i64])?;
        let to = Line { first: values.place_mut(), length: groups as i64, step: 1 };
        let items: &[I] = &items[..groups];
        ctx.for_ranges(groups as i64, 2.0, &|start, end| {
            let items = &items[start as usize..end as usize];
            // SAFETY: the tensors stay alive; each range writes its own elements.
            unsafe { unpack::<T, I>(ctx.arch(), &line, order, items, start, Some(&to), None) };
        });
        Ok([values, inverse, counts])
    })
}

/// Rows of a matrix as keys.
struct Rows<'a, S> {
    elements: &'a [S],
    width: usize,
}

impl<S: Element> Rows<'_, S>
where
    S::Compute: Key,
{
    fn keys(&self, row: u64) -> impl Iterator<Item = <S::Compute as Key>::Bits> {
        let first = row as usize * self.width;
        self.elements[first..first + self.width].iter().map(|e| e.load().key())
    }

    fn compare(&self, a: u64, b: u64) -> Ordering {
        self.keys(a).cmp(self.keys(b))
    }

    fn same(&self, a: u64, b: u64) -> bool {
        let ones = <S::Compute as Key>::Bits::ONES;
        let equal = |(x, y)| x == y && !(S::Compute::FLOAT && x == ones);
        self.keys(a).zip(self.keys(b)).all(equal)
    }
}

/// The different slices along the first dimension of a contiguous tensor.
fn slices<S: Element>(ctx: &Context, op: &'static str, rows: &Tensor, how: Unique) -> Result<Groups>
where
    S::Compute: Key,
{
    let n = rows.shape()[0];
    let width = if n == 0 { 0 } else { rows.numel() / n };
    let elements: &[S] = if n == 0 {
        &[]
    } else {
        // SAFETY: contiguous elements of this type, alive as long as the tensor.
        unsafe {
            let first = rows.place().start.cast::<S>().cast_const();
            std::slice::from_raw_parts(first, rows.numel() as usize)
        }
    };
    let matrix = Rows { elements, width: width as usize };
    let order = Order::full::<S::Compute>(false);
    // Items by the first element of each slice; those that share it are compared whole.
    let line = Line { first: rows.place(), length: n, step: width };
    with_item!(order, n, I => {
        let mut items = items::<S::Compute, I>(ctx, &line, order, how.consecutive)?;
        let items = items.slice();
        if !how.consecutive {
            for tied in items.chunk_by_mut(|a, b| a.key() == b.key()).filter(|t| t.len() > 1) {
                tied.sort_unstable_by(|a, b| {
                    matrix.compare(a.place(), b.place()).then(a.place().cmp(&b.place()))
                });
            }
        }
        Groups::new(ctx, op, items, &[n], how, |f| {
            let mut first = 0;
            for i in 1..=items.len() {
                if i == items.len() || !matrix.same(items[first].place(), items[i].place()) {
                    f(first, i - first);
                    first = i;
                }
            }
        })
    })
}
