//! QR, singular values, eigenvalues.

use proptest::prelude::*;
use wick_core::DType;
use wick_runtime::error::Kind;
use wick_runtime::ops::linalg::LinalgOp::*;
use wick_runtime::ops::linalg::QrMode;

use crate::common::{ctx, tensor, values};
use crate::{Dense, FLOATS, Numbers, each, epsilon, fault, lying, run};

fn size() -> impl Strategy<Value = usize> {
    prop_oneof![4 => 0usize..6, 3 => 6usize..40, 1 => 100usize..150]
}

/// Random, of low rank, with equal columns, graded, zero.
fn matrix(rng: &mut Numbers, m: usize, n: usize, kind: u8) -> Dense {
    let any = Dense::new(m, n, rng.list(m * n));
    match kind {
        0 => {
            let rank = 2.min(m).min(n);
            Dense::new(m, rank, rng.list(m * rank)).times(&Dense::new(rank, n, rng.list(rank * n)))
        }
        1 => Dense::new(m, n, (0..m * n).map(|k| (k / n) as f64 - 2.0).collect()),
        2 => {
            let grade = |k: usize| 10f64.powi(-((k % n) as i32) % 8);
            Dense::new(m, n, any.v.iter().enumerate().map(|(k, x)| x * grade(k)).collect())
        }
        3 => Dense::new(m, n, vec![0.0; m * n]),
        4 => Dense::new(m, n, (0..m * n).map(|k| f64::from(k / n == k % n)).collect()),
        _ => any,
    }
}

