//! Logarithms.
//!
//! `x = 2ᵏ·m` with `m` near 1 and `f = m - 1`, which is exact; then `ln m = f + g`, where `g` is
//! small beside `f`, so its rounding errors and those of factors on `g` hardly count. `f32` has
//! `g` as a minimax polynomial in `f`; `f64` as one in `s² = (f/(2 + f))²` after the series of
//! `2·artanh(s)` (Abramowitz & Stegun 4.1.27). Coefficients by Remez exchange.

use super::exp::{LN_2_F32, LN_2_F64};
use super::{key_normal_f32, key_normal_f64};

/// The four logarithms of one type, around its `$plus_tail`, which adds `g`.
macro_rules! logarithms {
    ($t:ident $u:ident $i:ident, $exponent:ident $unit:ident $plus_tail:ident $key:ident,
     $normal:ident $split:ident $edge:ident $scaled:ident $sum:ident $sum2:ident $sum10:ident $grown:ident,
     $ln:ident $log2:ident $log10:ident $log1p:ident,
     $quick_ln:ident $quick_log2:ident $quick_log10:ident $quick_log1p:ident,
     mantissa $mantissa:expr, bias $bias:expr, lowest_m $lowest:expr, ln2 $ln2:ident, log10_2 $log10_2:expr,
     upper $upper:expr, log2_e $log2_e:expr, log10_e $log10_e:expr) => {
        const _: () = assert!($lowest < 1.0 && $lowest > 0.5);

        /// `x`, positive and normal, as `2ᵏ·m` with `m` from `lowest` to twice that: `k` shifted to
        /// the place of an exponent, and `m`.
        #[inline(always)]
        pub fn $split(x: $t, lowest: $t) -> ($u, $t) {
            const FRACTION: $u = (1 << $mantissa) - 1;
            let k = x.to_bits().wrapping_sub(lowest.to_bits()) & !FRACTION;
            (k, $t::from_bits(x.to_bits().wrapping_sub(k)))
        }

        /// What to add to the exponent of `x`, normally `up`, so that its logarithm is infinite or
        /// NaN where that of `x` is.
        #[inline(always)]
        fn $edge(x: $t, up: $t) -> $t {
            let up = if x == 0.0 { $t::NEG_INFINITY } else { up };
            let up = if x < $t::INFINITY { up } else { x };
            if x < 0.0 { $t::NAN } else { up }
        }

        /// `k` in [units](UNIT) and `m - 1`, for denormals too; `k` is infinite at 0 and infinity, and
        /// NaN at NaN and below 0.
        #[inline(always)]
        pub fn $normal(x: $t, lowest: $t) -> ($t, $t) {
            const DOWN: i32 = $mantissa + 2;
            let denormal = x < $t::MIN_POSITIVE;
            let scaled = x * ((1u64 << DOWN) as $t);
            let up = $edge(x, if denormal { -DOWN as $t / $unit } else { 0.0 });
            let (k, m) = $split(if denormal { scaled } else { x }, lowest);
            ($exponent(k) + up, m - 1.0)
        }

        /// `k·ln 2 + ln(1 + f)`. Where `k` is not 0, the rounding of the small sum hardly counts.
        #[inline(always)]
        pub fn $sum((k, f): ($t, $t)) -> $t {
            let small = $plus_tail(f, mad!(k, $ln2.1 * $unit, f));
            mad!(k, $ln2.0 * $unit, small)
        }

        #[inline(always)]
        pub fn $ln(x: $t) -> $t {
            $sum($normal(x, $lowest))
        }

        #[inline(always)]
        pub fn $quick_ln(x: $t) -> ($t, $u) {
            let (k, m) = $split(x, $lowest);
            ($sum(($exponent(k), m - 1.0)), $key(x))
        }

        /// `(f + g)·c` and the error of its first part: `c.0` and the upper part of `f` have so few
        /// bits that their product is exact.
        #[inline(always)]
        fn $scaled(f: $t, c: ($t, $t)) -> ($t, $t) {
            let upper = $t::from_bits(f.to_bits() & $upper);
            let rest = $plus_tail(f, f - upper);
            (upper * c.0, mad!(rest, c.0 + c.1, upper * c.1))
        }

        #[inline(always)]
        fn $sum2((k, f): ($t, $t)) -> $t {
            let (high, low) = $scaled(f, $log2_e);
            mad!(k, $unit, high + low)
        }

        #[inline(always)]
        pub fn $log2(x: $t) -> $t {
            $sum2($normal(x, $lowest))
        }

        #[inline(always)]
        pub fn $quick_log2(x: $t) -> ($t, $u) {
            let (k, m) = $split(x, $lowest);
            ($sum2(($exponent(k), m - 1.0)), $key(x))
        }

        #[inline(always)]
        fn $sum10((k, f): ($t, $t)) -> $t {
            const C: ($t, $t) = $log10_2;
            let (high, low) = $scaled(f, $log10_e);
            mad!(k, C.0 * $unit, high + mad!(k, C.1 * $unit, low))
        }

        #[inline(always)]
        pub fn $log10(x: $t) -> $t {
            $sum10($normal(x, $lowest))
        }

        #[inline(always)]
        pub fn $quick_log10(x: $t) -> ($t, $u) {
            let (k, m) = $split(x, $lowest);
            ($sum10(($exponent(k), m - 1.0)), $key(x))
        }

        /// `k` and `f` for `u`, which is `1 + x` rounded.
        #[inline(always)]
        fn $grown(x: $t, u: $t) -> ($t, $t) {
            let (k, m) = $split(u, $lowest);
            // (1 + x)·2⁻ᵏ - 1 from x itself, with one rounding; where the 1 is negligible, from u.
            let down = $t::from_bits($t::to_bits(1.0).wrapping_sub(k));
            let near = mad!(x, down, down - 1.0);
            let f = if (k as $i) < (($bias - 30) << $mantissa) { near } else { m - 1.0 };
            ($exponent(k), f)
        }

        #[inline(always)]
        pub fn $log1p(x: $t) -> $t {
            let u = 1.0 + x;
            let (k, f) = $grown(x, u);
            $sum((k + $edge(u, 0.0), f)).copysign(x)
        }

        #[inline(always)]
        pub fn $quick_log1p(x: $t) -> ($t, $u) {
            let u = 1.0 + x;
            ($sum($grown(x, u)).copysign(x), $key(u))
        }
    };
}

