//! Tensors from files.

use jni::objects::{JClass, JLongArray, JObject, JObjectArray, JString};
use jni::sys::jlong;
use jni::{Env, EnvUnowned, NativeMethod, native_method};
use wick_core::DType;
use wick_runtime::Error;
use wick_runtime::ops::file::npy::npy;
use wick_runtime::ops::file::safetensors::safetensors;
use wick_runtime::ops::file::{self, Part};

use crate::array::{all_longs, give_all, same};
use crate::boundary::{Failure, boundary_env};
use crate::runtime::runtime;

pub const METHODS: &[NativeMethod<'static>] = &[
    native_method! { static raw fn tensors_from_file(path: JString, offset: jlong, length: jlong, parts: jlong[], results: jlong[]) -> () },
    native_method! { static raw fn from_npy(path: JString) -> jlong },
    native_method! { static raw fn from_safetensors(path: JString) -> JObject[] },
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

fn from_npy<'l>(env: EnvUnowned<'l>, _: JClass<'l>, path: JString<'l>) -> jlong {
    boundary_env(env, "from_npy", |env| {
        let path = path.try_to_string(env)?;
        let rt = runtime();
        Ok(rt.own(npy(&rt.ctx, &path)?)?)
    })
}

/// A long[] of tensors, a String[] of their names, and a String[] of keys and values.
fn from_safetensors<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    path: JString<'l>,
) -> JObjectArray<'l, JObject<'l>> {
    let inner = same(&env);
    boundary_env(env, "from_safetensors", |env| {
        let path = path.try_to_string(env)?;
        let contents = safetensors(&runtime().ctx, &path)?;
        let (names, tensors): (Vec<_>, Vec<_>) = contents.tensors.into_iter().unzip();
        let metadata = contents.metadata.into_iter().flat_map(|(k, v)| [k, v]).collect();
        let all = JObjectArray::<JObject>::new(env, 3, JObject::null())?;
        let handles = env.new_long_array(tensors.len())?;
        all.set_element(env, 0, &handles)?;
        let names = strings(env, names)?;
        all.set_element(env, 1, &names)?;
        let metadata = strings(env, metadata)?;
        all.set_element(env, 2, &metadata)?;
        give_all(&inner, &handles, tensors)?;
        Ok(all)
    })
}

fn strings<'l>(
    env: &mut Env<'l>,
    all: Vec<String>,
) -> Result<JObjectArray<'l, JString<'l>>, Failure> {
    let to = JObjectArray::<JString>::new(env, all.len(), JString::null())?;
    for (i, text) in all.iter().enumerate() {
        let text = env.new_string(text)?;
        to.set_element(env, i, &text)?;
        env.delete_local_ref(text);
    }
    Ok(to)
}
