//! Unary, binary and ternary operations, casts and copies.

use wick_core::block::{BLOCK, Buffer, Operands, Place, gather};
use wick_core::kernels::elementwise::{Binary, Scalar, Ternary, Unary};
use wick_core::layout::broadcast;
use wick_core::nest::MAX_OPERANDS;
use wick_core::ops::{BinaryOp, Class, TernaryOp, UnaryOp};
use wick_core::{DType, Layout, Nest};

use crate::context::Context;
use crate::error::{Error, Kind, Operand, Result};
use crate::ops::promote::{
    Arg, Overlap, can_cast, check_out, check_writable, overlap, result_type,
};
use crate::tensor::Tensor;

/// Where a result goes.
#[derive(Clone, Copy)]
pub enum Out<'a> {
    /// A new tensor.
    New,
    /// The first operand.
    InPlace,
    /// Another tensor of the result's shape.
    Into(&'a Tensor),
}

/// The types of an operation: what it computes in and what it gives.
pub(crate) struct Types {
    pub compute: DType,
    pub result: DType,
}

pub(crate) fn types(op: &'static str, class: Class, common: DType, args: &[Arg]) -> Result<Types> {
    let (compute, result) = match class {
        Class::Float => (common.to_float().compute(), common.to_float()),
        Class::Test => (common.compute(), DType::Bool),
        Class::Strict if !common.is_float() => return refuse(op, args, "expected a float dtype"),
        Class::Same if common == DType::Bool => return refuse(op, args, "not defined for bool"),
        Class::Int if common.is_float() => {
            return refuse(op, args, "expected an integer dtype or bool");
        }
        _ => (common.compute(), common),
    };
    Ok(Types { compute, result })
}

#[cold]
fn refuse<T>(op: &'static str, args: &[Arg], expected: &'static str) -> Result<T> {
    Err(Error::dtype(op, &tensors(args), expected))
}

/// The shape that all broadcast to.
pub(crate) fn common_shape(op: &'static str, args: &[Arg]) -> Result<Layout> {
    let mut shape = Layout::scalar();
    let mut before = 0;
    for (i, arg) in args.iter().enumerate() {
        let (sizes, rank) = broadcast(shape.shape(), arg.shape()).map_err(|dim| {
            let describe = |arg: &Arg| match arg {
                Arg::Tensor(t) => Operand::from(*t),
                Arg::Scalar(s) => {
                    Operand { dtype: super::promote::scalar_dtype(*s), shape: (&[][..]).into() }
                }
            };
            let rank = shape.rank().max(arg.shape().len());
            let at = |s: &[i64]| (dim + s.len()).checked_sub(rank).map_or(1, |d| s[d]);
            let (x, y) = (at(shape.shape()), at(arg.shape()));
            Kind::Broadcast { op, a: describe(&args[before]), b: describe(arg), dim, x, y }
        })?;
        if sizes[..rank] != *shape.shape() {
            before = i;
        }
        shape = Layout::contiguous(&sizes[..rank])
            .map_err(|e| Error::size(op, DType::F32, &sizes[..rank], e))?;
    }
    Ok(shape)
}

/// The tensors among operands, for messages.
pub(crate) fn tensors<'a>(args: &[Arg<'a>]) -> Vec<&'a Tensor> {
    args.iter().filter_map(|a| a.tensor()).collect()
}

/// A number as it lies in memory, for kernels that read elements.
fn constant(s: Scalar, compute: DType) -> u64 {
    wick_core::with_compute!(compute, T => {
        let mut bits = [0u8; 8];
        let value = s.to::<T>().to_ne_bytes();
        bits[..value.len()].copy_from_slice(&value);
        u64::from_ne_bytes(bits)
    })
}

