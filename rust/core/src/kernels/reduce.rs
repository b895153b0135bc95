//! Reductions over any set of dimensions: the loops, whatever is folded.
//!
//! A fold ([`folds`]) knows one thing: how a few rows of adjacent columns go into one state a
//! column. Everything else is made of that. Where the kept dimensions are innermost in memory the
//! rows are the tensor's own; a run of elements that all go into one output is read as rows of
//! many columns whose states are joined at the end. A long reduction is cut into pieces whose
//! sizes depend on the shape alone, so the bits of a result do not depend on threads.

use core::mem::MaybeUninit;
use core::slice;

use pulp::{Arch, Simd, WithSimd};

use crate::block::gather;
use crate::dtype::{DType, Element};
use crate::layout::{Layout, LayoutError, MAX_RANK};
use crate::nest::Nest;
use crate::view::{View, ViewMut};
use crate::window::{Kernel, ThreadInfo, Window};
use crate::with_dtype;

pub mod folds;

use folds::Fold;

crate::named_ops! {
    /// Reductions that share one signature.
    ReduceOp {
        /// Sum.
        Sum "sum",
        /// Arithmetic mean.
        Mean "mean",
        /// Product.
        Prod "prod",
        /// Greatest element and where it is first.
        Max "max",
        /// Least element and where it is first.
        Min "min",
        /// Greatest element.
        Amax "amax",
        /// Least element.
        Amin "amin",
        /// Least and greatest element.
        Aminmax "aminmax",
        /// Where the greatest element is first.
        Argmax "argmax",
        /// Where the least element is first.
        Argmin "argmin",
        /// Whether all are true.
        All "all",
        /// Whether any is true.
        Any "any",
        /// Variance.
        Var "var",
        /// Standard deviation.
        Std "std",
        /// Variance and mean.
        VarMean "var_mean",
        /// Standard deviation and mean.
        StdMean "std_mean",
        /// Logarithm of the sum of exponentials.
        Logsumexp "logsumexp",
        /// Square root of the sum of squares.
        Norm2 "norm",
    }
}

impl ReduceOp {
    /// Whether the place of an element matters: then elements are taken in row-major order.
    pub fn is_ordered(self) -> bool {
        matches!(
            self,
            ReduceOp::Max | ReduceOp::Min | ReduceOp::Argmax | ReduceOp::Argmin
        )
    }

    /// Whether nothing at all has no result.
    pub fn needs_elements(self) -> bool {
        use ReduceOp::*;
        matches!(self, Max | Min | Amax | Amin | Aminmax | Argmax | Argmin)
    }
}

/// Most outputs of one work item.
const WIDE: usize = 512;
/// The same where elements pass through a buffer.
const NARROW: usize = 64;
/// Elements in that buffer.
const ROOM: usize = 2048;
/// Fewest elements of a work item that are worth cutting off.
const PIECE: i64 = 1 << 16;
/// Most pieces times tiles.
const ITEMS: i64 = 256;

/// How a reduction walks its input: by shape and strides alone.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Loops over outputs; operand 1 the input, 2 and 3 the outputs.
    kept: Nest,
    /// Loops over the elements of one output; operand 1 the input.
    reduced: Nest,
    /// Both, kept ones inside.
    both: Nest,
    outputs: i64,
    count: i64,
    /// Kept dimensions are the inner ones in memory.
    by_rows: bool,
    /// Elements are read in place.
    direct: bool,
    tile: i64,
    pieces: i64,
    piece: i64,
}

/// Dimensions of a layout, picked and ordered.
struct Picked {
    rank: usize,
    dims: [usize; MAX_RANK],
}

impl Picked {
    fn new(input: &Layout, mask: u32, wanted: bool) -> Picked {
        let mut out = Picked {
            rank: 0,
            dims: [0; MAX_RANK],
        };
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
        let kept_nest = Nest::new(&[
            &plain(&kept)?,
            &kept_in,
            &pick(outs[0], &kept)?,
            &pick(outs[1], &kept)?,
        ]);
        let reduced_nest = Nest::new(&[&plain(&reduced)?, &reduced_in]);
        let (outputs, count) = (kept_in.numel(), reduced_in.numel());

        let by_rows =
            outputs > 1 && (kept_nest.inner_stride(1) < reduced_nest.inner_stride(1) || count < 16);
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
            let mut all = Picked {
                rank: input.rank(),
                dims: reduced.dims,
            };
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
        if self.pieces > 1 {
            self.pieces * self.outputs
        } else {
            0
        }
    }

    fn tiles(&self) -> i64 {
        (self.outputs + self.tile - 1) / self.tile
    }
}

