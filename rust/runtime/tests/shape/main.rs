//! Views and rearrangements against index arithmetic on lists: LP-09, LP-10, SG-01 to SG-10.

mod model;

use proptest::prelude::*;
use wick_core::kernels::elementwise::Scalar;
use wick_core::{DType, Layout, with_dtype};
use wick_runtime::error::Kind;
use wick_runtime::ops::array::{from_elements, item, with_elements};
use wick_runtime::ops::elementwise::{cast, copy};
use wick_runtime::ops::join::{cat, stack};
use wick_runtime::ops::shape::{ShapeOp, apply};
use wick_runtime::ops::{creation, promote::Overlap, promote::overlap};
use wick_runtime::{Context, Tensor};

use model::*;

/// Whether some strides express the model, whose values are storage places, in a shape.
fn expressible(places: &[i64], shape: &[i64]) -> bool {
    let all = tuples(shape);
    let stride = |d: usize| {
        let unit: Vec<i64> = (0..shape.len()).map(|k| (k == d) as i64).collect();
        let at = all.iter().position(|t| *t == unit);
        at.map_or(0, |at| places[at] - places[0])
    };
    let strides: Vec<i64> = (0..shape.len()).map(stride).collect();
    all.iter().zip(places).all(|(t, place)| {
        *place == places[0] + t.iter().zip(&strides).map(|(i, s)| i * s).sum::<i64>()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]

    #[test]
    fn sequences_of_operations_follow_index_arithmetic(
        shape in shapes(), steps in steps(), dtype in 0usize..10
    ) {
        let ctx = ctx();
        let dtype = DType::ALL[dtype];
        let base = cast(&ctx, &counted(&ctx, &shape), dtype).unwrap();
        let mut t = base.clone();
        let mut model = Model { shape, values: values(&ctx, &base) };
        for (code, r) in steps {
            let Some((op, p, after)) = step(&model, code, r) else { continue };
            let next = run(&ctx, op, &t, &p);
            let next = match next {
                Err(e) => panic!("{} {p:?} on {:?}: {e}", op.name(), t.layout()),
                Ok(next) => next,
            };
            prop_assert_eq!(next.shape(), &after.shape[..], "{} {:?}", op.name(), &p);
            prop_assert_eq!(values(&ctx, &next), after.values.clone(), "{} {:?}", op.name(), p);
            let span = next.layout().span().unwrap();
            prop_assert!(span <= next.capacity());
            (t, model) = (next, after);
        }
        // What any of them leaves is copied, cloned, made contiguous alike.
        for op in [ShapeOp::Contiguous, ShapeOp::Clone, ShapeOp::Alias] {
            let same = run(&ctx, op, &t, &[]).unwrap();
            prop_assert_eq!(values(&ctx, &same), model.values.clone());
            prop_assert!(op == ShapeOp::Alias || same.layout().is_contiguous());
        }
    }

    #[test]
    fn view_succeeds_exactly_where_strides_allow(shape in shapes(), steps in steps(), cut in any::<[u32; 3]>()) {
        let ctx = ctx();
        let base = counted(&ctx, &shape);
        let mut t = base.clone();
        let mut model = Model { shape, values: values(&ctx, &base) };
        for (code, r) in steps {
            let Some((op, p, after)) = step(&model, code % 12, r) else { continue };
            if after.values.len() > 300 { continue }
            (t, model) = (run(&ctx, op, &t, &p).unwrap(), after);
        }
        // Merge two neighbours and cut another dimension.
        let mut to = model.shape.clone();
        if to.len() > 1 {
            let d = cut[0] as usize % (to.len() - 1);
            let merged = to[d] * to[d + 1];
            to.splice(d..d + 2, [merged]);
        }
        if !to.is_empty() {
            let d = cut[1] as usize % to.len();
            if let Some(p) = (2..to[d]).find(|p| to[d] % p == 0) {
                let rest = to[d] / p;
                to.splice(d..d + 1, [p, rest]);
            }
        }
        let view = run(&ctx, ShapeOp::View, &t, &to);
        let reshaped = run(&ctx, ShapeOp::Reshape, &t, &to).unwrap();
        prop_assert_eq!(values(&ctx, &reshaped), model.values.clone());
        prop_assert_eq!(reshaped.shape(), &to[..]);
        let possible = model.values.is_empty() || expressible(&model.values, &to);
        prop_assert_eq!(view.is_ok(), possible, "{:?} to {:?}", t.layout(), to);
        prop_assert_eq!(reshaped.shares_storage(&t), possible);
        if let Ok(view) = view {
            prop_assert_eq!(values(&ctx, &view), model.values);
        }
    }

    #[test]
    fn transposed_copies_of_all_sizes(
        outer in 1i64..4, rows in 1i64..100, cols in 1i64..100, dtype in 0usize..10, way in 0usize..6, skip in 0i64..3
    ) {
        let ctx = ctx();
        let dtype = DType::ALL[dtype];
        let order = [[0, 2, 1], [2, 1, 0], [1, 2, 0], [2, 0, 1], [1, 0, 2], [0, 1, 2]][way];
        let base = cast(&ctx, &counted(&ctx, &[outer, rows + skip, cols]), dtype).unwrap();
        let part = run(&ctx, ShapeOp::Narrow, &base, &[1, skip, rows]).unwrap();
        let t = run(&ctx, ShapeOp::Permute, &part, &order).unwrap();
        let expected = values(&ctx, &t);
        let copied = run(&ctx, ShapeOp::Clone, &t, &[]).unwrap();
        // Element by element, so by another path than the copy under test.
        for (i, index) in tuples(t.shape()).iter().enumerate().step_by(37) {
            let mut one = t.clone();
            for at in index {
                one = run(&ctx, ShapeOp::Select, &one, &[0, *at]).unwrap();
            }
            prop_assert_eq!(item::<i64>(&ctx, &one).unwrap(), expected[i]);
        }
        prop_assert_eq!(values(&ctx, &copied), expected.clone());
        // And into a transposed target.
        let target = cast(&ctx, &counted(&ctx, base.shape()), dtype).unwrap();
        let to = run(&ctx, ShapeOp::Narrow, &target, &[1, 0, rows]).unwrap();
        let to = run(&ctx, ShapeOp::Permute, &to, &order).unwrap();
        copy(&ctx, &to, &copied).unwrap();
        prop_assert_eq!(values(&ctx, &to), expected);
    }

    #[test]
    fn joins_follow_index_arithmetic(
        sizes in proptest::collection::vec((0i64..5, 0usize..10), 1..12),
        other in 0i64..4, dim in 0usize..3, turned in any::<bool>(), into in any::<bool>()
    ) {
        let ctx = ctx();
        let mut dtype = DType::ALL[sizes[0].1];
        let mut expected: Vec<(Vec<i64>, i64)> = vec![];
        let mut at = 0;
        let mut tensors = vec![];
        for (size, kind) in &sizes {
            let mut shape = vec![other, 2, 3];
            shape[dim] = *size;
            let kind = DType::ALL[*kind];
            dtype = dtype.promote(kind);
            let t = if turned {
                shape.swap(0, 2);
                let t = cast(&ctx, &counted(&ctx, &shape), kind).unwrap();
                shape.swap(0, 2);
                run(&ctx, ShapeOp::Transpose, &t, &[0, 2]).unwrap()
            } else {
                cast(&ctx, &counted(&ctx, &shape), kind).unwrap()
            };
            for (mut index, v) in tuples(&shape).into_iter().zip(values(&ctx, &t)) {
                index[dim] += at;
                expected.push((index, v));
            }
            at += size;
            tensors.push(t);
        }
        tensors.push(cast(&ctx, &counted(&ctx, &[0]), DType::Bool).unwrap());
        expected.sort();
        let all: Vec<&Tensor> = tensors.iter().collect();
        let mut shape = vec![other, 2, 3];
        shape[dim] = at;
        let joined = if into {
            let out = Tensor::empty(&ctx, "cat", dtype, &shape).unwrap();
            prop_assert!(cat(&ctx, &all, dim as i64 - 3, Some(&out)).unwrap().is_none());
            out
        } else {
            cat(&ctx, &all, dim as i64, None).unwrap().unwrap()
        };
        prop_assert_eq!(joined.shape(), &shape[..]);
        prop_assert_eq!(joined.dtype(), dtype);
        let expected: Vec<i64> = expected.into_iter().map(|(_, v)| v).collect();
        prop_assert_eq!(values(&ctx, &joined), expected);
    }
}

#[test]
fn stacks_select_back() {
    let ctx = ctx();
    for rank in 0..3 {
        let shape = vec![3; rank];
        let a = counted(&ctx, &shape);
        let b = cast(&ctx, &run(&ctx, ShapeOp::Roll, &a, &[]).unwrap(), DType::F32).unwrap();
        for dim in -(rank as i64) - 1..=rank as i64 {
            let s = stack(&ctx, &[&a, &b, &a], dim, None).unwrap().unwrap();
            assert_eq!(s.dtype(), DType::F32);
            for k in 0..3 {
                let back = run(&ctx, ShapeOp::Select, &s, &[dim, k]).unwrap();
                assert_eq!(values(&ctx, &back), values(&ctx, &a));
            }
        }
        assert!(
            matches!(stack(&ctx, &[&a], rank as i64 + 1, None), Err(e) if matches!(e.kind(), Kind::Index { .. }))
        );
    }
}

/// Many small tensors run side by side: the same bits for any number of threads.
#[test]
fn joins_do_not_depend_on_threads() {
    let one = Context::new(1 << 30, 1);
    let many = Context::new(1 << 30, 7);
    for n in [1, 3, 100, 1000] {
        let make = |ctx: &Context| {
            let tensors: Vec<Tensor> = (0..n).map(|i| counted(ctx, &[1 + i % 5, 300])).collect();
            let all: Vec<&Tensor> = tensors.iter().collect();
            values(ctx, &cat(ctx, &all, 0, None).unwrap().unwrap())
        };
        assert_eq!(make(&one), make(&many));
    }
    let turned = |ctx: &Context| {
        let t = counted(ctx, &[3, 700, 500]);
        values(ctx, &run(ctx, ShapeOp::Permute, &t, &[2, 0, 1]).unwrap())
    };
    assert_eq!(turned(&one), turned(&many));
}

/// Repeating along many dimensions takes two passes.
#[test]
fn repeats_of_nine_dimensions() {
    let ctx = ctx();
    let t = counted(&ctx, &[2; 9]);
    let r = run(&ctx, ShapeOp::Repeat, &t, &[2; 9]).unwrap();
    assert_eq!(r.shape(), &[4; 9]);
    let model = Model { shape: vec![2; 9], values: values(&ctx, &t) };
    let expected = model.map(vec![4; 9], |i| i.iter().map(|k| k % 2).collect());
    assert_eq!(values(&ctx, &r), expected.values);
}

#[test]
fn diagonals_and_traces() {
    let ctx = ctx();
    for dtype in DType::ALL {
        let line = cast(&ctx, &counted(&ctx, &[3]), dtype).unwrap();
        for by in [-2i64, 0, 1] {
            let m = run(&ctx, ShapeOp::Diag, &line, &[by]).unwrap();
            assert_eq!(m.shape(), [3 + by.abs(); 2]);
            assert_eq!(m.dtype(), dtype);
            let back = run(&ctx, ShapeOp::Diag, &m, &[by]).unwrap();
            assert_eq!(values(&ctx, &back), values(&ctx, &line));
            assert!(!back.shares_storage(&m));
            let ones = |t: &Tensor| values(&ctx, t).iter().filter(|v| **v != 0).count();
            assert_eq!(ones(&m), ones(&line));
        }
        let square = cast(&ctx, &counted(&ctx, &[3, 4]), dtype).unwrap();
        let trace = run(&ctx, ShapeOp::Trace, &square, &[]).unwrap();
        let expected = if dtype.is_float() { dtype } else { DType::I64 };
        assert_eq!((trace.rank(), trace.dtype()), (0, expected));
        let sum = if dtype == DType::Bool { 2 } else { 15 };
        assert_eq!(item::<i64>(&ctx, &trace).unwrap(), sum);
    }
    // Long diagonals sum by halves: 0.1 f32 is summed wide and rounded once.
    let tenths = creation::full(&ctx, DType::F32, &[3000, 3000], Scalar::Float(0.1)).unwrap();
    let trace = run(&ctx, ShapeOp::Trace, &tenths, &[]).unwrap();
    assert_eq!(item::<f64>(&ctx, &trace).unwrap() as f32, (0.1f32 as f64 * 3000.0) as f32);
    let empty = run(&ctx, ShapeOp::Trace, &counted(&ctx, &[0, 4]), &[]).unwrap();
    assert_eq!(item::<i64>(&ctx, &empty).unwrap(), 0);
}

/// In-place triangles, and NaN payloads and signed zeros that copies keep bit for bit.
#[test]
fn triangles_in_place_and_bits() {
    let ctx = ctx();
    for dtype in DType::ALL {
        let m = cast(&ctx, &counted(&ctx, &[2, 3, 4]), dtype).unwrap();
        let t = run(&ctx, ShapeOp::Transpose, &m, &[1, 2]).unwrap();
        for (fresh, in_place) in
            [(ShapeOp::Tril, ShapeOp::TrilInPlace), (ShapeOp::Triu, ShapeOp::TriuInPlace)]
        {
            let expected = values(&ctx, &run(&ctx, fresh, &t, &[0]).unwrap());
            assert!(apply(&ctx, in_place, &t, &[0]).unwrap().is_none());
            assert_eq!(values(&ctx, &t), expected);
        }
        for by in [i64::MIN, i64::MAX] {
            let kept = run(&ctx, ShapeOp::Tril, &m, &[by]).unwrap();
            let expected = if by > 0 { values(&ctx, &m) } else { vec![0; 24] };
            assert_eq!(values(&ctx, &kept), expected);
        }
    }
    let bits = [0x7ff0_dead_beef_0001u64, 0x8000_0000_0000_0000, 1, 0xfff8_0000_0000_0001];
    let bytes: Vec<u8> = bits.iter().flat_map(|b| b.to_ne_bytes()).collect();
    let odd = from_elements(&ctx, DType::F64, &[2, 2], 4, |to| to.copy_from_slice(&bytes)).unwrap();
    let turned = run(&ctx, ShapeOp::T, &odd, &[]).unwrap();
    let back =
        run(&ctx, ShapeOp::T, &run(&ctx, ShapeOp::Clone, &turned, &[]).unwrap(), &[]).unwrap();
    let kept = with_elements(&ctx, &back, DType::F64, 4, |b| b.to_vec()).unwrap();
    assert_eq!(kept, bytes);
}

/// BR-108, BR-110, BR-114, BR-115, BR-149, BR-151, BR-156, BR-158, BR-160: refused, and nothing changed.
#[test]
fn refusals() {
    let ctx = ctx();
    let x = counted(&ctx, &[4]);
    let fails = |op, a: &Tensor, p: &[i64]| run(&ctx, op, a, p).expect_err("refused");
    let big = 1i64 << 62;
    for p in [
        vec![1, 2, -1, 0],
        vec![1, 2, 1, -1],
        vec![1, 5, 1, 0],
        vec![2, 1 << 32, 1 << 32, 1 << 32, 1, 0],
        vec![1, big, 4, 0],
        vec![1, 3, i64::MAX, 0],
        vec![1, 2, 1, i64::MAX],
    ] {
        assert!(matches!(fails(ShapeOp::AsStrided, &x, &p).kind(), Kind::Shape { .. }), "{p:?}");
    }
    for p in [[0, 5, 0], [0, -1_000_000, 1], [0, 2, -1], [0, 1, i64::MAX], [0, i64::MIN, 1]] {
        assert!(matches!(fails(ShapeOp::Narrow, &x, &p).kind(), Kind::Index { .. }), "{p:?}");
    }
    for step in [0, -1, i64::MIN] {
        assert!(matches!(fails(ShapeOp::Slice, &x, &[0, 0, 4, step]).kind(), Kind::Shape { .. }));
    }
    let huge = [2, 467_443_687, 39_463_029_637];
    assert!(matches!(
        fails(ShapeOp::Reshape, &counted(&ctx, &[6]), &huge).kind(),
        Kind::Shape { .. }
    ));
    assert!(matches!(fails(ShapeOp::Expand, &x, &[big, 4]).kind(), Kind::Shape { .. }));
    assert!(matches!(fails(ShapeOp::Repeat, &x, &[big]).kind(), Kind::Shape { .. }));
    assert!(matches!(fails(ShapeOp::Diag, &x, &[i64::MIN]).kind(), Kind::Shape { .. }));
    assert!(matches!(fails(ShapeOp::Expand, &x, &[1; 17]).kind(), Kind::Shape { .. }));
    let none = counted(&ctx, &[0]);
    assert!(
        matches!(cat(&ctx, &[&none, &none], 7, None), Err(e) if matches!(e.kind(), Kind::Index { .. }))
    );
    assert!(matches!(cat(&ctx, &[&x], 1, None), Err(e) if matches!(e.kind(), Kind::Index { .. })));
    assert!(matches!(cat(&ctx, &[], 0, None), Err(e) if matches!(e.kind(), Kind::Shape { .. })));
    let two = counted(&ctx, &[2, 3]);
    assert_eq!(cat(&ctx, &[&none, &two], 1, None).unwrap().unwrap().shape(), [2, 3]);
    assert!(cat(&ctx, &[&two, &counted(&ctx, &[3, 0])], 1, None).is_err());
    assert!(cat(&ctx, &[&none, &counted(&ctx, &[3, 5])], 0, Some(&none)).is_err());
    let part = |start| run(&ctx, ShapeOp::Narrow, &x, &[0, start, 2]).unwrap();
    assert!(cat(&ctx, &[&part(0), &part(2)], 0, Some(&x)).is_err());
    assert_eq!(values(&ctx, &x), [0, 1, 2, 3]);
    assert_eq!(overlap(&part(0), &part(2)), Overlap::None);
}

/// Strides of dimensions that never step, and of empty tensors, may be anything: no arithmetic on
/// them overflows.
#[test]
fn strides_that_never_step() {
    let ctx = ctx();
    let x = counted(&ctx, &[4]);
    let max = i64::MAX;
    for p in [vec![3, 1, 1, 1, max, max, max, 0], vec![3, 0, 5, 1, max, max, max, max]] {
        let t = run(&ctx, ShapeOp::AsStrided, &x, &p).unwrap();
        let n = t.numel();
        let ops: [(ShapeOp, &[i64], i64); 10] = [
            (ShapeOp::Diagonal, &[0, 0, 2], if n == 0 { 0 } else { 1 }),
            (ShapeOp::Diagonal, &[0, 1, 2], n),
            (ShapeOp::Select, &[1, 0], n),
            (ShapeOp::Select, &[1, -1], n),
            (ShapeOp::Narrow, &[2, 1, 0], 0),
            (ShapeOp::Slice, &[2, 0, max, max], n),
            (ShapeOp::Unfold, &[2, 1, max], n),
            (ShapeOp::Unsqueeze, &[1], n),
            (ShapeOp::Flip, &[0, 1, 2], n),
            (ShapeOp::Reshape, &[-1, 1], n),
        ];
        for (op, p, _) in ops {
            if op == ShapeOp::Reshape && n == 0 {
                continue;
            }
            let out = run(&ctx, op, &t, p).unwrap();
            assert!(out.numel() <= n);
            assert_eq!(values(&ctx, &out).len() as i64, out.numel());
        }
    }
}

/// Layouts know when two of their elements share a place.
#[test]
fn overlaps() {
    let with = |shape: &[i64], strides: &[i64]| Layout::strided(shape, strides, 0).unwrap();
    assert!(!with(&[3, 4], &[4, 1]).overlaps_itself());
    assert!(!with(&[4, 3], &[1, 4]).overlaps_itself());
    assert!(with(&[3, 4], &[0, 1]).overlaps_itself());
    assert!(with(&[3, 2], &[1, 1]).overlaps_itself());
    assert!(!with(&[1, 2], &[0, 1]).overlaps_itself());
    assert!(!with(&[0, 2], &[0, 0]).overlaps_itself());
}

/// A cast of every type to every other, through a transposed view as through a contiguous one.
#[test]
fn casts_of_views() {
    let ctx = ctx();
    for from in DType::ALL {
        let t = cast(&ctx, &counted(&ctx, &[40, 50]), from).unwrap();
        let turned = run(&ctx, ShapeOp::T, &t, &[]).unwrap();
        let dense = run(&ctx, ShapeOp::Clone, &turned, &[]).unwrap();
        for to in DType::ALL {
            let (a, b) = (cast(&ctx, &turned, to).unwrap(), cast(&ctx, &dense, to).unwrap());
            let size = with_dtype!(to, T => size_of::<T>());
            let bytes = |t: &Tensor| with_elements(&ctx, t, to, 2000, |b| b.to_vec()).unwrap();
            assert_eq!(bytes(&a).len(), 2000 * size);
            assert_eq!(bytes(&a), bytes(&b), "{from} to {to}");
        }
    }
}
