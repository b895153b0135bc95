//! Indexing against loops over index tuples, on random layouts and dtypes.

mod model;

use proptest::prelude::*;
use wick_core::kernels::elementwise::Scalar;
use wick_core::kernels::index::Write;
use wick_core::{Bool, DType, Element, Layout};
use wick_runtime::error::Kind;
use wick_runtime::ops::elementwise::{Out, cast, ternary};
use wick_runtime::ops::promote::Arg;
use wick_runtime::ops::put::{self, PutOp, Source};
use wick_runtime::ops::{advanced, index, mask};
use wick_runtime::{Error, Tensor};

use model::*;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn selections(seed in 1u64..) {
        let mut r = Random(seed);
        let ctx = context(3);
        let dtype = r.dtype();
        let rank = r.below(4);
        let shape = r.shape(rank, 5);
        let a = r.tensor(&ctx, dtype, &shape, true);
        let d = r.below(rank);
        let size = shape.get(d).copied().unwrap_or(1);
        let n = if rank == 0 { 1 } else if size == 0 { 0 } else { r.below(7) as i64 };
        let at = r.indices(&ctx, &[n], size, false);
        let dim = if r.flip() { d as i64 } else { d as i64 - rank.max(1) as i64 };
        let narrow = if r.flip() { at.clone() } else { cast(&ctx, &at, DType::I32).unwrap() };
        let out = index::index_select(&ctx, &a, dim, &narrow, None).unwrap().unwrap();
        let mut expected = shape.clone();
        if rank > 0 {
            expected[d] = n;
        }
        prop_assert_eq!(out.shape(), &expected[..]);
        for t in tuples(&expected) {
            let from = if rank == 0 { vec![] } else { replaced(&t, d, get(&at, &[t[d]])) };
            prop_assert_eq!(get(&out, &t), get(&a, &from));
        }
        let into = r.tensor(&ctx, dtype, &expected, false);
        index::index_select(&ctx, &a, dim, &at, Some(&into)).unwrap();
        prop_assert_eq!(values(&into), values(&out));

        // gather: an index no longer than the tensor but along d.
        let mut sizes: Vec<i64> = shape.iter().map(|s| r.below(*s as usize + 1) as i64).collect();
        if rank > 0 {
            sizes[d] = n;
        }
        let at = r.indices(&ctx, &sizes, size, false);
        let out = index::gather(&ctx, &a, dim, &at).unwrap();
        prop_assert_eq!(out.shape(), &sizes[..]);
        for t in tuples(&sizes) {
            let from = if rank == 0 { vec![] } else { replaced(&t, d, get(&at, &t)) };
            prop_assert_eq!(get(&out, &t), get(&a, &from));
        }

        // take
        let numel = a.numel();
        let places = if numel == 0 { vec![0, 3] } else { r.shape(2, 4) };
        let at = r.indices(&ctx, &places, numel, true);
        let out = index::take(&ctx, &a, &at).unwrap();
        let all = values(&a);
        for t in tuples(&places) {
            let i = get(&at, &t);
            prop_assert_eq!(get(&out, &t), all[(if i < 0 { i + numel } else { i }) as usize]);
        }
    }

    #[test]
    fn writes_along_a_dimension(seed in 1u64..) {
        let mut r = Random(seed);
        let ctx = context(3);
        let dtype = r.dtype();
        let rank = 1 + r.below(3);
        let mut shape = r.shape(rank, 5);
        let d = r.below(rank);
        shape[d] = 1 + r.below(5) as i64;
        let a = || Random(seed ^ 99).tensor(&ctx, dtype, &shape, false);
        let n = r.below(7) as i64;
        let mut sizes = shape.clone();
        sizes[d] = n;

        let at = r.indices(&ctx, &[n], shape[d], false);
        let source = r.tensor(&ctx, dtype, &sizes, true);
        for op in [PutOp::IndexAdd, PutOp::IndexCopy, PutOp::IndexFill] {
            let t = a();
            let mut expected = values(&t);
            for tuple in tuples(&sizes) {
                let place = flat(&shape, &replaced(&tuple, d, get(&at, &[tuple[d]])));
                expected[place] = match op {
                    PutOp::IndexAdd => plus(dtype, expected[place], get(&source, &tuple)),
                    PutOp::IndexCopy => get(&source, &tuple),
                    _ => 1,
                };
            }
            let from = if op == PutOp::IndexFill { Source::Number(Scalar::Float(1.5)) } else { Source::Tensor(&source) };
            let from = if op == PutOp::IndexFill && dtype.is_float() { Source::Number(Scalar::Int(1)) } else { from };
            both(&ctx, &t, &expected, &|t, in_place| {
                put::index_put_slices(&ctx, op, t, d as i64, &at, from, in_place)
            });
        }

        let sizes: Vec<i64> = (0..rank).map(|k| if k == d { n } else { r.below(shape[k] as usize + 1) as i64 }).collect();
        let larger: Vec<i64> = sizes.iter().map(|s| s + r.below(2) as i64).collect();
        let at = r.indices(&ctx, &sizes, shape[d], false);
        let source = r.tensor(&ctx, dtype, &larger, true);
        for (write, number) in [(Write::Add, false), (Write::Set, false), (Write::Set, true)] {
            let t = a();
            let mut expected = values(&t);
            for tuple in tuples(&sizes) {
                let place = flat(&shape, &replaced(&tuple, d, get(&at, &tuple)));
                let value = if number { 1 } else { get(&source, &tuple) };
                let sum = plus(dtype, expected[place], value);
                expected[place] = if write == Write::Add { sum } else { value };
            }
            let from = if number { Source::Number(Scalar::Int(1)) } else { Source::Tensor(&source) };
            both(&ctx, &t, &expected, &|t, in_place| {
                put::scatter(&ctx, t, d as i64 - rank as i64, &at, from, write, in_place)
            });
        }

        let t = a();
        if t.numel() > 0 {
            let places = r.shape(2, 4);
            let at = r.indices(&ctx, &places, t.numel(), true);
            let source = r.tensor(&ctx, dtype, &[places.iter().product()], true);
            for accumulate in [false, true] {
                let t = a();
                let mut expected = values(&t);
                for (k, i) in values(&at).into_iter().enumerate() {
                    let place = (if i < 0 { i + t.numel() } else { i }) as usize;
                    let value = get(&source, &[k as i64]);
                    expected[place] = if accumulate { plus(dtype, expected[place], value) } else { value };
                }
                both(&ctx, &t, &expected, &|t, in_place| {
                    put::put(&ctx, t, &at, &source, accumulate, in_place)
                });
            }
        }
    }

    #[test]
    fn masks(seed in 1u64..) {
        let mut r = Random(seed);
        let ctx = context(3);
        let dtype = r.dtype();
        let rank = r.below(4);
        let shape = r.shape(rank, 6);
        let mut of_mask: Vec<i64> = shape.iter().map(|s| if r.below(3) == 0 { 1 } else { *s }).collect();
        of_mask.drain(..r.below(rank + 1));
        let mask = r.tensor(&ctx, DType::Bool, &of_mask, true);
        let wide = mask.with_layout("test", mask.layout().expand(&shape)).unwrap();
        let truths = values(&wide);
        let a = r.tensor(&ctx, dtype, &shape, true);
        let all = values(&a);

        let picked = mask::masked_select(&ctx, &a, &mask).unwrap();
        let expected: Vec<i64> = all.iter().zip(&truths).filter(|(_, t)| **t != 0).map(|(x, _)| *x).collect();
        prop_assert_eq!(values(&picked), expected);

        let b = r.tensor(&ctx, dtype, &[], true);
        let three = [Arg::Tensor(&mask), Arg::Tensor(&a), Arg::Tensor(&b)];
        let chosen = ternary(&ctx, wick_core::ops::TernaryOp::Where, &three, Scalar::Int(0), Out::New).unwrap().unwrap();
        let other = get(&b, &[]);
        let expected: Vec<i64> = all.iter().zip(&truths).map(|(x, t)| if *t != 0 { *x } else { other }).collect();
        prop_assert_eq!(values(&chosen), expected);
        prop_assert_eq!(chosen.dtype(), dtype);

        let a = r.tensor(&ctx, dtype, &shape, false);
        let expected: Vec<i64> = values(&a).iter().zip(&truths).map(|(x, t)| if *t != 0 { 1 } else { *x }).collect();
        both(&ctx, &a, &expected, &|t, in_place| mask::masked_fill(&ctx, t, &mask, Scalar::Int(1), in_place));

        let a = r.tensor(&ctx, dtype, &shape, false);
        let enough = truths.iter().sum::<i64>() + r.below(2) as i64;
        let source = r.tensor(&ctx, dtype, &[enough], true);
        let mut next = values(&source).into_iter();
        let expected: Vec<i64> = values(&a).iter().zip(&truths).map(|(x, t)| if *t != 0 { next.next().unwrap() } else { *x }).collect();
        both(&ctx, &a, &expected, &|t, in_place| mask::masked_scatter(&ctx, t, &mask, &source, in_place));

        let places = mask::nonzero(&ctx, &a).unwrap();
        let expected: Vec<i64> = tuples(&shape).filter(|t| get(&a, t) != 0).flatten().collect();
        prop_assert_eq!(values(&places), expected);

        let copy = cast(&ctx, &a, dtype).unwrap();
        prop_assert!(mask::equal(&ctx, &a, &copy).unwrap());
        if a.numel() > 0 {
            let at = r.below(a.numel() as usize);
            let mut changed = values(&copy);
            changed[at] = 1 - changed[at].min(1);
            write(&copy, &changed);
            prop_assert_eq!(mask::equal(&ctx, &a, &copy).unwrap(), values(&a) == changed);
        }
    }

    #[test]
    fn lists_of_indices(seed in 1u64..) {
        let mut r = Random(seed);
        let ctx = context(3);
        let dtype = r.dtype();
        let rank = 1 + r.below(3);
        let shape: Vec<i64> = r.shape(rank, 3).iter().map(|s| s + 1).collect();
        let common = r.shape(r.0 as usize % 3, 3);
        // At least one dimension has an index; each index broadcasts to the common shape.
        let must = r.below(rank);
        let list: Vec<Option<Tensor>> = (0..rank).map(|d| {
            if d != must && r.flip() {
                return None;
            }
            let mut sizes: Vec<i64> = common.iter().map(|s| if d != must && r.below(3) == 0 { 1 } else { *s }).collect();
            if d != must {
                sizes.drain(..r.below(sizes.len() + 1));
            }
            Some(r.indices(&ctx, &sizes, shape[d], true))
        }).collect();
        let list: Vec<Option<&Tensor>> = list.iter().map(|t| t.as_ref()).collect();
        let indexed: Vec<usize> = (0..rank).filter(|d| list[*d].is_some()).collect();
        let adjacent = indexed[indexed.len() - 1] - indexed[0] + 1 == indexed.len();
        let first = if adjacent { indexed[0] } else { 0 };
        let kept: Vec<usize> = (0..rank).filter(|d| list[*d].is_none()).collect();
        let mut result: Vec<i64> = kept.iter().map(|d| shape[*d]).collect();
        result.splice(first..first, common.iter().copied());
        // The tuple of the tensor that a tuple of the result stands for.
        let from = |t: &[i64]| -> Vec<i64> {
            let shared = &t[first..first + common.len()];
            let mut rest = t[..first].iter().chain(&t[first + common.len()..]);
            (0..rank).map(|d| match list[d] {
                None => *rest.next().unwrap(),
                Some(index) => {
                    let wide = index.with_layout("test", index.layout().expand(&common)).unwrap();
                    let i = get(&wide, shared);
                    if i < 0 { i + shape[d] } else { i }
                }
            }).collect()
        };
        let a = r.tensor(&ctx, dtype, &shape, true);
        let out = advanced::index(&ctx, &a, &list).unwrap();
        prop_assert_eq!(out.shape(), &result[..]);
        for t in tuples(&result) {
            prop_assert_eq!(get(&out, &t), get(&a, &from(&t)));
        }
        let drop = r.below(result.len() + 1);
        let source = r.tensor(&ctx, dtype, &result[drop..], true);
        for accumulate in [false, true] {
            let a = Random(seed ^ 7).tensor(&ctx, dtype, &shape, false);
            let mut expected = values(&a);
            for t in tuples(&result) {
                let place = flat(&shape, &from(&t));
                let value = get(&source, &t[drop..]);
                expected[place] = if accumulate { plus(dtype, expected[place], value) } else { value };
            }
            both(&ctx, &a, &expected, &|t, in_place| {
                advanced::index_put(&ctx, t, &list, &source, accumulate, in_place)
            });
        }
    }
}

