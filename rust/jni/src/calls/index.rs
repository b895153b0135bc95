//! Reading and writing by index and mask.

use jni::objects::{JClass, JLongArray};
use jni::sys::{jboolean, jint, jlong};
use jni::{EnvUnowned, NativeMethod, native_method};
use wick_core::kernels::index::Write;
use wick_runtime::ops::index::{self, IndexOp};
use wick_runtime::ops::put::{self, PutOp, Source};
use wick_runtime::ops::{advanced, mask};
use wick_runtime::{Error, Result};

use crate::array::{got, longs};
use crate::boundary::{boundary, operation, operation_all};
use crate::calls::sparse;
use crate::runtime::{Pin, no_op, runtime, scalar};

pub const METHODS: &[NativeMethod<'static>] = &[
    native_method! { static raw fn index(op: jint, a: jlong, dim: jlong, at: jlong, out: jlong) -> jlong },
    native_method! { static raw fn index_put(op: jint, a: jlong, dim: jlong, at: jlong, source: jlong, kind: jint, bits: jlong, in_place: jboolean) -> jlong },
    native_method! { static raw fn index_list(a: jlong, indices: jlong[]) -> jlong },
    native_method! { static raw fn index_put_list(a: jlong, indices: jlong[], source: jlong, accumulate: jboolean, in_place: jboolean) -> jlong },
    native_method! { static raw fn masked_fill(a: jlong, mask: jlong, kind: jint, bits: jlong, in_place: jboolean) -> jlong },
    native_method! { static raw fn one_hot(a: jlong, classes: jlong) -> jlong },
    native_method! { static raw fn nonzero(a: jlong) -> jlong },
    native_method! { static raw fn nonzero_each(a: jlong, results: jlong[]) -> () },
    native_method! { static raw fn equal(a: jlong, b: jlong) -> jboolean },
];

pub fn code(name: &str) -> Option<i32> {
    IndexOp::from_name(name).map(|op| op as i32)
}

pub fn put_code(name: &str) -> Option<i32> {
    PutOp::from_name(name).map(|op| op as i32)
}

fn index(
    env: EnvUnowned,
    _: JClass,
    op: jint,
    a: jlong,
    dim: jlong,
    index: jlong,
    out: jlong,
) -> jlong {
    operation(env, move || {
        let rt = runtime();
        let op = IndexOp::from_code(op).ok_or_else(|| no_op(op))?;
        let (x, at) = (rt.pin(op.name(), a)?, rt.pin(op.name(), index)?);
        let result = match op {
            IndexOp::IndexSelect => {
                let out = rt.pin_some(op.name(), out)?;
                index::index_select(&rt.ctx, &x, dim, &at, out.as_deref())?
            }
            IndexOp::Gather => Some(index::gather(&rt.ctx, &x, dim, &at)?),
            IndexOp::Take => Some(index::take(&rt.ctx, &x, &at)?),
            IndexOp::MaskedSelect => Some(mask::masked_select(&rt.ctx, &x, &at)?),
        };
        rt.give(result, Some(&x), Some(&at))
    })
}

#[allow(clippy::too_many_arguments)]
fn index_put(
    env: EnvUnowned,
    _: JClass,
    op: jint,
    a: jlong,
    dim: jlong,
    index: jlong,
    source: jlong,
    kind: jint,
    bits: jlong,
    in_place: jboolean,
) -> jlong {
    operation(env, move || {
        let rt = runtime();
        let op = PutOp::from_code(op).ok_or_else(|| no_op(op))?;
        let name = op.name();
        let (x, at, from) = (rt.pin(name, a)?, rt.pin(name, index)?, rt.pin_some(name, source)?);
        let tensor = || {
            from.as_deref().ok_or_else(|| Error::internal(format!("{name} needs a source").into()))
        };
        let source = match from.as_deref() {
            Some(t) => Source::Tensor(t),
            None => Source::Number(scalar(kind, bits)),
        };
        let ctx = &rt.ctx;
        let result = match op {
            PutOp::IndexAdd | PutOp::IndexCopy => {
                let source = Source::Tensor(tensor()?);
                put::index_put_slices(ctx, op, &x, dim, &at, source, in_place)
            }
            PutOp::IndexFill => put::index_put_slices(ctx, op, &x, dim, &at, source, in_place),
            PutOp::ScatterAdd => {
                let source = Source::Tensor(tensor()?);
                put::scatter(ctx, &x, dim, &at, source, Write::Add, in_place)
            }
            PutOp::Scatter => put::scatter(ctx, &x, dim, &at, source, Write::Set, in_place),
            PutOp::Put => put::put(ctx, &x, &at, tensor()?, false, in_place),
            PutOp::PutAccumulate => put::put(ctx, &x, &at, tensor()?, true, in_place),
            PutOp::MaskedScatter => mask::masked_scatter(ctx, &x, &at, tensor()?, in_place),
        }?;
        rt.give(result, Some(&x), Some(&at))
    })
}

