//! Sparse tensors against dense ones, all dtypes.

mod common;

use common::{ctx, dtypes, tensor, values};
use proptest::prelude::*;
use wick_core::DType;
use wick_core::kernels::elementwise::Scalar;
use wick_core::kernels::reduce::ReduceOp;
use wick_core::ops::{BinaryOp, UnaryOp};
use wick_runtime::error::Kind;
use wick_runtime::ops::elementwise::{self, Out};
use wick_runtime::ops::matmul::{self, AddmmOp, MatmulOp};
use wick_runtime::ops::promote::Arg;
use wick_runtime::ops::reduce::{self, Over};
use wick_runtime::ops::shape::{ShapeOp, apply};
use wick_runtime::ops::sparse::{self, Coo, Summed};
use wick_runtime::{Context, Result, Tensor};

/// A sparse tensor as data: shape, how many dimensions are sparse, coordinates, values.
#[derive(Clone, Debug)]
struct Case {
    dtype: DType,
    shape: Vec<i64>,
    sparse: usize,
    coordinates: Vec<Vec<i64>>,
    values: Vec<f64>,
}

impl Case {
    fn columns(&self) -> usize {
        self.shape[self.sparse..].iter().product::<i64>() as usize
    }

    fn make(&self, ctx: &Context) -> Coo {
        let n = self.coordinates.len();
        let rows: Vec<f64> = (0..self.sparse)
            .flat_map(|d| self.coordinates.iter().map(move |c| c[d] as f64))
            .collect();
        let indices = tensor(ctx, DType::I64, &[self.sparse as i64, n as i64], &rows);
        let shape = [&[n as i64], &self.shape[self.sparse..]].concat();
        let values = tensor(ctx, self.dtype, &shape, &self.values);
        Coo::new(ctx, &indices, &values, &self.shape).unwrap()
    }

    /// All elements, by the definition.
    fn dense(&self) -> Vec<f64> {
        let columns = self.columns();
        let rows: i64 = self.shape[..self.sparse].iter().product();
        let mut out = vec![0.0; rows as usize * columns];
        for (k, c) in self.coordinates.iter().enumerate() {
            let row = c.iter().zip(&self.shape).fold(0, |n, (i, size)| n * size + i) as usize;
            for j in 0..columns {
                let sum = out[row * columns + j] + self.values[k * columns + j];
                out[row * columns + j] =
                    if self.dtype == DType::Bool { (sum != 0.0) as u8 as f64 } else { sum };
            }
        }
        out
    }

    fn dense_tensor(&self, ctx: &Context) -> Tensor {
        tensor(ctx, self.dtype, &self.shape, &self.dense())
    }
}

/// A value that all dtypes hold exactly, as sums of a few do.
fn value(dtype: DType, bits: u64) -> f64 {
    match dtype {
        DType::Bool => (bits % 2) as f64,
        DType::U8 => (bits % 4) as f64,
        _ => (bits % 7) as f64 - 3.0,
    }
}

fn filled(dtype: DType, shape: Vec<i64>, sparse: usize, n: usize, seed: u64) -> Case {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state >> 33
    };
    let n = if shape[..sparse].contains(&0) { 0 } else { n };
    let coordinates =
        (0..n).map(|_| shape[..sparse].iter().map(|s| next() as i64 % s).collect()).collect();
    let columns = shape[sparse..].iter().product::<i64>() as usize;
    let values = (0..n * columns).map(|_| value(dtype, next())).collect();
    Case { dtype, shape, sparse, coordinates, values }
}

fn cases() -> impl Strategy<Value = Case> {
    let shape = proptest::collection::vec(0i64..5, 0..4);
    (dtypes(), shape, 0usize..4, 0usize..12, any::<u64>()).prop_map(|(dtype, shape, s, n, seed)| {
        let sparse = s.min(shape.len());
        filled(dtype, shape, sparse, n, seed)
    })
}

