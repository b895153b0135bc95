//! Matrix products against a plain triple loop, over random shapes, layouts and dtypes.

mod common;

use common::{tensor, values};
use proptest::prelude::*;
use wick_core::kernels::elementwise::Scalar;
use wick_core::{DType, Layout};
use wick_runtime::error::Kind;
use wick_runtime::ops::elementwise::{Out, cast};
use wick_runtime::ops::matmul::{AddmmOp, MatmulOp, addmm, matmul};
use wick_runtime::{Context, Tensor};

fn context() -> Context {
    Context::new(1 << 30, 2)
}

/// Numbers that are the same for the same seed.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % below
    }
}

/// Small whole numbers seen through a random layout: dense, offset, stepped, permuted, expanded.
fn view(ctx: &Context, dtype: DType, shape: &[i64], rng: &mut Numbers) -> Tensor {
    let rank = shape.len();
    let mut order: Vec<usize> = (0..rank).collect();
    if rng.next(2) == 0 {
        for i in (1..rank).rev() {
            order.swap(i, rng.next(i as u64 + 1) as usize);
        }
    }
    let gaps = rng.next(3) == 0;
    let (mut strides, mut stride) = (vec![0; rank], 1);
    for &d in order.iter().rev() {
        if rng.next(8) == 0 {
            continue; // every element of this dimension is the same one
        }
        if gaps {
            stride *= 1 + rng.next(2) as i64;
        }
        strides[d] = stride;
        stride *= shape[d].max(1);
    }
    let offset = rng.next(4) as i64;
    let layout = Layout::strided(shape, &strides, offset);
    let size = layout.unwrap().span().unwrap().max(1);
    let least = if dtype == DType::U8 { 0.0 } else { -4.0 };
    let data: Vec<f64> = (0..size).map(|_| rng.next(9) as f64 + least).collect();
    tensor(ctx, dtype, &[size], &data).with_layout("test", layout).unwrap()
}

/// What an integer type makes of a whole number, and a float type of a value.
fn rounded(ctx: &Context, dtype: DType, shape: &[i64], exact: &[f64]) -> Vec<f64> {
    let wide = tensor(ctx, DType::F64, shape, exact);
    let from = if dtype.is_float() { wide } else { cast(ctx, &wide, DType::I64).unwrap() };
    values(ctx, &cast(ctx, &from, dtype).unwrap())
}

/// alpha * a b + beta * c by three loops, for dense a [batch, m, k], b [batch, k, n].
fn naive(a: &[f64], b: &[f64], (batch, m, n, k): (usize, usize, usize, usize)) -> Vec<f64> {
    let mut out = vec![0.0; batch * m * n];
    for (place, sum) in out.iter_mut().enumerate() {
        let (i, j, z) = (place / n % m, place % n, place / n / m);
        *sum = (0..k).map(|t| a[(z * m + i) * k + t] * b[(z * k + t) * n + j]).sum();
    }
    out
}

const DTYPES: [DType; 9] = [
    DType::F64,
    DType::F32,
    DType::F16,
    DType::BF16,
    DType::I64,
    DType::I32,
    DType::I16,
    DType::I8,
    DType::U8,
];

