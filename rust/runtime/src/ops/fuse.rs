//! Elementwise expressions, evaluated block by block: between the operands and the result nothing is
//! larger than a block, which stays in the cache. A block is done by the operations themselves on views
//! of the operands, so its elements have the bits that one operation after the other gives.

use wick_core::kernels::elementwise::Scalar;
use wick_core::kernels::reduce::ReduceOp;
use wick_core::layout::MAX_RANK;
use wick_core::ops::{BinaryOp, TernaryOp, UnaryOp};
use wick_core::{DType, Layout};

use super::elementwise::{self, Out, common_shape, tensors};
use super::promote::{Arg, Overlap, check_out, overlap};
use super::reduce::{self, Over};
use super::{creation, shape};
use crate::context::Context;
use crate::error::{Error, Kind, Result};
use crate::tensor::Tensor;

/// The name in errors.
pub const OP: &str = "fuse";

/// Elements of a block: a few of them fit a second-level cache.
const BLOCK: i64 = 1 << 14;

/// An operation of an expression and its parameters.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum Call {
    Unary(UnaryOp, [f64; 3]),
    Binary(BinaryOp),
    Ternary(TernaryOp, Scalar),
}

/// Where an operand comes from.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// An operand of the expression.
    Tensor(usize),
    /// The result of an earlier step.
    Step(usize),
    /// A number.
    Number(Scalar),
}

/// An operation on operands.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Step {
    pub call: Call,
    pub sources: Vec<Source>,
}

/// Steps of which the last gives the result.
#[derive(Clone, Debug)]
pub struct Expression {
    steps: Vec<Step>,
    /// For each step, the earlier ones that nothing needs after it.
    done: Vec<Vec<usize>>,
    operands: usize,
}

impl Call {
    fn name(self) -> &'static str {
        match self {
            Call::Unary(op, _) => op.name(),
            Call::Binary(op) => op.name(),
            Call::Ternary(op, _) => op.name(),
        }
    }

    fn arity(self) -> usize {
        match self {
            Call::Unary(..) => 1,
            Call::Binary(_) => 2,
            Call::Ternary(..) => 3,
        }
    }

    /// Whether it may refuse what elements are.
    fn looks(self) -> bool {
        use BinaryOp::{DivTrunc, FloorDivide, Fmod, Remainder};
        matches!(self, Call::Binary(DivTrunc | FloorDivide | Fmod | Remainder))
    }

    fn run(self, ctx: &Context, args: &[Arg], out: Out) -> Result<Option<Tensor>> {
        match (self, args) {
            (Call::Unary(op, p), [Arg::Tensor(x)]) => elementwise::unary(ctx, op, x, p, out),
            (Call::Binary(op), &[x, y]) => elementwise::binary(ctx, op, &[x, y], None, out),
            (Call::Ternary(op, p), &[x, y, z]) => elementwise::ternary(ctx, op, &[x, y, z], p, out),
            _ => Err(Error::internal(format!("{}: wrong operands", self.name()).into())),
        }
    }
}

impl Expression {
    /// An expression of so many operands. Steps refer to earlier ones, and each has a tensor among its
    /// operands.
    pub fn new(steps: Vec<Step>, operands: usize) -> Result<Expression> {
        let mut done = vec![Vec::new(); steps.len()];
        let mut last = vec![None; steps.len()];
        for (i, step) in steps.iter().enumerate() {
            let mut tensors = 0;
            for source in &step.sources {
                tensors += !matches!(source, Source::Number(_)) as usize;
                match *source {
                    Source::Tensor(t) if t >= operands => return Err(malformed()),
                    Source::Step(s) if s >= i => return Err(malformed()),
                    Source::Step(s) => last[s] = Some(i),
                    _ => {}
                }
            }
            if tensors == 0 || step.sources.len() != step.call.arity() {
                return Err(malformed());
            }
        }
        if steps.is_empty() {
            return Err(malformed());
        }
        for (step, last) in last.into_iter().enumerate() {
            done[last.unwrap_or(step)].push(step);
        }
        Ok(Expression { steps, done, operands })
    }

