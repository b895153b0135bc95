//! Sparse tensors: the coordinates and the values of what is not zero.
//!
//! A sparse tensor is a value of its own beside [`Tensor`], not a tensor with a flag. Kernels and
//! the operations of other families take a [`Tensor`] and so cannot be handed one; what a sparse
//! tensor can do is what stands here. Its handle stands in the same table as others, so that
//! closing, moving and counting are those of dense tensors.

mod arithmetic;
mod product;

pub use arithmetic::{
    Summed, add, add_dense, cast, mul_dense, mul_sparse, scale, sum, transpose, unary,
    zero_preserving,
};
pub use product::{addmm, mm, mm_dense_sparse, mm_sparse};

use std::borrow::Cow;

use wick_core::dtype::Category;
use wick_core::kernels::elementwise::Scalar;
use wick_core::kernels::index::extremes;
use wick_core::kernels::reduce::ReduceOp;
use wick_core::kernels::sparse::{RowSums, add_keys};
use wick_core::{DType, Element, Layout, with_dtype};

use crate::context::Context;
use crate::error::{Error, Kind, Operand, Result};
use crate::ops::array::contiguous;
use crate::ops::backward::made;
use crate::ops::creation::fill_values;
use crate::ops::elementwise::{self, Out};
use crate::ops::index::{at_least_1d, index_select, longs, longs_mut};
use crate::ops::mask::{self, Shared, nonzero_rows};
use crate::ops::rearrange;
use crate::ops::reduce::{Over, reduce};
use crate::ops::sort::sort;
use crate::tensor::Tensor;

/// Coordinates over the leading dimensions, the sparse ones, and for each the elements of the
/// others, the dense ones. A coordinate may be there several times: the element is the sum.
#[derive(Clone, Debug)]
pub struct Coo {
    /// i64, `[sparse dimensions, n]`, contiguous and inside the shape. Kernels trust them, so they
    /// are a copy that nobody else writes.
    indices: Tensor,
    /// `[n, dense dimensions…]`, shared with whoever gave them.
    values: Tensor,
    /// Row-major; its element count and that of each part of it fits.
    shape: Layout,
    /// Coordinates are in order and each is there once.
    coalesced: bool,
}

impl Coo {
    /// Checks and copies the coordinates; the values are shared.
    pub fn new(ctx: &Context, indices: &Tensor, values: &Tensor, shape: &[i64]) -> Result<Coo> {
        let op = "sparse_coo";
        let both = [indices, values];
        let refused = |text: String| Err(Error::shape(op, &both, text));
        if indices.dtype().category() != Category::Int {
            let text = format!("the indices must be integers, not {}", indices.dtype());
            return Err(Error::dtype(op, &both, text));
        }
        let &[sparse, n] = indices.shape() else {
            return refused("the indices must be a matrix, a row a sparse dimension".into());
        };
        let values = at_least_1d(values);
        if values.shape()[0] != n {
            return refused(format!("{n} indices, but {} values", values.shape()[0]));
        }
        let rows = sparse as usize;
        if rows + values.rank() - 1 != shape.len() {
            let dense = values.rank() - 1;
            return refused(format!(
                "the indices have {sparse} sparse and the values {dense} dense dimensions, \
                 the shape {shape:?} {}",
                shape.len()
            ));
        }
        if values.shape()[1..] != shape[rows..] {
            return refused(format!("the values do not fit the shape {shape:?}"));
        }
        let size = |e| Error::size(op, values.dtype(), shape, e);
        let shape = Layout::contiguous(shape).map_err(size)?;
        let indices = match indices.dtype() {
            DType::I64 => rearrange::clone(ctx, op, indices)?,
            _ => elementwise::cast(ctx, indices, DType::I64)?,
        };
        for d in 0..rows {
            let row = &longs(&indices)[d * n as usize..(d + 1) * n as usize];
            let (size, (least, greatest)) = (shape.shape()[d], extremes(ctx.arch(), row));
            if n > 0 && (least < 0 || greatest >= size) {
                let bad = |i: &i64| *i < 0 || *i >= size;
                let (at, index) = row.iter().enumerate().find(|(_, i)| bad(i)).unwrap_or((0, &0));
                let shape = shape.shape();
                return Err(Error::index(
                    op,
                    &both,
                    format!(
                        "index {index} at [{d}, {at}] is outside dimension {d} of size {size} of \
                         the shape {shape:?}"
                    ),
                ));
            }
        }
        Ok(Coo { indices, values, shape, coalesced: n < 2 })
    }

