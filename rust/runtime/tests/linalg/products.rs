//! Powers, chains, contractions, cross and Kronecker products, distances, Einstein's summation.

use proptest::prelude::*;
use wick_core::DType;
use wick_runtime::error::Kind;
use wick_runtime::ops::linalg::LinalgOp::*;
use wick_runtime::ops::linalg::{einsum, linalg};
use wick_runtime::{Context, Error, Tensor};

use crate::common::{Lie, ctx, tensor, values};
use crate::{Dense, FLOATS, Numbers, each, fault, run};

/// Small whole numbers in any layout.
fn whole(ctx: &Context, dtype: DType, shape: &[i64], seed: u64) -> Tensor {
    let mut rng = Numbers(seed);
    let numbers: Vec<f64> = rng.list(97).iter().map(|x| (x * 3.0).round()).collect();
    let least = if dtype == DType::U8 { 3.0 } else { 0.0 };
    Lie::random(shape.len(), seed, true)
        .make(ctx, dtype, shape, |i| numbers[i as usize % 97] + least)
}

/// The elements of a tensor by index.
struct Elements {
    shape: Vec<i64>,
    v: Vec<f64>,
}

impl Elements {
    fn of(ctx: &Context, t: &Tensor) -> Elements {
        Elements { shape: t.shape().to_vec(), v: values(ctx, t) }
    }

    fn at(&self, index: &[i64]) -> f64 {
        let place = self.shape.iter().zip(index).fold(0, |p, (n, i)| {
            // A dimension of size 1 stretches.
            p * n + if *n == 1 { 0 } else { *i }
        });
        self.v[place as usize]
    }
}

/// Calls `f` with each index of a shape, in row-major order.
fn indices(shape: &[i64], mut f: impl FnMut(&[i64])) {
    let count: i64 = shape.iter().product();
    let mut index = vec![0; shape.len()];
    for place in 0..count {
        let mut left = place;
        for (i, n) in index.iter_mut().zip(shape).rev() {
            *i = left % n;
            left /= n;
        }
        f(&index);
    }
}

/// By loops over all letters' values, for terms without ellipses.
fn naive(ctx: &Context, terms: &[&str], output: &str, operands: &[&Tensor]) -> Vec<f64> {
    let all: Vec<Elements> = operands.iter().map(|t| Elements::of(ctx, t)).collect();
    let mut sizes = std::collections::BTreeMap::new();
    for (term, e) in terms.iter().zip(&all) {
        for (c, n) in term.chars().zip(&e.shape) {
            let known = sizes.entry(c).or_insert(1);
            *known = if *known == 1 { *n } else { *known };
        }
    }
    let summed: Vec<char> = sizes.keys().copied().filter(|c| !output.contains(*c)).collect();
    let letters: Vec<char> = output.chars().chain(summed).collect();
    let shape: Vec<i64> = letters.iter().map(|c| sizes[c]).collect();
    let kept = output.chars().count();
    let mut out = vec![0.0; shape[..kept].iter().product::<i64>() as usize];
    indices(&shape, |index| {
        let value = |c: char| index[letters.iter().position(|l| *l == c).unwrap()];
        let product: f64 = terms
            .iter()
            .zip(&all)
            .map(|(term, e)| e.at(&term.chars().map(value).collect::<Vec<_>>()))
            .product();
        let place = shape[..kept].iter().zip(index).fold(0, |p, (n, i)| p * n + i);
        out[place as usize] += product;
    });
    out
}

