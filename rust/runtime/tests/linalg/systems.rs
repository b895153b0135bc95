//! Determinants, inverses, solutions, Cholesky factors.

use proptest::prelude::*;
use wick_core::DType;
use wick_runtime::error::Kind;
use wick_runtime::ops::linalg::LinalgOp::*;

use crate::common::{ctx, tensor, values};
use crate::{Dense, FLOATS, Numbers, each, epsilon, fault, lying, run};

/// Small sizes, and some that are cut into panels.
fn size() -> impl Strategy<Value = usize> {
    prop_oneof![4 => 0usize..6, 3 => 6usize..40, 1 => 60usize..90]
}

fn batch() -> impl Strategy<Value = Vec<i64>> {
    prop_oneof![3 => Just(vec![]), 2 => prop::collection::vec(0i64..4, 1..3)]
}

/// Matrices that are far from singular.
fn regular(rng: &mut Numbers, n: usize, count: usize) -> Vec<f64> {
    let mut v = rng.list(n * n * count);
    for (k, x) in v.iter_mut().enumerate() {
        let (i, j) = (k / n % n, k % n);
        if i == (j + 1) % n {
            *x += 2.0 * (n as f64).sqrt() + 1.0;
        }
    }
    v
}

fn shape(batch: &[i64], m: usize, n: usize) -> Vec<i64> {
    [batch, &[m as i64, n as i64]].concat()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn inverses_and_solutions(n in size(), k in 0usize..5, batch in batch(), f in 0usize..2, seed: u64) {
        let (ctx, dtype, mut rng) = (ctx(2), FLOATS[f], Numbers(seed));
        let count = batch.iter().product::<i64>() as usize;
        let data = regular(&mut rng, n, count);
        let a = lying(&ctx, dtype, &shape(&batch, n, n), &data, seed);
        let exact = each(&ctx, &a);
        let near = epsilon(dtype) * 60.0 * (1.0 + n as f64);

        let inverse = run(&ctx, Inv, &[&a], &[]);
        prop_assert_eq!(inverse[0].shape(), a.shape());
        for (x, y) in exact.iter().zip(each(&ctx, &inverse[0])) {
            x.times(&y).assert_near(&Dense::eye(n), near, "inverse");
        }

        let rhs = rng.list(n * k * count);
        let b = lying(&ctx, dtype, &shape(&batch, n, k), &rhs, seed ^ 77);
        let x = &run(&ctx, Solve, &[&a, &b], &[1])[0];
        prop_assert_eq!(x.shape(), b.shape());
        for ((a, x), b) in exact.iter().zip(each(&ctx, x)).zip(each(&ctx, &b)) {
            a.times(&x).assert_near(&b, near * 10.0, "solution");
        }
        let turned = b.with_layout("test", b.layout().transpose(-2, -1)).unwrap();
        let x = &run(&ctx, Solve, &[&a, &turned], &[0])[0];
        prop_assert_eq!(x.shape(), turned.shape());
        for ((a, x), b) in exact.iter().zip(each(&ctx, x)).zip(each(&ctx, &turned)) {
            x.times(a).assert_near(&b, near * 10.0, "solution from the left");
        }

        let lu = run(&ctx, LuFactor, &[&a], &[]);
        let x = &run(&ctx, LuSolve, &[&lu[0], &lu[1], &b], &[])[0];
        for ((a, x), b) in exact.iter().zip(each(&ctx, x)).zip(each(&ctx, &b)) {
            a.times(&x).assert_near(&b, near * 10.0, "solution from factors");
        }
    }

    #[test]
    fn factors_rebuild(m in size(), n in size(), batch in batch(), f in 0usize..2, seed: u64) {
        let (ctx, dtype, mut rng) = (ctx(2), FLOATS[f], Numbers(seed));
        let count = batch.iter().product::<i64>() as usize;
        let a = lying(&ctx, dtype, &shape(&batch, m, n), &rng.list(m * n * count), seed);
        let plu = run(&ctx, Lu, &[&a], &[]);
        let near = epsilon(dtype) * 10.0 * (1.0 + m.max(n) as f64);
        let (p, l, u) = (each(&ctx, &plu[0]), each(&ctx, &plu[1]), each(&ctx, &plu[2]));
        for (i, a) in each(&ctx, &a).iter().enumerate() {
            p[i].times(&l[i]).times(&u[i]).assert_near(a, near, "P L U");
            prop_assert!(l[i].greatest() <= 1.0);
            p[i].times(&p[i].t()).assert_near(&Dense::eye(m), 0.0, "P");
        }
    }

    #[test]
    fn determinants(n in 0usize..7, batch in batch(), f in 0usize..2, seed: u64) {
        let (ctx, dtype, mut rng) = (ctx(2), FLOATS[f], Numbers(seed));
        let count = batch.iter().product::<i64>() as usize;
        let a = lying(&ctx, dtype, &shape(&batch, n, n), &rng.list(n * n * count), seed);
        let det = values(&ctx, &run(&ctx, Det, &[&a], &[])[0]);
        let parts = run(&ctx, Slogdet, &[&a], &[]);
        let (sign, log) = (values(&ctx, &parts[0]), values(&ctx, &parts[1]));
        for (i, a) in each(&ctx, &a).iter().enumerate() {
            let exact = expand(a);
            let near = epsilon(dtype) * 100.0;
            prop_assert!((det[i] - exact).abs() <= near, "{} for {exact}", det[i]);
            prop_assert!((sign[i] * log[i].exp() - exact).abs() <= near);
        }
    }

    #[test]
    fn cholesky_factors(n in size(), k in 0usize..5, batch in batch(), f in 0usize..2, upper: bool, seed: u64) {
        let (ctx, dtype, mut rng) = (ctx(2), FLOATS[f], Numbers(seed));
        let count = batch.iter().product::<i64>() as usize;
        let mut data = vec![];
        for _ in 0..count {
            let b = Dense::new(n, n, rng.list(n * n));
            let mut a = b.times(&b.t());
            (0..n).for_each(|i| a.v[i * n + i] += 1.0);
            data.extend(a.v);
        }
        let a = lying(&ctx, dtype, &shape(&batch, n, n), &data, seed);
        let flags = [i64::from(upper)];
        let factor = &run(&ctx, Cholesky, &[&a], &flags)[0];
        let near = epsilon(dtype) * 20.0 * (1.0 + (n * n) as f64);
        let exact = each(&ctx, &a);
        for (a, l) in exact.iter().zip(each(&ctx, factor)) {
            let lower = if upper { l.t() } else { l };
            lower.times(&lower.t()).assert_near(a, near, "L L^T");
            for i in 0..n {
                prop_assert!((i + 1..n).all(|j| lower.at(i, j) == 0.0));
            }
        }
        let inverse = &run(&ctx, CholeskyInverse, &[factor], &flags)[0];
        for (a, x) in exact.iter().zip(each(&ctx, inverse)) {
            a.times(&x).assert_near(&Dense::eye(n), near * 10.0, "inverse from a factor");
        }
        let b = lying(&ctx, dtype, &shape(&batch, n, k), &rng.list(n * k * count), !seed);
        let x = &run(&ctx, CholeskySolve, &[&b, factor], &flags)[0];
        for ((a, x), b) in exact.iter().zip(each(&ctx, x)).zip(each(&ctx, &b)) {
            a.times(&x).assert_near(&b, near * 10.0, "solution from a factor");
        }
    }

    #[test]
    fn triangular_systems(
        n in size(), k in 0usize..5, f in 0usize..2, (upper, turned, unit) in any::<(bool, bool, bool)>(), seed: u64,
    ) {
        let (ctx, dtype, mut rng) = (ctx(2), FLOATS[f], Numbers(seed));
        let mut data = rng.list(2 * n * n);
        for (i, x) in data.iter_mut().enumerate() {
            *x = if i / n % n == i % n { 2.0 + x.abs() } else { *x / n as f64 };
        }
        let a = lying(&ctx, dtype, &[2, n as i64, n as i64], &data, seed);
        let b = lying(&ctx, dtype, &[1, n as i64, k as i64], &rng.list(n * k), !seed);
        let flags = [upper, turned, unit].map(i64::from);
        let x = &run(&ctx, TriangularSolve, &[&b, &a], &flags)[0];
        prop_assert_eq!(x.shape(), &[2, n as i64, k as i64]);
        let near = epsilon(dtype) * 20.0 * (1.0 + n as f64);
        for (a, x) in each(&ctx, &a).iter().zip(each(&ctx, x)) {
            let mut part = a.clone();
            for i in 0..n {
                for j in 0..n {
                    let keep = if upper { i <= j } else { i >= j };
                    part.v[i * n + j] = match i == j && unit {
                        true => 1.0,
                        false if keep => a.at(i, j),
                        false => 0.0,
                    };
                }
            }
            let part = if turned { part.t() } else { part };
            part.times(&x).assert_near(&each(&ctx, &b)[0], near, "triangular");
        }
        let flags = [i64::from(upper), 0, i64::from(unit)];
        if !turned {
            let row = b.with_layout("test", b.layout().transpose(-2, -1)).unwrap();
            let y = &run(&ctx, SolveTriangular, &[&a, &row], &flags)[0];
            let back = &run(&ctx, TriangularSolve, &[&b, &a], &[flags[0], 1, flags[2]])[0];
            for (y, x) in each(&ctx, y).iter().zip(each(&ctx, back)) {
                y.t().assert_near(&x, near, "from the left");
            }
        }
    }
}

