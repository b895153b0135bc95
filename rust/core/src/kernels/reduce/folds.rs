//! What is folded: one state an output, and how rows of adjacent columns go into it.

use crate::dtype::{DType, Element};
use crate::number::Number;

use super::ReduceOp;

mod exponential;
mod extreme;
mod spread;
mod sum;

pub use exponential::LogSumExp;
pub use extreme::{ArgExtreme, Extreme};
pub use spread::{Moments, Norm2};
pub use sum::{Prod, Sum, Truth};

/// A reduction of elements to a state, and of a state to one or two results.
pub trait Fold: Copy + Send + Sync {
    /// What elements are read as.
    type Element: Element;
    /// What is known of the elements seen so far.
    type State: Copy;
    /// The result.
    type First: Number;
    /// The second result, where there are two.
    type Second: Number;
    /// Most rows of one block.
    const ROWS: usize;

    /// Nothing seen.
    fn start(self) -> Self::State;

    /// Adds `rows` ≥ 1 rows of `W` columns, `stride` elements apart, to a state a column; `row`
    /// counts the rows that those states have seen.
    ///
    /// # Safety
    /// All those elements can be read.
    unsafe fn block<const W: usize>(
        self,
        from: *const Self::Element,
        stride: isize,
        rows: usize,
        row: i64,
        states: &mut [Self::State],
    );

    /// Up to how many elements of one output [`Fold::run`] is faster than blocks.
    const RUN: usize = 0;

    /// Adds `n` ≥ 1 adjacent elements of one output to its state, the first being element `at`.
    ///
    /// # Safety
    /// All those elements can be read.
    #[inline(always)]
    unsafe fn run(
        self,
        _from: *const Self::Element,
        _n: usize,
        _at: i64,
        _state: &mut Self::State,
    ) {
    }

    /// Joins two states of one output.
    fn join(self, all: &mut Self::State, other: Self::State);

    /// Turns the row that a state remembers into a place: `row * step + first`.
    #[inline(always)]
    fn place(self, _state: &mut Self::State, _step: i64, _first: i64) {}

    /// The results of `count` elements.
    fn finish(self, state: &Self::State, count: i64) -> (Self::First, Self::Second);
}

/// One row as an array.
///
/// # Safety
/// The elements can be read.
#[inline(always)]
unsafe fn row<T: Copy, const W: usize>(from: *const T, stride: isize, row: usize) -> [T; W] {
    // SAFETY: the caller's promise; an array has the alignment of its elements.
    unsafe { from.offset(row as isize * stride).cast::<[T; W]>().read() }
}

/// Column by column.
macro_rules! each {
    ($w:ident, $i:ident => $body:expr) => {
        core::array::from_fn::<_, $w, _>(
            #[inline(always)]
            |$i| $body,
        )
    };
}
use each;

/// The type that an operation computes elements of a type in.
pub fn compute(op: ReduceOp, dtype: DType) -> DType {
    use ReduceOp::*;
    let float = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
    match op {
        Sum | Mean if dtype.is_float() => float,
        Sum | Mean => DType::I64,
        Prod if dtype.is_float() => DType::F64,
        Prod => DType::I64,
        Max | Min | Amax | Amin | Argmax | Argmin => match dtype {
            DType::F64 | DType::I64 => dtype,
            d if d.is_float() => DType::F32,
            _ => DType::I32,
        },
        All | Any => DType::Bool,
        Var | Std | VarMean | StdMean | Logsumexp | Norm2 => float,
    }
}

/// Runs an expression with `$fold` standing for the fold of an operation.
macro_rules! with_fold {
    ($op:expr, $compute:expr, $correction:expr, $fold:ident => $body:expr) => {{
        use $crate::dtype::DType;
        use $crate::kernels::reduce::{ReduceOp as Op, folds};
        macro_rules! go {
            ($make:expr) => {{
                let $fold = $make;
                $body
            }};
        }
        macro_rules! ordered {
                                ($name:ident $tail:tt) => {
                                    match $compute {
                                        DType::F64 => go!(folds::with_fold!(@make $name f64 $tail)),
                                        DType::F32 => go!(folds::with_fold!(@make $name f32 $tail)),
                                        DType::I64 => go!(folds::with_fold!(@make $name i64 $tail)),
                                        _ => go!(folds::with_fold!(@make $name i32 $tail)),
                                    }
                                };
                            }
        let correction = $correction;
        match ($op, $compute) {
            (Op::Sum | Op::Mean, DType::F64) => go!(folds::Sum::<f64>::new($op == Op::Mean)),
            (Op::Sum | Op::Mean, DType::F32) => go!(folds::Sum::<f32>::new($op == Op::Mean)),
            (Op::Sum | Op::Mean, _) => go!(folds::Sum::<i64>::new(false)),
            (Op::Prod, DType::F64) => go!(folds::Prod::<f64>::new()),
            (Op::Prod, _) => go!(folds::Prod::<i64>::new()),
            (Op::Amax, _) => ordered!(Extreme(true)),
            (Op::Amin, _) => ordered!(Extreme(false)),
            (Op::Max | Op::Argmax, _) => ordered!(ArgExtreme(true)),
            (Op::Min | Op::Argmin, _) => ordered!(ArgExtreme(false)),
            (Op::All, _) => go!(folds::Truth::<true>),
            (Op::Any, _) => go!(folds::Truth::<false>),
            (Op::Var | Op::Std | Op::VarMean | Op::StdMean, c) => {
                let root = matches!($op, Op::Std | Op::StdMean);
                match c {
                    DType::F64 => go!(folds::Moments::<f64>::new(correction, root)),
                    _ => go!(folds::Moments::<f32>::new(correction, root)),
                }
            }
            (Op::Logsumexp, DType::F64) => go!(folds::LogSumExp::<f64>::new()),
            (Op::Logsumexp, _) => go!(folds::LogSumExp::<f32>::new()),
            (Op::Norm2, DType::F64) => go!(folds::Norm2::<f64>::new()),
            (Op::Norm2, _) => go!(folds::Norm2::<f32>::new()),
        }
    }};
    (@make $name:ident $t:ident ($max:literal)) => {
        folds::$name::<$t, $max>::new()
    };
    (@make $name:ident $t:ident ()) => {
        folds::$name::<$t>::new()
    };
}
pub(crate) use with_fold;
