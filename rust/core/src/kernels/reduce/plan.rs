//! How a reduction walks its input.

use crate::layout::{Layout, LayoutError, MAX_RANK};
use crate::nest::Nest;

use super::{NARROW, WIDE};

/// Fewest elements of a work item that are worth cutting off.
const PIECE: i64 = 1 << 16;
/// Runs shorter than this are cheaper taken as columns.
const SHORT: i64 = 48;
/// Most pieces times tiles.
const ITEMS: i64 = 256;

/// How a reduction walks its input: by shape and strides alone.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Loops over outputs; operand 1 the input, 2 and 3 the outputs.
    pub(super) kept: Nest,
    /// Loops over the elements of one output; operand 1 the input.
    pub(super) reduced: Nest,
    /// Both, kept ones inside.
    pub(super) both: Nest,
    pub(super) outputs: i64,
    pub(super) count: i64,
    /// Kept dimensions are the inner ones in memory.
    pub(super) by_rows: bool,
    /// Elements are read in place.
    pub(super) direct: bool,
    pub(super) tile: i64,
    pub(super) pieces: i64,
    pub(super) piece: i64,
}

/// Dimensions of a layout, picked and ordered.
struct Picked {
    rank: usize,
    dims: [usize; MAX_RANK],
}

impl Picked {
    fn new(input: &Layout, mask: u32, wanted: bool) -> Picked {
        let mut out = Picked { rank: 0, dims: [0; MAX_RANK] };
        for d in 0..input.rank() {
            if (mask >> d & 1 == 1) == wanted {
                out.dims[out.rank] = d;
                out.rank += 1;
            }
        }
        out
    }

    fn dims(&self) -> &[usize] {
        &self.dims[..self.rank]
    }

    /// Outermost in memory first.
    fn sort(&mut self, input: &Layout) {
        let rank = self.rank;
        for i in 1..rank {
            let mut k = i;
            while k > 0 && input.strides()[self.dims[k - 1]] < input.strides()[self.dims[k]] {
                self.dims.swap(k - 1, k);
                k -= 1;
            }
        }
    }

    fn sizes(&self, input: &Layout) -> [i64; MAX_RANK] {
        let mut sizes = [1; MAX_RANK];
        for (to, d) in sizes.iter_mut().zip(self.dims()) {
            *to = input.shape()[*d];
        }
        sizes
    }
}

impl Plan {
    /// Elements that are never cut into pieces, however few outputs there are.
    pub const WHOLE: i64 = PIECE;

    /// Reduces the dimensions of `mask`. The outputs have the input's rank, with size 1 at those
    /// dimensions. `same`: elements are computed in the type they have in memory. `ordered`:
    /// elements of an output are taken in row-major order.
    pub fn new(
        input: &Layout,
        mask: u32,
        outs: [&Layout; 2],
        same: bool,
        ordered: bool,
    ) -> Result<Plan, LayoutError> {
        let mut kept = Picked::new(input, mask, false);
        let mut reduced = Picked::new(input, mask, true);
        kept.sort(input);
        if !ordered {
            reduced.sort(input);
        }
        let pick = |from: &Layout, dims: &Picked| {
            let mut strides = [0; MAX_RANK];
            for (to, d) in strides.iter_mut().zip(dims.dims()) {
                *to = from.strides()[*d];
            }
            Layout::strided(&dims.sizes(input)[..dims.rank], &strides[..dims.rank], 0)
        };
        let plain = |dims: &Picked| Layout::contiguous(&dims.sizes(input)[..dims.rank]);
        let (kept_in, reduced_in) = (pick(input, &kept)?, pick(input, &reduced)?);
        let kept_nest =
            Nest::new(&[&plain(&kept)?, &kept_in, &pick(outs[0], &kept)?, &pick(outs[1], &kept)?]);
        let reduced_nest = Nest::new(&[&plain(&reduced)?, &reduced_in]);
        let (outputs, count) = (kept_in.numel(), reduced_in.numel());

        let by_rows = outputs > 1
            && (kept_nest.inner_stride(1) < reduced_nest.inner_stride(1) || count < SHORT);
        let direct = same
            && if by_rows {
                kept_nest.inner_stride(1) == 1
                    && (kept_nest.inner() >= 8 || reduced_nest.inner_stride(1) == kept_nest.inner())
            } else {
                count < 2
                    || reduced_nest.inner_stride(1) == 1
                        && (reduced_nest.inner() >= 64 || reduced_nest.inner() == count)
            };
        let both = if by_rows && !direct {
            let mut all = Picked { rank: input.rank(), dims: reduced.dims };
            all.dims[reduced.rank..all.rank].copy_from_slice(kept.dims());
            Nest::new(&[&plain(&all)?, &pick(input, &all)?])
        } else {
            kept_nest
        };

        let tile = if by_rows && direct { WIDE } else { NARROW } as i64;
        let width = outputs.clamp(1, tile);
        let tiles = (outputs + tile - 1) / tile;
        let most = (ITEMS / tiles.max(1)).max(1);
        // A multiple of 64 rows, so that pieces do not end inside a block.
        let piece = (PIECE / width).max((count + most - 1) / most);
        let piece = (piece + 63) / 64 * 64;
        Ok(Plan {
            kept: kept_nest,
            reduced: reduced_nest,
            both,
            outputs,
            count,
            by_rows,
            direct,
            tile,
            pieces: ((count + piece - 1) / piece).max(1),
            piece,
        })
    }

    /// Elements of each output.
    pub fn count(&self) -> i64 {
        self.count
    }

    /// Outputs.
    pub fn outputs(&self) -> i64 {
        self.outputs
    }

    /// States that the caller must give room for; none where each output is one piece.
    pub fn states(&self) -> i64 {
        if self.pieces > 1 { self.pieces * self.outputs } else { 0 }
    }

    /// Pieces of each output.
    pub fn pieces(&self) -> i64 {
        self.pieces
    }

    /// Where a piece begins among the elements of an output, and how many it has.
    pub fn piece(&self, index: i64) -> (i64, i64) {
        let start = index * self.piece;
        (start, (self.count - start).min(self.piece))
    }

    pub(super) fn tiles(&self) -> i64 {
        (self.outputs + self.tile - 1) / self.tile
    }
}