/// A reduction on its operands. Where the plan wants states, [`Combine`] follows.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Reduce {
    pub arch: Arch,
    pub op: ReduceOp,
    /// What elements are computed in; see [`folds::compute`].
    pub compute: DType,
    pub correction: f64,
    pub plan: Plan,
    pub input: View,
    pub outs: [Option<ViewMut>; 2],
    /// Room for the plan's states, aligned for u64.
    pub states: *mut u8,
    /// Nanoseconds an element.
    pub cost: f64,
}

// SAFETY: the states are written at disjoint places by the work items, then read by Combine.
unsafe impl Sync for Reduce {}

/// Joins the pieces of each output.
pub struct Combine<'a>(pub &'a Reduce);

impl Kernel for Reduce {
    fn window(&self) -> Window {
        Window::flat(self.plan.pieces * self.plan.tiles())
    }

    fn cost(&self) -> f64 {
        let plan = &self.plan;
        let elements = plan.piece.min(plan.count) * plan.outputs.min(plan.tile);
        self.cost * elements.max(1) as f64
    }

    fn run(&self, part: &Window, _: ThreadInfo, _: &mut [u8]) {
        let dim = part.dim(0);
        folds::with_fold!(self.op, self.compute, self.correction, fold => {
            for item in dim.start..dim.end {
                self.item(fold, item);
            }
        })
    }
}

impl Kernel for Combine<'_> {
    fn window(&self) -> Window {
        Window::flat(self.0.plan.outputs)
    }

    fn cost(&self) -> f64 {
        5.0 * self.0.plan.pieces as f64
    }

    fn run(&self, part: &Window, _: ThreadInfo, _: &mut [u8]) {
        let (this, dim) = (self.0, part.dim(0));
        folds::with_fold!(this.op, this.compute, this.correction, fold => {
            for output in dim.start..dim.end {
                this.combine(fold, output);
            }
        })
    }
}

impl Reduce {
    /// Bytes of one state.
    pub fn state_size(op: ReduceOp, compute: DType) -> usize {
        fn size<F: Fold>(_: F) -> usize {
            size_of::<F::State>()
        }
        folds::with_fold!(op, compute, 0.0, fold => size(fold))
    }

    /// One tile of outputs over one piece.
    fn item<F: Fold>(&self, fold: F, item: i64) {
        let plan = &self.plan;
        let (piece, tile) = (item / plan.tiles(), item % plan.tiles());
        let first = tile * plan.tile;
        let width = (plan.outputs - first).min(plan.tile);
        let row = piece * plan.piece;
        let rows = (plan.count - row).min(plan.piece);
        let mut states = Room::<F::State, WIDE>::new();
        let states = states.fill(width as usize, fold.start());
        if rows > 0 {
            // SAFETY: the plan's nests stay inside the input's layout, and whoever made the kernel
            // keeps the storage alive.
            unsafe {
                if plan.by_rows {
                    self.rows(fold, first, row, rows, states);
                } else {
                    self.runs(fold, first, row, rows, states);
                }
            }
        }
        if plan.pieces == 1 {
            self.store(fold, first, states);
        } else {
            // SAFETY: the caller gave room for pieces × outputs states; these are this item's.
            unsafe {
                let to = self.states.cast::<F::State>();
                let to = to.offset((piece * plan.outputs + first) as isize);
                slice::from_raw_parts_mut(to.cast::<MaybeUninit<F::State>>(), states.len())
                    .iter_mut()
                    .zip(states)
                    .for_each(|(to, state)| {
                        to.write(*state);
                    });
            }
        }
    }

    fn combine<F: Fold>(&self, fold: F, output: i64) {
        let plan = &self.plan;
        let mut all = fold.start();
        for piece in 0..plan.pieces {
            // SAFETY: Reduce has written all states.
            let state = unsafe {
                let from = self.states.cast::<F::State>();
                *from.offset((piece * plan.outputs + output) as isize)
            };
            fold.join(&mut all, state);
        }
        self.store(fold, output, &[all]);
    }