/// Matrices, both of their dimensions sparse.
fn matrices() -> impl Strategy<Value = (Case, i64, u64)> {
    let dtype = dtypes().prop_filter("products of bool", |d| *d != DType::Bool);
    (dtype, 0i64..6, 0i64..6, 0i64..5, 0usize..14, any::<u64>()).prop_map(
        |(dtype, n, k, m, count, seed)| (filled(dtype, vec![n, k], 2, count, seed), m, seed),
    )
}

fn check(ctx: &Context, got: &Coo, shape: &[i64], want: &[f64]) {
    let dense = got.to_dense(ctx).unwrap();
    assert_eq!(got.shape(), shape);
    assert_eq!(dense.shape(), shape);
    assert_eq!(values(ctx, &dense), want);
    if got.is_coalesced() {
        let n = got.count() as usize;
        let rows = values(ctx, &got.indices(ctx).unwrap());
        let at =
            |k: usize| -> Vec<f64> { (0..got.sparse_dims()).map(|d| rows[d * n + k]).collect() };
        assert!((1..n).all(|k| at(k - 1) < at(k)), "coordinates in order, each once");
    }
}

fn ref_binary(ctx: &Context, op: BinaryOp, a: &Tensor, b: &Tensor, alpha: Scalar) -> Tensor {
    let args = (Arg::Tensor(a), Arg::Tensor(b));
    elementwise::binary(ctx, op, &[args.0, args.1], Some(alpha), Out::New).unwrap().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn dense_and_back(case in cases()) {
        let ctx = ctx(2);
        let live = ctx.allocator().memory().live;
        {
            let (s, want) = (case.make(&ctx), case.dense());
            check(&ctx, &s, &case.shape, &want);
            prop_assert_eq!(s.count() as usize, case.coordinates.len());
            let c = s.coalesce(&ctx).unwrap();
            check(&ctx, &c, &case.shape, &want);
            let mut different = case.coordinates.clone();
            different.sort();
            different.dedup();
            prop_assert!(c.is_coalesced());
            prop_assert_eq!(c.count() as usize, different.len());
            check(&ctx, &c.zeros_like(&ctx).unwrap(), &case.shape, &vec![0.0; want.len()]);
            let dense = case.dense_tensor(&ctx);
            for d in 0..=case.shape.len() {
                let back = Coo::from_dense(&ctx, &dense, d as i64).unwrap();
                check(&ctx, &back, &case.shape, &want);
                prop_assert!(back.is_coalesced() && back.sparse_dims() == d);
            }
            let masked = s.mask(&ctx, "mask", &dense).unwrap();
            check(&ctx, &masked, &case.shape, &want);
        }
        prop_assert_eq!(ctx.allocator().memory().live, live);
    }

    #[test]
    fn transposed(case in cases(), p in -4i64..4, q in -4i64..4) {
        let ctx = ctx(1);
        let (s, dense) = (case.make(&ctx), case.dense_tensor(&ctx));
        let rank = case.shape.len() as i64;
        let wrap = |d: i64| if d < 0 { d + rank.max(1) } else { d };
        let side = |d: i64| wrap(d) < case.sparse as i64;
        let want = apply(&ctx, ShapeOp::Transpose, &dense, &[p, q]);
        match (sparse::transpose(&ctx, &s, p, q), want) {
            (Ok(got), Ok(want)) => {
                let want = want.unwrap();
                check(&ctx, &got, want.shape(), &values(&ctx, &want));
            }
            (Err(e), Ok(_)) => {
                prop_assert!(side(p) != side(q));
                let shape_error = matches!(e.kind(), Kind::Shape { .. });
                prop_assert!(shape_error);
            }
            (got, Err(_)) => {
                let index_error =
                    matches!(got.err().map(|e| e.kind().clone()), Some(Kind::Index { .. }));
                prop_assert!(index_error);
            }
        }
    }

    #[test]
    fn summed(case in cases(), dims in 0u32..16, keep_dim: bool) {
        let ctx = ctx(2);
        let (s, dense) = (case.make(&ctx), case.dense_tensor(&ctx));
        let dims: Vec<i64> =
            (0..case.shape.len() as i64).filter(|d| dims >> d & 1 == 1).collect();
        let over = Over { dims: Some(&dims), keep_dim };
        let want = reduce::reduce(&ctx, ReduceOp::Sum, &dense, over, None, 0.0, Out::New);
        let want = want.unwrap().unwrap();
        match sparse::sum(&ctx, &s, over, None).unwrap() {
            Summed::Dense(t) => {
                prop_assert_eq!(t.shape(), want.shape());
                prop_assert_eq!(t.dtype(), want.dtype());
                prop_assert_eq!(values(&ctx, &t), values(&ctx, &want));
            }
            Summed::Sparse(t) => {
                prop_assert_eq!(t.dtype(), want.dtype());
                check(&ctx, &t, want.shape(), &values(&ctx, &want));
            }
        }
    }

    #[test]
    fn arithmetic(case in cases(), other in dtypes(), n in 0usize..9, seed: u64, doubled: bool) {
        let ctx = ctx(2);
        let second = filled(other, case.shape.clone(), case.sparse, n, seed);
        let (s, t) = (case.make(&ctx), second.make(&ctx));
        let (x, y) = (case.dense_tensor(&ctx), second.dense_tensor(&ctx));
        let bool_result = case.dtype == DType::Bool && other == DType::Bool;
        let alpha = Scalar::Int(if doubled && !bool_result { 2 } else { 1 });
        let want = ref_binary(&ctx, BinaryOp::Add, &x, &y, alpha);
        let got = sparse::add(&ctx, BinaryOp::Add, &s, &t, Some(alpha)).unwrap();
        prop_assert_eq!(got.dtype(), want.dtype());
        check(&ctx, &got, &case.shape, &values(&ctx, &want));
        let dense = sparse::add_dense(&ctx, BinaryOp::Add, &x, &t, Some(alpha), false, Out::New);
        prop_assert_eq!(values(&ctx, &dense.unwrap().unwrap()), values(&ctx, &want));
        let dense = sparse::add_dense(&ctx, BinaryOp::Add, &y, &s, Some(alpha), true, Out::New);
        prop_assert_eq!(values(&ctx, &dense.unwrap().unwrap()), values(&ctx, &want));
        let want = ref_binary(&ctx, BinaryOp::Mul, &x, &y, Scalar::Int(1));
        let got = sparse::mul_sparse(&ctx, &s, &t).unwrap();
        prop_assert_eq!(got.dtype(), want.dtype());
        check(&ctx, &got, &case.shape, &values(&ctx, &want));
        let got = sparse::mul_dense(&ctx, BinaryOp::Mul, &s, &y).unwrap();
        check(&ctx, &got, &case.shape, &values(&ctx, &want));
        if case.dtype != DType::Bool {
            let by = Arg::Scalar(Scalar::Float(2.5));
            let want = elementwise::binary(&ctx, BinaryOp::Mul, &[Arg::Tensor(&x), by], None, Out::New);
            let got = sparse::scale(&ctx, BinaryOp::Mul, &s, Scalar::Float(2.5), Out::New);
            let (want, got) = (want.unwrap().unwrap(), got.unwrap().unwrap());
            // A 0-d tensor yields to a number in promotion, its values do not differ.
            if !case.shape.is_empty() {
                prop_assert_eq!(got.dtype(), want.dtype());
            }
            check(&ctx, &got, &case.shape, &values(&ctx, &want));
            let want = elementwise::unary(&ctx, UnaryOp::Abs, &x, [0.0; 3], Out::New).unwrap();
            let got = sparse::unary(&ctx, UnaryOp::Abs, &s, [0.0; 3]).unwrap();
            check(&ctx, &got, &case.shape, &values(&ctx, &want.unwrap()));
        }
        for dtype in DType::ALL {
            // What a negative float is as u8 is the machine's affair.
            if dtype == DType::U8 {
                continue;
            }
            let want = elementwise::cast(&ctx, &x, dtype).unwrap();
            check(&ctx, &sparse::cast(&ctx, &s, dtype).unwrap(), &case.shape, &values(&ctx, &want));
        }
    }

    #[test]
    fn products((case, m, seed) in matrices(), threads in 1usize..4) {
        let ctx = ctx(threads);
        let (s, a) = (case.make(&ctx), case.dense_tensor(&ctx));
        let k = case.shape[1];
        let right = filled(case.dtype, vec![k, m], 2, (k * m) as usize, seed ^ 5);
        let b = right.dense_tensor(&ctx);
        let mm = |a: &Tensor, b: &Tensor| {
            matmul::matmul(&ctx, MatmulOp::Mm, a, b, None).unwrap().unwrap()
        };
        let want = mm(&a, &b);
        let got = sparse::mm(&ctx, "mm", &s, &b).unwrap();
        prop_assert_eq!((got.shape(), got.dtype()), (want.shape(), want.dtype()));
        prop_assert_eq!(values(&ctx, &got), values(&ctx, &want));
        let got = sparse::mm_dense_sparse(&ctx, "mm", &a, &right.make(&ctx)).unwrap();
        prop_assert_eq!(got.shape(), want.shape());
        prop_assert_eq!(values(&ctx, &got), values(&ctx, &want));
        let got = sparse::mm_sparse(&ctx, "mm", &s, &right.make(&ctx)).unwrap();
        check(&ctx, &got, want.shape(), &values(&ctx, &want));
        let c = filled(case.dtype, vec![m], 1, m as usize, seed ^ 9).dense_tensor(&ctx);
        for beta in [Scalar::Int(0), Scalar::Int(2)] {
            let alpha = Scalar::Int(3);
            let op = AddmmOp::Addmm;
            let want = matmul::addmm(&ctx, op, &c, &a, &b, beta, alpha, Out::New).unwrap();
            let got = sparse::addmm(&ctx, "addmm", &c, &s, &b, beta, alpha, Out::New).unwrap();
            prop_assert_eq!(values(&ctx, &got.unwrap()), values(&ctx, &want.unwrap()));
        }
    }
}