    /// Calls `f` for each step with its operands; its result is there for later ones.
    fn walk(
        &self,
        operands: &[Tensor],
        mut f: impl FnMut(usize, &Step, &[Arg]) -> Result<Option<Tensor>>,
    ) -> Result<Option<Tensor>> {
        let mut values = vec![None; self.steps.len()];
        let last = self.steps.len() - 1;
        for (i, step) in self.steps.iter().enumerate() {
            let mut args = [Arg::Scalar(Scalar::Int(0)); 3];
            for (arg, source) in args.iter_mut().zip(&step.sources) {
                *arg = match source {
                    Source::Tensor(t) => Arg::Tensor(&operands[*t]),
                    Source::Step(s) => Arg::Tensor(values[*s].as_ref().ok_or_else(malformed)?),
                    Source::Number(number) => Arg::Scalar(*number),
                };
            }
            let value = f(i, step, &args[..step.sources.len()])?;
            if i == last {
                return Ok(value);
            }
            values[i] = value;
            for s in &self.done[i] {
                values[*s] = None;
            }
        }
        Err(malformed())
    }

    /// The result for operands that are a block, or all there is.
    fn evaluate(&self, ctx: &Context, operands: &[Tensor], out: Out) -> Result<Option<Tensor>> {
        let last = self.steps.len() - 1;
        self.walk(operands, |i, step, args| {
            step.call.run(ctx, args, if i == last { out } else { Out::New })
        })
    }

    /// The result's dtype and shape. The dtypes are those of one element, which has the ranks of all;
    /// it stands, stretched to their shapes, for the whole in what follows and in errors.
    fn resolve(&self, ctx: &Context, operands: &[Tensor]) -> Result<(DType, Layout)> {
        let one =
            |dtype, rank: usize| creation::full(ctx, dtype, &[1; MAX_RANK][..rank], Scalar::Int(1));
        let ones = operands.iter().map(|t| one(t.dtype(), t.rank())?.broadcast_to(OP, t.shape()));
        let ones = ones.collect::<Result<Vec<_>>>()?;
        let result = self.walk(&ones, |_, step, args| {
            let name = step.call.name();
            let shape = common_shape(name, args)?;
            let alone = |arg: &Arg| match arg {
                Arg::Tensor(t) => one(t.dtype(), t.rank()).map(Some),
                Arg::Scalar(_) => Ok(None),
            };
            let alone = args.iter().map(alone).collect::<Result<Vec<_>>>()?;
            let few = args.iter().zip(&alone).map(|(arg, t)| t.as_ref().map_or(*arg, Arg::Tensor));
            let whole = |e: Error| match e.kind() {
                Kind::DType { op, expected, .. } => {
                    Error::dtype(op, &tensors(args), expected.clone())
                }
                _ => e,
            };
            let value = step.call.run(ctx, &few.collect::<Vec<_>>(), Out::New).map_err(whole)?;
            value.map(|t| t.broadcast_to(name, shape.shape())).transpose()
        })?;
        let result = result.ok_or_else(malformed)?;
        Ok((
            result.dtype(),
            Layout::contiguous(result.shape()).map_err(|e| Error::layout(OP, &result, e))?,
        ))
    }
}

fn malformed() -> Error {
    Error::internal("a malformed expression".into())
}

/// Evaluates an expression of operands that broadcast, into a new tensor or into `out`, which has the
/// result's shape and may be one of the operands; with `finish`, reduces it over all elements to one, as
/// that reduction of the result would.
pub fn fuse(
    ctx: &Context,
    expression: &Expression,
    operands: &[&Tensor],
    finish: Option<ReduceOp>,
    out: Option<&Tensor>,
) -> Result<Option<Tensor>> {
    if operands.len() != expression.operands {
        return Err(malformed());
    }
    let operands: Vec<Tensor> = operands.iter().map(|t| (*t).clone()).collect();
    let (dtype, layout) = expression.resolve(ctx, &operands)?;
    let shape = layout.shape();
    if let Some(op) = finish {
        if out.is_some() {
            return Err(malformed());
        }
        let made = |n, rows: Vec<Tensor>| {
            reduce::reduce_made(ctx, op, dtype, n, &|start, part| {
                let at = |t: &Tensor| narrow(t, 0, 1, start, part.numel());
                let operands = rows.iter().map(at).collect::<Result<Vec<_>>>()?;
                blocks(ctx, expression, operands, part)
            })
        };
        return match flat(&operands, shape)? {
            Some((n, rows)) if n > reduce::WHOLE => made(n, rows).map(Some),
            _ => {
                let all = Tensor::empty(ctx, OP, dtype, shape)?;
                blocks(ctx, expression, operands, &all)?;
                reduce::reduce(
                    ctx,
                    op,
                    &all,
                    Over { dims: None, keep_dim: false },
                    None,
                    0.0,
                    Out::New,
                )
            }
        };
    }
    let Some(out) = out else {
        let target = Tensor::empty(ctx, OP, dtype, shape)?;
        blocks(ctx, expression, operands, &target)?;
        return Ok(Some(target));
    };
    check_out(OP, out, shape, dtype, &operands.iter().collect::<Vec<_>>())?;
    let crossed = operands.iter().any(|t| overlap(out, t) == Overlap::Partial);
    if crossed || expression.steps.iter().any(|s| s.call.looks()) {
        // The operands stay as they are until the last element is known.
        let target = Tensor::empty(ctx, OP, dtype, shape)?;
        blocks(ctx, expression, operands, &target)?;
        elementwise::copy(ctx, out, &target)?;
    } else {
        blocks(ctx, expression, operands, out)?;
    }
    Ok(None)
}

