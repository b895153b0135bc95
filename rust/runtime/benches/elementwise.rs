//! Elementwise operations.
#![allow(missing_docs)]

mod common;

use common::{numbers, one_thread, quick};
use criterion::{Criterion, criterion_group, criterion_main};
use wick_core::DType;
use wick_core::ops::{BinaryOp, UnaryOp};
use wick_runtime::ops::elementwise::{Out, binary, unary};
use wick_runtime::ops::promote::Arg;

fn unaries(c: &mut Criterion) {
    let ctx = one_thread();
    for dtype in [DType::F32, DType::F64, DType::BF16] {
        let x = numbers(&ctx, dtype, &[100_000]);
        for op in
            [UnaryOp::Exp, UnaryOp::Log, UnaryOp::Tanh, UnaryOp::Sin, UnaryOp::Erf, UnaryOp::Neg]
        {
            let name = format!("{} {dtype} 100k", op.name());
            c.bench_function(&name, |b| {
                b.iter(|| unary(&ctx, op, &x, [0.0; 3], Out::New).unwrap())
            });
        }
    }
}

fn binaries(c: &mut Criterion) {
    let ctx = one_thread();
    for (n, size) in [(10, "10"), (100_000, "100k"), (1_000_000, "1M")] {
        let (x, y) = (numbers(&ctx, DType::F32, &[n]), numbers(&ctx, DType::F32, &[n]));
        for op in [BinaryOp::Add, BinaryOp::Mul, BinaryOp::Pow] {
            let name = format!("{} f32 {size}", op.name());
            c.bench_function(&name, |b| {
                b.iter(|| {
                    binary(&ctx, op, &[Arg::Tensor(&x), Arg::Tensor(&y)], None, Out::New).unwrap()
                })
            });
        }
    }
    let (x, y) = (numbers(&ctx, DType::F32, &[1000, 1000]), numbers(&ctx, DType::F32, &[1000, 1]));
    c.bench_function("add f32 1000x1000 and 1000x1", |b| {
        b.iter(|| {
            binary(&ctx, BinaryOp::Add, &[Arg::Tensor(&x), Arg::Tensor(&y)], None, Out::New)
                .unwrap()
        })
    });
}

criterion_group!(name = benches; config = quick(); targets = unaries, binaries);
criterion_main!(benches);
