//! Gradients of elementwise operations, losses and the gradients of losses: rows of two or three
//! float operands and three numbers `p`. A row: variant, name, the operands, cost in nanoseconds,
//! the expression, doc.

/// Rows of two operands.
#[macro_export]
macro_rules! pair_table {
    ($callback:ident) => { $callback! {
        GeluBackward "gelu_backward" [g, x] p 3.0 { g * T::gelu_slope(x) } "Of gelu.";
        GeluTanhBackward "gelu_tanh_backward" [g, x] p 3.0 { g * T::gelu_tanh_slope(x) } "Of the tanh approximation of gelu.";
        HardswishBackward "hardswish_backward" [g, x] p 0.5 { let three = T::from_f64(3.0); if x < -three { T::ZERO } else if x <= three { g * (x / three + T::HALF) } else { g } } "Of hardswish.";
        HardsigmoidBackward "hardsigmoid_backward" [g, x] p 0.5 { let three = T::from_f64(3.0); if x > -three && x < three { g / T::from_f64(6.0) } else { T::ZERO } } "Of hardsigmoid.";
        SigmoidBackward "sigmoid_backward" [g, y] p 0.5 { g * (T::ONE - y) * y } "Of sigmoid, from its result.";
        TanhBackward "tanh_backward" [g, y] p 0.5 { g * (T::ONE - y * y) } "Of tanh, from its result.";
        SoftplusBackward "softplus_backward" [g, x] p 1.0 { let z = x * p[0]; if z > p[1] { g } else { g * z.sigmoid() } } "Of softplus; beta, threshold.";
        LogSigmoidBackward "log_sigmoid_backward" [g, x] p 1.0 { g * (-x).sigmoid() } "Of log_sigmoid.";
        SiluBackward "silu_backward" [g, x] p 1.0 { let s = x.sigmoid(); let t = s * (T::ONE - s); g * (s + if t == T::ZERO { T::ZERO } else { x * t }) } "Of silu.";
        MishBackward "mish_backward" [g, x] p 3.0 { g * T::mish_slope(x) } "Of mish.";
        LeakyReluBackward "leaky_relu_backward" [g, x] p 0.5 { if x > T::ZERO { g } else { g * p[0] } } "Of leaky_relu; the negative slope.";
        EluBackward "elu_backward" [g, x] p 1.0 { if x <= T::ZERO { g * p[2] * p[0] * (x * p[2]).exp() } else { g * p[1] } } "Of elu; alpha * scale, scale, input scale.";
        EluBackwardResult "elu_backward_result" [g, y] p 0.5 { if y <= T::ZERO { g * p[2] * (y + p[0]) } else { g * p[1] } } "Of elu, from its result.";
        ThresholdBackward "threshold_backward" [g, x] p 0.5 { if x <= p[0] { T::ZERO } else { g } } "Of threshold and relu; the threshold.";
        HardtanhBackward "hardtanh_backward" [g, x] p 0.5 { if x <= p[0] || x >= p[1] { T::ZERO } else { g } } "Of hardtanh and relu6; its bounds.";
        SoftshrinkBackward "softshrink_backward" [g, x] p 0.5 { if x >= -p[0] && x <= p[0] { T::ZERO } else { g } } "Of softshrink and hardshrink; lambda.";
        MseLoss "mse_loss" [x, t] p 0.3 { let d = x - t; d * d } "(x - t)^2.";
        L1Loss "l1_loss" [x, t] p 0.3 { (x - t).abs() } "|x - t|.";
        SmoothL1Loss "smooth_l1_loss" [x, t] p 0.5 { let z = (x - t).abs(); if z < p[0] { T::HALF * z * z / p[0] } else { z - T::HALF * p[0] } } "Quadratic nearer than beta, else linear.";
        HuberLoss "huber_loss" [x, t] p 0.5 { let z = (x - t).abs(); if z <= p[0] { T::HALF * z * z } else { p[0] * (z - T::HALF * p[0]) } } "Quadratic up to delta, else linear.";
        KlDiv "kl_div" [x, t] p 1.5 { if t == T::ZERO { T::ZERO } else { t * t.ln() - t * x } } "t * (log t - x).";
        KlDivLog "kl_div_log" [x, t] p 1.0 { t.exp() * (t - x) } "e^t * (t - x).";
        BinaryCrossEntropy "binary_cross_entropy" [x, t] p 2.0 { let low = T::from_f64(-100.0); (t - T::ONE) * (-x).log1p().max(low) - t * x.ln().max(low) } "Of probabilities; logarithms from -100 on.";
        SoftMarginLoss "soft_margin_loss" [x, t] p 2.0 { T::softplus(-x * t, T::ONE, T::INFINITY) } "log(1 + e^(-t x)).";
        DropoutBackward "native_dropout_backward" [g, mask] p 0.3 { g * mask * p[0] } "Of dropout; the scale.";
    } };
}

