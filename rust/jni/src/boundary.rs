//! The one door between the JVM and Rust: catches panics, turns errors into exceptions, and builds
//! an `Env` only where it is needed.

use std::any::Any;
use std::backtrace::Backtrace;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use jni::objects::JLongArray;
use jni::strings::JNIString;
use jni::sys::jlong;
use jni::{Env, EnvUnowned};
use wick_runtime::device::{self, Accesses};
use wick_runtime::error::Kind;
use wick_runtime::{Error, Tensor};

use crate::array::{same, write_handles};
use crate::pipeline;
use crate::runtime::runtime;

/// What a native method may fail with.
pub enum Failure {
    /// An error of the runtime, to be thrown as its exception.
    Runtime(Error),
    /// A JNI call failed; usually a Java exception is pending already.
    Jni(jni::errors::Error),
    /// A panic: message and Rust backtrace.
    Panic(String),
}

impl From<Error> for Failure {
    fn from(e: Error) -> Failure {
        Failure::Runtime(e)
    }
}

impl From<jni::errors::Error> for Failure {
    fn from(e: jni::errors::Error) -> Failure {
        Failure::Jni(e)
    }
}

thread_local! {
    static BACKTRACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Panics leave their backtrace for the exception instead of printing it.
pub fn keep_backtraces() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(|l| format!(" at {l}")).unwrap_or_default();
        let text = format!("{place}\n{}", Backtrace::force_capture());
        let _ = BACKTRACE.try_with(|slot| *slot.borrow_mut() = Some(text));
    }));
}

/// What a panic left: an error that was raised where no result could carry it, or a message.
fn left(payload: Box<dyn Any + Send>) -> Failure {
    match payload.downcast::<Error>() {
        Ok(error) => Failure::Runtime(*error),
        Err(payload) => Failure::Panic(panic_text(payload)),
    }
}

fn panic_text(payload: Box<dyn Any + Send>) -> String {
    let message = payload
        .downcast_ref::<&str>()
        .map(|s| s.to_string())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "panic".to_owned());
    let trace = BACKTRACE.try_with(|slot| slot.borrow_mut().take()).ok().flatten();
    format!("internal error: {message}{}", trace.unwrap_or_default())
}

/// Runs a native method's body; an error or panic becomes the pending exception and the default
/// value is returned. A body that finds its operands on another device, before it has done anything,
/// runs again in that device's turn.
#[inline]
fn enter<T: Default, E: Into<Failure>>(
    env: EnvUnowned,
    body: impl FnOnce() -> Result<T, E> + Clone,
) -> T {
    unpinned(env, || {
        if device::others() { anywhere(body) } else { runtime().call(body).map_err(E::into) }
    })
}

/// As [`query`] for a body that pins nothing: it is in no call, so that what it closes is freed at
/// once, and what others close while it waits.
#[inline]
pub fn unpinned<T: Default, E: Into<Failure>>(
    env: EnvUnowned,
    body: impl FnOnce() -> Result<T, E>,
) -> T {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => value,
        Ok(Err(error)) => fail(env, error.into()),
        Err(payload) => fail(env, left(payload)),
    }
}

/// Why what is not an operation cannot be part of a pipeline.
pub const ONCE: &str = "it would be done, or seen, in the recording alone";

/// Runs a native method that elements pass through on their way to or from the JVM, a file or a
/// device: `op` cannot be part of a pipeline, and is refused while the thread records one.
pub fn boundary<T: Default, E: Into<Failure>>(
    env: EnvUnowned,
    op: &'static str,
    body: impl FnOnce() -> Result<T, E> + Clone,
) -> T {
    enter(env, || {
        pipeline::refuse(op, ONCE).map_err(Failure::Runtime)?;
        body().map_err(E::into)
    })
}

/// Runs a native method that asks about handles and services alone, or closes them: it reads and writes
/// no element and makes no tensor, so that recorded pipelines need not know of it.
#[inline]
pub fn query<T: Default, E: Into<Failure>>(
    env: EnvUnowned,
    body: impl FnOnce() -> Result<T, E> + Clone,
) -> T {
    enter(env, body)
}

/// Runs a body where its operands live.
#[cold]
fn anywhere<T, E: Into<Failure>>(
    body: impl FnOnce() -> Result<T, E> + Clone,
) -> Result<T, Failure> {
    let again = body.clone();
    let first = device::attempt(|| {
        let _accesses = Accesses::begin();
        runtime().call(body).map_err(E::into)
    });
    match &first {
        Err(Failure::Runtime(e)) => match *e.kind() {
            Kind::Elsewhere { op, device } => {
                device::get(op, device)?.run(op, |_| runtime().call(again).map_err(E::into))
            }
            _ => first,
        },
        _ => first,
    }
}

/// Runs a native method that computes: its body owns what it needs, so that a pipeline can do it again.
#[inline]
pub fn operation<T: Default>(
    env: EnvUnowned,
    body: impl Fn() -> Result<T, Error> + Clone + Send + Sync + 'static,
) -> T {
    enter(env, || pipeline::perform(&body))
}

/// As [`operation`] for one that sparse tensors know, too: where `dense` finds one among its operands,
/// before it has done anything, `sparse` is asked instead.
#[inline]
pub fn operation_or<T: Default>(
    env: EnvUnowned,
    dense: impl Fn() -> Result<T, Error> + Clone + Send + Sync + 'static,
    sparse: impl Fn() -> Result<T, Error> + Clone + Send + Sync + 'static,
) -> T {
    operation(env, move || match dense() {
        Err(e) if matches!(e.kind(), Kind::Sparse { .. }) => sparse(),
        done => done,
    })
}

