//! Fourier transforms.

use jni::objects::JClass;
use jni::sys::{jint, jlong};
use jni::{EnvUnowned, NativeMethod, native_method};
use wick_runtime::ops::fft::{self, FftOp, Norm};

use crate::boundary::operation;
use crate::runtime::{no_op, runtime};

pub const METHODS: &[NativeMethod<'static>] = &[
    native_method! { static raw fn fft(op: jint, a: jlong, n: jlong, dim: jlong, norm: jint) -> jlong },
];

pub fn code(name: &str) -> Option<i32> {
    FftOp::from_name(name).map(|op| op as i32)
}

pub fn norm_code(name: &str) -> Option<i32> {
    Norm::from_name(name).map(|norm| norm as i32)
}

/// `n`: -1 for as many as there are.
fn fft(env: EnvUnowned, _: JClass, op: jint, a: jlong, n: jlong, dim: jlong, norm: jint) -> jlong {
    operation(env, move || {
        let rt = runtime();
        let op = FftOp::from_code(op).ok_or_else(|| no_op(op))?;
        let norm = Norm::from_code(norm).ok_or_else(|| no_op(norm))?;
        let x = rt.pin(op.name(), a)?;
        let result = fft::fft(&rt.ctx, op, &x, (n != -1).then_some(n), dim, norm)?;
        rt.give(Some(result), Some(&x), None)
    })
}
