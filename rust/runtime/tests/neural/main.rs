//! Neural operations against naive references, and every gradient against finite differences.

#[path = "../common/mod.rs"]
mod common;

mod attention;
mod conv;
mod elementwise;
mod gradient;
mod norm;
mod pool;

use common::{Lie, tensor, values};
use wick_core::DType;
use wick_runtime::{Context, Tensor};

fn context(threads: usize) -> Context {
    Context::new(1 << 30, threads)
}

/// Numbers that are the same for the same seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }

    /// In (-1, 1), never 0.
    fn number(&mut self) -> f64 {
        (self.below(1 << 20) as f64 + 0.5) / (1 << 19) as f64 - 1.0
    }

    fn list(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.number()).collect()
    }

    fn tensor(&mut self, ctx: &Context, dtype: DType, shape: &[i64]) -> Tensor {
        let all = self.list(shape.iter().product::<i64>() as usize);
        tensor(ctx, dtype, shape, &all)
    }

    /// The same kind of numbers behind a random layout.
    fn view(&mut self, ctx: &Context, dtype: DType, shape: &[i64]) -> Tensor {
        let lie = Lie::random(shape.len(), self.below(u64::MAX), true);
        let seed = self.below(1 << 20);
        lie.make(ctx, dtype, shape, |i| Numbers(seed.wrapping_add(i as u64 * 77)).number())
    }
}

/// Whether two lists agree within a tolerance.
#[track_caller]
fn assert_near(got: &[f64], want: &[f64], tolerance: f64) {
    assert_eq!(got.len(), want.len());
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        assert!(common::near(*g, *w, tolerance), "at {i}: {g}, expected {w}\n{got:?}\n{want:?}");
    }
}

/// Checks a gradient of `sum(weights * f(x))` for `x`, element by element.
#[track_caller]
fn check_gradient(
    ctx: &Context,
    x: &Tensor,
    gradient: &Tensor,
    weights: &Tensor,
    f: impl Fn(&Tensor) -> Tensor,
) {
    assert_eq!(x.shape(), gradient.shape());
    let (numbers, weights) = (values(ctx, x), values(ctx, weights));
    let total = |numbers: &[f64]| -> f64 {
        let out = values(ctx, &f(&tensor(ctx, DType::F64, x.shape(), numbers)));
        assert_eq!(out.len(), weights.len());
        out.iter().zip(&weights).map(|(a, b)| a * b).sum()
    };
    let step = 1e-5;
    for (i, g) in values(ctx, gradient).iter().enumerate() {
        let mut moved = numbers.clone();
        moved[i] += step;
        let above = total(&moved);
        moved[i] -= 2.0 * step;
        let slope = (above - total(&moved)) / (2.0 * step);
        assert!((slope - g).abs() <= 2e-6 * (1.0 + g.abs()), "at {i}: {g}, slope {slope}");
    }
}
