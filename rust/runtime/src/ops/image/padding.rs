//! Tensors with room around their planes, and what is written there.

use wick_core::{BorderMode, DType, Layout, Rect, Sides};

use super::{around, plane};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::creation::{check_value, fill_values};
use crate::ops::elementwise::copy_values;
use crate::ops::promote::check_writable;
use crate::tensor::Tensor;
use wick_core::kernels::elementwise::Scalar;

/// A new tensor in a storage of `total` elements, neither written yet; no two of its elements share
/// a place.
pub fn padded(
    ctx: &Context,
    dtype: DType,
    shape: &[i64],
    strides: &[i64],
    offset: i64,
    total: i64,
) -> Result<Tensor> {
    let op = "padding";
    let layout = Layout::strided(shape, strides, offset);
    let layout = layout.map_err(|e| Error::size(op, dtype, shape, e))?;
    let base = Tensor::empty(ctx, op, dtype, &[total])?;
    let out = base.with_layout(op, Ok(layout))?;
    check_writable(op, &out, &[])?;
    Ok(out)
}

/// Writes what a mode puts beyond the edge into the room around each plane.
pub fn fill_border(ctx: &Context, x: &Tensor, sides: Sides, mode: BorderMode) -> Result<()> {
    let op = "fill_border";
    let (height, width) = plane(op, x)?;
    if [sides.top, sides.right, sides.bottom, sides.left].iter().any(|n| *n < 0) {
        return Err(Error::shape(op, &[x], format!("{sides:?}: expected no negative sizes")));
    }
    if let BorderMode::Constant(v) = mode {
        check_value(op, x.dtype(), x.shape(), Scalar::Float(v))?;
    }
    check_writable(op, x, &[])?;
    let beyond = |size: i64, more: i64| {
        size.checked_add(more).ok_or_else(|| Error::shape(op, &[x], format!("{sides:?}")))
    };
    let region = Rect {
        top: -sides.top,
        left: -sides.left,
        bottom: beyond(height, sides.bottom)?,
        right: beyond(width, sides.right)?,
    };
    let all = around(op, x, &region)?;
    check_writable(op, &all, &[])?;
    if x.numel() == 0 || mode == BorderMode::Undefined {
        return Ok(());
    }
    let (row, column) = (x.rank() as i64 - 2, x.rank() as i64 - 1);
    // Columns beside the plane's rows first, then whole rows, which have the corners with them.
    let beside = all.with_layout(op, all.layout().narrow(row, sides.top, height))?;
    edge(ctx, &beside, column, sides.left, width, mode)?;
    edge(ctx, &all, row, sides.top, height, mode)
}

/// Fills the lines of a dimension that lie outside `[before, before + size)`.
fn edge(
    ctx: &Context,
    all: &Tensor,
    dim: i64,
    before: i64,
    size: i64,
    mode: BorderMode,
) -> Result<()> {
    let op = "fill_border";
    let line = |at: i64| all.with_layout(op, all.layout().narrow(dim, at, 1));
    let n = all.shape()[dim as usize];
    for at in (0..before).chain(before + size..n) {
        match mode.place(at, before, before + size) {
            Some(from) => copy_values(ctx, &line(at)?, &line(from)?),
            None => {
                if let BorderMode::Constant(v) = mode {
                    fill_values(ctx, &line(at)?, Scalar::Float(v));
                }
            }
        }
    }
    Ok(())
}
