//! Powers and roots.

use core::f32::consts::FRAC_1_SQRT_2;

use super::exp::{
    exp2_fraction_f32, exp2_fraction_f64, pow2_f32, pow2_f64, round_int_f32, round_int_f64,
    scale_f32, scale_f64, upper_half,
};
use super::log::{
    UNIT_F32, exponent_f32, exponent_f64, normal_f32, normal_f64, split_f32, split_f64,
};
use super::{key_normal_f32, key_normal_f64, key_within_f32, key_within_f64};
use crate::scalar::Real;

/// Square root. The SSE intrinsic is LLVM's square root of one lane, so a loop over it becomes
/// the vector instruction; `no_std` Rust offers no other road to it.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn sqrt_f32(x: f32) -> f32 {
    use core::arch::x86_64::{_mm_cvtss_f32, _mm_set_ss, _mm_sqrt_ss};
    // SAFETY: SSE2 is part of every x86-64.
    #[allow(unused_unsafe)]
    unsafe {
        _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x)))
    }
}

/// Square root, as for `f32`.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn sqrt_f64(x: f64) -> f64 {
    use core::arch::x86_64::{_mm_cvtsd_f64, _mm_set_sd, _mm_setzero_pd, _mm_sqrt_sd};
    // SAFETY: SSE2 is part of every x86-64.
    #[allow(unused_unsafe)]
    unsafe {
        _mm_cvtsd_f64(_mm_sqrt_sd(_mm_setzero_pd(), _mm_set_sd(x)))
    }
}

/// Square root by the NEON instruction.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub fn sqrt_f32(x: f32) -> f32 {
    use core::arch::aarch64::{vdup_n_f32, vget_lane_f32, vsqrt_f32};
    // SAFETY: NEON is part of every aarch64 target with floating point.
    #[allow(unused_unsafe)]
    unsafe {
        vget_lane_f32::<0>(vsqrt_f32(vdup_n_f32(x)))
    }
}

