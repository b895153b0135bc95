//! Convolutions, attention, norms.
#![allow(missing_docs)]

mod common;

use common::{numbers, one_thread, quick};
use criterion::{Criterion, criterion_group, criterion_main};
use wick_core::DType;
use wick_runtime::ops::attention::{Attention, attention};
use wick_runtime::ops::conv::{Moves, convolution, convolution_backward};

/// Channels, further channels, groups, kernel, stride, dilation.
const CONVOLUTIONS: [(&str, [i64; 6]); 5] = [
    ("3x3", [64, 64, 1, 3, 1, 1]),
    ("3x3 depthwise", [64, 64, 64, 3, 1, 1]),
    ("3x3 depthwise stride 2", [64, 64, 64, 3, 2, 1]),
    ("3x3 depthwise dilation 2", [64, 64, 64, 3, 1, 2]),
    ("3x3 groups 8", [64, 64, 8, 3, 1, 1]),
];

fn convolutions(c: &mut Criterion) {
    let ctx = one_thread();
    for (name, [few, many, groups, kernel, stride, dilation]) in CONVOLUTIONS {
        let x = numbers(&ctx, DType::F32, &[32, few, 28, 28]);
        let w = numbers(&ctx, DType::F32, &[many, few / groups, kernel, kernel]);
        let moves = Moves {
            stride: &[stride],
            padding: &[dilation],
            dilation: &[dilation],
            transposed: false,
            output_padding: &[0],
            groups,
        };
        let forward = || convolution(&ctx, "conv2d", &x, &w, None, &moves).unwrap();
        c.bench_function(&format!("conv2d 32x{few}x28x28 {name}"), |b| b.iter(forward));
        let grad = forward();
        for (which, wanted) in [("input", [true, false, false]), ("weight", [false, true, false])] {
            c.bench_function(&format!("conv2d 32x{few}x28x28 {name}, {which}'s gradient"), |b| {
                b.iter(|| convolution_backward(&ctx, &grad, &x, &w, &moves, wanted).unwrap())
            });
        }
    }
}

fn attentions(c: &mut Criterion) {
    let ctx = one_thread();
    let [query, key, value] = [(); 3].map(|()| numbers(&ctx, DType::F32, &[2, 512, 64]));
    for causal in [false, true] {
        let (query, key, value) = (&query, &key, &value);
        let inputs = Attention { query, key, value, bias: None, causal, scale: None };
        c.bench_function(&format!("attention 2x512x64, causal {causal}"), |b| {
            b.iter(|| attention(&ctx, "attention", &inputs).unwrap())
        });
    }
}

criterion_group!(name = benches; config = quick(); targets = convolutions, attentions);
criterion_main!(benches);
