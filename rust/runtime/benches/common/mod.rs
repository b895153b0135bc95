//! What the benches share: quick settings, one thread, operands.
#![allow(dead_code)]

use std::time::Duration;

use criterion::Criterion;
use wick_core::DType;
use wick_runtime::ops::array::from_elements;
use wick_runtime::ops::elementwise::cast;
use wick_runtime::{Context, Tensor};

pub fn quick() -> Criterion {
    let (warm, measured) = (Duration::from_millis(200), Duration::from_millis(600));
    Criterion::default().sample_size(20).warm_up_time(warm).measurement_time(measured)
}

pub fn one_thread() -> Context {
    Context::new(4 << 30, 1)
}

/// Numbers in (0, 1) in no order, the same ones each time.
pub fn numbers(ctx: &Context, dtype: DType, shape: &[i64]) -> Tensor {
    let n = shape.iter().product::<i64>() as usize;
    let made = from_elements(ctx, DType::F32, shape, n, |bytes| {
        for (i, to) in bytes.chunks_exact_mut(4).enumerate() {
            let bits = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            to.copy_from_slice(&((bits as f32 + 0.5) / (1 << 24) as f32).to_ne_bytes());
        }
    });
    cast(ctx, &made.unwrap(), dtype).unwrap()
}
