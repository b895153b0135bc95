//! Circular functions and their inverses.
//!
//! `f32`: after Payne & Hanek (1983), `x·2/π` modulo 4 from the bits of 2/π that matter at the
//! exponent of `x`, kept in a table by exponent, so that one path serves every argument. Sine and
//! cosine of the rest are minimax polynomials (Remez exchange), in `f64`.

use super::exp::poly;

/// 2/π, the first 256 bits of its fraction.
const TWO_OVER_PI: [u64; 4] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
];

/// `len` bits of 2/π from the bit `from` on.
const fn bits_of_two_over_pi(from: usize, len: usize) -> u64 {
    let (word, shift) = (from / 64, from % 64);
    let mut bits = TWO_OVER_PI[word] << shift;
    if shift > 0 {
        bits |= TWO_OVER_PI[word + 1] >> (64 - shift);
    }
    bits >> (64 - len)
}

const fn power_of_two(n: i32) -> f64 {
    f64::from_bits(((1023 + n) as u64) << 52)
}

/// For each `f32` exponent field, what the significand as an integer is to be multiplied by to
/// give `x·2/π` modulo 4: 29 bits, whose product with 24 is exact, and the 53 bits after them.
static QUARTERS: [[f64; 2]; 256] = {
    let mut table = [[f64::NAN; 2]; 256];
    let mut field = 0;
    while field < 255 {
        let exponent = (if field == 0 { 1 } else { field }) as i32 - 150;
        // Bit j has the weight 2^(exponent - 1 - j); multiples of 4 drop out.
        let from = if exponent > 2 {
            exponent as usize - 2
        } else {
            0
        };
        let scale = exponent - from as i32 - 29;
        table[field][0] = bits_of_two_over_pi(from, 29) as f64 * power_of_two(scale);
        table[field][1] = bits_of_two_over_pi(from + 29, 53) as f64 * power_of_two(scale - 53);
        field += 1;
    }
    table
};

/// `|x|` in quarter turns: the whole ones modulo 4 in the low bits, and the rest, ±1/2 at most.
#[inline(always)]
fn quarters(x: f32) -> (u64, f64) {
    const MAGIC: f64 = 6_755_399_441_055_744.0;
    let bits = x.to_bits();
    let field = (bits >> 23) & 0xff;
    let fraction = bits & 0x7f_ffff;
    let significand = if field == 0 {
        fraction
    } else {
        fraction | 0x80_0000
    } as i32 as f64;
    let [high, low] = QUARTERS[field as usize];
    let product = significand * high;
    let tail = significand * low;
    let shifted = (product + tail) + MAGIC;
    (shifted.to_bits(), (product - (shifted - MAGIC)) + tail)
}

/// Sine and cosine of `f` quarter turns.
#[inline(always)]
fn sine_and_cosine(f: f64) -> (f64, f64) {
    let z = f * f;
    let s = f
        * poly!(z; 1.5707963217001046, -0.6459634594636854, 0.07968002266661782, -0.004601625896150867);
    let c = poly!(z; 0.9999999999438217, -1.233700539547475, 0.25366918219918644, -0.020859933156102187, 0.0009033565653723972);
    (s, c)
}

#[inline(always)]
pub(super) fn sin_f32(x: f32) -> f32 {
    let (n, f) = quarters(x);
    let (s, c) = sine_and_cosine(f);
    let y = if n & 1 == 0 { s } else { c };
    // The third quarter turn, and a negative x, change the sign.
    let flip = ((n as u32 & 2) << 30) ^ (x.to_bits() & 0x8000_0000);
    f32::from_bits((y as f32).to_bits() ^ flip)
}

#[inline(always)]
pub(super) fn cos_f32(x: f32) -> f32 {
    let (n, f) = quarters(x);
    let (s, c) = sine_and_cosine(f);
    let y = if n & 1 == 0 { c } else { s };
    let flip = ((n as u32).wrapping_add(1) & 2) << 30;
    f32::from_bits((y as f32).to_bits() ^ flip)
}

#[inline(always)]
pub(super) fn tan_f32(x: f32) -> f32 {
    let (n, f) = quarters(x);
    let (s, c) = sine_and_cosine(f);
    let (top, bottom) = if n & 1 == 0 { (s, c) } else { (-c, s) };
    let y = (top / bottom) as f32;
    f32::from_bits(y.to_bits() ^ (x.to_bits() & 0x8000_0000))
}

macro_rules! from_libm {
    ($($f32_fn:ident $f64_fn:ident $name32:ident $name:ident ($($arg:ident)*);)*) => {$(
        #[inline(always)]
        pub(super) fn $f32_fn($($arg: f32),*) -> f32 {
            libm::$name32($($arg),*)
        }

        #[inline(always)]
        pub(super) fn $f64_fn($($arg: f64),*) -> f64 {
            libm::$name($($arg),*)
        }
    )*};
}

from_libm! {
    asin_f32 asin_f64 asinf asin (x);
    acos_f32 acos_f64 acosf acos (x);
    atan_f32 atan_f64 atanf atan (x);
    atan2_f32 atan2_f64 atan2f atan2 (y x);
}

#[inline(always)]
pub(super) fn sin_f64(x: f64) -> f64 {
    libm::sin(x)
}

#[inline(always)]
pub(super) fn cos_f64(x: f64) -> f64 {
    libm::cos(x)
}

#[inline(always)]
pub(super) fn tan_f64(x: f64) -> f64 {
    libm::tan(x)
}
