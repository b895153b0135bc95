//! Handles, their geometry, memory and settings.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use jni::objects::{JClass, JLongArray, JString};
use jni::sys::{jboolean, jint, jlong};
use jni::{Env, EnvUnowned, NativeMethod, native_method};

use crate::array::{each_long, same, write_longs};
use crate::boundary::{Failure, operation, query, query_env, unpinned};
use crate::runtime::{self, runtime};
use wick_runtime::Error;

pub const METHODS: &[NativeMethod<'static>] = &[
    native_method! { static raw fn op_code(family: JString, name: JString) -> jint },
    native_method! { static raw fn release(a: jlong) -> () },
    native_method! { static raw fn release_all(handles: jlong[], count: jint) -> () },
    native_method! { static raw fn release_few(a: jlong, b: jlong, c: jlong, d: jlong) -> () },
    native_method! { static raw fn is_live(a: jlong) -> jboolean },
    native_method! { static raw fn alias(a: jlong) -> jlong },
    native_method! { static raw fn shape(a: jlong) -> jlong[] },
    native_method! { static raw fn strides(a: jlong) -> jlong[] },
    native_method! { static raw fn storage_offset(a: jlong) -> jlong },
    native_method! { static raw fn shares_storage(a: jlong, b: jlong) -> jboolean },
    native_method! { static raw fn is_contiguous(a: jlong) -> jboolean },
    native_method! { static raw fn memory(out: jlong[]) -> () },
    native_method! { static raw fn reset_peak() -> () },
    native_method! { static raw fn set_cap(bytes: jlong) -> () },
    native_method! { static raw fn trim() -> () },
    native_method! { static raw fn threads() -> jint },
    native_method! { static raw fn set_threads(n: jint) -> () },
    native_method! { static raw fn cpu_level() -> JString },
];

fn op_code<'l>(env: EnvUnowned<'l>, _: JClass<'l>, family: JString<'l>, name: JString<'l>) -> jint {
    query_env(env, |env| {
        let (family, name) = (family.try_to_string(env)?, name.try_to_string(env)?);
        Ok(crate::op_code(&family, &name)?)
    })
}

fn release(env: EnvUnowned, _: JClass, a: jlong) {
    unpinned(env, || {
        runtime().close(a);
        Ok::<_, Error>(())
    })
}

fn release_all<'l>(env: EnvUnowned<'l>, _: JClass<'l>, handles: JLongArray<'l>, count: jint) {
    let inner = same(&env);
    unpinned(env, || {
        let mut closing = Closing::default();
        each_long(&inner, &handles, count.max(0) as usize, |handle| closing.close(handle))?;
        closing.finish();
        Ok::<_, Failure>(())
    })
}

fn release_few(env: EnvUnowned, _: JClass, a: jlong, b: jlong, c: jlong, d: jlong) {
    unpinned(env, || {
        let mut closing = Closing::default();
        [a, b, c, d].into_iter().filter(|h| *h > 0).for_each(|h| closing.close(h));
        closing.finish();
        Ok::<_, Error>(())
    })
}

/// Closes handles one after the other. A panic on the way, as an owner of imported memory may raise,
/// keeps none of the others open; the first goes on at the end.
#[derive(Default)]
struct Closing(Option<Box<dyn Any + Send>>);

impl Closing {
    fn close(&mut self, handle: jlong) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| runtime().close(handle))) {
            self.0.get_or_insert(panic);
        }
    }

    fn finish(self) {
        if let Some(panic) = self.0 {
            resume_unwind(panic);
        }
    }
}

fn is_live(env: EnvUnowned, _: JClass, a: jlong) -> jboolean {
    query(env, || Ok::<_, Error>(runtime().tensors.is_live(a)))
}

fn alias(env: EnvUnowned, _: JClass, a: jlong) -> jlong {
    operation(env, move || {
        let rt = runtime();
        match rt.pin_any("alias", a)? {
            runtime::Any::Dense(x) => rt.give(Some(x.alias()), Some(&x), None),
            runtime::Any::Sparse(x) => x.alias(),
        }
    })
}

fn shape<'l>(env: EnvUnowned<'l>, _: JClass<'l>, a: jlong) -> JLongArray<'l> {
    query_env(env, |env| match runtime().pin_any("shape", a)? {
        runtime::Any::Dense(t) => long_array(env, t.shape()),
        runtime::Any::Sparse(t) => long_array(env, t.get().shape()),
    })
}

