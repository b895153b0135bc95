//! Reductions against a naive reference, over random layouts and dtypes.

use proptest::prelude::*;
use wick_core::kernels::cumulative::CumulativeOp;
use wick_core::kernels::elementwise::Scalar;
use wick_core::kernels::reduce::ReduceOp;
use wick_core::{DType, Layout};
use wick_runtime::ops::array::{from_elements, with_elements};
use wick_runtime::ops::cumulative::cumulative;
use wick_runtime::ops::elementwise::{Out, cast};
use wick_runtime::ops::reduce::{Over, reduce, reduce_pair};
use wick_runtime::ops::softmax::softmax;
use wick_runtime::{Context, Tensor};

fn ctx(threads: usize) -> Context {
    Context::new(4 << 30, threads)
}

/// A tensor of a dtype from f64 values.
fn tensor(ctx: &Context, dtype: DType, shape: &[i64], values: &[f64]) -> Tensor {
    let t = from_elements(ctx, DType::F64, shape, values.len(), |bytes| {
        for (to, v) in bytes.chunks_exact_mut(8).zip(values) {
            to.copy_from_slice(&v.to_ne_bytes());
        }
    });
    cast(ctx, &t.unwrap(), dtype).unwrap()
}

/// All elements, row-major, as f64.
fn values(ctx: &Context, t: &Tensor) -> Vec<f64> {
    let read = |bytes: &[u8]| {
        let parts = bytes.chunks_exact(8);
        parts.map(|b| f64::from_ne_bytes(b.try_into().unwrap())).collect()
    };
    let t = cast(ctx, t, DType::F64).unwrap();
    with_elements(ctx, &t, DType::F64, t.numel() as usize, read).unwrap()
}

/// A view of a shape: an offset, steps, permuted or expanded dimensions.
#[derive(Clone, Debug)]
struct Case {
    dtype: DType,
    shape: Vec<i64>,
    order: Vec<usize>,
    steps: Vec<i64>,
    expanded: Vec<bool>,
    offset: i64,
    dims: Vec<bool>,
    keep_dim: bool,
    seed: u64,
}

fn case() -> impl Strategy<Value = Case> {
    let sizes = prop_oneof![
        6 => proptest::collection::vec(0i64..9, 0..5),
        2 => proptest::collection::vec(prop_oneof![1i64..4, 60i64..140], 1..3),
        1 => proptest::collection::vec(500i64..1500, 1..2),
    ];
    (sizes, 0usize..10, any::<bool>(), 0i64..4, any::<u64>(), any::<bool>()).prop_map(
        |(shape, dtype, keep_dim, offset, seed, plain)| {
            let mut bits = seed;
            let mut next = |n: u64| {
                bits = bits.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (bits >> 33) % n
            };
            let rank = shape.len();
            let mut order: Vec<usize> = (0..rank).collect();
            if !plain {
                for i in (1..rank).rev() {
                    order.swap(i, next(i as u64 + 1) as usize);
                }
            }
            let step = |n: u64| if plain || n < 3 { 1 } else { n as i64 - 1 };
            let steps = (0..rank).map(|_| step(next(5))).collect();
            let expanded = (0..rank).map(|_| !plain && next(8) == 0).collect();
            let dims = (0..rank).map(|_| next(2) == 0).collect();
            Case {
                dtype: DType::ALL[dtype],
                shape,
                order,
                steps,
                expanded,
                offset,
                dims,
                keep_dim,
                seed,
            }
        },
    )
}

impl Case {
    /// The view, its elements small integers and halves, now and then a NaN.
    fn tensor(&self, ctx: &Context, nan: bool) -> Tensor {
        let rank = self.shape.len();
        let mut strides = vec![0; rank];
        let mut size = 1;
        for &d in self.order.iter().rev() {
            if self.expanded[d] {
                continue;
            }
            strides[d] = size * self.steps[d];
            size = strides[d] * self.shape[d].max(1);
        }
        let room = (size + self.offset + 1) as usize;
        let mut bits = self.seed | 1;
        let data: Vec<f64> = (0..room)
            .map(|_| {
                bits ^= bits << 13;
                bits ^= bits >> 7;
                bits ^= bits << 17;
                match (bits >> 20) % 40 {
                    0 if nan && self.dtype.is_float() => f64::NAN,
                    v if self.dtype.is_float() => (v as f64 - 20.0) / 2.0,
                    v if self.dtype == DType::Bool => (v % 3 != 0) as u8 as f64,
                    v if self.dtype == DType::U8 => v as f64,
                    v => v as f64 - 20.0,
                }
            })
            .collect();
        let base = tensor(ctx, self.dtype, &[room as i64], &data);
        base.with_layout("view", Layout::strided(&self.shape, &strides, self.offset)).unwrap()
    }

