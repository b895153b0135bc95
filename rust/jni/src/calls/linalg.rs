//! Dense linear algebra.

use jni::objects::{JClass, JLongArray, JString};
use jni::sys::{jdouble, jint, jlong};
use jni::{EnvUnowned, NativeMethod, native_method};
use wick_runtime::Tensor;
use wick_runtime::ops::linalg::{self, LinalgOp};

use crate::array::{all_longs, got};
use crate::boundary::{operation_all, operation_env};
use crate::runtime::{no_op, runtime};

pub const METHODS: &[NativeMethod<'static>] = &[
    native_method! { static raw fn linalg(op: jint, operands: jlong[], p: jlong[], x: jdouble, y: jdouble, results: jlong[]) -> () },
    native_method! { static raw fn einsum(equation: JString, operands: jlong[]) -> jlong },
];

pub fn code(name: &str) -> Option<i32> {
    LinalgOp::from_name(name).map(|op| op as i32)
}

#[allow(clippy::too_many_arguments)]
fn linalg<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    op: jint,
    operands: JLongArray<'l>,
    p: JLongArray<'l>,
    x: jdouble,
    y: jdouble,
    results: JLongArray<'l>,
) {
    let (operands, numbers) = (all_longs(&env, &operands), all_longs(&env, &p));
    operation_all(env, &results, move || {
        let rt = runtime();
        let op = LinalgOp::from_code(op).ok_or_else(|| no_op(op))?;
        let pins = rt.pin_all(op.name(), got(&operands)?)?;
        let tensors: Vec<&Tensor> = pins.iter().map(|t| &**t).collect();
        let made = linalg::linalg(&rt.ctx, op, &tensors, got(&numbers)?, &[x, y])?;
        Ok(made.into_iter().map(Some).collect())
    })
}

fn einsum<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    equation: JString<'l>,
    operands: JLongArray<'l>,
) -> jlong {
    let handles = all_longs(&env, &operands);
    operation_env(env, |env| {
        let (equation, handles) = (equation.try_to_string(env)?, handles?);
        Ok(move || {
            let rt = runtime();
            let pins = rt.pin_all("einsum", &handles)?;
            let tensors: Vec<&Tensor> = pins.iter().map(|t| &**t).collect();
            let result = linalg::einsum(&rt.ctx, &equation, &tensors)?;
            rt.give(Some(result), tensors.first().copied(), None)
        })
    })
}
