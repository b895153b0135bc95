//! Devices: where tensors live, mirrored storages, the simulated device, events.

use std::time::Duration;

use jni::objects::{JByteArray, JClass};
use jni::sys::{jboolean, jint, jlong, jsize};
use jni::{EnvUnowned, NativeMethod, native_method};
use wick_runtime::device::{self, Event, Work};
use wick_runtime::error::Kind;
use wick_runtime::ops::array::{from_elements, with_elements};
use wick_runtime::ops::elementwise;
use wick_runtime::ops::promote::check_writable;
use wick_runtime::{Error, Result};

use crate::array::{Primitive, length, same};
use crate::boundary::{boundary, query, unpinned};
use crate::runtime::runtime;

pub const METHODS: &[NativeMethod<'static>] = &[
    native_method! { static raw fn sim_device(index: jint) -> jint },
    native_method! { static raw fn device_of(a: jlong) -> jint },
    native_method! { static raw fn copy_to_device(a: jlong, device: jint) -> jlong },
    native_method! { static raw fn on_device(a: jlong, device: jint) -> jlong },
    native_method! { static raw fn prefetch(a: jlong, device: jint) -> () },
    native_method! { static raw fn is_ready(a: jlong, device: jint) -> jboolean },
    native_method! { static raw fn discard(a: jlong) -> jboolean },
    native_method! { static raw fn host_read(a: jlong, out: jbyte[]) -> () },
    native_method! { static raw fn host_write(a: jlong, from: jbyte[]) -> () },
    native_method! { static raw fn simulate(index: jint, what: jint, work: jint, value: jlong) -> () },
    native_method! { static raw fn simulated(index: jint, work: jint) -> jlong },
    native_method! { static raw fn queue_event(device: jint, upload: jboolean) -> jlong },
    native_method! { static raw fn queue_wait(device: jint, upload: jboolean, event: jlong) -> () },
    native_method! { static raw fn event_done(event: jlong) -> jboolean },
    native_method! { static raw fn event_wait(event: jlong, nanos: jlong) -> jboolean },
    native_method! { static raw fn event_release(event: jlong) -> () },
];

fn sim_device(env: EnvUnowned, _: JClass, index: jint) -> jint {
    unpinned(env, || runtime().devices.sim(index).map(|(device, _)| device.number() as jint))
}

fn device_of(env: EnvUnowned, _: JClass, a: jlong) -> jint {
    unpinned(env, || runtime().look("device", a).map(|t| t.device() as jint))
}

fn copy_to_device(env: EnvUnowned, _: JClass, a: jlong, number: jint) -> jlong {
    boundary(env, "to", || {
        let (rt, op) = (runtime(), "to");
        let (t, to) = (rt.look(op, a)?, rt.devices.get(op, number)?);
        let copy = device::copy_to(&rt.ctx.host, op, &t, &to)?;
        rt.give(Some(copy), Some(&t), None)
    })
}

fn on_device(env: EnvUnowned, _: JClass, a: jlong, number: jint) -> jlong {
    boundary(env, "on_device", || {
        let (rt, op) = (runtime(), "on_device");
        let (t, to) = (rt.look(op, a)?, rt.devices.get(op, number)?);
        rt.give(Some(t.on(op, &to)?), Some(&t), None)
    })
}

fn prefetch(env: EnvUnowned, _: JClass, a: jlong, number: jint) {
    boundary(env, "async_copy_to_device", || {
        let (rt, op) = (runtime(), "async_copy_to_device");
        let (t, to) = (rt.look(op, a)?, rt.devices.get(op, number)?);
        t.on(op, &to)?.prefetch(op)
    })
}

fn is_ready(env: EnvUnowned, _: JClass, a: jlong, number: jint) -> jboolean {
    query(env, || {
        let t = runtime().look("ready", a)?;
        Ok::<_, Error>(match number {
            -1 => t.is_ready_beside(true),
            -2 => t.is_ready_beside(false),
            n => t.is_ready(n as u32),
        })
    })
}

fn discard(env: EnvUnowned, _: JClass, a: jlong) -> jboolean {
    boundary(env, "overwrite", || {
        let t = runtime().look("overwrite", a)?;
        check_writable("overwrite", &t, &[])?;
        t.discard("overwrite")
    })
}

