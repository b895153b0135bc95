//! Writing by index. All indices are checked before anything is written.

use wick_core::kernels::elementwise::Scalar;
use wick_core::kernels::index::{Index, Scatter, Write};
use wick_core::{DType, Layout, View};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::array::contiguous;
use crate::ops::elementwise::{cast, copy_of, copy_values};
use crate::ops::index::{Checked, at_least_1d, dimension, flat, layout, longs, with_stride};
use crate::ops::promote::{Overlap, check_writable, overlap};
use crate::tensor::Tensor;

wick_core::named_ops! {
    /// Operations that write by index.
    PutOp {
        /// Adds slices.
        IndexAdd "index_add",
        /// Sets slices.
        IndexCopy "index_copy",
        /// Sets slices to a number.
        IndexFill "index_fill",
        /// Adds elements along a dimension.
        ScatterAdd "scatter_add",
        /// Sets elements along a dimension.
        Scatter "scatter",
        /// Sets elements of the flattened tensor.
        Put "put",
        /// Adds to elements of the flattened tensor.
        PutAccumulate "put_accumulate",
        /// Sets, in order, the elements where a mask holds.
        MaskedScatter "masked_scatter",
    }
}

/// A tensor that an operation may write into: `a` itself, or a contiguous copy.
pub(super) fn target_of(
    ctx: &Context,
    op: &'static str,
    a: &Tensor,
    in_place: bool,
) -> Result<Tensor> {
    if !in_place {
        return copy_of(ctx, op, a);
    }
    check_writable(op, a, &[])?;
    Ok(a.clone())
}

/// An operand of an operation that writes into `target`, apart from it.
pub(super) fn apart(
    ctx: &Context,
    op: &'static str,
    target: &Tensor,
    t: &Tensor,
) -> Result<Tensor> {
    match overlap(target, t) {
        Overlap::None => Ok(t.clone()),
        _ => copy_of(ctx, op, t),
    }
}

/// What is written: a tensor's elements or one number.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub enum Source<'a> {
    Tensor(&'a Tensor),
    Number(Scalar),
}

/// A number as an element of a dtype, or an error where it does not fit; floats lose their fraction.
pub(super) fn fitting(op: &'static str, a: &Tensor, value: Scalar) -> Result<u64> {
    use wick_core::{Element, Number};
    let fits = match value {
        Scalar::Bool(_) => true,
        _ if a.dtype() == DType::Bool => true,
        Scalar::Int(v) => match a.dtype() {
            DType::F16 => v.unsigned_abs() <= 65504,
            dtype if dtype.is_float() => true,
            dtype => wick_core::with_dtype!(dtype, T => T::store(v).load().to_i64() == v),
        },
        Scalar::Float(v) => {
            // The bounds are exact: one past the greatest integer is a power of two.
            let (low, high) = match a.dtype() {
                DType::F64 => (f64::MIN, f64::MAX),
                DType::F32 => (f64::from(f32::MIN), f64::from(f32::MAX)),
                DType::F16 => (-65504.0, 65504.0),
                DType::BF16 => (f64::from(half::bf16::MIN), f64::from(half::bf16::MAX)),
                DType::I64 => (-(2f64.powi(63)), 2f64.powi(63)),
                DType::I32 => (f64::from(i32::MIN), f64::from(i32::MAX)),
                DType::I16 => (f64::from(i16::MIN), f64::from(i16::MAX)),
                DType::I8 => (f64::from(i8::MIN), f64::from(i8::MAX)),
                _ => (0.0, 255.0),
            };
            if a.dtype().is_float() {
                !v.is_finite() || v >= low && v <= high
            } else {
                let v = v.trunc();
                v >= low && if a.dtype() == DType::I64 { v < high } else { v <= high }
            }
        }
    };
    if !fits {
        let text = match value {
            Scalar::Int(v) => v.to_string(),
            Scalar::Float(v) => v.to_string(),
            Scalar::Bool(v) => v.to_string(),
        };
        let text = format!("the value {text} does not fit {}", a.dtype());
        return Err(Error::dtype(op, &[a], text));
    }
    Ok(wick_core::with_dtype!(a.dtype(), T => {
        let element = match value {
            Scalar::Int(v) => T::store(v),
            Scalar::Float(v) => T::store(v),
            Scalar::Bool(v) => T::store(v as u8),
        };
        let mut bits = 0u64;
        // SAFETY: an element has at most eight bytes.
        unsafe { (&raw mut bits).cast::<T>().write(element) };
        bits
    }))
}

/// One write: `target` at `index` (element offsets of `step`, below `size`) from `source`, all
/// with layouts of one shape.
pub(super) struct Put<'a> {
    pub target: &'a Tensor,
    pub places: Layout,
    pub source: View,
    pub index: Index,
    pub write: Write,
}

impl Put<'_> {
    pub(super) fn run(self, ctx: &Context) -> Result<()> {
        if self.places.numel() == 0 {
            return Ok(());
        }
        let target = self.target.view_mut().with(self.places);
        ctx.run(&Scatter::new(ctx.arch(), target, self.source, self.index, self.write));
        Ok(())
    }
}

