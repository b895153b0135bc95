//! Norms, condition numbers, least squares.

use proptest::prelude::*;
use wick_core::DType;
use wick_runtime::Error;
use wick_runtime::error::Kind;
use wick_runtime::ops::linalg::LinalgOp::*;
use wick_runtime::ops::linalg::{Driver, linalg};
use wick_runtime::{Context, Result, Tensor};

use crate::common::{Lie, ctx, near, tensor, values};
use crate::{Dense, FLOATS, Numbers, each, epsilon, lying, run};

fn norm(ctx: &Context, a: &Tensor, ord: f64, dims: &[i64], keep: bool) -> Result<Tensor> {
    let p = [&[i64::from(keep), -1], dims].concat();
    linalg(ctx, VectorNorm, &[a], &p, &[ord]).map(|mut v| v.remove(0))
}

fn of_matrix(ctx: &Context, a: &Tensor, kind: i64, ord: f64, p: &[i64]) -> Result<Tensor> {
    let p = [&[p[0], kind], &p[1..]].concat();
    linalg(ctx, MatrixNorm, &[a], &p, &[ord]).map(|mut v| v.remove(0))
}

/// From the definition.
fn naive(x: &[f64], ord: f64) -> f64 {
    let sizes = || x.iter().map(|x| x.abs());
    if ord == 0.0 {
        x.iter().filter(|x| **x != 0.0).count() as f64
    } else if ord == f64::INFINITY {
        sizes().fold(0.0, f64::max)
    } else if ord == f64::NEG_INFINITY {
        sizes().fold(f64::INFINITY, f64::min)
    } else {
        sizes().map(|x| x.powf(ord)).sum::<f64>().powf(1.0 / ord)
    }
}

