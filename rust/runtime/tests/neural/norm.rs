//! Normalisation.

use super::*;
use wick_runtime::ops::norm::*;

const F64: DType = DType::F64;

/// Rows of `n` elements to mean 0 and variance 1.
fn normal(x: &[f64], n: usize, eps: f64) -> Vec<f64> {
    x.chunks(n)
        .flat_map(|row| {
            let mean = row.iter().sum::<f64>() / n as f64;
            let var = row.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n as f64;
            row.iter().map(move |v| (v - mean) / (var + eps).sqrt()).collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn of_layers() {
    let ctx = context(2);
    let mut rng = Numbers(21);
    for (shape, normalized) in
        [(&[4, 6][..], &[6][..]), (&[2, 3, 5], &[3, 5]), (&[3], &[3]), (&[2, 70], &[70])]
    {
        let x = rng.view(&ctx, F64, shape);
        let (w, b) = (rng.tensor(&ctx, F64, normalized), rng.tensor(&ctx, F64, normalized));
        let n: usize = normalized.iter().product::<i64>() as usize;
        let eps = 1e-5;
        for (weight, bias) in
            [(Some(&w), Some(&b)), (None, None), (Some(&w), None), (None, Some(&b))]
        {
            let run = |x: &Tensor, weight: Option<&Tensor>, bias: Option<&Tensor>| {
                layer_norm(&ctx, "layer", x, normalized, weight, bias, eps, true).unwrap()
            };
            let [y, mean, rstd] = run(&x, weight, bias);
            let (ws, bs) = (values(&ctx, &w), values(&ctx, &b));
            let want: Vec<f64> = normal(&values(&ctx, &x), n, eps)
                .iter()
                .enumerate()
                .map(|(i, v)| {
                    v * weight.map_or(1.0, |_| ws[i % n]) + bias.map_or(0.0, |_| bs[i % n])
                })
                .collect();
            assert_near(&values(&ctx, &y), &want, 1e-11);
            let g = rng.tensor(&ctx, F64, shape);
            let [dx, dw, db] = layer_norm_backward(
                &ctx,
                "layer",
                &g,
                &x,
                normalized,
                Some(&mean),
                &rstd,
                weight,
                [true; 3],
            )
            .unwrap();
            check_gradient(&ctx, &x, &dx.unwrap(), &g, |x| {
                let [y, ..] = run(x, weight, bias);
                y
            });
            check_gradient(&ctx, &w, &dw.unwrap(), &g, |w| {
                let [y, ..] = run(&x, Some(w), bias);
                y
            });
            check_gradient(&ctx, &b, &db.unwrap(), &g, |b| {
                let [y, ..] = run(&x, weight, Some(b));
                y
            });
        }
        let rms = |x: &Tensor, w: &Tensor| {
            layer_norm(&ctx, "rms", x, normalized, Some(w), None, eps, false).unwrap()
        };
        let [_, _, rstd] = rms(&x, &w);
        let g = rng.tensor(&ctx, F64, shape);
        let [dx, dw, _] = layer_norm_backward(
            &ctx,
            "rms",
            &g,
            &x,
            normalized,
            None,
            &rstd,
            Some(&w),
            [true, true, false],
        )
        .unwrap();
        check_gradient(&ctx, &x, &dx.unwrap(), &g, |x| rms(x, &w)[0].clone());
        check_gradient(&ctx, &w, &dw.unwrap(), &g, |w| rms(&x, w)[0].clone());
    }
}

#[test]
fn of_batches_and_groups() {
    let ctx = context(2);
    let mut rng = Numbers(22);
    for shape in [&[4, 6][..], &[3, 4, 5], &[2, 4, 3, 2], &[5, 40]] {
        let c = shape[1];
        let x = rng.view(&ctx, F64, shape);
        let (w, b) = (rng.tensor(&ctx, F64, &[c]), rng.tensor(&ctx, F64, &[c]));
        let none = Running { mean: None, var: None };
        let means = rng.tensor(&ctx, F64, &[c]);
        let vars: Vec<f64> = rng.list(c as usize).iter().map(|v| v.abs() + 0.1).collect();
        let vars = tensor(&ctx, F64, &[c], &vars);
        for training in [true, false] {
            let running =
                if training { none } else { Running { mean: Some(&means), var: Some(&vars) } };
            let run = |x: &Tensor, w: &Tensor, b: &Tensor| {
                batch_norm(&ctx, x, Some(w), Some(b), running, training, 0.1, 1e-5).unwrap()
            };
            let [_, mean, rstd] = run(&x, &w, &b);
            let g = rng.tensor(&ctx, F64, shape);
            let saved = [Some(&mean), Some(&rstd)];
            let [dx, dw, db] = batch_norm_backward(
                &ctx,
                &g,
                &x,
                Some(&w),
                running,
                saved,
                training,
                1e-5,
                [true; 3],
            )
            .unwrap();
            check_gradient(&ctx, &x, &dx.unwrap(), &g, |x| run(x, &w, &b)[0].clone());
            check_gradient(&ctx, &w, &dw.unwrap(), &g, |w| run(&x, w, &b)[0].clone());
            check_gradient(&ctx, &b, &db.unwrap(), &g, |b| run(&x, &w, b)[0].clone());
        }
        for groups in [1, 2, c] {
            let run = |x: &Tensor, w: &Tensor, b: &Tensor| {
                group_norm(&ctx, x, Some(w), Some(b), groups, 1e-5).unwrap()
            };
            if groups == 1 {
                let n = (x.numel() / shape[0]) as usize;
                let [y, ..] = group_norm(&ctx, &x, None, None, 1, 1e-5).unwrap();
                assert_near(&values(&ctx, &y), &normal(&values(&ctx, &x), n, 1e-5), 1e-11);
            }
            let [_, mean, rstd] = run(&x, &w, &b);
            assert_eq!(mean.shape(), [shape[0], groups]);
            let g = rng.tensor(&ctx, F64, shape);
            let [dx, dw, db] =
                group_norm_backward(&ctx, &g, &x, &mean, &rstd, Some(&w), groups, [true; 3])
                    .unwrap();
            check_gradient(&ctx, &x, &dx.unwrap(), &g, |x| run(x, &w, &b)[0].clone());
            check_gradient(&ctx, &w, &dw.unwrap(), &g, |w| run(&x, w, &b)[0].clone());
            check_gradient(&ctx, &b, &db.unwrap(), &g, |b| run(&x, &w, b)[0].clone());
        }
    }
}

#[test]
fn running_values_move() {
    let ctx = context(1);
    let x = tensor(&ctx, DType::F32, &[4, 2], &[1., 10., 2., 20., 3., 30., 4., 40.]);
    let mean = tensor(&ctx, DType::F32, &[2], &[0.0, 0.0]);
    let var = tensor(&ctx, DType::F32, &[2], &[1.0, 1.0]);
    let running = Running { mean: Some(&mean), var: Some(&var) };
    let [y, m, r] = batch_norm(&ctx, &x, None, None, running, true, 0.5, 0.0).unwrap();
    assert_near(&values(&ctx, &m), &[2.5, 25.0], 1e-6);
    assert_near(&values(&ctx, &r), &[1.0 / 1.25f64.sqrt(), 1.0 / 125f64.sqrt()], 1e-6);
    assert_near(&values(&ctx, &mean), &[1.25, 12.5], 1e-6);
    // The variance without bias: 5/3 and 500/3.
    assert_near(&values(&ctx, &var), &[0.5 + 2.5 / 3.0, 0.5 + 250.0 / 3.0], 1e-6);
    assert_eq!(y.shape(), x.shape());
    // Refused calls change nothing.
    let w = tensor(&ctx, DType::F32, &[3], &[1.0; 3]);
    assert!(batch_norm(&ctx, &x, Some(&w), None, running, true, 0.5, 0.0).is_err());
    assert_near(&values(&ctx, &mean), &[1.25, 12.5], 1e-6);
    let none = Running { mean: None, var: None };
    assert!(batch_norm(&ctx, &x, None, None, none, false, 0.5, 0.0).is_err());
    assert!(group_norm(&ctx, &x, None, None, 3, 0.0).is_err());
    assert!(layer_norm(&ctx, "layer", &x, &[3], None, None, 0.0, true).is_err());
    // Half inputs beside f32 parameters.
    let half = tensor(&ctx, DType::BF16, &[4, 2], &[1., 10., 2., 20., 3., 30., 4., 40.]);
    let w = tensor(&ctx, DType::F32, &[2], &[1.0; 2]);
    let [y, m, _] = batch_norm(&ctx, &half, Some(&w), None, none, true, 0.5, 0.0).unwrap();
    assert_eq!((y.dtype(), m.dtype()), (DType::BF16, DType::F32));
    assert_near(&values(&ctx, &m), &[2.5, 25.0], 1e-6);
}
