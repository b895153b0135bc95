//! Circular functions.
//!
//! After Cody & Waite (1980), `|x|` less a multiple of π in so many parts that nothing is lost up to
//! a bound. The sine of up to a quarter turn is one minimax polynomial, the tangent of an eighth a
//! quotient of two (Remez exchange).
//!
//! Beyond the bound `f64` goes to `libm`; `f32` after Payne & Hanek (1983): `x·2/π` modulo 4 in integer
//! arithmetic, from those bits of 2/π that matter at the exponent of `x`, without branches or
//! tables. Sine and cosine of the rest are minimax polynomials in `f64`.

use super::exp::{round_int_f32, round_int_f64};
use super::{key_within_f32, key_within_f64};

/// The first 256 bits of the fraction of 2/π.
const TWO_OVER_PI: [u64; 4] =
    [0xa2f9_836e_4e44_1529, 0xfc27_57d1_f534_ddc0, 0xdb62_9599_3c43_9041, 0xfe51_63ab_debb_c561];

/// `|x|` in quarter turns: the whole ones modulo 4, and the rest, ±1/2 at most.
#[inline(always)]
fn quarters(x: f32) -> (u64, f64) {
    let a = x.abs();
    let field = (a.to_bits() >> 23) as u64;
    let significand = ((a.to_bits() & 0x7f_ffff) | 0x80_0000) as u64;
    // A window of 96 bits on 2/π, with 64 zeros before it, whose first bit is worth 2.
    let from = field.wrapping_sub(150 + 2 - 64);
    let [a0, a1, a2, a3] = TWO_OVER_PI;
    let (first, second, third) = if field < 152 {
        (0, a0, a1)
    } else if field < 216 {
        (a0, a1, a2)
    } else {
        (a1, a2, a3)
    };
    let shift = from & 63;
    let high = (first << shift) | ((second >> 1) >> (63 - shift));
    let low = (second << shift) | ((third >> 1) >> (63 - shift));
    // Two bits of whole quarters and 62 of fraction; what overflows are whole turns.
    let product = ((significand * (high >> 32)) << 32)
        .wrapping_add(significand * (high & 0xffff_ffff))
        .wrapping_add((significand * (low >> 32)) >> 32);
    let rounded = product.wrapping_add(1 << 61);
    // The fraction as a float from two halves, each put under an exponent and freed from it.
    let fraction = rounded & ((1 << 62) - 1);
    const UPPER: f64 = (1u64 << 21) as f64;
    const LOWER: f64 = 1.0 / (1u64 << 10) as f64;
    let upper = f64::from_bits((fraction >> 31) | UPPER.to_bits()) - (UPPER + 0.5);
    let lower = f64::from_bits((fraction & 0x7fff_ffff) | LOWER.to_bits()) - LOWER;
    let rest = if a < f32::INFINITY { upper + lower } else { f64::NAN };
    (rounded >> 62, rest)
}

/// Sine and cosine of `f` quarter turns.
#[inline(always)]
fn sine_and_cosine(f: f64) -> (f64, f64) {
    let z = f * f;
    let s = f
        * poly!(z; 1.5707963217001046, -0.6459634594636854, 0.07968002266661782, -0.004601625896150867);
    let c = poly!(z; 0.9999999999438217, -1.233700539547475, 0.25366918219918644,
    -0.020859933156102187, 0.0009033565653723972);
    (s, c)
}

#[inline(always)]
fn far_sin_f32(x: f32) -> f32 {
    let (n, f) = quarters(x);
    let (s, c) = sine_and_cosine(f);
    let y = if n & 1 == 0 { s } else { c };
    // The third quarter turn, and a negative x, change the sign.
    let flip = ((n as u32 & 2) << 30) ^ (x.to_bits() & 0x8000_0000);
    f32::from_bits((y as f32).to_bits() ^ flip)
}

#[inline(always)]
fn far_cos_f32(x: f32) -> f32 {
    let (n, f) = quarters(x);
    let (s, c) = sine_and_cosine(f);
    let y = if n & 1 == 0 { c } else { s };
    let flip = ((n as u32).wrapping_add(1) & 2) << 30;
    f32::from_bits((y as f32).to_bits() ^ flip)
}

