//! Tensors from files.

use jni::objects::{JClass, JLongArray, JString};
use jni::sys::jlong;
use jni::{EnvUnowned, NativeMethod, native_method};
use wick_core::DType;
use wick_runtime::Error;
use wick_runtime::ops::file::{self, Part};

use crate::array::{all_longs, give_all, same};
use crate::boundary::boundary_env;
use crate::runtime::runtime;

pub const METHODS: &[NativeMethod<'static>] = &[
    native_method! { static raw fn tensors_from_file(path: JString, offset: jlong, length: jlong, parts: jlong[], results: jlong[]) -> () },
];

/// `parts`: dtype, offset and bytes of each tensor.
fn tensors_from_file<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    path: JString<'l>,
    offset: jlong,
    length: jlong,
    parts: JLongArray<'l>,
    results: JLongArray<'l>,
) {
    let inner = same(&env);
    boundary_env(env, "from_file", |env| {
        let op = "from_file";
        let path = path.try_to_string(env)?;
        let parts = all_longs(&inner, &parts)?;
        let parts = parts.chunks_exact(3).map(|p| {
            let unknown = || Error::dtype(op, &[], format!("there is no dtype {}", p[0]));
            let dtype = DType::from_code(p[0] as i32).ok_or_else(unknown)?;
            Ok::<_, Error>(Part { dtype, offset: p[1], bytes: p[2] })
        });
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        let rt = runtime();
        let tensors = file::tensors_from_file(&rt.ctx, op, &path, offset, length, &parts)?;
        Ok(give_all(&inner, &results, tensors)?)
    })
}
