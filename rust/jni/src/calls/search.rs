//! Places among sorted values, counts, repeats, products of vectors, index grids, differences.

use jni::objects::{JClass, JLongArray};
use jni::sys::{jboolean, jdouble, jint, jlong};
use jni::{EnvUnowned, NativeMethod, native_method};
use wick_runtime::Tensor;
use wick_runtime::ops::reduce::Over;
use wick_runtime::ops::repeat::{self, Repeats};
use wick_runtime::ops::search::{self, Search};

use crate::array::{all_longs, got, longs_some};
use crate::boundary::{operation, operation_all};
use crate::runtime::{dtype_some, runtime};

pub const METHODS: &[NativeMethod<'static>] = &[
    native_method! { static raw fn searchsorted(bucketize: jboolean, sequence: jlong, values: jlong, sorter: jlong, right: jboolean, i32: jboolean) -> jlong },
    native_method! { static raw fn histc(a: jlong, bins: jlong, min: jdouble, max: jdouble) -> jlong },
    native_method! { static raw fn bincount(a: jlong, weights: jlong, min_length: jlong) -> jlong },
    native_method! { static raw fn repeat_interleave(a: jlong, repeats: jlong, times: jlong, all: jboolean, dim: jlong) -> jlong },
    native_method! { static raw fn repeat_places(repeats: jlong) -> jlong },
    native_method! { static raw fn cartesian_product(vectors: jlong[]) -> jlong },
    native_method! { static raw fn combinations(a: jlong, r: jlong, again: jboolean) -> jlong },
    native_method! { static raw fn triangle_places(rows: jlong, columns: jlong, diagonal: jlong, upper: jboolean) -> jlong },
    native_method! { static raw fn meshgrid(vectors: jlong[], xy: jboolean, results: jlong[]) -> () },
    native_method! { static raw fn diff(a: jlong, n: jlong, dim: jlong, before: jlong, after: jlong) -> jlong },
    native_method! { static raw fn nan_reduce(mean: jboolean, a: jlong, dims: jlong[], keep_dim: jboolean, dtype: jint) -> jlong },
];

#[allow(clippy::too_many_arguments)]
fn searchsorted(
    env: EnvUnowned,
    _: JClass,
    bucketize: jboolean,
    sequence: jlong,
    values: jlong,
    sorter: jlong,
    right: jboolean,
    i32: jboolean,
) -> jlong {
    operation(env, move || {
        let rt = runtime();
        let op = if bucketize { "bucketize" } else { "searchsorted" };
        let (s, v) = (rt.pin(op, sequence)?, rt.pin(op, values)?);
        let sorter = rt.pin_some(op, sorter)?;
        let how = Search { right, i32, sorter: sorter.as_deref() };
        let result = search::searchsorted(&rt.ctx, op, &s, &v, how)?;
        rt.give(Some(result), Some(&v), None)
    })
}

fn histc(env: EnvUnowned, _: JClass, a: jlong, bins: jlong, min: jdouble, max: jdouble) -> jlong {
    operation(env, move || {
        let rt = runtime();
        let x = rt.pin("histc", a)?;
        rt.own(search::histc(&rt.ctx, &x, bins, min, max)?)
    })
}

fn bincount(env: EnvUnowned, _: JClass, a: jlong, weights: jlong, min_length: jlong) -> jlong {
    operation(env, move || {
        let rt = runtime();
        let (x, w) = (rt.pin("bincount", a)?, rt.pin_some("bincount", weights)?);
        rt.own(search::bincount(&rt.ctx, &x, w.as_deref(), min_length)?)
    })
}

#[allow(clippy::too_many_arguments)]
fn repeat_interleave(
    env: EnvUnowned,
    _: JClass,
    a: jlong,
    repeats: jlong,
    times: jlong,
    all: jboolean,
    dim: jlong,
) -> jlong {
    operation(env, move || {
        let rt = runtime();
        let op = "repeat_interleave";
        let (x, r) = (rt.pin(op, a)?, rt.pin_some(op, repeats)?);
        let repeats = r.as_deref().map_or(Repeats::All(times), Repeats::Each);
        let dim = (!all).then_some(dim);
        rt.own(repeat::repeat_interleave(&rt.ctx, &x, repeats, dim)?)
    })
}

fn repeat_places(env: EnvUnowned, _: JClass, repeats: jlong) -> jlong {
    operation(env, move || {
        let rt = runtime();
        let r = rt.pin("repeat_interleave", repeats)?;
        rt.own(repeat::repeat_places(&rt.ctx, &r)?)
    })
}

fn cartesian_product<'l>(env: EnvUnowned<'l>, _: JClass<'l>, vectors: JLongArray<'l>) -> jlong {
    let handles = all_longs(&env, &vectors);
    operation(env, move || {
        let rt = runtime();
        let pins = rt.pin_all("cartesian_prod", got(&handles)?)?;
        let vectors: Vec<&Tensor> = pins.iter().map(|p| &**p).collect();
        rt.own(repeat::cartesian_product(&rt.ctx, &vectors)?)
    })
}

fn combinations(env: EnvUnowned, _: JClass, a: jlong, r: jlong, again: jboolean) -> jlong {
    operation(env, move || {
        let rt = runtime();
        let x = rt.pin("combinations", a)?;
        rt.own(repeat::combinations(&rt.ctx, &x, r, again)?)
    })
}

fn triangle_places(
    env: EnvUnowned,
    _: JClass,
    rows: jlong,
    columns: jlong,
    diagonal: jlong,
    upper: jboolean,
) -> jlong {
    operation(env, move || {
        let rt = runtime();
        rt.own(repeat::triangle_places(&rt.ctx, rows, columns, diagonal, upper)?)
    })
}

fn meshgrid<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    vectors: JLongArray<'l>,
    xy: jboolean,
    results: JLongArray<'l>,
) {
    let handles = all_longs(&env, &vectors);
    operation_all(env, &results, move || {
        let rt = runtime();
        let pins = rt.pin_all("meshgrid", got(&handles)?)?;
        let vectors: Vec<&Tensor> = pins.iter().map(|p| &**p).collect();
        Ok(repeat::meshgrid(&vectors, xy)?.into_iter().map(Some).collect())
    })
}

fn diff(
    env: EnvUnowned,
    _: JClass,
    a: jlong,
    n: jlong,
    dim: jlong,
    before: jlong,
    after: jlong,
) -> jlong {
    operation(env, move || {
        let rt = runtime();
        let x = rt.pin("diff", a)?;
        let (before, after) = (rt.pin_some("diff", before)?, rt.pin_some("diff", after)?);
        rt.own(repeat::diff(&rt.ctx, &x, n, dim, before.as_deref(), after.as_deref())?)
    })
}

#[allow(clippy::too_many_arguments)]
fn nan_reduce<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    mean: jboolean,
    a: jlong,
    dims: JLongArray<'l>,
    keep_dim: jboolean,
    dtype: jint,
) -> jlong {
    let dims = longs_some(&env, &dims);
    operation(env, move || {
        let rt = runtime();
        let op = if mean { "nanmean" } else { "nansum" };
        let x = rt.pin(op, a)?;
        let over = Over { dims: got(&dims)?.as_deref(), keep_dim };
        rt.own(repeat::nan_reduce(&rt.ctx, &x, over, dtype_some(op, dtype)?, mean)?)
    })
}