/// By minors.
fn expand(a: &Dense) -> f64 {
    if a.n == 0 {
        return 1.0;
    }
    (0..a.n)
        .map(|j| {
            let rest =
                (1..a.n).flat_map(|i| (0..a.n).filter(move |k| *k != j).map(move |k| (i, k)));
            let minor = Dense::new(a.n - 1, a.n - 1, rest.map(|(i, k)| a.at(i, k)).collect());
            let sign = if j % 2 == 0 { 1.0 } else { -1.0 };
            sign * a.at(0, j) * expand(&minor)
        })
        .sum()
}

#[test]
fn singular_matrices() {
    let ctx = ctx(2);
    for dtype in FLOATS {
        let zeros = tensor(&ctx, dtype, &[20, 20], &[0.0; 400]);
        for n in [1i64, 3, 20, 40] {
            let ones = tensor(&ctx, dtype, &[n, n], &vec![1.0; (n * n) as usize]);
            if n > 1 {
                assert_eq!(values(&ctx, &run(&ctx, Det, &[&ones], &[])[0]), [0.0]);
                let parts = run(&ctx, Slogdet, &[&ones], &[]);
                assert_eq!(values(&ctx, &parts[0])[0].abs(), 0.0);
                assert_eq!(values(&ctx, &parts[1]), [f64::NEG_INFINITY]);
                let e = fault(&ctx, Inv, &[&ones], &[]);
                assert!(matches!(e.kind(), Kind::Linalg { .. }), "{e}");
                assert_eq!(
                    e.to_string(),
                    format!(
                        "linalg_inv: {dtype} [{n}, {n}]: the matrix is singular: pivot 2 of its LU factors is 0"
                    )
                );
            }
        }
        let mut batch = vec![0.0; 2 * 3 * 4];
        (0..6).for_each(|i| batch[i * 4..i * 4 + 4].copy_from_slice(&[2.0, 1.0, 0.0, 1.0]));
        batch[4 * 4] = 0.0;
        batch[5 * 4] = 0.0;
        let t = tensor(&ctx, dtype, &[2, 3, 2, 2], &batch);
        let text = fault(&ctx, Inv, &[&t], &[]).to_string();
        assert!(text.contains("matrix [1, 1] of the batch is singular: pivot 1"), "{text}");
        let text = fault(&ctx, Solve, &[&zeros, &zeros], &[1]).to_string();
        assert!(text.contains("is singular: pivot 1"), "{text}");
        let text = fault(&ctx, Cholesky, &[&t], &[0]).to_string();
        assert!(text.contains("matrix [1, 1] of the batch is not positive-definite"), "{text}");
        assert!(text.contains("order 1 is not positive"), "{text}");
        let mut eye = Dense::eye(40).v;
        eye[25 * 41] = -1.0;
        let text = fault(&ctx, Cholesky, &[&tensor(&ctx, dtype, &[40, 40], &eye)], &[0]);
        assert!(text.to_string().contains("leading minor of order 26"), "{text}");
    }
}

