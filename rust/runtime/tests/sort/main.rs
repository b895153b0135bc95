//! Sorting and selection against naive references, over random layouts and dtypes.
#![allow(missing_docs)]

#[path = "../common/mod.rs"]
mod common;
mod search;
mod select;
mod unique;

use std::cmp::Ordering;

use common::{Lie, ctx, dtypes, shapes, values};
use proptest::prelude::*;
use wick_core::DType;
use wick_runtime::ops::sort;
use wick_runtime::{Context, Tensor};

/// NaN greatest, zeros equal.
pub fn order(a: f64, b: f64) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        _ => a.partial_cmp(&b).unwrap(),
    }
}

/// Elements with ties, signed zeros and, for floats, NaN and infinities.
pub fn element(dtype: DType, seed: u64) -> impl Fn(i64) -> f64 {
    move |i| {
        let mut x = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ seed;
        x ^= x >> 29;
        x = x.wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x ^= x >> 32;
        let small = (x % 23) as f64 - 11.0;
        match dtype {
            DType::Bool => (x % 2) as f64,
            DType::U8 => (x % 256) as f64,
            DType::I8 => (x % 256) as f64 - 128.0,
            DType::I16 => (x % 65536) as f64 - 32768.0,
            DType::I32 if seed.is_multiple_of(2) => (x as i32) as f64,
            DType::I64 if seed.is_multiple_of(2) => ((x as i64) >> 11) as f64,
            _ if !dtype.is_float() => small,
            _ => match x % 31 {
                0 => f64::NAN,
                1 => f64::INFINITY,
                2 => f64::NEG_INFINITY,
                3 => -0.0,
                4 => 0.0,
                _ if seed.is_multiple_of(2) => small / 4.0,
                _ => (x as i32) as f64 * 2f64.powi((x >> 40) as i32 % 20 - 10),
            },
        }
    }
}

/// A random view with the values that it shows.
#[derive(Clone, Debug)]
pub struct Case {
    pub dtype: DType,
    pub shape: Vec<i64>,
    pub seed: u64,
    pub dim: usize,
    pub flag: bool,
}

pub fn cases() -> impl Strategy<Value = Case> {
    (dtypes(), shapes(), any::<u64>(), any::<usize>(), any::<bool>()).prop_map(
        |(dtype, shape, seed, dim, flag)| {
            let dim = dim % shape.len().max(1);
            Case { dtype, shape, seed, dim, flag }
        },
    )
}

impl Case {
    pub fn make(&self, ctx: &Context) -> Tensor {
        let lie = Lie::random(self.shape.len(), self.seed, true);
        lie.make(ctx, self.dtype, &self.shape, element(self.dtype, self.seed))
    }

    /// Elements of a line, and elements between neighbours of one.
    pub fn line(&self) -> (usize, usize) {
        let n = self.shape.get(self.dim).copied().unwrap_or(1) as usize;
        (n, self.shape.iter().skip(self.dim + 1).product::<i64>() as usize)
    }

    /// Calls `f(flat places of a line)` for every line of a contiguous tensor.
    pub fn lines(&self, mut f: impl FnMut(Vec<usize>)) {
        let (n, inner) = self.line();
        let numel = self.shape.iter().product::<i64>() as usize;
        if numel == 0 {
            return;
        }
        for outer in 0..numel / (n * inner) {
            for i in 0..inner {
                f((0..n).map(|k| (outer * n + k) * inner + i).collect());
            }
        }
    }
}

/// Places of a line's elements in stable order.
pub fn argsorted(line: &[f64], descending: bool) -> Vec<usize> {
    let mut places: Vec<usize> = (0..line.len()).collect();
    places.sort_by(|a, b| {
        let o = order(line[*a], line[*b]);
        if descending { o.reverse() } else { o }
    });
    places
}

pub fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// BR-027, BR-118, BR-164.
    #[test]
    fn sort_is_stable(case in cases(), threads in 1usize..4) {
        let ctx = ctx(threads);
        let a = case.make(&ctx);
        let all = values(&ctx, &a);
        let dim = case.dim as i64 - if case.seed % 3 == 0 { case.shape.len().max(1) as i64 } else { 0 };
        let (v, i) = sort::sort(&ctx, &a, dim, case.flag).unwrap();
        let only = sort::argsort(&ctx, &a, dim, case.flag).unwrap();
        prop_assert_eq!((v.dtype(), v.shape()), (a.dtype(), a.shape()));
        prop_assert_eq!((i.dtype(), i.shape()), (DType::I64, a.shape()));
        let (v, i) = (values(&ctx, &v), values(&ctx, &i));
        prop_assert_eq!(&i, &values(&ctx, &only));
        case.lines(|line| {
            let from: Vec<f64> = line.iter().map(|p| all[*p]).collect();
            for (to, place) in line.iter().zip(argsorted(&from, case.flag)) {
                assert_eq!(i[*to], place as f64);
                assert!(same(v[*to], from[place]), "{} {}", v[*to], from[place]);
            }
        });
    }
}

/// Long lines take other ways: radix passes, several threads, ranges narrower than the type.
#[test]
fn long_lines() {
    for threads in [1, 2, 7] {
        let ctx = ctx(threads);
        for dtype in DType::ALL {
            for (n, seed) in [(3_000, 2u64), (70_000, 3), (200_001, 4)] {
                let shape = [n];
                let case = Case { dtype, shape: shape.to_vec(), seed, dim: 0, flag: seed == 3 };
                let a = Lie::plain(1).make(&ctx, dtype, &shape, element(dtype, seed));
                let all = values(&ctx, &a);
                let (v, i) = sort::sort(&ctx, &a, 0, case.flag).unwrap();
                let (v, i) = (values(&ctx, &v), values(&ctx, &i));
                for (to, place) in argsorted(&all, case.flag).into_iter().enumerate() {
                    assert_eq!(i[to], place as f64, "{dtype} {n} {threads}");
                    assert!(same(v[to], all[place]));
                }
            }
        }
    }
}

/// BR-051: 2^53 + 1 is kept exactly.
#[test]
fn big_integers_stay_exact() {
    let ctx = ctx(1);
    let v = (1i64 << 53) + 1;
    let data: Vec<i64> = [v, v - 1, i64::MIN, i64::MAX].to_vec();
    let bytes: Vec<u8> = data.iter().flat_map(|v| v.to_ne_bytes()).collect();
    let a = wick_runtime::ops::array::from_elements(&ctx, DType::I64, &[4], 4, |to| {
        to.copy_from_slice(&bytes)
    })
    .unwrap();
    let (sorted, _) = sort::sort(&ctx, &a, 0, false).unwrap();
    let read = |t: &Tensor| {
        wick_runtime::ops::array::with_elements(&ctx, t, DType::I64, 4, |b| {
            b.chunks(8).map(|b| i64::from_ne_bytes(b.try_into().unwrap())).collect::<Vec<_>>()
        })
        .unwrap()
    };
    assert_eq!(read(&sorted), [i64::MIN, v - 1, v, i64::MAX]);
}