fn strides<'l>(env: EnvUnowned<'l>, _: JClass<'l>, a: jlong) -> JLongArray<'l> {
    query_env(env, |env| long_array(env, runtime().look("stride", a)?.layout().strides()))
}

/// A new long[].
pub fn long_array<'l>(env: &mut Env<'l>, numbers: &[i64]) -> Result<JLongArray<'l>, Failure> {
    let array = env.new_long_array(numbers.len())?;
    array.set_region(env, 0, numbers)?;
    Ok(array)
}

fn storage_offset(env: EnvUnowned, _: JClass, a: jlong) -> jlong {
    query(env, || Ok::<_, Error>(runtime().look("storage_offset", a)?.layout().offset()))
}

fn shares_storage(env: EnvUnowned, _: JClass, a: jlong, b: jlong) -> jboolean {
    query(env, || {
        let rt = runtime();
        Ok::<_, Error>(
            rt.look("shares_storage", a)?.shares_storage(&*rt.look("shares_storage", b)?),
        )
    })
}

fn is_contiguous(env: EnvUnowned, _: JClass, a: jlong) -> jboolean {
    query(env, || Ok::<_, Error>(runtime().look("is_contiguous", a)?.layout().is_contiguous()))
}

fn memory<'l>(env: EnvUnowned<'l>, _: JClass<'l>, out: JLongArray<'l>) {
    let rt = runtime();
    rt.collect();
    let m = rt.ctx.allocator().memory();
    let (made, freed) = rt.tensors.counts();
    let values = [
        m.live as i64,
        m.peak as i64,
        (made - freed) as i64,
        m.cached as i64,
        m.cap.min(i64::MAX as usize) as i64,
        made as i64,
        freed as i64,
    ];
    let written = write_longs(&env, &out, &values);
    query(env, || written)
}

fn reset_peak(_: EnvUnowned, _: JClass) {
    runtime().ctx.allocator().reset_peak();
}

fn set_cap(_: EnvUnowned, _: JClass, bytes: jlong) {
    runtime().ctx.allocator().set_cap(bytes.max(0) as usize);
}

fn trim(_: EnvUnowned, _: JClass) {
    runtime().ctx.allocator().trim();
}

fn threads(_: EnvUnowned, _: JClass) -> jint {
    runtime().ctx.threads() as jint
}

fn set_threads(_: EnvUnowned, _: JClass, n: jint) {
    runtime().ctx.set_threads(n.max(1) as usize);
}

fn cpu_level<'l>(env: EnvUnowned<'l>, _: JClass<'l>) -> JString<'l> {
    query_env(env, |env| Ok(env.new_string(runtime().ctx.cpu_level())?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wick_core::DType;
    use wick_runtime::Tensor;
    use wick_runtime::ops::storage::import;

    struct Fails;

    impl Drop for Fails {
        fn drop(&mut self) {
            panic!("the owner fails");
        }
    }

    #[test]
    fn a_release_that_fails_keeps_nothing_and_is_one_error() {
        let rt = runtime();
        let bytes = Box::leak(Box::new([0u64; 2])).as_mut_ptr().cast::<u8>();
        let before = rt.ctx.allocator().memory().live;
        let plain = || Tensor::empty(&rt.ctx, "empty", DType::F32, &[100]).unwrap();
        let given = || {
            // SAFETY: leaked bytes, which nobody writes.
            unsafe { import(&rt.ctx, DType::F64, &[2], bytes, 16, true, Box::new(Fails)) }.unwrap()
        };
        let all: Vec<_> = [plain(), given(), plain(), given(), plain()]
            .map(|t| rt.own(t).unwrap() & (i64::MAX >> 1))
            .into();
        assert!(all.iter().all(|h| rt.tensors.is_live(*h)));
        let failure = catch_unwind(|| {
            let mut closing = Closing::default();
            all.iter().for_each(|h| closing.close(*h));
            closing.finish();
        });
        assert_eq!(failure.unwrap_err().downcast_ref::<&str>(), Some(&"the owner fails"));
        assert!(all.iter().all(|h| !rt.tensors.is_live(*h)));
        assert_eq!(rt.ctx.allocator().memory().live, before);
    }
}
