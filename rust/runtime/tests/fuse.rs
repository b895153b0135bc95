//! Fused expressions against the same operations one by one: the bits, the dtypes, the errors.

mod common;

use common::{Lie, ctx, dtypes, shapes, tensor, values};
use proptest::prelude::*;
use wick_core::DType;
use wick_core::kernels::elementwise::Scalar;
use wick_core::kernels::reduce::ReduceOp;
use wick_core::ops::{BinaryOp, TernaryOp, UnaryOp};
use wick_runtime::ops::elementwise::{self, Out};
use wick_runtime::ops::fuse::{Call, Expression, Source, Step, fuse};
use wick_runtime::ops::promote::Arg;
use wick_runtime::ops::reduce::{Over, reduce};
use wick_runtime::{Context, Result, Tensor};

fn step(call: Call, sources: &[Source]) -> Step {
    Step { call, sources: sources.to_vec() }
}

/// `where(a * b + exp(c) > 2, a * b + exp(c), |c| - 1.5)`.
fn expression() -> Expression {
    use Source::{Number, Step as At, Tensor};
    let steps = vec![
        step(Call::Binary(BinaryOp::Mul), &[Tensor(0), Tensor(1)]),
        step(Call::Unary(UnaryOp::Exp, [0.0; 3]), &[Tensor(2)]),
        step(Call::Binary(BinaryOp::Add), &[At(0), At(1)]),
        step(Call::Binary(BinaryOp::Gt), &[At(2), Number(Scalar::Int(2))]),
        step(Call::Unary(UnaryOp::Abs, [0.0; 3]), &[Tensor(2)]),
        step(Call::Binary(BinaryOp::Sub), &[At(4), Number(Scalar::Float(1.5))]),
        step(Call::Ternary(TernaryOp::Where, Scalar::Int(0)), &[At(3), At(2), At(5)]),
    ];
    Expression::new(steps, 3).unwrap()
}

fn one_by_one(ctx: &Context, [a, b, c]: [&Tensor; 3]) -> Result<Tensor> {
    let binary = |op, x, y| {
        elementwise::binary(ctx, op, &[x, y], None, Out::New).map(|t| t.expect("a new tensor"))
    };
    let unary = |op, x| elementwise::unary(ctx, op, x, [0.0; 3], Out::New).map(Option::unwrap);
    let product = binary(BinaryOp::Mul, Arg::Tensor(a), Arg::Tensor(b))?;
    let exp = unary(UnaryOp::Exp, c)?;
    let sum = binary(BinaryOp::Add, Arg::Tensor(&product), Arg::Tensor(&exp))?;
    let high = binary(BinaryOp::Gt, Arg::Tensor(&sum), Arg::Scalar(Scalar::Int(2)))?;
    let low = unary(UnaryOp::Abs, c)?;
    let low = binary(BinaryOp::Sub, Arg::Tensor(&low), Arg::Scalar(Scalar::Float(1.5)))?;
    let args = [Arg::Tensor(&high), Arg::Tensor(&sum), Arg::Tensor(&low)];
    elementwise::ternary(ctx, TernaryOp::Where, &args, Scalar::Int(0), Out::New).map(Option::unwrap)
}

fn bits(ctx: &Context, t: &Tensor) -> (DType, Vec<i64>, Vec<u64>) {
    let values = values(ctx, t).into_iter();
    let bits = values.map(|v| if v.is_nan() { u64::MAX } else { v.to_bits() });
    (t.dtype(), t.shape().to_vec(), bits.collect())
}

fn same(ctx: &Context, operands: [&Tensor; 3]) {
    match (fuse(ctx, &expression(), &operands, None, None), one_by_one(ctx, operands)) {
        (Ok(fused), Ok(want)) => assert_eq!(bits(ctx, &fused.unwrap()), bits(ctx, &want)),
        (Err(got), Err(want)) => assert_eq!(got.to_string(), want.to_string()),
        (got, want) => panic!("{got:?} and not {want:?}", got = got.err(), want = want.err()),
    }
}

fn value(i: i64) -> f64 {
    ((i * 7 + i / 5) % 11) as f64 * 0.5 - 2.0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn as_one_by_one(shape in shapes(), a in dtypes(), b in dtypes(), c in dtypes(), lies: (u64, u64, u64), lead in 0usize..3) {
        let ctx = ctx(2);
        let lead = lead.min(shape.len());
        let x = Lie::random(shape.len(), lies.0, true).make(&ctx, a, &shape, value);
        let y = Lie::random(shape.len(), lies.1, true).make(&ctx, b, &shape, value);
        let z = Lie::random(shape.len() - lead, lies.2, true).make(&ctx, c, &shape[lead..], value);
        same(&ctx, [&x, &y, &z]);
        let nought = tensor(&ctx, c, &[], &[3.0]);
        same(&ctx, [&x, &nought, &z]);
    }
}