fn term() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(vec!['a', 'b', 'c', 'd', 'E']), 0..4)
        .prop_map(|v| v.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn einstein(
        terms in prop::collection::vec(term(), 1..4),
        sizes in prop::collection::vec(0i64..4, 5),
        (ones, keep, dtype) in (any::<u64>(), any::<u8>(), 0usize..9),
        arrow: bool,
        seed: u64,
    ) {
        let ctx = ctx(1);
        let dtype = DType::ALL[dtype];
        let place = |c: char| "abcdE".find(c).unwrap();
        let mut bit = 0;
        let operands: Vec<Tensor> = terms.iter().enumerate().map(|(i, term)| {
            let mut seen = vec![];
            let shape: Vec<i64> = term.chars().map(|c| {
                bit += 1;
                // Now and then a dimension of size 1 that stretches, but not one of a diagonal.
                let one = ones >> (2 * bit) & 3 == 0 && term.matches(c).count() == 1;
                seen.push(c);
                if one { 1 } else { sizes[place(c)] }
            }).collect();
            whole(&ctx, dtype, &shape, seed.wrapping_add(i as u64))
        }).collect();
        let operands: Vec<&Tensor> = operands.iter().collect();
        let words: Vec<&str> = terms.iter().map(String::as_str).collect();
        let (equation, output) = if arrow {
            let used: String = "abcdE".chars().filter(|c| words.iter().any(|w| w.contains(*c)) && keep >> place(*c) & 1 == 1).collect();
            let output: String = if keep >= 128 { used.chars().rev().collect() } else { used };
            (format!("{} -> {output}", words.join(" , ")), output)
        } else {
            let once = |c: &char| words.iter().map(|w| w.matches(*c).count()).sum::<usize>() == 1;
            (words.join(","), "Eabcd".chars().filter(once).collect())
        };
        let got = einsum(&ctx, &equation, &operands).unwrap();
        let exact = naive(&ctx, &words, &output, &operands);
        prop_assert_eq!(got.rank(), output.len());
        prop_assert_eq!(got.dtype(), dtype);
        let wide = tensor(&ctx, DType::F64, &[exact.len() as i64], &exact);
        let rounded = values(&ctx, &wick_runtime::ops::elementwise::cast(&ctx, &wide, if dtype.is_float() { dtype } else { DType::I64 }).unwrap());
        let wrapped = tensor(&ctx, DType::I64, &[exact.len() as i64], &rounded);
        let exact = if dtype.is_float() { rounded } else { values(&ctx, &wick_runtime::ops::elementwise::cast(&ctx, &wrapped, dtype).unwrap()) };
        let limit = match dtype { DType::F16 => 2048.0, DType::BF16 => 128.0, _ => f64::INFINITY };
        for (x, y) in values(&ctx, &got).iter().zip(&exact) {
            // Steps of half types round beyond the whole numbers that they hold.
            prop_assert!(x == y || y.abs() >= limit || (x - y).abs() <= 0.02 * y.abs() && dtype.is_half(), "{equation}: {x} for {y}");
        }
    }

    #[test]
    fn contractions(
        free in prop::collection::vec(0i64..4, 0..5), k in prop::collection::vec(1i64..4, 0..3), dtype in 0usize..9, seed: u64,
    ) {
        let ctx = ctx(1);
        let dtype = DType::ALL[dtype];
        let cut = free.len() / 2;
        // Dimensions of the first: summed ones before the free ones; of the second: after them, reversed.
        let x_shape = [&k[..], &free[..cut]].concat();
        let y_shape: Vec<i64> = free[cut..].iter().copied().chain(k.iter().rev().copied()).collect();
        let (x, y) = (whole(&ctx, dtype, &x_shape, seed), whole(&ctx, dtype, &y_shape, !seed));
        let n = k.len() as i64;
        let mut p = vec![n];
        p.extend(0..n);
        p.extend((1..=n).map(|d| -d));
        let got = run(&ctx, Tensordot, &[&x, &y], &p).remove(0);
        let letters = |range: std::ops::Range<usize>, from: u8| -> String {
            range.map(|i| char::from(from + i as u8)).collect()
        };
        let summed = letters(0..k.len(), b'a');
        let (left, right) = (letters(0..cut, b'm'), letters(cut..free.len(), b'm'));
        let terms = [format!("{summed}{left}"), format!("{right}{}", summed.chars().rev().collect::<String>())];
        let exact = naive(&ctx, &[&terms[0], &terms[1]], &format!("{left}{right}"), &[&x, &y]);
        prop_assert_eq!(got.shape(), &free[..]);
        for (x, y) in values(&ctx, &got).iter().zip(exact) {
            prop_assert!(*x == y || y.abs() > 120.0, "{x} for {y}");
        }
    }

    #[test]
    fn crossed((m, n) in (0i64..40, 0i64..4), dtype in 0usize..9, (left, right) in any::<(bool, bool)>(), seed: u64) {
        let ctx = ctx(2);
        let dtype = DType::ALL[dtype];
        let one = |size: i64, narrow: bool| if narrow { 1 } else { size };
        let a = whole(&ctx, dtype, &[one(m, left), 3, n], seed);
        let b = whole(&ctx, dtype, &[m, 3, one(n, right)], !seed);
        let got = run(&ctx, Cross, &[&a, &b], &[-2]).remove(0);
        prop_assert_eq!(got.shape(), &[m, 3, n]);
        let (x, y, got) = (Elements::of(&ctx, &a), Elements::of(&ctx, &b), Elements::of(&ctx, &got));
        indices(&[m, 3, n], |i| {
            let at = |e: &Elements, k: i64| e.at(&[i[0], (i[1] + k) % 3, i[2]]);
            let exact = at(&x, 1) * at(&y, 2) - at(&x, 2) * at(&y, 1);
            let exact = if dtype == DType::U8 { (exact as i64).rem_euclid(256) as f64 } else { exact };
            assert_eq!(got.at(i), exact);
        });
    }

    #[test]
    fn kronecker(x in prop::collection::vec(0i64..4, 0..4), y in prop::collection::vec(0i64..4, 0..4), seed: u64) {
        let ctx = ctx(1);
        let (a, b) = (whole(&ctx, DType::F32, &x, seed), whole(&ctx, DType::I32, &y, !seed));
        let got = run(&ctx, Kron, &[&a, &b], &[]).remove(0);
        let rank = x.len().max(y.len());
        let wide = |s: &[i64]| [&vec![1; rank - s.len()], s].concat();
        let (x, y) = (wide(&x), wide(&y));
        let shape: Vec<i64> = x.iter().zip(&y).map(|(p, q)| p * q).collect();
        prop_assert_eq!((got.shape(), got.dtype()), (&shape[..], DType::F32));
        let a = Elements { shape: x, v: values(&ctx, &a) };
        let b = Elements { shape: y.clone(), v: values(&ctx, &b) };
        let got = Elements::of(&ctx, &got);
        indices(&shape, |i| {
            let part = |f: &dyn Fn(i64, i64) -> i64| -> Vec<i64> { i.iter().zip(&y).map(|(i, n)| f(*i, *n)).collect() };
            assert_eq!(got.at(i), a.at(&part(&|i, n| i / n)) * b.at(&part(&|i, n| i % n)));
        });
    }

    #[test]
    fn distances(
        (m, n, k) in (0usize..40, 0usize..40, 0usize..40), p in 0usize..6, f in 0usize..2, batch in 0i64..3, far: bool, seed: u64,
    ) {
        let (ctx, dtype) = (ctx(2), FLOATS[f]);
        let p = [0.0, 1.0, 2.0, 3.0, 0.5, f64::INFINITY][p];
        let mut rng = Numbers(seed);
        // Far from the origin differences are small beside the points.
        let shift = if far { 1000.0 } else { 0.0 };
        let elements: Vec<f64> = rng.list(301).iter().map(|x| (x * 8.0).round() + shift).collect();
        let make = |shape: &[i64], seed: u64| {
            Lie::random(3, seed, true).make(&ctx, dtype, shape, |i| elements[(i as usize * 7 + seed as usize % 50) % 301])
        };
        let (a, b) = (make(&[batch, m as i64, k as i64], seed), make(&[1, n as i64, k as i64], !seed));
        let got = linalg(&ctx, Cdist, &[&a, &b], &[], &[p]).unwrap().remove(0);
        prop_assert_eq!(got.shape(), &[batch, m as i64, n as i64]);
        let y = &each(&ctx, &b)[0];
        for (x, d) in each(&ctx, &a).iter().zip(each(&ctx, &got)) {
            for i in 0..m {
                for j in 0..n {
                    let differences = (0..k).map(|t| (x.at(i, t) - y.at(j, t)).abs());
                    let exact = if p == 0.0 {
                        differences.filter(|d| *d != 0.0).count() as f64
                    } else if p.is_infinite() {
                        differences.fold(0.0, f64::max)
                    } else {
                        differences.map(|d| d.powf(p)).sum::<f64>().powf(1.0 / p)
                    };
                    let near = if dtype == DType::F64 { 1e-11 } else { 2e-5 };
                    prop_assert!((d.at(i, j) - exact).abs() <= near * (exact + 1e-30), "{p}: {} for {exact}", d.at(i, j));
                }
            }
        }
    }

    #[test]
    fn powers(n in 0usize..5, power in -3i64..8, f in 0usize..2, seed: u64) {
        let (ctx, dtype, mut rng) = (ctx(1), FLOATS[f], Numbers(seed));
        let mut data = rng.list(2 * n * n);
        (0..2 * n).for_each(|i| data[i * n + i % n] += 2.0);
        let a = tensor(&ctx, dtype, &[2, n as i64, n as i64], &data);
        let got = run(&ctx, MatrixPower, &[&a], &[power]).remove(0);
        let base = if power < 0 { run(&ctx, Inv, &[&a], &[]).remove(0) } else { a.clone() };
        prop_assert!(!got.shares_storage(&a));
        for (x, b) in each(&ctx, &got).iter().zip(each(&ctx, &base)) {
            let exact = (0..power.abs()).fold(Dense::eye(n), |p, _| p.times(&b));
            x.assert_near(&exact, 1e-3 * (1.0 + exact.greatest()), "power");
        }
    }

    #[test]
    fn chains(sizes in prop::collection::vec(1i64..6, 3..7), (first, last) in any::<(bool, bool)>(), dtype in 0usize..5, seed: u64) {
        let ctx = ctx(1);
        let dtype = DType::ALL[[0, 1, 4, 5, 8][dtype]];
        let n = sizes.len() - 1;
        let all: Vec<Tensor> = (0..n).map(|i| {
            let shape = [sizes[i], sizes[i + 1]];
            let shape = match i {
                0 if first => &shape[1..],
                i if i == n - 1 && last => &shape[..1],
                _ => &shape[..],
            };
            whole(&ctx, dtype, shape, seed.wrapping_add(i as u64))
        }).collect();
        let operands: Vec<&Tensor> = all.iter().collect();
        let got = run(&ctx, MultiDot, &operands, &[]).remove(0);
        let terms: Vec<String> = (0..n).map(|i| {
            let name = |k: usize| char::from(b'a' + k as u8);
            let mut term = format!("{}{}", name(i), name(i + 1));
            if i == 0 && first { term.remove(0); }
            if i == n - 1 && last { term.pop(); }
            term
        }).collect();
        let words: Vec<&str> = terms.iter().map(String::as_str).collect();
        let end = char::from(b'a' + n as u8);
        let output: String = [(!first).then_some('a'), (!last).then_some(end)].into_iter().flatten().collect();
        let exact = naive(&ctx, &words, &output, &operands);
        prop_assert_eq!(got.rank(), output.len());
        for (x, y) in values(&ctx, &got).iter().zip(exact) {
            let y = if dtype == DType::U8 { (y as i64).rem_euclid(256) as f64 } else { y };
            prop_assert!(*x == y || y.abs() > 1e7 && dtype == DType::F32, "{x} for {y}");
        }
    }
}

