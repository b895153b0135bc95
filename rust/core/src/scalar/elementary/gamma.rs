//! Logarithm of the gamma function.
//!
//! From 5/2 on Stirling's series, its tail a minimax polynomial in `1/x²` (Remez exchange); below, one
//! in `x - 2` and the recurrence; below 0 the reflection (Abramowitz & Stegun 6.1.15, 17, 40).

use super::log::{
    exponent_f32, exponent_f64, ln_f32, ln_f64, split_f32, split_f64, sum_f32, sum_f64,
};
use super::rounding::round_f64;
use super::trig::sine_f64;
use super::{key_normal_f32, key_normal_f64};

macro_rules! lgamma {
    ($t:ident $u:ident, $split:ident $exponent:ident $sum:ident $ln:ident $key:ident,
     $positive:ident $quick:ident $argument:ident $from_log:ident, lowest $lowest:expr,
     half_ln_2pi_less_half $constant:expr; near $($n:expr),+; far $($f:expr),+) => {
        /// Of what the formulas need the logarithm.
        #[inline(always)]
        fn $argument(x: $t) -> $t {
            let below = if x < 1.5 { x } else { 1.0 };
            let below = if x < 0.5 { mad!(x, x, x) } else { below };
            if x > 2.5 { x } else { below }
        }

        /// For `x` not negative.
        #[inline(always)]
        fn $from_log(x: $t, log: $t) -> $t {
            let d = x - if x < 1.5 { 1.0 } else { 2.0 };
            let d = if x < 0.5 { x } else { d };
            let near = mad!(d, poly!(d; $($n),+), -log);
            let inverse = 1.0 / x;
            let tail = mad!(inverse, poly!(inverse * inverse; $($f),+), $constant);
            let far = mad!(x - 0.5, log - 1.0, tail);
            if x > 2.5 { far } else { near }
        }

        #[inline(always)]
        pub fn $quick(x: $t) -> ($t, $u) {
            let (k, m) = $split($argument(x), $lowest);
            ($from_log(x, $sum(($exponent(k), m - 1.0))), $key(x))
        }

        /// For `x` not negative, special cases included.
        #[inline(always)]
        fn $positive(x: $t) -> $t {
            $from_log(x, $ln($argument(x)))
        }
    };
}

lgamma!(f32 u32, split_f32 exponent_f32 sum_f32 ln_f32 key_normal_f32,
    positive_f32 quick_lgamma_f32 argument_f32 from_log_f32, lowest 2.0 / 3.0,
    half_ln_2pi_less_half 0.418_938_53;
    near 4.227844e-01, 3.224687e-01, -6.735501e-02, 2.054123e-02, -7.3512048e-03,
    3.155132e-03, -1.3494581e-03;
    far 8.333315e-02, -2.7681019e-03, 6.621882e-04);
lgamma!(f64 u64, split_f64 exponent_f64 sum_f64 ln_f64 key_normal_f64,
    positive_f64 quick_lgamma_f64 argument_f64 from_log_f64, lowest core::f64::consts::FRAC_1_SQRT_2,
    half_ln_2pi_less_half 0.418_938_533_204_672_7;
    near 0.4227843350984671, 0.3224670334241095, -0.06735230105318243, 0.020580808428263153,
    -0.007385551029740916, 0.002890510309780519, -0.001192753879643338, 0.0005096699681106596,
    -0.00022315527346212908, 9.945233797674582e-05, -4.492141807961689e-05, 2.05422407690197e-05,
    -9.466502702491962e-06, 4.238663674967383e-06, -1.9504158786939523e-06, 1.232934621195911e-06,
    -6.04093448634858e-07;
    far 0.08333333333332998, -0.0027777777757930756, 0.0007936504442653793, -0.0005952093812078164,
    0.0008404134445141418, -0.0018781805220665683, 0.0056233922867362654, -0.01814435319342726,
    0.049986180527547094, -0.09354087456729891, 0.0841488133748226);

#[inline(always)]
pub fn lgamma_f64(x: f64) -> f64 {
    let a = x.abs();
    // Next to 0 both sides are alike.
    let reflected = x < -1e-30;
    let y = positive_f64(if reflected { 1.0 + a } else { a });
    let sine = sine_f64((core::f64::consts::PI * (a - round_f64(a)), 0.0));
    const LN_PI: f64 = 1.144_729_885_849_400_2;
    let mirror = (LN_PI - ln_f64(sine.abs())) - y;
    // Here all numbers are integers.
    let mirror = if a < 4_503_599_627_370_496.0 { mirror } else { f64::INFINITY };
    if reflected { mirror } else { y }
}

/// The reflection loses more than `f32` has to spare.
#[inline(always)]
pub fn lgamma_f32(x: f32) -> f32 {
    if x < 0.0 { lgamma_f64(x as f64) as f32 } else { positive_f32(x) }
}
