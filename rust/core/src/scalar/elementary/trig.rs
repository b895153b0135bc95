//! Circular functions and their inverses.
//!
//! `f32`: after Payne & Hanek (1983), `x·2/π` modulo 4 in integer arithmetic, from those bits of
//! 2/π that matter at the exponent of `x`, so that one path without branches or tables serves
//! every argument. Sine and cosine of the rest are minimax polynomials (Remez exchange) in `f64`.

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
    // Small arguments keep their relative precision in a product.
    let small = a < 0.5;
    let rest = if small { a as f64 * core::f64::consts::FRAC_2_PI } else { upper + lower };
    let rest = if a < f32::INFINITY { rest } else { f64::NAN };
    (if small { 0 } else { rounded >> 62 }, rest)
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
pub fn sin_f32(x: f32) -> f32 {
    let (n, f) = quarters(x);
    let (s, c) = sine_and_cosine(f);
    let y = if n & 1 == 0 { s } else { c };
    // The third quarter turn, and a negative x, change the sign.
    let flip = ((n as u32 & 2) << 30) ^ (x.to_bits() & 0x8000_0000);
    f32::from_bits((y as f32).to_bits() ^ flip)
}

#[inline(always)]
pub fn cos_f32(x: f32) -> f32 {
    let (n, f) = quarters(x);
    let (s, c) = sine_and_cosine(f);
    let y = if n & 1 == 0 { c } else { s };
    let flip = ((n as u32).wrapping_add(1) & 2) << 30;
    f32::from_bits((y as f32).to_bits() ^ flip)
}

#[inline(always)]
pub fn tan_f32(x: f32) -> f32 {
    let (n, f) = quarters(x);
    let (s, c) = sine_and_cosine(f);
    let (top, bottom) = if n & 1 == 0 { (s, c) } else { (-c, s) };
    let y = (top / bottom) as f32;
    f32::from_bits(y.to_bits() ^ (x.to_bits() & 0x8000_0000))
}

/// The inverses are the `libm` ones in `f64`, for `f32` rounded: its own `f32` functions cost
/// about the same and miss π and π/2 by an ulp.
macro_rules! from_libm {
    ($($f32_fn:ident $f64_fn:ident $name:ident ($($arg:ident)*);)*) => {$(
        #[inline(always)]
        pub fn $f32_fn($($arg: f32),*) -> f32 {
            libm::$name($($arg as f64),*) as f32
        }

        #[inline(always)]
        pub fn $f64_fn($($arg: f64),*) -> f64 {
            libm::$name($($arg),*)
        }
    )*};
}

from_libm! {
    asin_f32 asin_f64 asin (x);
    acos_f32 acos_f64 acos (x);
    atan_f32 atan_f64 atan (x);
    atan2_f32 atan2_f64 atan2 (y x);
}

#[inline(always)]
pub fn sin_f64(x: f64) -> f64 {
    libm::sin(x)
}

#[inline(always)]
pub fn cos_f64(x: f64) -> f64 {
    libm::cos(x)
}

#[inline(always)]
pub fn tan_f64(x: f64) -> f64 {
    libm::tan(x)
}