/// Ellipses: dimensions without names, which broadcast.
#[test]
fn ellipses() {
    let ctx = ctx(1);
    let t = |shape: &[i64], seed| whole(&ctx, DType::F64, shape, seed);
    let (a, b) = (t(&[2, 1, 3, 4], 1), t(&[5, 4, 2], 2));
    let got = einsum(&ctx, "...ij,...jk->...ik", &[&a, &b]).unwrap();
    assert_eq!(got.shape(), &[2, 5, 3, 2]);
    let wide = b.with_layout("test", b.layout().unsqueeze(0)).unwrap();
    let exact = naive(&ctx, &["xyij", "xyjk"], "xyik", &[&a, &wide]);
    assert_eq!(values(&ctx, &got), exact);
    let got = einsum(&ctx, "...ij,...jk", &[&a, &b]).unwrap();
    assert_eq!((got.shape(), values(&ctx, &got)), (&[2i64, 5, 3, 2][..], exact));
    let got = einsum(&ctx, "i...->...i", &[&b]).unwrap();
    assert_eq!(got.shape(), &[4, 2, 5]);
    assert!(got.shares_storage(&b));
    assert_eq!(
        values(&ctx, &einsum(&ctx, "...->", &[&b]).unwrap()),
        [values(&ctx, &b).iter().sum::<f64>()]
    );
    let square = t(&[2, 3, 3], 3);
    let got = einsum(&ctx, "...ii->...i", &[&square]).unwrap();
    assert!(got.shape() == [2, 3] && got.shares_storage(&square));
    assert_eq!(einsum(&ctx, "ii", &[&t(&[3, 3], 4)]).unwrap().rank(), 0);
    assert_eq!(einsum(&ctx, "...,...", &[&a, &t(&[4], 5)]).unwrap().shape(), a.shape());
}

