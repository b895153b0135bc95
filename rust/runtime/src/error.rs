//! What can go wrong, with the operation, shapes and dtypes as fields; text is made last.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;

use wick_core::{DType, LayoutError};

use crate::tensor::Tensor;

/// Result of a runtime call.
pub type Result<T> = std::result::Result<T, Error>;

/// A shape as it is printed: `[2, 3]`.
#[derive(Clone, PartialEq, Eq)]
pub struct Shape(pub Vec<i64>);

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<&[i64]> for Shape {
    fn from(sizes: &[i64]) -> Shape {
        Shape(sizes.to_vec())
    }
}

/// An operand in a message: `f32 [2, 3]`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Operand {
    pub dtype: DType,
    pub shape: Shape,
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.dtype, self.shape)
    }
}

impl From<&Tensor> for Operand {
    fn from(t: &Tensor) -> Operand {
        Operand { dtype: t.dtype(), shape: t.shape().into() }
    }
}

/// The operands of a message, separated by "and" and followed by a colon; there may be none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operands(pub Vec<Operand>);

impl fmt::Display for Operands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, operand) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(" and ")?;
            }
            operand.fmt(f)?;
        }
        if !self.0.is_empty() {
            f.write_str(": ")?;
        }
        Ok(())
    }
}

/// What went wrong. One pointer, so that a result which may fail costs no more than one which may
/// not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<Kind>);

impl From<Kind> for Error {
    #[cold]
    fn from(kind: Kind) -> Error {
        Error(Box::new(kind))
    }
}