/// The tensors of a list of indices; 0 stands for a whole dimension.
fn list(handles: &[i64]) -> Result<Vec<Option<Pin>>> {
    let rt = runtime();
    handles.iter().map(|h| rt.pin_some("index", *h)).collect()
}

fn index_list<'l>(env: EnvUnowned<'l>, _: JClass<'l>, a: jlong, indices: JLongArray<'l>) -> jlong {
    let handles = longs(&env, &indices);
    operation(env, move || {
        let rt = runtime();
        let x = rt.pin("index", a)?;
        let pins = list(got(&handles)?)?;
        let indices: Vec<_> = pins.iter().map(|p| p.as_deref()).collect();
        let result = advanced::index(&rt.ctx, &x, &indices)?;
        rt.give(Some(result), Some(&x), None)
    })
}

fn index_put_list<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    a: jlong,
    indices: JLongArray<'l>,
    source: jlong,
    accumulate: jboolean,
    in_place: jboolean,
) -> jlong {
    let handles = longs(&env, &indices);
    operation(env, move || {
        let rt = runtime();
        let (x, from) = (rt.pin("index_put", a)?, rt.pin("index_put", source)?);
        let pins = list(got(&handles)?)?;
        let indices: Vec<_> = pins.iter().map(|p| p.as_deref()).collect();
        let result = advanced::index_put(&rt.ctx, &x, &indices, &from, accumulate, in_place)?;
        rt.give(result, Some(&x), None)
    })
}

fn masked_fill(
    env: EnvUnowned,
    _: JClass,
    a: jlong,
    mask: jlong,
    kind: jint,
    bits: jlong,
    in_place: jboolean,
) -> jlong {
    operation(env, move || {
        let rt = runtime();
        let (x, m) = (rt.pin("masked_fill", a)?, rt.pin("masked_fill", mask)?);
        let result = mask::masked_fill(&rt.ctx, &x, &m, scalar(kind, bits), in_place)?;
        rt.give(result, Some(&x), Some(&m))
    })
}

fn one_hot(env: EnvUnowned, _: JClass, a: jlong, classes: jlong) -> jlong {
    operation(env, move || {
        let rt = runtime();
        let x = rt.pin("one_hot", a)?;
        rt.own(put::one_hot(&rt.ctx, &x, classes)?)
    })
}

fn nonzero(env: EnvUnowned, _: JClass, a: jlong) -> jlong {
    operation(env, move || {
        let rt = runtime();
        let x = rt.pin("nonzero", a)?;
        rt.own(mask::nonzero(&rt.ctx, &x)?)
    })
}

fn nonzero_each<'l>(env: EnvUnowned<'l>, _: JClass<'l>, a: jlong, results: JLongArray<'l>) {
    operation_all(env, &results, move || {
        let rt = runtime();
        let x = rt.pin("where", a)?;
        let rows = mask::nonzero_rows(&rt.ctx, &x)?;
        let row = |d| rows.with_layout("where", rows.layout().select(0, d)).map(Some);
        (0..rows.shape()[0]).map(row).collect()
    })
}

fn equal(env: EnvUnowned, _: JClass, a: jlong, b: jlong) -> jboolean {
    boundary(env, "equal", || sparse::equal(a, b))
}
