//! Elementwise operations against a naive reference, over random layouts and dtypes.

mod common;

use common::{Lie, ctx, dtypes, near, shapes, tensor, values};
use proptest::prelude::*;
use wick_core::kernels::elementwise::Scalar;
use wick_core::ops::{BinaryOp, Class, TernaryOp, UnaryOp};
use wick_core::{DType, Layout};
use wick_runtime::Tensor;
use wick_runtime::error::Kind;
use wick_runtime::ops::elementwise::{Out, binary, cast, copy, ternary, unary};
use wick_runtime::ops::promote::{Arg, result_type};

/// Distance allowed for a dtype whose values are compared as f64.
fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::F64 => 1e-14,
        DType::F32 => 1e-6,
        DType::F16 => 1e-3,
        DType::BF16 => 1e-2,
        _ => 0.0,
    }
}

/// Small whole values: exact in every dtype, both signs where there are any.
fn small(dtype: DType) -> impl Fn(i64) -> f64 {
    let lowest = if matches!(dtype, DType::U8 | DType::Bool) { 0 } else { -3 };
    let highest = if dtype == DType::Bool { 1 } else { 4 };
    move |i| ((i * 7 + i / 5) % (highest - lowest + 1) + lowest) as f64
}

fn reference(op: BinaryOp, x: f64, y: f64) -> Option<f64> {
    let truth = |b: bool| f64::from(u8::from(b));
    Some(match op {
        BinaryOp::Add => x + y,
        BinaryOp::Sub => x - y,
        BinaryOp::Mul => x * y,
        BinaryOp::Div => x / y,
        BinaryOp::Maximum => x.max(y),
        BinaryOp::Minimum => x.min(y),
        BinaryOp::Atan2 => x.atan2(y),
        BinaryOp::Hypot => x.hypot(y),
        BinaryOp::Copysign => x.copysign(y),
        BinaryOp::Logaddexp => (x.exp() + y.exp()).ln(),
        BinaryOp::Xlogy => {
            if x == 0.0 {
                0.0
            } else {
                x * y.ln()
            }
        }
        BinaryOp::Eq => truth(x == y),
        BinaryOp::Ne => truth(x != y),
        BinaryOp::Lt => truth(x < y),
        BinaryOp::Le => truth(x <= y),
        BinaryOp::Gt => truth(x > y),
        BinaryOp::Ge => truth(x >= y),
        BinaryOp::LogicalAnd => truth(x != 0.0 && y != 0.0),
        BinaryOp::LogicalOr => truth(x != 0.0 || y != 0.0),
        BinaryOp::LogicalXor => truth((x != 0.0) != (y != 0.0)),
        _ => return None,
    })
}