/// What the exponents of [`exponent_f32`] count in.
pub const UNIT_F32: f32 = 1.0 / (1 << 23) as f32;
/// What the exponents of [`exponent_f64`] count in.
pub const UNIT_F64: f64 = 1.0;

/// A shifted exponent as a number, in units.
#[inline(always)]
pub fn exponent_f32(k: u32) -> f32 {
    k as i32 as f32
}

/// As for `f32`; by an unsigned shift and an addition, since AVX2 has neither the signed shift nor
/// the conversion of 64 bits.
#[inline(always)]
pub fn exponent_f64(k: u64) -> f64 {
    const SHIFT: f64 = (1u64 << 52) as f64;
    let biased = k.wrapping_add(1023 << 52) >> 52;
    f64::from_bits(biased | SHIFT.to_bits()) - (SHIFT + 1023.0)
}

logarithms!(f32 u32 i32, exponent_f32 UNIT_F32 plus_tail_f32 key_normal_f32,
    normal_f32 split_f32 edge_f32 scaled_f32 sum_f32 sum2_f32 sum10_f32 grown_f32,
    ln_f32 log2_f32 log10_f32 log1p_f32, quick_ln_f32 quick_log2_f32 quick_log10_f32 quick_log1p_f32,
    mantissa 23, bias 127, lowest_m 2.0 / 3.0, ln2 LN_2_F32, log10_2 (0.301_025_4, 4.605_039e-6),
    upper 0xffff_f000, log2_e (1.442_382_8, 3.122_284e-4), log10_e (0.434_204_1, 9.038_034e-5));
logarithms!(f64 u64 i64, exponent_f64 UNIT_F64 plus_tail_f64 key_normal_f64,
    normal_f64 split_f64 edge_f64 scaled_f64 sum_f64 sum2_f64 sum10_f64 grown_f64,
    ln_f64 log2_f64 log10_f64 log1p_f64, quick_ln_f64 quick_log2_f64 quick_log10_f64 quick_log1p_f64,
    mantissa 52, bias 1023, lowest_m core::f64::consts::FRAC_1_SQRT_2, ln2 LN_2_F64,
    log10_2 (0.301_029_995_663_839_14, 1.420_502_322_726_61e-13),
    upper 0xffff_ffff_f800_0000, log2_e (1.442_695_021_629_333_5, 1.925_962_991_126_617_5e-8),
    log10_e (0.434_294_477_105_140_7, 4.798_111_141_615_973e-9));

/// `base + (ln(1 + f) - f)` for `f` from -1/3 to 1/3.
#[inline(always)]
fn plus_tail_f32(f: f32, base: f32) -> f32 {
    let series = poly!(f; -0.5, 3.3333266e-01, -2.5004238e-01, 2.0007918e-01, -1.6472332e-01,
        1.404234e-01, -1.5122151e-01, 1.3820065e-01);
    mad!(f * f, series, base)
}

/// `base + (ln(1 + f) - f)` for `f` from √½ - 1 to √2 - 1.
#[inline(always)]
fn plus_tail_f64(f: f64, base: f64) -> f64 {
    let s = f / (2.0 + f);
    let z = s * s;
    let r = z
        * poly!(z; 0.6666666666666734, 0.39999999999414687, 0.28571428742385957, 0.22222198573340532,
        0.18183564318222634, 0.15314050754319156, 0.14795947660891443);
    // 2s = f - f²/2 + s·f²/2.
    let half_square = 0.5 * f * f;
    base + mad!(s, half_square + r, -half_square)
}