    fn dims(&self) -> Vec<i64> {
        let mut dims: Vec<i64> =
            (0..self.shape.len()).filter(|d| self.dims[*d]).map(|d| d as i64).collect();
        if self.seed & 1 == 1 {
            // From the end, and the other way round.
            dims.reverse();
            for d in &mut dims {
                *d -= self.shape.len() as i64;
            }
        }
        dims
    }

    fn gone(&self, d: usize) -> bool {
        self.dims[d] || !self.dims.contains(&true)
    }

    fn result_shape(&self) -> Vec<i64> {
        (0..self.shape.len())
            .filter(|d| self.keep_dim || !self.gone(*d))
            .map(|d| if self.gone(d) { 1 } else { self.shape[d] })
            .collect()
    }

    /// The elements of each output, in row-major order.
    fn groups(&self, all: &[f64]) -> Vec<Vec<f64>> {
        let outputs: i64 = self.result_shape().iter().product();
        let mut groups = vec![vec![]; outputs as usize];
        for (i, v) in all.iter().enumerate() {
            let (mut left, mut out, mut scale) = (i as i64, 0, 1);
            for d in (0..self.shape.len()).rev() {
                let at = left % self.shape[d];
                left /= self.shape[d];
                if !self.gone(d) {
                    out += at * scale;
                    scale *= self.shape[d];
                }
            }
            groups[out as usize].push(*v);
        }
        groups
    }
}

fn close(a: f64, b: f64, dtype: DType) -> bool {
    let tolerance = match dtype {
        DType::F64 => 1e-12,
        DType::F32 => 1e-5,
        DType::F16 => 2e-3,
        DType::BF16 => 2e-2,
        _ => 0.0,
    };
    a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= tolerance * (1.0 + b.abs())
}

fn extreme(g: &[f64], max: bool) -> (f64, usize) {
    let mut best = 0;
    for (i, v) in g.iter().enumerate() {
        let better = if max { *v > g[best] } else { *v < g[best] };
        if (better || v.is_nan()) && !g[best].is_nan() {
            best = i;
        }
    }
    (g[best], best)
}

fn naive(op: ReduceOp, g: &[f64], correction: f64) -> f64 {
    use ReduceOp::*;
    let n = g.len() as f64;
    let mean = || g.iter().sum::<f64>() / n;
    let var = || g.iter().map(|v| (v - mean()).powi(2)).sum::<f64>() / (n - correction).max(0.0);
    match op {
        Sum => g.iter().sum(),
        Mean => mean(),
        Prod => g.iter().product(),
        Amax | Max => extreme(g, true).0,
        Amin | Min => extreme(g, false).0,
        Argmax => extreme(g, true).1 as f64,
        Argmin => extreme(g, false).1 as f64,
        All => g.iter().all(|v| *v != 0.0) as u8 as f64,
        Any => g.iter().any(|v| *v != 0.0) as u8 as f64,
        Var => var(),
        Std => var().sqrt(),
        Norm2 => g.iter().map(|v| v * v).sum::<f64>().sqrt(),
        Logsumexp => {
            let max = g.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let max = if max.is_finite() { max } else { 0.0 };
            g.iter().map(|v| (v - max).exp()).sum::<f64>().ln() + max
        }
        _ => unreachable!("two results"),
    }
}

