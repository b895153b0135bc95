//! Error function and its relatives.
//!
//! `erf x` is `x` times a polynomial in `x²` up to 1, and beyond `1 - 2^q(x)` with a polynomial
//! for `log₂ erfc x`: minimax fits (Remez exchange) weighted by what shows in `erf`, so that few
//! coefficients reach far. `erfinv` starts from Winitzki's approximation (2008).

use super::exp::{
    exp_factor_f64, exp2_fraction_f32, exp2_fraction_f64, pow2_f32, pow2_f64, reduce_f64,
    round_int_f32, round_int_f64, scale_f64, upper_half,
};

macro_rules! erf {
    ($t:ident, $erf:ident $factor:ident, $round:ident $pow2:ident $fraction:ident, saturated $saturated:expr;
     small $($s:expr),+; large $($l:expr),+) => {
        /// `erf(x)/x - 1` from `x²`, up to `x` = 1. One less, so that the rounding of the product
        /// with `x` does not count in full.
        #[inline(always)]
        fn $factor(z: $t) -> $t {
            poly!(z; $($s),+)
        }

        #[inline(always)]
        pub fn $erf(x: $t) -> $t {
            let small = x + x * $factor(x * x);
            let a = x.abs();
            let a = if a > $saturated { $saturated } else { a };
            let t = a - 1.0;
            let (whole, n) = {
                let q = poly!(t; $($l),+);
                let (whole, n) = $round::<1>(q, 1.0);
                (q - whole, n)
            };
            let complement = $fraction(whole) * $pow2(n) * 2.0;
            let large = (1.0 - complement).copysign(x);
            if a < 1.0 { small } else { large }
        }
    };
}

erf!(f32, erf_f32 erf_factor_f32, round_int_f32 pow2_f32 exp2_fraction_f32, saturated 4.0;
    small 1.2837917e-01, -3.7612626e-01, 1.12835854e-01, -2.6853813e-02, 5.1883277e-03,
    -8.010194e-04, 7.853863e-05;
    large -2.6684167e+00, -3.8072243e+00, -1.2163626e+00, -5.9872832e-02, 1.4269531e-02,
    -2.6345875e-03, 2.6772398e-04);
erf!(f64, erf_f64 erf_factor_f64, round_int_f64 pow2_f64 exp2_fraction_f64, saturated 6.0;
    small 0.1283791670955126, -0.3761263890318375, 0.11283791670954857, -0.026866170645072896,
    0.005223977624780878,
    -0.0008548326978742812, 0.00012055331036920777, -1.4925593507377696e-05, 1.6460972824475998e-06,
    -1.6350025297197244e-07, 1.4657880310166577e-08, -1.1365667629953192e-09, 5.94526431854261e-11;
    large -2.6684166967815997, -3.807225345853604, -1.216346657686163, -0.05995999003881765,
    0.014475750108813499, -0.0028535102261521227, 0.0003423839673740635, 3.791095933663595e-05,
    -3.918231541397458e-05, 1.3862712071791021e-05, -2.9716229537808485e-06, 2.0612623609668647e-07,
    1.4073047968819874e-07, -7.507442359936763e-08, 2.1512540231665355e-08, -4.131903192938691e-09,
    5.312645451572783e-10, -4.1571628502009633e-11, 1.4990880698629852e-12);

#[inline(always)]
pub fn erfc_f32(x: f32) -> f32 {
    erfc_f64(x as f64) as f32
}

/// Below 3/4 from `erf`; above, `exp(-x²)/x` times a function of `(x - 3/2)/(x + 3/2)` that
/// changes little. What `x²`, the exponential, the function and the quotient lose is carried
/// along, since all of it would show in the result.
#[inline(always)]
pub fn erfc_f64(x: f64) -> f64 {
    let a = x.abs();
    let a = if a > 27.3 { 27.3 } else { a };
    let near = (1.0 - x) - x * erf_factor_f64(x * x);
    let upper = upper_half(a);
    let (high, low, n) = reduce_f64(-upper * upper);
    let beside = low + (a - upper) * (a + upper);
    let r = high - beside;
    let series = r * r * exp_factor_f64(r);
    let q = r + series;
    let q_low = (r - q) + series + ((high - r) - beside) * (1.0 + q);
    let t = (a - 1.5) / (a + 1.5);
    let rest = poly!(t; 0.019824285863939185, -0.008790586326667129, -0.005135845844050671,
    0.0004807796472559931, 0.0013280264026300085, 0.0004189515441044037, -0.00015156139738234904,
    -0.00019162561176444337, -6.259147296918054e-05, 1.9800665203447894e-05, 3.0435010027502025e-05,
    1.6204780763549488e-05, 3.911996926474654e-06, -1.8256412706729935e-05, 3.529706112481165e-06,
    2.2838475873015534e-05, -5.3255379759666196e-05, 5.057137383989265e-05, -2.1856875801777436e-05,
    3.597187369617058e-06);
    // The largest terms one by one, for the fewest roundings.
    let slope =
        t * (0.2284531195664323 + t * (-0.216114101977663 + t * (0.061695087943814245 + t * rest)));
    let f = 0.48237812468147623 + slope;
    let f_low = (0.48237812468147623 - f) + slope;
    // f·(1 + q)/a with remainders.
    let product = f * q;
    let top = f + product;
    let top_low = (f - top) + product + (f_low * (1.0 + q) + f * q_low);
    let inverse = 1.0 / a;
    let quotient = top * inverse;
    let quotient_upper = upper_half(quotient);
    let quotient_lower = quotient - quotient_upper;
    let back = (top - quotient_upper * upper) - (quotient_upper * (a - upper) + quotient_lower * a);
    let p = quotient + (back + top_low) * inverse;
    let far = scale_f64(p, n, a > 26.0);
    let far = if x < 0.0 { 2.0 - far } else { far };
    if a < 0.75 { near } else { far }
}

#[inline(always)]
pub fn erfinv_f32(x: f32) -> f32 {
    erfinv_f64(x as f64) as f32
}

pub fn erfinv_f64(x: f64) -> f64 {
    let a = x.abs();
    if a == 1.0 {
        return f64::INFINITY.copysign(x);
    }
    if a > 1.0 || a.is_nan() {
        return f64::NAN;
    }
    if a < 1e-8 {
        // The next term of the series is a·(π/12)·a².
        return x / core::f64::consts::FRAC_2_SQRT_PI;
    }
    const A: f64 = 0.147;
    let log = super::log::ln_f64((1.0 - a) * (1.0 + a));
    let half = 1.0 / (core::f64::consts::FRAC_PI_2 * A) + 0.5 * log;
    let mut y = libm::sqrt(libm::sqrt(half * half - log / A) - half);
    // Two or three decimals so far; a step of Halley's method triples them. Near 1 the
    // difference is taken of the complements, which 1 - a gives exactly.
    for _ in 0..3 {
        let error = if a < 0.5 { libm::erf(y) - a } else { (1.0 - a) - libm::erfc(y) };
        let u = error / (core::f64::consts::FRAC_2_SQRT_PI * super::exp::exp_f64(-y * y));
        y -= u / (1.0 + y * u);
    }
    y.copysign(x)
}
