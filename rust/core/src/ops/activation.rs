//! Compositions of elementary functions that several rows use.

use crate::scalar::Real;

/// What the activation rows are made of, for every [`Real`].
pub trait Activation: Real {
    /// x * gate; where a vanishing gate meets negative infinity, the limit -0 and not NaN.
    #[inline(always)]
    fn gated(x: Self, gate: Self) -> Self {
        if gate == Self::ZERO && x < Self::ZERO { -Self::ZERO } else { x * gate }
    }

    /// x times the normal distribution function at x.
    #[inline(always)]
    fn gelu(x: Self) -> Self {
        let z = x * Self::from_f64(-core::f64::consts::FRAC_1_SQRT_2);
        Self::gated(x, z.erfc() * Self::HALF)
    }

    /// The tanh approximation of gelu.
    #[inline(always)]
    fn gelu_tanh(x: Self) -> Self {
        let cubic = x + Self::from_f64(0.044715) * x * x * x;
        let inner = Self::from_f64(0.797_884_560_802_865_4) * cubic;
        Self::gated(x, Self::HALF * (Self::ONE + inner.tanh()))
    }

    /// The slope of gelu; 0 and 1 at the infinities.
    #[inline(always)]
    fn gelu_slope(x: Self) -> Self {
        let z = x * Self::from_f64(-core::f64::consts::FRAC_1_SQRT_2);
        let density = (x * x * -Self::HALF).exp() * Self::from_f64(0.398_942_280_401_432_7);
        let tail = if density == Self::ZERO { Self::ZERO } else { x * density };
        z.erfc() * Self::HALF + tail
    }

    /// The slope of the tanh approximation of gelu.
    #[inline(always)]
    fn gelu_tanh_slope(x: Self) -> Self {
        let scale = Self::from_f64(0.797_884_560_802_865_4);
        let square = Self::from_f64(0.044715) * x * x;
        let t = (scale * (x + square * x)).tanh();
        let inner = scale * (Self::ONE + Self::from_f64(3.0) * square);
        let bend = Self::ONE - t * t;
        let tail = if bend == Self::ZERO { Self::ZERO } else { Self::HALF * x * bend * inner };
        Self::HALF * (Self::ONE + t) + tail
    }

    /// The slope of mish.
    #[inline(always)]
    fn mish_slope(x: Self) -> Self {
        let t = Self::softplus(x, Self::ONE, Self::INFINITY).tanh();
        let bend = x.sigmoid() * (Self::ONE - t * t);
        t + if bend == Self::ZERO { Self::ZERO } else { x * bend }
    }

    /// log(1 + e^(beta x)) / beta, linear as soon as beta * x exceeds the threshold.
    #[inline(always)]
    fn softplus(x: Self, beta: Self, threshold: Self) -> Self {
        let z = x * beta;
        // log(1 + e^z) = max(z, 0) + log1p(e^-|z|) overflows nowhere.
        let positive = if z > Self::ZERO { z } else { Self::ZERO };
        let soft = (positive + (-z.abs()).exp().log1p()) / beta;
        if z > threshold { x } else { soft }
    }

    /// log(e^x + e^y), infinities among them.
    #[inline(always)]
    fn log_add(x: Self, y: Self) -> Self {
        let far = x.max(y) + (-(x - y).abs()).exp().log1p();
        if x == y { x + Self::LN_2 } else { far }
    }

    /// min(max(x + 3, 0), 6) / 6.
    #[inline(always)]
    fn unit(x: Self) -> Self {
        let six = Self::from_f64(6.0);
        (x + Self::from_f64(3.0)).max(Self::ZERO).min(six) / six
    }

    /// x + w * (y - x), computed from the nearer end so that it is exact at both.
    #[inline(always)]
    fn lerp(x: Self, y: Self, w: Self) -> Self {
        let d = y - x;
        if w.abs() < Self::HALF { x + w * d } else { y - d * (Self::ONE - w) }
    }
}

impl<T: Real> Activation for T {}