fn size() -> impl Strategy<Value = i64> {
    prop_oneof![4 => 0..6i64, 4 => 1..20i64, 1 => 20..90i64]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn products_of_matrices(dtype in 0..9usize, m in size(), n in size(), k in size(), seed: u64) {
        let (ctx, dtype, mut rng) = (context(), DTYPES[dtype], Numbers(seed));
        let (a, b) = (view(&ctx, dtype, &[m, k], &mut rng), view(&ctx, dtype, &[k, n], &mut rng));
        let got = matmul(&ctx, MatmulOp::Mm, &a, &b, None).unwrap().unwrap();
        let sizes = (1, m as usize, n as usize, k as usize);
        let exact = naive(&values(&ctx, &a), &values(&ctx, &b), sizes);
        prop_assert_eq!(got.shape(), &[m, n]);
        prop_assert_eq!(got.dtype(), dtype);
        prop_assert_eq!(values(&ctx, &got), rounded(&ctx, dtype, &[m, n], &exact));

        // Into a target of any layout without overlap, and nowhere beside it.
        let whole = tensor(&ctx, dtype, &[2 * m + 1, 2 * n + 1], &vec![7.0; ((2 * m + 1) * (2 * n + 1)) as usize]);
        let layout = whole.layout().slice(0, 1, i64::MAX, 2).and_then(|l| l.slice(1, 1, i64::MAX, 2)).unwrap();
        let target = whole.with_layout("test", Ok(layout)).unwrap();
        let (target, a, b) = if seed.is_multiple_of(2) {
            let t = |x: &Tensor| x.with_layout("test", x.layout().transpose(0, 1)).unwrap();
            (t(&target), t(&b), t(&a))
        } else {
            (target, a, b)
        };
        prop_assert!(matmul(&ctx, MatmulOp::Mm, &a, &b, Some(&target)).unwrap().is_none());
        let mut wanted = values(&ctx, &got);
        if seed.is_multiple_of(2) {
            wanted = values(&ctx, &got.with_layout("test", got.layout().transpose(0, 1)).unwrap());
        }
        prop_assert_eq!(values(&ctx, &target), wanted);
        let sevens = values(&ctx, &whole).iter().filter(|v| **v == 7.0).count();
        let written = values(&ctx, &target).iter().filter(|v| **v == 7.0).count();
        prop_assert_eq!(sevens, ((2 * m + 1) * (2 * n + 1) - m * n) as usize + written);
    }

    #[test]
    fn batches_broadcast(
        dtype in 0..9usize,
        batch in prop::collection::vec((0..4i64, 0..3u8), 0..4),
        (m, n, k) in (1..10i64, 1..10i64, 0..10i64),
        (row, col) in (prop::bool::weighted(0.8), prop::bool::weighted(0.8)),
        seed: u64,
    ) {
        // BR-106: each batch dimension may be missing a size, or one, on either side.
        let (ctx, dtype, mut rng) = (context(), DTYPES[dtype], Numbers(seed));
        let one = |side: u8| batch.iter().map(|(s, w)| if *w == side { 1 } else { *s }).collect::<Vec<_>>();
        let a_batch = if row { one(1) } else { vec![] };
        let b_batch = if col { one(2) } else { vec![] };
        let (mk, kn) = ([m, k], [k, n]);
        let a_shape = [&a_batch[..], &mk[usize::from(!row)..]].concat();
        let b_shape = [&b_batch[..], &kn[..1 + usize::from(col)]].concat();
        let (a, b) = (view(&ctx, dtype, &a_shape, &mut rng), view(&ctx, dtype, &b_shape, &mut rng));
        let got = matmul(&ctx, MatmulOp::Matmul, &a, &b, None).unwrap().unwrap();

        let full: Vec<i64> = match (row, col) {
            (true, true) => batch.iter().map(|(s, _)| *s).collect(),
            (true, false) => a_batch,
            _ => b_batch,
        };
        let matrices = |t: &Tensor, rows: i64, cols: i64, plain: bool, at: i64| {
            let t = if plain { t.clone() } else { t.with_layout("test", t.layout().unsqueeze(at)).unwrap() };
            let shape = [&full[..], &[rows, cols]].concat();
            values(&ctx, &t.with_layout("test", t.layout().expand(&shape)).unwrap())
        };
        let (rows, cols) = (if row { m } else { 1 }, if col { n } else { 1 });
        let count: i64 = full.iter().product();
        let sizes = (count as usize, rows as usize, cols as usize, k as usize);
        let exact = naive(&matrices(&a, rows, k, row, 0), &matrices(&b, k, cols, col, 1), sizes);
        let mut shape = full.clone();
        shape.extend([m].iter().filter(|_| row));
        shape.extend([n].iter().filter(|_| col));
        prop_assert_eq!(got.shape(), &shape[..]);
        prop_assert_eq!(values(&ctx, &got), rounded(&ctx, dtype, &shape, &exact));
    }

    #[test]
    fn sums_with_a_product(
        dtype in 0..9usize,
        (batch, m, n, k) in (0..4i64, size(), size(), size()),
        (alpha, beta) in (-2..3i64, -2..3i64),
        (batched, narrow, place) in (any::<bool>(), 0..4u8, 0..3u8),
        seed: u64,
    ) {
        let (ctx, dtype, mut rng) = (context(), DTYPES[dtype], Numbers(seed));
        let head: &[i64] = if batched { &[batch] } else { &[] };
        let shape = [head, &[m, n]].concat();
        let a = view(&ctx, dtype, &[head, &[m, k]].concat(), &mut rng);
        let b = view(&ctx, dtype, &[head, &[k, n]].concat(), &mut rng);
        let c_shape: Vec<i64> = match narrow {
            0 if place != 1 => vec![n],
            1 if place != 1 => vec![m, 1],
            _ => shape.clone(),
        };
        let mut c = view(&ctx, dtype, &c_shape, &mut rng);
        if place == 1 {
            c = tensor(&ctx, dtype, &shape, &values(&ctx, &c)); // elements must lie apart
        }
        let stretched = values(&ctx, &c.with_layout("test", c.layout().expand(&shape)).unwrap());
        let out = tensor(&ctx, dtype, &shape, &vec![1.0; stretched.len()]);
        let how = match place {
            0 => Out::New,
            1 => Out::InPlace,
            _ => Out::Into(&out),
        };
        let op = if batched { AddmmOp::Baddbmm } else { AddmmOp::Addmm };
        let factors = if seed.is_multiple_of(2) {
            (Scalar::Int(beta), Scalar::Int(alpha))
        } else {
            (Scalar::Float(beta as f64), Scalar::Float(alpha as f64))
        };
        let count = if batched { batch } else { 1 };
        let sizes = (count as usize, m as usize, n as usize, k as usize);
        let mut exact = naive(&values(&ctx, &a), &values(&ctx, &b), sizes);
        for (x, c) in exact.iter_mut().zip(&stretched) {
            *x = alpha as f64 * *x + beta as f64 * c;
        }
        let new = addmm(&ctx, op, &c, &a, &b, factors.0, factors.1, how).unwrap();
        let got = new.unwrap_or(if place == 1 { c } else { out });
        prop_assert_eq!(got.shape(), &shape[..]);
        prop_assert_eq!(values(&ctx, &got), rounded(&ctx, dtype, &shape, &exact));
    }

    #[test]
    fn inner_and_outer(
        dtype in 0..9usize,
        x in prop::collection::vec(0..4i64, 0..3),
        y in prop::collection::vec(0..4i64, 0..3),
        k in 0..30i64,
        seed: u64,
    ) {
        let (ctx, dtype, mut rng) = (context(), DTYPES[dtype], Numbers(seed));
        let a = view(&ctx, dtype, &[&x[..], &[k]].concat(), &mut rng);
        let b = view(&ctx, dtype, &[&y[..], &[k]].concat(), &mut rng);
        let got = matmul(&ctx, MatmulOp::Inner, &a, &b, None).unwrap().unwrap();
        let (m, n) = (x.iter().product::<i64>(), y.iter().product::<i64>());
        let (av, bv) = (values(&ctx, &a), values(&ctx, &b));
        let (k, n) = (k as usize, n as usize);
        let exact: Vec<f64> = (0..m as usize * n)
            .map(|p| (0..k).map(|t| av[p / n * k + t] * bv[p % n * k + t]).sum())
            .collect();
        let shape = [&x[..], &y[..]].concat();
        prop_assert_eq!(got.shape(), &shape[..]);
        prop_assert_eq!(values(&ctx, &got), rounded(&ctx, dtype, &shape, &exact));

        let (u, v) = (view(&ctx, dtype, &[m], &mut rng), view(&ctx, dtype, &[k as i64], &mut rng));
        let got = matmul(&ctx, MatmulOp::Outer, &u, &v, None).unwrap().unwrap();
        let (uv, vv) = (values(&ctx, &u), values(&ctx, &v));
        let exact: Vec<f64> = uv.iter().flat_map(|u| vv.iter().map(move |v| u * v)).collect();
        prop_assert_eq!(got.shape(), &[m, k as i64]);
        prop_assert_eq!(values(&ctx, &got), exact);
    }
}

