//! What users run over windows of their own: kernels on a part of their window, and row loops.

use wick_core::block::{BLOCK, Buffer, convert};
use wick_core::ops::{BinaryOp, UnaryOp};
use wick_core::window::MAX_DIMS;
use wick_core::{Arch, DType, Dim, Element, Rule, Window, with_dtype};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::elementwise::{Out, binary, unary};
use crate::ops::promote::{Arg, check_writable};
use crate::tensor::Tensor;

/// That a part of a window keeps the rules.
pub fn check_part(
    op: &'static str,
    operands: &[&Tensor],
    whole: &Window,
    part: &Window,
) -> Result<()> {
    let Some((d, rule)) = whole.broken(part) else { return Ok(()) };
    if rule == Rule::Rank {
        let (n, m) = (part.dims().len(), whole.dims().len());
        let text = format!("a window of {n} dimensions, the kernel's has {m}");
        return Err(Error::index(op, operands, text));
    }
    let show = |d: Dim| format!("[{}, {}) by {}", d.start, d.end, d.step);
    let what = match rule {
        Rule::Start => "starts outside",
        Rule::End => "ends outside",
        Rule::Step => "has another step than",
        Rule::Alignment => "starts between the steps of",
        _ => "ends between the steps of",
    };
    let (part, whole) = (show(part.dim(d)), show(whole.dim(d)));
    let text = format!("dimension {d} of the window, {part}, {what} the kernel's {whole}");
    Err(Error::index(op, operands, text))
}

/// The window of an operation that computes each element of a target by itself.
pub fn elements(op: &'static str, out: &Tensor) -> Result<Window> {
    if out.rank() > MAX_DIMS {
        let text = format!("windows have at most {MAX_DIMS} dimensions");
        return Err(Error::shape(op, &[out], text));
    }
    let mut dims = [Dim::upto(1); MAX_DIMS];
    for (dim, size) in dims.iter_mut().zip(out.shape()) {
        *dim = Dim::upto(*size);
    }
    Ok(Window::new(&dims[..out.rank()]))
}

/// An elementwise operation.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum Elementwise {
    Unary(UnaryOp),
    Binary(BinaryOp),
}

impl Elementwise {
    /// libtorch's name.
    pub fn name(self) -> &'static str {
        match self {
            Elementwise::Unary(op) => op.name(),
            Elementwise::Binary(op) => op.name(),
        }
    }

    /// How many operands it has.
    pub fn operands(self) -> usize {
        match self {
            Elementwise::Unary(_) => 1,
            Elementwise::Binary(_) => 2,
        }
    }
}

/// An elementwise operation into a target, over a part of its elements; the others are not written.
pub fn elementwise_part(
    ctx: &Context,
    op: Elementwise,
    operands: &[&Tensor],
    out: &Tensor,
    part: &Window,
) -> Result<()> {
    let name = op.name();
    if operands.len() != op.operands() {
        let text = format!("expected {} operands, got {}", op.operands(), operands.len());
        return Err(Error::shape(name, operands, text));
    }
    check_part(name, operands, &elements(name, out)?, part)?;
    let cut = |t: &Tensor| {
        let mut layout = *t.broadcast_to(name, out.shape())?.layout();
        for (d, dim) in part.dims().iter().enumerate() {
            let narrow = layout.narrow(d as i64, dim.start, dim.iterations());
            layout = narrow.map_err(|e| Error::layout(name, t, e))?;
        }
        t.with_layout(name, Ok(layout))
    };
    let (target, first) = (cut(out)?, cut(operands[0])?);
    match op {
        Elementwise::Unary(op) => unary(ctx, op, &first, [0.0; 3], Out::Into(&target))?,
        Elementwise::Binary(op) => {
            let args = [Arg::Tensor(&first), Arg::Tensor(&cut(operands[1])?)];
            binary(ctx, op, &args, None, Out::Into(&target))?
        }
    };
    Ok(())
}

/// Elements of a tensor's last dimension.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Row<'a> {
    /// Where it starts: an index a dimension.
    pub at: &'a [i64],
    pub step: i64,
    pub count: usize,
}