fn text(e: Error) -> String {
    e.to_string()
}

/// BR-122: one bad entry among many is named, with its place, and nothing is written.
#[test]
fn bad_indices_are_named() {
    let ctx = context(4);
    let a = make(&ctx, DType::F32, &[4], &[0, 1, 2, 3]);
    let mut many = vec![3i64; 2000];
    for bad in [4, i64::MAX / 2 + 1, i64::MIN, -1] {
        many[1000] = bad;
        let at = make(&ctx, DType::I64, &[2000], &many);
        let e = text(index::index_select(&ctx, &a, 0, &at, None).unwrap_err());
        assert!(e.contains(&format!("index {bad} at place 1000")) && e.contains("size 4"), "{e}");
        assert!(index::gather(&ctx, &a, 0, &at).is_err());
        let source = make(&ctx, DType::F32, &[2000], &vec![9; 2000]);
        for write in [Write::Set, Write::Add] {
            let source = Source::Tensor(&source);
            let e = put::scatter(&ctx, &a, 0, &at, source, write, true).unwrap_err();
            assert!(matches!(e.kind(), Kind::Index { .. }), "{e}");
        }
        assert!(
            put::index_put_slices(&ctx, PutOp::IndexAdd, &a, 0, &at, Source::Tensor(&source), true)
                .is_err()
        );
        assert_eq!(values(&a), [0, 1, 2, 3]);
    }
    let square = make(&ctx, DType::I64, &[2, 2], &[0, 0, 9, 0]);
    let b = make(&ctx, DType::F32, &[2, 2], &[0, 1, 2, 3]);
    let e = text(index::gather(&ctx, &b, 1, &square).unwrap_err());
    assert!(e.contains("index 9 at place [1, 0]"), "{e}");
}

