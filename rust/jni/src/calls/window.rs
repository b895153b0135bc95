//! Kernels over windows that the caller chooses, and the rows of tensors.

use jni::objects::{
    JByteArray, JClass, JDoubleArray, JFloatArray, JIntArray, JLongArray, JShortArray,
};
use jni::sys::{jarray, jdouble, jint, jlong, jsize};
use jni::{EnvUnowned, NativeMethod, native_method};
use wick_core::kernels::image::StencilOp;
use wick_core::ops::{BinaryOp, UnaryOp};
use wick_core::window::MAX_DIMS;
use wick_core::{Dim, Element, Kernel, Sides, Window};
use wick_runtime::ops::image::{Edges, filter_into, stencil};
use wick_runtime::ops::window::{
    Elementwise, Row, elements, elementwise_part, read_row, write_row,
};
use wick_runtime::{Error, Result, Tensor};

use super::image::{edges, filter};
use crate::array::{Longs, Primitive, all_longs, got, longs, longs_some, room, same, write_longs};
use crate::boundary::{boundary, operation, query};
use crate::runtime::{no_op, runtime};

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

/// A kernel and its operands, as the JVM names them.
#[derive(Clone)]
struct Call {
    kind: jint,
    op: jint,
    operands: Vec<i64>,
    numbers: Longs,
    value: f64,
}

/// A kernel on its operands.
enum Given<'a> {
    Stencil { op: StencilOp, input: &'a Tensor, outs: &'a [&'a Tensor], edges: Edges },
    Elementwise { op: Elementwise, inputs: &'a [&'a Tensor], out: &'a Tensor },
}

impl Call {
    fn read(
        env: &EnvUnowned,
        (kind, op): (jint, jint),
        operands: &JLongArray,
        numbers: &JLongArray,
        value: f64,
    ) -> Result<Call> {
        let (operands, numbers) = (all_longs(env, operands)?, longs(env, numbers)?);
        Ok(Call { kind, op, operands, numbers, value })
    }

    fn with<R>(&self, f: impl FnOnce(Given) -> Result<R>) -> Result<R> {
        let pins = runtime().pin_all("kernel", &self.operands)?;
        let all: Vec<&Tensor> = pins.iter().map(|t| &**t).collect();
        // Targets stand behind the inputs.
        let split = |inputs: usize| match all.split_at_checked(inputs) {
            Some((inputs, outs)) if !outs.is_empty() => Ok((inputs, outs)),
            _ => Err(Error::internal("too few operands".into())),
        };
        if self.kind == STENCIL {
            let (inputs, outs) = split(1)?;
            let edges = edges(&self.numbers, self.value)?;
            return f(Given::Stencil { op: filter(self.op)?, input: inputs[0], outs, edges });
        }
        let op = if self.kind == UNARY {
            UnaryOp::from_code(self.op).map(Elementwise::Unary)
        } else {
            BinaryOp::from_code(self.op).map(Elementwise::Binary)
        };
        let op = op.ok_or_else(|| no_op(self.op))?;
        let (inputs, outs) = split(op.operands())?;
        f(Given::Elementwise { op, inputs, out: outs[0] })
    }
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
    query(env, || {
        let ctx = &runtime().ctx;
        let call = Call::read(&inner, (kind, op), &operands, &numbers, value)?;
        let (window, border, scratch) = call.with(|given| match given {
            Given::Stencil { op, input, outs, edges } => {
                let kernel = stencil(ctx, op, input, outs, edges)?;
                Ok((kernel.window(), kernel.border().size, kernel.scratch()))
            }
            Given::Elementwise { op, inputs, out } => {
                let window = elements(op.name(), out)?;
                if !window.dims().is_empty() {
                    // Run on nothing, so that what is wrong with the operands comes out now.
                    let none = window.with(0, Dim::upto(0));
                    elementwise_part(ctx, op, inputs, out, &none)?;
                }
                Ok((window, Sides::default(), 0))
            }
        })?;
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
    let call = Call::read(&env, (kind, op), &operands, &numbers, value);
    let window = longs_some(&env, &window);
    operation(env, move || {
        let ctx = &runtime().ctx;
        let part = got(&window)?.as_ref().map(|w| part(w)).transpose()?;
        got(&call)?.with(|given| match given {
            Given::Stencil { op, input, outs, edges } => {
                filter_into(ctx, op, input, outs, edges, part.as_ref())
            }
            Given::Elementwise { op, inputs, out } => {
                let part = part.map_or_else(|| elements(op.name(), out), Ok)?;
                elementwise_part(ctx, op, inputs, out, &part)
            }
        })
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
            boundary(env, "row", || get::<$primitive>(&inner, a, &at, step, count, row.as_raw()))
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
            boundary(env, "set row", || set::<$primitive>(&inner, a, &at, step, count, row.as_raw()))
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
