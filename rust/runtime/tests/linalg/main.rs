//! Linear algebra: what is taken apart is put together again, over random sizes, batches and layouts.

#[path = "../common/mod.rs"]
mod common;
mod decompositions;
mod norms;
mod products;
mod systems;

use common::{Lie, tensor, values};
use wick_core::DType;
use wick_runtime::ops::linalg::{LinalgOp, linalg};
use wick_runtime::{Context, Error, Tensor};

/// Numbers that are the same for the same seed, in [-1, 1).
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as f64 / (1u64 << 30) as f64 - 1.0
    }

    pub(crate) fn list(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.next()).collect()
    }
}

/// The same numbers in another layout: the last elements of a larger storage, turned or stepped.
pub(crate) fn lying(ctx: &Context, dtype: DType, shape: &[i64], data: &[f64], bits: u64) -> Tensor {
    let t = Lie::random(shape.len(), bits, false).make(ctx, dtype, shape, |_| 0.0);
    let dense = tensor(ctx, dtype, shape, data);
    wick_runtime::ops::elementwise::copy(ctx, &t, &dense).unwrap();
    t
}

/// Matrices by their numbers, row by row.
#[derive(Clone, Debug)]
pub(crate) struct Dense {
    pub(crate) m: usize,
    pub(crate) n: usize,
    pub(crate) v: Vec<f64>,
}

impl Dense {
    pub(crate) fn new(m: usize, n: usize, v: Vec<f64>) -> Dense {
        assert_eq!(v.len(), m * n);
        Dense { m, n, v }
    }

    pub(crate) fn eye(n: usize) -> Dense {
        Dense::new(n, n, (0..n * n).map(|i| f64::from(i / n.max(1) == i % n.max(1))).collect())
    }

    pub(crate) fn at(&self, i: usize, j: usize) -> f64 {
        self.v[i * self.n + j]
    }

    pub(crate) fn t(&self) -> Dense {
        let v = (0..self.m * self.n).map(|k| self.at(k % self.m, k / self.m)).collect();
        Dense::new(self.n, self.m, v)
    }

    pub(crate) fn times(&self, o: &Dense) -> Dense {
        assert_eq!(self.n, o.m);
        let mut v = vec![0.0; self.m * o.n];
        for i in 0..self.m {
            for k in 0..self.n {
                for j in 0..o.n {
                    v[i * o.n + j] += self.at(i, k) * o.at(k, j);
                }
            }
        }
        Dense::new(self.m, o.n, v)
    }

    pub(crate) fn diagonal(d: &[f64], m: usize, n: usize) -> Dense {
        let v = (0..m * n).map(|k| if k / n == k % n { d[k / n] } else { 0.0 }).collect();
        Dense::new(m, n, v)
    }

    pub(crate) fn greatest(&self) -> f64 {
        self.v.iter().fold(0.0, |m, x| f64::max(m, x.abs()))
    }

    pub(crate) fn assert_near(&self, o: &Dense, tolerance: f64, what: &str) {
        assert_eq!((self.m, self.n), (o.m, o.n), "{what}");
        for (a, b) in self.v.iter().zip(&o.v) {
            assert!((a - b).abs() <= tolerance, "{what}: {a} for {b}, tolerance {tolerance}");
        }
    }
}

/// Each matrix of a batch.
pub(crate) fn each(ctx: &Context, t: &Tensor) -> Vec<Dense> {
    let (m, n) = (t.shape()[t.rank() - 2] as usize, t.shape()[t.rank() - 1] as usize);
    let v = values(ctx, t);
    match m * n {
        0 => {
            let count: i64 = t.shape()[..t.rank() - 2].iter().product();
            (0..count).map(|_| Dense::new(m, n, vec![])).collect()
        }
        size => v.chunks(size).map(|c| Dense::new(m, n, c.to_vec())).collect(),
    }
}

pub(crate) fn run(ctx: &Context, op: LinalgOp, operands: &[&Tensor], p: &[i64]) -> Vec<Tensor> {
    linalg(ctx, op, operands, p, &[f64::NAN, f64::NAN]).unwrap()
}

pub(crate) fn fault(ctx: &Context, op: LinalgOp, operands: &[&Tensor], p: &[i64]) -> Error {
    linalg(ctx, op, operands, p, &[f64::NAN, f64::NAN]).unwrap_err()
}

pub(crate) fn epsilon(dtype: DType) -> f64 {
    if dtype == DType::F64 { f64::EPSILON } else { f32::EPSILON.into() }
}

pub(crate) const FLOATS: [DType; 2] = [DType::F32, DType::F64];