const ORDERS: [f64; 9] = [0.0, 1.0, 2.0, 3.0, 0.5, -1.0, -2.5, f64::INFINITY, f64::NEG_INFINITY];

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn vector_norms(
        (m, n) in (1i64..9, 1i64..9), ord in 0usize..9, dtype in 0usize..4, keep: bool, which in 0usize..3, seed: u64,
    ) {
        let ctx = ctx(2);
        let dtype = DType::ALL[dtype];
        let mut rng = Numbers(seed);
        let elements = rng.list(600);
        let a = Lie::random(2, seed, true).make(&ctx, dtype, &[m, n], |i| (elements[i as usize % 600] * 8.0).round());
        let dense = Dense::new(m as usize, n as usize, values(&ctx, &a));
        let ord = ORDERS[ord];
        let (dims, lines): (&[i64], Vec<Vec<f64>>) = match which {
            0 => (&[], vec![dense.v.clone()]),
            1 => (&[-1], dense.v.chunks(dense.n).map(<[f64]>::to_vec).collect()),
            _ => (&[0], dense.t().v.chunks(dense.m).map(<[f64]>::to_vec).collect()),
        };
        let got = norm(&ctx, &a, ord, dims, keep).unwrap();
        prop_assert_eq!(got.dtype(), dtype);
        let shape: &[i64] = match (which, keep) {
            (0, true) => &[1, 1],
            (0, false) => &[],
            (1, true) => &[m, 1],
            (1, false) => &[m],
            (_, true) => &[1, n],
            (_, false) => &[n],
        };
        prop_assert_eq!(got.shape(), shape);
        let tolerance = match dtype {
            DType::F64 => 1e-13,
            DType::F32 => 1e-5,
            DType::F16 => 2e-3,
            _ => 2e-2,
        };
        for (x, line) in values(&ctx, &got).iter().zip(lines) {
            let exact = naive(&line, ord);
            // Integers up to 8, powers of which f16 may not hold.
            prop_assert!(near(*x, exact, tolerance) || exact > 6e4, "{x} for {exact}, order {ord}");
        }
    }

    #[test]
    fn matrix_norms((m, n) in (1usize..7, 1usize..7), f in 0usize..2, keep: bool, seed: u64) {
        let (ctx, dtype, mut rng) = (ctx(1), FLOATS[f], Numbers(seed));
        let data = rng.list(2 * m * n);
        // The matrices are of dimensions 2 and 0.
        let a = lying(&ctx, dtype, &[n as i64, 2, m as i64], &data, seed);
        let plain = a.with_layout("test", a.layout().permute(&[1, 2, 0])).unwrap();
        let shape: &[i64] = if keep { &[1, 2, 1] } else { &[2] };
        let p = [i64::from(keep), 2, 0];
        let s = values(&ctx, &run(&ctx, Svdvals, &[&plain], &[])[0]);
        let k = m.min(n);
        for (kind, ord) in
            [(1, 0.0), (2, 0.0), (0, 1.0), (0, -1.0), (0, 2.0), (0, -2.0), (0, f64::INFINITY), (0, f64::NEG_INFINITY)]
        {
            let got = of_matrix(&ctx, &a, kind, ord, &p).unwrap();
            prop_assert_eq!(got.shape(), shape);
            for (i, (x, a)) in values(&ctx, &got).iter().zip(each(&ctx, &plain)).enumerate() {
                let s = &s[i * k..(i + 1) * k];
                let sums = |d: &Dense| -> Vec<f64> { d.v.chunks(d.n).map(|r| naive(r, 1.0)).collect() };
                let greatest = |v: &[f64]| v.iter().copied().fold(0.0, f64::max);
                let least = |v: &[f64]| v.iter().copied().fold(f64::INFINITY, f64::min);
                let exact = match (kind, ord) {
                    (1, _) => naive(&a.v, 2.0),
                    (2, _) => s.iter().sum(),
                    (_, 1.0) => greatest(&sums(&a.t())),
                    (_, -1.0) => least(&sums(&a.t())),
                    (_, 2.0) => greatest(s),
                    (_, -2.0) => least(s),
                    (_, f64::INFINITY) => greatest(&sums(&a)),
                    _ => least(&sums(&a)),
                };
                prop_assert!((x - exact).abs() <= epsilon(dtype) * 100.0, "{x} for {exact}");
            }
        }
    }

    #[test]
    fn condition_numbers(n in 1usize..6, seed: u64) {
        let (ctx, mut rng) = (ctx(1), Numbers(seed));
        let mut data = rng.list(n * n);
        (0..n).for_each(|i| data[i * n + i] += 3.0);
        let a = tensor(&ctx, DType::F64, &[n as i64, n as i64], &data);
        let inverse = run(&ctx, Inv, &[&a], &[]).remove(0);
        for (kind, ord) in [(1, 0.0), (2, 0.0), (0, 1.0), (0, -1.0), (0, 2.0), (0, -2.0), (0, f64::INFINITY)] {
            let got = linalg(&ctx, Cond, &[&a], &[kind], &[ord]).unwrap().remove(0);
            let part = |t: &Tensor| values(&ctx, &of_matrix(&ctx, t, kind, ord, &[0, 0, 1]).unwrap())[0];
            let exact = part(&a) * part(&inverse);
            prop_assert!(near(values(&ctx, &got)[0], exact, 1e-9), "{kind} {ord}");
        }
    }

    #[test]
    fn least_squares(
        (m, n, k, rank) in (0usize..25, 0usize..25, 0usize..4, 1usize..30), f in 0usize..2, driver in 0usize..4, seed: u64,
    ) {
        let (ctx, dtype, mut rng) = (ctx(2), FLOATS[f], Numbers(seed));
        let rank = rank.min(m).min(n);
        let low = Dense::new(m, rank, rng.list(m * rank)).times(&Dense::new(rank, n, rng.list(rank * n)));
        let a = lying(&ctx, dtype, &[2, m as i64, n as i64], &low.v.repeat(2), seed);
        let b = lying(&ctx, dtype, &[1, m as i64, k as i64], &rng.list(m * k), !seed);
        let driver = Driver::ALL[driver];
        // A condition that rounding does not come near to.
        let limit = if dtype == DType::F64 { 1e-10 } else { 1e-4 };
        let made = linalg(&ctx, Lstsq, &[&a, &b], &[driver as i64], &[limit]);
        if driver == Driver::Gels && rank < m.min(n) {
            let refused = matches!(made.as_ref().map_err(Error::kind), Err(Kind::Linalg { .. }));
            prop_assert!(refused);
            return Ok(());
        }
        let made = made.unwrap();
        prop_assert_eq!(made[0].shape(), &[2, n as i64, k as i64]);
        let exact = each(&ctx, &a);
        let pinv = linalg(&ctx, Pinv, &[&a], &[0], &[0.0, limit]).unwrap().remove(0);
        for ((x, p), a) in each(&ctx, &made[0]).iter().zip(each(&ctx, &pinv)).zip(&exact) {
            let shortest = p.times(&each(&ctx, &b)[0]);
            let near = epsilon(dtype) * 300.0 * (1.0 + p.greatest()).powi(2) * (2.0 + m.max(n) as f64) * (1.0 + a.greatest());
            x.assert_near(&shortest, near, "solution");
        }
        let by_values = matches!(driver, Driver::Gelsd | Driver::Gelss);
        if driver == Driver::Gels {
            prop_assert_eq!(made[2].shape(), &[0]);
        } else {
            prop_assert_eq!(values(&ctx, &made[2]), vec![rank as f64; 2]);
        }
        prop_assert_eq!(made[3].shape(), if by_values { vec![2, m.min(n) as i64] } else { vec![0] });
        if driver != Driver::Gelsy && m > n && rank == n {
            let x = each(&ctx, &made[0]);
            let r = values(&ctx, &made[1]);
            prop_assert_eq!(made[1].shape(), &[2, k as i64]);
            for (i, a) in exact.iter().enumerate() {
                let difference = a.times(&x[i]);
                for j in 0..k {
                    let b = &each(&ctx, &b)[0];
                    let sum: f64 = (0..m).map(|t| (difference.at(t, j) - b.at(t, j)).powi(2)).sum();
                    prop_assert!(near(r[i * k + j], sum, 1e-4));
                }
            }
        } else {
            prop_assert_eq!(made[1].shape(), &[0]);
        }
    }
}