/// As [`operation`] for a tensor of elements that `read` takes from the JVM. A pipeline makes it anew
/// in each run, since it may be written.
pub fn constant(env: EnvUnowned, read: impl FnOnce() -> Result<Tensor, Error> + Clone) -> jlong {
    enter(env, || pipeline::constant(read()?))
}

/// As [`operation`] for several results, whose handles go into a long[]; it may be null where there are
/// none.
pub fn operation_all(
    env: EnvUnowned,
    results: &JLongArray,
    body: impl Fn() -> Result<Vec<Option<Tensor>>, Error> + Clone + Send + Sync + 'static,
) {
    let inner = same(&env);
    enter(env, || {
        let handles = pipeline::perform(&move || runtime().own_all(body()?))?;
        if handles.is_empty() {
            return Ok(());
        }
        write_handles(&inner, results, &handles)
    })
}

/// As [`operation`] for one whose arguments are read by the JNI environment itself.
pub fn operation_env<'local, T: Default, B>(
    env: EnvUnowned<'local>,
    read: impl FnOnce(&mut Env<'local>) -> Result<B, Failure> + Clone,
) -> T
where
    B: Fn() -> Result<T, Error> + Clone + Send + Sync + 'static,
{
    enter_env(env, |env| Ok(pipeline::perform(&read(env)?)?))
}

/// As [`boundary`], for the few methods that need the JNI environment itself.
pub fn boundary_env<'local, T: Default>(
    env: EnvUnowned<'local>,
    op: &'static str,
    body: impl FnOnce(&mut Env<'local>) -> Result<T, Failure> + Clone,
) -> T {
    enter_env(env, |env| {
        pipeline::refuse(op, ONCE)?;
        body(env)
    })
}

/// As [`query`], for the few methods that need the JNI environment itself.
pub fn query_env<'local, T: Default>(
    env: EnvUnowned<'local>,
    body: impl FnOnce(&mut Env<'local>) -> Result<T, Failure> + Clone,
) -> T {
    enter_env(env, body)
}

fn enter_env<'local, T: Default>(
    mut env: EnvUnowned<'local>,
    body: impl FnOnce(&mut Env<'local>) -> Result<T, Failure> + Clone,
) -> T {
    // SAFETY: the same thread's environment pointer, used after the closure has ended.
    let again = unsafe { EnvUnowned::from_raw(env.as_raw()) };
    let run = |env: &mut Env<'local>| {
        if !device::others() {
            return runtime().call(|| body(env));
        }
        // Its operations may be run twice, its environment is the same.
        let env = std::cell::RefCell::new(env);
        let env = &env;
        anywhere(move || body(&mut env.borrow_mut()))
    };
    let mut failure = None;
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        env.with_env_no_catch(|env| -> Result<T, jni::errors::Error> {
            Ok(run(env).unwrap_or_else(|e| {
                failure = Some(e);
                T::default()
            }))
        })
        .into_outcome()
    }));
    match (outcome, failure) {
        (Ok(jni::Outcome::Ok(value)), None) => value,
        (Ok(_), Some(failure)) => fail(again, failure),
        (Ok(_), None) => T::default(),
        (Err(payload), _) => fail(again, left(payload)),
    }
}

#[cold]
fn fail<T: Default>(mut env: EnvUnowned, failure: Failure) -> T {
    let (class, message) = match &failure {
        Failure::Runtime(e) => (class_of(e), e.to_string()),
        Failure::Jni(e) => ("wick/NativeException", e.to_string()),
        Failure::Panic(text) => ("wick/NativeException", text.clone()),
    };
    env.with_env(|env| -> Result<(), jni::errors::Error> {
        if !env.exception_check() {
            // FindClass asks the class loader of the native method at hand; by name alone, throw_new
            // would ask the thread's, which may hold another copy of the class.
            let class = env.find_class(JNIString::from(class))?;
            // Err(JavaException) is how a successful throw is reported.
            let _ = env.throw_new(class, JNIString::from(message));
        }
        Ok(())
    })
    .into_outcome();
    T::default()
}

fn class_of(error: &Error) -> &'static str {
    match error.kind() {
        Kind::Broadcast { .. } | Kind::Shape { .. } => "wick/ShapeException",
        Kind::DType { .. } => "wick/DTypeException",
        Kind::Index { .. } => "wick/IndexException",
        Kind::Linalg { .. } => "wick/LinalgException",
        Kind::Device { .. } => "wick/DeviceException",
        Kind::Elsewhere { .. } => "wick/DeviceException",
        Kind::Undefined { .. } => "java/lang/IllegalStateException",
        Kind::Closed { .. } => "wick/ClosedTensorException",
        Kind::Sparse { .. } | Kind::Dense { .. } => "java/lang/IllegalArgumentException",
        Kind::ReadOnly { .. } => "java/lang/UnsupportedOperationException",
        Kind::Format { .. } => "wick/FormatException",
        Kind::OutOfMemory { .. } => "wick/OutOfNativeMemoryError",
        Kind::State { .. } => "java/lang/IllegalStateException",
        Kind::Internal(_) => "wick/NativeException",
    }
}
