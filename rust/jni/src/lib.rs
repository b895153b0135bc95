//! The library that the JVM loads. One exported symbol, `Native.init`, registers everything else
//! on the class it is handed, so that a method missing on either side stops the load.

mod array;
mod boundary;
mod calls;
mod devices;
mod pipeline;
mod runtime;

use jni::objects::{JClass, JString};
use jni::sys::jint;
use jni::{EnvUnowned, NativeMethod};

use boundary::query_env;
use wick_runtime::Error;

/// `wick.Native.init(String version)`: compares versions, registers the natives.
#[unsafe(no_mangle)]
pub extern "system" fn Java_wick_Native_init<'local>(
    env: EnvUnowned<'local>,
    class: JClass<'local>,
    version: JString<'local>,
) {
    query_env(env, |env| {
        boundary::keep_backtraces();
        let wanted = version.try_to_string(env)?;
        let ours = env!("CARGO_PKG_VERSION");
        if wanted != ours {
            let text = format!("the jar is wick {wanted}, the native library wick {ours}");
            return Err(Error::internal(text.into()).into());
        }
        for methods in calls::ALL {
            // SAFETY: each table is made by native_method!, which checks functions against
            // signatures; all are static methods of the class at hand.
            unsafe { env.register_native_methods(&class, methods) }?;
        }
        Ok(())
    })
}

/// The code of an operation, or an error that names it.
fn op_code(family: &str, name: &str) -> wick_runtime::Result<jint> {
    calls::CODES
        .iter()
        .find(|(f, _)| *f == family)
        .and_then(|(_, code)| code(name))
        .ok_or_else(|| Error::internal(format!("no {family} operation {name}").into()))
}

/// A family's registration table.
type Methods = &'static [NativeMethod<'static>];
