//! Images: filters and what else takes a picture, files of them, room around planes.

use jni::objects::{JClass, JDoubleArray, JLongArray, JString};
use jni::sys::{jdouble, jint, jlong};
use jni::{EnvUnowned, NativeMethod, native_method};
use wick_core::kernels::image::StencilOp;
use wick_core::{BorderMode, Rect, Sides, named_ops};
use wick_runtime::ops::image::{self, BT601, BT709, Color, Edges, Resize, file, padding};
use wick_runtime::{Context, Error, Result, Tensor};

use crate::array::{all_longs, doubles, got, longs};
use crate::boundary::{boundary_env, operation, operation_all};
use crate::runtime::{dtype, no_op, runtime};

pub const METHODS: &[NativeMethod<'static>] = &[
    native_method! { static raw fn image(op: jint, a: jlong, numbers: jlong[], factors: jdouble[], results: jlong[]) -> () },
    native_method! { static raw fn image_read(path: JString) -> jlong },
    native_method! { static raw fn image_write(path: JString, a: jlong) -> () },
    native_method! { static raw fn padded(dtype: jint, shape: jlong[], strides: jlong[], offset: jlong, total: jlong) -> jlong },
    native_method! { static raw fn fill_border(a: jlong, sides: jlong[], mode: jint, value: jdouble) -> () },
];

named_ops! {
    /// Operations on one image by the lists they take: numbers; factors. The filters before them
    /// have edges; a value.
    ImageOp {
        /// bins; start and length of the range.
        Histogram "histogram",
        ///
        EqualizeHist "equalize_hist",
        /// height, width.
        Nearest "resize_nearest",
        /// height, width.
        Bilinear "resize_bilinear",
        /// height, width.
        Area "resize_area",
        /// 601 or 709.
        Gray "rgb_to_gray",
        /// 601 or 709.
        Yuv "rgb_to_yuv",
        /// 601 or 709.
        Rgb "yuv_to_rgb",
    }
}

/// Filters come first.
const FILTERS: i32 = StencilOp::ALL.len() as i32;

pub fn code(name: &str) -> Option<i32> {
    let filter = StencilOp::from_name(name).map(|op| op as i32);
    filter.or_else(|| ImageOp::from_name(name).map(|op| FILTERS + op as i32))
}

/// A filter of a code.
pub fn filter(op: jint) -> Result<StencilOp> {
    StencilOp::from_code(op).ok_or_else(|| no_op(op))
}

fn missing() -> Error {
    Error::internal("too few arguments".into())
}

fn mode(code: i64, value: f64) -> Result<BorderMode> {
    Ok(match code {
        0 => BorderMode::Undefined,
        1 => BorderMode::Replicate,
        2 => BorderMode::Constant(value),
        3 => BorderMode::Reflect,
        _ => return Err(Error::internal(format!("there is no border mode {code}").into())),
    })
}

/// Edges from a mode and, where it is not all, the valid part: top, left, bottom, right.
pub fn edges(numbers: &[i64], value: f64) -> Result<Edges> {
    let (code, region) = numbers.split_first().ok_or_else(missing)?;
    let region = match *region {
        [] => None,
        [top, left, bottom, right] => Some(Rect { top, left, bottom, right }),
        _ => return Err(missing()),
    };
    Ok(Edges { mode: mode(*code, value)?, region })
}

fn compute(ctx: &Context, op: i32, a: &Tensor, n: &[i64], f: &[f64]) -> Result<Vec<Tensor>> {
    if op < FILTERS {
        return image::filter(ctx, filter(op)?, a, edges(n, f.first().copied().unwrap_or(0.0))?);
    }
    let op = ImageOp::from_code(op - FILTERS).ok_or_else(|| no_op(op))?;
    let n = |i: usize| n.get(i).copied().ok_or_else(missing);
    let f = |i: usize| f.get(i).copied().ok_or_else(missing);
    let standard = || Ok::<_, Error>(if n(0)? == 601 { BT601 } else { BT709 });
    let made = match op {
        ImageOp::Histogram => image::histogram(ctx, a, n(0)?, f(0)?, f(1)?),
        ImageOp::EqualizeHist => image::equalize_hist(ctx, a),
        ImageOp::Nearest => image::resize(ctx, Resize::Nearest, a, [n(0)?, n(1)?]),
        ImageOp::Bilinear => image::resize(ctx, Resize::Bilinear, a, [n(0)?, n(1)?]),
        ImageOp::Area => image::resize(ctx, Resize::Area, a, [n(0)?, n(1)?]),
        ImageOp::Gray => image::color(ctx, Color::Gray, a, standard()?),
        ImageOp::Yuv => image::color(ctx, Color::Yuv, a, standard()?),
        ImageOp::Rgb => image::color(ctx, Color::Rgb, a, standard()?),
    };
    Ok(vec![made?])
}

fn image<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    op: jint,
    a: jlong,
    numbers: JLongArray<'l>,
    factors: JDoubleArray<'l>,
    results: JLongArray<'l>,
) {
    let (numbers, factors) = (all_longs(&env, &numbers), doubles(&env, &factors));
    operation_all(env, &results, move || {
        let rt = runtime();
        let a = rt.pin("image", a)?;
        let made = compute(&rt.ctx, op, &a, got(&numbers)?, got(&factors)?)?;
        Ok(made.into_iter().map(Some).collect())
    })
}

fn image_read<'l>(env: EnvUnowned<'l>, _: JClass<'l>, path: JString<'l>) -> jlong {
    boundary_env(env, "read image", |env| {
        let path = path.try_to_string(env)?;
        let rt = runtime();
        Ok(rt.own(file::read(&rt.ctx, &path)?)?)
    })
}

fn image_write<'l>(env: EnvUnowned<'l>, _: JClass<'l>, path: JString<'l>, a: jlong) {
    boundary_env(env, "write image", |env| {
        let path = path.try_to_string(env)?;
        let rt = runtime();
        Ok(file::write(&rt.ctx, &path, &*rt.pin("write image", a)?)?)
    })
}

fn padded<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    code: jint,
    shape: JLongArray<'l>,
    strides: JLongArray<'l>,
    offset: jlong,
    total: jlong,
) -> jlong {
    let (shape, strides) = (longs(&env, &shape), longs(&env, &strides));
    operation(env, move || {
        let (shape, strides) = (got(&shape)?, got(&strides)?);
        let rt = runtime();
        let dtype = dtype("padding", code)?;
        rt.own(padding::padded(&rt.ctx, dtype, shape, strides, offset, total)?)
    })
}

fn fill_border<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    a: jlong,
    sides: JLongArray<'l>,
    code: jint,
    value: jdouble,
) {
    let sides = longs(&env, &sides);
    operation(env, move || {
        let rt = runtime();
        let a = rt.pin("fill_border", a)?;
        let [top, right, bottom, left] = **got(&sides)? else { return Err(missing()) };
        let sides = Sides { top, right, bottom, left };
        padding::fill_border(&rt.ctx, &a, sides, mode(code.into(), value)?)
    })
}