/// BR-134: repeats add up exactly, for any number of threads, in every dtype that can hold the sum.
#[test]
fn repeats_add_up() {
    let n = 1_000_000;
    let ctx = context(8);
    let at = make(&ctx, DType::I64, &[n], &vec![1; n as usize]);
    for dtype in [DType::F32, DType::F64, DType::I64, DType::I32, DType::BF16] {
        let ones = make(&ctx, dtype, &[1], &[1])
            .with_layout("test", Layout::contiguous(&[1]).unwrap().expand(&[n]))
            .unwrap();
        let a = make(&ctx, dtype, &[3], &[5, 0, 7]);
        put::scatter(&ctx, &a, 0, &at, Source::Tensor(&ones), Write::Add, true).unwrap();
        // bf16 holds the sum rounded once.
        let sum = if dtype == DType::BF16 { 999_424 } else { n };
        assert_eq!(values(&a), [5, sum, 7], "{dtype}");
    }
}

/// Sums of floats in the order of the source, whatever the number of threads.
#[test]
fn threads_do_not_change_results() {
    let mut r = Random(7);
    let (rows, width, n) = (50i64, 40i64, 20_000i64);
    let one = context(1);
    let at = r.indices(&one, &[n], rows, false);
    let source = make(
        &one,
        DType::F32,
        &[n, width],
        &(0..n * width).map(|k| k % 1009).collect::<Vec<i64>>(),
    );
    let thirds = wick_runtime::ops::elementwise::binary(
        &one,
        wick_core::ops::BinaryOp::Div,
        &[Arg::Tensor(&source), Arg::Scalar(Scalar::Float(3.0))],
        None,
        Out::New,
    )
    .unwrap()
    .unwrap();
    let zeros = make(&one, DType::F32, &[rows, width], &vec![0; (rows * width) as usize]);
    let narrow = |t: &Tensor, w: i64| t.with_layout("test", t.layout().narrow(1, 0, w)).unwrap();
    for w in [width, 3] {
        let (zeros, thirds) = (narrow(&zeros, w), narrow(&thirds, w));
        let sums: Vec<Tensor> = [1, 2, 5, 16]
            .map(|threads| {
                let ctx = context(threads);
                put::index_put_slices(
                    &ctx,
                    PutOp::IndexAdd,
                    &zeros,
                    0,
                    &at,
                    Source::Tensor(&thirds),
                    false,
                )
                .unwrap()
                .unwrap()
            })
            .into();
        for sum in &sums[1..] {
            assert!(mask::equal(&one, &sums[0], sum).unwrap());
        }
        assert!(values(&sums[0]).iter().all(|v| *v > 0));
    }
}