/// Each variant is one Java exception class.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum Kind {
    /// Two shapes that do not broadcast.
    #[error(
        "{op}: shapes {} and {} do not broadcast at dimension {dim} ({x} and {y}); dtypes {} and {}",
        a.shape, b.shape, a.dtype, b.dtype
    )]
    Broadcast { op: &'static str, a: Operand, b: Operand, dim: usize, x: i64, y: i64 },
    /// A shape, size or dimension that the operation does not take.
    #[error("{op}: {operands}{expected}")]
    Shape { op: &'static str, operands: Operands, expected: Cow<'static, str> },
    /// A dtype, or a value of a dtype, that the operation does not take.
    #[error("{op}: {operands}{expected}")]
    DType { op: &'static str, operands: Operands, expected: Cow<'static, str> },
    /// An index or dimension outside its range.
    #[error("{op}: {operands}{expected}")]
    Index { op: &'static str, operands: Operands, expected: Cow<'static, str> },
    /// A matrix that an operation cannot do its work on: singular, not finite, not converging.
    #[error("{op}: {operands}{expected}")]
    Linalg { op: &'static str, operands: Operands, expected: Cow<'static, str> },
    /// A device that is not there, or operands on two.
    #[error("{op}: {expected}")]
    Device { op: &'static str, expected: Cow<'static, str> },
    /// An operand on another device than the one whose operation runs: to be run there instead.
    #[error("{op}: its operands live on device {device}")]
    Elsewhere { op: &'static str, device: u32 },
    /// Elements that are neither old nor new.
    #[error("{op}: an overwrite of these elements was given up: write all of them first")]
    Undefined { op: &'static str },
    /// A handle that no longer stands for a tensor.
    #[error("{op}: the {dtype} tensor was closed")]
    Closed { op: &'static str, dtype: &'static str },
    /// The cap, or the machine, is exhausted.
    #[error("out of native memory: {asked} bytes asked, {live} live, {cached} cached, cap {cap}")]
    OutOfMemory { asked: usize, live: usize, cached: usize, cap: usize },
    /// A sparse tensor where a dense one is wanted, or one that is not coalesced, or the reverse.
    #[error("{op}: sparse {operand}: {expected}")]
    Sparse { op: &'static str, operand: Operand, expected: Cow<'static, str> },
    /// A dense tensor where a sparse one is wanted.
    #[error("{op}: {operand}: {expected}")]
    Dense { op: &'static str, operand: Operand, expected: Cow<'static, str> },
    /// A tensor that may be read alone where one to write into is wanted.
    #[error("{op}: {operand}: the tensor is read-only")]
    ReadOnly { op: &'static str, operand: Operand },
    /// A file that cannot be read, or is not what it should be.
    #[error("{op}: {path}: {expected}")]
    Format { op: &'static str, path: String, expected: Cow<'static, str> },
    /// An operation code or argument that no caller of ours sends.
    #[error("{0}")]
    Internal(Cow<'static, str>),
}

impl Error {
    /// What went wrong, as data.
    pub fn kind(&self) -> &Kind {
        &self.0
    }

    /// An operation code or argument that no caller of ours sends.
    pub fn internal(text: Cow<'static, str>) -> Error {
        Kind::Internal(text).into()
    }

    /// A shape error about these operands.
    pub fn shape(
        op: &'static str,
        operands: &[&Tensor],
        expected: impl Into<Cow<'static, str>>,
    ) -> Error {
        Kind::Shape { op, operands: list(operands), expected: expected.into() }.into()
    }

    /// A dtype error about these operands.
    pub fn dtype(
        op: &'static str,
        operands: &[&Tensor],
        expected: impl Into<Cow<'static, str>>,
    ) -> Error {
        Kind::DType { op, operands: list(operands), expected: expected.into() }.into()
    }

    /// An index error about these operands.
    pub fn index(
        op: &'static str,
        operands: &[&Tensor],
        expected: impl Into<Cow<'static, str>>,
    ) -> Error {
        Kind::Index { op, operands: list(operands), expected: expected.into() }.into()
    }

    /// What is wrong with a matrix of these operands.
    pub fn linalg(
        op: &'static str,
        operands: &[&Tensor],
        expected: impl Into<Cow<'static, str>>,
    ) -> Error {
        Kind::Linalg { op, operands: list(operands), expected: expected.into() }.into()
    }

    /// A size that cannot be made, with no tensor to show.
    pub fn size(op: &'static str, dtype: DType, shape: &[i64], source: LayoutError) -> Error {
        let operands = Operands(vec![Operand { dtype, shape: shape.into() }]);
        Kind::Shape { op, operands, expected: describe(source) }.into()
    }

    /// A view that cannot be made.
    pub fn layout(op: &'static str, t: &Tensor, source: LayoutError) -> Error {
        let operands = list(&[t]);
        let expected = describe(source);
        match source {
            LayoutError::Dim { .. } | LayoutError::Index { .. } | LayoutError::Range { .. } => {
                Kind::Index { op, operands, expected }
            }
            _ => Kind::Shape { op, operands, expected },
        }
        .into()
    }
}

/// What a panic left: an error that was raised, or its message.
pub(crate) fn of_panic(payload: Box<dyn Any + Send>) -> Error {
    let payload = match payload.downcast::<Error>() {
        Ok(error) => return *error,
        Err(payload) => payload,
    };
    let text = payload.downcast_ref::<&str>().map(|s| (*s).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    Error::internal(text.unwrap_or_else(|| "panic".to_owned()).into())
}

fn list(operands: &[&Tensor]) -> Operands {
    Operands(operands.iter().map(|t| Operand::from(*t)).collect())
}

fn describe(source: LayoutError) -> Cow<'static, str> {
    use LayoutError::*;
    match source {
        Rank { rank } => format!("{rank} dimensions, at most {} are possible", wick_core::MAX_RANK),
        Dim { dim, rank } => format!("dimension {dim} is outside [-{0}, {0})", rank.max(1)),
        RepeatedDim { dim } => format!("dimension {dim} is named twice"),
        DimCount { expected, got } => format!("expected {expected} dimensions, got {got}"),
        Index { dim, index, size } => {
            format!("index {index} is outside dimension {dim} of size {size}")
        }
        Range { dim, start, length, size } => {
            format!("start {start} with length {length} is outside dimension {dim} of size {size}")
        }
        Step { step } => format!("step {step} is not positive"),
        NegativeSize { size } => format!("size {size} is negative"),
        Overflow => return "the element count or offset exceeds 2^63 - 1".into(),
        Expand { dim, from, to } => {
            format!("size {from} does not stretch to {to} at dimension {dim} of the result")
        }
        Count { from, to } => format!("{from} elements do not fit a shape of {to}"),
        Infer => {
            return "at most one size may be -1, and the others must divide the element count"
                .into();
        }
        Incompatible => {
            return "the strides do not allow this shape without a copy: use reshape".into();
        }
        Storage { needed, size } => {
            format!("the view reaches {needed} elements into a storage of {size}")
        }
        Stride { stride } => format!("stride or offset {stride} is negative"),
    }
    .into()
}