/// The elements' bytes in row-major order.
fn host_read<'l>(env: EnvUnowned<'l>, _: JClass<'l>, a: jlong, out: JByteArray<'l>) {
    let inner = same(&env);
    boundary(env, "host_read", || {
        let (rt, op) = (runtime(), "host_read");
        let t = rt.pin_host(op, a)?;
        let bytes = t.numel() as usize * t.dtype().size();
        expect(op, bytes, length(&inner, out.as_raw())?)?;
        with_elements(&rt.ctx, &t, t.dtype(), t.numel() as usize, |from| {
            // SAFETY: the array has as many bytes as the tensor.
            unsafe { i8::set(&inner, out.as_raw(), from.as_ptr().cast(), bytes as jsize) }
        })
    })
}

/// Writes all elements from bytes in row-major order.
fn host_write<'l>(env: EnvUnowned<'l>, _: JClass<'l>, a: jlong, from: JByteArray<'l>) {
    let inner = same(&env);
    boundary(env, "host_write", || {
        let (rt, op) = (runtime(), "host_write");
        let t = rt.pin_host(op, a)?;
        check_writable(op, &t, &[])?;
        let bytes = t.numel() as usize * t.dtype().size();
        expect(op, bytes, length(&inner, from.as_raw())?)?;
        let new = from_elements(&rt.ctx, t.dtype(), t.shape(), t.numel() as usize, |to| {
            // SAFETY: as in host_read.
            unsafe { i8::get(&inner, from.as_raw(), to.as_mut_ptr().cast(), bytes as jsize) }
        })?;
        elementwise::copy(&rt.ctx, &t, &new)
    })
}

fn expect(op: &'static str, bytes: usize, length: usize) -> Result<()> {
    if bytes == length {
        return Ok(());
    }
    Err(Error::internal(format!("{op}: {length} bytes for a tensor of {bytes}").into()))
}

fn work(code: jint) -> Work {
    match code {
        0 => Work::Compute,
        1 => Work::Upload,
        _ => Work::Download,
    }
}

/// What: 0 a delay in nanoseconds, 1 failures to come, 2 held or not, 3 a fresh start.
fn simulate(env: EnvUnowned, _: JClass, index: jint, what: jint, code: jint, value: jlong) {
    query(env, || {
        let (_, sim) = runtime().devices.sim(index)?;
        match what {
            0 => sim.delay(work(code), Duration::from_nanos(value.max(0) as u64)),
            1 => sim.fail(work(code), value.clamp(0, i64::from(u32::MAX)) as u32),
            2 => sim.hold(work(code), value != 0),
            _ => sim.reset(),
        }
        Ok::<_, Error>(())
    })
}

fn simulated(env: EnvUnowned, _: JClass, index: jint, code: jint) -> jlong {
    query(env, || runtime().devices.sim(index).map(|(_, sim)| sim.done(work(code)) as jlong))
}

/// A handle for an event that is done when all that was submitted before is.
fn queue_event(env: EnvUnowned, _: JClass, number: jint, upload: jboolean) -> jlong {
    query(env, || {
        let rt = runtime();
        let device = rt.devices.get("event", number)?;
        let queue = if upload { device.upload_queue() } else { device.compute_queue() };
        // Where the processor computes, a call's work ends with the call.
        let event = queue.map_or_else(|| Event::ended(Ok(())), |q| q.event());
        let handle = rt.devices.events.insert(0, event);
        handle.ok_or_else(|| Error::internal("2^26 events are live".into()))
    })
}

fn event(handle: jlong) -> Result<Event> {
    let gone = || Kind::Device { op: "event", expected: "it was released".into() }.into();
    runtime().devices.events.pin(handle).map(|e| e.clone()).ok_or_else(gone)
}

fn queue_wait(env: EnvUnowned, _: JClass, number: jint, upload: jboolean, handle: jlong) {
    query(env, || {
        let device = runtime().devices.get("queue", number)?;
        let event = event(handle)?;
        match if upload { device.upload_queue() } else { device.compute_queue() } {
            Some(queue) => {
                queue.wait_for(&event);
                Ok(())
            }
            None => event.wait(),
        }
    })
}

fn event_done(env: EnvUnowned, _: JClass, handle: jlong) -> jboolean {
    query(env, || event(handle).map(|e| e.is_done()))
}

/// Negative: without a limit. False where the time was not enough.
fn event_wait(env: EnvUnowned, _: JClass, handle: jlong, nanos: jlong) -> jboolean {
    query(env, || {
        let event = event(handle)?;
        if nanos < 0 {
            return event.wait().map(|()| true);
        }
        match event.wait_for(Duration::from_nanos(nanos as u64)) {
            Some(result) => result.map(|()| true),
            None => Ok(false),
        }
    })
}

fn event_release(env: EnvUnowned, _: JClass, handle: jlong) {
    unpinned(env, || {
        runtime().devices.events.close(handle);
        Ok::<_, Error>(())
    })
}
