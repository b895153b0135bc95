//! Tensors from nothing, and filling.

use jni::objects::{JClass, JLongArray};
use jni::sys::{jint, jlong};
use jni::{EnvUnowned, NativeMethod, native_method};
use wick_runtime::{Tensor, ops::creation};

use crate::array::longs;
use crate::boundary::boundary;
use crate::runtime::{dtype, runtime, scalar};

pub const METHODS: &[NativeMethod<'static>] = &[
    native_method! { static raw fn full(dtype: jint, shape: jlong[], kind: jint, bits: jlong) -> jlong },
    native_method! { static raw fn empty(dtype: jint, shape: jlong[]) -> jlong },
    native_method! { static raw fn fill(a: jlong, kind: jint, bits: jlong) -> () },
];

fn full<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    code: jint,
    shape: JLongArray<'l>,
    kind: jint,
    bits: jlong,
) -> jlong {
    let sizes = longs(&env, &shape);
    boundary(env, || {
        let rt = runtime();
        rt.own(creation::full(
            &rt.ctx,
            dtype("full", code)?,
            &sizes?,
            scalar(kind, bits),
        )?)
    })
}

fn empty<'l>(env: EnvUnowned<'l>, _: JClass<'l>, code: jint, shape: JLongArray<'l>) -> jlong {
    let sizes = longs(&env, &shape);
    boundary(env, || {
        let rt = runtime();
        rt.own(Tensor::empty(
            &rt.ctx,
            "empty",
            dtype("empty", code)?,
            &sizes?,
        )?)
    })
}

fn fill(env: EnvUnowned, _: JClass, a: jlong, kind: jint, bits: jlong) {
    boundary(env, || {
        let rt = runtime();
        creation::fill(&rt.ctx, &*rt.pin("fill_", a)?, scalar(kind, bits))
    })
}
