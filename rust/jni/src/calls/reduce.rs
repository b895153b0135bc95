//! Reductions, softmax and running reductions.

use jni::objects::{JClass, JLongArray};
use jni::sys::{jboolean, jdouble, jint, jlong};
use jni::{EnvUnowned, NativeMethod, native_method};
use wick_core::kernels::cumulative::CumulativeOp;
use wick_core::kernels::reduce::ReduceOp;
use wick_runtime::ops::cumulative::cumulative;
use wick_runtime::ops::reduce::{self, Over};
use wick_runtime::ops::softmax::softmax;

use super::sparse;
use crate::array::{got, longs_some};
use crate::boundary::{operation, operation_all, operation_or};
use crate::runtime::{Target, dtype_some, no_op, runtime};

pub const METHODS: &[NativeMethod<'static>] = &[
    native_method! { static raw fn reduce(op: jint, a: jlong, dims: jlong[], keep_dim: jboolean, dtype: jint, correction: jdouble, out: jlong) -> jlong },
    native_method! { static raw fn reduce_pair(op: jint, a: jlong, dims: jlong[], keep_dim: jboolean, correction: jdouble, results: jlong[]) -> () },
    native_method! { static raw fn along(op: jint, a: jlong, dim: jlong, dtype: jint) -> jlong },
];

pub fn reduce_code(name: &str) -> Option<i32> {
    ReduceOp::from_name(name).map(|op| op as i32)
}

const SOFTMAX: [&str; 2] = ["softmax", "log_softmax"];

/// The running reductions, then [`SOFTMAX`].
pub fn along_code(name: &str) -> Option<i32> {
    let running = CumulativeOp::from_name(name).map(|op| op as i32);
    let softmax = SOFTMAX.iter().position(|n| *n == name);
    running.or(softmax.map(|i| (CumulativeOp::ALL.len() + i) as i32))
}

#[allow(clippy::too_many_arguments)]
fn reduce<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    op: jint,
    a: jlong,
    dims: JLongArray<'l>,
    keep_dim: jboolean,
    dtype: jint,
    correction: jdouble,
    out: jlong,
) -> jlong {
    let dims = longs_some(&env, &dims);
    let again = dims.clone();
    operation_or(
        env,
        move || {
            let rt = runtime();
            let op = ReduceOp::from_code(op).ok_or_else(|| no_op(op))?;
            let x = rt.pin(op.name(), a)?;
            let over = Over { dims: got(&dims)?.as_deref(), keep_dim };
            let target = Target::of(op.name(), a, out)?;
            let dtype = dtype_some(op.name(), dtype)?;
            let result = reduce::reduce(&rt.ctx, op, &x, over, dtype, correction, target.out())?;
            rt.give(result, Some(&x), None)
        },
        move || {
            let op = ReduceOp::from_code(op).ok_or_else(|| no_op(op))?;
            sparse::reduce(op, a, Over { dims: got(&again)?.as_deref(), keep_dim }, dtype, out)
        },
    )
}

#[allow(clippy::too_many_arguments)]
fn reduce_pair<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    op: jint,
    a: jlong,
    dims: JLongArray<'l>,
    keep_dim: jboolean,
    correction: jdouble,
    results: JLongArray<'l>,
) {
    let dims = longs_some(&env, &dims);
    operation_all(env, &results, move || {
        let rt = runtime();
        let op = ReduceOp::from_code(op).ok_or_else(|| no_op(op))?;
        let x = rt.pin(op.name(), a)?;
        let over = Over { dims: got(&dims)?.as_deref(), keep_dim };
        let (first, second) = reduce::reduce_pair(&rt.ctx, op, &x, over, correction)?;
        Ok(vec![Some(first), Some(second)])
    })
}

fn along(env: EnvUnowned, _: JClass, op: jint, a: jlong, dim: jlong, dtype: jint) -> jlong {
    operation(env, move || {
        let rt = runtime();
        let result;
        let x;
        if let Some(op) = CumulativeOp::from_code(op) {
            x = rt.pin(op.name(), a)?;
            result = cumulative(&rt.ctx, op, &x, dim, dtype_some(op.name(), dtype)?)?;
        } else {
            let which = usize::try_from(op).map_err(|_| no_op(op))? - CumulativeOp::ALL.len();
            let name = SOFTMAX.get(which).ok_or_else(|| no_op(op))?;
            x = rt.pin(name, a)?;
            result = softmax(&rt.ctx, which == 1, &x, dim, dtype_some(name, dtype)?)?;
        }
        rt.give(Some(result), Some(&x), None)
    })
}