const SINGLE: [ReduceOp; 13] = [
    ReduceOp::Sum,
    ReduceOp::Mean,
    ReduceOp::Amax,
    ReduceOp::Amin,
    ReduceOp::Argmax,
    ReduceOp::Argmin,
    ReduceOp::All,
    ReduceOp::Any,
    ReduceOp::Var,
    ReduceOp::Std,
    ReduceOp::Norm2,
    ReduceOp::Logsumexp,
    ReduceOp::Prod,
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// BR-001 BR-003 BR-009 BR-011: any strides, any set of dimensions, all dtypes.
    #[test]
    fn reduce_is_the_naive_one(case in case(), nan in any::<bool>()) {
        let ctx = ctx(1);
        let t = case.tensor(&ctx, nan);
        let groups = case.groups(&values(&ctx, &t));
        let dims = case.dims();
        let over = Over { dims: Some(&dims), keep_dim: case.keep_dim };
        for op in SINGLE {
            let correction = 1.0;
            let float = matches!(op, ReduceOp::Mean | ReduceOp::Var | ReduceOp::Std | ReduceOp::Norm2);
            let result = reduce(&ctx, op, &t, over, None, correction, Out::New);
            let empty = (0..t.rank()).any(|d| case.gone(d) && t.shape()[d] == 0);
            if float && !case.dtype.is_float() || op.needs_elements() && empty {
                prop_assert!(result.is_err());
                continue;
            }
            let result = result.unwrap().unwrap();
            prop_assert_eq!(result.shape(), case.result_shape());
            let (min, max) = groups.iter().flatten().fold((0f64, 0f64), |(a, b), v| (a.min(*v), b.max(*v)));
            let wide = groups.first().map_or(0, Vec::len) > 12 && (max > 1.0 || min < -1.0);
            if op == ReduceOp::Prod && wide {
                // Leaves the range of i64 and of the small floats.
                continue;
            }
            for (got, g) in values(&ctx, &result).into_iter().zip(&groups) {
                let wanted = naive(op, g, correction);
                let wanted = values(&ctx, &tensor(&ctx, result.dtype(), &[1], &[wanted]))[0];
                prop_assert!(
                    close(got, wanted, result.dtype()),
                    "{:?} of {:?}: {} instead of {}", op, g, got, wanted
                );
            }
        }
        for op in [ReduceOp::Max, ReduceOp::Min] {
            let Ok((v, at)) = reduce_pair(&ctx, op, &t, over, 0.0) else { continue };
            prop_assert_eq!(v.dtype(), case.dtype);
            prop_assert_eq!(at.dtype(), DType::I64);
            let found: Vec<(f64, f64)> = values(&ctx, &v).into_iter().zip(values(&ctx, &at)).collect();
            for ((v, at), g) in found.into_iter().zip(&groups) {
                let (best, place) = extreme(g, op == ReduceOp::Max);
                prop_assert!(close(v, best, DType::Bool) && at == place as f64);
            }
        }
    }
}

/// Softmax, log softmax, running sum, product and log-sum of a line.
fn naive_line(which: usize, line: &[f64]) -> Vec<f64> {
    let max = line.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = line.iter().map(|v| (v - max).exp()).sum();
    let mut so_far = [0.0, 1.0, f64::NEG_INFINITY];
    let step = |v: &f64| {
        so_far[0] += v;
        so_far[1] *= v;
        let high = so_far[2].max(*v);
        so_far[2] = ((so_far[2] - high).exp() + (v - high).exp()).ln() + high;
        if v.is_nan() {
            so_far[2] = f64::NAN;
        }
        match which {
            0 => (v - max).exp() / sum,
            1 => v - max - sum.ln(),
            w => so_far[w - 2],
        }
    };
    line.iter().map(step).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// BR-053 BR-057 BR-082: softmax and running reductions along each dimension.
    #[test]
    fn along_is_the_naive_one(case in case(), nan in any::<bool>()) {
        let ctx = ctx(2);
        let t = case.tensor(&ctx, nan);
        let all = values(&ctx, &t);
        for dim in 0..case.shape.len().max(1) {
            let n = case.shape.get(dim).copied().unwrap_or(1) as usize;
            let inner: usize = case.shape.iter().skip(dim + 1).map(|s| *s as usize).product();
            for which in 0..5 {
                let at = if case.seed & 2 == 0 { dim as i64 } else { dim as i64 - case.shape.len().max(1) as i64 };
                let result = match which {
                    0 | 1 => softmax(&ctx, which == 1, &t, at, None),
                    w => cumulative(&ctx, CumulativeOp::ALL[w - 2], &t, at, None),
                };
                if !case.dtype.is_float() && !matches!(which, 2 | 3) {
                    prop_assert!(result.is_err());
                    continue;
                }
                let result = result.unwrap();
                prop_assert_eq!(result.shape(), t.shape());
                if which == 3 && n > 12 {
                    continue;
                }
                let got = values(&ctx, &result);
                let scale = if which == 2 { n as f64 } else { 1.0 };
                for start in (0..all.len()).filter(|i| (i / inner.max(1)).is_multiple_of(n.max(1))) {
                    let line: Vec<f64> = (0..n).map(|i| all[start + i * inner]).collect();
                    let wanted = tensor(&ctx, result.dtype(), &[n as i64], &naive_line(which, &line));
                    for (i, w) in values(&ctx, &wanted).into_iter().enumerate() {
                        let g = got[start + i * inner];
                        prop_assert!(
                            close(g / scale, w / scale, result.dtype()) || g == w,
                            "{} of {:?} at {}: {} instead of {}", which, line, i, g, w
                        );
                    }
                }
            }
        }
    }
}

fn full(ctx: &Context, dtype: DType, shape: &[i64], v: f64) -> Tensor {
    wick_runtime::ops::creation::full(ctx, dtype, shape, Scalar::Float(v)).unwrap()
}