/// Rows of three operands; in the gradients of losses `p[0]` is the factor of the reduction.
#[macro_export]
macro_rules! triple_table {
    ($callback:ident) => { $callback! {
        MseLossBackward "mse_loss_backward" [g, x, t] p 0.5 { p[0] * (x - t) * g } "Of mse_loss.";
        L1LossBackward "l1_loss_backward" [g, x, t] p 0.5 { let d = x - t; let s = if d > T::ZERO { T::ONE } else if d < T::ZERO { -T::ONE } else { d }; p[0] * s * g } "Of l1_loss.";
        SmoothL1LossBackward "smooth_l1_loss_backward" [g, x, t] p 0.5 { let d = x - t; if d.abs() < p[1] { p[0] * d * g / p[1] } else if d > T::ZERO { p[0] * g } else if d < T::ZERO { -p[0] * g } else { p[0] * g * d } } "Of smooth_l1_loss; beta.";
        HuberLossBackward "huber_loss_backward" [g, x, t] p 0.5 { let d = x - t; if d > p[1] { p[0] * p[1] * g } else if d < -p[1] { -p[0] * p[1] * g } else { p[0] * d * g } } "Of huber_loss; delta.";
        KlDivBackward "kl_div_backward" [g, x, t] p 0.5 { -(p[0] * t * g) } "Of kl_div.";
        KlDivLogBackward "kl_div_log_backward" [g, x, t] p 0.7 { -(p[0] * t.exp() * g) } "Of kl_div of logarithms.";
        BinaryCrossEntropyBackward "binary_cross_entropy_backward" [g, x, t] p 0.7 { let q = (T::ONE - x) * x; let least = T::from_f64(1e-12); p[0] * g * (x - t) / if q < least { least } else { q } } "Of binary_cross_entropy.";
        SoftMarginLossBackward "soft_margin_loss_backward" [g, x, t] p 1.0 { -(p[0] * g * t * (-x * t).sigmoid()) } "Of soft_margin_loss.";
        BceLogits "binary_cross_entropy_with_logits" [x, t, w] p 2.0 { (T::ONE - t) * x + (T::ONE + (w - T::ONE) * t) * T::softplus(-x, T::ONE, T::INFINITY) } "Of logits; w: the weight of positives.";
        BceLogitsSlope "binary_cross_entropy_with_logits_slope" [x, t, w] p 1.0 { p[0] * (T::ONE - t - (T::ONE + (w - T::ONE) * t) * (-x).sigmoid()) } "Its derivative.";
    } };
}

macro_rules! pairs {
    ($($variant:ident $name:literal [$($x:ident),*] $p:ident $cost:literal { $($body:tt)* } $doc:literal;)*) => {
        $crate::named_ops! {
            /// Rows of two operands.
            PairOp { $(#[doc = $doc] $variant $name,)* }
        }
    };
}
crate::pair_table!(pairs);

macro_rules! triples {
    ($($variant:ident $name:literal [$($x:ident),*] $p:ident $cost:literal { $($body:tt)* } $doc:literal;)*) => {
        $crate::named_ops! {
            /// Rows of three operands.
            TripleOp { $(#[doc = $doc] $variant $name,)* }
        }
    };
}
crate::triple_table!(triples);
