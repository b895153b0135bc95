//! Java's primitive arrays: short ones are read into a small vector, long ones copied in bulk.

use jni::EnvUnowned;
use jni::objects::{JDoubleArray, JLongArray};
use jni::sys::{jarray, jint, jsize};
use wick_core::Bool;
use wick_runtime::{Error, Result, Tensor};

use crate::runtime::runtime;

/// A few numbers (sizes, dimensions) without a heap allocation.
#[derive(Clone)]
pub struct Longs {
    values: [i64; 64],
    length: usize,
}

impl std::ops::Deref for Longs {
    type Target = [i64];

    fn deref(&self) -> &[i64] {
        &self.values[..self.length]
    }
}

/// A Java primitive type: the array functions of its JNI table.
pub trait Primitive: Copy {
    /// Copies elements from the place `at` of the array on.
    ///
    /// # Safety
    /// `array` is a live array of this type with at least `at + length` elements.
    unsafe fn get_at(env: &EnvUnowned, array: jarray, at: jsize, to: *mut Self, length: jsize);

    /// Copies elements from the start of the array.
    ///
    /// # Safety
    /// As [`Primitive::get_at`].
    unsafe fn get(env: &EnvUnowned, array: jarray, to: *mut Self, length: jsize) {
        // SAFETY: the caller's promise.
        unsafe { Self::get_at(env, array, 0, to, length) }
    }

    /// Copies elements to the place `at` of the array and on.
    ///
    /// # Safety
    /// As [`Primitive::get_at`].
    unsafe fn set_at(env: &EnvUnowned, array: jarray, at: jsize, from: *const Self, length: jsize);

    /// Copies elements to the start of the array.
    ///
    /// # Safety
    /// As [`Primitive::get`].
    unsafe fn set(env: &EnvUnowned, array: jarray, from: *const Self, length: jsize) {
        // SAFETY: the caller's promise.
        unsafe { Self::set_at(env, array, 0, from, length) }
    }
}

macro_rules! primitive {
    ($($t:ty, $get:ident, $set:ident;)*) => {$(
        impl Primitive for $t {
            unsafe fn get_at(
                env: &EnvUnowned,
                array: jarray,
                at: jsize,
                to: *mut $t,
                length: jsize,
            ) {
                let env = env.as_raw();
                // SAFETY: the environment is this call's; the caller vouches for the array. The
                // exception check is what JNI asks for after a region call.
                unsafe {
                    ((**env).v1_1.$get)(env, array, at, length, to.cast());
                    ((**env).v1_2.ExceptionCheck)(env);
                }
            }

            unsafe fn set_at(
                env: &EnvUnowned,
                array: jarray,
                at: jsize,
                from: *const $t,
                length: jsize,
            ) {
                let env = env.as_raw();
                // SAFETY: as in get.
                unsafe {
                    ((**env).v1_1.$set)(env, array, at, length, from.cast());
                    ((**env).v1_2.ExceptionCheck)(env);
                }
            }
        }
    )*};
}
primitive! {
    f64, GetDoubleArrayRegion, SetDoubleArrayRegion;
    f32, GetFloatArrayRegion, SetFloatArrayRegion;
    i64, GetLongArrayRegion, SetLongArrayRegion;
    i32, GetIntArrayRegion, SetIntArrayRegion;
    i16, GetShortArrayRegion, SetShortArrayRegion;
    i8, GetByteArrayRegion, SetByteArrayRegion;
    Bool, GetBooleanArrayRegion, SetBooleanArrayRegion;
}

/// What was read of the arguments, for a body that may run again.
pub fn got<T>(read: &Result<T>) -> Result<&T> {
    read.as_ref().map_err(Error::clone)
}

/// The environment for a body that runs inside the boundary.
pub fn same(env: &EnvUnowned) -> EnvUnowned<'static> {
    // SAFETY: used within this native call only, on its thread.
    unsafe { EnvUnowned::from_raw(env.as_raw()) }
}

/// Length of an array; a null one is an error.
pub fn length(env: &EnvUnowned, array: jarray) -> Result<usize> {
    if array.is_null() {
        return Err(Error::internal("the array is null".into()));
    }
    let env = env.as_raw();
    // SAFETY: a live local reference to an array, in its own call.
    Ok(unsafe { ((**env).v1_1.GetArrayLength)(env, array) } as usize)
}

