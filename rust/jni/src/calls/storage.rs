//! The memory behind tensors: who shares it, whose it is, what lies beside it, and its bytes.

use std::sync::Arc;

use jni::objects::{Global, JByteArray, JByteBuffer, JClass, JDoubleArray, JLongArray, JObject};
use jni::sys::{jboolean, jdouble, jint, jlong, jsize};
use jni::{EnvUnowned, NativeMethod, native_method};
use wick_runtime::Error;
use wick_runtime::device;
use wick_runtime::ops::promote::check_writable;
use wick_runtime::ops::storage;

use crate::array::{Primitive, fill_doubles, longs, room, same, write_longs};
use crate::boundary::{Failure, boundary, boundary_env, operation, query, query_env};
use crate::runtime::{dtype, runtime};

pub const METHODS: &[NativeMethod<'static>] = &[
    native_method! { static raw fn storage_ref_count(a: jlong) -> jlong },
    native_method! { static raw fn storage_watch(a: jlong, out: jlong[]) -> () },
    native_method! { static raw fn address(a: jlong) -> jlong },
    native_method! { static raw fn is_imported(a: jlong) -> jboolean },
    native_method! { static raw fn is_read_only(a: jlong) -> jboolean },
    native_method! { static raw fn check_slots(a: jlong) -> () },
    native_method! { static raw fn read_only(a: jlong) -> jlong },
    native_method! { static raw fn annotation(a: jlong) -> JObject },
    native_method! { static raw fn annotate(a: jlong, value: JObject) -> () },
    native_method! { static raw fn import_buffer(buffer: JByteBuffer, dtype: jint, shape: jlong[], read_only: jboolean) -> jlong },
    native_method! { static raw fn import_address(address: jlong, bytes: jlong, dtype: jint, shape: jlong[], read_only: jboolean, giver: JObject) -> jlong },
    native_method! { static raw fn memcpy(dst: jlong, src: jlong) -> () },
    native_method! { static raw fn dot_double(a: jlong, b: jlong) -> jdouble },
    native_method! { static raw fn read_elements(a: jlong, from: jlong, out: jdouble[]) -> () },
    native_method! { static raw fn read_bytes(a: jlong, from: jlong, out: jbyte[], length: jint) -> () },
    native_method! { static raw fn write_bytes(a: jlong, from: jlong, data: jbyte[], length: jint) -> () },
];

fn storage_ref_count(env: EnvUnowned, _: JClass, a: jlong) -> jlong {
    query(env, || Ok::<_, Error>(runtime().pin("storage_ref_count", a)?.sharers() as jlong))
}

fn storage_watch<'l>(env: EnvUnowned<'l>, _: JClass<'l>, a: jlong, out: JLongArray<'l>) {
    let inner = same(&env);
    boundary(env, "storage_watch", || {
        let (id, writes) = runtime().look("storage", a)?.storage().watch();
        write_longs(&inner, &out, &[id as i64, writes as i64])
    })
}

fn address(env: EnvUnowned, _: JClass, a: jlong) -> jlong {
    boundary(env, "address", || Ok::<_, Error>(runtime().pin("address", a)?.place().start as jlong))
}

fn is_imported(env: EnvUnowned, _: JClass, a: jlong) -> jboolean {
    query(env, || Ok::<_, Error>(runtime().look("is_imported", a)?.storage().is_imported()))
}

fn is_read_only(env: EnvUnowned, _: JClass, a: jlong) -> jboolean {
    query(env, || Ok::<_, Error>(runtime().look("is_read_only", a)?.is_read_only()))
}

/// That views of disjoint boxes of a tensor can be written side by side.
fn check_slots(env: EnvUnowned, _: JClass, a: jlong) {
    query(env, || check_writable("cat_into", &*runtime().pin("cat_into", a)?, &[]))
}

fn read_only(env: EnvUnowned, _: JClass, a: jlong) -> jlong {
    operation(env, move || {
        let rt = runtime();
        let x = rt.pin("read_only", a)?;
        rt.give(Some(x.read_only()), Some(&x), None)
    })
}

/// A Java object that a storage keeps reachable.
type Kept = Global<JObject<'static>>;

fn annotation<'l>(env: EnvUnowned<'l>, _: JClass<'l>, a: jlong) -> JObject<'l> {
    query_env(env, |env| {
        let value = runtime().look("annotation", a)?.storage().annotation();
        match value.as_ref().and_then(|v| v.downcast_ref::<Kept>()) {
            Some(object) => Ok(env.new_local_ref(object)?),
            None => Ok(JObject::null()),
        }
    })
}

fn annotate<'l>(env: EnvUnowned<'l>, _: JClass<'l>, a: jlong, value: JObject<'l>) {
    query_env(env, |env| {
        let x = runtime().look("annotation", a)?;
        let value: Option<Kept> = match value.is_null() {
            true => None,
            false => Some(env.new_global_ref(&value)?),
        };
        x.storage().annotate(value.map(|v| Arc::new(v) as _));
        Ok(())
    })
}

