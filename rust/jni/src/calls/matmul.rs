//! Matrix products.

use jni::objects::JClass;
use jni::sys::{jint, jlong};
use jni::{EnvUnowned, NativeMethod, native_method};
use wick_runtime::ops::matmul::{self as product, AddmmOp, MatmulOp};

use super::sparse;
use crate::boundary::operation_or;
use crate::runtime::{Target, no_op, runtime, scalar};

pub const METHODS: &[NativeMethod<'static>] = &[
    native_method! { static raw fn matmul(op: jint, a: jlong, b: jlong, out: jlong) -> jlong },
    native_method! { static raw fn addmm(op: jint, c: jlong, a: jlong, b: jlong, beta_kind: jint, beta_bits: jlong, alpha_kind: jint, alpha_bits: jlong, out: jlong) -> jlong },
];

pub fn matmul_code(name: &str) -> Option<i32> {
    MatmulOp::from_name(name).map(|op| op as i32)
}

pub fn addmm_code(name: &str) -> Option<i32> {
    AddmmOp::from_name(name).map(|op| op as i32)
}

fn matmul(env: EnvUnowned, _: JClass, op: jint, a: jlong, b: jlong, out: jlong) -> jlong {
    operation_or(
        env,
        move || {
            let rt = runtime();
            let op = MatmulOp::from_code(op).ok_or_else(|| no_op(op))?;
            let (x, y) = (rt.pin(op.name(), a)?, rt.pin(op.name(), b)?);
            let target = rt.pin_some(op.name(), out)?;
            let result = product::matmul(&rt.ctx, op, &x, &y, target.as_deref())?;
            rt.give(result, Some(&x), Some(&y))
        },
        move || {
            let op = MatmulOp::from_code(op).ok_or_else(|| no_op(op))?;
            sparse::matmul(op, a, b, out)
        },
    )
}

#[allow(clippy::too_many_arguments)]
fn addmm(
    env: EnvUnowned,
    _: JClass,
    op: jint,
    c: jlong,
    a: jlong,
    b: jlong,
    beta_kind: jint,
    beta_bits: jlong,
    alpha_kind: jint,
    alpha_bits: jlong,
    out: jlong,
) -> jlong {
    operation_or(
        env,
        move || {
            let rt = runtime();
            let op = AddmmOp::from_code(op).ok_or_else(|| no_op(op))?;
            let name = op.name();
            let (z, x, y) = (rt.pin(name, c)?, rt.pin(name, a)?, rt.pin(name, b)?);
            let target = Target::of(name, c, out)?;
            let (beta, alpha) = (scalar(beta_kind, beta_bits), scalar(alpha_kind, alpha_bits));
            let result = product::addmm(&rt.ctx, op, &z, &x, &y, beta, alpha, target.out())?;
            rt.give(result, Some(&z), Some(&x))
        },
        move || {
            let op = AddmmOp::from_code(op).ok_or_else(|| no_op(op))?;
            let (beta, alpha) = (scalar(beta_kind, beta_bits), scalar(alpha_kind, alpha_bits));
            sparse::addmm(op, c, a, b, beta, alpha, out)
        },
    )
}