/// Brings operands to one shape, makes or checks the target, and runs a kernel on them.
pub(crate) fn run<const N: usize>(
    ctx: &Context,
    op: &'static str,
    types: &Types,
    args: &[Arg; N],
    out: Out,
    kernel: impl FnOnce(&Operands<N>),
) -> Result<Option<Tensor>> {
    let constants = args.map(|arg| match arg {
        Arg::Scalar(s) => constant(s, types.compute),
        Arg::Tensor(_) => 0,
    });
    let place = |i: usize, t: Option<&Tensor>| match t {
        Some(t) => t.place(),
        None => Place { start: (&raw const constants[i]).cast_mut().cast(), dtype: types.compute },
    };
    let given = match out {
        Out::New => None,
        Out::InPlace => args[0].tensor(),
        Out::Into(t) => Some(t),
    };
    if let Some(dense) = dense(args)
        && let Some(aliased) =
            given.map_or(Some(false), |t| alongside(t, types.result, dense, args))
    {
        let write = |target: &Tensor| {
            kernel(&Operands {
                arch: ctx.arch(),
                out: target.place_mut(),
                inputs: std::array::from_fn(|i| place(i, args[i].tensor())),
                aliased,
                nest: Nest::flat(dense.numel(), &constant_flags(args)),
            });
        };
        return match given {
            Some(target) => {
                write(target);
                Ok(None)
            }
            None => {
                let target = Tensor::empty_like(ctx, types.result, dense)?;
                write(&target);
                Ok(Some(target))
            }
        };
    }
    let shape = common_shape(op, args)?;
    let (target, fresh) = match (out, args[0]) {
        (Out::New, _) => (Tensor::empty(ctx, op, types.result, shape.shape())?, true),
        (Out::Into(t), _) | (Out::InPlace, Arg::Tensor(t)) => {
            check_out(op, t, shape.shape(), types.result, &tensors(args))?;
            (t.clone(), false)
        }
        (Out::InPlace, Arg::Scalar(_)) => {
            return Err(Error::internal("a number is no target".into()));
        }
    };
    let mut aliased = false;
    let mut inputs = [const { None }; N];
    for (input, arg) in inputs.iter_mut().zip(args) {
        let Arg::Tensor(t) = arg else { continue };
        let t = t.broadcast_to(op, shape.shape())?;
        let lies = if fresh { Overlap::None } else { overlap(&target, &t) };
        aliased |= lies == Overlap::Exact;
        *input = Some(match lies {
            Overlap::Partial if matches!(out, Out::Into(_)) => {
                let expected = "the target overlaps an operand: clone it first";
                return Err(Error::shape(op, &tensors(args), expected));
            }
            // Values as they were before the call, whatever the order of writing.
            Overlap::Partial => copy_of(ctx, op, &t)?,
            _ => t,
        });
    }
    // A number stretches to any shape that a result has.
    let stretched = Layout::scalar().expand(shape.shape()).unwrap_or(shape);
    let layout = |t: &'_ Option<Tensor>| t.as_ref().map_or(stretched, |t| *t.layout());
    let layouts: [Layout; N] = std::array::from_fn(|i| layout(&inputs[i]));
    let mut all = [target.layout(); MAX_OPERANDS];
    for (to, layout) in all[1..].iter_mut().zip(&layouts) {
        *to = layout;
    }
    kernel(&Operands {
        arch: ctx.arch(),
        out: target.place_mut(),
        inputs: std::array::from_fn(|i| place(i, inputs[i].as_ref())),
        aliased,
        nest: Nest::new(&all[..N + 1]),
    });
    Ok(fresh.then_some(target))
}

/// One of the tensors, where all have the same shape and lie densely.
fn dense<'a>(args: &[Arg<'a>]) -> Option<&'a Tensor> {
    let mut first = None;
    for arg in args {
        let Arg::Tensor(t) = arg else { continue };
        let first = first.get_or_insert(*t);
        if !t.same_shape(first) || !t.layout().is_contiguous() {
            return None;
        }
    }
    first
}

/// Whether a target lies as the dense operands do, so that it can be written in one loop; and then
/// whether it is one of them.
fn alongside(target: &Tensor, result: DType, dense: &Tensor, args: &[Arg]) -> Option<bool> {
    let fits = target.same_shape(dense)
        && target.layout().is_contiguous()
        && !target.is_read_only()
        && can_cast(result, target.dtype());
    let mut aliased = false;
    for t in args.iter().filter_map(|a| a.tensor()) {
        match overlap(target, t) {
            Overlap::None => {}
            Overlap::Exact => aliased = true,
            Overlap::Partial => return None,
        }
    }
    fits.then_some(aliased)
}

/// For each operand of a flat nest, the output first, whether it is a number.
fn constant_flags(args: &[Arg]) -> [bool; MAX_OPERANDS] {
    let mut out = [false; MAX_OPERANDS];
    for (flag, arg) in out[1..].iter_mut().zip(args) {
        *flag = matches!(arg, Arg::Scalar(_));
    }
    out
}

pub(crate) fn copy_of(ctx: &Context, op: &'static str, t: &Tensor) -> Result<Tensor> {
    let copy = Tensor::empty(ctx, op, t.dtype(), t.shape())?;
    copy_values(ctx, &copy, t);
    Ok(copy)
}