fn import_buffer<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    buffer: JByteBuffer<'l>,
    code: jint,
    shape: JLongArray<'l>,
    read_only: jboolean,
) -> jlong {
    let (inner, buffer) = (same(&env), &buffer);
    boundary_env(env, "import", |env| {
        let op = "import";
        if buffer.is_null() {
            return Err(Error::shape(op, &[], "the buffer is null").into());
        }
        let address = env.get_direct_buffer_address(buffer);
        let Ok(address) = address else {
            return Err(Error::shape(op, &[], "the buffer is not a direct one").into());
        };
        let bytes = env.get_direct_buffer_capacity(buffer)? as i64;
        let giver = env.new_global_ref::<&JObject>(buffer.as_ref())?;
        import(&inner, (address, bytes), code, &shape, read_only, giver)
    })
}

#[allow(clippy::too_many_arguments)]
fn import_address<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    address: jlong,
    bytes: jlong,
    code: jint,
    shape: JLongArray<'l>,
    read_only: jboolean,
    giver: JObject<'l>,
) -> jlong {
    let (inner, giver) = (same(&env), &giver);
    boundary_env(env, "import", |env| {
        let giver = env.new_global_ref(giver)?;
        let memory = (address as usize as *mut u8, bytes);
        import(&inner, memory, code, &shape, read_only, giver)
    })
}

fn import(
    env: &EnvUnowned,
    (address, bytes): (*mut u8, i64),
    code: jint,
    shape: &JLongArray,
    read_only: bool,
    giver: Kept,
) -> Result<jlong, Failure> {
    let (rt, dtype, shape) = (runtime(), dtype("import", code)?, longs(env, shape)?);
    // SAFETY: a direct buffer's bytes are there while it is reachable; for an address the caller in
    // the JVM has promised as much of the giver.
    let t = unsafe {
        storage::import(&rt.ctx, dtype, &shape, address, bytes, read_only, Box::new(giver))
    }?;
    Ok(rt.own(t)?)
}

fn memcpy(env: EnvUnowned, _: JClass, dst: jlong, src: jlong) {
    operation(env, move || {
        let rt = runtime();
        let (to, from) = (rt.look("memcpy", dst)?, rt.look("memcpy", src)?);
        if to.device() != from.device() {
            let home = rt.devices.get("memcpy", to.device() as jint)?;
            let from = device::copy_to(&rt.ctx.host, "memcpy", &from, &home)?;
            return home.run("memcpy", |d| storage::copy_elements(d.context(), &to, &from));
        }
        storage::copy_elements(&rt.ctx, &*rt.pin("memcpy", dst)?, &from)
    })
}

fn dot_double(env: EnvUnowned, _: JClass, a: jlong, b: jlong) -> jdouble {
    boundary(env, "dot_double", || {
        let rt = runtime();
        storage::dot_double(&rt.ctx, &*rt.pin("dot_double", a)?, &*rt.pin("dot_double", b)?)
    })
}

/// Fills the array from place `from` of the row-major order on.
fn read_elements<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    a: jlong,
    from: jlong,
    out: JDoubleArray<'l>,
) {
    let inner = same(&env);
    boundary(env, "elements", || {
        let rt = runtime();
        let x = rt.pin_host("elements", a)?;
        fill_doubles(&inner, &out, |to| storage::read_elements(&rt.ctx, &x, from, to))
    })
}

/// Fills the array's first `count` bytes.
fn read_bytes<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    a: jlong,
    from: jlong,
    out: JByteArray<'l>,
    count: jint,
) {
    let inner = same(&env);
    boundary(env, "bytes", || {
        let x = runtime().pin_host("bytes", a)?;
        let count = room(&inner, out.as_raw(), count)? as jsize;
        let bytes = storage::bytes("bytes", &x, from, count as i64)?;
        // SAFETY: so many bytes of a live array and of a pinned tensor.
        unsafe { i8::set(&inner, out.as_raw(), bytes.cast(), count) };
        Ok::<_, Error>(())
    })
}

/// Takes the array's first `count` bytes.
fn write_bytes<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    a: jlong,
    from: jlong,
    data: JByteArray<'l>,
    count: jint,
) {
    let inner = same(&env);
    boundary(env, "bytes", || {
        let x = runtime().pin_host("bytes", a)?;
        let count = room(&inner, data.as_raw(), count)? as jsize;
        let bytes = storage::bytes_mut("bytes", &x, from, count as i64)?;
        // SAFETY: so many bytes of a live array and of a pinned tensor.
        unsafe { i8::get(&inner, data.as_raw(), bytes.cast(), count) };
        Ok::<_, Error>(())
    })
}
