//! Kernels over windows that the caller chooses, and the rows of tensors.

use jni::objects::{
    JByteArray, JClass, JDoubleArray, JFloatArray, JIntArray, JLongArray, JShortArray,
};
use jni::sys::{jarray, jdouble, jint, jlong, jsize};
use jni::{EnvUnowned, NativeMethod, native_method};
use wick_core::ops::{BinaryOp, UnaryOp};
use wick_core::window::MAX_DIMS;
use wick_core::{Dim, Element, Kernel, Sides, Window};
use wick_runtime::ops::image::{filter_into, stencil};
use wick_runtime::ops::window::{
    Elementwise, Row, elements, elementwise_part, read_row, write_row,
};
use wick_runtime::{Error, Result, Tensor};

use super::image::{edges, filter};
use crate::array::{Primitive, all_longs, longs, longs_some, room, same, write_longs};
use crate::boundary::boundary;
use crate::runtime::{Pin, no_op, runtime};

pub const METHODS: &[NativeMethod<'static>] = &[
    native_method! { static raw fn kernel_info(kind: jint, op: jint, operands: jlong[], edges: jlong[], value: jdouble, out: jlong[]) -> () },
    native_method! { static raw fn kernel_run(kind: jint, op: jint, operands: jlong[], edges: jlong[], value: jdouble, window: jlong[]) -> () },
    native_method! { static raw fn row_doubles(a: jlong, at: jlong[], step: jlong, count: jint, row: jdouble[]) -> () },
    native_method! { static raw fn row_floats(a: jlong, at: jlong[], step: jlong, count: jint, row: jfloat[]) -> () },
    native_method! { static raw fn row_longs(a: jlong, at: jlong[], step: jlong, count: jint, row: jlong[]) -> () },
    native_method! { static raw fn row_ints(a: jlong, at: jlong[], step: jlong, count: jint, row: jint[]) -> () },
    native_method! { static raw fn row_shorts(a: jlong, at: jlong[], step: jlong, count: jint, row: jshort[]) -> () },
    native_method! { static raw fn row_bytes(a: jlong, at: jlong[], step: jlong, count: jint, row: jbyte[]) -> () },
    native_method! { static raw fn set_row_doubles(a: jlong, at: jlong[], step: jlong, count: jint, row: jdouble[]) -> () },
    native_method! { static raw fn set_row_floats(a: jlong, at: jlong[], step: jlong, count: jint, row: jfloat[]) -> () },
    native_method! { static raw fn set_row_longs(a: jlong, at: jlong[], step: jlong, count: jint, row: jlong[]) -> () },
    native_method! { static raw fn set_row_ints(a: jlong, at: jlong[], step: jlong, count: jint, row: jint[]) -> () },
    native_method! { static raw fn set_row_shorts(a: jlong, at: jlong[], step: jlong, count: jint, row: jshort[]) -> () },
    native_method! { static raw fn set_row_bytes(a: jlong, at: jlong[], step: jlong, count: jint, row: jbyte[]) -> () },
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

/// Operands and, behind the first `inputs` of them, targets.
fn split(all: &[Pin], inputs: usize) -> Result<(Vec<&Tensor>, Vec<&Tensor>)> {
    if all.len() <= inputs {
        return Err(Error::internal("too few operands".into()));
    }
    let tensors = |pins: std::ops::Range<usize>| pins.map(|i| &*all[i]).collect();
    Ok((tensors(0..inputs), tensors(inputs..all.len())))
}

fn pins(env: &EnvUnowned, operands: &JLongArray) -> Result<Vec<Pin>> {
    runtime().pin_all("kernel", &all_longs(env, operands)?)
}

/// Fills in the window's dimensions, border and scratch, then start, end and step of each dimension.
#[allow(clippy::too_many_arguments)]
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
            if !window.dims().is_empty() {
                // Run on nothing, so that what is wrong with the operands comes out now.
                let none = window.with(0, Dim::upto(0));
                elementwise_part(&runtime().ctx, op, &inputs, outs[0], &none)?;
            }
            (window, Sides::default(), 0)
        };
        let mut info =
            vec![window.dims().len() as i64, border.top, border.right, border.bottom, border.left];
        info.push(scratch as i64);
        info.extend(window.dims().iter().flat_map(|d| [d.start, d.end, d.step]));
        write_longs(&inner, &out, &info)
    })
}

