//! What the property tests share: tensors behind random layouts, and their values.
#![allow(dead_code)]

use proptest::prelude::*;
use wick_core::{DType, Layout};
use wick_runtime::ops::array::{from_elements, with_elements};
use wick_runtime::ops::elementwise::cast;
use wick_runtime::{Context, Tensor};

pub fn ctx(threads: usize) -> Context {
    Context::new(4 << 30, threads)
}

/// A contiguous tensor of a dtype from f64 values.
pub fn tensor(ctx: &Context, dtype: DType, shape: &[i64], values: &[f64]) -> Tensor {
    let t = from_elements(ctx, DType::F64, shape, values.len(), |bytes| {
        for (to, v) in bytes.chunks_exact_mut(8).zip(values) {
            to.copy_from_slice(&v.to_ne_bytes());
        }
    });
    cast(ctx, &t.unwrap(), dtype).unwrap()
}

/// All elements, row-major, as f64.
pub fn values(ctx: &Context, t: &Tensor) -> Vec<f64> {
    let t = cast(ctx, t, DType::F64).unwrap();
    let read = |bytes: &[u8]| {
        bytes.chunks_exact(8).map(|b| f64::from_ne_bytes(b.try_into().unwrap())).collect()
    };
    with_elements(ctx, &t, DType::F64, t.numel() as usize, read).unwrap()
}

/// How a tensor lies in a larger storage.
#[derive(Clone, Debug)]
pub struct Lie {
    /// Memory order of the dimensions.
    pub order: Vec<usize>,
    /// Every how many elements of the storage one is used, by dimension.
    pub steps: Vec<i64>,
    /// Which dimensions have stride 0.
    pub expanded: Vec<bool>,
    pub offset: i64,
}

impl Lie {
    /// Row-major from the start.
    pub fn plain(rank: usize) -> Lie {
        Lie {
            order: (0..rank).collect(),
            steps: vec![1; rank],
            expanded: vec![false; rank],
            offset: 0,
        }
    }

    /// Any, from random bits.
    pub fn random(rank: usize, mut bits: u64, expand: bool) -> Lie {
        let mut next = |n: u64| {
            bits = bits.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (bits >> 33) % n
        };
        if next(3) == 0 {
            return Lie::plain(rank);
        }
        let mut out = Lie::plain(rank);
        for i in (1..rank).rev() {
            out.order.swap(i, next(i as u64 + 1) as usize);
        }
        for d in 0..rank {
            out.steps[d] = if next(4) == 0 { 2 } else { 1 };
            out.expanded[d] = expand && next(5) == 0;
        }
        out.offset = next(4) as i64;
        out
    }

    /// A tensor of this shape lying so, with elements `f(0), f(1), …` of its storage cast to the dtype.
    pub fn make(
        &self,
        ctx: &Context,
        dtype: DType,
        shape: &[i64],
        f: impl Fn(i64) -> f64,
    ) -> Tensor {
        let mut strides = vec![0; shape.len()];
        let mut reach = 1;
        for &d in self.order.iter().rev() {
            if !self.expanded[d] {
                strides[d] = reach * self.steps[d];
                reach *= shape[d].max(1) * self.steps[d];
            }
        }
        let length = reach + self.offset;
        let elements: Vec<f64> = (0..length).map(f).collect();
        let base = tensor(ctx, dtype, &[length], &elements);
        base.with_layout("test", Layout::strided(shape, &strides, self.offset)).unwrap()
    }
}

/// Small shapes of rank 0 to 4, empty dimensions among them, and a few long ones.
pub fn shapes() -> impl Strategy<Value = Vec<i64>> {
    prop_oneof![
        6 => proptest::collection::vec(0i64..6, 0..5),
        2 => proptest::collection::vec(prop_oneof![1i64..4, 60i64..140], 1..3),
        1 => proptest::collection::vec(500i64..1500, 1..2),
    ]
}

/// Any dtype.
pub fn dtypes() -> impl Strategy<Value = DType> {
    (0usize..10).prop_map(|i| DType::ALL[i])
}

/// Equal, or both NaN, or within a relative and absolute distance.
pub fn near(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= tolerance * (1.0 + b.abs())
}