/// BR-021, BR-049: what has no value is refused, what has is 0.
#[test]
fn norms_of_nothing() {
    let ctx = ctx(1);
    for dtype in FLOATS {
        let t = |shape: &[i64]| tensor(&ctx, dtype, shape, &[]);
        let inf = f64::INFINITY;
        assert_eq!(norm(&ctx, &t(&[0, 3]), inf, &[-1], false).unwrap().shape(), &[0]);
        assert!(matches!(
            norm(&ctx, &t(&[3, 0]), inf, &[-1], false).as_ref().map_err(Error::kind),
            Err(Kind::Shape { .. })
        ));
        for ord in [-1.0, -2.5, inf, -inf] {
            assert!(matches!(
                norm(&ctx, &t(&[4, 0]), ord, &[-1], false).as_ref().map_err(Error::kind),
                Err(Kind::Shape { .. })
            ));
            assert!(norm(&ctx, &t(&[0]), ord, &[], false).is_err());
        }
        for ord in [0.0, 0.5, 1.0, 2.0, 3.0] {
            let got = norm(&ctx, &t(&[4, 0]), ord, &[-1], false).unwrap();
            assert_eq!(values(&ctx, &got), [0.0; 4]);
        }
    }
}

/// BR-043 and its kind: neither overflow nor loss on the way, at any exponent.
#[test]
fn norms_of_a_wide_range() {
    let ctx = ctx(1);
    for (dtype, big, small) in [(DType::F32, 1e20, 1e-30), (DType::F64, 1e200, 1e-200)] {
        for ord in [1.0, 2.0, 3.0, 10.0, f64::INFINITY] {
            for size in [big, small] {
                let a = tensor(&ctx, dtype, &[3], &[size, size, 0.0]);
                let got = values(&ctx, &norm(&ctx, &a, ord, &[], false).unwrap())[0] / size;
                let exact = if ord.is_infinite() { 1.0 } else { 2f64.powf(1.0 / ord) };
                assert!((got - exact).abs() < 1e-5, "{dtype} {ord} {size}: {got}");
            }
            let one = tensor(&ctx, dtype, &[3], &[big, 1.0, 1.0]);
            let got = values(&ctx, &norm(&ctx, &one, ord, &[], false).unwrap())[0];
            assert!((got / big - 1.0).abs() < 1e-5, "{got}");
        }
        for ord in [0.5, 3.0, f64::INFINITY] {
            let a = tensor(&ctx, dtype, &[2], &[1.0, f64::NEG_INFINITY]);
            assert_eq!(values(&ctx, &norm(&ctx, &a, ord, &[], false).unwrap()), [f64::INFINITY]);
            let a = tensor(&ctx, dtype, &[2], &[1.0, f64::NAN]);
            assert!(values(&ctx, &norm(&ctx, &a, ord, &[], false).unwrap())[0].is_nan());
        }
        let a = tensor(&ctx, dtype, &[2], &[0.0, 3.0]);
        assert_eq!(values(&ctx, &norm(&ctx, &a, -1.5, &[], false).unwrap()), [0.0]);
    }
}

/// BR-178: norms and ranks of what is not finite are in step with the singular values.
#[test]
fn norms_of_what_is_not_finite() {
    let ctx = ctx(1);
    let a = tensor(&ctx, DType::F64, &[2, 2], &[f64::NAN, 0.0, 0.0, 2.0]);
    for (kind, ord) in [(2, 0.0), (0, 2.0), (0, -2.0)] {
        assert!(matches!(
            of_matrix(&ctx, &a, kind, ord, &[0, 0, 1]).as_ref().map_err(Error::kind),
            Err(Kind::Linalg { .. })
        ));
    }
    for (kind, ord) in [(1, 0.0), (0, 1.0), (0, f64::INFINITY)] {
        let got = of_matrix(&ctx, &a, kind, ord, &[0, 0, 1]).unwrap();
        assert!(values(&ctx, &got)[0].is_nan());
    }
    assert!(linalg(&ctx, MatrixRank, &[&a], &[0], &[f64::NAN, f64::NAN]).is_err());
}