fn wrap(dtype: DType, v: f64) -> f64 {
    match dtype {
        DType::U8 => f64::from(v as i64 as u8),
        DType::Bool => f64::from(u8::from(v != 0.0)),
        _ => v,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn binary_matches_the_definition(shape in shapes(), a in dtypes(), b in dtypes(), lies: (u64, u64), lead in 0usize..3) {
        let ctx = ctx(2);
        let x = Lie::random(shape.len(), lies.0, true).make(&ctx, a, &shape, small(a));
        // The right operand lacks leading dimensions and has some of size 1.
        let mut right: Vec<i64> = shape[lead.min(shape.len())..].to_vec();
        if let (Some(first), 0) = (right.first_mut(), lies.1 % 2) {
            *first = 1;
        }
        let y = Lie::random(right.len(), lies.1, true).make(&ctx, b, &right, small(b));
        let stretched = y.with_layout("test", y.layout().expand(&shape)).unwrap();
        let (xs, ys) = (values(&ctx, &x), values(&ctx, &stretched));
        for op in BinaryOp::ALL {
            let Some(_) = reference(*op, 1.0, 1.0) else { continue };
            let result = match binary(&ctx, *op, &[Arg::Tensor(&x), Arg::Tensor(&y)], None, Out::New) {
                Ok(result) => result.unwrap(),
                Err(e) => {
                    let refused = op.class() == Class::Same && a == DType::Bool && b == DType::Bool;
                    prop_assert!(refused && matches!(e.kind(), Kind::DType { .. }), "{:?}: {}", op, e);
                    continue;
                }
            };
            prop_assert_eq!(result.shape(), &shape[..]);
            let dtype = result.dtype();
            let common = match op.class() {
                Class::Float => dtype,
                _ => result_type(&[Arg::Tensor(&x), Arg::Tensor(&y)]),
            };
            for ((got, x), y) in values(&ctx, &result).iter().zip(&xs).zip(&ys) {
                // Operands meet in their common dtype: a 0-d i64 yields to u8 and wraps.
                let (x, y) = (wrap(common, *x), wrap(common, *y));
                let want = wrap(dtype, reference(*op, x, y).unwrap());
                prop_assert!(near(*got, want, tolerance(dtype)), "{:?} {} {}: {} expected {}", op, x, y, got, want);
            }
        }
    }

    #[test]
    fn unary_matches_contiguous_and_in_place(shape in shapes(), dtype in dtypes(), lie: u64) {
        let ctx = ctx(2);
        let x = Lie::random(shape.len(), lie, true).make(&ctx, dtype, &shape, |i| (i % 23) as f64 / 8.0 - 1.0);
        let dense = tensor(&ctx, dtype, &shape, &values(&ctx, &x));
        for op in UnaryOp::ALL {
            let run = |t: &Tensor, out: Out| unary(&ctx, *op, t, [0.5, 2.0, 0.25], out);
            let (Ok(one), two) = (run(&dense, Out::New), run(&x, Out::New)) else {
                prop_assert!(run(&x, Out::New).is_err());
                continue;
            };
            let (one, two) = (one.unwrap(), two.unwrap().unwrap());
            prop_assert_eq!(one.dtype(), two.dtype());
            let (want, got) = (values(&ctx, &one), values(&ctx, &two));
            prop_assert!(want.iter().zip(&got).all(|(a, b)| near(*a, *b, 0.0)), "{:?}", op);
            let copy = cast(&ctx, &dense, dtype).unwrap();
            match run(&copy, Out::InPlace) {
                Ok(none) => {
                    prop_assert!(none.is_none());
                    let got = values(&ctx, &copy);
                    let want = values(&ctx, &cast(&ctx, &one, dtype).unwrap());
                    prop_assert!(want.iter().zip(&got).all(|(a, b)| near(*a, *b, 0.0)), "{:?}", op);
                }
                Err(_) => prop_assert!(!wick_runtime::ops::promote::can_cast(one.dtype(), dtype)),
            }
        }
    }

    #[test]
    fn casts_and_copies_keep_small_values(shape in shapes(), from in dtypes(), to in dtypes(), lies: (u64, u64)) {
        let ctx = ctx(2);
        let x = Lie::random(shape.len(), lies.0, true).make(&ctx, from, &shape, |i| ((i * 3) % 2) as f64);
        let want = values(&ctx, &x);
        prop_assert_eq!(&values(&ctx, &cast(&ctx, &x, to).unwrap()), &want);
        let target = Lie::random(shape.len(), lies.1, false).make(&ctx, to, &shape, |_| 1.0);
        copy(&ctx, &target, &x).unwrap();
        prop_assert_eq!(&values(&ctx, &target), &want);
    }

    #[test]
    fn writes_stay_inside_the_view(n in 1i64..200, step in 2i64..4, dtype in dtypes()) {
        let ctx = ctx(1);
        let base = tensor(&ctx, dtype, &[n * step], &vec![1.0; (n * step) as usize]);
        let view = base.with_layout("test", Layout::strided(&[n], &[step], 0)).unwrap();
        let zeros = tensor(&ctx, dtype, &[n], &vec![0.0; n as usize]);
        copy(&ctx, &view, &zeros).unwrap();
        let want: Vec<f64> = (0..n * step).map(|i| f64::from(u8::from(i % step != 0))).collect();
        prop_assert_eq!(values(&ctx, &base), want);
    }
}

/// The same bits for any number of threads, at sizes that are split.
#[test]
fn threads_do_not_change_results() {
    let n = 300_001;
    let run = |threads: usize| {
        let ctx = ctx(threads);
        let x =
            tensor(&ctx, DType::F32, &[n], &(0..n).map(|i| (i as f64).sin()).collect::<Vec<_>>());
        let mut out = Vec::new();
        for op in [UnaryOp::Exp, UnaryOp::Tanh, UnaryOp::Lgamma] {
            out.push(values(&ctx, &unary(&ctx, op, &x, [0.0; 3], Out::New).unwrap().unwrap()));
        }
        out.push(values(
            &ctx,
            &binary(
                &ctx,
                BinaryOp::Pow,
                &[Arg::Tensor(&x), Arg::Scalar(Scalar::Float(2.5))],
                None,
                Out::New,
            )
            .unwrap()
            .unwrap(),
        ));
        out.into_iter().flatten().map(f64::to_bits).collect::<Vec<_>>()
    };
    let one = run(1);
    assert!(one == run(2) && one == run(7));
}

/// BR-096's kind: a failed call changes nothing; BR-094: no write past a storage.
#[test]
fn overlapping_targets_are_refused() {
    let ctx = ctx(1);
    let one = tensor(&ctx, DType::F32, &[1], &[6.0]);
    let expanded = one.with_layout("test", one.layout().expand(&[6])).unwrap();
    let source = tensor(&ctx, DType::F32, &[6], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    assert!(
        matches!(copy(&ctx, &expanded, &source), Err(e) if matches!(e.kind(), Kind::Shape { .. }))
    );
    assert!(unary(&ctx, UnaryOp::Cos, &expanded, [0.0; 3], Out::InPlace).is_err());
    assert_eq!(values(&ctx, &one), [6.0]);
    // A transposed source read while its own storage is written: values from before the call.
    let m = tensor(&ctx, DType::F32, &[2, 2], &[1.0, 2.0, 3.0, 4.0]);
    let t = m.with_layout("test", m.layout().transpose(0, 1)).unwrap();
    copy(&ctx, &m, &t).unwrap();
    assert_eq!(values(&ctx, &m), [1.0, 3.0, 2.0, 4.0]);
}

/// where: the condition takes no part in promotion and must be bool.
#[test]
fn where_selects_and_promotes() {
    let ctx = ctx(1);
    let c = tensor(&ctx, DType::Bool, &[2, 1], &[1.0, 0.0]);
    let (x, y) = (
        tensor(&ctx, DType::I32, &[3], &[1.0, 2.0, 3.0]),
        tensor(&ctx, DType::F64, &[1, 1], &[9.5]),
    );
    let args = [Arg::Tensor(&c), Arg::Tensor(&x), Arg::Tensor(&y)];
    let out = ternary(&ctx, TernaryOp::Where, &args, Scalar::Int(0), Out::New).unwrap().unwrap();
    assert_eq!((out.dtype(), out.shape()), (DType::F64, &[2, 3][..]));
    assert_eq!(values(&ctx, &out), [1.0, 2.0, 3.0, 9.5, 9.5, 9.5]);
    let wrong = [Arg::Tensor(&x), Arg::Tensor(&x), Arg::Tensor(&x)];
    assert!(matches!(
        ternary(&ctx, TernaryOp::Where, &wrong, Scalar::Int(0), Out::New),
        Err(e) if matches!(e.kind(), Kind::DType { .. })
    ));
}

/// Neighbours never show: zeros, infinities, NaNs and huge numbers change no other element of their
/// block, alone or in crowds.
#[test]
fn special_elements_leave_the_others_alone() {
    let ctx = ctx(1);
    let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e30, -700.0, 1e-310];
    let data: Vec<f64> = (0..6000)
        .map(|i| match i {
            700 | 2047 => special[i % special.len()],
            3000..3800 if i % 3 == 0 => special[i % special.len()],
            _ => 0.01 + (i * 7919 % 1000) as f64 * 0.003,
        })
        .collect();
    let ops = UnaryOp::ALL.iter().filter(|op| matches!(op.class(), Class::Float | Class::Strict));
    for dtype in [DType::F32, DType::F64] {
        let x = tensor(&ctx, dtype, &[6000], &data);
        let each: Vec<_> = data.iter().map(|v| tensor(&ctx, dtype, &[1], &[*v])).collect();
        let bits = |t: &Tensor| {
            values(&ctx, t)
                .iter()
                .map(|v| if v.is_nan() { u64::MAX } else { v.to_bits() })
                .collect::<Vec<_>>()
        };
        for op in ops.clone() {
            let whole = unary(&ctx, *op, &x, [1.5; 3], Out::New).unwrap().unwrap();
            let alone = each
                .iter()
                .map(|x| bits(&unary(&ctx, *op, x, [1.5; 3], Out::New).unwrap().unwrap())[0]);
            assert_eq!(bits(&whole), alone.collect::<Vec<_>>(), "{} {dtype:?}", op.name());
        }
        let back: Vec<f64> = data.iter().rev().copied().collect();
        let y = tensor(&ctx, dtype, &[6000], &back);
        let pow = |x: &Tensor, y: &Tensor| {
            let args = [Arg::Tensor(x), Arg::Tensor(y)];
            bits(&binary(&ctx, BinaryOp::Pow, &args, None, Out::New).unwrap().unwrap())
        };
        let alone =
            each.iter().enumerate().map(|(i, x)| pow(x, &tensor(&ctx, dtype, &[1], &[back[i]]))[0]);
        assert_eq!(pow(&x, &y), alone.collect::<Vec<_>>(), "pow {dtype:?}");
    }
}
