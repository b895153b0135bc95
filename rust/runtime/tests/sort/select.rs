//! Selection: topk, kthvalue, medians, mode, quantiles, running extremes.

use proptest::prelude::*;
use wick_core::DType;
use wick_runtime::Tensor;
use wick_runtime::ops::quantile::{Fractions, Interpolation, QuantileOf, quantile};
use wick_runtime::ops::select::{PickOp, RunningOp, median, pick, running, topk};

use crate::common::{Lie, ctx, near, values};
use crate::{Case, argsorted, cases, element, order, same};

/// The middle place of a line: NaN first, or left out.
fn middle(line: &[f64], skip: bool) -> usize {
    let nans = line.iter().filter(|v| v.is_nan()).count();
    let places = argsorted(line, false);
    match (nans, skip) {
        (0, _) | (_, true) => places[(line.len() - nans).saturating_sub(1) / 2],
        _ => places[line.len() - nans],
    }
}

/// The last place of the most frequent value, of several the least; each NaN is its own.
fn most_frequent(line: &[f64]) -> usize {
    let places = argsorted(line, false);
    let count = |p: usize| line.iter().filter(|v| **v == line[p]).count().max(1);
    let best = places.iter().map(|p| count(*p)).max().unwrap();
    let first = *places.iter().find(|p| count(**p) == best).unwrap();
    if line[first].is_nan() {
        return first;
    }
    places.iter().copied().rfind(|p| line[*p] == line[first]).unwrap()
}

/// Result shape and, for each line, its flat places and where its result stands.
fn reduced(case: &Case, keep: bool) -> Vec<i64> {
    let mut shape = case.shape.clone();
    if !shape.is_empty() {
        if keep {
            shape[case.dim] = 1;
        } else {
            shape.remove(case.dim);
        }
    }
    shape
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn picks(case in cases(), k in any::<usize>(), threads in 1usize..3) {
        let ctx = ctx(threads);
        let a = case.make(&ctx);
        let all = values(&ctx, &a);
        let (n, _) = case.line();
        let (dim, keep) = (case.dim as i64, case.flag);
        let k = if n == 0 { 1 } else { k % n + 1 };
        for op in PickOp::ALL {
            let got = pick(&ctx, *op, &a, k as i64, dim, keep);
            if n == 0 {
                prop_assert!(got.is_err());
                continue;
            }
            let (v, i) = got.unwrap();
            prop_assert_eq!((v.dtype(), i.dtype()), (a.dtype(), DType::I64));
            prop_assert_eq!(v.shape(), reduced(&case, keep));
            prop_assert_eq!(i.shape(), reduced(&case, keep));
            let (v, i) = (values(&ctx, &v), values(&ctx, &i));
            let mut at = 0;
            case.lines(|line| {
                let from: Vec<f64> = line.iter().map(|p| all[*p]).collect();
                let place = match op {
                    PickOp::Kthvalue => argsorted(&from, false)[k - 1],
                    PickOp::Median => middle(&from, false),
                    PickOp::Nanmedian => middle(&from, true),
                    PickOp::Mode => most_frequent(&from),
                };
                assert_eq!(i[at], place as f64, "{op:?}");
                assert!(same(v[at], from[place]), "{op:?}");
                at += 1;
            });
        }
    }

    #[test]
    fn topk_is_the_begin_of_sort(case in cases(), k in any::<usize>(), sorted in any::<bool>()) {
        let ctx = ctx(1);
        let a = case.make(&ctx);
        let all = values(&ctx, &a);
        let (n, inner) = case.line();
        let k = k % (n + 1);
        let got = topk(&ctx, &a, k as i64, case.dim as i64, case.flag, sorted, None);
        if case.shape.is_empty() && k == 0 {
            prop_assert!(got.is_err());
            return Ok(());
        }
        let (v, i) = got.unwrap().unwrap();
        let mut shape = case.shape.clone();
        if let Some(s) = shape.get_mut(case.dim) {
            *s = k as i64;
        }
        prop_assert_eq!(v.shape(), &shape);
        prop_assert_eq!(i.shape(), &shape);
        let (v, i) = (values(&ctx, &v), values(&ctx, &i));
        let mut at = 0;
        case.lines(|line| {
            let from: Vec<f64> = line.iter().map(|p| all[*p]).collect();
            let places = &argsorted(&from, case.flag)[..k];
            let to = |j: usize| (at / inner * k + j) * inner + at % inner;
            let mut got: Vec<f64> = (0..k).map(|j| i[to(j)]).collect();
            for j in 0..k {
                assert!(same(v[to(j)], from[i[to(j)] as usize]));
            }
            let mut wanted: Vec<f64> = places.iter().map(|p| *p as f64).collect();
            if !sorted {
                got.sort_by(f64::total_cmp);
                wanted.sort_by(f64::total_cmp);
            }
            assert_eq!(got, wanted);
            at += 1;
        });
    }

    #[test]
    fn running_extremes(case in cases()) {
        let ctx = ctx(1);
        let a = case.make(&ctx);
        let all = values(&ctx, &a);
        for op in RunningOp::ALL {
            let (v, i) = running(&ctx, *op, &a, case.dim as i64).unwrap();
            prop_assert_eq!(v.shape(), a.shape());
            let (v, i) = (values(&ctx, &v), values(&ctx, &i));
            case.lines(|line| {
                let mut best = 0;
                for (k, p) in line.iter().enumerate() {
                    let (x, y) = (all[*p], all[line[best]]);
                    let wins = if *op == RunningOp::Cummax { x >= y } else { x <= y };
                    if x.is_nan() || !y.is_nan() && wins {
                        best = k;
                    }
                    assert_eq!(i[*p], best as f64);
                    assert!(same(v[*p], all[line[best]]));
                }
            });
        }
    }

    #[test]
    fn quantiles(case in cases(), q in prop_oneof![Just(0.0), Just(1.0), Just(0.5), 0.0f64..=1.0]) {
        let ctx = ctx(1);
        let a = case.make(&ctx);
        let all = values(&ctx, &a);
        let (n, _) = case.line();
        for (number, interpolation) in Interpolation::ALL.iter().enumerate() {
            let skip_nan = number % 2 == 0;
            let over = QuantileOf {
                dim: Some(case.dim as i64),
                keep_dim: case.flag,
                interpolation: *interpolation,
                skip_nan,
            };
            let got = quantile(&ctx, &a, Fractions::One(q), over);
            if n == 0 || !a.dtype().is_float() {
                prop_assert!(got.is_err());
                continue;
            }
            let got = got.unwrap();
            prop_assert_eq!(got.shape(), reduced(&case, case.flag));
            let got = values(&ctx, &got);
            let wide = a.dtype() == DType::F64;
            let tolerance = match a.dtype() {
                DType::F64 => 1e-12,
                DType::F32 => 1e-5,
                DType::F16 => 2e-3,
                _ => 1e-2,
            };
            let mut at = 0;
            case.lines(|line| {
                let mut from: Vec<f64> = line.iter().map(|p| all[*p]).collect();
                from.sort_by(|a, b| order(*a, *b));
                let valid = from.iter().filter(|v| !v.is_nan()).count();
                let n = if skip_nan { valid } else { from.len() };
                let wanted = if n == 0 || valid < n {
                    f64::NAN
                } else if wide {
                    between(&from[..n], q * (n - 1) as f64, *interpolation)
                } else {
                    let rank = f64::from(q as f32 * (n - 1) as f32);
                    between(&from[..n], rank, *interpolation)
                };
                assert!(near(got[at], wanted, tolerance), "{} {wanted} {q}", got[at]);
                at += 1;
            });
        }
    }
}