fn all(ctx: &Context, op: ReduceOp, t: &Tensor) -> f64 {
    let over = Over { dims: None, keep_dim: false };
    let r = reduce(ctx, op, t, over, None, 1.0, Out::New).unwrap().unwrap();
    values(ctx, &r)[0]
}

/// The same bits for any number of threads, in each way of walking.
#[test]
fn threads_do_not_change_bits() {
    let shapes: [&[i64]; 5] =
        [&[300_001], &[400, 1003], &[100_001, 3], &[3, 100_001], &[70, 50, 80]];
    let contexts = [ctx(1), ctx(2), ctx(7)];
    for shape in shapes {
        let n: i64 = shape.iter().product();
        let data: Vec<f64> = (0..n).map(|i| ((i * 7919) % 10_007) as f64 / 997.0 - 5.0).collect();
        for dtype in [DType::F32, DType::F64, DType::F16] {
            for op in [ReduceOp::Sum, ReduceOp::Var, ReduceOp::Logsumexp, ReduceOp::Argmax] {
                for dims in [None, Some(vec![0]), Some(vec![-1])] {
                    let over = Over { dims: dims.as_deref(), keep_dim: true };
                    let mut results = contexts.iter().map(|ctx| {
                        let t = tensor(ctx, dtype, shape, &data);
                        let r = reduce(ctx, op, &t, over, None, 1.0, Out::New).unwrap().unwrap();
                        values(ctx, &r).iter().map(|v| v.to_bits()).collect::<Vec<_>>()
                    });
                    let first = results.next().unwrap();
                    assert!(results.all(|r| r == first), "{op:?} {dtype} {shape:?} {dims:?}");
                }
            }
        }
    }
}

/// BR-013: every length; BR-005, BR-007: the first of equal extremes.
#[test]
fn lengths() {
    let ctx = ctx(2);
    for n in (1..1100).chain(4095..4098) {
        for dtype in [DType::F32, DType::F64, DType::I32, DType::BF16] {
            let got = all(&ctx, ReduceOp::Mean, &full(&ctx, DType::F32, &[n], 1.0));
            assert_eq!(got, 1.0);
            let t = full(&ctx, dtype, &[2 * n], 1.0);
            let view = t.with_layout("slice", t.layout().slice(0, 0, 2 * n, 2)).unwrap();
            let wanted = values(&ctx, &tensor(&ctx, dtype, &[1], &[n as f64]))[0];
            assert_eq!(all(&ctx, ReduceOp::Sum, &view), wanted);
        }
    }
    for n in [1, 63, 64, 65, 127, 1023, 1025, 4097] {
        for dtype in DType::ALL {
            let mut data = vec![0.0; n];
            data[n - 1] = 1.0;
            let t = tensor(&ctx, dtype, &[n as i64], &data);
            assert_eq!(all(&ctx, ReduceOp::Argmax, &t), (n - 1) as f64);
            data[n / 2] = 1.0;
            let t = tensor(&ctx, dtype, &[n as i64], &data);
            assert_eq!(all(&ctx, ReduceOp::Argmax, &t), (n / 2) as f64);
        }
    }
}

/// BR-045, BR-047, BR-043, BR-039 (a smaller one): no overflow, no lost digits.
#[test]
fn wide_accumulators() {
    let ctx = ctx(2);
    let t = tensor(&ctx, DType::F32, &[3], &[1e20, 1.5e20, 2e20]);
    assert!(close(all(&ctx, ReduceOp::Std, &t) / 5e19, 1.0, DType::F32));
    assert_eq!(all(&ctx, ReduceOp::Var, &t), f64::INFINITY);
    let t = full(&ctx, DType::F16, &[4], 50000.0);
    assert_eq!(all(&ctx, ReduceOp::Mean, &t), values(&ctx, &t)[0]);
    for (dtype, big) in [(DType::F32, 1e20), (DType::F64, 1e200), (DType::F64, 1e-200)] {
        let t = tensor(&ctx, dtype, &[3], &[big, 1.0_f64.min(big), 0.0]);
        let wanted = if big < 1.0 { big * 2f64.sqrt() } else { big };
        assert!(close(all(&ctx, ReduceOp::Norm2, &t) / wanted, 1.0, DType::F32));
    }
    let t = full(&ctx, DType::F32, &[1 << 21, 2], 2f64.powi(-22));
    assert_eq!(all(&ctx, ReduceOp::Sum, &t), 1.0);
    let t = full(&ctx, DType::F32, &[10_000_001], 0.1);
    assert!((all(&ctx, ReduceOp::Sum, &t) / (10_000_001.0 * 0.1f32 as f64) - 1.0).abs() < 1e-6);
}
