//! Rows of two and three operands over random layouts and dtypes, and bad losses.

use super::*;
use proptest::prelude::*;
use wick_core::ops::gradient::{PairOp, TripleOp};
use wick_runtime::ops::backward::{pair, triple};
use wick_runtime::ops::elementwise::Out;
use wick_runtime::ops::loss::*;
use wick_runtime::ops::promote::Arg;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn any_layout_and_dtype(shape in common::shapes(), dtype in 0..4usize, seed: u64) {
        let ctx = context(2);
        let dtype = [DType::F64, DType::F32, DType::F16, DType::BF16][dtype];
        let mut rng = Numbers(seed);
        let (g, x) = (rng.view(&ctx, dtype, &shape), rng.view(&ctx, dtype, &shape));
        let t = rng.view(&ctx, dtype, &shape);
        let tolerance = match dtype { DType::F64 => 1e-14, DType::F32 => 1e-6, DType::F16 => 2e-3, _ => 1.5e-2 };
        let (gs, xs, ts) = (values(&ctx, &g), values(&ctx, &x), values(&ctx, &t));
        let got = pair(&ctx, PairOp::TanhBackward, &g, &x, [0.0; 3], Out::New).unwrap().unwrap();
        prop_assert_eq!(got.dtype(), dtype);
        let want: Vec<f64> = gs.iter().zip(&xs).map(|(g, y)| g * (1.0 - y * y)).collect();
        assert_near(&values(&ctx, &got), &want, tolerance);
        let args = [&g, &x, &t].map(Arg::Tensor);
        let got = triple(&ctx, TripleOp::MseLossBackward, args, [0.5, 0.0, 0.0], Out::New).unwrap().unwrap();
        let want: Vec<f64> = (0..gs.len()).map(|i| 0.5 * (xs[i] - ts[i]) * gs[i]).collect();
        assert_near(&values(&ctx, &got), &want, tolerance);
    }
}

#[test]
fn bad_losses() {
    let ctx = context(1);
    let mut rng = Numbers(41);
    let x = rng.tensor(&ctx, DType::F32, &[3, 4]);
    let other = rng.tensor(&ctx, DType::F32, &[3, 5]);
    let ints = tensor(&ctx, DType::I64, &[3], &[0.0, 4.0, 1.0]);
    let mean = Reduction::Mean;
    assert!(Reduction::of("mse_loss", 3).is_err());
    assert!(loss(&ctx, PairOp::MseLoss, &x, &other, mean, 0.0).is_err());
    assert!(loss(&ctx, PairOp::MseLoss, &ints, &ints, mean, 0.0).is_err());
    assert!(loss(&ctx, PairOp::SmoothL1Loss, &x, &x, mean, -1.0).is_err());
    assert!(loss(&ctx, PairOp::HuberLoss, &x, &x, mean, 0.0).is_err());
    assert!(binary_cross_entropy_with_logits(&ctx, &x, &other, None, None, mean).is_err());
    // Probabilities outside [0, 1], classes outside [0, 4).
    assert!(binary_cross_entropy(&ctx, &x, &x, None, mean).is_err());
    let text = nll_loss(&ctx, "nll_loss", &x, &ints, None, mean, -100).unwrap_err().to_string();
    assert!(text.contains("class 4 at place 1"), "{text}");
    assert!(nll_loss(&ctx, "nll_loss", &x, &ints, None, mean, 4).is_ok());
    let weight = rng.tensor(&ctx, DType::F32, &[3]);
    assert!(nll_loss(&ctx, "nll_loss", &x, &ints, Some(&weight), mean, 4).is_err());
    assert!(cross_entropy(&ctx, &x, &ints, None, mean, 4, 1.5).is_err());
}