#[inline(always)]
fn far_tan_f32(x: f32) -> f32 {
    let (n, f) = quarters(x);
    let (s, c) = sine_and_cosine(f);
    let (top, bottom) = if n & 1 == 0 { (s, c) } else { (-c, s) };
    let y = (top / bottom) as f32;
    f32::from_bits(y.to_bits() ^ (x.to_bits() & 0x8000_0000))
}

/// `a - m·unit·π` from three parts of π. Of what the subtraction of the second rounds, which is half a
/// unit in the last place, only `$exact` keeps account, and only where that is easy to have.
#[allow(unused_macros)]
macro_rules! less_parts {
    ($exact:expr, $pi:expr, $a:expr, $m:expr, $unit:expr) => {{
        let near = mad!($m, -$pi[0] * $unit, $a);
        let r = mad!($m, -$pi[1] * $unit, near);
        let low = if $exact {
            let rounded = mad!($m, -$pi[1] * $unit, near - r);
            if r.abs() > 0.0625 { rounded } else { $m * (-$pi[2] * $unit) }
        } else {
            $m * (-$pi[2] * $unit)
        };
        (r, low)
    }};
}

/// The functions of one type for arguments below a bound, and with those beyond it.
macro_rules! circular {
    ($t:ident $u:ident, $round:ident $key:ident, $reduce:ident $sine:ident $bound:ident $sin:ident $cos:ident $tan:ident
     $quick_sin:ident $quick_cos:ident $quick_tan:ident, beyond $bound_value:expr;
     $far_sin:path, $far_cos:path, $far_tan:path;
     shift $shift:expr, bias $bias:expr; sine $($s:expr),+; above $($n:expr),+; below $($d:expr),+) => {
        /// Below this `|x|` is reduced by subtraction.
        const $bound: $t = $bound_value;

        /// `sin(r + low)` for `r` from -π/2 to π/2.
        #[inline(always)]
        pub fn $sine((r, low): ($t, $t)) -> $t {
            let z = r * r;
            let series = poly!(z; $($s),+);
            // Roughly the cosine.
            let slope = mad!(z, -0.405, 1.0);
            r + mad!(r * z, series, low * slope)
        }

        #[inline(always)]
        pub fn $quick_sin(x: $t) -> ($t, $u) {
            let a = x.abs();
            let (n, bits) = $round::<$bias>(a, core::$t::consts::FRAC_1_PI);
            let y = $sine($reduce::<false>(a, n, 1.0));
            // Odd half turns, and a negative x, change the sign.
            let flip = (bits << $shift) ^ (x.to_bits() & (1 << $shift));
            ($t::from_bits(y.to_bits() ^ flip), $key(x, $bound))
        }

        #[inline(always)]
        pub fn $quick_cos(x: $t) -> ($t, $u) {
            let a = x.abs();
            let (n, bits) = $round::<$bias>(mad!(a, core::$t::consts::FRAC_1_PI, 0.5), 1.0);
            // The sine a quarter turn on, and negative.
            let y = $sine($reduce::<false>(a, n - 0.5, 1.0));
            ($t::from_bits(y.to_bits() ^ (bits << $shift)), $key(x, $bound))
        }

        #[inline(always)]
        pub fn $quick_tan(x: $t) -> ($t, $u) {
            let a = x.abs();
            let (n, bits) = $round::<$bias>(a, core::$t::consts::FRAC_2_PI);
            let (r, low) = $reduce::<true>(a, n, 0.5);
            let z = r * r;
            let rest = mad!(r * z, poly!(z; $($n),+), low);
            let sine = r + rest;
            let sine_low = (r - sine) + rest;
            let below = z * poly!(z; $($d),+);
            let cosine = 1.0 + below;
            let cosine_low = (1.0 - cosine) + below;
            // An odd quarter turn makes it -1/tan.
            let odd = bits & 1 == 1;
            let (top, top_low) = if odd { (cosine, cosine_low) } else { (sine, sine_low) };
            let (bottom, bottom_low) = if odd { (sine, sine_low) } else { (cosine, cosine_low) };
            let q = top / bottom;
            // What the low parts add is over the bottom, roughly.
            let inverse = mad!(z, 0.6, 1.0) * if odd { q } else { 1.0 };
            let y = mad!(mad!(-q, bottom_low, top_low), inverse, q);
            let flip = (bits << $shift) ^ (x.to_bits() & (1 << $shift));
            ($t::from_bits(y.to_bits() ^ flip), $key(x, $bound))
        }

        #[inline(always)]
        pub fn $sin(x: $t) -> $t {
            if x.abs() < $bound { $quick_sin(x).0 } else { $far_sin(x) }
        }

        #[inline(always)]
        pub fn $cos(x: $t) -> $t {
            if x.abs() < $bound { $quick_cos(x).0 } else { $far_cos(x) }
        }

        #[inline(always)]
        pub fn $tan(x: $t) -> $t {
            if x.abs() < $bound { $quick_tan(x).0 } else { $far_tan(x) }
        }
    };
}

