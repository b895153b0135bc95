//! Inverse circular functions.
//!
//! Each is its argument plus an odd minimax polynomial (Remez exchange) on a range to which the
//! identities of Abramowitz & Stegun 4.4 lead: the arc sine from above 1/2 by the root of
//! `(1 - |x|)/2`, the arc tangent from above 1 by the reciprocal.

use super::power::{sqrt_f32, sqrt_f64};

macro_rules! inverses {
    ($t:ident, $sqrt:ident $arc:ident $asin:ident $acos:ident $slope:ident $atan:ident $atan2:ident,
     quarter $quarter:expr, half $half:expr; asin $($s:expr),+; atan $($a:expr),+) => {
        /// `asin r - r` for `r = √z` up to 1/2.
        #[inline(always)]
        fn $arc(r: $t, z: $t) -> $t {
            (r * z) * poly!(z; $($s),+)
        }

        #[inline(always)]
        pub fn $asin(x: $t) -> $t {
            let a = x.abs();
            let far = a > 0.5;
            let z = if far { mad!(a, -0.5, 0.5) } else { a * a };
            let r = if far { $sqrt(z) } else { a };
            let arc = $arc(r, z);
            // Below: r + arc, else π/2 - 2(r + arc).
            let y = if far { $quarter.0 - (2.0 * r - mad!(arc, -2.0, $quarter.1)) } else { r + arc };
            y.copysign(x)
        }

        #[inline(always)]
        pub fn $acos(x: $t) -> $t {
            let a = x.abs();
            let far = a > 0.5;
            let z = if far { mad!(a, -0.5, 0.5) } else { a * a };
            let r = if far { $sqrt(z) } else { x };
            let arc = $arc(r, z);
            let near = $quarter.0 - (r - ($quarter.1 - arc));
            let twice = 2.0 * (r + arc);
            let beyond = if x < 0.0 { $half.0 - (twice - $half.1) } else { twice };
            if far { beyond } else { near }
        }

        /// `atan r - r` for `r` from 0 to 1.
        #[inline(always)]
        fn $slope(r: $t) -> $t {
            let z = r * r;
            (r * z) * poly!(z; $($a),+)
        }

        #[inline(always)]
        pub fn $atan(x: $t) -> $t {
            let a = x.abs();
            let far = a > 1.0;
            let r = if far { -1.0 } else { a } / if far { a } else { 1.0 };
            let (high, low) = if far { $quarter } else { (0.0, 0.0) };
            (high + (r + ($slope(r) + low))).copysign(x)
        }

        #[inline(always)]
        pub fn $atan2(y: $t, x: $t) -> $t {
            let (a, b) = (y.abs(), x.abs());
            let steep = a > b;
            let (top, bottom) = if steep { (b, a) } else { (a, b) };
            let r = top / bottom;
            // 0/0 and ∞/∞.
            let r = if top == bottom { if top == 0.0 { 0.0 } else { 1.0 } } else { r };
            let slope = $slope(r);
            // From the positive x axis in quarter turns, forth or back.
            let back = steep != x.is_sign_negative();
            let (high, low) = if x.is_sign_negative() { $half } else { (0.0, 0.0) };
            let (high, low) = if steep { $quarter } else { (high, low) };
            let (r, slope) = if back { (-r, -slope) } else { (r, slope) };
            (high + (r + (slope + low))).copysign(y)
        }
    };
}

inverses!(f32, sqrt_f32 arc_f32 asin_f32 acos_f32 slope_f32 atan_f32 atan2_f32,
    quarter (core::f32::consts::FRAC_PI_2, -4.371_139e-8), half (core::f32::consts::PI, -8.742_278e-8);
    asin 1.6666752e-01, 7.4953094e-02, 4.546915e-02, 2.4184797e-02, 4.215825e-02;
    atan -3.3333153e-01, 1.9993767e-01, -1.4210999e-01, 1.06657356e-01, -7.551528e-02, 4.3202296e-02,
    -1.6361084e-02, 2.91873e-03);
inverses!(f64, sqrt_f64 arc_f64 asin_f64 acos_f64 slope_f64 atan_f64 atan2_f64,
    quarter (core::f64::consts::FRAC_PI_2, 6.123_233_995_736_766e-17),
    half (core::f64::consts::PI, 1.224_646_799_147_353_2e-16);
    asin 0.16666666666665408, 0.07500000000337145, 0.04464285682821122, 0.030381959142125593,
    0.02237175791961069, 0.017359706834024186, 0.013885214130882432, 0.012169357062081526,
    0.006527324705045242, 0.019530101698595027, -0.016227218674995096, 0.031914357951683306;
    atan -0.3333333333333186, 0.1999999999975519, -0.14285714271341954, 0.11111110678909611,
    -0.09090901237644886, 0.07692212951859538, -0.06665860506806048, 0.05877308484008702,
    -0.05239235664249623, 0.04673957207252803, -0.04092654925395973, 0.03406809452570156,
    -0.025827167745521337, 0.01697840605160249, -0.00918483571970284, 0.0038561244668003083,
    -0.0011641270505951121, 0.0002230348928882901, -2.025985388007227e-05);