/// The write side of an operation: where it works, and how the result gets to where it belongs.
pub(super) struct Work {
    /// What is written into.
    pub tensor: Tensor,
    result: Option<Tensor>,
    back: Option<Tensor>,
}

impl Work {
    /// Half types add up in f32; `dense` asks for row-major elements.
    pub(super) fn new(
        ctx: &Context,
        op: &'static str,
        a: &Tensor,
        in_place: bool,
        write: Write,
        dense: bool,
    ) -> Result<Work> {
        let wide = write == Write::Add && a.dtype().is_half();
        if !wide && (!in_place || !dense || a.layout().is_contiguous()) {
            let tensor = target_of(ctx, op, a, in_place)?;
            let result = (!in_place).then(|| tensor.clone());
            return Ok(Work { tensor, result, back: None });
        }
        let back = if in_place {
            target_of(ctx, op, a, true)?
        } else {
            Tensor::empty(ctx, op, a.dtype(), a.shape())?
        };
        let tensor = if wide { cast(ctx, a, DType::F32)? } else { copy_of(ctx, op, a)? };
        Ok(Work { tensor, result: (!in_place).then(|| back.clone()), back: Some(back) })
    }

    /// A source in the type of the work, apart from what is written.
    pub(super) fn source(&self, ctx: &Context, op: &'static str, t: &Tensor) -> Result<Tensor> {
        if t.dtype() != self.tensor.dtype() {
            return cast(ctx, t, self.tensor.dtype());
        }
        apart(ctx, op, &self.tensor, t)
    }

    pub(super) fn done(self, ctx: &Context) -> Option<Tensor> {
        if let Some(back) = &self.back {
            copy_values(ctx, back, &self.tensor);
        }
        self.result
    }
}

/// `a` with elements of `source` set or added at the places along `dim` that `index` says.
pub fn scatter(
    ctx: &Context,
    a: &Tensor,
    dim: i64,
    index: &Tensor,
    source: Source,
    write: Write,
    in_place: bool,
) -> Result<Option<Tensor>> {
    let op = if write == Write::Add { "scatter_add" } else { "scatter" };
    let d = dimension(op, a, dim)?;
    let mut operands = vec![a, index];
    operands.extend(match source {
        Source::Tensor(t) => Some(t),
        Source::Number(_) => None,
    });
    let (whole, at) = (at_least_1d(a), at_least_1d(index));
    let check = Checked {
        op,
        operands: &operands,
        dim: Some(d),
        size: whole.shape()[d],
        wrap: false,
        i32: false,
    };
    let mut bits = 0u64;
    match source {
        Source::Tensor(t) if t.dtype() != a.dtype() => {
            return check.dtype("the source must have the tensor's dtype");
        }
        Source::Number(v) => bits = fitting(op, a, v)?,
        _ => {}
    }
    let empty = index.numel() == 0;
    if !empty {
        check.sizes(&whole, &at, d)?;
        if let Source::Tensor(t) = source {
            let t = at_least_1d(t);
            if t.rank() != at.rank() || (0..at.rank()).any(|k| at.shape()[k] > t.shape()[k]) {
                return check.shape("the index must fit into the source");
            }
        }
    }
    if empty {
        return Ok(Work::new(ctx, op, a, in_place, write, false)?.done(ctx));
    }
    let indices = check.indices(ctx, &at)?;
    let work = Work::new(ctx, op, a, in_place, write, false)?;
    let target = at_least_1d(&work.tensor);
    let indices = apart(ctx, op, &target, &indices)?;
    let strides = target.layout().strides();
    let places = layout(op, at.shape(), &with_stride(strides, d, 0), target.layout().offset())?;
    let held;
    let source = match source {
        Source::Tensor(t) => {
            held = at_least_1d(&work.source(ctx, op, t)?);
            let from = held.layout();
            held.view().with(layout(op, at.shape(), from.strides(), from.offset())?)
        }
        Source::Number(_) => constant(op, &bits, a.dtype(), at.shape())?,
    };
    Put {
        target: &target,
        places,
        source,
        index: Index { view: indices.view(), step: strides[d], size: check.size },
        write,
    }
    .run(ctx)?;
    Ok(work.done(ctx))
}

/// A number seen as a tensor of any shape.
pub(super) fn constant(op: &'static str, bits: &u64, dtype: DType, shape: &[i64]) -> Result<View> {
    Ok(View {
        ptr: (&raw const *bits).cast(),
        dtype,
        layout: layout(op, shape, &vec![0; shape.len()], 0)?,
    })
}

