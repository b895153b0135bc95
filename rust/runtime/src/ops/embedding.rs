//! Rows of a table by index, and their gradient.

use wick_core::kernels::embedding::EmbeddingBackward;
use wick_core::{DType, Number};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::backward::{back, dense, floats};
use crate::ops::creation::full;
use crate::ops::index::{Checked, index_select, longs};
use crate::tensor::Tensor;
use wick_core::kernels::elementwise::Scalar;

/// The row of `weight` that each index names: the shape of the indices, then the row's.
pub fn embedding(ctx: &Context, weight: &Tensor, indices: &Tensor) -> Result<Tensor> {
    let op = "embedding";
    if weight.rank() != 2 {
        return Err(Error::shape(op, &[weight, indices], "the weight must have 2 dimensions"));
    }
    let checked = Checked {
        op,
        operands: &[weight, indices],
        dim: Some(0),
        size: weight.shape()[0],
        wrap: false,
        i32: true,
    };
    let all = checked.indices(ctx, indices)?;
    let flat = all.with_layout(op, all.layout().view(&[all.numel()]))?;
    let rows = index_select(ctx, weight, 0, &flat, None)?;
    let rows = rows.ok_or_else(|| Error::internal("no result was made".into()))?;
    let shape = [indices.shape(), &weight.shape()[1..]].concat();
    rows.with_layout(op, rows.layout().view(&shape))
}

/// The gradient of an embedding of `rows` rows; the row `padding` takes none. By frequency: each
/// row's gradient is divided by how often it was named. Sums are made in the order of the indices.
pub fn embedding_dense_backward(
    ctx: &Context,
    grad: &Tensor,
    indices: &Tensor,
    rows: i64,
    padding: i64,
    by_frequency: bool,
) -> Result<Tensor> {
    let op = "embedding_dense_backward";
    let dtype = floats(op, &[grad])?;
    let both = [grad, indices];
    let rank = indices.rank();
    if grad.rank() != rank + 1 || grad.shape()[..rank] != *indices.shape() {
        let text = "the gradient must have the shape of the indices and one dimension more";
        return Err(Error::shape(op, &both, text));
    }
    if rows < 0 {
        return Err(Error::shape(op, &both, format!("{rows} rows")));
    }
    let checked = Checked { op, operands: &both, dim: Some(0), size: rows, wrap: false, i32: true };
    let all = checked.indices(ctx, indices)?;
    let columns = grad.shape()[rank];
    let compute = dtype.compute();
    let g = dense(ctx, grad, compute)?;
    let out = full(ctx, compute, &[rows, columns], Scalar::Int(0))?;
    let scale = if by_frequency {
        let counts = full(ctx, compute, &[rows], Scalar::Int(0))?;
        frequencies(&counts, longs(&all));
        Some(counts)
    } else {
        None
    };
    match compute {
        DType::F64 => add::<f64>(ctx, &g, longs(&all), padding, scale.as_ref(), &out),
        _ => add::<f32>(ctx, &g, longs(&all), padding, scale.as_ref(), &out),
    }
    back(ctx, out, dtype)
}

/// One over how often each index is there.
fn frequencies(counts: &Tensor, indices: &[i64]) {
    fn run<T: Number>(counts: &mut [T], indices: &[i64]) {
        for &i in indices {
            counts[i as usize] = counts[i as usize].add(T::ONE);
        }
        for count in counts {
            *count = T::from_f64(1.0 / count.to_f64());
        }
    }
    let (ptr, n) = (counts.view_mut().start(), counts.numel() as usize);
    // SAFETY: a fresh dense tensor of the type.
    unsafe {
        match counts.dtype() {
            DType::F64 => run(std::slice::from_raw_parts_mut(ptr.cast::<f64>(), n), indices),
            _ => run(std::slice::from_raw_parts_mut(ptr.cast::<f32>(), n), indices),
        }
    }
}

fn add<T: Number>(
    ctx: &Context,
    grad: &Tensor,
    indices: &[i64],
    padding: i64,
    scale: Option<&Tensor>,
    out: &Tensor,
) {
    let columns = out.shape()[1];
    let scale = scale.map(|s| {
        // SAFETY: a dense tensor of this type that outlives the call.
        unsafe { std::slice::from_raw_parts(s.view().start().cast::<T>(), s.numel() as usize) }
    });
    let kernel = EmbeddingBackward {
        arch: ctx.arch(),
        indices,
        padding,
        scale,
        columns: columns as usize,
        grad: grad.view().start().cast::<T>(),
        out: out.view_mut().start().cast::<T>(),
    };
    // Columns of 16: whole lines of memory.
    let blocks = (columns + 15) / 16;
    ctx.for_ranges(blocks, 6.0 * indices.len() as f64, &|start, end| {
        // SAFETY: dense tensors; the indices were checked; each column is one task's.
        unsafe { kernel.run(start as usize * 16, (end * 16).min(columns) as usize) };
    });
}
