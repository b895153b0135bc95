//! Reductions over any set of dimensions: the loops, whatever is folded.
//!
//! A fold ([`folds`]) knows one thing: how a few rows of adjacent columns go into one state a
//! column. Everything else is made of that. Where the kept dimensions are innermost in memory the
//! rows are the tensor's own; a run of elements that all go into one output is read as rows of
//! many columns whose states are joined at the end. A long reduction is cut into pieces whose
//! sizes depend on the shape alone, so the bits of a result do not depend on threads.

use core::mem::MaybeUninit;
use core::slice;

use pulp::Arch;

use crate::block::gather;
use crate::dtype::{DType, Element};
use crate::number::Number;
use crate::view::{View, ViewMut};
use crate::window::{Kernel, ThreadInfo, Window};
use crate::with_dtype;

pub mod folds;
mod plan;
mod slab;

use folds::Fold;
pub use plan::Plan;
use slab::{Room, fold_slab};

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
        matches!(self, ReduceOp::Max | ReduceOp::Min | ReduceOp::Argmax | ReduceOp::Argmin)
    }

    /// Whether nothing at all has no result.
    pub fn needs_elements(self) -> bool {
        use ReduceOp::*;
        matches!(self, Max | Min | Amax | Amin | Argmax | Argmin)
    }
}

/// Most outputs of one work item.
const WIDE: usize = 512;
/// The same where elements pass through a buffer.
const NARROW: usize = 64;
/// Elements in that buffer.
const ROOM: usize = 2048;
/// A reduction on its operands. Where the plan wants states, [`Combine`] follows.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Reduce<'a> {
    pub arch: Arch,
    pub op: ReduceOp,
    /// What elements are computed in; see [`folds::compute`].
    pub compute: DType,
    pub correction: f64,
    pub plan: &'a Plan,
    pub input: View,
    pub outs: [Option<ViewMut>; 2],
    /// Room for the plan's states, aligned for u64.
    pub states: *mut u8,
    /// Nanoseconds an element.
    pub cost: f64,
}

// SAFETY: the states are written at disjoint places by the work items, then read by Combine.
unsafe impl Sync for Reduce<'_> {}

/// Elements that lie in one run, reduced to one output without a plan.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Whole {
    pub arch: Arch,
    pub op: ReduceOp,
    /// The elements' type too.
    pub compute: DType,
    pub correction: f64,
    pub from: *const u8,
    pub count: usize,
    /// Each output's type and its element.
    pub outs: [Option<(DType, *mut u8)>; 2],
}

impl Whole {
    /// Runs it on this thread.
    ///
    /// # Safety
    /// The elements can be read, the outputs written.
    pub unsafe fn run(&self) {
        fn run<F: Fold>(this: &Whole, fold: F) {
            let mut state = [fold.start()];
            let from = this.from.cast::<F::Element>();
            // SAFETY: the caller's promise.
            unsafe {
                fold_slab(this.arch, fold, from, 1, this.count, 0, &mut state);
                let (first, second) = fold.finish(&state[0], this.count as i64);
                put(this.outs[0], first);
                put(this.outs[1], second);
            }
        }
        folds::with_fold!(self.op, self.compute, self.correction, fold => run(self, fold))
    }
}

/// # Safety
/// The output can be written.
unsafe fn put<T: Number>(out: Option<(DType, *mut u8)>, value: T) {
    if let Some((dtype, to)) = out {
        // SAFETY: one element of the type.
        with_dtype!(dtype, D => unsafe { to.cast::<D>().write(D::store(value)) })
    }
}

/// Joins the pieces of each output.
pub struct Combine<'a>(pub &'a Reduce<'a>);

impl Kernel for Reduce<'_> {
    fn window(&self) -> Window {
        Window::flat(self.plan.pieces * self.plan.tiles())
    }

    fn cost(&self) -> f64 {
        let plan = self.plan;
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

impl Reduce<'_> {
    /// Bytes of one state.
    pub fn state_size(op: ReduceOp, compute: DType) -> usize {
        fn size<F: Fold>(_: F) -> usize {
            size_of::<F::State>()
        }
        folds::with_fold!(op, compute, 0.0, fold => size(fold))
    }

    /// One tile of outputs over one piece.
    fn item<F: Fold>(&self, fold: F, item: i64) {
        let plan = self.plan;
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
        let plan = self.plan;
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
        let (plan, width) = (self.plan, states.len());
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
                fold_slab(self.arch, fold, from, width as isize, n as usize, at, states);
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
        let plan = self.plan;
        let step = plan.kept.inner_stride(1);
        let mut buffer = Room::<F::Element, ROOM>::new();
        let mut output = 0;
        plan.kept.pieces(1, first, states.len() as i64, |outputs, across| {
            for i in 0..outputs {
                let state = slice::from_mut(&mut states[output]);
                output += 1;
                let size = self.input.dtype.size() as isize;
                let view = View {
                    ptr: self.input.ptr.wrapping_offset((across + i * step) as isize * size),
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
        let mut firsts = Room::<F::First, NARROW>::new();
        let mut seconds = Room::<F::Second, NARROW>::new();
        for (i, states) in states.chunks(NARROW).enumerate() {
            let at = first + (i * NARROW) as i64;
            let (firsts, seconds) = (firsts.slice(states.len()), seconds.slice(states.len()));
            for (i, state) in states.iter().enumerate() {
                (firsts[i], seconds[i]) = fold.finish(state, count);
            }
            self.write(0, at, firsts);
            self.write(1, at, seconds);
        }
    }

    /// Writes results from output `first` on.
    fn write<T: Number>(&self, which: usize, first: i64, values: &[T]) {
        let Some(out) = &self.outs[which] else {
            return;
        };
        let (kept, operand) = (&self.plan.kept, which + 2);
        let stride = kept.inner_stride(operand) as isize;
        let mut values = values.iter();
        with_dtype!(out.dtype, D => {
            let base = out.start().cast::<D>();
            kept.pieces(operand, first, values.len() as i64, |length, offset| {
                for (i, value) in (0..length as isize).zip(&mut values) {
                    // SAFETY: inside the output's layout; these outputs are ours to write.
                    unsafe { base.offset(offset as isize + i * stride).write(D::store(*value)) };
                }
            });
        })
    }
}