#[test]
fn what_is_not_finite() {
    let ctx = ctx(1);
    for dtype in FLOATS {
        for n in [1i64, 3, 20, 40] {
            for bad in [f64::NAN, f64::INFINITY] {
                let mut data = Dense::eye(n as usize).v;
                data[((n * n) / 2) as usize] = bad;
                let a = tensor(&ctx, dtype, &[n, n], &data);
                let det = values(&ctx, &run(&ctx, Det, &[&a], &[])[0])[0];
                assert!(
                    bad.is_finite() || det.is_nan() || det.is_infinite() || det == 1.0,
                    "{det}"
                );
                if bad.is_nan() {
                    assert!(det.is_nan(), "{n} {det}");
                    let inverse = values(&ctx, &run(&ctx, Inv, &[&a], &[])[0]);
                    assert!(inverse.iter().any(|x| x.is_nan()));
                    let e = fault(&ctx, Cholesky, &[&a], &[0]);
                    assert!(matches!(e.kind(), Kind::Linalg { .. }), "{e}");
                }
            }
        }
    }
}

/// Steps of a determinant beyond the range of f64, the result within it.
#[test]
fn determinants_of_a_wide_range() {
    let ctx = ctx(1);
    let d = [1e200, 1e200, 1e-200, 1e-200, 3.0];
    let a = tensor(&ctx, DType::F64, &[5, 5], &Dense::diagonal(&d, 5, 5).v);
    let det = values(&ctx, &run(&ctx, Det, &[&a], &[])[0])[0];
    assert!((det - 3.0).abs() < 1e-12, "{det}");
}

