//! Kernels over windows that the caller chooses, and the rows of tensors.

use jni::objects::{
    JByteArray, JClass, JDoubleArray, JFloatArray, JIntArray, JLongArray, JShortArray,
};
use jni::sys::{jdouble, jint, jlong, jsize};
use jni::{EnvUnowned, NativeMethod, native_method};
use wick_core::ops::{BinaryOp, UnaryOp};
use wick_core::window::MAX_DIMS;
use wick_core::{Dim, Element, Kernel, Sides, Window};
use wick_runtime::ops::image::{filter_into, stencil};
use wick_runtime::ops::window::{Elementwise, Row, elementwise_part, elements, read_row, write_row};
use wick_runtime::{Error, Result, Tensor};

use super::image::{edges, filter};
use crate::array::{Primitive, all_longs, longs, longs_some, same, write_longs};
use crate::boundary::boundary;
use crate::runtime::{Pin, no_op, runtime};

pub const METHODS: &[NativeMethod<'static>] = &[
    native_method! { static raw fn kernel_info(kind: jint, op: jint, operands: jlong[], edges: jlong[], value: jdouble, out: jlong[]) -> () },
    native_method! { static raw fn kernel_run(kind: jint, op: jint, operands: jlong[], edges: jlong[], value: jdouble, window: jlong[]) -> () },
    native_method! { static raw fn read_doubles(a: jlong, at: jlong[], step: jlong, count: jint, row: jdouble[]) -> () },
    native_method! { static raw fn read_floats(a: jlong, at: jlong[], step: jlong, count: jint, row: jfloat[]) -> () },
    native_method! { static raw fn read_longs(a: jlong, at: jlong[], step: jlong, count: jint, row: jlong[]) -> () },
    native_method! { static raw fn read_ints(a: jlong, at: jlong[], step: jlong, count: jint, row: jint[]) -> () },
    native_method! { static raw fn read_shorts(a: jlong, at: jlong[], step: jlong, count: jint, row: jshort[]) -> () },
    native_method! { static raw fn read_bytes(a: jlong, at: jlong[], step: jlong, count: jint, row: jbyte[]) -> () },
    native_method! { static raw fn write_doubles(a: jlong, at: jlong[], step: jlong, count: jint, row: jdouble[]) -> () },
    native_method! { static raw fn write_floats(a: jlong, at: jlong[], step: jlong, count: jint, row: jfloat[]) -> () },
    native_method! { static raw fn write_longs_row(a: jlong, at: jlong[], step: jlong, count: jint, row: jlong[]) -> () },
    native_method! { static raw fn write_ints(a: jlong, at: jlong[], step: jlong, count: jint, row: jint[]) -> () },
    native_method! { static raw fn write_shorts(a: jlong, at: jlong[], step: jlong, count: jint, row: jshort[]) -> () },
    native_method! { static raw fn write_bytes(a: jlong, at: jlong[], step: jlong, count: jint, row: jbyte[]) -> () },
];

/// The kinds of kernels.
const STENCIL: jint = 0;
const UNARY: jint = 1;

fn elementwise(kind: jint, op: jint) -> Result<Elementwise> {
    let op = if kind == UNARY {
        UnaryOp::from_code(op).map(Elementwise::Unary)
    } else {
        BinaryOp::from_code(op).map(Elementwise::Binary)
    };
    op.ok_or_else(|| no_op(kind))
}

/// Operands in front of targets: the first `inputs` of the list.
fn split(all: &[Pin], inputs: usize) -> Result<(Vec<&Tensor>, Vec<&Tensor>)> {
    if all.len() <= inputs {
        return Err(Error::internal("too few operands".into()));
    }
    let tensors = |pins: &'_ [Pin]| pins.iter().map(|p| -> *const Tensor { &**p }).collect::<Vec<_>>();
    let _ = tensors;
    Ok((all[..inputs].iter().map(|p| &**p).collect(), all[inputs..].iter().map(|p| &**p).collect()))
}

fn pins(env: &EnvUnowned, operands: &JLongArray) -> Result<Vec<Pin>> {
    let rt = runtime();
    all_longs(env, operands)?.iter().map(|h| rt.pin("kernel", *h)).collect()
}

/// Fills in the window's dimensions, border and scratch, then start, end and step of each dimension.
fn kernel_info<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    kind: jint,
    op: jint,
    operands: JLongArray<'l>,
    numbers: JLongArray<'l>,
    value: jdouble,
    out: JLongArray<'l>,
) {
    let inner = same(&env);
    boundary(env, || {
        let all = pins(&inner, &operands)?;
        let (window, border, scratch) = if kind == STENCIL {
            let (inputs, outs) = split(&all, 1)?;
            let edges = edges(&longs(&inner, &numbers)?, value)?;
            let kernel = stencil(&runtime().ctx, filter(op)?, inputs[0], &outs, edges)?;
            (kernel.window(), kernel.border().size, kernel.scratch())
        } else {
            let op = elementwise(kind, op)?;
            let (inputs, outs) = split(&all, op.operands())?;
            let window = elements(op.name(), outs[0])?;
            // Run on nothing, so that what is wrong with the operands comes out now.
            if let Some(none) = (0..window.dims().len()).next().map(|d| window.split(d, 1, 0)) {
                let _ = none;
            }
            let _ = inputs;
            (window, Sides::default(), 0)
        };
        let mut info =
            vec![window.dims().len() as i64, border.top, border.right, border.bottom, border.left];
        info.push(scratch as i64);
        info.extend(window.dims().iter().flat_map(|d| [d.start, d.end, d.step]));
        write_longs(&inner, &out, &info)
    })
}