    /// None of its elements is there.
    pub fn zeros_like(&self, ctx: &Context) -> Result<Coo> {
        let op = "zeros_like";
        let indices = Tensor::empty(ctx, op, DType::I64, &[self.sparse_dims() as i64, 0])?;
        let mut shape = self.values.shape().to_vec();
        shape[0] = 0;
        let values = Tensor::empty(ctx, op, self.dtype(), &shape)?;
        Ok(Coo { indices, values, coalesced: true, ..self.clone() })
    }

    /// What is not zero of a tensor: slices over the leading `sparse` dimensions.
    pub fn from_dense(ctx: &Context, a: &Tensor, sparse: i64) -> Result<Coo> {
        let op = "to_sparse";
        let rank = a.rank();
        if sparse < 0 || sparse > rank as i64 {
            let text = format!("{sparse} sparse dimensions of {rank}");
            return Err(Error::shape(op, &[a], text));
        }
        let rows = sparse as usize;
        let found = if rows == rank {
            nonzero_rows(ctx, a)?
        } else {
            let dims: Vec<i64> = (sparse..rank as i64).collect();
            let over = Over { dims: Some(&dims), keep_dim: false };
            nonzero_rows(ctx, &made(reduce(ctx, ReduceOp::Any, a, over, None, 0.0, Out::New))?)?
        };
        let n = found.shape()[1];
        // Where no dimension is sparse, the one element has a coordinate of no numbers.
        let indices = match rows {
            0 => Tensor::empty(ctx, op, DType::I64, &[0, n])?,
            _ => contiguous(ctx, &found)?,
        };
        let shape = Layout::contiguous(a.shape()).map_err(|e| Error::layout(op, a, e))?;
        let no_values = Tensor::empty(ctx, op, a.dtype(), &[0])?;
        let places = Coo { indices, values: no_values, shape, coalesced: true };
        let values = places.gather(ctx, op, a)?;
        Ok(Coo { values, ..places })
    }

    /// Coalesced, without the coordinates whose elements are all 0.
    fn pruned(&self, ctx: &Context) -> Result<Coo> {
        let whole = self.coalesce(ctx)?;
        let dims: Vec<i64> = (1..whole.values.rank() as i64).collect();
        let any = match dims.is_empty() {
            true => whole.values.clone(),
            false => {
                let over = Over { dims: Some(&dims), keep_dim: false };
                made(reduce(ctx, ReduceOp::Any, &whole.values, over, None, 0.0, Out::New))?
            }
        };
        let found = nonzero_rows(ctx, &any)?;
        if found.shape()[1] == whole.count() {
            return Ok(whole);
        }
        let found = found.with_layout("equal", found.layout().select(0, 0))?;
        let indices = made(index_select(ctx, &whole.indices, 1, &found, None))?;
        let values = made(index_select(ctx, &whole.values, 0, &found, None))?;
        Ok(Coo { indices, values, ..whole })
    }

