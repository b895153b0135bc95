//! Unary, binary and ternary operations, casts and copies.

use wick_core::block::Operands;
use wick_core::kernels::elementwise::{Binary, Scalar, Ternary, Unary};
use wick_core::layout::broadcast;
use wick_core::ops::{BinaryOp, Class, TernaryOp, UnaryOp};
use wick_core::{DType, Layout, View};

use crate::context::Context;
use crate::error::{Error, Operand, Result};
use crate::ops::promote::{Arg, Overlap, check_out, overlap, result_type};
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
struct Types {
    compute: DType,
    result: DType,
}

fn types(op: &'static str, class: Class, common: DType, operands: &[&Tensor]) -> Result<Types> {
    let same = |dtype: DType| {
        Ok(Types {
            compute: dtype.compute(),
            result: dtype,
        })
    };
    let refuse = |expected: &'static str| Err(Error::dtype(op, operands, expected));
    match class {
        Class::Float => same(common.to_float()),
        Class::Strict if !common.is_float() => refuse("expected a float dtype"),
        Class::Same if common == DType::Bool => refuse("not defined for bool"),
        Class::Int if common.is_float() => refuse("expected an integer dtype or bool"),
        Class::Test => Ok(Types {
            compute: common.compute(),
            result: DType::Bool,
        }),
        _ => same(common),
    }
}

/// The shape that all broadcast to.
fn common_shape(op: &'static str, args: &[Arg]) -> Result<Layout> {
    let mut shape = Layout::scalar();
    let mut before = 0;
    for (i, arg) in args.iter().enumerate() {
        let (sizes, rank) = broadcast(shape.shape(), arg.shape()).map_err(|dim| {
            let describe = |arg: &Arg| match arg {
                Arg::Tensor(t) => Operand::from(*t),
                Arg::Scalar(s) => Operand {
                    dtype: super::promote::scalar_dtype(*s),
                    shape: (&[][..]).into(),
                },
            };
            let rank = shape.rank().max(arg.shape().len());
            let at = |s: &[i64]| (dim + s.len()).checked_sub(rank).map_or(1, |d| s[d]);
            let (x, y) = (at(shape.shape()), at(arg.shape()));
            Error::Broadcast {
                op,
                a: describe(&args[before]),
                b: describe(arg),
                dim,
                x,
                y,
            }
        })?;
        if sizes[..rank] != *shape.shape() {
            before = i;
        }
        shape = Layout::contiguous(&sizes[..rank])
            .map_err(|e| Error::size(op, DType::F32, &sizes[..rank], e))?;
    }
    Ok(shape)
}

/// A number as it lies in memory, for kernels that read views.
struct Constant {
    bits: u64,
    dtype: DType,
}

impl Constant {
    fn new(s: Scalar, compute: DType) -> Constant {
        let bits = wick_core::with_compute!(compute, T => {
            let mut bits = [0u8; 8];
            let value = s.to::<T>().to_ne_bytes();
            bits[..value.len()].copy_from_slice(&value);
            u64::from_ne_bytes(bits)
        });
        Constant {
            bits,
            dtype: compute,
        }
    }
}

/// The target of an operation and its operands, brought to one shape.
struct Prepared<const N: usize> {
    target: Tensor,
    fresh: bool,
    constants: [Option<Constant>; N],
    tensors: [Option<Tensor>; N],
    aliased: bool,
}

impl<const N: usize> Prepared<N> {
    fn new(
        ctx: &Context,
        op: &'static str,
        types: &Types,
        args: [Arg; N],
        out: Out,
    ) -> Result<Self> {
        let shape = common_shape(op, &args)?;
        let inputs: Vec<&Tensor> = args.iter().filter_map(|a| a.tensor()).collect();
        let (target, fresh) = match (out, args[0]) {
            (Out::New, _) => (Tensor::empty(ctx, op, types.result, shape.shape())?, true),
            (Out::Into(t), _) | (Out::InPlace, Arg::Tensor(t)) => {
                check_out(op, t, shape.shape(), types.result, &inputs)?;
                (t.clone(), false)
            }
            (Out::InPlace, Arg::Scalar(_)) => {
                return Err(Error::Internal("a number is no target".into()));
            }
        };
        let mut aliased = false;
        let mut tensors = [const { None }; N];
        let mut constants = [const { None }; N];
        for (i, arg) in args.iter().enumerate() {
            match arg {
                Arg::Scalar(s) => constants[i] = Some(Constant::new(*s, types.compute)),
                Arg::Tensor(t) => {
                    let t = t.broadcast_to(op, shape.shape())?;
                    let lies = if fresh {
                        Overlap::None
                    } else {
                        overlap(&target, &t)
                    };
                    aliased |= lies == Overlap::Exact;
                    tensors[i] = Some(match lies {
                        Overlap::Partial if matches!(out, Out::Into(_)) => {
                            return Err(Error::shape(
                                op,
                                &inputs,
                                "the target overlaps an operand: clone it first",
                            ));
                        }
                        // Values as they were before the call, whatever the order of writing.
                        Overlap::Partial => copy_of(ctx, op, &t)?,
                        _ => t,
                    });
                }
            }
        }
        Ok(Prepared {
            target,
            fresh,
            constants,
            tensors,
            aliased,
        })
    }