/// Rough nanoseconds an element.
fn unary_cost(op: UnaryOp, compute: DType) -> f64 {
    let wide = if compute.size() == 8 { 2.0 } else { 1.0 };
    use UnaryOp::*;
    wide * match op {
        Sin | Cos | Softplus | Mish | Gelu => 2.0,
        Tan | Asin | Acos | Atan | Asinh | Acosh | Atanh | Erfc | Erfinv | Lgamma | Digamma => 15.0,
        _ if matches!(op.class(), Class::Float | Class::Strict) => 0.5,
        _ => 0.3,
    }
}

fn binary_cost(op: BinaryOp, compute: DType) -> f64 {
    let wide = if compute.size() == 8 { 2.0 } else { 1.0 };
    wide * match op {
        BinaryOp::Pow | BinaryOp::Atan2 | BinaryOp::Hypot => 2.0,
        BinaryOp::Fmod | BinaryOp::Remainder | BinaryOp::FloorDivide | BinaryOp::DivTrunc => 2.0,
        _ => 0.3,
    }
}

/// One input.
pub fn unary(
    ctx: &Context,
    op: UnaryOp,
    a: &Tensor,
    p: [f64; 3],
    out: Out,
) -> Result<Option<Tensor>> {
    let args = [Arg::Tensor(a)];
    let types = types(op.name(), op.class(), a.dtype(), &args)?;
    let p = if op == UnaryOp::NanToNum { finite_bounds(types.result, p) } else { p };
    let (compute, cost) = (types.compute, unary_cost(op, types.compute));
    run(ctx, op.name(), &types, &args, out, |operands| {
        ctx.run(&Unary { op, compute, p, operands, cost })
    })
}

/// nan_to_num's replacements, an infinite one standing for the type's extreme.
fn finite_bounds(dtype: DType, p: [f64; 3]) -> [f64; 3] {
    let max = match dtype {
        DType::F64 => f64::MAX,
        DType::F16 => 65504.0,
        DType::BF16 => f64::from(half::bf16::MAX),
        _ => f64::from(f32::MAX),
    };
    p.map(|v| if v.is_infinite() { v.signum() * max } else { v })
}

/// Two inputs, at least one a tensor; `alpha` scales the second of a sum or difference.
pub fn binary(
    ctx: &Context,
    op: BinaryOp,
    args: &[Arg; 2],
    alpha: Option<Scalar>,
    out: Out,
) -> Result<Option<Tensor>> {
    let name = op.name();
    if let Some((root, x)) = root(op, args) {
        return unary(ctx, root, x, [0.0; 3], out);
    }
    let types = types(name, op.class(), result_type(args), args)?;
    let (op, p) = match alpha {
        Some(alpha) if alpha != Scalar::Int(1) => scaled(op, alpha, &types, args)?,
        _ => (op, Scalar::Int(1)),
    };
    if !types.result.is_float() {
        check_integer(ctx, op, args)?;
    }
    let (compute, cost) = (types.compute, binary_cost(op, types.compute));
    if let (BinaryOp::Pow, [a @ Arg::Tensor(_), Arg::Scalar(s)]) = (op, args)
        && compute.is_float()
    {
        // One exponent: what depends on it alone is found out once.
        let (op, p) = (UnaryOp::PowScalar, [s.to(), 0.0, 0.0]);
        return run(ctx, name, &types, &[*a], out, |operands| {
            ctx.run(&Unary { op, compute, p, operands, cost })
        });
    }
    run(ctx, name, &types, args, out, |operands| {
        ctx.run(&Binary { op, compute, p, operands, cost })
    })
}

/// The powers that libtorch computes otherwise, with other values at -0 and -infinity.
fn root<'a>(op: BinaryOp, args: &[Arg<'a>; 2]) -> Option<(UnaryOp, &'a Tensor)> {
    let (BinaryOp::Pow, [Arg::Tensor(x), Arg::Scalar(Scalar::Float(power))]) = (op, args) else {
        return None;
    };
    let root = if *power == 0.5 {
        UnaryOp::Sqrt
    } else if *power == -0.5 {
        UnaryOp::Rsqrt
    } else if *power == -1.0 {
        UnaryOp::Reciprocal
    } else {
        return None;
    };
    Some((root, x))
}

/// a + alpha * b and a - alpha * b as the one scaled row.
fn scaled(op: BinaryOp, alpha: Scalar, types: &Types, args: &[Arg]) -> Result<(BinaryOp, Scalar)> {
    if alpha == Scalar::Float(1.0) {
        return Ok((op, Scalar::Int(1)));
    }
    match alpha {
        Scalar::Float(_) if !types.result.is_float() => {
            return refuse(op.name(), args, "alpha must not be a float for integers");
        }
        Scalar::Bool(_) if types.result != DType::Bool => {
            return refuse(op.name(), args, "a bool alpha is for bool operands");
        }
        _ => {}
    }
    let minus = match alpha {
        Scalar::Int(v) => Scalar::Int(v.wrapping_neg()),
        Scalar::Float(v) => Scalar::Float(-v),
        Scalar::Bool(v) => Scalar::Bool(v),
    };
    match op {
        BinaryOp::Add => Ok((BinaryOp::AddScaled, alpha)),
        BinaryOp::Sub => Ok((BinaryOp::AddScaled, minus)),
        _ => refuse(op.name(), args, "takes no alpha"),
    }
}