/// index_add, index_copy, index_fill: whole slices of `a` along `dim`.
pub fn index_put_slices(
    ctx: &Context,
    op: PutOp,
    a: &Tensor,
    dim: i64,
    index: &Tensor,
    source: Source,
    in_place: bool,
) -> Result<Option<Tensor>> {
    let write = if op == PutOp::IndexAdd { Write::Add } else { Write::Set };
    let (fill, any_int) = (op == PutOp::IndexFill, op == PutOp::IndexAdd);
    let op = op.name();
    let d = dimension(op, a, dim)?;
    let mut operands = vec![a, index];
    if let Source::Tensor(t) = source {
        operands.push(t);
    }
    let whole = at_least_1d(a);
    let check = Checked {
        op,
        operands: &operands,
        dim: Some(d),
        size: whole.shape()[d],
        wrap: fill,
        i32: any_int,
    };
    if index.rank() > 1 {
        return check.shape("the index must be a vector");
    }
    let mut shape = whole.shape().to_vec();
    shape[d] = index.numel();
    let mut bits = 0u64;
    match source {
        Source::Number(v) => bits = fitting(op, a, v)?,
        Source::Tensor(t) => {
            if t.dtype() != a.dtype() {
                return check.dtype("the source must have the tensor's dtype");
            }
            if at_least_1d(t).shape() != shape {
                return check.shape(format!("the source must have shape {shape:?}"));
            }
        }
    }
    let indices = check.indices(ctx, &at_least_1d(index))?;
    let work = Work::new(ctx, op, a, in_place, write, false)?;
    let target = at_least_1d(&work.tensor);
    let indices = apart(ctx, op, &target, &indices)?;
    let strides = target.layout().strides();
    let places = layout(op, &shape, &with_stride(strides, d, 0), target.layout().offset())?;
    let mut ones = vec![0; shape.len()];
    ones[d] = 1;
    let at = layout(op, &shape, &ones, indices.layout().offset())?;
    let held;
    let source = match source {
        Source::Tensor(t) => {
            held = at_least_1d(&work.source(ctx, op, t)?);
            held.view()
        }
        Source::Number(_) => constant(op, &bits, a.dtype(), &shape)?,
    };
    Put {
        target: &target,
        places,
        source,
        index: Index { view: indices.view().with(at), step: strides[d], size: check.size },
        write,
    }
    .run(ctx)?;
    Ok(work.done(ctx))
}

/// Elements of the flattened `a` set or added to; negative indices count from the end.
pub fn put(
    ctx: &Context,
    a: &Tensor,
    index: &Tensor,
    source: &Tensor,
    accumulate: bool,
    in_place: bool,
) -> Result<Option<Tensor>> {
    let op = "put";
    let check = Checked {
        op,
        operands: &[a, index, source],
        dim: None,
        size: a.numel(),
        wrap: true,
        i32: false,
    };
    if source.dtype() != a.dtype() {
        return check.dtype("the source must have the tensor's dtype");
    }
    if source.numel() != index.numel() {
        return check.shape("there must be as many indices as source elements");
    }
    let indices = check.indices(ctx, index)?;
    let write = if accumulate { Write::Add } else { Write::Set };
    let work = Work::new(ctx, op, a, in_place, write, true)?;
    let indices = apart(ctx, op, &work.tensor, &indices)?;
    let source = contiguous(ctx, &work.source(ctx, op, source)?)?;
    let n = [index.numel()];
    Put {
        target: &work.tensor,
        places: layout(op, &n, &[0], work.tensor.layout().offset())?,
        source: source.view().with(flat(&source)?),
        index: Index { view: indices.view().with(flat(&indices)?), step: 1, size: check.size },
        write,
    }
    .run(ctx)?;
    Ok(work.done(ctx))
}

/// A new last dimension of `classes` elements, 1 at each value's place and 0 elsewhere; -1 classes:
/// one more than the greatest value.
pub fn one_hot(ctx: &Context, a: &Tensor, classes: i64) -> Result<Tensor> {
    let op = "one_hot";
    let refuse = |text: &'static str| Err(Error::shape(op, &[a], text));
    if classes < -1 || classes == 0 && a.numel() == 0 {
        return refuse("the number of classes must be positive, or -1");
    }
    if classes == -1 && a.numel() == 0 {
        return refuse("no values to tell the number of classes from");
    }
    let unbounded = Checked {
        op,
        operands: &[a],
        dim: None,
        size: if classes == -1 { i64::MAX } else { classes },
        wrap: false,
        i32: false,
    };
    let values = unbounded.indices(ctx, a)?;
    let classes = match classes {
        -1 => longs(&values).iter().max().map_or(0, |m| m.saturating_add(1)),
        n => n,
    };
    let shape = [a.shape(), &[classes]].concat();
    let out = super::creation::full(ctx, DType::I64, &shape, Scalar::Int(0))?;
    let one = 1u64;
    let strides = &out.layout().strides()[..a.rank()];
    Put {
        target: &out,
        places: layout(op, a.shape(), strides, 0)?,
        source: constant(op, &one, DType::I64, a.shape())?,
        index: Index { view: values.view(), step: 1, size: classes },
        write: Write::Set,
    }
    .run(ctx)?;
    Ok(out)
}
