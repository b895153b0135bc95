//! Hyperbolic functions and the logistic function.
//!
//! With `|x| = n·ln 2 + r`, `cosh x` and `sinh x` are the sums of `(2ⁿ ± 2⁻ⁿ)/2` times `cosh r`
//! and `sinh r`, which are an even and an odd minimax polynomial (Remez exchange). No division,
//! and no cancellation where `n` is 0.

use super::exp::{
    exp_in_range_f32, exp_in_range_f64, exp_normal_f32, exp_normal_f64, half_expm1_f32,
    half_expm1_f64, reduce_f32, reduce_f64,
};
use super::{key_within_f32, key_within_f64};

macro_rules! hyperbolic {
    ($t:ident $u:ident, $reduce:ident $exp_in_range:ident $exp_normal:ident $half_expm1:ident $within:ident,
     $parts:ident $sinh:ident $cosh:ident $tanh:ident $sigmoid:ident $quick_sigmoid:ident $logistic:ident,
     mantissa $mantissa:expr, bias $bias:expr, highest $highest:expr, one_sided $one_sided:expr,
     saturated $saturated:expr, exp from $smallest_exp:expr, to $largest_exp:expr;
     cosh $($c:expr),+; sinh $($s:expr),+) => {
        /// For `a` not negative: `(2ⁿ + 2⁻ⁿ)/4`, `(2ⁿ - 2⁻ⁿ)/4`, `cosh r - 1`, and `sinh r` in two
        /// parts, the first exact. Quarters, because half of 2ⁿ may be too large for a number
        /// where the result is not.
        #[inline(always)]
        fn $parts(a: $t) -> ($t, $t, $t, $t, $t) {
            let a = if a > $highest { $highest } else { a };
            let (high, low, n) = $reduce(a);
            let r = high - low;
            let up = (n << $mantissa).wrapping_sub(1 << $mantissa);
            let down = ((2 * ($bias - 2)) << $mantissa as u32).wrapping_sub(up);
            let (up, down) = ($t::from_bits(up), $t::from_bits(down));
            // Where 2⁻ⁿ is negligible; its exponent may be out of range there.
            let down = if a > $one_sided { 0.0 } else { down };
            let z = r * r;
            let c = z * poly!(z; $($c),+);
            let s = mad!(r * z, poly!(z; $($s),+), -low);
            (up + down, up - down, c, high, s)
        }

        #[inline(always)]
        pub fn $sinh(x: $t) -> $t {
            let (sum, difference, c, high, s) = $parts(x.abs());
            let y = (mad!(sum, high, difference) + mad!(sum, s, difference * c)) * 2.0;
            // Half of a denormal may lose its last bit.
            if x.abs() < $t::MIN_POSITIVE { x } else { y.copysign(x) }
        }

        #[inline(always)]
        pub fn $cosh(x: $t) -> $t {
            let (sum, difference, c, high, s) = $parts(x.abs());
            (sum + mad!(difference, high, mad!(difference, s, sum * c))) * 2.0
        }

        #[inline(always)]
        pub fn $tanh(x: $t) -> $t {
            let a = x.abs();
            let a = if a > $saturated { $saturated } else { a };
            // e/(e + 2) for e = expm1 2a, but the quotient's error enters in part only.
            let half = $half_expm1(a, 2.0);
            let h = if half > 1.0 { 1.0 } else { half };
            (mad!(-h, h / (half + 1.0), h)).copysign(x)
        }

        #[inline(always)]
        pub fn $sigmoid(x: $t) -> $t {
            // Denormal results need no more than this range.
            $logistic($exp_in_range(clamp!(x, $smallest_exp, $largest_exp)))
        }

        #[inline(always)]
        pub fn $quick_sigmoid(x: $t) -> ($t, $u) {
            ($logistic($exp_normal(x)), $within(x, $largest_exp))
        }

        /// `e/(1 + e)`, but the quotient's error enters in part only.
        #[inline(always)]
        fn $logistic(e: $t) -> $t {
            let h = if e > 1.0 { 1.0 } else { e };
            mad!(-h, h / (1.0 + e), h)
        }
    };
}

hyperbolic!(f32 u32, reduce_f32 exp_in_range_f32 exp_normal_f32 half_expm1_f32 key_within_f32,
    parts_f32 sinh_f32 cosh_f32 tanh_f32 sigmoid_f32 quick_sigmoid_f32 logistic_f32,
    mantissa 23, bias 127u32, highest 89.6, one_sided 20.0, saturated 10.0, exp from -104.0, to 80.0;
    cosh 0.5, 4.166626e-02, 1.3946564e-03; sinh 1.6666667e-01, 8.333288e-03, 1.990533e-04);
hyperbolic!(f64 u64, reduce_f64 exp_in_range_f64 exp_normal_f64 half_expm1_f64 key_within_f64,
    parts_f64 sinh_f64 cosh_f64 tanh_f64 sigmoid_f64 quick_sigmoid_f64 logistic_f64,
    mantissa 52, bias 1023u64, highest 710.6, one_sided 40.0, saturated 20.0, exp from -746.0, to 600.0;
    cosh 0.5000000000000013, 0.04166666666651071, 0.0013888888948285021, 2.4801488584993225e-05,
    2.7631780327189313e-07;
    sinh 0.16666666666666677, 0.008333333333321341, 0.00019841269886947506, 2.755724330522795e-06,
    2.510937656007653e-08);
