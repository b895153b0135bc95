//! Sorting and selection.
#![allow(missing_docs)]

mod common;

use common::{numbers, one_thread, quick};
use criterion::{Criterion, criterion_group, criterion_main};
use wick_core::DType;
use wick_runtime::ops::sort::sort;

fn sorts(c: &mut Criterion) {
    let ctx = one_thread();
    for dtype in [DType::F32, DType::F64, DType::I32, DType::U8] {
        let x = numbers(&ctx, dtype, &[100_000]);
        c.bench_function(&format!("sort {dtype} 100k"), |b| {
            b.iter(|| sort(&ctx, &x, 0, false).unwrap())
        });
    }
}

criterion_group!(name = benches; config = quick(); targets = sorts);
criterion_main!(benches);