/// Runs a kernel over its whole window (null) or, on the caller alone, over a part of it: start, end
/// and step of each dimension.
#[allow(clippy::too_many_arguments)]
fn kernel_run<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    kind: jint,
    op: jint,
    operands: JLongArray<'l>,
    numbers: JLongArray<'l>,
    value: jdouble,
    window: JLongArray<'l>,
) {
    let inner = same(&env);
    boundary(env, || {
        let ctx = &runtime().ctx;
        let all = pins(&inner, &operands)?;
        let part = longs_some(&inner, &window)?.map(|w| part(&w)).transpose()?;
        if kind == STENCIL {
            let (inputs, outs) = split(&all, 1)?;
            let edges = edges(&longs(&inner, &numbers)?, value)?;
            return filter_into(ctx, filter(op)?, inputs[0], &outs, edges, part.as_ref());
        }
        let op = elementwise(kind, op)?;
        let (inputs, outs) = split(&all, op.operands())?;
        let part = match part {
            Some(part) => part,
            None => elements(op.name(), outs[0])?,
        };
        elementwise_part(ctx, op, &inputs, outs[0], &part)
    })
}

fn part(numbers: &[i64]) -> Result<Window> {
    let dims = numbers.chunks_exact(3).map(|d| Dim { start: d[0], end: d[1], step: d[2] });
    if dims.len() > MAX_DIMS {
        let text = format!("{} dimensions, windows have at most {MAX_DIMS}", dims.len());
        return Err(Error::shape("window", &[], text));
    }
    Ok(Window::new(&dims.collect::<Vec<_>>()))
}

/// Copies a row into an array, cast to its type.
fn get<P: Primitive + Element>(
    env: &EnvUnowned,
    a: jlong,
    at: &JLongArray,
    step: jlong,
    count: jint,
    to: jarray,
) -> Result<()> {
    let (at, count) = (longs(env, at)?, room(env, to, count)?);
    let rt = runtime();
    let t = rt.pin("row", a)?;
    read_row::<P>(&rt.ctx, &t, Row { at: &at, step, count }, |first, elements| {
        // SAFETY: the array has at least `count` elements of P.
        unsafe { P::set_at(env, to, first as jsize, elements.as_ptr(), elements.len() as jsize) }
    })
}

/// Copies an array into a row, cast to its type.
fn set<P: Primitive + Element>(
    env: &EnvUnowned,
    a: jlong,
    at: &JLongArray,
    step: jlong,
    count: jint,
    from: jarray,
) -> Result<()> {
    let (at, count) = (longs(env, at)?, room(env, from, count)?);
    let rt = runtime();
    let t = rt.pin("row", a)?;
    write_row::<P>(&rt.ctx, &t, Row { at: &at, step, count }, |first, elements| {
        // SAFETY: the array has at least `count` elements of P.
        unsafe {
            P::get_at(env, from, first as jsize, elements.as_mut_ptr(), elements.len() as jsize)
        }
    })
}

macro_rules! rows {
    ($($get:ident $set:ident $array:ident $primitive:ty;)*) => {$(
        fn $get<'l>(
            env: EnvUnowned<'l>,
            _: JClass<'l>,
            a: jlong,
            at: JLongArray<'l>,
            step: jlong,
            count: jint,
            row: $array<'l>,
        ) {
            let inner = same(&env);
            boundary(env, || get::<$primitive>(&inner, a, &at, step, count, row.as_raw()))
        }

        fn $set<'l>(
            env: EnvUnowned<'l>,
            _: JClass<'l>,
            a: jlong,
            at: JLongArray<'l>,
            step: jlong,
            count: jint,
            row: $array<'l>,
        ) {
            let inner = same(&env);
            boundary(env, || set::<$primitive>(&inner, a, &at, step, count, row.as_raw()))
        }
    )*};
}
rows! {
    row_doubles set_row_doubles JDoubleArray f64;
    row_floats set_row_floats JFloatArray f32;
    row_longs set_row_longs JLongArray i64;
    row_ints set_row_ints JIntArray i32;
    row_shorts set_row_shorts JShortArray i16;
    row_bytes set_row_bytes JByteArray i8;
}