    fn operands(&self, ctx: &Context) -> Operands<N> {
        let scalar = self.target.layout().shape();
        let views = std::array::from_fn(|i| match (&self.tensors[i], &self.constants[i]) {
            (Some(t), _) => t.view(),
            (None, Some(c)) => View {
                ptr: (&raw const c.bits).cast(),
                dtype: c.dtype,
                // A scalar stretches to any shape of valid sizes.
                layout: Layout::scalar().expand(scalar).unwrap_or(Layout::scalar()),
            },
            (None, None) => unreachable!("each operand is a tensor or a number"),
        });
        Operands::new(ctx.arch(), self.target.view_mut(), views, self.aliased)
    }

    fn done(self) -> Option<Tensor> {
        self.fresh.then_some(self.target)
    }
}

fn copy_of(ctx: &Context, op: &'static str, t: &Tensor) -> Result<Tensor> {
    let copy = Tensor::empty(ctx, op, t.dtype(), t.shape())?;
    copy_values(ctx, &copy, t);
    Ok(copy)
}

/// Rough nanoseconds an element.
fn unary_cost(op: UnaryOp, compute: DType) -> f64 {
    let wide = if compute.size() == 8 { 2.0 } else { 1.0 };
    wide * match (op.class(), op) {
        (
            Class::Float | Class::Strict,
            UnaryOp::Sqrt | UnaryOp::Rsqrt | UnaryOp::Reciprocal | UnaryOp::LeakyRelu,
        ) => 0.4,
        (Class::Float | Class::Strict, _) => 2.0,
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
    let types = types(op.name(), op.class(), a.dtype(), &[a])?;
    let prepared = Prepared::new(ctx, op.name(), &types, [Arg::Tensor(a)], out)?;
    let p = if op == UnaryOp::NanToNum {
        finite_bounds(types.result, p)
    } else {
        p
    };
    let operands = prepared.operands(ctx);
    ctx.run(&Unary {
        op,
        compute: types.compute,
        p,
        operands,
        cost: unary_cost(op, types.compute),
    });
    Ok(prepared.done())
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
    a: Arg,
    b: Arg,
    alpha: Option<Scalar>,
    out: Out,
) -> Result<Option<Tensor>> {
    let name = op.name();
    let operands: Vec<&Tensor> = [a, b].iter().filter_map(|x| x.tensor()).collect();
    let types = types(name, op.class(), result_type(&[a, b]), &operands)?;
    let (op, p) = scaled(op, alpha, &types, &operands)?;
    check_integer(ctx, op, b, &types, &operands)?;
    let prepared = Prepared::new(ctx, name, &types, [a, b], out)?;
    let operands = prepared.operands(ctx);
    ctx.run(&Binary {
        op,
        compute: types.compute,
        p,
        operands,
        cost: binary_cost(op, types.compute),
    });
    Ok(prepared.done())
}

/// a + alpha * b and a - alpha * b as the one scaled row.
fn scaled(
    op: BinaryOp,
    alpha: Option<Scalar>,
    types: &Types,
    operands: &[&Tensor],
) -> Result<(BinaryOp, Scalar)> {
    let one = Scalar::Int(1);
    let Some(alpha) = alpha.filter(|a| *a != one && *a != Scalar::Float(1.0)) else {
        return Ok((op, one));
    };
    let refuse = |why: &'static str| Err(Error::dtype(op.name(), operands, why));
    match alpha {
        Scalar::Float(_) if !types.result.is_float() => {
            return refuse("alpha must not be a float for integers");
        }
        Scalar::Bool(_) if types.result != DType::Bool => {
            return refuse("a bool alpha is for bool operands");
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
        _ => refuse("takes no alpha"),
    }
}

/// What integers cannot do: divide by zero, be raised to a negative number.
fn check_integer(
    ctx: &Context,
    op: BinaryOp,
    b: Arg,
    types: &Types,
    operands: &[&Tensor],
) -> Result<()> {
    use BinaryOp::{DivTrunc, FloorDivide, Fmod, Pow, Remainder};
    if types.result.is_float() {
        return Ok(());
    }
    let zero = match (op, b) {
        (Pow, Arg::Scalar(Scalar::Int(e))) if e < 0 => {
            return Err(Error::dtype(
                "pow",
                operands,
                format!("integers to the negative power {e}: cast to a float first"),
            ));
        }
        (DivTrunc | FloorDivide | Remainder | Fmod, Arg::Scalar(s)) => s.to::<i64>() == 0,
        (DivTrunc | FloorDivide | Remainder | Fmod, Arg::Tensor(t)) => has_zero(ctx, t)?,
        _ => false,
    };
    if zero {
        return Err(Error::dtype(
            op.name(),
            operands,
            "integer division by zero",
        ));
    }
    Ok(())
}

fn has_zero(ctx: &Context, t: &Tensor) -> Result<bool> {
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    let view = t.view();
    let nest = wick_core::Nest::new(&[&view.layout]);
    let found = AtomicBool::new(false);
    ctx.for_ranges(nest.numel(), 0.3, &|start, end| {
        let mut buffer = wick_core::block::Buffer::<i64>::default();
        let mut at = start;
        while at < end {
            let n = (end - at).min(wick_core::block::BLOCK as i64);
            // SAFETY: gather writes the whole slice; the tensor keeps its storage.
            let values = unsafe {
                let values = buffer.slice(n as usize);
                wick_core::block::gather(ctx.arch(), &view, &nest, 0, at, values);
                values
            };
            if values.contains(&0) {
                found.store(true, Relaxed);
            }
            at += n;
        }
    });
    Ok(found.into_inner())
}

/// Three inputs; a missing one is a number.
pub fn ternary(
    ctx: &Context,
    op: TernaryOp,
    args: [Arg; 3],
    p: Scalar,
    out: Out,
) -> Result<Option<Tensor>> {
    let name = op.name();
    let operands: Vec<&Tensor> = args.iter().filter_map(|x| x.tensor()).collect();
    // The condition and a weight tensor take no part in promotion.
    let common = match op {
        TernaryOp::Where => {
            match args[0] {
                Arg::Tensor(c) if c.dtype() != DType::Bool => {
                    return Err(Error::dtype(name, &operands, "the condition must be bool"));
                }
                _ => {}
            }
            result_type(&args[1..])
        }
        _ => result_type(&args),
    };
    let types = types(name, op.class(), common, &operands)?;
    if let (Scalar::Float(_), false) = (p, types.result.is_float()) {
        return Err(Error::dtype(
            name,
            &operands,
            "a float value needs a float dtype",
        ));
    }
    let prepared = Prepared::new(ctx, name, &types, args, out)?;
    let operands = prepared.operands(ctx);
    ctx.run(&Ternary {
        op,
        compute: types.compute,
        p,
        operands,
        cost: 0.5,
    });
    Ok(prepared.done())
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
        Error::shape(
            "copy_",
            &[dst, src],
            "the source does not broadcast to the target",
        )
    })?;
    if dst.layout().overlaps_itself() {
        return Err(Error::shape(
            "copy_",
            &[dst],
            "elements of the target share a place in memory: clone it first",
        ));
    }
    match overlap(dst, &src) {
        Overlap::Exact => {}
        Overlap::Partial => copy_values(ctx, dst, &copy_of(ctx, "copy_", &src)?),
        Overlap::None => copy_values(ctx, dst, &src),
    }
    Ok(())
}

/// Writes all values of a tensor of the same shape that shares no bytes; any two dtypes.
pub(crate) fn copy_values(ctx: &Context, dst: &Tensor, src: &Tensor) {
    let operands = Operands::new(ctx.arch(), dst.view_mut(), [src.view()], false);
    ctx.run(&wick_core::kernels::copy::Copy::new(operands));
}
