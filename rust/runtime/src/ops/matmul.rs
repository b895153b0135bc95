//! Matrix products.

mod batch;
pub(crate) mod product;

use wick_core::kernels::elementwise::Scalar;
use wick_core::layout::{MAX_RANK, broadcast};
use wick_core::ops::BinaryOp;
use wick_core::{DType, Layout, named_ops};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::array::contiguous;
use crate::ops::elementwise::{Out, binary, copy};
use crate::ops::promote::{Arg, Overlap, check_out, overlap};
use crate::tensor::Tensor;

use batch::Batch;
use product::{Job, Side, Want};

named_ops! {
    /// Products of two tensors.
    MatmulOp {
        /// Two matrices.
        Mm "mm",
        /// Two batches of matrices.
        Bmm "bmm",
        /// Vectors, matrices and batches of them, whose batch dimensions broadcast.
        Matmul "matmul",
        /// A matrix and a vector.
        Mv "mv",
        /// Two vectors: a number.
        Dot "dot",
        /// Sums over the last dimension of both.
        Inner "inner",
        /// Two vectors: each element of one with each of the other.
        Outer "outer",
    }
}

named_ops! {
    /// beta * self + alpha * product.
    AddmmOp {
        /// Two matrices.
        Addmm "addmm",
        /// Two batches of matrices.
        Baddbmm "baddbmm",
        /// A matrix and a vector.
        Addmv "addmv",
    }
}

/// The operands as batches of matrices, and the result's shape with and without the dimensions
/// that stand for a vector.
struct Shapes {
    a: Tensor,
    b: Tensor,
    batch: Layout,
    row: bool,
    col: bool,
}

/// Checks dtypes, ranks (zeros: any but 0) and the sizes to sum over.
fn check(op: &'static str, ranks: (usize, usize), a: &Tensor, b: &Tensor) -> Result<()> {
    let both = [a, b];
    if ranks != (0, 0) && (a.rank(), b.rank()) != ranks {
        let text = format!("expected {} and {} dimensions", ranks.0, ranks.1);
        return Err(Error::shape(op, &both, text));
    }
    if a.rank() == 0 || b.rank() == 0 {
        return Err(Error::shape(op, &both, "expected at least one dimension each"));
    }
    same_dtype(op, &both)?;
    let (row, col) = (a.rank() > 1, b.rank() > 1);
    let inner = (a.shape()[a.rank() - 1], b.shape()[b.rank() - 1 - col as usize]);
    if inner.0 != inner.1 {
        let what = match (row, col) {
            (true, true) => "columns of the first and rows of the second",
            (true, false) => "columns of the first and elements of the second",
            (false, true) => "elements of the first and rows of the second",
            (false, false) => "elements of the two",
        };
        let text = format!("the numbers of {what} must be equal, not {} and {}", inner.0, inner.1);
        return Err(Error::shape(op, &both, text));
    }
    Ok(())
}

impl Shapes {
    /// Of operands that have been checked.
    fn new(op: &'static str, a: &Tensor, b: &Tensor) -> Result<Shapes> {
        let both = [a, b];
        let (row, col) = (a.rank() > 1, b.rank() > 1);
        let a2 = if row { a.clone() } else { a.with_layout(op, a.layout().unsqueeze(0))? };
        let b2 = if col { b.clone() } else { b.with_layout(op, b.layout().unsqueeze(1))? };
        let outer = |t: &Tensor| t.rank() - 2;
        let (x, y) = (&a2.shape()[..outer(&a2)], &b2.shape()[..outer(&b2)]);
        let sizes = broadcast(x, y).map(|(sizes, rank)| Layout::contiguous(&sizes[..rank]));
        let batch = match sizes {
            Ok(Ok(batch)) if op != "bmm" && op != "baddbmm" || x == y => batch,
            Ok(Err(e)) => return Err(Error::size(op, a.dtype(), x, e)),
            _ => {
                let text = format!("the batch sizes {x:?} and {y:?} do not fit each other");
                return Err(Error::shape(op, &both, text));
            }
        };
        Ok(Shapes { a: expand(op, &a2, &batch)?, b: expand(op, &b2, &batch)?, batch, row, col })
    }

    /// Sizes of the result.
    fn result(&self, op: &'static str) -> Result<Layout> {
        let mut sizes = [1; MAX_RANK + 2];
        let mut rank = self.batch.rank();
        sizes[..rank].copy_from_slice(self.batch.shape());
        let (m, n) = (self.a.shape()[rank], self.b.shape()[rank + 1]);
        for size in [m].into_iter().filter(|_| self.row).chain([n].into_iter().filter(|_| self.col))
        {
            sizes[rank] = size;
            rank += 1;
        }
        let sizes = &sizes[..rank];
        Layout::contiguous(sizes).map_err(|e| Error::size(op, self.a.dtype(), sizes, e))
    }