    /// # Safety
    /// The storage lives and covers the layout; rows and outputs lie inside the plan.
    unsafe fn rows<F: Fold>(
        &self,
        fold: F,
        first: i64,
        row: i64,
        rows: i64,
        states: &mut [F::State],
    ) {
        let (plan, width) = (&self.plan, states.len());
        if plan.direct {
            let base = self.input.start().cast::<F::Element>();
            let stride = plan.reduced.inner_stride(1) as isize;
            let mut column = 0;
            plan.kept.pieces(1, first, width as i64, |columns, across| {
                let states = &mut states[column..column + columns as usize];
                column += columns as usize;
                let mut at = row;
                plan.reduced.pieces(1, row, rows, |rows, down| {
                    // SAFETY: the plan stays inside the input's layout.
                    unsafe {
                        let from = base.offset((across + down) as isize);
                        fold_slab(self.arch, fold, from, stride, rows as usize, at, states);
                    }
                    at += rows;
                });
            });
            return;
        }
        let mut buffer = Room::<F::Element, ROOM>::new();
        let most = (ROOM / width) as i64;
        let mut done = 0;
        while done < rows {
            let n = most.min(rows - done);
            let start = (row + done) * plan.outputs + first;
            let filled = buffer.slice(n as usize * width);
            // SAFETY: positions of the plan; gather fills what is then read.
            unsafe {
                if width as i64 == plan.outputs {
                    gather(self.arch, &self.input, &plan.both, 1, start, filled);
                } else {
                    for (i, to) in filled.chunks_exact_mut(width).enumerate() {
                        let start = start + i as i64 * plan.outputs;
                        gather(self.arch, &self.input, &plan.both, 1, start, to);
                    }
                }
                let (from, at) = (filled.as_ptr(), row + done);
                fold_slab(
                    self.arch,
                    fold,
                    from,
                    width as isize,
                    n as usize,
                    at,
                    states,
                );
            }
            done += n;
        }
    }

    /// # Safety
    /// As [`Reduce::rows`].
    unsafe fn runs<F: Fold>(
        &self,
        fold: F,
        first: i64,
        row: i64,
        rows: i64,
        states: &mut [F::State],
    ) {
        let plan = &self.plan;
        let step = plan.kept.inner_stride(1);
        let mut buffer = Room::<F::Element, ROOM>::new();
        let mut output = 0;
        plan.kept
            .pieces(1, first, states.len() as i64, |outputs, across| {
                for i in 0..outputs {
                    let state = slice::from_mut(&mut states[output]);
                    output += 1;
                    let size = self.input.dtype.size() as isize;
                    let view = View {
                        ptr: self
                            .input
                            .ptr
                            .wrapping_offset((across + i * step) as isize * size),
                        ..self.input
                    };
                    if plan.direct {
                        let base = view.start().cast::<F::Element>();
                        let mut at = row;
                        plan.reduced.pieces(1, row, rows, |rows, down| {
                            // SAFETY: the plan stays inside the input's layout.
                            unsafe {
                                let from = base.offset(down as isize);
                                fold_slab(self.arch, fold, from, 1, rows as usize, at, state);
                            }
                            at += rows;
                        });
                        continue;
                    }
                    let mut done = 0;
                    while done < rows {
                        let n = (ROOM as i64).min(rows - done);
                        let filled = buffer.slice(n as usize);
                        let at = row + done;
                        // SAFETY: positions of the plan; gather fills what is then read.
                        unsafe {
                            gather(self.arch, &view, &plan.reduced, 1, at, filled);
                            let from = filled.as_ptr();
                            fold_slab(self.arch, fold, from, 1, n as usize, at, state);
                        }
                        done += n;
                    }
                }
            });
    }

    /// Writes finished outputs.
    fn store<F: Fold>(&self, fold: F, first: i64, states: &[F::State]) {
        let count = self.plan.count;
        let write = |which: usize, value: &dyn Fn(usize) -> Value<F>| {
            let Some(out) = &self.outs[which] else {
                return;
            };
            let (kept, operand) = (&self.plan.kept, which + 2);
            let stride = kept.inner_stride(operand) as isize;
            let mut at = 0;
            with_dtype!(out.dtype, D => {
                let base = out.start().cast::<D>();
                kept.pieces(operand, first, states.len() as i64, |length, offset| {
                    for i in 0..length as isize {
                        let value = match value(at) {
                            Value::First(v) => D::store(v),
                            Value::Second(v) => D::store(v),
                        };
                        at += 1;
                        // SAFETY: inside the output's layout; these outputs are ours to write.
                        unsafe { base.offset(offset as isize + i * stride).write(value) };
                    }
                });
            })
        };
        write(0, &|i| Value::First(fold.finish(&states[i], count).0));
        write(1, &|i| Value::Second(fold.finish(&states[i], count).1));
    }
}

enum Value<F: Fold> {
    First(F::First),
    Second(F::Second),
}

/// Values that are written before they are read.
struct Room<T, const N: usize>([MaybeUninit<T>; N]);

impl<T: Copy, const N: usize> Room<T, N> {
    #[inline(always)]
    fn new() -> Self {
        Room([const { MaybeUninit::uninit() }; N])
    }

    /// The first `n`, which the caller fills before reading.
    fn slice(&mut self, n: usize) -> &mut [T] {
        assert!(n <= N);
        // SAFETY: in bounds; plain numbers, written before they are read.
        unsafe { slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), n) }
    }

    /// The first `n`, all the same.
    #[inline(always)]
    fn fill(&mut self, n: usize, value: T) -> &mut [T] {
        let room = &mut self.0[..n];
        for to in room.iter_mut() {
            to.write(value);
        }
        // SAFETY: just written.
        unsafe { slice::from_raw_parts_mut(room.as_mut_ptr().cast(), n) }
    }
}

