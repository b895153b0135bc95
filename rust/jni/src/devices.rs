//! What this process has beside the default context: simulated devices, contexts, their events, and
//! schedulers of the JVM.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jni::objects::{JObject, JString};
use jni::refs::Global;
use jni::{Env, JValue, JavaVM, jni_sig, jni_str};
use wick_runtime::alloc::machine_memory;
use wick_runtime::device::{Device, Event, Sim};
use wick_runtime::error::Kind;
use wick_runtime::handle::Table;
use wick_runtime::scheduler::{Parts, Scheduler};
use wick_runtime::{Context, Error, Result};

use crate::runtime::runtime;

/// How many simulated devices there can be.
pub const SIMS: i32 = 8;

/// Devices by number, and what is handed to the JVM of them.
#[derive(Default)]
pub struct Devices {
    held: Mutex<Held>,
    pub events: Table<Event>,
    pub parts: Table<Arc<Parts>>,
}

#[derive(Default)]
struct Held {
    contexts: HashMap<u32, Arc<Device>>,
    sims: HashMap<i32, (Arc<Device>, Arc<Sim>)>,
}

fn fail<T>(op: &'static str, expected: String) -> Result<T> {
    Err(Kind::Device { op, expected: expected.into() }.into())
}

impl Devices {
    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A simulated device, made when it is first asked for.
    pub fn sim(&self, index: i32) -> Result<(Arc<Device>, Arc<Sim>)> {
        if !(0..SIMS).contains(&index) {
            return fail("device", format!("sim:{index} is not there: 0 to {} are", SIMS - 1));
        }
        let mut held = self.lock();
        let (device, sim) = held.sims.entry(index).or_insert_with(|| {
            let context = Context::apart(|_| format!("sim:{index}"), machine_memory(), 1);
            let sim = Arc::new(Sim::default());
            (Device::beside(context, sim.clone()), sim)
        });
        Ok((device.clone(), sim.clone()))
    }

    /// A new context; its number.
    pub fn open(&self, threads: usize, cap: usize) -> u32 {
        let context = Context::apart(|n| format!("context {n}"), cap, threads);
        let device = Device::host(context);
        let number = device.number();
        self.lock().contexts.insert(number, device);
        number
    }

    /// Ends a context: its threads end, its tensors stay until their scopes end, and operations on
    /// them are errors.
    pub fn close(&self, number: u32) {
        let closed = self.lock().contexts.remove(&number);
        drop(closed);
    }

    /// The device of a number; 0 is the default context.
    pub fn get(&self, op: &'static str, number: i32) -> Result<Arc<Device>> {
        match number {
            0 => Ok(runtime().ctx.host.clone()),
            n => wick_runtime::device::get(op, n as u32),
        }
    }
}

/// A scheduler of the JVM.
pub struct JvmScheduler {
    vm: JavaVM,
    /// A `wick.SchedulerBridge`.
    bridge: Global<JObject<'static>>,
}

impl JvmScheduler {
    /// Of a `wick.SchedulerBridge`.
    pub fn new(env: &mut Env, bridge: &JObject) -> jni::errors::Result<JvmScheduler> {
        Ok(JvmScheduler { vm: env.get_java_vm()?, bridge: env.new_global_ref(bridge)? })
    }

    /// Runs the bridge; what it threw, as text: it must not wait in the thread while the operation goes
    /// on.
    fn call(&self, parts: i32, handle: i64) -> jni::errors::Result<Option<String>> {
        self.vm.attach_current_thread(|env| {
            env.with_local_frame(16, |env| {
                let args = [JValue::Int(parts), JValue::Long(handle)];
                let ran = env.call_method(&self.bridge, jni_str!("run"), jni_sig!("(IJ)V"), &args);
                let Some(thrown) = env.exception_occurred() else {
                    return ran.map(|_| None);
                };
                env.exception_clear();
                let text = env
                    .call_method(
                        &thrown,
                        jni_str!("toString"),
                        jni_sig!("()Ljava/lang/String;"),
                        &[],
                    )
                    .and_then(|text| text.l());
                // It is a user's, too, and may throw.
                env.exception_clear();
                let text = env.cast_local::<JString>(text?)?;
                text.try_to_string(env).map(Some)
            })
        })
    }
}

impl Scheduler for JvmScheduler {
    fn help(&self, parts: &Arc<Parts>, _: usize) {
        let devices = &runtime().devices;
        let Some(handle) = devices.parts.insert(0, Arc::clone(parts)) else { return };
        let called = self.call(parts.total() as i32, handle);
        devices.parts.close(handle);
        let failure = called.unwrap_or_else(|e| Some(e.to_string()));
        if let Some(e) = failure {
            // Thrown at the operation's end, when its parts have ended.
            let text = format!("the scheduler failed: {e}");
            std::panic::resume_unwind(Box::new(Error::internal(text.into())));
        }
    }
}