fn orthonormal(q: &Dense, near: f64, what: &str) {
    q.t().times(q).assert_near(&Dense::eye(q.n), near, what);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn qr(m in size(), n in size(), f in 0usize..2, kind in 0u8..9, mode in 0usize..3, seed: u64) {
        let (ctx, dtype, mut rng) = (ctx(2), FLOATS[f], Numbers(seed));
        let data = [matrix(&mut rng, m, n, kind).v, matrix(&mut rng, m, n, 5).v].concat();
        let a = lying(&ctx, dtype, &[2, m as i64, n as i64], &data, seed);
        let mode = QrMode::ALL[mode];
        let made = run(&ctx, Qr, &[&a], &[mode as i64]);
        let k = if mode == QrMode::Complete { m } else { m.min(n) };
        prop_assert_eq!(made[1].shape(), &[2, k as i64, n as i64]);
        let r = each(&ctx, &made[1]);
        for r in &r {
            prop_assert!((0..k).all(|i| (0..i.min(n)).all(|j| r.at(i, j) == 0.0)));
        }
        let q = match mode {
            QrMode::R => {
                prop_assert_eq!(made[0].shape(), &[0]);
                each(&ctx, &run(&ctx, Qr, &[&a], &[QrMode::Reduced as i64])[0])
            }
            _ => each(&ctx, &made[0]),
        };
        for ((q, r), a) in q.iter().zip(&r).zip(each(&ctx, &a)) {
            let near = epsilon(dtype) * 40.0 * (2.0 + m.max(n) as f64);
            orthonormal(q, near, "Q");
            q.times(r).assert_near(&a, near * (1.0 + a.greatest()), "Q R");
        }
    }

    #[test]
    fn svd(m in size(), n in size(), f in 0usize..2, kind in 0u8..9, full: bool, seed: u64) {
        let (ctx, dtype, mut rng) = (ctx(2), FLOATS[f], Numbers(seed));
        let data = [matrix(&mut rng, m, n, kind).v, matrix(&mut rng, m, n, 5).v].concat();
        let a = lying(&ctx, dtype, &[2, m as i64, n as i64], &data, seed);
        let usv = run(&ctx, Svd, &[&a], &[i64::from(full)]);
        let alone = run(&ctx, Svdvals, &[&a], &[]);
        let k = m.min(n);
        let (rows, cols) = if full { (m, n) } else { (k, k) };
        prop_assert_eq!(usv[0].shape(), &[2, m as i64, rows as i64]);
        prop_assert_eq!(usv[2].shape(), &[2, cols as i64, n as i64]);
        prop_assert_eq!((usv[1].shape(), alone[0].shape()), (&[2, k as i64][..], &[2, k as i64][..]));
        let (u, v) = (each(&ctx, &usv[0]), each(&ctx, &usv[2]));
        let (s, s2) = (values(&ctx, &usv[1]), values(&ctx, &alone[0]));
        for (i, a) in each(&ctx, &a).iter().enumerate() {
            let scale = (1.0 + a.greatest()) * (2.0 + m.max(n) as f64);
            let near = epsilon(dtype) * 40.0 * scale;
            let (s, s2) = (&s[i * k..(i + 1) * k], &s2[i * k..(i + 1) * k]);
            prop_assert!(s.iter().all(|x| *x >= 0.0) && s.windows(2).all(|w| w[0] >= w[1]), "{s:?}");
            for (x, y) in s.iter().zip(s2) {
                prop_assert!((x - y).abs() <= near, "{x} {y}");
            }
            orthonormal(&u[i], near, "U");
            orthonormal(&v[i].t(), near, "V");
            let middle = Dense::diagonal(s, rows, cols);
            if k > 0 {
                u[i].times(&middle).times(&v[i]).assert_near(a, near, "U S V");
            }
        }
    }

    #[test]
    fn eigh(n in size(), f in 0usize..2, kind in 0u8..9, upper: bool, seed: u64) {
        let (ctx, dtype, mut rng) = (ctx(2), FLOATS[f], Numbers(seed));
        let mut a = matrix(&mut rng, n, n, kind);
        for i in 0..n {
            for j in 0..i {
                a.v[j * n + i] = a.v[i * n + j];
            }
        }
        let mut given = a.clone();
        for i in 0..n {
            for j in 0..i {
                // The other triangle does not count.
                given.v[if upper { i * n + j } else { j * n + i }] = 99.0;
            }
        }
        let t = lying(&ctx, dtype, &[n as i64, n as i64], &given.v, seed);
        let made = run(&ctx, Eigh, &[&t], &[i64::from(upper)]);
        let alone = values(&ctx, &run(&ctx, Eigvalsh, &[&t], &[i64::from(upper)])[0]);
        let (s, v) = (values(&ctx, &made[0]), &each(&ctx, &made[1])[0]);
        let near = epsilon(dtype) * 40.0 * (2.0 + n as f64) * (1.0 + a.greatest());
        prop_assert!(s.windows(2).all(|w| w[0] <= w[1]));
        for (x, y) in s.iter().zip(&alone) {
            prop_assert!((x - y).abs() <= near, "{x} {y}");
        }
        orthonormal(v, near, "V");
        a.times(v).assert_near(&v.times(&Dense::diagonal(&s, n, n)), near, "A V");
    }

    #[test]
    fn eig(n in 0usize..30, f in 0usize..2, kind in 4u8..9, seed: u64) {
        let (ctx, dtype, mut rng) = (ctx(2), FLOATS[f], Numbers(seed));
        let data = [matrix(&mut rng, n, n, kind).v, matrix(&mut rng, n, n, 5).v].concat();
        let a = lying(&ctx, dtype, &[2, n as i64, n as i64], &data, seed);
        let made = run(&ctx, Eig, &[&a], &[]);
        prop_assert_eq!(made[0].shape(), &[2, n as i64, 2]);
        prop_assert_eq!(made[1].shape(), &[2, n as i64, n as i64, 2]);
        let alone = run(&ctx, Eigvals, &[&a], &[]);
        prop_assert_eq!(alone[0].shape(), &[2, n as i64, 2]);
        let (s, v) = (values(&ctx, &made[0]), values(&ctx, &made[1]));
        for (b, a) in each(&ctx, &a).iter().enumerate() {
            let near = epsilon(dtype) * 100.0 * (2.0 + n as f64) * (1.0 + a.greatest());
            for j in 0..n {
                let (re, im) = (s[(b * n + j) * 2], s[(b * n + j) * 2 + 1]);
                let at = |i: usize| {
                    let k = ((b * n + i) * n + j) * 2;
                    (v[k], v[k + 1])
                };
                let length: f64 = (0..n).map(at).map(|(x, y)| x * x + y * y).sum();
                prop_assert!((length - 1.0).abs() < near, "{length}");
                for i in 0..n {
                    let x: f64 = (0..n).map(|k| a.at(i, k) * at(k).0).sum();
                    let y: f64 = (0..n).map(|k| a.at(i, k) * at(k).1).sum();
                    let (p, q) = at(i);
                    prop_assert!((x - (re * p - im * q)).abs() <= near, "{x}");
                    prop_assert!((y - (re * q + im * p)).abs() <= near, "{y}");
                }
            }
        }
    }

    #[test]
    fn pseudoinverses(m in size(), n in size(), f in 0usize..2, kind in 0u8..9, seed: u64) {
        prop_assume!(kind != 2);
        let (ctx, dtype, mut rng) = (ctx(2), FLOATS[f], Numbers(seed));
        let a = matrix(&mut rng, m, n, kind);
        let t = lying(&ctx, dtype, &[m as i64, n as i64], &a.v, seed);
        let p = &run(&ctx, Pinv, &[&t], &[0])[0];
        prop_assert_eq!(p.shape(), &[n as i64, m as i64]);
        let (a, p) = (&each(&ctx, &t)[0], &each(&ctx, p)[0]);
        let scale = (1.0 + p.greatest()) * (1.0 + a.greatest()).powi(2) * (2.0 + m.max(n) as f64);
        let near = epsilon(dtype) * 100.0 * scale;
        a.times(p).times(a).assert_near(a, near, "A P A");
        p.times(a).times(p).assert_near(p, near * (1.0 + p.greatest()), "P A P");
        let rank = values(&ctx, &run(&ctx, MatrixRank, &[&t], &[0])[0])[0] as usize;
        let full = m.min(n);
        let exact = match kind {
            0 => 2.min(full),
            1 => full.min(usize::from(m > 0 && n > 0)),
            3 => 0,
            _ => full,
        };
        prop_assert_eq!(rank, exact);
    }
}