#[test]
fn right_hand_sides() {
    let ctx = ctx(1);
    let a = tensor(&ctx, DType::F64, &[3, 2, 2], &[2.0, 0.0, 0.0, 4.0].repeat(3));
    let vectors = tensor(&ctx, DType::F64, &[3, 2], &[2.0, 4.0, 4.0, 8.0, 6.0, 12.0]);
    let x = &run(&ctx, Solve, &[&a, &vectors], &[1])[0];
    assert_eq!((x.shape(), values(&ctx, x)), (&[3i64, 2][..], vec![1.0, 1.0, 2.0, 2.0, 3.0, 3.0]));
    let one = tensor(&ctx, DType::F64, &[2], &[2.0, 4.0]);
    let x = &run(&ctx, Solve, &[&a, &one], &[1])[0];
    assert_eq!((x.shape(), values(&ctx, x)), (&[3i64, 2][..], vec![1.0; 6]));
    let wide = tensor(&ctx, DType::F64, &[5, 1, 2, 1], &[2.0, 4.0].repeat(5));
    assert_eq!(run(&ctx, Solve, &[&a, &wide], &[1])[0].shape(), &[5, 3, 2, 1]);
}

#[test]
fn what_is_refused() {
    let ctx = ctx(1);
    let zeros = |dtype, shape: &[i64]| {
        tensor(&ctx, dtype, shape, &vec![0.0; shape.iter().product::<i64>() as usize])
    };
    for op in [Det, Slogdet, Inv, Cholesky, CholeskyInverse, Eigh, Eigvalsh, Eig, Eigvals] {
        let flat = fault(&ctx, op, &[&zeros(DType::F32, &[3])], &[0]);
        assert!(matches!(flat.kind(), Kind::Shape { .. }), "{flat}");
        let long = fault(&ctx, op, &[&zeros(DType::F32, &[2, 3])], &[0]);
        assert!(matches!(long.kind(), Kind::Shape { .. }), "{long}");
    }
    for op in [Det, Inv, Cholesky, Qr, Svd, Svdvals, Eigh, Eig, Pinv, MatrixRank, LuFactor] {
        for dtype in [DType::F16, DType::BF16, DType::I64, DType::Bool] {
            let e = fault(&ctx, op, &[&zeros(dtype, &[2, 2])], &[0]);
            assert!(matches!(e.kind(), Kind::DType { .. }), "{e}");
        }
    }
    let (a, b) = (zeros(DType::F32, &[2, 2]), zeros(DType::F64, &[2, 2]));
    assert!(matches!(fault(&ctx, Solve, &[&a, &b], &[1]).kind(), Kind::DType { .. }));
    let tall = zeros(DType::F32, &[3, 2]);
    assert!(matches!(fault(&ctx, Solve, &[&a, &tall], &[1]).kind(), Kind::Shape { .. }));
    let batches = (zeros(DType::F32, &[2, 2, 2]), zeros(DType::F32, &[3, 2, 2]));
    assert!(matches!(
        fault(&ctx, Solve, &[&batches.0, &batches.1], &[1]).kind(),
        Kind::Shape { .. }
    ));
}

/// Sizes that no memory holds: errors, whatever is asked.
#[test]
fn sizes_beyond_memory() {
    let ctx = ctx(1);
    let one = tensor(&ctx, DType::F32, &[1, 1], &[1.0]);
    for (m, n) in [(1i64 << 31, 1i64 << 31), (1 << 40, 4), (4, 1 << 40), (1 << 20, 1 << 20)] {
        let a = one.with_layout("test", one.layout().expand(&[m, n])).unwrap();
        for op in [
            Det, Inv, Cholesky, Qr, Svd, Svdvals, Eigh, Eigvalsh, Eig, Pinv, MatrixRank, LuFactor,
            Lu,
        ] {
            fault(&ctx, op, &[&a], &[0]);
        }
        for op in [Solve, Lstsq, CholeskySolve, TriangularSolve, Kron] {
            fault(&ctx, op, &[&a, &a], &[0, 0, 0]);
        }
    }
}
