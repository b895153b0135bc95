//! Copies between any two dtypes and layouts. Where the source is dense along another loop than
//! the target, as in a transpose, square tiles keep both sides within a few cache lines.

use core::mem::MaybeUninit;

use crate::block::Operands;
use crate::dtype::{DType, Element};
use crate::window::{Kernel, ThreadInfo, Window};
use crate::with_dtype;

/// Steps of a tile along the target's dense loop: whole cache lines are written at once.
const HEIGHT: usize = 64;

/// Source rows shorter than this are not worth a tile.
const SHORT: i64 = 8;

/// Steps of a tile along the source's dense loop, for elements of a size: tiles fit the
/// first-level cache.
const fn width(size: usize) -> usize {
    if size == 8 { 32 } else { 64 }
}

/// out = x, cast.
#[derive(Clone, Copy)]
pub struct Copy {
    operands: Operands<1>,
    /// The loop along which the source is dense while the target is dense along the innermost one.
    across: Option<usize>,
}

impl Copy {
    /// Of operands that share no bytes.
    pub fn new(operands: Operands<1>) -> Copy {
        let mut operands = operands;
        if operands.inputs[0].dtype == operands.out.dtype {
            // Bits move as they are: NaN payloads survive.
            let dtype = match operands.out.dtype.size() {
                1 => DType::U8,
                2 => DType::I16,
                4 => DType::I32,
                _ => DType::I64,
            };
            operands.out.dtype = dtype;
            operands.inputs[0].dtype = dtype;
        }
        let across = across(&operands);
        Copy { operands, across }
    }
}

impl Copy {
    fn width(&self) -> i64 {
        width(self.operands.out.dtype.size()) as i64
    }
}

fn across(operands: &Operands<1>) -> Option<usize> {
    let nest = &operands.nest;
    let (to, from) = (nest.inner_stride(0), nest.inner_stride(1));
    if operands.inputs[0].dtype != operands.out.dtype
        || to != 1
        || from == 0
        || from == 1
        || nest.inner() < 2
    {
        return None;
    }
    (0..nest.rank() - 1).find(|d| nest.stride(1, *d) == 1 && nest.size(*d) >= SHORT)
}

impl Kernel for Copy {
    fn window(&self) -> Window {
        let nest = &self.operands.nest;
        Window::flat(match self.across {
            None => nest.numel(),
            Some(d) if nest.numel() > 0 => {
                let strips = (nest.size(d) - 1) / self.width() + 1;
                nest.numel() / nest.inner() / nest.size(d) * strips
            }
            Some(_) => 0,
        })
    }

    fn cost(&self) -> f64 {
        let nest = &self.operands.nest;
        match self.across {
            None => 0.4,
            Some(d) => (nest.inner() * nest.size(d).min(self.width())) as f64,
        }
    }

    fn run(&self, part: &Window, _: ThreadInfo, _: &mut [u8]) {
        let dim = part.dim(0);
        let dtype = self.operands.inputs[0].dtype;
        with_dtype!(dtype, S => match self.across {
            Some(d) => {
                // SAFETY: whoever made the operands keeps their storages alive and their layouts
                // inside; the scheduler gives each part its own elements.
                unsafe {
                    const WIDTH: usize = width(size_of::<S>());
                    strips::<S, WIDTH>(&self.operands, d, dim.start, dim.end)
                }
            }
            None => {
                type T = <S as Element>::Compute;
                // SAFETY: as above.
                unsafe {
                    self.operands.for_blocks::<T, T>(dim.start, dim.end, &mut |[x], out| {
                        out.copy_from_slice(x)
                    });
                }
            }
        })
    }
}

/// Copies strips `[start, end)`: at most `WIDTH` steps of loop `across`, the whole innermost loop.
///
/// # Safety
/// The views' storages cover their layouts, hold elements of `T`, and nobody else touches the
/// strips' elements of the target.
unsafe fn strips<T: core::marker::Copy, const WIDTH: usize>(
    operands: &Operands<1>,
    across: usize,
    start: i64,
    end: i64,
) {
    let nest = &operands.nest;
    let (inner, rows) = (nest.inner(), nest.size(across));
    let count = (rows - 1) / WIDTH as i64 + 1;
    let source_step = nest.inner_stride(1) as isize;
    let target_step = nest.stride(0, across) as isize;
    let source = operands.inputs[0].start.cast::<T>().cast_const();
    let target = operands.out.start.cast::<T>();
    for strip in start..end {
        let first = strip % count * WIDTH as i64;
        let (mut left, mut from, mut to) = (strip / count, first, first * nest.stride(0, across));
        for d in (0..nest.rank() - 1).rev().filter(|d| *d != across) {
            let at = left % nest.size(d);
            left /= nest.size(d);
            to += at * nest.stride(0, d);
            from += at * nest.stride(1, d);
        }
        let width = (rows - first).min(WIDTH as i64) as usize;
        for at in (0..inner).step_by(HEIGHT) {
            let height = (inner - at).min(HEIGHT as i64) as usize;
            // SAFETY: the positions are the nest's.
            unsafe {
                let src = source.offset(from as isize + at as isize * source_step);
                let dst = target.offset(to as isize + at as isize);
                if width == WIDTH && height == HEIGHT {
                    tile::<T, WIDTH>(src, source_step, dst, target_step, WIDTH, HEIGHT);
                } else {
                    tile::<T, WIDTH>(src, source_step, dst, target_step, width, height);
                }
            }
        }
    }
}

/// `dst[j][i] = src[i][j]` for i below `height` and j below `width`, rows `steps` apart.
///
/// # Safety
/// All these places are valid and no `dst` place is a `src` place; `width` is at most `WIDTH`,
/// `height` at most [`HEIGHT`].
#[inline(always)]
unsafe fn tile<T: core::marker::Copy, const WIDTH: usize>(
    src: *const T,
    src_step: isize,
    dst: *mut T,
    dst_step: isize,
    width: usize,
    height: usize,
) {
    let mut block = [[const { MaybeUninit::<T>::uninit() }; WIDTH]; HEIGHT];
    // SAFETY: the caller vouches for the places; only written elements of the block are read.
    unsafe {
        for (i, row) in block[..height].iter_mut().enumerate() {
            let line = src.offset(i as isize * src_step).cast::<MaybeUninit<T>>();
            core::ptr::copy_nonoverlapping(line, row.as_mut_ptr(), width);
        }
        for j in 0..width {
            let line = dst.offset(j as isize * dst_step).cast::<MaybeUninit<T>>();
            for i in 0..height {
                *line.add(i) = block[i][j];
            }
        }
    }
}
