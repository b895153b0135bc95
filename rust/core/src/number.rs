//! What a compute type can do, integers and floats alike. Integer arithmetic wraps, as in libtorch.

use crate::scalar::{Fused, Real};

/// A compute type: f64 f32 i64 i32 i16 i8 u8.
#[allow(missing_docs)]
pub trait Number: Copy + PartialOrd + PartialEq + Send + Sync + core::fmt::Debug + 'static {
    /// For floats the type whose functions fuse; integers themselves.
    type Fused: Number;
    const ZERO: Self;
    const ONE: Self;
    /// The least value (negative infinity for floats).
    const LOWEST: Self;
    /// The greatest value (infinity for floats).
    const HIGHEST: Self;

    fn to_f64(self) -> f64;
    fn to_f32(self) -> f32;
    fn to_i64(self) -> i64;
    fn to_i32(self) -> i32;
    fn to_i16(self) -> i16;
    fn to_i8(self) -> i8;
    fn to_u8(self) -> u8;
    fn from_f64(value: f64) -> Self;
    fn from_i64(value: i64) -> Self;
    fn cast<U: Number>(self) -> U;
    /// Not zero (a NaN is true).
    fn is_true(self) -> bool;
    fn of_bool(value: bool) -> Self;

    fn add(self, o: Self) -> Self;
    fn sub(self, o: Self) -> Self;
    fn mul(self, o: Self) -> Self;
    fn neg(self) -> Self;
    fn abs(self) -> Self;
    fn sign(self) -> Self;
    /// Quotient rounded toward zero. For integers the divisor is not zero.
    fn div_trunc(self, o: Self) -> Self;
    /// Quotient rounded down. For integers the divisor is not zero.
    fn div_floor(self, o: Self) -> Self;
    /// Remainder with the sign of the dividend.
    fn fmod(self, o: Self) -> Self;
    /// Remainder with the sign of the divisor.
    fn remainder(self, o: Self) -> Self;
    /// For integers the exponent's sign decides as in libtorch: a negative power is 0 unless the base is 1 or -1.
    fn pow(self, o: Self) -> Self;
    /// The greater; a NaN wins.
    fn maximum(self, o: Self) -> Self;
    /// The lesser; a NaN wins.
    fn minimum(self, o: Self) -> Self;
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn round(self) -> Self;
    fn trunc(self) -> Self;
    fn is_nan(self) -> bool;
    fn is_infinite(self) -> bool;
}

macro_rules! casts {
    () => {
        #[inline(always)]
        fn to_f64(self) -> f64 {
            self as f64
        }
        #[inline(always)]
        fn to_f32(self) -> f32 {
            self as f32
        }
        #[inline(always)]
        fn to_i64(self) -> i64 {
            self as i64
        }
        #[inline(always)]
        fn to_i32(self) -> i32 {
            self as i32
        }
        #[inline(always)]
        fn to_i16(self) -> i16 {
            self as i16
        }
        #[inline(always)]
        fn to_i8(self) -> i8 {
            self as i8
        }
        #[inline(always)]
        fn to_u8(self) -> u8 {
            self as u8
        }
        #[inline(always)]
        fn from_f64(value: f64) -> Self {
            value as Self
        }
        #[inline(always)]
        fn from_i64(value: i64) -> Self {
            value as Self
        }
    };
}

