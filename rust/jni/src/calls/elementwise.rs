//! Unary, binary, ternary operations, casts and copies.

use jni::objects::JClass;
use jni::sys::{jboolean, jdouble, jint, jlong};
use jni::{EnvUnowned, NativeMethod, native_method};
use wick_core::ops::{BinaryOp, TernaryOp, UnaryOp};
use wick_runtime::device;
use wick_runtime::ops::elementwise;
use wick_runtime::ops::promote::Arg;

use super::sparse;
use crate::boundary::{operation, operation_or};
use crate::runtime::{Target, dtype, no_op, runtime, scalar};

pub const METHODS: &[NativeMethod<'static>] = &[
    native_method! { static raw fn unary(op: jint, a: jlong, p0: jdouble, p1: jdouble, p2: jdouble, out: jlong) -> jlong },
    native_method! { static raw fn binary(op: jint, a: jlong, b: jlong, alpha_kind: jint, alpha_bits: jlong, out: jlong) -> jlong },
    native_method! { static raw fn binary_scalar(op: jint, a: jlong, kind: jint, bits: jlong, reversed: jboolean, alpha_kind: jint, alpha_bits: jlong, out: jlong) -> jlong },
    native_method! { static raw fn ternary(op: jint, a: jlong, b: jlong, c: jlong, kind: jint, bits: jlong, out: jlong) -> jlong },
    native_method! { static raw fn cast(a: jlong, dtype: jint) -> jlong },
    native_method! { static raw fn copy(dst: jlong, src: jlong) -> () },
];

pub fn unary_code(name: &str) -> Option<i32> {
    UnaryOp::from_name(name).map(|op| op as i32)
}

pub fn binary_code(name: &str) -> Option<i32> {
    BinaryOp::from_name(name).map(|op| op as i32)
}

pub fn ternary_code(name: &str) -> Option<i32> {
    TernaryOp::from_name(name).map(|op| op as i32)
}

#[allow(clippy::too_many_arguments)]
fn unary(
    env: EnvUnowned,
    _: JClass,
    op: jint,
    a: jlong,
    p0: jdouble,
    p1: jdouble,
    p2: jdouble,
    out: jlong,
) -> jlong {
    operation_or(
        env,
        move || {
            let rt = runtime();
            let op = UnaryOp::from_code(op).ok_or_else(|| no_op(op))?;
            let x = rt.pin(op.name(), a)?;
            let target = Target::of(op.name(), a, out)?;
            let result = elementwise::unary(&rt.ctx, op, &x, [p0, p1, p2], target.out())?;
            rt.give(result, Some(&x), None)
        },
        move || {
            let op = UnaryOp::from_code(op).ok_or_else(|| no_op(op))?;
            sparse::unary(op, a, [p0, p1, p2], out)
        },
    )
}

#[allow(clippy::too_many_arguments)]
fn binary(
    env: EnvUnowned,
    _: JClass,
    op: jint,
    a: jlong,
    b: jlong,
    alpha_kind: jint,
    alpha_bits: jlong,
    out: jlong,
) -> jlong {
    operation_or(
        env,
        move || {
            let rt = runtime();
            let op = BinaryOp::from_code(op).ok_or_else(|| no_op(op))?;
            let (x, y) = (rt.pin(op.name(), a)?, rt.pin(op.name(), b)?);
            let target = Target::of(op.name(), a, out)?;
            let alpha = Some(scalar(alpha_kind, alpha_bits));
            let result = elementwise::binary(
                &rt.ctx,
                op,
                &[Arg::Tensor(&x), Arg::Tensor(&y)],
                alpha,
                target.out(),
            )?;
            rt.give(result, Some(&x), Some(&y))
        },
        move || {
            let op = BinaryOp::from_code(op).ok_or_else(|| no_op(op))?;
            sparse::binary(op, a, b, scalar(alpha_kind, alpha_bits), out)
        },
    )
}

#[allow(clippy::too_many_arguments)]
fn binary_scalar(
    env: EnvUnowned,
    _: JClass,
    op: jint,
    a: jlong,
    kind: jint,
    bits: jlong,
    reversed: jboolean,
    alpha_kind: jint,
    alpha_bits: jlong,
    out: jlong,
) -> jlong {
    operation_or(
        env,
        move || {
            let rt = runtime();
            let op = BinaryOp::from_code(op).ok_or_else(|| no_op(op))?;
            let x = rt.pin(op.name(), a)?;
            let target = Target::of(op.name(), a, out)?;
            let alpha = Some(scalar(alpha_kind, alpha_bits));
            let (tensor, number) = (Arg::Tensor(&x), Arg::Scalar(scalar(kind, bits)));
            let (left, right) = if reversed { (number, tensor) } else { (tensor, number) };
            let result = elementwise::binary(&rt.ctx, op, &[left, right], alpha, target.out())?;
            rt.give(result, Some(&x), None)
        },
        move || {
            let op = BinaryOp::from_code(op).ok_or_else(|| no_op(op))?;
            sparse::binary_scalar(op, a, scalar(kind, bits), reversed, out)
        },
    )
}

#[allow(clippy::too_many_arguments)]
fn ternary(
    env: EnvUnowned,
    _: JClass,
    op: jint,
    a: jlong,
    b: jlong,
    c: jlong,
    kind: jint,
    bits: jlong,
    out: jlong,
) -> jlong {
    operation(env, move || {
        let rt = runtime();
        let op = TernaryOp::from_code(op).ok_or_else(|| no_op(op))?;
        let name = op.name();
        let (x, y, z) = (rt.pin(name, a)?, rt.pin_some(name, b)?, rt.pin_some(name, c)?);
        let target = Target::of(name, a, out)?;
        let value = scalar(kind, bits);
        let args = [Some(&*x), y.as_deref(), z.as_deref()];
        let args = args.map(|t| t.map_or(Arg::Scalar(value), Arg::Tensor));
        let result = elementwise::ternary(&rt.ctx, op, &args, value, target.out())?;
        rt.give(result, Some(&x), y.as_deref())
    })
}

fn cast(env: EnvUnowned, _: JClass, a: jlong, code: jint) -> jlong {
    operation_or(
        env,
        move || {
            let rt = runtime();
            let x = rt.pin("to", a)?;
            let result = elementwise::cast(&rt.ctx, &x, dtype("to", code)?)?;
            rt.give(Some(result), Some(&x), None)
        },
        move || sparse::cast(a, dtype("to", code)?),
    )
}

fn copy(env: EnvUnowned, _: JClass, dst: jlong, src: jlong) {
    operation(env, move || {
        let (rt, op) = (runtime(), "copy_");
        let (to, from) = (rt.look(op, dst)?, rt.look(op, src)?);
        if to.device() != from.device() {
            return device::copy_between(&rt.ctx.host, op, &to, &from);
        }
        elementwise::copy(&rt.ctx, &*rt.pin(op, dst)?, &from)
    })
}
