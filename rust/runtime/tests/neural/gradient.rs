//! Elementwise gradients, losses, softmax and embedding against finite differences.

use super::*;
use wick_core::ops::UnaryOp;
use wick_core::ops::gradient::{PairOp, TripleOp};
use wick_runtime::ops::backward::{pair, softmax_backward};
use wick_runtime::ops::elementwise::{Out, unary};
use wick_runtime::ops::embedding::{embedding, embedding_dense_backward};
use wick_runtime::ops::loss::*;
use wick_runtime::ops::softmax::softmax;

const F64: DType = DType::F64;

#[test]
fn of_elementwise_operations() {
    let ctx = context(1);
    let x = tensor(&ctx, F64, &[8], &[-4.1, -2.9, -1.3, -0.2, 0.3, 1.4, 2.8, 7.0]);
    let weights = Numbers(1).tensor(&ctx, F64, &[8]);
    let rows = [
        (UnaryOp::Gelu, PairOp::GeluBackward, [0.0; 3]),
        (UnaryOp::GeluTanh, PairOp::GeluTanhBackward, [0.0; 3]),
        (UnaryOp::Hardswish, PairOp::HardswishBackward, [0.0; 3]),
        (UnaryOp::Hardsigmoid, PairOp::HardsigmoidBackward, [0.0; 3]),
        (UnaryOp::Silu, PairOp::SiluBackward, [0.0; 3]),
        (UnaryOp::Mish, PairOp::MishBackward, [0.0; 3]),
        (UnaryOp::LogSigmoid, PairOp::LogSigmoidBackward, [0.0; 3]),
        (UnaryOp::LeakyRelu, PairOp::LeakyReluBackward, [0.2, 0.0, 0.0]),
        (UnaryOp::Relu, PairOp::ThresholdBackward, [0.0; 3]),
        (UnaryOp::Relu6, PairOp::HardtanhBackward, [0.0, 6.0, 0.0]),
        (UnaryOp::Softplus, PairOp::SoftplusBackward, [2.0, 5.0, 0.0]),
    ];
    for (op, gradient, p) in rows {
        let slopes = pair(&ctx, gradient, &weights, &x, p, Out::New).unwrap().unwrap();
        check_gradient(&ctx, &x, &slopes, &weights, |x| {
            unary(&ctx, op, x, p, Out::New).unwrap().unwrap()
        });
    }
    // Those that Scala makes of others.
    let soft = |x: f64| x - x.clamp(-0.7, 0.7);
    let hard = |x: f64| if x.abs() > 0.7 { x } else { 0.0 };
    let threshold = |x: f64| if x > 0.4 { x } else { -2.0 };
    let clamp = |x: f64| x.clamp(-1.0, 2.0);
    type Row<'a> = (&'a dyn Fn(f64) -> f64, PairOp, [f64; 3]);
    let made: [Row; 4] = [
        (&soft, PairOp::SoftshrinkBackward, [0.7, 0.0, 0.0]),
        (&hard, PairOp::SoftshrinkBackward, [0.7, 0.0, 0.0]),
        (&threshold, PairOp::ThresholdBackward, [0.4, 0.0, 0.0]),
        (&clamp, PairOp::HardtanhBackward, [-1.0, 2.0, 0.0]),
    ];
    for (f, gradient, p) in made {
        let slopes = pair(&ctx, gradient, &weights, &x, p, Out::New).unwrap().unwrap();
        check_gradient(&ctx, &x, &slopes, &weights, |x| {
            let y: Vec<f64> = values(&ctx, x).into_iter().map(f).collect();
            tensor(&ctx, F64, &[8], &y)
        });
    }
    let elu =
        |x: &Tensor| unary(&ctx, UnaryOp::Elu, x, [1.3, 0.0, 0.0], Out::New).unwrap().unwrap();
    let p = [1.3, 1.0, 1.0];
    let slopes = pair(&ctx, PairOp::EluBackward, &weights, &x, p, Out::New).unwrap().unwrap();
    check_gradient(&ctx, &x, &slopes, &weights, elu);
    let y = elu(&x);
    let slopes = pair(&ctx, PairOp::EluBackwardResult, &weights, &y, p, Out::New).unwrap().unwrap();
    check_gradient(&ctx, &x, &slopes, &weights, elu);
    for (op, gradient) in
        [(UnaryOp::Tanh, PairOp::TanhBackward), (UnaryOp::Sigmoid, PairOp::SigmoidBackward)]
    {
        let f = |x: &Tensor| unary(&ctx, op, x, [0.0; 3], Out::New).unwrap().unwrap();
        let slopes = pair(&ctx, gradient, &weights, &f(&x), [0.0; 3], Out::New).unwrap().unwrap();
        check_gradient(&ctx, &x, &slopes, &weights, f);
    }
}