#[test]
fn equations_that_are_refused() {
    let ctx = ctx(1);
    let m = tensor(&ctx, DType::F32, &[2, 3], &[0.0; 6]);
    for (equation, count, why) in [
        ("ij,jk", 1, "2 terms for 1 operands"),
        ("ij", 2, "1 terms for 2 operands"),
        ("ijk", 1, "operand 0 has 2 dimensions for \"ijk\""),
        ("i", 1, "operand 0 has 2 dimensions"),
        ("ijk...", 1, "operand 0 has 2 dimensions"),
        ("ij->ik", 1, "'k' of the result is in no operand"),
        ("ij->ii", 1, "'i' is twice in the result"),
        ("ii", 1, "'i' names sizes 2 and 3 of operand 0"),
        ("ij,ji", 2, "'j' names sizes 3 and 2"),
        ("i$", 1, "'$' is no letter"),
        ("i.j", 1, "'.' is no letter"),
        ("......", 1, "a term has two ellipses"),
        ("ij->i->j", 1, "'-' is no letter"),
        ("", 1, "operand 0 has 2 dimensions for \"\""),
    ] {
        let operands: Vec<&Tensor> = vec![&m; count];
        let e = einsum(&ctx, equation, &operands).unwrap_err();
        assert!(
            matches!(e.kind(), Kind::Shape { .. }) && e.to_string().contains(why),
            "{equation}: {e}"
        );
    }
    assert!(matches!(einsum(&ctx, "", &[]).as_ref().map_err(Error::kind), Err(Kind::Shape { .. })));
    let other = tensor(&ctx, DType::F64, &[2, 3], &[0.0; 6]);
    assert!(matches!(
        einsum(&ctx, "ij,ij", &[&m, &other]).as_ref().map_err(Error::kind),
        Err(Kind::DType { .. })
    ));
}

