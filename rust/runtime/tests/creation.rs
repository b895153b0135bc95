//! Filling, counting and spacing against naive loops.

mod common;

use common::values;
use proptest::prelude::*;
use wick_core::kernels::elementwise::Scalar;
use wick_core::{DType, Element, Number, with_dtype};
use wick_runtime::error::Kind;
use wick_runtime::ops::creation::{arange, eye, fill, fill_tensor, full, linspace};
use wick_runtime::{Context, Result, Tensor};

fn context() -> Context {
    Context::new(1 << 32, 3)
}

fn stored<T: Number>(dtype: DType, v: T) -> f64 {
    with_dtype!(dtype, D => Number::to_f64(D::store(v).load()))
}

fn dtypes() -> impl Strategy<Value = DType> {
    prop::sample::select(DType::ALL.to_vec())
}

fn floats() -> impl Strategy<Value = DType> {
    prop::sample::select(DType::ALL.into_iter().filter(|d| d.is_float()).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn arange_of_floats(dtype in floats(), start in -1e3..1e3f64, n in 0..5000i64, step in -3.0..3.0f64) {
        prop_assume!(step != 0.0);
        let ctx = context();
        let end = start + n as f64 * step;
        let t = arange(&ctx, dtype, Scalar::Float(start), Scalar::Float(end), Scalar::Float(step)).unwrap();
        prop_assert_eq!(t.numel(), ((end - start) / step).ceil() as i64);
        for (i, v) in values(&ctx, &t).into_iter().enumerate() {
            prop_assert_eq!(v, stored(dtype, start + i as f64 * step), "{}", i);
        }
    }

    #[test]
    fn arange_of_integers(dtype in dtypes(), start in any::<i64>(), end in any::<i64>(), step in any::<i64>(), small in any::<bool>()) {
        let ctx = context();
        let (start, end, step) = if small { (start >> 50, end >> 50, step >> 56) } else { (start, end, step) };
        let result = arange(&ctx, dtype, Scalar::Int(start), Scalar::Int(end), Scalar::Int(step));
        if dtype == DType::Bool {
            let refused = matches!(result, Err(e) if matches!(e.kind(), Kind::DType { .. }));
            prop_assert!(refused);
            return Ok(());
        }
        let mut expected = vec![];
        let mut at = i128::from(start);
        let past = |v: i128| if step > 0 { v >= i128::from(end) } else { v <= i128::from(end) };
        if step == 0 || (step > 0) == (end < start) && end != start {
            let refused = matches!(result, Err(e) if matches!(e.kind(), Kind::Shape { .. }));
            prop_assert!(refused);
            return Ok(());
        }
        while !past(at) && expected.len() < 100_000 {
            expected.push(stored(dtype, at as i64));
            at += i128::from(step);
        }
        prop_assume!(expected.len() < 100_000);
        prop_assert_eq!(values(&ctx, &result.unwrap()), expected);
    }

    #[test]
    fn linspace_is_symmetric(dtype in floats(), a in -100.0..100.0f64, b in -100.0..100.0f64, n in 0..3000i64) {
        let ctx = context();
        let there = values(&ctx, &linspace(&ctx, dtype, a, b, n).unwrap());
        prop_assert_eq!(there.len(), n as usize);
        if n > 1 {
            prop_assert_eq!((there[0], there[n as usize - 1]), (stored(dtype, a), stored(dtype, b)));
            let size = a.abs().max(b.abs());
            for (i, v) in there.iter().enumerate() {
                let exact = a + (b - a) * (i as f64 / (n - 1) as f64);
                let near = stored(dtype, exact);
                let unit = match dtype {
                    DType::F64 => 1e-15,
                    DType::F32 => 1e-7,
                    DType::F16 => 1e-3,
                    _ => 1e-2,
                };
                prop_assert!((v - near).abs() <= size * unit, "{} {} {}", i, v, near);
            }
        }
    }

    #[test]
    fn fill_writes_the_view_alone(
        dtype in dtypes(),
        shape in prop::collection::vec(0..5i64, 0..4),
        start in 0..3i64,
        step in 1..3i64,
        turn in any::<bool>(),
        value in 0..100i64,
        by_tensor in any::<bool>(),
    ) {
        let ctx = context();
        let base = full(&ctx, dtype, &shape, Scalar::Int(0)).unwrap();
        let mut layout = *base.layout();
        if let Some(first) = shape.first() {
            layout = layout.slice(0, start.min(*first), i64::MAX, step).unwrap();
        }
        if turn && shape.len() > 1 {
            layout = layout.transpose(0, -1).unwrap();
        }
        let view = base.with_layout("view", Ok(layout)).unwrap();
        if by_tensor {
            let value = full(&ctx, DType::I16, &[], Scalar::Int(value)).unwrap();
            fill_tensor(&ctx, &view, &value).unwrap();
        } else {
            fill(&ctx, &view, Scalar::Int(value)).unwrap();
        }
        let expected = stored(dtype, value);
        prop_assert!(values(&ctx, &view).iter().all(|v| *v == expected));
        let written = values(&ctx, &base).iter().filter(|v| **v == expected).count() as i64;
        prop_assert!(expected == 0.0 || written == view.numel());
    }
}

#[test]
fn long_ranges_in_parts() {
    let ctx = context();
    let n = 3_000_001;
    let t = arange(
        &ctx,
        DType::F64,
        Scalar::Float(0.5),
        Scalar::Float(0.5 + n as f64 / 8.0),
        Scalar::Float(0.125),
    );
    let v = values(&ctx, &t.unwrap());
    assert!(v.len() == n && v.iter().enumerate().all(|(i, x)| *x == 0.5 + i as f64 * 0.125));
    let v = values(&ctx, &linspace(&ctx, DType::F32, 0.0, 15000.0, 5001).unwrap());
    assert!(v.iter().enumerate().all(|(i, x)| *x == 3.0 * i as f64), "BR-143");
    let one = Context::new(1 << 30, 1);
    let a = values(&one, &linspace(&one, DType::F32, -1.0, 7.0, n as i64).unwrap());
    let b = values(&ctx, &linspace(&ctx, DType::F32, -1.0, 7.0, n as i64).unwrap());
    assert!(a == b);
}

#[test]
fn matrices_of_one() {
    let ctx = context();
    for dtype in DType::ALL {
        for (n, m) in [(3, 3), (2, 5), (5, 2), (0, 4), (4, 0), (1, 1), (300, 200)] {
            let v = values(&ctx, &eye(&ctx, dtype, n, m).unwrap());
            assert_eq!(v.len() as i64, n * m);
            assert!(v.iter().enumerate().all(|(i, x)| {
                let (row, column) = (i as i64 / m, i as i64 % m);
                *x == f64::from(u8::from(row == column))
            }));
        }
    }
    assert!(matches!(eye(&ctx, DType::F32, 0, i64::MAX), Ok(t) if t.numel() == 0));
}

#[test]
fn ranges_of_values() {
    let ctx = context();
    let make = |dtype, v| full(&ctx, dtype, &[2], v);
    let refused = |r: Result<Tensor>| matches!(r, Err(e) if matches!(e.kind(), Kind::DType { .. }));
    let int = Scalar::Int;
    let float = Scalar::Float;
    for (dtype, most) in [
        (DType::I8, 127i64),
        (DType::I16, 32767),
        (DType::I32, i64::from(i32::MAX)),
        (DType::U8, 255),
    ] {
        assert!(make(dtype, int(most)).is_ok() && refused(make(dtype, int(most + 1))));
        assert!(make(dtype, float(most as f64)).is_ok());
        assert!(refused(make(dtype, float(most as f64 + 1.0))));
        if dtype != DType::U8 {
            assert!(make(dtype, int(-most - 1)).is_ok() && refused(make(dtype, int(-most - 2))));
            assert!(make(dtype, float(-most as f64 - 1.0)).is_ok());
            assert!(refused(make(dtype, float(-most as f64 - 2.0))));
        }
        assert!(refused(make(dtype, float(f64::NAN))));
        assert!(refused(make(dtype, float(f64::INFINITY))));
    }
    // libtorch lets negative integers wrap in unsigned types.
    assert_eq!(values(&ctx, &make(DType::U8, int(-1)).unwrap()), [255.0; 2]);
    assert!(refused(make(DType::U8, int(-256))));
    assert!(refused(make(DType::I64, float(9_223_372_036_854_775_808.0))));
    assert!(make(DType::I64, float(-9_223_372_036_854_775_808.0)).is_ok());
    assert!(make(DType::I64, int(i64::MIN)).is_ok());
    for dtype in [DType::F16, DType::BF16, DType::F32] {
        assert!(refused(make(dtype, float(1e39))));
        assert!(make(dtype, float(f64::INFINITY)).is_ok() && make(dtype, float(f64::NAN)).is_ok());
    }
    assert!(make(DType::Bool, float(0.3)).is_ok());
    assert_eq!(ctx.allocator().memory().live, 0);
}
