//! Between Java arrays and tensors: one bulk copy each way.

use jni::objects::{
    JBooleanArray, JByteArray, JClass, JDoubleArray, JFloatArray, JIntArray, JLongArray,
    JShortArray,
};
use jni::sys::{jarray, jdouble, jint, jlong, jsize};
use jni::{EnvUnowned, NativeMethod, native_method};
use wick_core::{Bool, DType};
use wick_runtime::ops::array::{from_elements, item, with_elements};
use wick_runtime::{Result, Tensor};

use crate::array::{Primitive, length, longs, same};
use crate::boundary::{boundary, constant};
use crate::runtime::{dtype, runtime};

pub const METHODS: &[NativeMethod<'static>] = &[
    native_method! { static raw fn from_doubles(data: jdouble[], shape: jlong[]) -> jlong },
    native_method! { static raw fn from_floats(data: jfloat[], shape: jlong[]) -> jlong },
    native_method! { static raw fn from_longs(data: jlong[], shape: jlong[]) -> jlong },
    native_method! { static raw fn from_ints(data: jint[], shape: jlong[]) -> jlong },
    native_method! { static raw fn from_shorts(data: jshort[], shape: jlong[]) -> jlong },
    native_method! { static raw fn from_booleans(data: jboolean[], shape: jlong[]) -> jlong },
    native_method! { static raw fn from_bytes(data: jbyte[], shape: jlong[], dtype: jint) -> jlong },
    native_method! { static raw fn from_half_bits(data: jshort[], shape: jlong[], dtype: jint) -> jlong },
    native_method! { static raw fn to_doubles(a: jlong, out: jdouble[]) -> () },
    native_method! { static raw fn to_floats(a: jlong, out: jfloat[]) -> () },
    native_method! { static raw fn to_longs(a: jlong, out: jlong[]) -> () },
    native_method! { static raw fn to_ints(a: jlong, out: jint[]) -> () },
    native_method! { static raw fn to_shorts(a: jlong, out: jshort[]) -> () },
    native_method! { static raw fn to_bytes(a: jlong, out: jbyte[]) -> () },
    native_method! { static raw fn to_booleans(a: jlong, out: jboolean[]) -> () },
    native_method! { static raw fn to_half_bits(a: jlong, out: jshort[]) -> () },
    native_method! { static raw fn item_double(a: jlong) -> jdouble },
    native_method! { static raw fn item_long(a: jlong) -> jlong },
];

fn from<P: Primitive>(
    env: &EnvUnowned,
    data: jarray,
    shape: &JLongArray,
    dtype: DType,
) -> Result<Tensor> {
    let (count, sizes) = (length(env, data)?, longs(env, shape)?);
    let rt = runtime();
    from_elements(&rt.ctx, dtype, &sizes, count, |bytes| {
        // SAFETY: the array has `count` elements of P, and the tensor room for as many.
        unsafe { P::get(env, data, bytes.as_mut_ptr().cast(), count as jsize) }
    })
}

fn to<P: Primitive>(env: &EnvUnowned, a: jlong, out: jarray, dtype: Option<DType>) -> Result<()> {
    let count = length(env, out)?;
    let rt = runtime();
    let t = rt.pin_host("to array", a)?;
    let dtype = dtype.unwrap_or(t.dtype());
    with_elements(&rt.ctx, &t, dtype, count, |bytes| {
        // SAFETY: the array has `count` elements of P, and so have the bytes.
        unsafe { P::set(env, out, bytes.as_ptr().cast(), count as jsize) }
    })
}

macro_rules! arrays {
    ($($from:ident $to:ident $array:ident $primitive:ty, $dtype:ident;)*) => {$(
        fn $from<'l>(env: EnvUnowned<'l>, _: JClass<'l>, data: $array<'l>, shape: JLongArray<'l>) -> jlong {
            let inner = same(&env);
            constant(env, || from::<$primitive>(&inner, data.as_raw(), &shape, DType::$dtype))
        }

        fn $to<'l>(env: EnvUnowned<'l>, _: JClass<'l>, a: jlong, out: $array<'l>) {
            let inner = same(&env);
            boundary(env, "to array", || to::<$primitive>(&inner, a, out.as_raw(), Some(DType::$dtype)))
        }
    )*};
}
arrays! {
    from_doubles to_doubles JDoubleArray f64, F64;
    from_floats to_floats JFloatArray f32, F32;
    from_longs to_longs JLongArray i64, I64;
    from_ints to_ints JIntArray i32, I32;
    from_shorts to_shorts JShortArray i16, I16;
    from_booleans to_booleans JBooleanArray Bool, Bool;
}

/// A byte array serves two types, a short array of bits another two.
fn sized(op: &'static str, code: jint, size: usize) -> Result<DType> {
    let dtype = dtype(op, code)?;
    if dtype.size() != size || dtype == DType::Bool {
        let text = format!("{op}: {dtype} elements do not have {size} bytes");
        return Err(wick_runtime::Error::internal(text.into()));
    }
    Ok(dtype)
}

fn from_bytes<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    data: JByteArray<'l>,
    shape: JLongArray<'l>,
    code: jint,
) -> jlong {
    let inner = same(&env);
    constant(env, || from::<i8>(&inner, data.as_raw(), &shape, sized("from array", code, 1)?))
}

fn from_half_bits<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    data: JShortArray<'l>,
    shape: JLongArray<'l>,
    code: jint,
) -> jlong {
    let inner = same(&env);
    constant(env, || from::<i16>(&inner, data.as_raw(), &shape, sized("from array", code, 2)?))
}

fn to_bytes<'l>(env: EnvUnowned<'l>, _: JClass<'l>, a: jlong, out: JByteArray<'l>) {
    let inner = same(&env);
    boundary(env, "to array", || {
        let dtype = runtime().look("to array", a)?.dtype();
        sized("to array", dtype as jint, 1)?;
        to::<i8>(&inner, a, out.as_raw(), Some(dtype))
    })
}

fn to_half_bits<'l>(env: EnvUnowned<'l>, _: JClass<'l>, a: jlong, out: JShortArray<'l>) {
    let inner = same(&env);
    boundary(env, "to array", || {
        let dtype = runtime().look("to array", a)?.dtype();
        sized("to array", dtype as jint, 2)?;
        to::<i16>(&inner, a, out.as_raw(), Some(dtype))
    })
}

fn item_double(env: EnvUnowned, _: JClass, a: jlong) -> jdouble {
    boundary(env, "item", || {
        let rt = runtime();
        item::<f64>(&rt.ctx, &rt.pin_host("item", a)?)
    })
}

fn item_long(env: EnvUnowned, _: JClass, a: jlong) -> jlong {
    boundary(env, "item", || {
        let rt = runtime();
        item::<i64>(&rt.ctx, &rt.pin_host("item", a)?)
    })
}
