//! Several tensors side by side in one.

use wick_core::block::Operands;
use wick_core::kernels::copy::Copy;
use wick_core::layout::{MAX_RANK, wrap_dim};
use wick_core::{Kernel, ThreadInfo};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::promote::{Overlap, check_out, overlap};
use crate::tensor::Tensor;

/// Copies cheaper than this many nanoseconds run side by side, dearer ones are cut themselves.
const PIECE: f64 = 50_000.0;

/// Tensors that differ along one dimension at most, after each other along it. A 1-D tensor
/// without elements fits anything, as in libtorch.
pub fn cat(
    ctx: &Context,
    tensors: &[&Tensor],
    dim: i64,
    out: Option<&Tensor>,
) -> Result<Option<Tensor>> {
    join(ctx, "cat", tensors, dim, out)
}

/// Tensors of one shape along a new dimension.
pub fn stack(
    ctx: &Context,
    tensors: &[&Tensor],
    dim: i64,
    out: Option<&Tensor>,
) -> Result<Option<Tensor>> {
    let Some(first) = tensors.first() else {
        return Err(Error::shape("stack", &[], "expected at least one tensor"));
    };
    if let Some(other) = tensors.iter().find(|t| t.shape() != first.shape()) {
        let text = "expected tensors of one shape";
        return Err(Error::shape("stack", &[first, other], text));
    }
    let rows: Result<Vec<Tensor>> =
        tensors.iter().map(|t| t.with_layout("stack", t.layout().unsqueeze(dim))).collect();
    let rows = rows?;
    let rows: Vec<&Tensor> = rows.iter().collect();
    // Counted from the end, the new dimension is one further than in cat's operands of that rank.
    join(ctx, "stack", &rows, dim, out)
}

fn join(
    ctx: &Context,
    op: &'static str,
    tensors: &[&Tensor],
    dim: i64,
    out: Option<&Tensor>,
) -> Result<Option<Tensor>> {
    let Some(&any) = tensors.first() else {
        return Err(Error::shape(op, &[], "expected at least one tensor"));
    };
    let skipped = |t: &Tensor| t.shape() == [0];
    let first = tensors.iter().copied().find(|t| !skipped(t)).unwrap_or(any);
    let rank = first.rank();
    let d = wrap_dim(dim, rank).map_err(|e| Error::layout(op, first, e))?;
    let mut shape = [0i64; MAX_RANK];
    shape[..rank].copy_from_slice(first.shape());
    let mut dtype = first.dtype();
    let mut total = 0i64;
    for t in tensors {
        dtype = dtype.promote(t.dtype());
        if skipped(t) {
            continue;
        }
        if t.rank() == 0 {
            return Err(Error::shape(op, &[t], "a 0-d tensor has no dimension to join along"));
        }
        let fits = t.rank() == rank && (0..rank).all(|k| k == d || t.shape()[k] == shape[k]);
        if !fits {
            let text = format!("expected equal shapes but for dimension {d}");
            return Err(Error::shape(op, &[first, t], text));
        }
        total = total
            .checked_add(t.shape()[d])
            .ok_or_else(|| Error::shape(op, &[first, t], "the result exceeds 2^63 - 1 elements"))?;
    }
    shape[d] = total;
    let shape = &shape[..rank];
    let target = match out {
        None => Tensor::empty(ctx, op, dtype, shape)?,
        Some(out) => {
            check_out(op, out, shape, dtype, tensors)?;
            if let Some(t) = tensors.iter().find(|t| overlap(out, t) != Overlap::None) {
                let text = "the target overlaps an operand: clone it first";
                return Err(Error::shape(op, &[out, t], text));
            }
            out.clone()
        }
    };
    let mut copies = Vec::with_capacity(tensors.len());
    let mut at = 0;
    for t in tensors.iter().filter(|t| !skipped(t) && t.numel() > 0) {
        let size = t.shape()[d];
        let part = target.with_layout(op, target.layout().narrow(d as i64, at, size))?;
        copies.push(Copy::new(Operands::new(ctx.arch(), part.view_mut(), [t.view()], false)));
        at += size;
    }
    run_all(ctx, &copies);
    Ok(out.is_none().then_some(target))
}

/// Runs copies to different places: small ones in parallel, large ones in parallel parts.
fn run_all(ctx: &Context, copies: &[Copy]) {
    let cost = |c: &Copy| c.cost() * c.window().dim(0).iterations() as f64;
    let total: f64 = copies.iter().map(cost).sum();
    let mean = total / copies.len().max(1) as f64;
    if mean > PIECE {
        return copies.iter().for_each(|c| ctx.run(c));
    }
    ctx.for_ranges(copies.len() as i64, mean, &|start, end| {
        for copy in &copies[start as usize..end as usize] {
            copy.run(&copy.window(), ThreadInfo { id: 0, total: 1 }, &mut []);
        }
    });
}
