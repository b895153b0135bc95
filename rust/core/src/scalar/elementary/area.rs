//! Inverse hyperbolic functions.
//!
//! All come to `k·ln 2 + 2·artanh s` with one quotient `s` up to 1/3: from
//! `tanh(y/2) = sinh y/(1 + cosh y)` where that is small, else from the logarithm's
//! `(m - 1)/(m + 1)` (Abramowitz & Stegun 4.6). `artanh` is an odd minimax polynomial (Remez exchange).

use super::exp::{LN_2_F32, LN_2_F64};
use super::log::{UNIT_F32, UNIT_F64, exponent_f32, exponent_f64, split_f32, split_f64};
use super::power::{sqrt_f32, sqrt_f64};

macro_rules! inverses {
    ($t:ident $u:ident, $sqrt:ident $exponent:ident $unit:ident $split:ident $ln2:ident, $arc:ident $asinh:ident $acosh:ident $atanh:ident,
     mantissa $mantissa:expr, negligible $negligible:expr; half $($h:expr),+; atanh $($a:expr),+) => {
        /// The angle, not negative, with this hyperbolic sine and cosine, of which `x` is one.
        #[inline(always)]
        fn $arc(sinh: $t, cosh: $t, x: $t) -> $t {
            // From here on the two are one number, and their sum may be too large.
            let huge = x > $negligible;
            let (field, m) = $split(if huge { x } else { sinh + cosh }, 1.0);
            let k = $exponent(field) * $unit + if huge { 1.0 } else { 0.0 };
            // m - 1 from the two, with few roundings.
            let down = $t::from_bits($t::to_bits(1.0).wrapping_sub(field));
            let f = mad!(sinh, down, mad!(cosh, down, -1.0));
            let f = if huge { m - 1.0 } else { f };
            let near = sinh < 0.75;
            let s = if near { sinh } else { f } / if near { 1.0 + cosh } else { 2.0 + f };
            let z = s * s;
            // Near 0, 2s = sinh - sinh·s², so that little is rounded.
            let lead = if near { -sinh * z } else { mad!(k, $ln2.1, 2.0 * s) };
            let base = if near { sinh } else { k * $ln2.0 };
            base + mad!(s * z, poly!(z; $($h),+), lead)
        }

        #[inline(always)]
        pub fn $asinh(x: $t) -> $t {
            let a = x.abs();
            let y = $arc(a, $sqrt(mad!(a, a, 1.0)), a);
            (if a < $t::INFINITY { y } else { a }).copysign(x)
        }

        #[inline(always)]
        pub fn $acosh(x: $t) -> $t {
            let t = x - 1.0;
            let y = $arc($sqrt(mad!(t, t, 2.0 * t)), x, x);
            let y = if x < $t::INFINITY { y } else { x };
            if x < 1.0 { $t::NAN } else { y }
        }

        /// `2·artanh x = ln((1 + x)/(1 - x))`, of which 2ᵏ is taken out before the quotient.
        #[inline(always)]
        pub fn $atanh(x: $t) -> $t {
            const FRACTION: $u = (1 << $mantissa) - 1;
            const HALF: $u = 1 << ($mantissa - 1);
            let a = x.abs();
            let (up, down) = (1.0 + a, 1.0 - a);
            // The bits of a number are nearly its logarithm.
            let k = up.to_bits().wrapping_sub(down.to_bits()).wrapping_add(HALF) & !FRACTION;
            let c = $t::from_bits($t::to_bits(1.0).wrapping_sub(k));
            // c·(1 + a) ∓ (1 - a), where 1 ± a is not exact by other roads.
            let small = a < 0.5;
            let top = if small { mad!(a, 1.0 + c, c - 1.0) } else { mad!(c, up, -down) };
            let bottom = if small { mad!(a, c - 1.0, 1.0 + c) } else { mad!(c, up, down) };
            let s = top / bottom;
            let z = s * s;
            let k = $exponent(k) * (0.5 * $unit);
            let y = mad!(k, $ln2.0, s + mad!(s * z, poly!(z; $($a),+), k * $ln2.1));
            let y = if a < 1.0 { y } else { $t::INFINITY };
            (if a <= 1.0 { y } else { $t::NAN }).copysign(x)
        }
    };
}

inverses!(f32 u32, sqrt_f32 exponent_f32 UNIT_F32 split_f32 LN_2_F32, arc_f32 asinh_f32 acosh_f32 atanh_f32,
    mantissa 23, negligible 65_536.0; half 2.0 * 3.3333185e-01, 2.0 * 2.0012245e-01,
    2.0 * 1.3974452e-01, 2.0 * 1.4145376e-01; atanh 3.3333522e-01, 1.9974254e-01, 1.5276004e-01);
inverses!(f64 u64, sqrt_f64 exponent_f64 UNIT_F64 split_f64 LN_2_F64, arc_f64 asinh_f64 acosh_f64 atanh_f64,
    mantissa 52, negligible 4_294_967_296.0;
    half 2.0 * 0.3333333333333306, 2.0 * 0.2000000000011439, 2.0 * 0.1428571426920109,
    2.0 * 0.11111112288955848, 2.0 * 0.09090860954190624, 2.0 * 0.07693519515150776,
    2.0 * 0.0664728847138438, 2.0 * 0.06078679960534022, 2.0 * 0.04056862260162751, 2.0 * 0.0872078758980756;
    atanh 0.33333333333339366, 0.19999999996520787, 0.14285714963812646, 0.1111104856797572,
    0.09093984365662465, 0.07609728102455766, 0.07797994879638358);