/// Square root by the NEON instruction.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub fn sqrt_f64(x: f64) -> f64 {
    use core::arch::aarch64::{vdup_n_f64, vget_lane_f64, vsqrt_f64};
    // SAFETY: NEON is part of every aarch64 target with floating point.
    #[allow(unused_unsafe)]
    unsafe {
        vget_lane_f64::<0>(vsqrt_f64(vdup_n_f64(x)))
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub use libm::{sqrt as sqrt_f64, sqrtf as sqrt_f32};

#[inline(always)]
pub fn reciprocal_f32(x: f32) -> f32 {
    1.0 / x
}

#[inline(always)]
pub fn reciprocal_f64(x: f64) -> f64 {
    1.0 / x
}

#[inline(always)]
pub fn rsqrt_f32(x: f32) -> f32 {
    1.0 / sqrt_f32(x)
}

#[inline(always)]
pub fn rsqrt_f64(x: f64) -> f64 {
    1.0 / sqrt_f64(x)
}

macro_rules! hypot {
    ($t:ident $u:ident, $sqrt:ident $key:ident, $hypot:ident $quick:ident,
     bias $bias:expr, mantissa $mantissa:expr, scale $scale:expr) => {
        #[inline(always)]
        pub fn $quick(x: $t, y: $t) -> ($t, $u) {
            let sum = mad!(x, x, y * y);
            ($sqrt(sum), $key(sum))
        }

        #[inline(always)]
        pub fn $hypot(x: $t, y: $t) -> $t {
            const UP: $t = $t::from_bits(($bias + $scale) << $mantissa);
            const DOWN: $t = $t::from_bits(($bias - $scale) << $mantissa);
            let (near, key) = $quick(x, y);
            // Again where the squares are too large or too small.
            let large = (x.abs() > 1.0) | (y.abs() > 1.0);
            let (there, back) = if large { (DOWN, UP) } else { (UP, DOWN) };
            let (far, _) = $quick(x * there, y * there);
            let h = if key < <$t as Real>::SPECIAL { near } else { far * back };
            // An infinity wins over a NaN.
            if x.is_infinite() | y.is_infinite() { $t::INFINITY } else { h }
        }
    };
}

hypot!(f32 u32, sqrt_f32 key_normal_f32, hypot_f32 quick_hypot_f32, bias 127, mantissa 23, scale 96);
hypot!(f64 u64, sqrt_f64 key_normal_f64, hypot_f64 quick_hypot_f64, bias 1023, mantissa 52, scale 600);

/// Completes `|x|` to the power `y`, which is 0, infinite or NaN already where it must be, by the
/// sign and the other special cases of C99.
macro_rules! finish_power {
    ($t:ident, $name:ident, mantissa $mantissa:expr, sign $sign:expr) => {
        #[inline(always)]
        fn $name(x: $t, y: $t, power: $t) -> $t {
            // Infinitely often the logarithm 0.
            let power = if (x.abs() == 1.0) & !y.is_nan() { 1.0 } else { power };
            // Whether y is an integer, and odd: from here on all numbers are integers, and on
            // adding this the others show their lowest whole bit; twice this is even.
            const INTEGERS: $t = (1u64 << $mantissa) as $t;
            let a = y.abs();
            let a = if a > 2.0 * INTEGERS { 2.0 * INTEGERS } else { a };
            let large = a >= INTEGERS;
            let aligned = if large { a } else { a + INTEGERS };
            let whole = large | (aligned - INTEGERS == a);
            let negative = whole & (aligned.to_bits() & 1 == 1);
            let sign = if negative { x.to_bits() & $sign } else { 0 };
            let r = $t::from_bits(power.to_bits() | sign);
            // A negative number has no real power but the whole ones; -∞ counts as +∞.
            let root = (x < 0.0) & (x > $t::NEG_INFINITY) & !whole;
            let r = if root { $t::NAN } else { r };
            if (x == 1.0) | (y == 0.0) { 1.0 } else { r }
        }
    };
}

finish_power!(f32, finish_power_f32, mantissa 23, sign 0x8000_0000u32);
finish_power!(f64, finish_power_f64, mantissa 52, sign 1u64 << 63);

/// `k + log₂(1 + f)` as a sum of two numbers, with an error near 2⁻³²: the series of `2·artanh(s)`
/// where `s = f/(2 + f)`, its first terms with their remainders (Dekker 1971). `k` is in units.
#[inline(always)]
fn log2_pair((k, f): (f32, f32)) -> (f32, f32) {
    const THIRD: (f32, f32) = (1.0 / 3.0, -9.934_108e-9);
    const TWO_LOG2_E: (f32, f32) = (2.885_39, 3.851_926e-8);
    let d = 2.0 + f;
    let d_low = f - (d - 2.0);
    let inverse = 1.0 / d;
    let s = f * inverse;
    let s_low = mad!(-s, d_low, fused!(-s, d, f)) * inverse;
    // artanh(s)/s = 1 + w
    let z = s * s;
    let z_low = mad!(s, s_low + s_low, fused!(s, s, -z));
    let w = z * THIRD.0;
    let rest = mad!(z, poly!(z; 0.200_000_76, 0.142_735_65, 0.117_093_5), THIRD.1);
    let w_low = mad!(z, rest, mad!(z_low, THIRD.0, fused!(z, THIRD.0, -w)));
    let c = s * TWO_LOG2_E.0;
    let c_low = mad!(s_low, TWO_LOG2_E.0, mad!(s, TWO_LOG2_E.1, fused!(s, TWO_LOG2_E.0, -c)));
    let sum = mad!(k, UNIT_F32, c);
    let sum_low = mad!(k, UNIT_F32, -sum) + c;
    (sum, mad!(c, w, mad!(c, w_low, mad!(c_low, w, sum_low + c_low))))
}

/// `y·(high + low)` as a sum.
#[inline(always)]
fn product_pair(y: f32, (high, low): (f32, f32)) -> (f32, f32) {
    let p = y * high;
    (p, mad!(y, low, fused!(y, high, -p)))
}

/// `2^(y·log₂x)`.
#[inline(always)]
pub fn pow_f32(x: f32, y: f32) -> f32 {
    let (p, p_low) = product_pair(y, log2_pair(normal_f32(x.abs(), FRAC_1_SQRT_2)));
    let p_low = if p.abs() < 160.0 { p_low } else { 0.0 };
    let p = clamp!(p, -151.0, 129.0);
    let (n, field) = round_int_f32::<0>(p, 1.0);
    let power = exp2_fraction_f32((p - n) + p_low);
    let power = scale_f32(power, field.wrapping_sub(1), p < -124.0);
    finish_power_f32(x, y, power)
}

#[inline(always)]
pub fn quick_pow_f32(x: f32, y: f32) -> (f32, u32) {
    let (k, m) = split_f32(x, FRAC_1_SQRT_2);
    let (p, p_low) = product_pair(y, log2_pair((exponent_f32(k), m - 1.0)));
    let (n, field) = round_int_f32::<0>(p, 1.0);
    let power = exp2_fraction_f32((p - n) + p_low) * pow2_f32(field);
    (power, key_normal_f32(x).max(key_within_f32(p, 124.0)))
}

/// `k + log₂(1 + f)` as a sum of two numbers, the first of 26 bits, with a relative error near
/// 2⁻⁶⁵: the series of `2·artanh(s)` in double-double arithmetic (Dekker 1971).
#[inline(always)]
fn log2_double((k, f): (f64, f64)) -> (f64, f64) {
    const THIRD: (f64, f64) = (0.333_333_328_366_279_6, 4.967_053_731_282_552e-9);
    const TWO_LOG2_E: (f64, f64) = (2.885_390_043_258_667, 3.851_925_982_253_235e-8);
    // s = f/d in two parts, with the remainder of the first exactly.
    let d = 2.0 + f;
    let d_low = f - (d - 2.0);
    let inverse = 1.0 / d;
    let s_high = upper_half(f * inverse);
    let d_high = upper_half(d);
    let s_low = (((f - s_high * d_high) - s_high * (d - d_high)) - s_high * d_low) * inverse;
    let s = s_high + s_low;
    // w = artanh(s)/s - 1, from s² in two parts.
    let z = s_high * s_high;
    let z_low = s_low * (s_high + s);
    let square = s * s;
    let series = square
        * square
        * poly!(square; 0.20000000000001128, 0.14285714285050027, 0.11111111259913127,
        0.09090892188211032, 0.07693378434220284, 0.06628414620284863, 0.06598108006575754);
    let z_high = upper_half(z);
    let a = z_high * THIRD.0;
    let b = (z - z_high) * THIRD.0 + z * THIRD.1 + z_low * (1.0 / 3.0) + series;
    let w = upper_half(a + b);
    let w_low = (a - w) + b;
    // v = s·(1 + w)
    let product = s_high * w;
    let v = s_high + product;
    let v_low = ((s_high - v) + product) + (s_high * w_low + s_low * (1.0 + (w + w_low)));
    let v_high = upper_half(v);
    let c = TWO_LOG2_E.0 * v_high;
    let c_low = TWO_LOG2_E.0 * ((v - v_high) + v_low) + TWO_LOG2_E.1 * (v + v_low);
    let sum = k + c;
    let sum_low = ((k - sum) + c) + c_low;
    let high = upper_half(sum);
    (high, (sum - high) + sum_low)
}

/// `y·(high + low)` as a sum.
#[inline(always)]
fn product_double(y: f64, (high, low): (f64, f64)) -> (f64, f64) {
    let upper = upper_half(y);
    (upper * high, (y - upper) * high + y * low)
}

#[inline(always)]
pub fn pow_f64(x: f64, y: f64) -> f64 {
    let normal = normal_f64(x.abs(), core::f64::consts::FRAC_1_SQRT_2);
    let (p, p_low) = product_double(y, log2_double(normal));
    let p_low = if p.abs() < 1080.0 { p_low } else { 0.0 };
    let p = clamp!(p, -1080.0, 1025.0);
    let (n, field) = round_int_f64::<0>(p, 1.0);
    let power = exp2_fraction_f64((p - n) + p_low);
    let power = scale_f64(power, field.wrapping_sub(1), p < -1020.0);
    finish_power_f64(x, y, power)
}

#[inline(always)]
pub fn quick_pow_f64(x: f64, y: f64) -> (f64, u64) {
    let (k, m) = split_f64(x, core::f64::consts::FRAC_1_SQRT_2);
    let (p, p_low) = product_double(y, log2_double((exponent_f64(k), m - 1.0)));
    let (n, field) = round_int_f64::<0>(p, 1.0);
    let power = exp2_fraction_f64((p - n) + p_low) * pow2_f64(field);
    (power, key_normal_f64(x).max(key_within_f64(p, 1020.0)))
}