#[test]
fn equal_coordinates_are_added_in_order_and_by_the_dtypes_rules() {
    let ctx = ctx(2);
    let sums = |dtype: DType, parts: &[f64]| {
        let indices = tensor(&ctx, DType::I64, &[1, parts.len() as i64], &vec![1.0; parts.len()]);
        let v = tensor(&ctx, dtype, &[parts.len() as i64], parts);
        let s = Coo::new(&ctx, &indices, &v, &[3]).unwrap();
        let c = s.coalesce(&ctx).unwrap();
        let dense = values(&ctx, &s.to_dense(&ctx).unwrap());
        let coalesced = values(&ctx, &c.values().unwrap());
        assert_eq!(dense, [0.0, coalesced[0], 0.0]);
        coalesced[0]
    };
    assert_eq!(sums(DType::I8, &[100.0, 100.0]), -56.0);
    assert_eq!(sums(DType::U8, &[200.0, 100.0]), 44.0);
    assert_eq!(sums(DType::Bool, &vec![1.0; 256]), 1.0);
    assert_eq!(sums(DType::F32, &[1e8, 1.0, -1e8]), 0.0);
    // In f16 alone the ones would be lost one after the other.
    assert_eq!(sums(DType::F16, &[&[2048.0][..], &[1.0; 8]].concat()), 2056.0);
}

