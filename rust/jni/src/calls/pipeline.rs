//! Pipelines: recording, running, what they need.

use std::sync::Arc;
use std::time::Duration;

use jni::objects::{JClass, JLongArray};
use jni::sys::{jboolean, jint, jlong};
use jni::{EnvUnowned, NativeMethod, native_method};
use wick_runtime::plan::Strategy;
use wick_runtime::{Error, Result, Tensor};

use super::handle::long_array;
use crate::array::{all_longs, give_all, same, write_longs};
use crate::boundary::{query, query_env, unpinned};
use crate::pipeline::{self, Pipeline};
use crate::runtime::{Pin, no_op, runtime};

pub const METHODS: &[NativeMethod<'static>] = &[
    native_method! { static raw fn pipeline_record(inputs: jlong[]) -> () },
    native_method! { static raw fn pipeline_abandon() -> () },
    native_method! { static raw fn pipeline_finish(outputs: jlong[], strategy: jint, pools: jint, wipe: jboolean) -> jlong },
    native_method! { static raw fn pipeline_run(pipeline: jlong, inputs: jlong[], out: jlong[], nanos: jlong, results: jlong[]) -> () },
    native_method! { static raw fn pipeline_report(pipeline: jlong, out: jlong[]) -> () },
    native_method! { static raw fn pipeline_places(pipeline: jlong) -> jlong[] },
    native_method! { static raw fn pipeline_close(pipeline: jlong) -> () },
];

fn pipeline_record<'l>(env: EnvUnowned<'l>, _: JClass<'l>, inputs: JLongArray<'l>) {
    let inputs = all_longs(&env, &inputs);
    query(env, || pipeline::record(&inputs?))
}

fn pipeline_abandon(env: EnvUnowned, _: JClass) {
    query(env, || {
        pipeline::abandon();
        Ok::<_, Error>(())
    })
}

fn pipeline_finish<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    outputs: JLongArray<'l>,
    strategy: jint,
    pools: jint,
    wipe: jboolean,
) -> jlong {
    let outputs = all_longs(&env, &outputs);
    query(env, || {
        let strategy = Strategy::from_code(strategy).ok_or_else(|| no_op(strategy))?;
        let made = pipeline::finish(&outputs?, strategy, pools.max(0) as usize, wipe)?;
        let handle = runtime().pipelines.insert(0, Arc::new(made));
        handle.ok_or_else(|| Error::internal("2^26 pipelines are live".into()))
    })
}

fn get(handle: jlong) -> Result<Arc<Pipeline>> {
    let found = runtime().pipelines.pin(handle).map(|p| Arc::clone(&p));
    found.ok_or_else(|| {
        wick_runtime::error::Kind::State { op: "pipeline", expected: "it is closed".into() }.into()
    })
}

/// `out`: null, or a target for each output; else `results` takes the handles of new tensors.
fn pipeline_run<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    pipeline: jlong,
    inputs: JLongArray<'l>,
    out: JLongArray<'l>,
    nanos: jlong,
    results: JLongArray<'l>,
) {
    let inner = same(&env);
    let inputs = all_longs(&env, &inputs);
    let out = if out.is_null() { Ok(None) } else { all_longs(&env, &out).map(Some) };
    query(env, || {
        let (rt, pipeline) = (runtime(), get(pipeline)?);
        let pins = |handles: &[i64]| -> Result<Vec<Pin>> {
            handles.iter().map(|h| rt.look("pipeline", *h)).collect()
        };
        let (inputs, out) = (pins(&inputs?)?, out?.map(|out| pins(&out)).transpose()?);
        let inputs: Vec<&Tensor> = inputs.iter().map(|p| &**p).collect();
        let out: Option<Vec<&Tensor>> = out.as_ref().map(|o| o.iter().map(|p| &**p).collect());
        let timeout = Duration::from_nanos(nanos.max(0) as u64);
        let made = pipeline.run(&inputs, out.as_deref(), timeout)?;
        if out.is_some() { Ok(()) } else { give_all(&inner, &results, made) }
    })
}

fn pipeline_report<'l>(env: EnvUnowned<'l>, _: JClass<'l>, pipeline: jlong, out: JLongArray<'l>) {
    let inner = same(&env);
    query(env, || write_longs(&inner, &out, &get(pipeline)?.report()))
}

fn pipeline_places<'l>(env: EnvUnowned<'l>, _: JClass<'l>, pipeline: jlong) -> JLongArray<'l> {
    query_env(env, |env| long_array(env, &get(pipeline)?.places()))
}

fn pipeline_close(env: EnvUnowned, _: JClass, pipeline: jlong) {
    unpinned(env, || {
        // Runs that are under way keep it.
        runtime().pipelines.close(pipeline);
        Ok::<_, Error>(())
    })
}
