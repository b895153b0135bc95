//! Different elements and slices.

use std::cmp::Ordering;

use proptest::prelude::*;
use wick_core::DType;
use wick_runtime::ops::unique::{Unique, unique};

use crate::common::{Lie, ctx, values};
use crate::{argsorted, cases, element, order, same};

fn compare(a: &[f64], b: &[f64]) -> Ordering {
    a.iter().zip(b).map(|(x, y)| order(*x, *y)).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
}

/// First member, members, of each group of slices.
fn groups(slices: &[Vec<f64>], consecutive: bool) -> Vec<Vec<usize>> {
    let mut places: Vec<usize> = (0..slices.len()).collect();
    if !consecutive {
        places.sort_by(|a, b| compare(&slices[*a], &slices[*b]));
    }
    let mut out: Vec<Vec<usize>> = Vec::new();
    for p in places {
        // NaN is not even equal to itself.
        match out.last_mut() {
            Some(group) if slices[group[0]] == slices[p] => group.push(p),
            _ => out.push(vec![p]),
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// BR-029, BR-030.
    #[test]
    fn of_elements(case in cases()) {
        let ctx = ctx(1);
        let a = case.make(&ctx);
        let all = values(&ctx, &a);
        let how = Unique { dim: None, consecutive: case.flag, inverse: true, counts: true };
        let [v, i, c] = unique(&ctx, &a, how).unwrap();
        prop_assert_eq!(v.dtype(), a.dtype());
        prop_assert_eq!(i.shape(), a.shape());
        let slices: Vec<Vec<f64>> = all.iter().map(|v| vec![*v]).collect();
        let groups = groups(&slices, case.flag);
        let (v, i, c) = (values(&ctx, &v), values(&ctx, &i), values(&ctx, &c));
        prop_assert_eq!(v.len(), groups.len());
        for (g, members) in groups.iter().enumerate() {
            prop_assert!(same(v[g], all[members[0]]));
            prop_assert_eq!(c[g], members.len() as f64);
            prop_assert!(members.iter().all(|m| i[*m] == g as f64));
        }
    }

    #[test]
    fn of_slices(case in cases()) {
        let ctx = ctx(1);
        // Few values, so that slices are equal now and then.
        let lie = Lie::random(case.shape.len(), case.seed, true);
        let f = element(case.dtype, case.seed);
        let a = lie.make(&ctx, case.dtype, &case.shape, |i| match f(i) {
            v if v.is_nan() && i % 5 == 0 => v,
            v => (v.abs() as i64 % 2) as f64,
        });
        let all = values(&ctx, &a);
        let how = Unique {
            dim: Some(case.dim as i64),
            consecutive: case.flag,
            inverse: true,
            counts: true,
        };
        let got = unique(&ctx, &a, how);
        let (n, inner) = case.line();
        if n > 0 && all.is_empty() {
            prop_assert!(got.is_err());
            return Ok(());
        }
        let [v, i, c] = got.unwrap();
        let slice_of = |all: &[f64], n: usize, k: usize| -> Vec<f64> {
            let outer = all.len().checked_div(n * inner).unwrap_or(0);
            let at = |o: usize, j: usize| all[(o * n + k) * inner + j];
            (0..outer).flat_map(|o| (0..inner).map(move |j| at(o, j))).collect()
        };
        let slices: Vec<Vec<f64>> = (0..n).map(|k| slice_of(&all, n, k)).collect();
        let groups = groups(&slices, case.flag);
        let mut shape = case.shape.clone();
        if let Some(s) = shape.get_mut(case.dim) {
            *s = groups.len() as i64;
        } else {
            shape = vec![1];
        }
        prop_assert_eq!(v.shape(), &shape);
        let (v, i, c) = (values(&ctx, &v), values(&ctx, &i), values(&ctx, &c));
        for (g, members) in groups.iter().enumerate() {
            let got = slice_of(&v, groups.len(), g);
            prop_assert!(got.iter().zip(&slices[members[0]]).all(|(a, b)| same(*a, *b)));
            prop_assert_eq!(c[g], members.len() as f64);
            prop_assert!(members.iter().all(|m| i[*m] == g as f64));
        }
    }
}

#[test]
fn long_vectors() {
    let ctx = ctx(3);
    for dtype in DType::ALL {
        let a = Lie::plain(1).make(&ctx, dtype, &[100_000], element(dtype, 3));
        let all = values(&ctx, &a);
        let how = Unique { dim: None, consecutive: false, inverse: true, counts: true };
        let [v, i, c] = unique(&ctx, &a, how).unwrap();
        let (v, i, c) = (values(&ctx, &v), values(&ctx, &i), values(&ctx, &c));
        assert_eq!(c.iter().sum::<f64>(), 1e5);
        let (mut group, mut last) = (0, f64::NAN);
        for (k, p) in argsorted(&all, false).into_iter().enumerate() {
            if k > 0 && last != all[p] {
                group += 1;
            }
            last = all[p];
            assert_eq!(i[p], group as f64);
            assert!(v[group] == last || v[group].is_nan() && last.is_nan());
        }
        assert_eq!(group + 1, v.len());
    }
}
