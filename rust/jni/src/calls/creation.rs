//! Tensors from nothing, and filling.

use jni::objects::{JClass, JLongArray};
use jni::sys::{jdouble, jint, jlong};
use jni::{EnvUnowned, NativeMethod, native_method};
use wick_runtime::ops::creation;

use super::sparse;
use crate::array::{got, longs};
use crate::boundary::{operation, operation_or};
use crate::runtime::{dtype, runtime, scalar};

pub const METHODS: &[NativeMethod<'static>] = &[
    native_method! { static raw fn full(dtype: jint, shape: jlong[], kind: jint, bits: jlong) -> jlong },
    native_method! { static raw fn empty(dtype: jint, shape: jlong[]) -> jlong },
    native_method! { static raw fn fill(a: jlong, kind: jint, bits: jlong) -> () },
    native_method! { static raw fn fill_tensor(a: jlong, value: jlong) -> () },
    native_method! { static raw fn eye(dtype: jint, n: jlong, m: jlong) -> jlong },
    native_method! { static raw fn arange(dtype: jint, kind: jint, start_bits: jlong, end_bits: jlong, step_bits: jlong) -> jlong },
    native_method! { static raw fn linspace(dtype: jint, start: jdouble, end: jdouble, steps: jlong) -> jlong },
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
    operation(env, move || {
        let rt = runtime();
        rt.own(creation::full(&rt.ctx, dtype("full", code)?, got(&sizes)?, scalar(kind, bits))?)
    })
}

fn empty<'l>(env: EnvUnowned<'l>, _: JClass<'l>, code: jint, shape: JLongArray<'l>) -> jlong {
    let sizes = longs(&env, &shape);
    operation(env, move || {
        let rt = runtime();
        rt.own(creation::empty(&rt.ctx, dtype("empty", code)?, got(&sizes)?)?)
    })
}

fn fill(env: EnvUnowned, _: JClass, a: jlong, kind: jint, bits: jlong) {
    let fill = move || {
        let rt = runtime();
        creation::fill(&rt.ctx, &*rt.pin("fill_", a)?, scalar(kind, bits))
    };
    operation_or(env, fill, move || sparse::fill(a, scalar(kind, bits)))
}

fn fill_tensor(env: EnvUnowned, _: JClass, a: jlong, value: jlong) {
    operation(env, move || {
        let rt = runtime();
        creation::fill_tensor(&rt.ctx, &*rt.pin("fill_", a)?, &*rt.pin("fill_", value)?)
    })
}

fn eye(env: EnvUnowned, _: JClass, code: jint, n: jlong, m: jlong) -> jlong {
    operation(env, move || {
        let rt = runtime();
        rt.own(creation::eye(&rt.ctx, dtype("eye", code)?, n, m)?)
    })
}

fn arange(
    env: EnvUnowned,
    _: JClass,
    code: jint,
    kind: jint,
    start_bits: jlong,
    end_bits: jlong,
    step_bits: jlong,
) -> jlong {
    operation(env, move || {
        let rt = runtime();
        let [start, end, step] = [start_bits, end_bits, step_bits].map(|b| scalar(kind, b));
        let dtype = dtype("arange", code)?;
        rt.own(creation::arange(&rt.ctx, dtype, start, end, step)?)
    })
}

fn linspace(
    env: EnvUnowned,
    _: JClass,
    code: jint,
    start: jdouble,
    end: jdouble,
    steps: jlong,
) -> jlong {
    operation(env, move || {
        let rt = runtime();
        let dtype = dtype("linspace", code)?;
        rt.own(creation::linspace(&rt.ctx, dtype, start, end, steps)?)
    })
}
