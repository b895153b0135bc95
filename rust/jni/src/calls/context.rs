//! Contexts: memory, threads, random numbers, schedulers, programs; 0 is the default one.

use std::path::Path;
use std::sync::Arc;

use jni::objects::{JClass, JLongArray, JObject, JString};
use jni::sys::{jboolean, jint, jlong};
use jni::{EnvUnowned, NativeMethod, native_method};
use wick_runtime::alloc::machine_memory;
use wick_runtime::scheduler::{Hints, Strategy};
use wick_runtime::{Error, Stream};

use crate::array::{all_longs, same, write_longs};
use crate::boundary::{ONCE, query, query_env};
use crate::devices::JvmScheduler;
use crate::pipeline;
use crate::runtime::runtime;

pub const METHODS: &[NativeMethod<'static>] = &[
    native_method! { static raw fn new_context(threads: jint, cap: jlong) -> jint },
    native_method! { static raw fn close_context(number: jint) -> () },
    native_method! { static raw fn context_state(number: jint, out: jlong[]) -> () },
    native_method! { static raw fn set_context(number: jint, what: jint, value: jlong, second: jlong) -> () },
    native_method! { static raw fn bind_threads(number: jint, cores: jlong[]) -> jint },
    native_method! { static raw fn set_scheduler(number: jint, bridge: JObject) -> () },
    native_method! { static raw fn set_kernel_folder(number: jint, path: JString) -> () },
    native_method! { static raw fn run_part(parts: jlong) -> jboolean },
    native_method! { static raw fn set_hints(split_dim: jint, strategy: jint, granules: jint, threads: jint, before: jlong[]) -> () },
];

/// 0 threads: the machine's; 0 bytes: the machine's memory.
fn new_context(env: EnvUnowned, _: JClass, threads: jint, cap: jlong) -> jint {
    query(env, || {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if threads <= 0 { processors } else { threads as usize };
        let cap = if cap <= 0 { machine_memory() } else { cap as usize };
        Ok::<_, Error>(runtime().devices.open(threads, cap) as jint)
    })
}

fn close_context(env: EnvUnowned, _: JClass, number: jint) {
    query(env, || {
        runtime().devices.close(number as u32);
        Ok::<_, Error>(())
    })
}

/// Live, peak, cached bytes, cap, threads, seed, offset; of programs: entries, bytes, built, read,
/// hits.
fn context_state<'l>(env: EnvUnowned<'l>, _: JClass<'l>, number: jint, out: JLongArray<'l>) {
    let inner = same(&env);
    query(env, || {
        let device = runtime().devices.get("context", number)?;
        let ctx = device.context();
        let (memory, stream, kept) = (ctx.allocator().memory(), ctx.stream(), ctx.kernels().kept());
        let values = [
            memory.live as i64,
            memory.peak as i64,
            memory.cached as i64,
            memory.cap.min(i64::MAX as usize) as i64,
            ctx.threads() as i64,
            stream.seed as i64,
            stream.offset as i64,
            kept.entries as i64,
            kept.bytes as i64,
            kept.built as i64,
            kept.read as i64,
            kept.hits as i64,
        ];
        write_longs(&inner, &out, &values)
    })
}

/// What: 0 threads, 1 cap, 2 seed and offset, 3 trim, 4 the peak starts anew, 5 programs in memory
/// are forgotten.
fn set_context(env: EnvUnowned, _: JClass, number: jint, what: jint, value: jlong, second: jlong) {
    query(env, || {
        let device = runtime().devices.get("context", number)?;
        let ctx = device.context();
        match what {
            0 => ctx.set_threads(value.clamp(1, 1024) as usize),
            1 => ctx.allocator().set_cap(value.max(0) as usize),
            2 => {
                pipeline::refuse("seed", ONCE)?;
                ctx.set_stream(Stream { seed: value as u64, offset: second as u64 });
            }
            3 => ctx.allocator().trim(),
            4 => ctx.allocator().reset_peak(),
            _ => ctx.kernels().clear(),
        }
        Ok::<_, Error>(())
    })
}

/// How many threads of the context's pool were bound.
fn bind_threads<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    number: jint,
    cores: JLongArray<'l>,
) -> jint {
    let cores = all_longs(&env, &cores);
    query(env, || {
        let device = runtime().devices.get("context", number)?;
        // The system refuses what is no processor.
        let cores: Vec<usize> =
            cores?.into_iter().map(|n| usize::try_from(n).unwrap_or(usize::MAX)).collect();
        Ok::<_, Error>(device.context().bind_threads(&cores) as jint)
    })
}

/// null: the context's own pool.
fn set_scheduler<'l>(env: EnvUnowned<'l>, _: JClass<'l>, number: jint, bridge: JObject<'l>) {
    let bridge = &bridge;
    query_env(env, |env| {
        let device = runtime().devices.get("context", number)?;
        let scheduler = match bridge.is_null() {
            true => None,
            false => Some(Arc::new(JvmScheduler::new(env, bridge)?) as _),
        };
        device.context().set_scheduler(scheduler);
        Ok(())
    })
}

fn set_kernel_folder<'l>(env: EnvUnowned<'l>, _: JClass<'l>, number: jint, path: JString<'l>) {
    let path = &path;
    query_env(env, |env| {
        let device = runtime().devices.get("context", number)?;
        let path = if path.is_null() { None } else { Some(path.try_to_string(env)?) };
        Ok(device.context().kernels().set_folder(path.as_deref().map(Path::new))?)
    })
}

/// Runs the next part of an operation; false where none is left, or the operation has ended.
fn run_part(env: EnvUnowned, _: JClass, parts: jlong) -> jboolean {
    query(env, || {
        let parts = runtime().devices.parts.pin(parts).map(|p| Arc::clone(&p));
        Ok::<_, Error>(parts.is_some_and(|p| p.run_one()))
    })
}

/// Hints for the thread's operations: -1 no dimension; strategy 0 auto, 1 static, 2 dynamic; 0 threads:
/// the context's. Fills those before.
fn set_hints<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    split_dim: jint,
    strategy: jint,
    granules: jint,
    threads: jint,
    before: JLongArray<'l>,
) {
    let hints = Hints {
        split_dim: usize::try_from(split_dim).ok(),
        strategy: match strategy {
            1 => Strategy::Static,
            2 => Strategy::Dynamic(granules.max(1) as usize),
            _ => Strategy::Auto,
        },
        threads: (threads > 0).then_some(threads as usize),
    };
    let old = hints.install();
    if before.is_null() {
        return;
    }
    let (strategy, granules) = match old.strategy {
        Strategy::Auto => (0, 0),
        Strategy::Static => (1, 0),
        Strategy::Dynamic(n) => (2, n as i64),
    };
    let dim = old.split_dim.map_or(-1, |d| d as i64);
    let values = [dim, strategy, granules, old.threads.unwrap_or(0) as i64];
    let written = write_longs(&env, &before, &values);
    query(env, || written)
}
