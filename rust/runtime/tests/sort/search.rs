//! Places among sorted values, counts, repeats, differences, sums without NaN.

use proptest::prelude::*;
use wick_core::DType;
use wick_runtime::ops::reduce::Over;
use wick_runtime::ops::repeat::{Repeats, diff, nan_reduce, repeat_interleave};
use wick_runtime::ops::search::{Search, bincount, histc, searchsorted};
use wick_runtime::ops::sort::sorted_values;

use crate::common::{ctx, near, tensor, values};
use crate::{cases, order};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn searches(case in cases(), length in 0i64..300, lines in any::<bool>()) {
        let ctx = ctx(1);
        let wanted = case.make(&ctx);
        let mut shape = if lines { case.shape.clone() } else { vec![0] };
        let Some(last) = shape.last_mut() else { return Ok(()) };
        *last = length;
        let lie = crate::common::Lie::random(shape.len(), case.seed >> 5, true);
        let f = crate::element(case.dtype, case.seed >> 3);
        let raw = lie.make(&ctx, case.dtype, &shape, f);
        let sequence = sorted_values(&ctx, "test", &raw, -1, false).unwrap();
        let how = Search { right: case.flag, i32: case.seed.is_multiple_of(3), sorter: None };
        let got = searchsorted(&ctx, "searchsorted", &sequence, &wanted, how).unwrap();
        prop_assert_eq!(got.shape(), wanted.shape());
        prop_assert_eq!(got.dtype(), if how.i32 { DType::I32 } else { DType::I64 });
        let order_of = wick_runtime::ops::sort::argsort(&ctx, &raw, -1, false).unwrap();
        let by_order = Search { sorter: Some(&order_of), ..how };
        let again = searchsorted(&ctx, "searchsorted", &raw, &wanted, by_order).unwrap();
        prop_assert_eq!(values(&ctx, &got), values(&ctx, &again));
        let (got, s, w) = (values(&ctx, &got), values(&ctx, &sequence), values(&ctx, &wanted));
        let width = case.shape.last().map_or(1, |n| *n as usize);
        for (k, v) in w.iter().enumerate() {
            let n = length as usize;
            let line = if lines && shape.len() > 1 { &s[k / width * n..][..n] } else { &s[..n] };
            let place = line.iter().filter(|x| {
                let o = order(**x, *v);
                o.is_lt() || case.flag && o.is_eq()
            });
            assert_eq!(got[k], place.count() as f64);
        }
    }

    #[test]
    fn counts(numbers in proptest::collection::vec(0i64..40, 0..200), least in 0i64..60) {
        let ctx = ctx(1);
        let f: Vec<f64> = numbers.iter().map(|v| *v as f64).collect();
        let n = [numbers.len() as i64];
        let size = numbers.iter().max().map_or(0, |m| m + 1).max(least) as usize;
        for dtype in [DType::U8, DType::I8, DType::I16, DType::I32, DType::I64] {
            let a = tensor(&ctx, dtype, &n, &f);
            let mut wanted = vec![0.0; size];
            numbers.iter().for_each(|v| wanted[*v as usize] += 1.0);
            prop_assert_eq!(values(&ctx, &bincount(&ctx, &a, None, least).unwrap()), wanted);
            for weights in [DType::F32, DType::F64, DType::I64, DType::BF16] {
                let w = tensor(&ctx, weights, &n, &f);
                let got = bincount(&ctx, &a, Some(&w), least).unwrap();
                prop_assert_eq!(got.dtype() == DType::F32, weights == DType::F32);
                let mut wanted = vec![0.0; size];
                numbers.iter().for_each(|v| wanted[*v as usize] += *v as f64);
                prop_assert_eq!(values(&ctx, &got), wanted);
            }
        }
    }

    #[test]
    fn histograms(case in cases(), bins in 1i64..40) {
        let ctx = ctx(2);
        let a = case.make(&ctx);
        let all = values(&ctx, &a);
        let got = histc(&ctx, &a, bins, -2.0, 6.0);
        if !a.dtype().is_float() {
            prop_assert!(got.is_err());
            return Ok(());
        }
        let got = values(&ctx, &got.unwrap());
        let mut wanted = vec![0.0; bins as usize];
        for v in all.iter().filter(|v| (-2.0..=6.0).contains(*v)) {
            let place = if a.dtype() == DType::F64 {
                (v + 2.0) * bins as f64 / 8.0
            } else {
                f64::from((*v as f32 + 2.0) * bins as f32 / 8.0)
            };
            wanted[(place as usize).min(bins as usize - 1)] += 1.0;
        }
        // Large counts are rounded to what the type holds.
        let wanted = values(&ctx, &tensor(&ctx, a.dtype(), &[bins], &wanted));
        prop_assert_eq!(got, wanted);
    }

    #[test]
    fn repeats(case in cases(), times in proptest::collection::vec(0i64..4, 1..9)) {
        let ctx = ctx(1);
        let a = case.make(&ctx);
        let all = values(&ctx, &a);
        let (n, _) = case.line();
        let counts: Vec<i64> = (0..n).map(|k| times[k % times.len()]).collect();
        let f: Vec<f64> = counts.iter().map(|v| *v as f64).collect();
        let each = tensor(&ctx, DType::I64, &[n as i64], &f);
        let one = times[0];
        let dim = Some(case.dim as i64);
        let by = |repeats| values(&ctx, &repeat_interleave(&ctx, &a, repeats, dim).unwrap());
        for (got, counts) in
            [(by(Repeats::Each(&each)), counts), (by(Repeats::All(one)), vec![one; n])]
        {
            let places: Vec<usize> =
                (0..n).flat_map(|k| std::iter::repeat_n(k, counts[k] as usize)).collect();
            let inner = case.line().1;
            let outer = if all.is_empty() { 0 } else { all.len() / n / inner };
            let mut wanted = Vec::new();
            for o in 0..outer {
                for p in &places {
                    wanted.extend_from_slice(&all[(o * n + p) * inner..][..inner]);
                }
            }
            prop_assert_eq!(got.len(), wanted.len());
            prop_assert!(got.iter().zip(&wanted).all(|(a, b)| crate::same(*a, *b)));
        }
    }

    #[test]
    fn differences_and_sums(case in cases()) {
        let ctx = ctx(1);
        let a = case.make(&ctx);
        if a.rank() == 0 || a.dtype() == DType::Bool {
            return Ok(());
        }
        let all = values(&ctx, &a);
        let got = values(&ctx, &diff(&ctx, &a, 1, case.dim as i64, None, None).unwrap());
        let (n, inner) = case.line();
        let mut at = 0;
        if a.dtype() == DType::F64 {
            case.lines(|line| {
                for (k, pair) in line.windows(2).enumerate() {
                    let to = (at / inner * (n - 1) + k) * inner + at % inner;
                    assert!(near(got[to], all[pair[1]] - all[pair[0]], 0.0));
                }
                at += 1;
            });
        }
        let dims = [case.dim as i64];
        let over = Over { dims: Some(&dims), keep_dim: false };
        let sums = values(&ctx, &nan_reduce(&ctx, &a, over, Some(DType::F64), false).unwrap());
        let means = values(&ctx, &nan_reduce(&ctx, &a, over, Some(DType::F64), true).unwrap());
        let mut at = 0;
        case.lines(|line| {
            let there: Vec<f64> =
                line.iter().map(|p| all[*p]).filter(|v| !v.is_nan()).collect();
            let sum: f64 = there.iter().sum();
            assert!(near(sums[at], sum, 1e-9), "{} {sum}", sums[at]);
            assert!(near(means[at], sum / there.len() as f64, 1e-9));
            at += 1;
        });
    }
}
