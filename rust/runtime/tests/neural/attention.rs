//! Attention.

use super::*;
use wick_runtime::ops::attention::{Attention, attention, attention_backward};

/// softmax(scale * q k' + bias) v, and the logarithms of the rows' sums.
#[allow(clippy::too_many_arguments)]
fn naive(
    q: &[f64],
    k: &[f64],
    v: &[f64],
    bias: &dyn Fn(usize, usize, usize) -> f64,
    [heads, rows, cols, width, out]: [usize; 5],
    causal: bool,
    scale: f64,
) -> (Vec<f64>, Vec<f64>) {
    let (mut result, mut logs) = (vec![], vec![]);
    for h in 0..heads {
        for i in 0..rows {
            let score = |j: usize| {
                let dot: f64 = (0..width)
                    .map(|e| q[(h * rows + i) * width + e] * k[(h * cols + j) * width + e])
                    .sum();
                if causal && j > i { f64::NEG_INFINITY } else { scale * dot + bias(h, i, j) }
            };
            let scores: Vec<f64> = (0..cols).map(score).collect();
            let max = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let max = if max.is_finite() { max } else { 0.0 };
            let sum: f64 = scores.iter().map(|s| (s - max).exp()).sum();
            logs.push(if sum == 0.0 { f64::NEG_INFINITY } else { max + sum.ln() });
            for e in 0..out {
                let all: f64 =
                    (0..cols).map(|j| (scores[j] - max).exp() * v[(h * cols + j) * out + e]).sum();
                result.push(if sum == 0.0 { 0.0 } else { all / sum });
            }
        }
    }
    (result, logs)
}

#[test]
fn is_its_definition() {
    let ctx = context(2);
    let mut rng = Numbers(31);
    for (sizes, dtype, tolerance) in [
        ([6, 5, 5, 8, 8], DType::F64, 1e-12),
        ([2, 3, 7, 4, 2], DType::F32, 1e-5),
        ([1, 300, 1100, 16, 8], DType::F32, 1e-5),
        ([1, 1100, 300, 16, 8], DType::F64, 1e-12),
        ([2, 9, 9, 8, 8], DType::F16, 3e-3),
        ([2, 4, 0, 3, 3], DType::F32, 0.0),
        ([0, 4, 2, 3, 3], DType::F32, 0.0),
    ] {
        let [heads, rows, cols, width, out] = sizes.map(|n| n as i64);
        let q = rng.view(&ctx, dtype, &[heads, rows, width]);
        let k = rng.view(&ctx, dtype, &[heads, cols, width]);
        let v = rng.view(&ctx, dtype, &[heads, cols, out]);
        let shared = rng.tensor(&ctx, dtype, &[rows, cols]);
        let by_head = rng.tensor(&ctx, dtype, &[heads, 1, cols]);
        let truth: Vec<f64> = (0..rows * cols).map(|_| rng.below(3) as f64).collect();
        let mask = tensor(&ctx, DType::Bool, &[rows, cols], &truth);
        for causal in [false, true] {
            for which in 0..4 {
                let bias = [None, Some(&shared), Some(&by_head), Some(&mask)][which];
                let numbers = bias.map_or(vec![], |b| values(&ctx, b));
                let (r, c) = (rows as usize, cols as usize);
                let at = |h: usize, i: usize, j: usize| match which {
                    0 => 0.0,
                    1 => numbers[i * c + j],
                    2 => numbers[h * c + j],
                    _ if numbers[i * c + j] != 0.0 => 0.0,
                    _ => f64::NEG_INFINITY,
                };
                let scale = if which == 1 { Some(0.7) } else { None };
                let inputs = Attention { query: &q, key: &k, value: &v, bias, causal, scale };
                let (y, log) = attention(&ctx, "attention", &inputs).unwrap();
                let (want, logs) = naive(
                    &values(&ctx, &q),
                    &values(&ctx, &k),
                    &values(&ctx, &v),
                    &at,
                    [heads as usize, r, c, width as usize, out as usize],
                    causal,
                    scale.unwrap_or(1.0 / (width as f64).sqrt()),
                );
                assert_eq!(y.shape(), [heads, rows, out]);
                assert_eq!(y.dtype(), dtype);
                assert_near(&values(&ctx, &y), &want, tolerance);
                assert_near(&values(&ctx, &log), &logs, tolerance.max(1e-12));
            }
        }
    }
}

