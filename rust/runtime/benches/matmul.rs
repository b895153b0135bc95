//! Matrix products.
#![allow(missing_docs)]

mod common;

use common::{numbers, one_thread, quick};
use criterion::{Criterion, criterion_group, criterion_main};
use wick_core::DType;
use wick_runtime::ops::matmul::{MatmulOp, matmul};

fn squares(c: &mut Criterion) {
    let ctx = one_thread();
    for dtype in [DType::F32, DType::F64, DType::BF16, DType::I64] {
        for n in [64, 256] {
            let (x, y) = (numbers(&ctx, dtype, &[n, n]), numbers(&ctx, dtype, &[n, n]));
            c.bench_function(&format!("mm {dtype} {n}"), |b| {
                b.iter(|| matmul(&ctx, MatmulOp::Mm, &x, &y, None).unwrap())
            });
        }
    }
}

criterion_group!(name = benches; config = quick(); targets = squares);
criterion_main!(benches);