#[test]
fn limits_are_no_nan() {
    let ctx = context(1);
    let x = tensor(&ctx, DType::F32, &[4], &[f64::NEG_INFINITY, -1e30, 1e30, f64::INFINITY]);
    let ones = tensor(&ctx, DType::F32, &[4], &[1.0; 4]);
    for op in [
        PairOp::GeluBackward,
        PairOp::GeluTanhBackward,
        PairOp::SiluBackward,
        PairOp::MishBackward,
        PairOp::HardswishBackward,
    ] {
        let got = pair(&ctx, op, &ones, &x, [0.0; 3], Out::New).unwrap().unwrap();
        assert_eq!(values(&ctx, &got), [0.0, 0.0, 1.0, 1.0], "{}", op.name());
    }
}

#[test]
fn of_losses() {
    let ctx = context(2);
    let mut rng = Numbers(7);
    let shape = [3, 4];
    let x = rng.tensor(&ctx, F64, &shape);
    let target = rng.tensor(&ctx, F64, &shape);
    let rows = [
        (PairOp::MseLoss, TripleOp::MseLossBackward, 0.0),
        (PairOp::L1Loss, TripleOp::L1LossBackward, 0.0),
        (PairOp::SmoothL1Loss, TripleOp::SmoothL1LossBackward, 0.7),
        (PairOp::SmoothL1Loss, TripleOp::SmoothL1LossBackward, 0.0),
        (PairOp::HuberLoss, TripleOp::HuberLossBackward, 0.4),
        (PairOp::KlDivLog, TripleOp::KlDivLogBackward, 0.0),
        (PairOp::SoftMarginLoss, TripleOp::SoftMarginLossBackward, 0.0),
    ];
    for reduction in [Reduction::None, Reduction::Mean, Reduction::Sum] {
        let size: &[i64] = if reduction == Reduction::None { &shape } else { &[] };
        let weights = rng.tensor(&ctx, F64, size);
        for (op, gradient, p) in rows {
            let slopes = loss_backward(&ctx, gradient, &weights, &x, &target, reduction, p);
            check_gradient(&ctx, &x, &slopes.unwrap(), &weights, |x| {
                loss(&ctx, op, x, &target, reduction, p).unwrap()
            });
        }
        let positive = |t: &Tensor| {
            let numbers: Vec<f64> = values(&ctx, t).iter().map(|v| 0.5 + v / 2.5).collect();
            tensor(&ctx, F64, t.shape(), &numbers)
        };
        let (p, t) = (positive(&x), positive(&target));
        let op = TripleOp::KlDivBackward;
        let slopes = loss_backward(&ctx, op, &weights, &x, &t, reduction, 0.0).unwrap();
        check_gradient(&ctx, &x, &slopes, &weights, |x| {
            loss(&ctx, PairOp::KlDiv, x, &t, reduction, 0.0).unwrap()
        });
        let w = rng.tensor(&ctx, F64, &[4]);
        let some = Some(&w);
        let slopes = binary_cross_entropy_backward(&ctx, &weights, &p, &t, some, reduction);
        check_gradient(&ctx, &p, &slopes.unwrap(), &weights, |p| {
            binary_cross_entropy(&ctx, p, &t, some, reduction).unwrap()
        });
        let positives = positive(&rng.tensor(&ctx, F64, &[4]));
        for pos in [None, Some(&positives)] {
            let slopes = binary_cross_entropy_with_logits_backward(
                &ctx, &weights, &x, &t, some, pos, reduction,
            );
            check_gradient(&ctx, &x, &slopes.unwrap(), &weights, |x| {
                binary_cross_entropy_with_logits(&ctx, x, &t, some, pos, reduction).unwrap()
            });
        }
    }
}