    /// A tensor of the result's sizes as a batch of matrices.
    fn matrices(&self, op: &'static str, t: &Tensor) -> Result<Tensor> {
        let mut layout = Ok(*t.layout());
        if !self.col {
            layout = layout.and_then(|l| l.unsqueeze(-1));
        }
        if !self.row {
            layout = layout.and_then(|l| l.unsqueeze(-2));
        }
        t.with_layout(op, layout)
    }
}

fn same_dtype(op: &'static str, operands: &[&Tensor]) -> Result<()> {
    if operands.iter().any(|t| t.dtype() != operands[0].dtype()) {
        return Err(Error::dtype(op, operands, "expected one dtype: cast first"));
    }
    if operands[0].dtype() == DType::Bool {
        return Err(Error::dtype(op, operands, "not defined for bool"));
    }
    Ok(())
}

/// Matrices repeated along the batch dimensions that they lack.
fn expand(op: &'static str, t: &Tensor, batch: &Layout) -> Result<Tensor> {
    let rank = batch.rank();
    let mut sizes = [1; MAX_RANK + 2];
    sizes[..rank].copy_from_slice(batch.shape());
    sizes[rank..rank + 2].copy_from_slice(&t.shape()[t.rank() - 2..]);
    t.broadcast_to(op, &sizes[..rank + 2])
}

/// The tensor to write: a new one, or a given one of this shape and dtype that lies apart from
/// the operands.
fn target(
    ctx: &Context,
    op: &'static str,
    shape: &Layout,
    operands: &[&Tensor],
    out: Option<&Tensor>,
) -> Result<Tensor> {
    let dtype = operands[0].dtype();
    let Some(out) = out else {
        return Tensor::empty(ctx, op, dtype, shape.shape());
    };
    check_out(op, out, shape.shape(), dtype, operands)?;
    let all = || [&[out], operands].concat();
    if out.dtype() != dtype {
        let text = format!("a result of type {dtype} needs a target of that type");
        return Err(Error::dtype(op, &all(), text));
    }
    if operands.iter().any(|t| overlap(out, t) != Overlap::None) {
        let text = "the target overlaps an operand: clone it first";
        return Err(Error::shape(op, &all(), text));
    }
    Ok(out.clone())
}

/// A product of two tensors, into `out` or a new tensor, which is then returned.
pub fn matmul(
    ctx: &Context,
    op: MatmulOp,
    a: &Tensor,
    b: &Tensor,
    out: Option<&Tensor>,
) -> Result<Option<Tensor>> {
    let name = op.name();
    let ranks = match op {
        MatmulOp::Mm => (2, 2),
        MatmulOp::Bmm => (3, 3),
        MatmulOp::Mv => (2, 1),
        MatmulOp::Dot => (1, 1),
        MatmulOp::Matmul => (0, 0),
        MatmulOp::Inner => return inner(ctx, a, b, out),
        MatmulOp::Outer => return outer(ctx, a, b, out),
    };
    check(name, ranks, a, b)?;
    if a.rank() <= 2
        && b.rank() <= 2
        && out.is_none()
        && let Some(result) = direct(ctx, name, a, b)?
    {
        return Ok(Some(result));
    }
    let shapes = Shapes::new(name, a, b)?;
    let result = target(ctx, name, &shapes.result(name)?, &[a, b], out)?;
    let batch = Batch {
        out: shapes.matrices(name, &result)?,
        a: shapes.a,
        b: shapes.b,
        addend: None,
        alpha: Scalar::Int(1),
    };
    batch.run(ctx, name)?;
    Ok(out.is_none().then_some(result))
}

/// Vectors and matrices that need no copies, on the shortest way: small products cost little more
/// than a call. None: they do need some.
fn direct(ctx: &Context, op: &'static str, a: &Tensor, b: &Tensor) -> Result<Option<Tensor>> {
    let (row, col) = (a.rank() > 1, b.rank() > 1);
    let k = a.shape()[a.rank() - 1];
    let (m, n) = (if row { a.shape()[0] } else { 1 }, if col { b.shape()[1] } else { 1 });
    let left = if row { Side::of(a) } else { Side::row(a) };
    let right = if col { Side::of(b) } else { Side::column(b) };
    let sizes = [m, n];
    let shape = match (row, col) {
        (true, true) => &sizes[..],
        (true, false) => &sizes[..1],
        (false, true) => &sizes[1..],
        (false, false) => &[],
    };
    let sides = (left, right, Side::dense(m, n));
    let job = Job::new(a.dtype(), (m, n, k), true, sides, Scalar::Int(1), None);
    if job.wants() != Want::Nothing {
        return Ok(None);
    }
    let result = Tensor::empty(ctx, op, a.dtype(), shape)?;
    job.into(&result).run(ctx, None);
    Ok(Some(result))
}

/// Elements of two vectors multiplied each with each; dtypes promote.
fn outer(ctx: &Context, a: &Tensor, b: &Tensor, out: Option<&Tensor>) -> Result<Option<Tensor>> {
    if (a.rank(), b.rank()) != (1, 1) {
        return Err(Error::shape("outer", &[a, b], "expected 1 and 1 dimensions"));
    }
    let column = a.with_layout("outer", a.layout().unsqueeze(1))?;
    let args = (Arg::Tensor(&column), Arg::Tensor(b));
    binary(ctx, BinaryOp::Mul, &[args.0, args.1], None, out.map_or(Out::New, Out::Into))
}

