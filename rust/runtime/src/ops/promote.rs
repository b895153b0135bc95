//! libtorch's type promotion, and its rules for what may be written into what.

use wick_core::DType;
use wick_core::dtype::Category;
use wick_core::kernels::elementwise::Scalar;

use crate::error::{Error, Kind, Result};
use crate::tensor::Tensor;

/// An operand: a tensor, or a number, which yields to any tensor of its category.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub enum Arg<'a> {
    Tensor(&'a Tensor),
    Scalar(Scalar),
}

impl<'a> Arg<'a> {
    /// The tensor, if it is one.
    pub fn tensor(self) -> Option<&'a Tensor> {
        match self {
            Arg::Tensor(t) => Some(t),
            Arg::Scalar(_) => None,
        }
    }

    /// Its shape; a number is 0-d.
    pub fn shape(self) -> &'a [i64] {
        self.tensor().map_or(&[], Tensor::shape)
    }
}

/// The type of a number that meets no tensor.
pub fn scalar_dtype(s: Scalar) -> DType {
    match s {
        Scalar::Int(_) => DType::I64,
        Scalar::Float(_) => DType::F32,
        Scalar::Bool(_) => DType::Bool,
    }
}

/// libtorch's `result_type`: tensors with dimensions decide, then 0-d tensors, then numbers; a
/// lower rank counts only where its category is higher.
pub fn result_type(args: &[Arg]) -> DType {
    if let Some(dtype) = alike(args) {
        return dtype;
    }
    let mut ranks: [Option<DType>; 3] = [None; 3];
    for arg in args {
        let (rank, dtype) = match arg {
            Arg::Tensor(t) => ((t.rank() == 0) as usize, t.dtype()),
            Arg::Scalar(s) => (2, scalar_dtype(*s)),
        };
        let slot = &mut ranks[rank];
        *slot = Some(slot.map_or(dtype, |d| d.promote(dtype)));
    }
    let combine = |higher: Option<DType>, lower: Option<DType>| match (higher, lower) {
        (Some(h), Some(l)) if l.category() > h.category() => Some(h.promote(l)),
        (None, l) => l,
        (h, _) => h,
    };
    combine(ranks[0], combine(ranks[1], ranks[2])).unwrap_or(DType::F32)
}

/// The type that nothing needs to be promoted for: the first tensor's, where it has dimensions.
fn alike(args: &[Arg]) -> Option<DType> {
    let first = args.first()?.tensor().filter(|t| t.rank() > 0)?.dtype();
    let yields = |arg: &Arg| match arg {
        Arg::Tensor(t) => t.dtype() == first,
        Arg::Scalar(s) => scalar_dtype(*s).category() <= first.category(),
    };
    args[1..].iter().all(yields).then_some(first)
}

/// Whether libtorch writes a result of one type into a tensor of another.
pub fn can_cast(from: DType, to: DType) -> bool {
    from.category() <= to.category()
        || from.category() == Category::Int && to.category() == Category::Int
}

/// The checks on a tensor that an operation writes into: its shape is the result's, its type can
/// hold it, and no two of its elements share a place.
pub fn check_out(
    op: &'static str,
    out: &Tensor,
    shape: &[i64],
    dtype: DType,
    inputs: &[&Tensor],
) -> Result<()> {
    let all = || [&[out], inputs].concat();
    if out.shape() != shape {
        return Err(Error::shape(
            op,
            &all(),
            format!("the result has shape {shape:?}, its target {:?}", out.shape()),
        ));
    }
    if !can_cast(dtype, out.dtype()) {
        return Err(Error::dtype(
            op,
            &all(),
            format!("a result of type {dtype} cannot be written as {}", out.dtype()),
        ));
    }
    check_writable(op, out, inputs)
}

/// The checks on a tensor whose elements an operation writes one by one: it may be written, and no
/// two of its elements share a place.
pub fn check_writable(op: &'static str, out: &Tensor, inputs: &[&Tensor]) -> Result<()> {
    check_open(op, out)?;
    if out.layout().overlaps_itself() {
        let text = "elements of the target share a place in memory: clone it first";
        return Err(Error::shape(op, &[&[out], inputs].concat(), text));
    }
    Ok(())
}

/// That a tensor is not read-only.
pub fn check_open(op: &'static str, out: &Tensor) -> Result<()> {
    if out.is_read_only() {
        return Err(Kind::ReadOnly { op, operand: out.into() }.into());
    }
    Ok(())
}

/// How an input's elements lie to those of the tensor being written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Overlap {
    /// Other bytes.
    None,
    /// Element by element the same place.
    Exact,
    /// Some bytes are shared, at other places.
    Partial,
}

/// Conservative: views of one storage whose reaches cross count as partial.
pub fn overlap(out: &Tensor, input: &Tensor) -> Overlap {
    if !out.shares_storage(input) || out.numel() == 0 || input.numel() == 0 {
        return Overlap::None;
    }
    if out.layout() == input.layout() {
        return Overlap::Exact;
    }
    let reach = |t: &Tensor| (t.layout().offset(), t.layout().span().unwrap_or(i64::MAX));
    let ((a, a_end), (b, b_end)) = (reach(out), reach(input));
    if a < b_end && b < a_end { Overlap::Partial } else { Overlap::None }
}