#[test]
fn of_likelihoods() {
    let ctx = context(2);
    let mut rng = Numbers(9);
    for (shape, classes, target) in [
        (&[5, 4][..], &[5][..], vec![0.0, 3.0, -100.0, 1.0, 3.0]),
        (&[4], &[], vec![2.0]),
        (&[2, 3, 2, 2], &[2, 2, 2], vec![0.0, 2.0, 1.0, 1.0, -100.0, 2.0, 0.0, 1.0]),
    ] {
        let x = rng.tensor(&ctx, F64, shape);
        let target = tensor(&ctx, DType::I64, classes, &target);
        let c = if shape.len() == 1 { shape[0] } else { shape[1] };
        let w: Vec<f64> = (0..c).map(|i| 0.3 + i as f64 / 3.0).collect();
        let w = tensor(&ctx, F64, &[c], &w);
        for reduction in [Reduction::None, Reduction::Mean, Reduction::Sum] {
            let size = if reduction == Reduction::None { classes } else { &[] };
            let weights = rng.tensor(&ctx, F64, size);
            for weight in [None, Some(&w)] {
                let f = |x: &Tensor| {
                    nll_loss(&ctx, "nll", x, &target, weight, reduction, -100).unwrap()
                };
                let total = f(&x).1;
                let slopes = nll_loss_backward(
                    &ctx, "nll", &weights, &x, &target, weight, reduction, -100, &total,
                );
                check_gradient(&ctx, &x, &slopes.unwrap(), &weights, |x| f(x).0);
            }
        }
    }
}