#[test]
fn many_blocks_of_rows_and_in_one_row() {
    for threads in [1, 2, 7] {
        let ctx = ctx(threads);
        let make = |shape: &[i64], by: i64| {
            let n: i64 = shape.iter().product();
            let data: Vec<f64> = (0..n).map(|i| value(i * by)).collect();
            tensor(&ctx, DType::F32, shape, &data)
        };
        let (a, b) = (make(&[70, 1000], 1), make(&[70, 1000], 3));
        same(&ctx, [&a, &b, &make(&[70, 1000], 7)]);
        same(&ctx, [&a, &b, &make(&[1000], 7)]);
        same(&ctx, [&a, &b, &make(&[70, 1], 7)]);
        same(&ctx, [&make(&[2, 1, 40_000], 1), &make(&[3, 1], 3), &make(&[40_000], 7)]);
    }
}

#[test]
fn reductions_have_the_bits_of_those_of_the_result() {
    let mut seen = Vec::new();
    for threads in [1, 2, 7] {
        let ctx = ctx(threads);
        for (n, dtype) in [(100, DType::F32), (300_001, DType::F32), (200_000, DType::F16)] {
            let data: Vec<f64> = (0..n).map(|i| value(i * 3) * 1e-3).collect();
            let x = tensor(&ctx, dtype, &[n], &data);
            let want = one_by_one(&ctx, [&x, &x, &x]).unwrap();
            for op in [ReduceOp::Sum, ReduceOp::Mean, ReduceOp::Amax, ReduceOp::Amin] {
                let got =
                    fuse(&ctx, &expression(), &[&x, &x, &x], Some(op), None).unwrap().unwrap();
                let over = Over { dims: None, keep_dim: false };
                let want = reduce(&ctx, op, &want, over, None, 0.0, Out::New).unwrap().unwrap();
                assert_eq!(bits(&ctx, &got), bits(&ctx, &want), "{op:?} of {n} {dtype:?}");
                seen.push((n, op as i32, bits(&ctx, &got)));
            }
        }
    }
    let (first, rest) = seen.split_at(12);
    assert!(rest.chunks(12).all(|more| more == first));
}

#[test]
fn a_target_may_be_an_operand_or_cross_one() {
    let ctx = ctx(2);
    let data: Vec<f64> = (0..60_000).map(value).collect();
    let all = tensor(&ctx, DType::F32, &[60_000], &data);
    let view = |start| all.with_layout("narrow", all.layout().narrow(0, start, 50_000)).unwrap();
    let (x, y) = (view(0), view(1));
    let want = bits(&ctx, &one_by_one(&ctx, [&x, &x, &x]).unwrap()).2;
    assert!(fuse(&ctx, &expression(), &[&x, &x, &x], None, Some(&y)).unwrap().is_none());
    assert_eq!(bits(&ctx, &y).2, want);
    let want = bits(&ctx, &one_by_one(&ctx, [&x, &x, &x]).unwrap()).2;
    assert!(fuse(&ctx, &expression(), &[&x, &x, &x], None, Some(&x)).unwrap().is_none());
    assert_eq!(bits(&ctx, &x).2, want);
}

#[test]
fn a_failure_changes_nothing() {
    let ctx = ctx(2);
    let mut data = vec![2.0; 50_000];
    data[40_000] = 0.0;
    let x = tensor(&ctx, DType::I32, &[50_000], &vec![7.0; 50_000]);
    let y = tensor(&ctx, DType::I32, &[50_000], &data);
    let divide = step(Call::Binary(BinaryOp::FloorDivide), &[Source::Tensor(0), Source::Tensor(1)]);
    let divide = Expression::new(vec![divide], 2).unwrap();
    let failed = fuse(&ctx, &divide, &[&x, &y], None, Some(&x)).unwrap_err();
    assert!(failed.to_string().contains("integer division by zero"), "{failed}");
    assert!(values(&ctx, &x).iter().all(|v| *v == 7.0));
    assert!(Expression::new(Vec::new(), 1).is_err());
    let forward = step(Call::Unary(UnaryOp::Exp, [0.0; 3]), &[Source::Step(0)]);
    assert!(Expression::new(vec![forward], 1).is_err());
}
