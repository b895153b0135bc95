//! Dense linear algebra.

use jni::objects::{JClass, JLongArray, JString};
use jni::sys::{jdouble, jint, jlong};
use jni::{EnvUnowned, NativeMethod, native_method};
use wick_runtime::Tensor;
use wick_runtime::ops::linalg::{self, LinalgOp};

use crate::array::{all_longs, same, write_longs};
use crate::boundary::{boundary, boundary_env};
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
    let inner = same(&env);
    boundary(env, || {
        let rt = runtime();
        let op = LinalgOp::from_code(op).ok_or_else(|| no_op(op))?;
        let pins = rt.pin_all(op.name(), &all_longs(&inner, &operands)?)?;
        let tensors: Vec<&Tensor> = pins.iter().map(|t| &**t).collect();
        let numbers = all_longs(&inner, &p)?;
        let made = linalg::linalg(&rt.ctx, op, &tensors, &numbers, &[x, y])?;
        let mut handles = Vec::with_capacity(made.len());
        let owned = made.into_iter().try_for_each(|t| {
            handles.push(rt.own(t)?);
            Ok(())
        });
        owned.and_then(|()| write_longs(&inner, &results, &handles)).inspect_err(|_| {
            handles.iter().for_each(|h| {
                rt.tensors.close(*h);
            });
        })
    })
}

fn einsum<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    equation: JString<'l>,
    operands: JLongArray<'l>,
) -> jlong {
    let inner = same(&env);
    boundary_env(env, |env| {
        let equation = equation.try_to_string(env)?;
        let rt = runtime();
        let pins = rt.pin_all("einsum", &all_longs(&inner, &operands)?)?;
        let tensors: Vec<&Tensor> = pins.iter().map(|t| &**t).collect();
        let result = linalg::einsum(&rt.ctx, &equation, &tensors)?;
        Ok(rt.give(Some(result), tensors.first().copied(), None)?)
    })
}