/// Rows of adjacent columns, one state a column.
struct Slab<'a, F: Fold> {
    fold: F,
    from: *const F::Element,
    stride: isize,
    rows: usize,
    at: i64,
    states: &'a mut [F::State],
}

/// Folds `rows` rows, `stride` elements apart, of `states.len()` columns; `at`: place of the first
/// row among the elements of an output.
///
/// # Safety
/// All those elements can be read.
unsafe fn fold_slab<F: Fold>(
    arch: Arch,
    fold: F,
    from: *const F::Element,
    stride: isize,
    rows: usize,
    at: i64,
    states: &mut [F::State],
) {
    arch.dispatch(Slab {
        fold,
        from,
        stride,
        rows,
        at,
        states,
    });
}

impl<F: Fold> WithSimd for Slab<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        // SAFETY: fold_slab's caller vouches for the elements.
        unsafe {
            if size_of::<F::Element>() <= 4 {
                self.go::<64>();
            } else {
                self.go::<32>();
            }
        }
    }
}

/// Columns of the narrower blocks.
const FEW: usize = 8;

impl<F: Fold> Slab<'_, F> {
    #[inline(always)]
    unsafe fn go<const W: usize>(mut self) {
        let columns = self.states.len();
        // SAFETY: the rows named here are among the slab's.
        unsafe {
            if self.stride == columns as isize && columns * 2 <= W {
                // Rows without gaps: several side by side count as one.
                self.side_by_side::<W>(W / columns);
                if columns * 2 <= FEW {
                    self.side_by_side::<W>(FEW / columns);
                }
            }
            if self.rows > 0 {
                let mut states = Room::<F::State, WIDE>::new();
                let states = states.fill(columns, self.fold.start());
                self.columns::<W>(self.from, self.stride, self.rows, states);
                for (all, mut state) in self.states.iter_mut().zip(states.iter().copied()) {
                    self.fold.place(&mut state, 1, self.at);
                    self.fold.join(all, state);
                }
            }
        }
    }

    /// Takes `k` rows at a time as one row of `k` times as many columns.
    #[inline(always)]
    unsafe fn side_by_side<const W: usize>(&mut self, k: usize) {
        let columns = self.states.len();
        let rows = self.rows / k;
        if rows == 0 {
            return;
        }
        let width = k * columns;
        let mut states = Room::<F::State, W>::new();
        let states = states.fill(width, self.fold.start());
        // SAFETY: rows × k of the slab's rows.
        unsafe { self.columns::<W>(self.from, width as isize, rows, states) };
        for (j, state) in states.iter_mut().enumerate() {
            self.fold
                .place(state, k as i64, self.at + (j / columns) as i64);
        }
        let mut left = k;
        while left > 1 {
            let half = left / 2;
            let (low, high) = states.split_at_mut((left - half) * columns);
            for (a, b) in low.iter_mut().zip(&high[..half * columns]) {
                self.fold.join(a, *b);
            }
            left -= half;
        }
        for (all, state) in self.states.iter_mut().zip(states.iter()) {
            self.fold.join(all, *state);
        }
        let taken = rows * k;
        self.rows -= taken;
        self.at += taken as i64;
        // SAFETY: still inside, or one past the end.
        self.from = unsafe { self.from.add(taken * columns) };
    }

    /// Rows of any number of columns, into states whose rows count from 0.
    #[inline(always)]
    unsafe fn columns<const W: usize>(
        &self,
        from: *const F::Element,
        stride: isize,
        rows: usize,
        states: &mut [F::State],
    ) {
        let chunk = if states.len() <= W { F::ROWS } else { 32 };
        let mut row = 0;
        while row < rows {
            let n = chunk.min(rows - row);
            // SAFETY: rows [row, row + n) of the caller's.
            unsafe {
                let from = from.offset(row as isize * stride);
                let mut c = 0;
                while c + W <= states.len() {
                    let states = &mut states[c..c + W];
                    self.fold
                        .block::<W>(from.add(c), stride, n, row as i64, states);
                    c += W;
                }
                while c + FEW <= states.len() {
                    let states = &mut states[c..c + FEW];
                    self.fold
                        .block::<FEW>(from.add(c), stride, n, row as i64, states);
                    c += FEW;
                }
                while c < states.len() {
                    let states = &mut states[c..c + 1];
                    self.fold
                        .block::<1>(from.add(c), stride, n, row as i64, states);
                    c += 1;
                }
            }
            row += n;
        }
    }
}