    /// Whether shapes and all elements are equal, those that are 0 without being there too.
    pub fn equal(&self, ctx: &Context, other: &Coo) -> Result<bool> {
        let op = "equal";
        if self.dtype() != other.dtype() {
            return Err(self.refuse(op, format!("the other one has dtype {}", other.dtype())));
        }
        if self.shape() != other.shape() {
            return Ok(false);
        }
        if self.sparse_dims() != other.sparse_dims() {
            let text = format!("the other one has {} sparse dimensions", other.sparse_dims());
            return Err(self.refuse(op, text));
        }
        let (a, b) = (self.pruned(ctx)?, other.pruned(ctx)?);
        Ok(a.count() == b.count()
            && mask::equal(ctx, &a.indices, &b.indices)?
            && mask::equal(ctx, &a.values, &b.values)?)
    }

    /// How many coordinates there are, each time one is there.
    pub fn count(&self) -> i64 {
        self.indices.shape()[1]
    }

    /// The number of the device that its elements are on.
    pub fn device(&self) -> u32 {
        self.values.device()
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.values.dtype()
    }

    /// Sizes, outermost first.
    pub fn shape(&self) -> &[i64] {
        self.shape.shape()
    }

    /// Whether coordinates are in order and each is there once.
    pub fn is_coalesced(&self) -> bool {
        self.coalesced
    }

    /// How many leading dimensions have coordinates.
    pub fn sparse_dims(&self) -> usize {
        self.indices.shape()[0] as usize
    }

    /// Bytes of coordinates and values.
    pub fn bytes(&self) -> i64 {
        self.indices.numel() * 8 + self.values.numel() * self.dtype().size() as i64
    }

    /// A copy of the coordinates, which must be coalesced.
    pub fn indices(&self, ctx: &Context) -> Result<Tensor> {
        self.coalesced_only("indices")?;
        rearrange::clone(ctx, "indices", &self.indices)
    }

    /// The values, shared, which must be coalesced.
    pub fn values(&self) -> Result<Tensor> {
        self.coalesced_only("values")?;
        Ok(self.values.clone())
    }

    /// A copy of the coordinates, and the values, as they are.
    pub fn parts(&self, ctx: &Context) -> Result<[Tensor; 2]> {
        Ok([rearrange::clone(ctx, "indices", &self.indices)?, self.values.clone()])
    }

    fn coalesced_only(&self, op: &'static str) -> Result<()> {
        if self.coalesced {
            return Ok(());
        }
        Err(self.refuse(op, "expected a coalesced tensor: call coalesce first"))
    }

    /// The error that this operation does not take a sparse tensor.
    pub fn refuse(&self, op: &'static str, expected: impl Into<Cow<'static, str>>) -> Error {
        let operand = Operand { dtype: self.dtype(), shape: self.shape().into() };
        Kind::Sparse { op, operand, expected: expected.into() }.into()
    }

    /// A shape error about this and perhaps another operand.
    fn misfit(&self, op: &'static str, other: Option<Operand>, expected: String) -> Error {
        let this = Operand { dtype: self.dtype(), shape: self.shape().into() };
        let operands = crate::error::Operands([Some(this), other].into_iter().flatten().collect());
        Kind::Shape { op, operands, expected: expected.into() }.into()
    }

    /// A copy of the values, sharing the coordinates, which are never written.
    pub fn duplicate(&self, ctx: &Context) -> Result<Coo> {
        let values = rearrange::clone(ctx, "clone", &self.values)?;
        Ok(Coo { values, ..self.clone() })
    }

    /// Elements of a value.
    fn columns(&self) -> usize {
        self.shape()[self.sparse_dims()..].iter().product::<i64>() as usize
    }

    /// The numbers of the coordinates in row-major order of the sparse dimensions.
    fn keys(&self, ctx: &Context) -> Result<Tensor> {
        let n = self.count();
        let keys = Tensor::empty(ctx, "coalesce", DType::I64, &[n])?;
        fill_values(ctx, &keys, Scalar::Int(0));
        if n == 0 {
            return Ok(keys);
        }
        let rows = self.sparse_dims();
        let to = Shared(longs_mut(&keys).as_mut_ptr());
        ctx.for_ranges(n, rows as f64, &|start, end| {
            let length = (end - start) as usize;
            // SAFETY: inside the keys; each range has its own.
            let part = unsafe { std::slice::from_raw_parts_mut(to.at(start), length) };
            let mut stride = 1;
            for d in (0..rows).rev() {
                let first = d * n as usize + start as usize;
                add_keys(ctx.arch(), part, &longs(&self.indices)[first..first + length], stride);
                // With a coordinate at hand no sparse dimension is empty, and their product fits.
                stride *= self.shape()[d];
            }
        });
        Ok(keys)
    }