/// The operands as rows of so many elements, where all with dimensions have the result's shape and lie
/// densely.
fn flat(operands: &[Tensor], shape: &[i64]) -> Result<Option<(i64, Vec<Tensor>)>> {
    let lies = |t: &Tensor| t.rank() == 0 || t.shape() == shape && t.layout().is_contiguous();
    if shape.is_empty() || !operands.iter().all(lies) {
        return Ok(None);
    }
    let n = shape.iter().product();
    let row = |t: &Tensor| match t.rank() {
        0 => Ok(t.clone()),
        _ => t.with_layout(OP, t.layout().view(&[n])),
    };
    Ok(Some((n, operands.iter().map(row).collect::<Result<_>>()?)))
}

/// Elements `start..start + length` of dimension `dim` of a result of `rank` dimensions, as an operand
/// has them.
fn narrow(t: &Tensor, dim: usize, rank: usize, start: i64, length: i64) -> Result<Tensor> {
    match (dim + t.rank()).checked_sub(rank) {
        Some(d) if t.shape()[d] != 1 => {
            t.with_layout(OP, t.layout().narrow(d as i64, start, length))
        }
        _ => Ok(t.clone()),
    }
}

/// Writes the result of an expression block by block.
fn blocks(
    ctx: &Context,
    expression: &Expression,
    mut operands: Vec<Tensor>,
    target: &Tensor,
) -> Result<()> {
    let mut target = target.clone();
    if target.layout().is_contiguous()
        && let Some((n, rows)) = flat(&operands, target.shape())?
    {
        (operands, target) = (rows, shape::reshape(ctx, OP, &target, &[n])?);
    }
    let (sizes, rank) = (target.shape(), target.rank());
    if target.numel() == 0 {
        return Ok(());
    }
    // The outermost dimension whose steps fit a block is cut, those outside of it taken one by one.
    let inside = |d: usize| sizes[d + 1..].iter().product::<i64>();
    let Some(cut) = (0..rank).find(|d| inside(*d) <= BLOCK) else {
        return expression.evaluate(ctx, &operands, Out::Into(&target)).map(drop);
    };
    let length = (BLOCK / inside(cut)).clamp(1, sizes[cut]);
    let pieces = (sizes[cut] + length - 1) / length;
    let outside: i64 = sizes[..cut].iter().product();
    let block = |index: i64| -> Result<()> {
        let view = |t: &Tensor| -> Result<Tensor> {
            let start = index % pieces * length;
            let mut t = narrow(t, cut, rank, start, length.min(sizes[cut] - start))?;
            let mut rest = index / pieces;
            for d in (0..cut).rev() {
                t = narrow(&t, d, rank, rest % sizes[d], 1)?;
                rest /= sizes[d];
            }
            Ok(t)
        };
        let operands = operands.iter().map(view).collect::<Result<Vec<_>>>()?;
        expression.evaluate(ctx, &operands, Out::Into(&view(&target)?)).map(drop)
    };
    // What a device watches is used on the thread that it watches.
    if !operands.iter().chain([&target]).all(|t| t.storage().is_plain()) {
        return (0..outside * pieces).try_for_each(block);
    }
    let cost = 0.5 * (expression.steps.len() as i64 * length * inside(cut)) as f64;
    ctx.try_each(outside * pieces, cost, &block)
}