#[test]
fn gradients() {
    let ctx = context(2);
    let mut rng = Numbers(32);
    let f64s = DType::F64;
    let q = rng.tensor(&ctx, f64s, &[2, 1, 5, 4]);
    let k = rng.tensor(&ctx, f64s, &[2, 1, 6, 4]);
    let v = rng.tensor(&ctx, f64s, &[2, 1, 6, 3]);
    let shapes: [&[i64]; 6] = [&[5, 6], &[6], &[5, 1], &[2, 1, 1, 6], &[1, 5, 6], &[]];
    let biases = shapes.map(|shape| rng.tensor(&ctx, f64s, shape));
    let g = rng.tensor(&ctx, f64s, &[2, 1, 5, 3]);
    for causal in [false, true] {
        for bias in [None].into_iter().chain(biases.iter().map(Some)) {
            let run = |query: &Tensor, key: &Tensor, value: &Tensor, bias: Option<&Tensor>| {
                let inputs = Attention { query, key, value, bias, causal, scale: None };
                attention(&ctx, "attention", &inputs).unwrap()
            };
            let (out, log) = run(&q, &k, &v, bias);
            let inputs = Attention { query: &q, key: &k, value: &v, bias, causal, scale: None };
            let ([dq, dk, dv], db) =
                attention_backward(&ctx, "attention", &g, &inputs, &out, &log, bias.is_some())
                    .unwrap();
            check_gradient(&ctx, &q, &dq, &g, |q| run(q, &k, &v, bias).0);
            check_gradient(&ctx, &k, &dk, &g, |k| run(&q, k, &v, bias).0);
            check_gradient(&ctx, &v, &dv, &g, |v| run(&q, &k, v, bias).0);
            if let Some(bias) = bias {
                check_gradient(&ctx, bias, &db.unwrap(), &g, |b| run(&q, &k, &v, Some(b)).0);
            }
        }
    }
    // Of several tiles, rows and columns.
    let (q, k, v) = (
        rng.tensor(&ctx, f64s, &[2, 150, 3]),
        rng.tensor(&ctx, f64s, &[2, 530, 3]),
        rng.tensor(&ctx, f64s, &[2, 530, 2]),
    );
    let (bias, g) = (rng.tensor(&ctx, f64s, &[150, 1]), rng.tensor(&ctx, f64s, &[2, 150, 2]));
    let run = |bias: &Tensor| {
        let (query, key, value, bias) = (&q, &k, &v, Some(bias));
        let inputs = Attention { query, key, value, bias, causal: true, scale: None };
        let (out, log) = attention(&ctx, "attention", &inputs).unwrap();
        let back = attention_backward(&ctx, "attention", &g, &inputs, &out, &log, true).unwrap();
        (out, back.1.unwrap())
    };
    check_gradient(&ctx, &bias, &run(&bias).1, &g, |b| run(b).0);
    let mask = tensor(&ctx, DType::Bool, &[150, 1], &[1.0; 150]);
    let (query, key, value) = (&q, &k, &v);
    let (out, log) = {
        let inputs = Attention { query, key, value, bias: None, causal: true, scale: None };
        attention(&ctx, "attention", &inputs).unwrap()
    };
    for bias in [None, Some(&mask)] {
        let inputs = Attention { query, key, value, bias, causal: true, scale: None };
        let back = attention_backward(&ctx, "attention", &g, &inputs, &out, &log, true);
        assert!(back.is_err(), "no gradient for a mask");
    }
}

#[test]
fn long_ones_and_threads() {
    let mut seen: Option<Vec<Vec<f64>>> = None;
    for threads in [1, 2, 7] {
        let ctx = context(threads);
        let mut rng = Numbers(33);
        let mut make = || rng.tensor(&ctx, DType::F32, &[3, 700, 32]);
        let (q, k, v, g) = (make(), make(), make(), make());
        let inputs =
            Attention { query: &q, key: &k, value: &v, bias: None, causal: true, scale: None };
        let (out, log) = attention(&ctx, "attention", &inputs).unwrap();
        let all = attention_backward(&ctx, "attention", &g, &inputs, &out, &log, false).unwrap().0;
        let mut got = vec![values(&ctx, &out)];
        got.extend(all.iter().map(|t| values(&ctx, t)));
        match &seen {
            None => seen = Some(got),
            Some(first) => assert!(*first == got, "{threads} threads"),
        }
    }
}

#[test]
fn what_does_not_fit_is_an_error() {
    let ctx = context(1);
    let mut rng = Numbers(34);
    let mut make = |shape: &[i64]| rng.tensor(&ctx, DType::F32, shape);
    let (q, k, v) = (make(&[2, 4, 8]), make(&[2, 5, 8]), make(&[2, 5, 3]));
    let fits = |query: &Tensor, key: &Tensor, value: &Tensor, bias: Option<&Tensor>| {
        let inputs = Attention { query, key, value, bias, causal: false, scale: None };
        attention(&ctx, "attention", &inputs).is_ok()
    };
    assert!(fits(&q, &k, &v, None));
    assert!(!fits(&q, &v, &v, None));
    assert!(!fits(&q, &k, &q, None));
    assert!(!fits(&q, &k, &v, Some(&make(&[3, 5]))));
    assert!(!fits(&make(&[3, 4, 8]), &k, &v, None));
    assert!(fits(&make(&[1, 4, 8]), &k, &v, None));
    assert!(!fits(&make(&[8]), &k, &v, None));
    let ints = tensor(&ctx, DType::I64, &[2, 4, 8], &[0.0; 64]);
    assert!(!fits(&ints, &k, &v, None));
}
