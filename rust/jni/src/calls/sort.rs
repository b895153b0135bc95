//! Sorting, selection, quantiles, different elements.

use jni::objects::{JClass, JLongArray};
use jni::sys::{jboolean, jdouble, jint, jlong};
use jni::{EnvUnowned, NativeMethod, native_method};
use wick_runtime::ops::quantile::{self, Fractions, Interpolation, QuantileOf};
use wick_runtime::ops::select::{self, PickOp, RunningOp};
use wick_runtime::ops::sort;
use wick_runtime::ops::unique::{self, Unique};

use crate::boundary::{operation, operation_all};
use crate::runtime::{no_op, runtime};

pub const METHODS: &[NativeMethod<'static>] = &[
    native_method! { static raw fn sort(a: jlong, dim: jlong, descending: jboolean, results: jlong[]) -> () },
    native_method! { static raw fn argsort(a: jlong, dim: jlong, descending: jboolean) -> jlong },
    native_method! { static raw fn sort_values(a: jlong, dim: jlong, descending: jboolean) -> jlong },
    native_method! { static raw fn topk(a: jlong, k: jlong, dim: jlong, largest: jboolean, sorted: jboolean, out_values: jlong, out_indices: jlong, results: jlong[]) -> () },
    native_method! { static raw fn pick(op: jint, a: jlong, k: jlong, dim: jlong, keep_dim: jboolean, results: jlong[]) -> () },
    native_method! { static raw fn median(a: jlong, skip_nan: jboolean) -> jlong },
    native_method! { static raw fn running(op: jint, a: jlong, dim: jlong, results: jlong[]) -> () },
    native_method! { static raw fn quantile(a: jlong, q: jdouble, each: jlong, all: jboolean, dim: jlong, keep_dim: jboolean, interpolation: jint, skip_nan: jboolean) -> jlong },
    native_method! { static raw fn unique(a: jlong, all: jboolean, dim: jlong, consecutive: jboolean, inverse: jboolean, counts: jboolean, results: jlong[]) -> () },
];

pub fn pick_code(name: &str) -> Option<i32> {
    PickOp::from_name(name).map(|op| op as i32)
}

pub fn running_code(name: &str) -> Option<i32> {
    RunningOp::from_name(name).map(|op| op as i32)
}

pub fn interpolation_code(name: &str) -> Option<i32> {
    Interpolation::from_name(name).map(|op| op as i32)
}

fn sort<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    a: jlong,
    dim: jlong,
    descending: jboolean,
    results: JLongArray<'l>,
) {
    operation_all(env, &results, move || {
        let rt = runtime();
        let x = rt.pin("sort", a)?;
        let (values, indices) = sort::sort(&rt.ctx, &x, dim, descending)?;
        Ok(vec![Some(values), Some(indices)])
    })
}

fn argsort(env: EnvUnowned, _: JClass, a: jlong, dim: jlong, descending: jboolean) -> jlong {
    operation(env, move || {
        let rt = runtime();
        let x = rt.pin("argsort", a)?;
        rt.give(Some(sort::argsort(&rt.ctx, &x, dim, descending)?), Some(&x), None)
    })
}

fn sort_values(env: EnvUnowned, _: JClass, a: jlong, dim: jlong, descending: jboolean) -> jlong {
    operation(env, move || {
        let rt = runtime();
        let x = rt.pin("msort", a)?;
        let result = sort::sorted_values(&rt.ctx, "msort", &x, dim, descending)?;
        rt.give(Some(result), Some(&x), None)
    })
}

#[allow(clippy::too_many_arguments)]
fn topk<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    a: jlong,
    k: jlong,
    dim: jlong,
    largest: jboolean,
    sorted: jboolean,
    out_values: jlong,
    out_indices: jlong,
    results: JLongArray<'l>,
) {
    operation_all(env, &results, move || {
        let rt = runtime();
        let x = rt.pin("topk", a)?;
        let values = rt.pin_some("topk", out_values)?;
        let indices = rt.pin_some("topk", out_indices)?;
        let out = values.as_deref().zip(indices.as_deref());
        let made = select::topk(&rt.ctx, &x, k, dim, largest, sorted, out)?;
        Ok(made.map_or(vec![], |(values, indices)| vec![Some(values), Some(indices)]))
    })
}

#[allow(clippy::too_many_arguments)]
fn pick<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    op: jint,
    a: jlong,
    k: jlong,
    dim: jlong,
    keep_dim: jboolean,
    results: JLongArray<'l>,
) {
    operation_all(env, &results, move || {
        let rt = runtime();
        let op = PickOp::from_code(op).ok_or_else(|| no_op(op))?;
        let x = rt.pin(op.name(), a)?;
        let (values, indices) = select::pick(&rt.ctx, op, &x, k, dim, keep_dim)?;
        Ok(vec![Some(values), Some(indices)])
    })
}

fn median(env: EnvUnowned, _: JClass, a: jlong, skip_nan: jboolean) -> jlong {
    operation(env, move || {
        let rt = runtime();
        let x = rt.pin("median", a)?;
        rt.own(select::median(&rt.ctx, &x, skip_nan)?)
    })
}

fn running<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    op: jint,
    a: jlong,
    dim: jlong,
    results: JLongArray<'l>,
) {
    operation_all(env, &results, move || {
        let rt = runtime();
        let op = RunningOp::from_code(op).ok_or_else(|| no_op(op))?;
        let x = rt.pin(op.name(), a)?;
        let (values, indices) = select::running(&rt.ctx, op, &x, dim)?;
        Ok(vec![Some(values), Some(indices)])
    })
}

#[allow(clippy::too_many_arguments)]
fn quantile(
    env: EnvUnowned,
    _: JClass,
    a: jlong,
    q: jdouble,
    each: jlong,
    all: jboolean,
    dim: jlong,
    keep_dim: jboolean,
    interpolation: jint,
    skip_nan: jboolean,
) -> jlong {
    operation(env, move || {
        let rt = runtime();
        let interpolation =
            Interpolation::from_code(interpolation).ok_or_else(|| no_op(interpolation))?;
        let x = rt.pin("quantile", a)?;
        let fractions = rt.pin_some("quantile", each)?;
        let q = fractions.as_deref().map_or(Fractions::One(q), Fractions::Each);
        let dim = (!all).then_some(dim);
        let over = QuantileOf { dim, keep_dim, interpolation, skip_nan };
        rt.own(quantile::quantile(&rt.ctx, &x, q, over)?)
    })
}

#[allow(clippy::too_many_arguments)]
fn unique<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    a: jlong,
    all: jboolean,
    dim: jlong,
    consecutive: jboolean,
    inverse: jboolean,
    counts: jboolean,
    results: JLongArray<'l>,
) {
    operation_all(env, &results, move || {
        let rt = runtime();
        let x = rt.pin("unique", a)?;
        let how = Unique { dim: (!all).then_some(dim), consecutive, inverse, counts };
        Ok(unique::unique(&rt.ctx, &x, how)?.into_iter().map(Some).collect())
    })
}