#[test]
fn products_that_are_refused() {
    let ctx = ctx(1);
    let f = |shape: &[i64]| {
        tensor(&ctx, DType::F32, shape, &vec![0.0; shape.iter().product::<i64>() as usize])
    };
    let shape =
        |e: Error| assert!(matches!(e.kind(), Kind::Shape { .. } | Kind::Index { .. }), "{e}");
    shape(fault(&ctx, Tensordot, &[&f(&[2, 3]), &f(&[2, 3])], &[1, 1, 0]));
    shape(fault(&ctx, Tensordot, &[&f(&[2, 3]), &f(&[2, 3])], &[2, 0, 0, 0, 1]));
    shape(fault(&ctx, Tensordot, &[&f(&[2, 3]), &f(&[2, 3])], &[1, 5, 0]));
    shape(fault(&ctx, Tensorinv, &[&f(&[2, 3])], &[1]));
    shape(fault(&ctx, Tensorinv, &[&f(&[2, 2])], &[0]));
    shape(fault(&ctx, Tensorinv, &[&f(&[2, 2])], &[-1]));
    shape(fault(&ctx, Tensorsolve, &[&f(&[2, 3]), &f(&[2])], &[]));
    shape(fault(&ctx, Tensorsolve, &[&f(&[2]), &f(&[2, 3, 4])], &[]));
    shape(fault(&ctx, Cross, &[&f(&[2, 3]), &f(&[2, 3])], &[0]));
    shape(fault(&ctx, Cross, &[&f(&[2, 3]), &f(&[3])], &[-1]));
    shape(fault(&ctx, Cross, &[&f(&[2, 3]), &f(&[2, 3])], &[7]));
    shape(fault(&ctx, Kron, &[&f(&[1; 9]), &f(&[1; 9])], &[]));
    shape(fault(&ctx, MultiDot, &[&f(&[2, 3])], &[]));
    shape(fault(&ctx, MultiDot, &[&f(&[2, 3]), &f(&[2, 3])], &[]));
    shape(fault(&ctx, MultiDot, &[&f(&[3]), &f(&[3]), &f(&[3])], &[]));
    shape(fault(&ctx, MatrixPower, &[&f(&[2, 3])], &[2]));
    shape(linalg(&ctx, Cdist, &[&f(&[2, 3]), &f(&[2, 4])], &[], &[2.0]).unwrap_err());
    shape(linalg(&ctx, Cdist, &[&f(&[2, 3]), &f(&[2, 3])], &[], &[-1.0]).unwrap_err());
    let singular = fault(&ctx, MatrixPower, &[&f(&[2, 2])], &[-1]);
    assert!(matches!(singular.kind(), Kind::Linalg { .. }));
    let whole = tensor(&ctx, DType::I64, &[2, 2], &[1.0, 1.0, 1.0, 0.0]);
    assert!(matches!(fault(&ctx, MatrixPower, &[&whole], &[-1]).kind(), Kind::DType { .. }));
    assert_eq!(
        values(&ctx, &run(&ctx, MatrixPower, &[&whole], &[10])[0]),
        [89.0, 55.0, 55.0, 34.0]
    );
}

