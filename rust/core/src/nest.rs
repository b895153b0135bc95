//! The loops over several tensors of one shape, collapsed to as few as their strides allow.

use core::mem::MaybeUninit;

use crate::layout::{Layout, MAX_RANK};

/// The most tensors one kernel walks together.
pub const MAX_OPERANDS: usize = 4;

/// One loop: its length, and how far apart each operand's elements are, in elements.
#[derive(Clone, Copy, Debug)]
struct Loop {
    size: i64,
    strides: [i64; MAX_OPERANDS],
}

/// Loops, outermost first, with each operand's strides in elements. A flat position counts
/// iterations in loop order; the order is the first operand's memory order.
#[derive(Clone, Copy, Debug)]
pub struct Nest {
    rank: usize,
    /// The first `rank` are written, the others never: a small operation would notice.
    loops: [MaybeUninit<Loop>; MAX_RANK],
}

impl Nest {
    const NONE: Nest = Nest { rank: 0, loops: [const { MaybeUninit::uninit() }; MAX_RANK] };

    /// Loops over layouts of one shape (broadcast ones have stride 0), the first being written.
    pub fn new(layouts: &[&Layout]) -> Nest {
        let first = layouts[0];
        let mut order = [0usize; MAX_RANK];
        let mut rank = 0;
        for d in 0..first.rank() {
            if first.shape()[d] != 1 {
                order[rank] = d;
                rank += 1;
            }
        }
        // Insertion sort, stable, so that loops of equal stride keep their order.
        for i in 1..rank {
            let mut k = i;
            while k > 0 && first.strides()[order[k - 1]] < first.strides()[order[k]] {
                order.swap(k - 1, k);
                k -= 1;
            }
        }
        let mut out = Nest::NONE;
        for &d in &order[..rank] {
            let size = first.shape()[d];
            let mut next = Loop { size, strides: [0; MAX_OPERANDS] };
            for (stride, l) in next.strides.iter_mut().zip(layouts) {
                *stride = l.strides()[d];
            }
            match out.loops().last().copied() {
                // The outer loop goes on where the inner one ends, for all operands.
                Some(outer)
                    if (0..layouts.len())
                        .all(|i| outer.strides[i] == next.strides[i].wrapping_mul(size)) =>
                {
                    out.rank -= 1;
                    out.push(Loop { size: outer.size * size, strides: next.strides });
                }
                _ => out.push(next),
            }
        }
        if out.rank == 0 {
            out.push(Loop { size: 1, strides: [0; MAX_OPERANDS] });
        }
        out
    }

    /// One loop of `n` over operands that lie densely; those in `constant` stay on one element.
    #[inline]
    pub fn flat(n: i64, constant: &[bool; MAX_OPERANDS]) -> Nest {
        let mut out = Nest::NONE;
        out.push(Loop { size: n, strides: constant.map(|c| i64::from(!c)) });
        out
    }

    #[inline]
    fn push(&mut self, next: Loop) {
        self.loops[self.rank].write(next);
        self.rank += 1;
    }

    #[inline]
    fn loops(&self) -> &[Loop] {
        // SAFETY: `rank` grows in `push` alone, which writes the loop.
        unsafe { core::slice::from_raw_parts(self.loops.as_ptr().cast(), self.rank) }
    }

    /// Iterations in all.
    #[inline]
    pub fn numel(&self) -> i64 {
        self.loops().iter().map(|l| l.size).product()
    }

    /// Length of a loop.
    pub fn size(&self, d: usize) -> i64 {
        self.loops()[d].size
    }

    /// Whether there is one loop only.
    #[inline]
    pub fn is_flat(&self) -> bool {
        self.rank == 1
    }

    /// Length of the innermost loop.
    #[inline]
    pub fn inner(&self) -> i64 {
        self.loops()[self.rank - 1].size
    }

    /// Number of loops, at least 1.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// An operand's stride in a loop.
    pub fn stride(&self, operand: usize, d: usize) -> i64 {
        self.loops()[d].strides[operand]
    }

    /// An operand's stride in the innermost loop.
    #[inline]
    pub fn inner_stride(&self, operand: usize) -> i64 {
        self.loops()[self.rank - 1].strides[operand]
    }

    /// Whether an operand stays on one element.
    #[inline]
    pub fn is_constant(&self, operand: usize) -> bool {
        self.loops().iter().all(|l| l.strides[operand] == 0)
    }

    /// An operand's element offset at a flat position.
    #[inline]
    pub fn offset(&self, operand: usize, position: i64) -> i64 {
        if self.rank == 1 {
            return position * self.loops()[0].strides[operand];
        }
        let (mut left, mut offset) = (position, 0);
        for d in (0..self.rank).rev() {
            offset += left % self.loops()[d].size * self.loops()[d].strides[operand];
            left /= self.loops()[d].size;
        }
        offset
    }

    /// The pieces of innermost loops that make up `[start, start + n)`: calls `f(length, offset)`
    /// with an operand's element offset at the piece's first element.
    #[inline(always)]
    pub fn pieces(&self, operand: usize, start: i64, n: i64, mut f: impl FnMut(i64, i64)) {
        let inner = self.rank - 1;
        let mut index = [0i64; MAX_RANK];
        let (mut left, mut offset) = (start, 0);
        for d in (0..self.rank).rev() {
            index[d] = left % self.loops()[d].size;
            left /= self.loops()[d].size;
            offset += index[d] * self.loops()[d].strides[operand];
        }
        let mut todo = n;
        while todo > 0 {
            let length = todo.min(self.loops()[inner].size - index[inner]);
            f(length, offset);
            todo -= length;
            if todo == 0 {
                return;
            }
            offset -= index[inner] * self.loops()[inner].strides[operand];
            index[inner] = 0;
            for d in (0..inner).rev() {
                index[d] += 1;
                offset += self.loops()[d].strides[operand];
                if index[d] < self.loops()[d].size {
                    break;
                }
                offset -= self.loops()[d].size * self.loops()[d].strides[operand];
                index[d] = 0;
            }
        }
    }

    /// As [`Nest::pieces`], for the first `N` operands together: `f(length, offsets)`.
    #[inline(always)]
    pub fn runs<const N: usize>(&self, start: i64, n: i64, mut f: impl FnMut(i64, [i64; N])) {
        let inner = self.rank - 1;
        let mut index = [0i64; MAX_RANK];
        let (mut left, mut offsets) = (start, [0i64; N]);
        for d in (0..self.rank).rev() {
            index[d] = left % self.loops()[d].size;
            left /= self.loops()[d].size;
            for (k, offset) in offsets.iter_mut().enumerate() {
                *offset += index[d] * self.loops()[d].strides[k];
            }
        }
        let mut todo = n;
        while todo > 0 {
            let length = todo.min(self.loops()[inner].size - index[inner]);
            f(length, offsets);
            todo -= length;
            if todo == 0 {
                return;
            }
            for (k, offset) in offsets.iter_mut().enumerate() {
                *offset -= index[inner] * self.loops()[inner].strides[k];
            }
            index[inner] = 0;
            for d in (0..inner).rev() {
                index[d] += 1;
                let back = index[d] == self.loops()[d].size;
                for (k, offset) in offsets.iter_mut().enumerate() {
                    *offset += self.loops()[d].strides[k];
                    if back {
                        *offset -= self.loops()[d].size * self.loops()[d].strides[k];
                    }
                }
                if !back {
                    break;
                }
                index[d] = 0;
            }
        }
    }
}