/// Elements from a tensor's first element to a row's, and between neighbours of the row.
fn offsets(t: &Tensor, row: &Row) -> Result<(isize, isize)> {
    let layout = t.layout();
    let outside = |text: String| Error::index("row", &[t], text);
    if row.at.len() != t.rank() || t.rank() == 0 {
        return Err(outside(format!("{} indices for a row of it", row.at.len())));
    }
    let mut offset = 0;
    for ((d, at), stride) in row.at.iter().enumerate().zip(layout.strides()) {
        if !(0..layout.shape()[d]).contains(at) {
            let text = format!("index {at} is outside dimension {d} of size {}", t.shape()[d]);
            return Err(outside(text));
        }
        offset += at * stride;
    }
    let inner = t.rank() - 1;
    let room = (layout.shape()[inner] - 1 - row.at[inner]) / row.step.max(1) + 1;
    if row.step < 1 || row.count as i64 > room {
        let text = format!(
            "{} elements by {} from index {} of dimension {inner} of size {}",
            row.count,
            row.step,
            row.at[inner],
            layout.shape()[inner]
        );
        return Err(outside(text));
    }
    let step = if row.count > 1 { layout.strides()[inner] * row.step } else { 1 };
    Ok((offset as isize, step as isize))
}

/// Whether elements have the bits of `T`: bytes of either sign do.
fn lies_as<T: Element>(t: &Tensor) -> bool {
    let byte = |d| matches!(d, DType::U8 | DType::I8);
    t.dtype() == T::DTYPE || byte(t.dtype()) && byte(T::DTYPE)
}

/// Calls `f(place in the row, elements)` with the elements of a row, cast to `T`, piece by piece.
pub fn read_row<T: Element>(
    ctx: &Context,
    t: &Tensor,
    row: Row,
    mut f: impl FnMut(usize, &[T]),
) -> Result<()> {
    if row.count == 0 {
        return Ok(());
    }
    let (offset, step) = offsets(t, &row)?;
    let start = t.place().start.wrapping_offset(offset * t.dtype().size() as isize);
    if lies_as::<T>(t) && step == 1 {
        // SAFETY: the row lies inside the layout, the layout inside the storage.
        f(0, unsafe { std::slice::from_raw_parts(start.cast::<T>(), row.count) });
        return Ok(());
    }
    let mut buffer = Buffer::<T>::uninit();
    with_dtype!(t.dtype(), S => {
        for at in (0..row.count).step_by(BLOCK) {
            let n = BLOCK.min(row.count - at);
            // SAFETY: as above; the buffer is written before it is read.
            unsafe {
                let from = start.cast::<S>().offset(at as isize * step);
                let to = buffer.slice(n);
                take::<S, T>(ctx.arch(), from, step, to);
                f(at, to);
            }
        }
    });
    Ok(())
}

/// # Safety
/// So many elements may be read.
unsafe fn take<S: Element, T: Element>(arch: Arch, from: *const S, step: isize, to: &mut [T]) {
    // SAFETY: the caller's promise.
    unsafe {
        if step == 1 {
            return convert(arch, std::slice::from_raw_parts(from, to.len()), to);
        }
        for (i, to) in to.iter_mut().enumerate() {
            *to = T::store((*from.offset(i as isize * step)).load());
        }
    }
}

/// Fills the elements of a row, cast from `T`, piece by piece: `f(place in the row, elements)` writes
/// them.
pub fn write_row<T: Element>(
    ctx: &Context,
    t: &Tensor,
    row: Row,
    mut f: impl FnMut(usize, &mut [T]),
) -> Result<()> {
    check_writable("row", t, &[])?;
    if row.count == 0 {
        return Ok(());
    }
    let (offset, step) = offsets(t, &row)?;
    let start = t.place_mut().start.wrapping_offset(offset * t.dtype().size() as isize);
    if lies_as::<T>(t) && step == 1 {
        // SAFETY: the row lies inside the layout, the layout inside the storage.
        f(0, unsafe { std::slice::from_raw_parts_mut(start.cast::<T>(), row.count) });
        return Ok(());
    }
    let mut buffer = Buffer::<T>::uninit();
    with_dtype!(t.dtype(), S => {
        for at in (0..row.count).step_by(BLOCK) {
            let n = BLOCK.min(row.count - at);
            // SAFETY: as above; `f` writes what it is given.
            unsafe {
                let to = start.cast::<S>().offset(at as isize * step);
                let from = buffer.slice(n);
                f(at, from);
                if step == 1 {
                    convert(ctx.arch(), from, std::slice::from_raw_parts_mut(to, n));
                } else {
                    for (i, from) in from.iter().enumerate() {
                        *to.offset(i as isize * step) = S::store(from.load());
                    }
                }
            }
        }
    });
    Ok(())
}