/// BR-104: every small size, both operands plain and transposed.
#[test]
fn every_small_size() {
    let ctx = context();
    let mut rng = Numbers(1);
    for dtype in [DType::F32, DType::F64, DType::BF16, DType::I32] {
        for size in 0..9 * 9 * 9 * 4 {
            let (m, n, k) = (size % 9 + 1, size / 9 % 9 + 1, size / 81 % 9 + 1);
            let (left, right) = (size / 729 % 2 == 1, size / 1458 == 1);
            let mut make = |rows: i64, cols: i64, turned: bool| {
                let shape = if turned { [cols, rows] } else { [rows, cols] };
                let data: Vec<f64> = (0..rows * cols).map(|_| rng.next(9) as f64 - 4.0).collect();
                let t = tensor(&ctx, dtype, &shape, &data);
                let layout = if turned { t.layout().transpose(0, 1) } else { Ok(*t.layout()) };
                t.with_layout("test", layout).unwrap()
            };
            let (a, b) = (make(m, k, left), make(k, n, right));
            let got = matmul(&ctx, MatmulOp::Mm, &a, &b, None).unwrap().unwrap();
            let exact = naive(
                &values(&ctx, &a),
                &values(&ctx, &b),
                (1, m as usize, n as usize, k as usize),
            );
            assert_eq!(values(&ctx, &got), exact, "{dtype} {m} {n} {k} {left} {right}");
        }
    }
}

