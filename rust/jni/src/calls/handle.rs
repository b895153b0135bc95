//! Handles, their geometry, memory and settings.

use jni::objects::{JClass, JLongArray, JString};
use jni::sys::{jboolean, jint, jlong};
use jni::{Env, EnvUnowned, NativeMethod, native_method};

use crate::array::{each_long, same, write_longs};
use crate::boundary::{Failure, operation, query, query_env, unpinned};
use crate::runtime::{Any, runtime};
use wick_runtime::Error;

pub const METHODS: &[NativeMethod<'static>] = &[
    native_method! { static raw fn op_code(family: JString, name: JString) -> jint },
    native_method! { static raw fn release(a: jlong) -> () },
    native_method! { static raw fn release_all(handles: jlong[], count: jint) -> () },
    native_method! { static raw fn release_few(a: jlong, b: jlong, c: jlong, d: jlong) -> () },
    native_method! { static raw fn is_live(a: jlong) -> jboolean },
    native_method! { static raw fn alias(a: jlong) -> jlong },
    native_method! { static raw fn shape(a: jlong) -> jlong[] },
    native_method! { static raw fn strides(a: jlong) -> jlong[] },
    native_method! { static raw fn storage_offset(a: jlong) -> jlong },
    native_method! { static raw fn shares_storage(a: jlong, b: jlong) -> jboolean },
    native_method! { static raw fn is_contiguous(a: jlong) -> jboolean },
    native_method! { static raw fn memory(out: jlong[]) -> () },
    native_method! { static raw fn reset_peak() -> () },
    native_method! { static raw fn set_cap(bytes: jlong) -> () },
    native_method! { static raw fn trim() -> () },
    native_method! { static raw fn threads() -> jint },
    native_method! { static raw fn set_threads(n: jint) -> () },
    native_method! { static raw fn cpu_level() -> JString },
];

fn op_code<'l>(env: EnvUnowned<'l>, _: JClass<'l>, family: JString<'l>, name: JString<'l>) -> jint {
    query_env(env, |env| {
        let (family, name) = (family.try_to_string(env)?, name.try_to_string(env)?);
        Ok(crate::op_code(&family, &name)?)
    })
}

fn release(env: EnvUnowned, _: JClass, a: jlong) {
    unpinned(env, || {
        runtime().close(a);
        Ok::<_, Error>(())
    })
}

fn release_all<'l>(env: EnvUnowned<'l>, _: JClass<'l>, handles: JLongArray<'l>, count: jint) {
    let inner = same(&env);
    unpinned(env, || {
        let rt = runtime();
        each_long(&inner, &handles, count.max(0) as usize, |handle| {
            rt.close(handle);
        })
    })
}

fn release_few(env: EnvUnowned, _: JClass, a: jlong, b: jlong, c: jlong, d: jlong) {
    unpinned(env, || {
        for handle in [a, b, c, d].into_iter().filter(|h| *h > 0) {
            runtime().close(handle);
        }
        Ok::<_, Error>(())
    })
}

fn is_live(env: EnvUnowned, _: JClass, a: jlong) -> jboolean {
    query(env, || Ok::<_, Error>(runtime().tensors.is_live(a)))
}

fn alias(env: EnvUnowned, _: JClass, a: jlong) -> jlong {
    operation(env, move || {
        let rt = runtime();
        match rt.pin_any("alias", a)? {
            Any::Dense(x) => rt.give(Some(x.alias()), Some(&x), None),
            Any::Sparse(x) => x.alias(),
        }
    })
}

fn shape<'l>(env: EnvUnowned<'l>, _: JClass<'l>, a: jlong) -> JLongArray<'l> {
    query_env(env, |env| match runtime().pin_any("shape", a)? {
        Any::Dense(t) => long_array(env, t.shape()),
        Any::Sparse(t) => long_array(env, t.get().shape()),
    })
}

fn strides<'l>(env: EnvUnowned<'l>, _: JClass<'l>, a: jlong) -> JLongArray<'l> {
    query_env(env, |env| long_array(env, runtime().look("stride", a)?.layout().strides()))
}

/// A new long[].
pub fn long_array<'l>(env: &mut Env<'l>, numbers: &[i64]) -> Result<JLongArray<'l>, Failure> {
    let array = env.new_long_array(numbers.len())?;
    array.set_region(env, 0, numbers)?;
    Ok(array)
}

fn storage_offset(env: EnvUnowned, _: JClass, a: jlong) -> jlong {
    query(env, || Ok::<_, Error>(runtime().look("storage_offset", a)?.layout().offset()))
}

fn shares_storage(env: EnvUnowned, _: JClass, a: jlong, b: jlong) -> jboolean {
    query(env, || {
        let rt = runtime();
        Ok::<_, Error>(
            rt.look("shares_storage", a)?.shares_storage(&*rt.look("shares_storage", b)?),
        )
    })
}

fn is_contiguous(env: EnvUnowned, _: JClass, a: jlong) -> jboolean {
    query(env, || Ok::<_, Error>(runtime().look("is_contiguous", a)?.layout().is_contiguous()))
}

fn memory<'l>(env: EnvUnowned<'l>, _: JClass<'l>, out: JLongArray<'l>) {
    let rt = runtime();
    rt.collect();
    let m = rt.ctx.allocator().memory();
    let (made, freed) = rt.tensors.counts();
    let values = [
        m.live as i64,
        m.peak as i64,
        (made - freed) as i64,
        m.cached as i64,
        m.cap.min(i64::MAX as usize) as i64,
        made as i64,
        freed as i64,
    ];
    let written = write_longs(&env, &out, &values);
    query(env, || written)
}

fn reset_peak(_: EnvUnowned, _: JClass) {
    runtime().ctx.allocator().reset_peak();
}

fn set_cap(_: EnvUnowned, _: JClass, bytes: jlong) {
    runtime().ctx.allocator().set_cap(bytes.max(0) as usize);
}

fn trim(_: EnvUnowned, _: JClass) {
    runtime().ctx.allocator().trim();
}

fn threads(_: EnvUnowned, _: JClass) -> jint {
    runtime().ctx.threads() as jint
}

fn set_threads(_: EnvUnowned, _: JClass, n: jint) {
    runtime().ctx.set_threads(n.max(1) as usize);
}

fn cpu_level<'l>(env: EnvUnowned<'l>, _: JClass<'l>) -> JString<'l> {
    query_env(env, |env| Ok(env.new_string(runtime().ctx.cpu_level())?))
}
