//! Reductions and softmax.
#![allow(missing_docs)]

mod common;

use common::{numbers, one_thread, quick};
use criterion::{Criterion, criterion_group, criterion_main};
use wick_core::DType;
use wick_core::kernels::reduce::ReduceOp;
use wick_runtime::ops::elementwise::Out;
use wick_runtime::ops::reduce::{Over, reduce};
use wick_runtime::ops::softmax::softmax;

fn reductions(c: &mut Criterion) {
    let ctx = one_thread();
    let x = numbers(&ctx, DType::F32, &[1000, 1000]);
    for op in [ReduceOp::Sum, ReduceOp::Max, ReduceOp::Var, ReduceOp::Argmax] {
        for (dims, where_) in [(None, "all"), (Some(&[0][..]), "rows"), (Some(&[1][..]), "columns")]
        {
            let over = Over { dims, keep_dim: false };
            c.bench_function(&format!("{} f32 1000x1000 over {where_}", op.name()), |b| {
                b.iter(|| reduce(&ctx, op, &x, over, None, 1.0, Out::New).unwrap())
            });
        }
    }
    for dim in [0, 1] {
        c.bench_function(&format!("softmax f32 1000x1000 dim {dim}"), |b| {
            b.iter(|| softmax(&ctx, false, &x, dim, None).unwrap())
        });
    }
}

criterion_group!(name = benches; config = quick(); targets = reductions);
criterion_main!(benches);