/// A dimension of size 1 meets any.
#[test]
fn tensordot_stretches() {
    let ctx = ctx(1);
    let a = tensor(&ctx, DType::F64, &[2, 1], &[2.0, 3.0]);
    let b = tensor(&ctx, DType::F64, &[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let got = run(&ctx, Tensordot, &[&a, &b], &[1, 1, 0]).remove(0);
    assert_eq!((got.shape(), values(&ctx, &got)), (&[2i64, 2][..], vec![18.0, 24.0, 27.0, 36.0]));
}

#[test]
fn tensor_systems() {
    let ctx = ctx(1);
    let mut rng = Numbers(3);
    let mut data = rng.list(36);
    (0..6).for_each(|i| data[i * 7] += 4.0);
    let a = tensor(&ctx, DType::F64, &[2, 3, 2, 3], &data);
    let b = tensor(&ctx, DType::F64, &[2, 3], &rng.list(6));
    let x = run(&ctx, Tensorsolve, &[&a, &b], &[]).remove(0);
    let back = run(&ctx, Tensordot, &[&a, &x], &[2, 2, 3, 0, 1]).remove(0);
    for (p, q) in values(&ctx, &back).iter().zip(values(&ctx, &b)) {
        assert!((p - q).abs() < 1e-12);
    }
    let inverse = run(&ctx, Tensorinv, &[&a], &[2]).remove(0);
    let again = run(&ctx, Tensordot, &[&inverse, &b], &[2, 2, 3, 0, 1]).remove(0);
    for (p, q) in values(&ctx, &again).iter().zip(values(&ctx, &x)) {
        assert!((p - q).abs() < 1e-12);
    }
    let moved = a.with_layout("test", a.layout().permute(&[2, 0, 1, 3])).unwrap();
    let same = run(&ctx, Tensorsolve, &[&moved, &b], &[0, 3]).remove(0);
    assert_eq!(values(&ctx, &same), values(&ctx, &x));
}
