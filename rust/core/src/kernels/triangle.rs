//! Lower and upper triangles of matrices.

use crate::layout::MAX_RANK;
use crate::view::{View, ViewMut};
use crate::window::{Kernel, ThreadInfo, Window};

/// Copies one triangle of the last two dimensions and zeroes the other.
#[derive(Clone, Copy)]
pub struct Triangle {
    out: ViewMut,
    source: Option<View>,
    diagonal: i64,
    lower: bool,
}

impl Triangle {
    /// Into `out` of at least two dimensions, from a source of the same shape and dtype that shares
    /// no bytes with it; without one the kept triangle of `out` stays as it is.
    pub fn new(out: ViewMut, source: Option<View>, diagonal: i64, lower: bool) -> Triangle {
        Triangle { out, source, diagonal, lower }
    }

    fn columns(&self) -> i64 {
        self.out.layout.shape()[self.out.layout.rank() - 1]
    }
}

impl Kernel for Triangle {
    fn window(&self) -> Window {
        let rows = self.out.layout.shape()[..self.out.layout.rank() - 1].iter();
        Window::flat(if self.columns() == 0 { 0 } else { rows.product() })
    }

    fn cost(&self) -> f64 {
        4.0 + 0.4 * self.columns() as f64
    }

    fn run(&self, part: &Window, _: ThreadInfo, _: &mut [u8]) {
        // Bits move as they are, and zero is all bits 0 in every type.
        match self.out.dtype.size() {
            1 => self.rows::<u8>(part),
            2 => self.rows::<u16>(part),
            4 => self.rows::<u32>(part),
            _ => self.rows::<u64>(part),
        }
    }
}

impl Triangle {
    fn rows<T: Copy + Default>(&self, part: &Window) {
        debug_assert_eq!(size_of::<T>(), self.out.dtype.size());
        let layout = &self.out.layout;
        let (rank, columns) = (layout.rank(), self.columns());
        let to_step = layout.strides()[rank - 1] as isize;
        let from_step = self.source.map_or(0, |s| s.layout.strides()[rank - 1]) as isize;
        let target = self.out.start().cast::<T>();
        let source = self.source.map(|s| s.start().cast::<T>());
        let mut index = [0i64; MAX_RANK];
        for position in part.dim(0).start..part.dim(0).end {
            let mut left = position;
            for d in (0..rank - 1).rev() {
                index[d] = left % layout.shape()[d];
                left /= layout.shape()[d];
            }
            let offset = |strides: &[i64]| -> isize {
                let steps = index[..rank - 1].iter().zip(strides);
                steps.map(|(i, s)| i * s).sum::<i64>() as isize
            };
            // The first column right of the kept (lower) or left (upper) part.
            let edge = index[rank - 2].saturating_add(self.diagonal);
            let cut = edge.saturating_add(self.lower as i64).clamp(0, columns) as isize;
            let columns = columns as isize;
            let (kept, zeroed) =
                if self.lower { (0..cut, cut..columns) } else { (cut..columns, 0..cut) };
            // SAFETY: columns of a row of layouts that lie inside their storages; the scheduler
            // gives each part its own rows.
            unsafe {
                let row = target.offset(offset(layout.strides()));
                for j in zeroed {
                    *row.offset(j * to_step) = T::default();
                }
                if let (Some(source), Some(view)) = (source, &self.source) {
                    let from = source.offset(offset(view.layout.strides()));
                    if to_step == 1 && from_step == 1 {
                        let (first, n) = (kept.start, kept.len());
                        core::ptr::copy_nonoverlapping(from.offset(first), row.offset(first), n);
                    } else {
                        for j in kept {
                            *row.offset(j * to_step) = *from.offset(j * from_step);
                        }
                    }
                }
            }
        }
    }
}