/// Sums over the last dimensions; a tensor without dimensions is a factor.
fn inner(ctx: &Context, a: &Tensor, b: &Tensor, out: Option<&Tensor>) -> Result<Option<Tensor>> {
    let op = "inner";
    if a.rank() == 0 || b.rank() == 0 {
        let into = out.map_or(Out::New, Out::Into);
        return binary(ctx, BinaryOp::Mul, &[Arg::Tensor(a), Arg::Tensor(b)], None, into);
    }
    same_dtype(op, &[a, b])?;
    let (x, y) = (&a.shape()[..a.rank() - 1], &b.shape()[..b.rank() - 1]);
    let (k, other) = (a.shape()[a.rank() - 1], b.shape()[b.rank() - 1]);
    if k != other {
        let text = format!("the last sizes must be equal, not {k} and {other}");
        return Err(Error::shape(op, &[a, b], text));
    }
    let sizes = [x, y].concat();
    let shape = Layout::contiguous(&sizes).map_err(|e| Error::size(op, a.dtype(), &sizes, e))?;
    let result = target(ctx, op, &shape, &[a, b], out)?;
    let (m, n) = (x.iter().product::<i64>(), y.iter().product::<i64>());
    let rows = |t: &Tensor, rows: i64| match t.layout().view(&[rows, k]) {
        Ok(layout) => t.with_layout(op, Ok(layout)),
        Err(_) => {
            let dense = contiguous(ctx, t)?;
            dense.with_layout(op, dense.layout().view(&[rows, k]))
        }
    };
    let (a2, b2) = (rows(a, m)?, rows(b, n)?);
    let turned = b2.with_layout(op, b2.layout().transpose(0, 1))?;
    let direct = result.layout().view(&[m, n]).ok();
    let flat = match direct {
        Some(layout) => result.with_layout(op, Ok(layout))?,
        None => Tensor::empty(ctx, op, a.dtype(), &[m, n])?,
    };
    let batch = Batch { a: a2, b: turned, out: flat.clone(), addend: None, alpha: Scalar::Int(1) };
    batch.run(ctx, op)?;
    if direct.is_none() {
        copy(ctx, &result, &flat.with_layout(op, flat.layout().view(&sizes))?)?;
    }
    Ok(out.is_none().then_some(result))
}

/// beta * c + alpha * product of a and b; with beta 0 the values of `c` do not count.
#[allow(clippy::too_many_arguments)]
pub fn addmm(
    ctx: &Context,
    op: AddmmOp,
    c: &Tensor,
    a: &Tensor,
    b: &Tensor,
    beta: Scalar,
    alpha: Scalar,
    out: Out,
) -> Result<Option<Tensor>> {
    let name = op.name();
    let ranks = match op {
        AddmmOp::Addmm => (2, 2),
        AddmmOp::Baddbmm => (3, 3),
        AddmmOp::Addmv => (2, 1),
    };
    let all = [c, a, b];
    same_dtype(name, &all)?;
    let (beta, alpha) = (factor(name, beta, &all)?, factor(name, alpha, &all)?);
    check(name, ranks, a, b)?;
    let shapes = Shapes::new(name, a, b)?;
    let shape = shapes.result(name)?;
    let addend = c.broadcast_to(name, shape.shape()).map_err(|_| {
        let text =
            format!("the first does not broadcast to the product's shape {:?}", shape.shape());
        Error::shape(name, &all, text)
    })?;
    let (result, fresh) = match out {
        Out::New => (target(ctx, name, &shape, &[a, b], None)?, true),
        Out::InPlace => (target(ctx, name, &shape, &[a, b], Some(c))?, false),
        Out::Into(t) => (target(ctx, name, &shape, &[a, b], Some(t))?, false),
    };
    if !fresh && overlap(&result, &addend) == Overlap::Partial {
        let text = "the target overlaps an operand: clone it first";
        return Err(Error::shape(name, &[&result, c, a, b], text));
    }
    let addend = match beta.to::<f64>() {
        0.0 => None,
        _ => Some((shapes.matrices(name, &addend)?, beta)),
    };
    let batch =
        Batch { out: shapes.matrices(name, &result)?, a: shapes.a, b: shapes.b, addend, alpha };
    batch.run(ctx, name)?;
    Ok(fresh.then_some(result))
}

/// A factor of a sum of integers must be a whole number.
fn factor(op: &'static str, s: Scalar, operands: &[&Tensor]) -> Result<Scalar> {
    match s {
        Scalar::Float(v) if !operands[0].dtype().is_float() => {
            let whole = v as i64;
            if whole as f64 == v {
                return Ok(Scalar::Int(whole));
            }
            let text = format!("the factor {v} of integers must be a whole number");
            Err(Error::dtype(op, operands, text))
        }
        _ => Ok(s),
    }
}