#[test]
fn cross_entropy_is_its_definition() {
    let ctx = context(1);
    let x = tensor(&ctx, F64, &[3, 3], &[1.0, 2.0, 0.5, -1.0, 0.0, 3.0, 0.1, 0.2, 0.3]);
    let target = tensor(&ctx, DType::I64, &[3], &[2.0, 0.0, 1.0]);
    let w = tensor(&ctx, F64, &[3], &[0.5, 1.0, 2.0]);
    let log = values(&ctx, &softmax(&ctx, true, &x, 1, None).unwrap());
    let (classes, weights) = ([2, 0, 1], [0.5, 1.0, 2.0]);
    for smoothing in [0.0, 0.1] {
        let one = |i: usize| -> f64 {
            let plain = -weights[classes[i]] * log[3 * i + classes[i]];
            let smooth: f64 = (0..3).map(|c| -weights[c] * log[3 * i + c]).sum();
            (1.0 - smoothing) * plain + smoothing / 3.0 * smooth
        };
        let sum: f64 = (0..3).map(one).sum();
        for (reduction, want) in [
            (Reduction::None, (0..3).map(one).collect::<Vec<_>>()),
            (Reduction::Sum, vec![sum]),
            (Reduction::Mean, vec![sum / 3.5]),
        ] {
            let got = cross_entropy(&ctx, &x, &target, Some(&w), reduction, -100, smoothing);
            assert_near(&values(&ctx, &got.unwrap()), &want, 1e-12);
        }
    }
    // Against probabilities that name the classes, without weights the same.
    let one_hot = tensor(&ctx, F64, &[3, 3], &[0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    for smoothing in [0.0, 0.3] {
        let of = |t: &Tensor| {
            cross_entropy(&ctx, &x, t, None, Reduction::Mean, -100, smoothing).unwrap()
        };
        assert_near(&values(&ctx, &of(&one_hot)), &values(&ctx, &of(&target)), 1e-12);
    }
}

/// As libtorch makes it: of the logarithms of probabilities, then of these.
#[test]
fn of_cross_entropy() {
    let ctx = context(2);
    let mut rng = Numbers(11);
    let x = rng.tensor(&ctx, F64, &[4, 3]);
    let target = tensor(&ctx, DType::I64, &[4], &[2.0, -100.0, 0.0, 1.0]);
    let w = tensor(&ctx, F64, &[3], &[0.5, 1.0, 2.0]);
    for reduction in [Reduction::None, Reduction::Mean, Reduction::Sum] {
        let size: &[i64] = if reduction == Reduction::None { &[4] } else { &[] };
        let weights = rng.tensor(&ctx, F64, size);
        for weight in [None, Some(&w)] {
            let log = softmax(&ctx, true, &x, 1, None).unwrap();
            let total = nll_loss(&ctx, "nll", &log, &target, weight, reduction, -100).unwrap().1;
            let slopes = nll_loss_backward(
                &ctx, "nll", &weights, &log, &target, weight, reduction, -100, &total,
            );
            let slopes = softmax_backward(&ctx, true, &slopes.unwrap(), &log, 1, F64).unwrap();
            check_gradient(&ctx, &x, &slopes, &weights, |x| {
                cross_entropy(&ctx, x, &target, weight, reduction, -100, 0.0).unwrap()
            });
        }
    }
}

#[test]
fn of_dropout() {
    let ctx = context(1);
    let mut rng = Numbers(12);
    let (x, weights) = (rng.tensor(&ctx, F64, &[6]), rng.tensor(&ctx, F64, &[6]));
    let kept = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0];
    let mask = tensor(&ctx, F64, &[6], &kept);
    let p = [1.25, 0.0, 0.0];
    let slopes = pair(&ctx, PairOp::DropoutBackward, &weights, &mask, p, Out::New);
    check_gradient(&ctx, &x, &slopes.unwrap().unwrap(), &weights, |x| {
        let kept: Vec<f64> = values(&ctx, x).iter().zip(kept).map(|(x, k)| x * k * 1.25).collect();
        tensor(&ctx, F64, &[6], &kept)
    });
}

#[test]
fn of_softmax() {
    let ctx = context(2);
    let mut rng = Numbers(3);
    for (shape, dim) in [(&[3, 5][..], 1), (&[3, 5], 0), (&[2, 3, 4], 1), (&[40], 0), (&[], 0)] {
        let x = rng.tensor(&ctx, F64, shape);
        let weights = rng.tensor(&ctx, F64, shape);
        for log in [false, true] {
            let f = |x: &Tensor| softmax(&ctx, log, x, dim, None).unwrap();
            let slopes = softmax_backward(&ctx, log, &weights, &f(&x), dim, F64).unwrap();
            check_gradient(&ctx, &x, &slopes, &weights, f);
        }
    }
}

#[test]
fn of_embedding() {
    let ctx = context(2);
    let mut rng = Numbers(4);
    let table = rng.tensor(&ctx, F64, &[5, 3]);
    let indices = tensor(&ctx, DType::I64, &[2, 3], &[0.0, 4.0, 4.0, 1.0, 0.0, 4.0]);
    let weights = rng.tensor(&ctx, F64, &[2, 3, 3]);
    let slopes = embedding_dense_backward(&ctx, &weights, &indices, 5, -1, false).unwrap();
    check_gradient(&ctx, &table, &slopes, &weights, |t| embedding(&ctx, t, &indices).unwrap());
    let plain = values(&ctx, &slopes);
    let padded = embedding_dense_backward(&ctx, &weights, &indices, 5, 4, false).unwrap();
    let scaled = embedding_dense_backward(&ctx, &weights, &indices, 5, -1, true).unwrap();
    let (padded, scaled) = (values(&ctx, &padded), values(&ctx, &scaled));
    assert_eq!(padded[..12], plain[..12]);
    assert_eq!(padded[12..], [0.0; 3]);
    let counts = [2.0, 1.0, 1.0, 1.0, 3.0];
    let want: Vec<f64> = plain.iter().enumerate().map(|(i, v)| v / counts[i / 3]).collect();
    assert_near(&scaled, &want, 1e-12);
    let outside = tensor(&ctx, DType::I64, &[1], &[5.0]);
    assert!(embedding(&ctx, &table, &outside).is_err());
}
