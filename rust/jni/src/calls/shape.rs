//! Views, rearrangements, joins.

use jni::objects::{JClass, JLongArray};
use jni::sys::{jint, jlong};
use jni::{EnvUnowned, NativeMethod, native_method};
use wick_runtime::ops::join;
use wick_runtime::ops::shape::{IndexKind, ShapeOp, apply};
use wick_runtime::{Context, Result, Tensor};

use super::sparse;
use crate::array::{all_longs, got, longs};
use crate::boundary::{operation, operation_or};
use crate::runtime::{no_op, runtime};

pub const METHODS: &[NativeMethod<'static>] = &[
    native_method! { static raw fn view(op: jint, a: jlong, p: jlong, q: jlong, r: jlong, s: jlong) -> jlong },
    native_method! { static raw fn view_list(op: jint, a: jlong, list: jlong[]) -> jlong },
    native_method! { static raw fn cat(tensors: jlong[], dim: jlong, out: jlong) -> jlong },
    native_method! { static raw fn stack(tensors: jlong[], dim: jlong, out: jlong) -> jlong },
];

pub fn code(name: &str) -> Option<i32> {
    ShapeOp::from_name(name).map(|op| op as i32)
}

pub fn index_kind(name: &str) -> Option<i32> {
    IndexKind::from_name(name).map(|kind| kind as i32)
}

fn run(code: jint, a: jlong, numbers: &[i64]) -> Result<jlong> {
    let rt = runtime();
    let op = ShapeOp::from_code(code).ok_or_else(|| no_op(code))?;
    let x = rt.pin(op.name(), a)?;
    rt.give(apply(&rt.ctx, op, &x, numbers)?, Some(&x), None)
}

#[allow(clippy::too_many_arguments)]
fn view(
    env: EnvUnowned,
    _: JClass,
    op: jint,
    a: jlong,
    p: jlong,
    q: jlong,
    r: jlong,
    s: jlong,
) -> jlong {
    operation_or(
        env,
        move || run(op, a, &[p, q, r, s]),
        move || sparse::view(ShapeOp::from_code(op).ok_or_else(|| no_op(op))?, a, &[p, q]),
    )
}

fn view_list<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    op: jint,
    a: jlong,
    list: JLongArray<'l>,
) -> jlong {
    let numbers = longs(&env, &list);
    operation(env, move || run(op, a, got(&numbers)?))
}

type Join = fn(&Context, &[&Tensor], i64, Option<&Tensor>) -> Result<Option<Tensor>>;

fn joined(op: &'static str, join: Join, handles: &[i64], dim: jlong, out: jlong) -> Result<jlong> {
    let rt = runtime();
    let pins = rt.pin_all(op, handles)?;
    let tensors: Vec<&Tensor> = pins.iter().map(|p| &**p).collect();
    let target = rt.pin_some(op, out)?;
    let result = join(&rt.ctx, &tensors, dim, target.as_deref())?;
    rt.give(result, tensors.first().copied(), None)
}

fn cat<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    tensors: JLongArray<'l>,
    dim: jlong,
    out: jlong,
) -> jlong {
    let handles = all_longs(&env, &tensors);
    operation(env, move || joined("cat", join::cat, got(&handles)?, dim, out))
}

fn stack<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    tensors: JLongArray<'l>,
    dim: jlong,
    out: jlong,
) -> jlong {
    let handles = all_longs(&env, &tensors);
    operation(env, move || joined("stack", join::stack, got(&handles)?, dim, out))
}