/// BR-180: the shortest solution of what has many; the driver that needs full rank says so.
#[test]
fn least_squares_of_low_rank() {
    let ctx = ctx(1);
    for dtype in FLOATS {
        let a = tensor(&ctx, dtype, &[2, 2], &[2.0, 4.0, 1.0, 2.0]);
        let b = tensor(&ctx, dtype, &[2, 1], &[10.0, 5.0]);
        let made = linalg(&ctx, Lstsq, &[&a, &b], &[0], &[f64::NAN]).unwrap();
        let x = values(&ctx, &made[0]);
        assert!((x[0] - 1.0).abs() < 1e-5 && (x[1] - 2.0).abs() < 1e-5, "{x:?}");
        assert_eq!(values(&ctx, &made[2]), [1.0]);
        let e = linalg(&ctx, Lstsq, &[&a, &b], &[Driver::Gels as i64], &[f64::NAN]).unwrap_err();
        assert!(e.to_string().contains("rank 1, not the full rank 2"), "{e}");
        let wide = tensor(&ctx, dtype, &[1, 3], &[1.0, 2.0, 2.0]);
        let nine = tensor(&ctx, dtype, &[1], &[9.0]);
        let made = linalg(&ctx, Lstsq, &[&wide, &nine], &[0], &[f64::NAN]).unwrap();
        assert_eq!(made[0].shape(), &[3]);
        for (x, y) in values(&ctx, &made[0]).iter().zip([1.0, 2.0, 2.0]) {
            assert!((x - y).abs() < 1e-5);
        }
    }
}

/// Singular matrices have infinite condition numbers.
#[test]
fn condition_of_singular_matrices() {
    let ctx = ctx(1);
    let a = tensor(&ctx, DType::F64, &[2, 2, 2], &[1.0, 1.0, 1.0, 1.0, 2.0, 0.0, 0.0, 1.0]);
    for (kind, ord) in [(1, 0.0), (0, 1.0), (0, f64::INFINITY)] {
        let got = values(&ctx, &linalg(&ctx, Cond, &[&a], &[kind], &[ord]).unwrap()[0]);
        assert!(got[0].is_infinite() && got[1].is_finite(), "{got:?}");
    }
    let empty = tensor(&ctx, DType::F64, &[3, 0, 0], &[]);
    assert_eq!(values(&ctx, &linalg(&ctx, Cond, &[&empty], &[0], &[2.0]).unwrap()[0]), [0.0; 3]);
}

/// Tolerances of ranks and pseudoinverses.
#[test]
fn tolerances() {
    let ctx = ctx(1);
    let a =
        tensor(&ctx, DType::F64, &[2, 3, 3], &Dense::diagonal(&[1.0, 0.1, 0.01], 3, 3).v.repeat(2));
    let rank = |tol: Option<&Tensor>, hermitian: i64, x: [f64; 2]| {
        let operands: Vec<&Tensor> = std::iter::once(&a).chain(tol).collect();
        values(&ctx, &linalg(&ctx, MatrixRank, &operands, &[hermitian], &x).unwrap()[0])
    };
    let none = [f64::NAN; 2];
    for hermitian in [0, 1] {
        assert_eq!(rank(None, hermitian, none), [3.0, 3.0]);
        assert_eq!(rank(None, hermitian, [0.05, f64::NAN]), [2.0, 2.0]);
        assert_eq!(rank(None, hermitian, [0.0, 0.5]), [1.0, 1.0]);
        let tol = tensor(&ctx, DType::F64, &[2], &[0.05, 2.0]);
        assert_eq!(rank(Some(&tol), hermitian, none), [2.0, 0.0]);
        assert_eq!(
            rank(Some(&tensor(&ctx, DType::F32, &[], &[0.05])), hermitian, none),
            [2.0, 2.0]
        );
        let p = linalg(&ctx, Pinv, &[&a], &[hermitian], &[0.05, 0.0]).unwrap();
        let exact = Dense::diagonal(&[1.0, 10.0, 0.0], 3, 3);
        each(&ctx, &p[0])[1].assert_near(&exact, 1e-12, "cut pseudoinverse");
    }
}