/// As many elements as are wanted, where the array has them.
pub fn room(env: &EnvUnowned, array: jarray, count: jint) -> Result<usize> {
    let length = length(env, array)?;
    let wanted = usize::try_from(count).ok().filter(|n| *n <= length);
    wanted
        .ok_or_else(|| Error::internal(format!("{count} elements of an array of {length}").into()))
}

/// The numbers of a short long[].
pub fn longs(env: &EnvUnowned, array: &JLongArray) -> Result<Longs> {
    let raw = array.as_raw();
    let length = length(env, raw)?;
    let mut out = Longs { values: [0; 64], length };
    if length > out.values.len() {
        let shape =
            format!("{length} sizes or dimensions, at most {} are possible", wick_core::MAX_RANK);
        return Err(Error::shape("sizes", &[], shape));
    }
    // SAFETY: a long[] of that length.
    unsafe { i64::get(env, raw, out.values.as_mut_ptr(), length as jsize) };
    Ok(out)
}

/// The numbers of a long[] that may be null.
pub fn longs_some(env: &EnvUnowned, array: &JLongArray) -> Result<Option<Longs>> {
    if array.is_null() { Ok(None) } else { longs(env, array).map(Some) }
}

/// The first `count` numbers of a long[], a few at a time.
pub fn each_long(
    env: &EnvUnowned,
    array: &JLongArray,
    count: usize,
    mut f: impl FnMut(i64),
) -> Result<()> {
    let raw = array.as_raw();
    let count = count.min(length(env, raw)?);
    let mut buffer = [0i64; 64];
    let mut at = 0;
    while at < count {
        let n = (count - at).min(buffer.len());
        // SAFETY: a long[] with at least `at + n` numbers, and room for n.
        unsafe { i64::get_at(env, raw, at as jsize, buffer.as_mut_ptr(), n as jsize) };
        buffer[..n].iter().for_each(|v| f(*v));
        at += n;
    }
    Ok(())
}

/// All numbers of a long[] of any length.
pub fn all_longs(env: &EnvUnowned, array: &JLongArray) -> Result<Vec<i64>> {
    let raw = array.as_raw();
    let length = length(env, raw)?;
    let mut out = vec![0i64; length];
    // SAFETY: a long[] of that length.
    unsafe { i64::get(env, raw, out.as_mut_ptr(), length as jsize) };
    Ok(out)
}

/// All numbers of a double[] of any length.
pub fn doubles(env: &EnvUnowned, array: &JDoubleArray) -> Result<Vec<f64>> {
    let raw = array.as_raw();
    let length = length(env, raw)?;
    let mut out = vec![0f64; length];
    // SAFETY: a double[] of that length.
    unsafe { f64::get(env, raw, out.as_mut_ptr(), length as jsize) };
    Ok(out)
}

/// Has a double[] filled.
pub fn fill_doubles(
    env: &EnvUnowned,
    array: &JDoubleArray,
    fill: impl FnOnce(&mut [f64]) -> Result<()>,
) -> Result<()> {
    let raw = array.as_raw();
    let mut numbers = vec![0f64; length(env, raw)?];
    fill(&mut numbers)?;
    // SAFETY: a double[] of that length.
    unsafe { f64::set(env, raw, numbers.as_ptr(), numbers.len() as jsize) };
    Ok(())
}

/// Writes numbers to the start of a long[], which must have room for them.
pub fn write_longs(env: &EnvUnowned, array: &JLongArray, values: &[i64]) -> Result<()> {
    let raw = array.as_raw();
    if length(env, raw)? < values.len() {
        return Err(Error::internal("the array is too short".into()));
    }
    // SAFETY: a long[] with room.
    unsafe { i64::set(env, raw, values.as_ptr(), values.len() as jsize) };
    Ok(())
}

/// Writes handles for new tensors to the start of a long[]; where that fails, none of them lives on.
pub fn give_all(env: &EnvUnowned, array: &JLongArray, tensors: Vec<Tensor>) -> Result<()> {
    let rt = runtime();
    write_handles(env, array, &rt.own_all(tensors.into_iter().map(Some).collect())?)
}

/// Writes new handles to the start of a long[]; where that fails, they are closed.
pub fn write_handles(env: &EnvUnowned, array: &JLongArray, handles: &[i64]) -> Result<()> {
    let close = |_: &Error| handles.iter().for_each(|h| runtime().close(*h));
    write_longs(env, array, handles).inspect_err(close)
}