/// BR-176, BR-178: neither hangs nor gives finite values.
#[test]
fn what_is_not_finite() {
    let ctx = ctx(2);
    for dtype in FLOATS {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for n in [2i64, 4, 30, 150] {
                let mut data = vec![1.0; (n * n) as usize];
                data[(n * n - 2) as usize] = bad;
                let a = tensor(&ctx, dtype, &[n, n], &data);
                for (op, flags) in [
                    (Svd, vec![0]),
                    (Svd, vec![1]),
                    (Svdvals, vec![]),
                    (Eigh, vec![0]),
                    (Eigvalsh, vec![0]),
                    (Eig, vec![]),
                    (Eigvals, vec![]),
                    (Pinv, vec![0]),
                    (MatrixRank, vec![0]),
                    (MatrixRank, vec![1]),
                ] {
                    let e = fault(&ctx, op, &[&a], &flags);
                    assert!(matches!(e.kind(), Kind::Linalg { .. }), "{e}");
                    assert!(e.to_string().contains("the matrix has elements that are not finite"));
                }
                let r = values(&ctx, &run(&ctx, Qr, &[&a], &[QrMode::R as i64])[1]);
                assert!(r.iter().any(|x| !x.is_finite()));
            }
        }
    }
}

/// BR-182: zeros, empty sides, single elements.
#[test]
fn degenerate_matrices() {
    let ctx = ctx(1);
    for dtype in FLOATS {
        let zeros = tensor(&ctx, dtype, &[3, 3], &[0.0; 9]);
        let usv = run(&ctx, Svd, &[&zeros], &[1]);
        assert_eq!(values(&ctx, &usv[1]), [0.0; 3]);
        orthonormal(&each(&ctx, &usv[0])[0], 0.0, "U");
        orthonormal(&each(&ctx, &usv[2])[0].t(), 0.0, "V");
        let shapes = |m: i64, n: i64, full: i64| -> Vec<Vec<i64>> {
            let t = tensor(&ctx, dtype, &[m, n], &[]);
            run(&ctx, Svd, &[&t], &[full]).iter().map(|t| t.shape().to_vec()).collect()
        };
        assert_eq!(shapes(0, 3, 1), [vec![0, 0], vec![0], vec![3, 3]]);
        assert_eq!(shapes(0, 3, 0), [vec![0, 0], vec![0], vec![0, 3]]);
        assert_eq!(shapes(3, 0, 0), [vec![3, 0], vec![0], vec![0, 0]]);
        let full = run(&ctx, Svd, &[&tensor(&ctx, dtype, &[0, 3], &[])], &[1]);
        each(&ctx, &full[2])[0].assert_near(&Dense::eye(3), 0.0, "V");
        let one = run(&ctx, Svd, &[&tensor(&ctx, dtype, &[1, 1], &[-1.0])], &[0]);
        assert_eq!(values(&ctx, &one[1]), [1.0]);
        assert_eq!(values(&ctx, &one[0])[0] * values(&ctx, &one[2])[0], -1.0);
    }
}

/// Bits do not depend on the number of threads.
#[test]
fn same_bits_for_any_number_of_threads() {
    let ctx = ctx(1);
    let mut rng = Numbers(5);
    let a = tensor(&ctx, DType::F32, &[40, 30, 30], &rng.list(40 * 900));
    for (op, flags) in
        [(Svd, vec![0]), (Eigh, vec![0]), (Inv, vec![]), (Qr, vec![0]), (Pinv, vec![0])]
    {
        let mut seen: Option<Vec<Vec<f64>>> = None;
        for threads in [1, 2, 7] {
            ctx.set_threads(threads);
            let made: Vec<Vec<f64>> =
                run(&ctx, op, &[&a], &flags).iter().map(|t| values(&ctx, t)).collect();
            assert_eq!(seen.get_or_insert_with(|| made.clone()), &made);
        }
    }
}
