//! The lines of a tensor along one dimension, for kernels that keep its shape.

use crate::layout::{Layout, LayoutError, MAX_RANK};
use crate::nest::Nest;
use crate::view::{View, ViewMut};

/// Elements that are worth a call of the block functions.
const MANY: i64 = 64;

/// Lines along a dimension of an input and of an output of the same shape.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Lines {
    /// Loops over lines; operand 0 the output, 1 the input.
    pub others: Nest,
    /// The loop along a line, operands likewise.
    pub line: Nest,
    /// Lines.
    pub count: i64,
    /// Elements of a line.
    pub length: i64,
    /// Steps along a line.
    pub out_stride: i64,
    pub in_stride: i64,
    /// Many lines are best walked together, row by row.
    pub side_by_side: bool,
}

impl Lines {
    /// Along dimension `dim` of two layouts of one shape; a 0-d tensor is a line of one element.
    pub fn new(out: &Layout, input: &Layout, dim: usize) -> Result<Lines, LayoutError> {
        let split = |from: &Layout| {
            let (mut sizes, mut strides, mut rank) = ([1; MAX_RANK], [0; MAX_RANK], 0);
            let (mut length, mut step) = (1, 0);
            for d in 0..from.rank() {
                let (size, stride) = (from.shape()[d], from.strides()[d]);
                if d == dim {
                    (length, step) = (size, stride);
                } else {
                    (sizes[rank], strides[rank]) = (size, stride);
                    rank += 1;
                }
            }
            let others = Layout::strided(&sizes[..rank], &strides[..rank], 0)?;
            let line = Layout::strided(&[length], &[step], 0)?;
            Ok::<_, LayoutError>((others, line, step))
        };
        let (out_others, out_line, out_stride) = split(out)?;
        let (in_others, in_line, in_stride) = split(input)?;
        let others = Nest::new(&[&out_others, &in_others]);
        let (count, length) = (out_others.numel(), out_line.numel());
        let near = others.inner_stride(1) < in_stride && others.inner() >= MANY;
        Ok(Lines {
            others,
            line: Nest::new(&[&out_line, &in_line]),
            count,
            length,
            out_stride,
            in_stride,
            side_by_side: count >= MANY && (near || length < MANY),
        })
    }
}

/// The same tensor, its elements `by` places further on.
pub fn moved(view: &View, by: i64) -> View {
    View { ptr: view.ptr.wrapping_offset(by as isize * view.dtype.size() as isize), ..*view }
}

/// The same tensor, its elements `by` places further on.
pub fn moved_mut(view: &ViewMut, by: i64) -> ViewMut {
    ViewMut { ptr: view.ptr.wrapping_offset(by as isize * view.dtype.size() as isize), ..*view }
}