/// Bits do not depend on the number of threads, nor do they on how often a product is made.
#[test]
fn same_bits_for_any_number_of_threads() {
    let ctx = context();
    let mut rng = Numbers(3);
    let mut fractions = |shape: &[i64], dtype: DType| {
        let size = shape.iter().product::<i64>();
        let data: Vec<f64> = (0..size).map(|_| rng.next(1 << 20) as f64 / 1e6 - 0.5).collect();
        tensor(&ctx, dtype, shape, &data)
    };
    let shapes: [(&[i64], &[i64]); 7] = [
        (&[300, 200], &[200, 400]),
        (&[1100, 30], &[30, 70]),
        (&[700, 500], &[500, 1]),
        (&[1, 500], &[500, 700]),
        (&[1, 300_000], &[300_000, 1]),
        (&[20, 40, 50], &[20, 50, 60]),
        (&[300, 10, 12], &[300, 12, 1]),
    ];
    for (x, y) in shapes {
        for dtype in [DType::F32, DType::F64, DType::F16] {
            let (a, b) = (fractions(x, dtype), fractions(y, dtype));
            let mut seen: Option<Vec<f64>> = None;
            for threads in [1, 2, 3, 7] {
                ctx.set_threads(threads);
                let got =
                    values(&ctx, &matmul(&ctx, MatmulOp::Matmul, &a, &b, None).unwrap().unwrap());
                let first = seen.get_or_insert_with(|| got.clone());
                assert!(
                    got.iter().zip(&*first).all(|(p, q)| p.to_bits() == q.to_bits()),
                    "{x:?} {dtype}"
                );
            }
            if x.len() == 2 {
                let sizes = (1, x[0] as usize, y[1] as usize, x[1] as usize);
                let exact = naive(&values(&ctx, &a), &values(&ctx, &b), sizes);
                let close = if dtype == DType::F16 { 2e-2 } else { 1e-3 };
                for (p, q) in seen.unwrap().iter().zip(&exact) {
                    assert!((p - q).abs() <= close * (1.0 + q.abs()), "{x:?} {dtype}: {p} for {q}");
                }
            }
        }
    }
}

/// BR-162: nothing to sum gives zeros, or the scaled addend; its NaN does not spread at beta 0.
#[test]
fn nothing_to_sum() {
    let ctx = context();
    let full = |shape: &[i64], v: f64| {
        tensor(&ctx, DType::F32, shape, &vec![v; shape.iter().product::<i64>() as usize])
    };
    let (a, b, c) = (full(&[3, 0], 0.0), full(&[0, 2], 0.0), full(&[3, 2], 1.0));
    let int = Scalar::Int;
    let sum = |c: &Tensor, a: &Tensor, b: &Tensor, beta, alpha| {
        values(&ctx, &addmm(&ctx, AddmmOp::Addmm, c, a, b, beta, alpha, Out::New).unwrap().unwrap())
    };
    assert_eq!(sum(&c, &a, &b, int(3), int(1)), [3.0; 6]);
    assert_eq!(sum(&c, &a, &b, int(3), Scalar::Float(f64::INFINITY)), [3.0; 6]);
    let product = matmul(&ctx, MatmulOp::Mm, &full(&[2, 0], 0.0), &full(&[0, 3], 0.0), None);
    assert_eq!(values(&ctx, &product.unwrap().unwrap()), [0.0; 6]);
    let product = matmul(&ctx, MatmulOp::Bmm, &full(&[2, 2, 0], 0.0), &full(&[2, 0, 4], 0.0), None);
    assert_eq!(values(&ctx, &product.unwrap().unwrap()), [0.0; 16]);
    for size in [2, 20, 40] {
        let (nan, ones) = (full(&[size, size], f64::NAN), full(&[size, size], 1.0));
        let sizes = (size * size) as usize;
        assert_eq!(sum(&nan, &ones, &ones, int(0), int(2)), vec![2.0 * size as f64; sizes]);
        assert_eq!(sum(&ones, &nan, &nan, int(5), int(0)), vec![5.0; sizes]);
        assert!(sum(&ones, &nan, &ones, int(1), int(1)).iter().all(|v| v.is_nan()));
    }
}

