//! The loops over several tensors of one shape, collapsed to as few as their strides allow.

use crate::layout::{Layout, MAX_RANK};

/// The most tensors one kernel walks together.
pub const MAX_OPERANDS: usize = 4;

/// Loops, outermost first, with each operand's strides in elements. A flat position counts
/// iterations in loop order; the order is the first operand's memory order.
#[derive(Clone, Copy, Debug)]
pub struct Nest {
    rank: usize,
    sizes: [i64; MAX_RANK],
    strides: [[i64; MAX_RANK]; MAX_OPERANDS],
}

impl Nest {
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
        let mut out =
            Nest { rank: 0, sizes: [1; MAX_RANK], strides: [[0; MAX_RANK]; MAX_OPERANDS] };
        for &d in &order[..rank] {
            let size = first.shape()[d];
            let fits = out.rank > 0
                && layouts.iter().enumerate().all(|(i, l)| {
                    out.strides[i][out.rank - 1] == l.strides()[d].wrapping_mul(size)
                });
            if !fits {
                out.rank += 1;
                out.sizes[out.rank - 1] = 1;
            }
            let at = out.rank - 1;
            out.sizes[at] *= size;
            for (i, l) in layouts.iter().enumerate() {
                out.strides[i][at] = l.strides()[d];
            }
        }
        out.rank = out.rank.max(1);
        out
    }

    /// One loop of `n` over operands that lie densely; those in `constant` stay on one element.
    #[inline]
    pub fn flat(n: i64, constant: &[bool]) -> Nest {
        let mut out =
            Nest { rank: 1, sizes: [n; MAX_RANK], strides: [[0; MAX_RANK]; MAX_OPERANDS] };
        for (strides, constant) in out.strides.iter_mut().zip(constant) {
            strides[0] = i64::from(!constant);
        }
        out
    }

    /// Iterations in all.
    #[inline]
    pub fn numel(&self) -> i64 {
        self.sizes[..self.rank].iter().product()
    }

    /// Length of a loop.
    pub fn size(&self, d: usize) -> i64 {
        self.sizes[d]
    }

    /// Whether there is one loop only.
    #[inline]
    pub fn is_flat(&self) -> bool {
        self.rank == 1
    }

    /// Length of the innermost loop.
    #[inline]
    pub fn inner(&self) -> i64 {
        self.sizes[self.rank - 1]
    }

    /// Number of loops, at least 1.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// An operand's stride in a loop.
    pub fn stride(&self, operand: usize, d: usize) -> i64 {
        self.strides[operand][d]
    }

    /// An operand's stride in the innermost loop.
    #[inline]
    pub fn inner_stride(&self, operand: usize) -> i64 {
        self.strides[operand][self.rank - 1]
    }

    /// Whether an operand stays on one element.
    #[inline]
    pub fn is_constant(&self, operand: usize) -> bool {
        self.strides[operand][..self.rank].iter().all(|s| *s == 0)
    }

    /// An operand's element offset at a flat position.
    #[inline]
    pub fn offset(&self, operand: usize, position: i64) -> i64 {
        if self.rank == 1 {
            return position * self.strides[operand][0];
        }
        let (mut left, mut offset) = (position, 0);
        for d in (0..self.rank).rev() {
            offset += left % self.sizes[d] * self.strides[operand][d];
            left /= self.sizes[d];
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
            index[d] = left % self.sizes[d];
            left /= self.sizes[d];
            offset += index[d] * self.strides[operand][d];
        }
        let mut todo = n;
        while todo > 0 {
            let length = todo.min(self.sizes[inner] - index[inner]);
            f(length, offset);
            todo -= length;
            if todo == 0 {
                return;
            }
            offset -= index[inner] * self.strides[operand][inner];
            index[inner] = 0;
            for d in (0..inner).rev() {
                index[d] += 1;
                offset += self.strides[operand][d];
                if index[d] < self.sizes[d] {
                    break;
                }
                offset -= self.sizes[d] * self.strides[operand][d];
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
            index[d] = left % self.sizes[d];
            left /= self.sizes[d];
            for (k, offset) in offsets.iter_mut().enumerate() {
                *offset += index[d] * self.strides[k][d];
            }
        }
        let mut todo = n;
        while todo > 0 {
            let length = todo.min(self.sizes[inner] - index[inner]);
            f(length, offsets);
            todo -= length;
            if todo == 0 {
                return;
            }
            for (k, offset) in offsets.iter_mut().enumerate() {
                *offset -= index[inner] * self.strides[k][inner];
            }
            index[inner] = 0;
            for d in (0..inner).rev() {
                index[d] += 1;
                let back = index[d] == self.sizes[d];
                for (k, offset) in offsets.iter_mut().enumerate() {
                    *offset += self.strides[k][d];
                    if back {
                        *offset -= self.sizes[d] * self.strides[k][d];
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