/// Large masks cross chunks and threads.
#[test]
fn large_masks() {
    let ctx = context(4);
    let n = 100_000i64;
    let a = make(&ctx, DType::I32, &[n], &(0..n).collect::<Vec<_>>());
    for step in [1, 2, 3, 7, 50_000, n + 1] {
        let truths: Vec<i64> = (0..n).map(|k| (k % step == 1 % step) as i64).collect();
        let mask = make(&ctx, DType::Bool, &[n], &truths);
        let expected: Vec<i64> = (0..n).filter(|k| truths[*k as usize] == 1).collect();
        assert_eq!(values(&mask::masked_select(&ctx, &a, &mask).unwrap()), expected);
        assert_eq!(values(&mask::nonzero(&ctx, &mask).unwrap()), expected);
    }
}

/// BR-138: values that do not fit, and those that lose their fraction.
#[test]
fn values_must_fit() {
    let ctx = context(1);
    let mask = make(&ctx, DType::Bool, &[2], &[0, 1]);
    let fill = |dtype, value| {
        let a = make(&ctx, dtype, &[2], &[1, 1]);
        mask::masked_fill(&ctx, &a, &mask, value, false).map(|t| values(&t.unwrap())[1])
    };
    use Scalar::{Float, Int};
    assert_eq!(fill(DType::I32, Float(2.7)).unwrap(), 2);
    assert_eq!(fill(DType::I32, Float(-2.7)).unwrap(), -2);
    assert_eq!(fill(DType::Bool, Float(2.7)).unwrap(), 1);
    // BR-051: exact.
    assert_eq!(fill(DType::I64, Int((1 << 53) + 1)).unwrap(), (1 << 53) + 1);
    assert_eq!(fill(DType::I64, Int(i64::MIN)).unwrap(), i64::MIN);
    for (dtype, value) in [
        (DType::U8, Int(300)),
        (DType::U8, Float(300.0)),
        (DType::I8, Int(-129)),
        (DType::I16, Float(1e9)),
        (DType::I32, Int(1 << 31)),
        (DType::I64, Float(9.3e18)),
        (DType::I64, Float(f64::NAN)),
        (DType::I32, Float(f64::INFINITY)),
        (DType::F16, Int(70000)),
        (DType::F16, Float(1e6)),
        (DType::F32, Float(1e300)),
    ] {
        let e = fill(dtype, value).unwrap_err();
        assert!(
            matches!(e.kind(), Kind::DType { .. }) && text(e.clone()).contains("does not fit"),
            "{e}"
        );
    }
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        assert!(fill(dtype, Float(f64::INFINITY)).is_ok());
        assert!(fill(dtype, Float(f64::NAN)).is_ok());
    }
}