#[test]
fn integers_wrap() {
    let ctx = context();
    for n in [2, 50] {
        let a = tensor(&ctx, DType::I8, &[n, n], &vec![100.0; (n * n) as usize]);
        let got = values(&ctx, &matmul(&ctx, MatmulOp::Mm, &a, &a, None).unwrap().unwrap());
        assert_eq!(got, vec![f64::from((10_000 * n) as i8); (n * n) as usize]);
    }
}

#[test]
fn what_is_refused() {
    let ctx = context();
    let zeros = |dtype, shape: &[i64]| {
        tensor(&ctx, dtype, shape, &vec![0.0; shape.iter().product::<i64>() as usize])
    };
    let f = |shape: &[i64]| zeros(DType::F32, shape);
    let message = |op, a: &Tensor, b: &Tensor| matmul(&ctx, op, a, b, None).unwrap_err();
    let shape = |op, a: &[i64], b: &[i64]| {
        let e = message(op, &f(a), &f(b));
        assert!(matches!(e.kind(), Kind::Shape { .. }), "{e}");
        e.to_string()
    };
    assert_eq!(
        shape(MatmulOp::Mm, &[2, 3], &[2, 3]),
        "mm: f32 [2, 3] and f32 [2, 3]: the numbers of columns of the first and rows of the second must be equal, not 3 and 2"
    );
    shape(MatmulOp::Mm, &[2], &[2, 3]);
    shape(MatmulOp::Dot, &[2], &[3]);
    shape(MatmulOp::Dot, &[2, 1], &[2]);
    shape(MatmulOp::Bmm, &[2, 3, 4], &[3, 4, 2]);
    shape(MatmulOp::Bmm, &[2, 3, 4], &[1, 4, 2]);
    shape(MatmulOp::Matmul, &[], &[3]);
    shape(MatmulOp::Matmul, &[2, 3, 4], &[3, 4, 2]);
    shape(MatmulOp::Mv, &[2, 3], &[2]);
    shape(MatmulOp::Inner, &[2, 3], &[3, 2]);
    shape(MatmulOp::Outer, &[2, 3], &[3]);
    for (x, y) in [(DType::F32, DType::F64), (DType::Bool, DType::Bool), (DType::I32, DType::I64)] {
        let e = message(MatmulOp::Mm, &zeros(x, &[2, 2]), &zeros(y, &[2, 2]));
        assert!(matches!(e.kind(), Kind::DType { .. }), "{e}");
    }

    // Targets: another shape, another dtype, elements that are one, elements that are read.
    let a = f(&[2, 2]);
    let into =
        |t: &Tensor| matmul(&ctx, MatmulOp::Mm, &a, &f(&[2, 2]), Some(t)).unwrap_err().to_string();
    assert!(into(&f(&[2, 3])).contains("shape"));
    assert!(into(&zeros(DType::F64, &[2, 2])).contains("target of that type"));
    let one = f(&[1, 2]);
    assert!(
        into(&one.with_layout("test", one.layout().expand(&[2, 2])).unwrap())
            .contains("share a place")
    );
    assert!(into(&a).contains("overlaps"));
    assert!(into(&a.with_layout("test", a.layout().transpose(0, 1)).unwrap()).contains("overlaps"));

    let sum = |c: &Tensor, a: &Tensor, out: Out, alpha| {
        addmm(&ctx, AddmmOp::Addmm, c, a, &f(&[2, 2]), Scalar::Int(1), alpha, out)
    };
    let one = Scalar::Int(1);
    assert!(
        matches!(sum(&f(&[3]), &a, Out::New, one), Err(e) if matches!(e.kind(), Kind::Shape { .. }))
    );
    assert!(
        matches!(sum(&f(&[2]), &a, Out::InPlace, one), Err(e) if matches!(e.kind(), Kind::Shape { .. }))
    );
    assert!(
        matches!(sum(&a, &a, Out::InPlace, one), Err(e) if matches!(e.kind(), Kind::Shape { .. }))
    );
    assert!(
        matches!(sum(&zeros(DType::F64, &[2]), &a, Out::New, one), Err(e) if matches!(e.kind(), Kind::DType { .. }))
    );
    let turned = a.with_layout("test", a.layout().transpose(0, 1)).unwrap();
    assert!(
        matches!(sum(&turned, &f(&[2, 2]), Out::Into(&a), one), Err(e) if matches!(e.kind(), Kind::Shape { .. }))
    );
    let whole = zeros(DType::I32, &[2, 2]);
    let half = Scalar::Float(0.5);
    assert!(matches!(
        addmm(&ctx, AddmmOp::Addmm, &whole, &whole, &whole, one, half, Out::New),
        Err(e) if matches!(e.kind(), Kind::DType { .. })
    ));
}
