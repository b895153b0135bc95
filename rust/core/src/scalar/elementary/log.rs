//! Logarithms.
//!
//! `x = 2ᵏ·m` with `m` near 1 and `f = m - 1`, which is exact; then `ln m = f + g`, where `g` is
//! small beside `f`, so its rounding errors and those of factors on `g` hardly count. `f32` has
//! `g` as a minimax polynomial in `f`; `f64` as one in `s² = (f/(2 + f))²` after the series of
//! `2·artanh(s)` (Abramowitz & Stegun 4.1.27). Coefficients by Remez exchange.

use super::exp::{LN_2_F32, LN_2_F64};

/// Exponent handling and the four logarithms of one type, around its `$tail`, which gives `g`.
macro_rules! logarithms {
    ($t:ident $u:ident, $split:ident $tail:ident $special:ident $scaled:ident, $ln:ident $log2:ident
    $log10:ident $log1p:ident,
     mantissa $mantissa:expr, bias $bias:expr, lowest_m $lowest:expr, ln2 $ln2:ident, log10_2 $log10_2:expr,
     upper $upper:expr, log2_e $log2_e:expr, log10_e $log10_e:expr) => {
        const _: () = assert!($lowest < 1.0 && $lowest > 0.5);

        /// `x`, positive and normal, as `2ᵏ·m` with `m` from `lowest` to twice that: `k` as a
        /// float and as a biased exponent, and `m`. Shifts are unsigned and the conversion of `k`
        /// is an addition, since AVX2 has neither the signed shift nor the conversion of 64 bits.
        #[inline(always)]
        fn $split(x: $t, bias: $t, lowest: $t) -> ($t, $u, $t) {
            const ONE: $u = $bias << $mantissa;
            const FRACTION: $u = (1 << $mantissa) - 1;
            const SHIFT: $t = (1u64 << $mantissa) as $t;
            let lowest = lowest.to_bits();
            let moved = x.to_bits().wrapping_add(ONE - lowest);
            let biased = moved >> $mantissa;
            let k = $t::from_bits(biased | SHIFT.to_bits()) - (SHIFT + bias);
            (k, biased, $t::from_bits((moved & FRACTION) + lowest))
        }

        /// `k` and `m - 1`, for denormals too.
        #[inline(always)]
        pub fn $special(x: $t, lowest: $t) -> ($t, $t) {
            const UP: i32 = $mantissa + 2;
            let denormal = x < $t::MIN_POSITIVE;
            let scaled = x * ((1u64 << UP) as $t);
            let x = if denormal { scaled } else { x };
            let bias = if denormal { ($bias + UP) as $t } else { $bias as $t };
            let (k, _, m) = $split(x, bias, lowest);
            (k, m - 1.0)
        }

        #[inline(always)]
        pub fn $ln(x: $t) -> $t {
            let (k, f) = $special(x, $lowest);
            let g = $tail(f);
            finish!($t, x, k * $ln2.0 + (f + (g + k * $ln2.1)))
        }

        /// `(f + g)·c` and the error of its first part: `c.0` and the upper part of `f` have so few
        /// bits that their product is exact.
        #[inline(always)]
        fn $scaled(f: $t, c: ($t, $t)) -> ($t, $t) {
            let upper = $t::from_bits(f.to_bits() & $upper);
            let rest = (f - upper) + $tail(f);
            (upper * c.0, upper * c.1 + rest * (c.0 + c.1))
        }

        #[inline(always)]
        pub fn $log2(x: $t) -> $t {
            let (k, f) = $special(x, $lowest);
            let (high, low) = $scaled(f, $log2_e);
            finish!($t, x, k + (high + low))
        }

        #[inline(always)]
        pub fn $log10(x: $t) -> $t {
            const C: ($t, $t) = $log10_2;
            let (k, f) = $special(x, $lowest);
            let (high, low) = $scaled(f, $log10_e);
            finish!($t, x, k * C.0 + (high + (low + k * C.1)))
        }

        #[inline(always)]
        pub fn $log1p(x: $t) -> $t {
            let u = 1.0 + x;
            let (k, biased, m) = $split(u, $bias as $t, $lowest);
            // (1 + x)·2⁻ᵏ - 1 from x itself, with one rounding; where the 1 is negligible, from u.
            let down = $t::from_bits((2 * $bias as $u).wrapping_sub(biased) << $mantissa);
            let near = x * down + (down - 1.0);
            let f = if biased < 2 * $bias - 30 { near } else { m - 1.0 };
            let g = $tail(f);
            let y = k * $ln2.0 + (f + (g + k * $ln2.1));
            finish!($t, u, y).copysign(x)
        }
    };
}

/// The results at zero, infinity, NaN and below zero.
macro_rules! finish {
    ($t:ident, $x:expr, $y:expr) => {{
        let edge = if $x == 0.0 { $t::NEG_INFINITY } else { $t::NAN };
        let y = if $x == $t::INFINITY { $t::INFINITY } else { $y };
        if $x > 0.0 { y } else { edge }
    }};
}

logarithms!(f32 u32, split_f32 tail_f32 normal_f32 scaled_f32, ln_f32 log2_f32 log10_f32 log1p_f32,
    mantissa 23, bias 127, lowest_m 2.0 / 3.0, ln2 LN_2_F32, log10_2 (0.301_025_4, 4.605_039e-6),
    upper 0xffff_f000, log2_e (1.442_382_8, 3.122_284e-4), log10_e (0.434_204_1, 9.038_034e-5));
logarithms!(f64 u64, split_f64 tail_f64 normal_f64 scaled_f64, ln_f64 log2_f64 log10_f64 log1p_f64,
    mantissa 52, bias 1023, lowest_m core::f64::consts::FRAC_1_SQRT_2, ln2 LN_2_F64,
    log10_2 (0.301_029_995_663_839_14, 1.420_502_322_726_61e-13),
    upper 0xffff_ffff_f800_0000, log2_e (1.442_695_021_629_333_5, 1.925_962_991_126_617_5e-8),
    log10_e (0.434_294_477_105_140_7, 4.798_111_141_615_973e-9));

/// `ln(1 + f) - f` for `f` from -1/3 to 1/3.
#[inline(always)]
fn tail_f32(f: f32) -> f32 {
    let p = poly!(f; 3.3333215e-01, -2.4999797e-01, 2.0010403e-01, -1.6680491e-01,
        1.4005902e-01, -1.2184245e-01, 1.3984305e-01, -1.2891687e-01);
    let square = f * f;
    square * (f * p - 0.5)
}

/// `ln(1 + f) - f` for `f` from √½ - 1 to √2 - 1.
#[inline(always)]
fn tail_f64(f: f64) -> f64 {
    let s = f / (2.0 + f);
    let z = s * s;
    let r = z
        * poly!(z; 0.6666666666666734, 0.39999999999414687, 0.28571428742385957, 0.22222198573340532,
        0.18183564318222634, 0.15314050754319156, 0.14795947660891443);
    // 2s = f - f²/2 + s·f²/2.
    let half_square = 0.5 * f * f;
    s * (half_square + r) - half_square
}
