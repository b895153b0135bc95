//! Error function and its relatives.
//!
//! `erf x` is `x` times a polynomial in `x²` up to 1, and beyond `1 - 2^q(x)` with a polynomial
//! for `log₂ erfc x`: minimax fits (Remez exchange) weighted by what shows in `erf`, so that few
//! coefficients reach far. `erfinv` starts from Winitzki's approximation (2008).

use super::exp::{
    exp2_fraction_f32, exp2_fraction_f64, half_pow2_f32, half_pow2_f64, poly, round_int_f32,
    round_int_f64,
};

macro_rules! erf {
    ($t:ident, $erf:ident, $round:ident $half_pow2:ident $fraction:ident, saturated $saturated:expr, centre $centre:expr;
     small $($s:expr),+; large $($l:expr),+) => {
        #[inline(always)]
        pub(super) fn $erf(x: $t) -> $t {
            let z = x * x;
            // The leading factor is 2/√π, but for the 1.
            let small = x + x * poly!(z; $($s),+);
            let a = x.abs();
            let a = if a > $saturated { $saturated } else { a };
            let t = a - $centre;
            let (whole, n) = {
                let q = poly!(t; $($l),+);
                let (whole, n) = $round(q);
                (q - whole, n)
            };
            let complement = $fraction(whole) * $half_pow2(n) * 2.0;
            let large = (1.0 - complement).copysign(x);
            if a < 1.0 { small } else { large }
        }
    };
}

erf!(f32, erf_f32, round_int_f32 half_pow2_f32 exp2_fraction_f32, saturated 4.0, centre 0.0;
    small 1.2837917e-01, -3.7612626e-01, 1.12835854e-01, -2.6853813e-02, 5.1883277e-03, -8.010194e-04, 7.853863e-05;
    large -5.103368e-04, -1.6259749e+00, -9.207652e-01, -1.486513e-01, 3.1458326e-02, -4.2409315e-03, 2.6772398e-04);
erf!(f64, erf_f64, round_int_f64 half_pow2_f64 exp2_fraction_f64, saturated 6.0, centre 2.0;
    small 0.1283791670955126, -0.3761263890318375, 0.11283791670954857, -0.026866170645072896, 0.005223977624780878,
    -0.0008548326978742812, 0.00012055331036920777, -1.4925593507377696e-05, 1.6460972824475998e-06,
    -1.6350025297197244e-07, 1.4657880310166577e-08, -1.1365667629953192e-09, 5.94526431854261e-11;
    large -7.739974157122987, -6.374058684658132, -1.3326907585162087, -0.02375414428370393, 0.005151512472822965,
    -0.0010566289617726732, 0.00019521010619698499, -2.9873067543198133e-05, 2.816420313413893e-06,
    2.937940099641971e-07, -2.4988182093972577e-07, 8.338377521071237e-08, -2.012651286439015e-08,
    3.6631604212637738e-09, -3.957601311274274e-10, -6.215608168735186e-11, 5.3907335312151336e-11,
    -1.4588043244475895e-11, 1.4990880698629852e-12);

/// The `f32` function of `libm` is near 2 ulp; its `f64` one costs little more.
#[inline(always)]
pub(super) fn erfc_f32(x: f32) -> f32 {
    libm::erfc(x as f64) as f32
}

#[inline(always)]
pub(super) fn erfc_f64(x: f64) -> f64 {
    libm::erfc(x)
}

#[inline(always)]
pub(super) fn erfinv_f32(x: f32) -> f32 {
    erfinv_f64(x as f64) as f32
}

pub(super) fn erfinv_f64(x: f64) -> f64 {
    let a = x.abs();
    if a == 1.0 {
        return f64::INFINITY.copysign(x);
    }
    if a > 1.0 || a.is_nan() {
        return f64::NAN;
    }
    if a < 1e-8 {
        // The next term of the series is a·(π/12)·a².
        return x * (0.5 / core::f64::consts::FRAC_2_SQRT_PI * 2.0);
    }
    const A: f64 = 0.147;
    let log = super::log::ln_f64((1.0 - a) * (1.0 + a));
    let half = 1.0 / (core::f64::consts::FRAC_PI_2 * A) + 0.5 * log;
    let mut y = libm::sqrt(libm::sqrt(half * half - log / A) - half);
    // Two or three decimals so far; a step of Halley's method triples them. Near 1 the difference is
    // taken of the complements, which 1 - a gives exactly.
    for _ in 0..3 {
        let error = if a < 0.5 {
            libm::erf(y) - a
        } else {
            (1.0 - a) - libm::erfc(y)
        };
        let u = error / (core::f64::consts::FRAC_2_SQRT_PI * super::exp::exp_f64(-y * y));
        y -= u / (1.0 + y * u);
    }
    y.copysign(x)
}