    /// Each coordinate once, in order, with the sum of its values: integers wrap, truth values are
    /// joined by "or", half types add up in f32. Equal coordinates are added in the order they had.
    pub fn coalesce(&self, ctx: &Context) -> Result<Coo> {
        let op = "coalesce";
        let done = |c: &Coo| Ok(Coo { coalesced: true, ..c.clone() });
        if self.coalesced || self.count() < 2 {
            return done(self);
        }
        let keys = self.keys(ctx)?;
        if longs(&keys).windows(2).all(|w| w[0] < w[1]) {
            return done(self);
        }
        let (sorted, order) = sort(ctx, &keys, 0, false)?;
        drop(keys);
        let (sorted, n) = (longs(&sorted), self.count() as usize);
        let total = 1 + sorted.windows(2).filter(|w| w[0] != w[1]).count();
        let heads = Tensor::empty(ctx, op, DType::I64, &[total as i64 + 1])?;
        let starts = (0..n).filter(|&i| i == 0 || sorted[i - 1] != sorted[i]).chain([n]);
        for (head, start) in longs_mut(&heads).iter_mut().zip(starts) {
            *head = start as i64;
        }
        let (heads, order) = (longs(&heads), longs(&order));
        let rows = self.sparse_dims();
        let indices = Tensor::empty(ctx, op, DType::I64, &[rows as i64, total as i64])?;
        let (from, to) = (longs(&self.indices), Shared(longs_mut(&indices).as_mut_ptr()));
        ctx.for_ranges(total as i64, 4.0 * rows as f64, &|start, end| {
            for d in 0..rows {
                for g in start..end {
                    let first = order[heads[g as usize] as usize] as usize;
                    // SAFETY: inside the matrix; each column is written once.
                    unsafe { to.at((d * total) as i64 + g).write(from[d * n + first]) };
                }
            }
        });
        let mut shape = self.values.shape().to_vec();
        shape[0] = total as i64;
        let values = Tensor::empty(ctx, op, self.dtype(), &shape)?;
        let rows = contiguous(ctx, &self.values)?;
        let mut sums = Sums::new(&rows, self.columns(), &values, total as i64);
        (sums.heads, sums.terms) = (Some(heads), Some(order));
        sums.run(ctx, n as f64 / total as f64)?;
        Ok(Coo { indices, values, coalesced: true, ..self.clone() })
    }

    /// All elements.
    pub fn to_dense(&self, ctx: &Context) -> Result<Tensor> {
        let out = Tensor::empty(ctx, "to_dense", self.dtype(), self.shape())?;
        fill_values(ctx, &out, Scalar::Int(0));
        self.add_into(ctx, &out)?;
        Ok(out)
    }

    /// Adds the elements to a contiguous tensor of the shape that nobody else writes.
    fn add_into(&self, ctx: &Context, out: &Tensor) -> Result<()> {
        // Half types round a sum once; other types first add up in their own.
        let x = match self.dtype().is_half() || out.dtype() != self.dtype() {
            true => self.coalesce(ctx)?,
            false => self.clone(),
        };
        let rows = contiguous(ctx, &x.values)?;
        let rows = match rows.dtype() == out.dtype() {
            true => rows,
            false => elementwise::cast(ctx, &rows, out.dtype())?,
        };
        let keys = x.keys(ctx)?;
        let mut sums = Sums::new(&rows, x.columns(), out, x.count());
        (sums.places, sums.base) = (Some(longs(&keys)), Some((Scalar::Int(1), out)));
        // A coordinate that is there twice must not be written by two threads.
        sums.serial = !x.coalesced;
        sums.run(ctx, 1.0)
    }