circular!(f32 u32, round_int_f32 key_within_f32, less_half_turns_f32 sine_f32 REDUCIBLE_F32 sin_f32 cos_f32 tan_f32
    quick_sin_f32 quick_cos_f32 quick_tan_f32, beyond 131_072.0; far_sin_f32, far_cos_f32, far_tan_f32;
    shift 31, bias 127; sine -1.666666e-01, 8.333069e-03, -1.9809777e-04, 2.606096e-06;
    above -1.0015158e-01;
    below -4.334849e-01, 1.1161602e-02, 1.0936404e-04);
circular!(f64 u64, round_int_f64 key_within_f64, less_half_turns_f64 sine_f64 REDUCIBLE_F64 sin_f64 cos_f64 tan_f64
    quick_sin_f64 quick_cos_f64 quick_tan_f64, beyond 1_048_576.0; libm::sin, libm::cos, libm::tan;
    shift 63, bias 1023; sine -0.16666666666666666, 0.008333333333333207, -0.0001984126984121248,
    2.755731921156887e-06, -2.505210690431949e-08, 1.605894099416581e-10, -7.643019069622772e-13,
    2.721415292238079e-15;
    above -0.13338302114613373, 0.0034248296942667044, -1.7860732308438477e-05;
    below -0.4667163544794671, 0.025663614520755784, -0.00031180561021953773, 4.981475077787247e-07);

/// `a - m·unit·π` as a number and what it lacks, for `a` below the bound, and `m` a multiple of 1/2
/// next to `a/(unit·π)`; `unit` is a power of 2.
#[inline(always)]
fn less_half_turns_f32<const EXACT: bool>(a: f32, m: f32, unit: f32) -> (f32, f32) {
    if_fused! {
        {
            // The first part has so few bits that the difference is exact.
            #[allow(clippy::approx_constant)]
            const PI: [f32; 3] = [3.141_592, 6.278_329_5e-7, 1.078_060_6e-14];
            less_parts!(EXACT, PI, a, m, unit)
        } else {
            let m = m as f64 * unit as f64;
            let r = (a as f64 - m * 3.141_592_653_468_251_2) - m * 1.215_420_101_301_238_3e-10;
            (r as f32, (r - r as f32 as f64) as f32)
        }
    }
}

/// As for `f32`.
#[inline(always)]
fn less_half_turns_f64<const EXACT: bool>(a: f64, m: f64, unit: f64) -> (f64, f64) {
    if_fused! {
        {
            const PI: [f64; 3] =
                [core::f64::consts::PI, 1.224_646_799_147_353_2e-16, -2.994_769_809_718_34e-33];
            less_parts!(EXACT, PI, a, m, unit)
        } else {
            // Parts of 33 bits, whose products with m are exact.
            const PI: [f64; 4] = [3.141_592_653_468_251_2, 1.215_420_101_260_793_2e-10,
                4.044_532_497_422_333e-21, 1.695_685_532_073_78e-31];
            let near = a - m * (PI[0] * unit);
            let second = m * (PI[1] * unit);
            let b = near - second;
            let lost = (near - b) - second;
            let third = m * (PI[2] * unit);
            let r = b - third;
            (r, lost + ((b - r) - third) - m * (PI[3] * unit))
        }
    }
}