macro_rules! integer {
    ($($t:ident $signed:literal;)*) => {$(
        #[allow(unused_comparisons, clippy::absurd_extreme_comparisons)]
        impl Number for $t {
            type Fused = $t;
            const ZERO: $t = 0;
            const ONE: $t = 1;
            const LOWEST: $t = $t::MIN;
            const HIGHEST: $t = $t::MAX;
            casts!();
            #[inline(always)]
            fn cast<U: Number>(self) -> U { U::from_i64(self as i64) }
            #[inline(always)]
            fn is_true(self) -> bool { self != 0 }
            #[inline(always)]
            fn of_bool(value: bool) -> $t { value as $t }
            #[inline(always)]
            fn add(self, o: $t) -> $t { self.wrapping_add(o) }
            #[inline(always)]
            fn sub(self, o: $t) -> $t { self.wrapping_sub(o) }
            #[inline(always)]
            fn mul(self, o: $t) -> $t { self.wrapping_mul(o) }
            #[inline(always)]
            fn neg(self) -> $t { self.wrapping_neg() }
            #[inline(always)]
            fn abs(self) -> $t { if self < 0 { self.wrapping_neg() } else { self } }
            #[inline(always)]
            fn sign(self) -> $t { (self > 0) as $t - (self < 0) as $t }
            #[inline(always)]
            fn div_trunc(self, o: $t) -> $t { self.wrapping_div(o) }
            #[inline(always)]
            fn div_floor(self, o: $t) -> $t {
                let q = self.wrapping_div(o);
                if self.wrapping_rem(o) != 0 && ((self < 0) != (o < 0)) { q - 1 } else { q }
            }
            #[inline(always)]
            fn fmod(self, o: $t) -> $t { self.wrapping_rem(o) }
            #[inline(always)]
            fn remainder(self, o: $t) -> $t {
                let r = self.wrapping_rem(o);
                if r != 0 && ((r < 0) != (o < 0)) { r + o } else { r }
            }
            fn pow(self, o: $t) -> $t {
                if o < 0 {
                    let odd = o & 1 != 0;
                    return if self == 1 {
                        1
                    } else if $signed && self == (0 as $t).wrapping_sub(1) {
                        if odd { self } else { 1 }
                    } else {
                        0
                    };
                }
                let (mut base, mut power, mut left) = (self, 1 as $t, o);
                while left > 0 {
                    if left & 1 != 0 {
                        power = power.wrapping_mul(base);
                    }
                    base = base.wrapping_mul(base);
                    left >>= 1;
                }
                power
            }
            #[inline(always)]
            fn maximum(self, o: $t) -> $t { if self > o { self } else { o } }
            #[inline(always)]
            fn minimum(self, o: $t) -> $t { if self < o { self } else { o } }
            #[inline(always)]
            fn floor(self) -> $t { self }
            #[inline(always)]
            fn ceil(self) -> $t { self }
            #[inline(always)]
            fn round(self) -> $t { self }
            #[inline(always)]
            fn trunc(self) -> $t { self }
            #[inline(always)]
            fn is_nan(self) -> bool { false }
            #[inline(always)]
            fn is_infinite(self) -> bool { false }
        }
    )*};
}
integer! {
    i64 true; i32 true; i16 true; i8 true; u8 false;
}

macro_rules! float {
    ($($t:ident)*) => {$(
        impl Number for $t {
            type Fused = Fused<$t>;
            const ZERO: $t = 0.0;
            const ONE: $t = 1.0;
            const LOWEST: $t = $t::NEG_INFINITY;
            const HIGHEST: $t = $t::INFINITY;
            casts!();
            #[inline(always)]
            fn cast<U: Number>(self) -> U { U::from_f64(self as f64) }
            #[inline(always)]
            fn is_true(self) -> bool { self != 0.0 }
            #[inline(always)]
            fn of_bool(value: bool) -> $t { value as u8 as $t }
            #[inline(always)]
            fn add(self, o: $t) -> $t { self + o }
            #[inline(always)]
            fn sub(self, o: $t) -> $t { self - o }
            #[inline(always)]
            fn mul(self, o: $t) -> $t { self * o }
            #[inline(always)]
            fn neg(self) -> $t { -self }
            #[inline(always)]
            fn abs(self) -> $t { Real::abs(self) }
            #[inline(always)]
            fn sign(self) -> $t {
                ((self > 0.0) as u8 as $t) - ((self < 0.0) as u8 as $t)
            }
            #[inline(always)]
            fn div_trunc(self, o: $t) -> $t { Real::trunc(self / o) }
            #[inline(always)]
            fn div_floor(self, o: $t) -> $t {
                // Python's rule: round the exact quotient (x - x mod y) / y, not x / y, which may
                // already have been rounded up to a whole number.
                if o == 0.0 {
                    return self / o;
                }
                let r = Real::fmod(self, o);
                let mut q = (self - r) / o;
                if r != 0.0 && ((o < 0.0) != (r < 0.0)) {
                    q -= 1.0;
                }
                if q == 0.0 {
                    return Real::copysign(0.0, self / o);
                }
                let f = Real::floor(q);
                if q - f > 0.5 { f + 1.0 } else { f }
            }
            #[inline(always)]
            fn fmod(self, o: $t) -> $t { Real::fmod(self, o) }
            #[inline(always)]
            fn remainder(self, o: $t) -> $t {
                let r = Real::fmod(self, o);
                if r != 0.0 && ((r < 0.0) != (o < 0.0)) { r + o } else { r }
            }
            #[inline(always)]
            fn pow(self, o: $t) -> $t { Real::pow(self, o) }
            #[inline(always)]
            fn maximum(self, o: $t) -> $t { if self > o || self != self { self } else { o } }
            #[inline(always)]
            fn minimum(self, o: $t) -> $t { if self < o || self != self { self } else { o } }
            #[inline(always)]
            fn floor(self) -> $t { Real::floor(self) }
            #[inline(always)]
            fn ceil(self) -> $t { Real::ceil(self) }
            #[inline(always)]
            fn round(self) -> $t { Real::round(self) }
            #[inline(always)]
            fn trunc(self) -> $t { Real::trunc(self) }
            #[inline(always)]
            fn is_nan(self) -> bool { self != self }
            #[inline(always)]
            fn is_infinite(self) -> bool { Real::abs(self) == $t::INFINITY }
        }
    )*};
}
float! { f64 f32 }