    /// The elements of a tensor of the shape at the coordinates.
    fn gather(&self, ctx: &Context, op: &'static str, a: &Tensor) -> Result<Tensor> {
        let shape = [&[self.count()], &self.shape()[self.sparse_dims()..]].concat();
        let out = Tensor::empty(ctx, op, a.dtype(), &shape)?;
        let (rows, keys) = (contiguous(ctx, a)?, self.keys(ctx)?);
        let mut sums = Sums::new(&rows, self.columns(), &out, self.count());
        sums.terms = Some(longs(&keys));
        sums.run(ctx, 4.0)?;
        Ok(out)
    }

    /// A dense tensor's elements at the coordinates of this one, coalesced: the gradient of
    /// [`Coo::to_dense`].
    pub fn mask(&self, ctx: &Context, op: &'static str, grad: &Tensor) -> Result<Coo> {
        if grad.shape() != self.shape() {
            let text = "the gradient must have the shape of the input".into();
            return Err(self.misfit(op, Some(grad.into()), text));
        }
        let x = self.coalesce(ctx)?;
        let values = x.gather(ctx, op, grad)?;
        Ok(Coo { values, ..x })
    }
}

/// A call of [`RowSums`]; all tensors are contiguous and of one dtype.
struct Sums<'a> {
    heads: Option<&'a [i64]>,
    terms: Option<&'a [i64]>,
    weights: Option<&'a Tensor>,
    rows: &'a Tensor,
    columns: usize,
    alpha: Scalar,
    base: Option<(Scalar, &'a Tensor)>,
    places: Option<&'a [i64]>,
    out: &'a Tensor,
    count: i64,
    serial: bool,
}

impl<'a> Sums<'a> {
    fn new(rows: &'a Tensor, columns: usize, out: &'a Tensor, count: i64) -> Sums<'a> {
        Sums {
            heads: None,
            terms: None,
            weights: None,
            rows,
            columns,
            alpha: Scalar::Int(1),
            base: None,
            places: None,
            out,
            count,
            serial: false,
        }
    }

    /// Each row having about so many terms.
    fn run(&self, ctx: &Context, terms: f64) -> Result<()> {
        with_dtype!(self.out.dtype(), S => self.run_as::<S>(ctx, terms))
    }

    fn run_as<S: Element>(&self, ctx: &Context, terms: f64) -> Result<()> {
        if self.rows.dtype() != S::DTYPE || self.weights.is_some_and(|w| w.dtype() != S::DTYPE) {
            return Err(Error::internal("sums of rows of another dtype".into()));
        }
        let start = |t: &Tensor| t.view().start().cast::<S>();
        let weights = self.weights.filter(|w| w.numel() > 0).map(|w| {
            // SAFETY: contiguous elements of this type, alive as long as the tensor.
            unsafe { std::slice::from_raw_parts(start(w), w.numel() as usize) }
        });
        let kernel = RowSums::<S> {
            arch: ctx.arch(),
            heads: self.heads,
            terms: self.terms,
            weights,
            rows: start(self.rows),
            columns: self.columns,
            alpha: self.alpha.to(),
            base: self.base.map(|(beta, t)| (beta.to(), start(t))),
            places: self.places,
            out: self.out.view_mut().start().cast(),
        };
        // SAFETY: coordinates were checked when they were made and every caller's tensors cover
        // them; rows differ, or are summed by one thread.
        let part = |from: i64, to: i64| unsafe { kernel.run(from as usize, to as usize) };
        if self.serial {
            part(0, self.count);
        } else {
            let cost = 2.0 + terms * (1.0 + 0.3 * self.columns as f64);
            ctx.for_ranges(self.count, cost, &part);
        }
        Ok(())
    }
}