/// What integers cannot do: divide by zero, be raised to a negative number.
fn check_integer(ctx: &Context, op: BinaryOp, args: &[Arg; 2]) -> Result<()> {
    use BinaryOp::{DivTrunc, FloorDivide, Fmod, Pow, Remainder};
    let zero = match (op, args[1]) {
        (Pow, Arg::Scalar(Scalar::Int(e))) if e < 0 => {
            let why = format!("integers to the negative power {e}: cast to a float first");
            return Err(Error::dtype("pow", &tensors(args), why));
        }
        (DivTrunc | FloorDivide | Remainder | Fmod, Arg::Scalar(s)) => s.to::<i64>() == 0,
        (DivTrunc | FloorDivide | Remainder | Fmod, Arg::Tensor(t)) => has_zero(ctx, t),
        _ => false,
    };
    if zero {
        return Err(Error::dtype(op.name(), &tensors(args), "integer division by zero"));
    }
    Ok(())
}

fn has_zero(ctx: &Context, t: &Tensor) -> bool {
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    let view = t.view();
    let nest = Nest::new(&[&view.layout]);
    let found = AtomicBool::new(false);
    ctx.for_ranges(nest.numel(), 0.3, &|start, end| {
        let mut buffer = Buffer::<i64>::uninit();
        let mut at = start;
        while at < end {
            let n = (end - at).min(BLOCK as i64);
            // SAFETY: gather writes the whole slice; the tensor keeps its storage.
            let values = unsafe {
                let values = buffer.slice(n as usize);
                gather(ctx.arch(), &view, &nest, 0, at, values);
                values
            };
            if values.contains(&0) {
                found.store(true, Relaxed);
            }
            at += n;
        }
    });
    found.into_inner()
}

/// Three inputs; a missing one is a number.
pub fn ternary(
    ctx: &Context,
    op: TernaryOp,
    args: &[Arg; 3],
    p: Scalar,
    out: Out,
) -> Result<Option<Tensor>> {
    let name = op.name();
    let refuse = |why: &'static str| Err(Error::dtype(name, &tensors(args), why));
    let common = match (op, args[0]) {
        (TernaryOp::Where, Arg::Tensor(c)) if c.dtype() != DType::Bool => {
            return refuse("the condition must be bool");
        }
        // The condition takes no part in promotion.
        (TernaryOp::Where, _) => result_type(&args[1..]),
        _ => result_type(args),
    };
    let types = types(name, op.class(), common, args)?;
    if let (Scalar::Float(_), false) = (p, types.result.is_float()) {
        return refuse("a float value needs a float dtype");
    }
    let compute = types.compute;
    run(ctx, name, &types, args, out, |operands| {
        ctx.run(&Ternary { op, compute, p, operands, cost: 0.5 })
    })
}

/// All elements in another dtype; a new tensor even where the dtype is the same.
pub fn cast(ctx: &Context, a: &Tensor, dtype: DType) -> Result<Tensor> {
    let out = Tensor::empty(ctx, "to", dtype, a.shape())?;
    copy_values(ctx, &out, a);
    Ok(out)
}

/// `dst` takes `src`'s values, cast and broadcast.
pub fn copy(ctx: &Context, dst: &Tensor, src: &Tensor) -> Result<()> {
    let fits = src.broadcast_to("copy_", dst.shape());
    let src = fits.map_err(|_| {
        Error::shape("copy_", &[dst, src], "the source does not broadcast to the target")
    })?;
    check_writable("copy_", dst, &[])?;
    match overlap(dst, &src) {
        Overlap::Exact => {}
        Overlap::Partial => copy_values(ctx, dst, &copy_of(ctx, "copy_", &src)?),
        Overlap::None => copy_values(ctx, dst, &src),
    }
    Ok(())
}

/// Writes all values of a tensor of the same shape that shares no bytes; any two dtypes.
pub(crate) fn copy_values(ctx: &Context, dst: &Tensor, src: &Tensor) {
    let from = src.view();
    let operands = Operands::new(ctx.arch(), dst.view_over(), [from], false);
    ctx.run(&wick_core::kernels::copy::Copy::new(operands));
}