/// BR-096: a target whose elements share a place is refused and unchanged.
#[test]
fn shared_places_are_no_target() {
    let ctx = context(1);
    let base = make(&ctx, DType::F32, &[2, 1], &[6, 8]);
    let t = base.with_layout("test", base.layout().expand(&[2, 3])).unwrap();
    let mask = make(&ctx, DType::Bool, &[2, 3], &[0, 0, 0, 0, 0, 1]);
    let out = mask::masked_fill(&ctx, &t, &mask, Scalar::Int(3), false).unwrap().unwrap();
    assert_eq!(values(&out), [6, 6, 6, 8, 8, 3]);
    assert!(mask::masked_fill(&ctx, &t, &mask, Scalar::Int(3), true).is_err());
    let at = make(&ctx, DType::I64, &[1], &[0]);
    let fill = Source::Number(Scalar::Int(3));
    assert!(put::index_put_slices(&ctx, PutOp::IndexFill, &t, 0, &at, fill, true).is_err());
    assert!(mask::masked_scatter(&ctx, &t, &mask, &out, true).is_err());
    assert_eq!(values(&base), [6, 8]);
}

/// A target may lend its own elements as indices, mask or source: they count as they were.
#[test]
fn operands_may_overlap_the_target() {
    let ctx = context(1);
    let a = make(&ctx, DType::I64, &[4], &[3, 2, 1, 0]);
    put::scatter(&ctx, &a, 0, &a, Source::Tensor(&a), Write::Set, true).unwrap();
    assert_eq!(values(&a), [0, 1, 2, 3]);
    let tail = a.with_layout("test", a.layout().narrow(0, 1, 3)).unwrap();
    let head = a.with_layout("test", a.layout().narrow(0, 0, 3)).unwrap();
    let at = make(&ctx, DType::I64, &[3], &[0, 1, 2]);
    put::index_put_slices(&ctx, PutOp::IndexCopy, &tail, 0, &at, Source::Tensor(&head), true)
        .unwrap();
    assert_eq!(values(&a), [0, 0, 1, 2]);
    let flags = make(&ctx, DType::Bool, &[3], &[1, 0, 1]);
    mask::masked_fill(&ctx, &flags, &flags, Scalar::Bool(false), true).unwrap();
    assert_eq!(values(&flags), [0, 0, 0]);
    assert_eq!(Bool(3).load(), 1);
    assert!(index::index_select(&ctx, &a, 0, &at, Some(&head)).is_err());
}