#[test]
fn many_threads_many_coordinates_same_bits() {
    let case = filled(DType::F32, vec![700, 300], 2, 60_000, 3);
    let results: Vec<_> = [1, 2, 7]
        .map(|threads| {
            let ctx = ctx(threads);
            let s = case.make(&ctx);
            let b = tensor(&ctx, DType::F32, &[300, 600], &vec![0.1; 300 * 600]);
            let product = values(&ctx, &sparse::mm(&ctx, "mm", &s, &b).unwrap());
            let c = s.coalesce(&ctx).unwrap();
            check(&ctx, &c, &case.shape, &case.dense());
            (product, values(&ctx, &c.values().unwrap()))
        })
        .into();
    assert!(results.windows(2).all(|w| w[0] == w[1]));
}

#[test]
fn bad_arguments_are_refused() {
    let ctx = ctx(1);
    let live = ctx.allocator().memory().live;
    {
        let make = |rows: &[i64], n: i64, at: &[f64], shape: &[i64], dtype: DType| {
            let indices = tensor(&ctx, dtype, rows, at);
            let v = tensor(&ctx, DType::F32, &[n], &vec![1.0; n as usize]);
            Coo::new(&ctx, &indices, &v, shape)
        };
        let index = |r: Result<Coo>, text: &str| {
            let e = r.unwrap_err();
            assert!(matches!(e.kind(), Kind::Index { .. }) && e.to_string().contains(text), "{e}");
        };
        // BR-171, BR-173
        let far = -((1i64 << 62) as f64);
        index(make(&[1, 1], 1, &[far], &[1], DType::I64), "index -4611686018427387904 at [0, 0]");
        let text = "index 10 at [0, 0] is outside dimension 0 of size 1 of the shape [1, 5]";
        index(make(&[2, 1], 1, &[10.0, 0.0], &[1, 5], DType::I64), text);
        index(make(&[1, 2], 2, &[0.0, 3.0], &[3], DType::I32), "index 3 at [0, 1]");
        index(make(&[1, 1], 1, &[0.0], &[0], DType::I64), "size 0");
        let shape = |r: Result<Coo>, text: &str| {
            let e = r.unwrap_err();
            assert!(matches!(e.kind(), Kind::Shape { .. }) && e.to_string().contains(text), "{e}");
        };
        shape(make(&[2], 2, &[0.0, 1.0], &[3], DType::I64), "matrix");
        shape(make(&[1, 2], 3, &[0.0, 1.0], &[3], DType::I64), "2 indices, but 3 values");
        shape(make(&[1, 1], 1, &[0.0], &[3, 3], DType::I64), "1 sparse");
        shape(make(&[1, 1], 1, &[0.0], &[-3], DType::I64), "negative");
        shape(make(&[2, 1], 1, &[0.0; 2], &[1 << 40, 1 << 40], DType::I64), "2^63");
        shape(make(&[3, 0], 0, &[], &[1 << 40, 1 << 40, 0], DType::I64), "2^63");
        let refused = make(&[1, 1], 1, &[0.0], &[1], DType::F32).unwrap_err();
        assert!(matches!(refused.kind(), Kind::DType { .. }));
        // A shape whose elements would not fit the memory costs what is there alone.
        let large = make(&[2, 1], 1, &[5.0, 7.0], &[1 << 30, 1 << 30], DType::I64).unwrap();
        assert_eq!(large.coalesce(&ctx).unwrap().count(), 1);
        assert!(matches!(large.to_dense(&ctx).unwrap_err().kind(), Kind::OutOfMemory { .. }));
        let twice = make(&[1, 2], 2, &[0.0, 0.0], &[1], DType::I64).unwrap();
        assert!(matches!(twice.values().unwrap_err().kind(), Kind::Sparse { .. }));
        assert!(matches!(twice.indices(&ctx).unwrap_err().kind(), Kind::Sparse { .. }));
    }
    assert_eq!(ctx.allocator().memory().live, live);
}
