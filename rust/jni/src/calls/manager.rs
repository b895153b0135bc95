//! Memory managers: lives recorded by hand, pools, leases.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jni::objects::{JClass, JLongArray};
use jni::sys::{jboolean, jint, jlong};
use jni::{EnvUnowned, NativeMethod, native_method};
use wick_runtime::error::Kind;
use wick_runtime::handle::{Pinned, Table};
use wick_runtime::plan::{Lease, Managed, Manager, PoolSet, Strategy};
use wick_runtime::{Error, Result};

use super::handle::long_array;
use crate::array::longs;
use crate::boundary::{boundary, query, query_env, unpinned};
use crate::runtime::{dtype, no_op, runtime};

pub const METHODS: &[NativeMethod<'static>] = &[
    native_method! { static raw fn manager(planner: jint, wipe: jboolean) -> jlong },
    native_method! { static raw fn manager_group(manager: jlong) -> jint },
    native_method! { static raw fn manager_manage(manager: jlong, group: jint, bytes: jlong, align: jlong) -> jint },
    native_method! { static raw fn manager_end(manager: jlong, group: jint, managed: jint) -> () },
    native_method! { static raw fn manager_populate(manager: jlong, pools: jint) -> () },
    native_method! { static raw fn manager_blocks(manager: jlong) -> jlong[] },
    native_method! { static raw fn manager_clear(manager: jlong) -> () },
    native_method! { static raw fn manager_close(manager: jlong) -> () },
    native_method! { static raw fn lease(manager: jlong, nanos: jlong) -> jlong },
    native_method! { static raw fn lease_tensor(manager: jlong, lease: jlong, group: jint, managed: jint, dtype: jint, shape: jlong[]) -> jlong },
    native_method! { static raw fn lease_wipe(lease: jlong) -> () },
    native_method! { static raw fn lease_release(lease: jlong) -> () },
];

fn closed(what: &'static str) -> Error {
    Kind::State { op: what, expected: "it is closed".into() }.into()
}

/// The manager or lease of a handle, alone for as long as `f` runs.
fn with<T, R>(
    table: &'static Table<Mutex<T>>,
    handle: jlong,
    what: &'static str,
    f: impl FnOnce(MutexGuard<'_, T>) -> Result<R>,
) -> Result<R> {
    let cell: Pinned<'static, Mutex<T>> = table.pin(handle).ok_or_else(|| closed(what))?;
    f(cell.lock().unwrap_or_else(PoisonError::into_inner))
}

fn of<R>(manager: jlong, f: impl FnOnce(MutexGuard<'_, Manager>) -> Result<R>) -> Result<R> {
    with(&runtime().managers, manager, "memory manager", f)
}

fn made(handle: Option<i64>) -> Result<i64> {
    handle.ok_or_else(|| Error::internal("2^26 are live".into()))
}

fn size(n: jlong) -> Result<usize> {
    usize::try_from(n).map_err(|_| Error::shape("manage", &[], format!("{n} bytes")))
}

fn manager(env: EnvUnowned, _: JClass, planner: jint, wipe: jboolean) -> jlong {
    unpinned(env, || {
        let strategy = Strategy::from_code(planner).ok_or_else(|| no_op(planner))?;
        made(runtime().managers.insert(0, Mutex::new(Manager::new(strategy, wipe))))
    })
}

fn manager_group(env: EnvUnowned, _: JClass, manager: jlong) -> jint {
    query(env, || of(manager, |mut m| m.group().map(|g| g as jint)))
}

fn manager_manage(
    env: EnvUnowned,
    _: JClass,
    manager: jlong,
    group: jint,
    bytes: jlong,
    align: jlong,
) -> jint {
    query(env, || {
        let (bytes, align) = (size(bytes)?, size(align)?);
        of(manager, |mut m| m.manage(group as usize, bytes, align).map(|m| m.index() as jint))
    })
}

fn manager_end(env: EnvUnowned, _: JClass, manager: jlong, group: jint, managed: jint) {
    query(env, || of(manager, |mut m| m.end(Managed::new(group as usize, managed as usize))))
}

fn manager_populate(env: EnvUnowned, _: JClass, manager: jlong, pools: jint) {
    query(env, || {
        let ctx = &runtime().ctx;
        of(manager, |mut m| m.populate(ctx, pools.max(0) as usize))
    })
}

fn manager_blocks<'l>(env: EnvUnowned<'l>, _: JClass<'l>, manager: jlong) -> JLongArray<'l> {
    query_env(env, |env| {
        let blocks = of(manager, |m| Ok(m.blocks()))?;
        let each = |b: &wick_runtime::plan::Owner| [b.bytes, b.align, b.owners].map(|n| n as i64);
        let numbers: Vec<i64> = blocks.iter().flat_map(each).collect();
        long_array(env, &numbers)
    })
}

fn manager_clear(env: EnvUnowned, _: JClass, manager: jlong) {
    query(env, || of(manager, |mut m| m.clear()))
}

fn manager_close(env: EnvUnowned, _: JClass, manager: jlong) {
    unpinned(env, || {
        let managers = &runtime().managers;
        if managers.is_live(manager) {
            of(manager, |mut m| m.clear())?;
            managers.close(manager);
        }
        Ok::<_, Error>(())
    })
}

fn lease(env: EnvUnowned, _: JClass, manager: jlong, nanos: jlong) -> jlong {
    query(env, || {
        // Others may acquire, and release, while this one waits: it is in no call then.
        let pools = of(manager, |m| m.pools().cloned())?;
        let lease = PoolSet::acquire(&pools, Duration::from_nanos(nanos.max(0) as u64))?;
        made(runtime().leases.insert(0, Mutex::new(Some(lease))))
    })
}

fn lease_of<R>(lease: jlong, f: impl FnOnce(&mut Lease) -> Result<R>) -> Result<R> {
    with(&runtime().leases, lease, "lease", |mut l| f(l.as_mut().ok_or_else(|| closed("lease"))?))
}

#[allow(clippy::too_many_arguments)]
fn lease_tensor<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    manager: jlong,
    lease: jlong,
    group: jint,
    managed: jint,
    code: jint,
    shape: JLongArray<'l>,
) -> jlong {
    let shape = longs(&env, &shape);
    boundary(env, "lease", || {
        let (op, shape) = ("lease", shape?);
        let managed = Managed::new(group as usize, managed as usize);
        let (place, bytes) = of(manager, |m| m.place(managed))?;
        let dtype = dtype(op, code)?;
        let t = lease_of(lease, |l| l.tensor(op, place, bytes, dtype, &shape))?;
        runtime().own(t)
    })
}

fn lease_wipe(env: EnvUnowned, _: JClass, lease: jlong) {
    boundary(env, "wipe", || {
        lease_of(lease, |l| {
            l.wipe();
            Ok(())
        })
    })
}

fn lease_release(env: EnvUnowned, _: JClass, lease: jlong) {
    unpinned(env, || {
        // The pool is free now, though calls in progress may keep the slot.
        let ended = with(&runtime().leases, lease, "lease", |mut l| Ok(l.take()));
        runtime().leases.close(lease);
        drop(ended);
        Ok::<_, Error>(())
    })
}