fn between(sorted: &[f64], rank: f64, how: Interpolation) -> f64 {
    let (low, high) = (sorted[rank.floor() as usize], sorted[rank.ceil() as usize]);
    let mix = |w: f64| if low == high || w == 0.0 { low } else { low * (1.0 - w) + high * w };
    match how {
        Interpolation::Linear => mix(rank - rank.floor()),
        Interpolation::Midpoint => mix(0.5),
        Interpolation::Lower => low,
        Interpolation::Higher => high,
        Interpolation::Nearest => sorted[rank.round_ties_even() as usize],
    }
}

/// Long lines go by histogram, few of many by a bound that tightens; the values may be all equal,
/// rising or falling.
#[test]
fn long_lines() {
    for threads in [1, 3] {
        let ctx = ctx(threads);
        for dtype in DType::ALL {
            for (n, seed) in [(20_000i64, 2u64), (70_001, 3)] {
                let lie = Lie::random(1, seed, false);
                let random = lie.make(&ctx, dtype, &[n], element(dtype, seed));
                let plain = Lie::plain(1);
                let rising = plain.make(&ctx, dtype, &[n], |i| (i / 1000) as f64);
                let falling = plain.make(&ctx, dtype, &[n], |i| ((n - i) / 3000) as f64);
                for a in [random, rising, falling] {
                    check_long(&ctx, &a);
                }
            }
        }
    }
}

fn check_long(ctx: &wick_runtime::Context, a: &Tensor) {
    let all = values(ctx, a);
    let n = all.len();
    let places = argsorted(&all, false);
    for k in [1, 2, n / 3, n / 2, n - 1, n] {
        let (v, i) = pick(ctx, PickOp::Kthvalue, a, k as i64, 0, false).unwrap();
        assert_eq!(values(ctx, &i), [places[k - 1] as f64]);
        assert!(same(values(ctx, &v)[0], all[places[k - 1]]));
    }
    for (op, skip) in [(PickOp::Median, false), (PickOp::Nanmedian, true)] {
        let (v, i) = pick(ctx, op, a, 0, 0, false).unwrap();
        assert_eq!(values(ctx, &i), [middle(&all, skip) as f64]);
        assert!(same(values(ctx, &median(ctx, a, skip).unwrap())[0], values(ctx, &v)[0]));
    }
    for (k, largest) in [(1, true), (10, false), (700, true), (2500, false), (n / 2, true)] {
        let wanted = &argsorted(&all, largest)[..k];
        let (_, i) = topk(ctx, a, k as i64, 0, largest, true, None).unwrap().unwrap();
        let wanted: Vec<f64> = wanted.iter().map(|p| *p as f64).collect();
        assert_eq!(values(ctx, &i), wanted, "{} {k} {largest}", a.dtype());
    }
}
