//! Random tensors and the default generator. `seeded`: the draw begins at the given place of the
//! given seed's sequence; else it takes the context's next steps.

use jni::objects::{JClass, JLongArray};
use jni::sys::{jboolean, jint, jlong};
use jni::{EnvUnowned, NativeMethod, native_method};
use wick_core::kernels::philox;
use wick_runtime::ops::multinomial;
use wick_runtime::ops::random::{self, Parameters, RandomOp, VariateOp};
use wick_runtime::{Error, Stream};

use crate::array::{got, longs, write_longs};
use crate::boundary::{boundary, operation, query};
use crate::runtime::{dtype, no_op, runtime};

pub const METHODS: &[NativeMethod<'static>] = &[
    native_method! { static raw fn seed(value: jlong) -> () },
    native_method! { static raw fn generator_state(out: jlong[]) -> () },
    native_method! { static raw fn set_generator_state(seed: jlong, offset: jlong) -> () },
    native_method! { static raw fn split_generator(seeded: jboolean, seed: jlong, offset: jlong) -> jlong },
    native_method! { static raw fn random(op: jint, dtype: jint, shape: jlong[], p: jlong, q: jlong, seeded: jboolean, seed: jlong, offset: jlong) -> jlong },
    native_method! { static raw fn random_in_place(op: jint, a: jlong, p: jlong, q: jlong, seeded: jboolean, seed: jlong, offset: jlong) -> () },
    native_method! { static raw fn bernoulli_of(probs: jlong, seeded: jboolean, seed: jlong, offset: jlong) -> jlong },
    native_method! { static raw fn variate(op: jint, parameters: jlong, seeded: jboolean, seed: jlong, offset: jlong) -> jlong },
    native_method! { static raw fn multinomial(weights: jlong, samples: jlong, replacement: jboolean, seeded: jboolean, seed: jlong, offset: jlong) -> jlong },
    native_method! { static raw fn randperm(dtype: jint, n: jlong, seeded: jboolean, seed: jlong, offset: jlong) -> jlong },
];

pub fn code(name: &str) -> Option<i32> {
    RandomOp::from_name(name).map(|op| op as i32)
}

pub fn variate_code(name: &str) -> Option<i32> {
    VariateOp::from_name(name).map(|op| op as i32)
}

fn stream(seeded: jboolean, seed: jlong, offset: jlong) -> Option<Stream> {
    seeded.then_some(Stream { seed: seed as u64, offset: offset as u64 })
}

fn parameters(op: RandomOp, p: jlong, q: jlong) -> Parameters {
    match op {
        RandomOp::Randint => Parameters::Int(p, q),
        _ => Parameters::Float(f64::from_bits(p as u64), f64::from_bits(q as u64)),
    }
}

fn seed(env: EnvUnowned, _: JClass, value: jlong) {
    set_generator(env, value, 0);
}

fn set_generator_state(env: EnvUnowned, _: JClass, seed: jlong, offset: jlong) {
    set_generator(env, seed, offset);
}

fn set_generator(env: EnvUnowned, seed: jlong, offset: jlong) {
    boundary(env, "seed", || {
        runtime().ctx.set_stream(Stream { seed: seed as u64, offset: offset as u64 });
        Ok::<_, Error>(())
    })
}

fn generator_state<'l>(env: EnvUnowned<'l>, _: JClass<'l>, out: JLongArray<'l>) {
    let Stream { seed, offset } = runtime().ctx.stream();
    let written = write_longs(&env, &out, &[seed as i64, offset as i64]);
    query(env, || written)
}

fn split_generator(
    env: EnvUnowned,
    _: JClass,
    seeded: jboolean,
    seed: jlong,
    offset: jlong,
) -> jlong {
    boundary(env, "split generator", || {
        let at = stream(seeded, seed, offset).unwrap_or_else(|| runtime().ctx.draw(1));
        Ok::<_, Error>(philox::split(at.seed, at.offset) as jlong)
    })
}

#[allow(clippy::too_many_arguments)]
fn random<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    op: jint,
    code: jint,
    shape: JLongArray<'l>,
    p: jlong,
    q: jlong,
    seeded: jboolean,
    seed: jlong,
    offset: jlong,
) -> jlong {
    let sizes = longs(&env, &shape);
    operation(env, move || {
        let rt = runtime();
        let op = RandomOp::from_code(op).ok_or_else(|| no_op(op))?;
        let dtype = dtype(op.name(), code)?;
        let from = stream(seeded, seed, offset);
        rt.own(random::random(&rt.ctx, op, dtype, got(&sizes)?, parameters(op, p, q), from)?)
    })
}

#[allow(clippy::too_many_arguments)]
fn random_in_place(
    env: EnvUnowned,
    _: JClass,
    op: jint,
    a: jlong,
    p: jlong,
    q: jlong,
    seeded: jboolean,
    seed: jlong,
    offset: jlong,
) {
    operation(env, move || {
        let rt = runtime();
        let op = RandomOp::from_code(op).ok_or_else(|| no_op(op))?;
        let x = rt.pin(op.name(), a)?;
        let from = stream(seeded, seed, offset);
        random::random_in_place(&rt.ctx, op, &x, parameters(op, p, q), from)
    })
}

fn bernoulli_of(
    env: EnvUnowned,
    _: JClass,
    probs: jlong,
    seeded: jboolean,
    seed: jlong,
    offset: jlong,
) -> jlong {
    operation(env, move || {
        let rt = runtime();
        let x = rt.pin("bernoulli", probs)?;
        let result = random::bernoulli_of(&rt.ctx, &x, stream(seeded, seed, offset))?;
        rt.give(Some(result), Some(&x), None)
    })
}

fn variate(
    env: EnvUnowned,
    _: JClass,
    op: jint,
    parameters: jlong,
    seeded: jboolean,
    seed: jlong,
    offset: jlong,
) -> jlong {
    operation(env, move || {
        let rt = runtime();
        let op = VariateOp::from_code(op).ok_or_else(|| no_op(op))?;
        let x = rt.pin(op.name(), parameters)?;
        let result = random::variate(&rt.ctx, op, &x, stream(seeded, seed, offset))?;
        rt.give(Some(result), Some(&x), None)
    })
}

#[allow(clippy::too_many_arguments)]
fn multinomial(
    env: EnvUnowned,
    _: JClass,
    weights: jlong,
    samples: jlong,
    replacement: jboolean,
    seeded: jboolean,
    seed: jlong,
    offset: jlong,
) -> jlong {
    operation(env, move || {
        let rt = runtime();
        let x = rt.pin("multinomial", weights)?;
        let from = stream(seeded, seed, offset);
        rt.own(multinomial::multinomial(&rt.ctx, &x, samples, replacement, from)?)
    })
}

fn randperm(
    env: EnvUnowned,
    _: JClass,
    code: jint,
    n: jlong,
    seeded: jboolean,
    seed: jlong,
    offset: jlong,
) -> jlong {
    operation(env, move || {
        let rt = runtime();
        let dtype = dtype("randperm", code)?;
        rt.own(random::randperm(&rt.ctx, dtype, n, stream(seeded, seed, offset))?)
    })
}
