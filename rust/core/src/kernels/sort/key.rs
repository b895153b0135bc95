//! The order of elements as unsigned numbers.

use crate::dtype::Element;
use crate::number::Number;

/// An unsigned word.
#[allow(missing_docs)]
pub trait Word: Copy + Ord + Send + Sync + 'static {
    const ZERO: Self;
    const ONES: Self;
    fn wide(self) -> u64;
    /// The low bits.
    fn narrow(value: u64) -> Self;
    fn xor(self, o: Self) -> Self;
    /// Wrapping difference.
    fn less(self, o: Self) -> Self;
}

macro_rules! word {
    ($($t:ident)*) => {$(
        impl Word for $t {
            const ZERO: $t = 0;
            const ONES: $t = $t::MAX;
            #[inline(always)]
            fn wide(self) -> u64 {
                self as u64
            }
            #[inline(always)]
            fn narrow(value: u64) -> $t {
                value as $t
            }
            #[inline(always)]
            fn xor(self, o: $t) -> $t {
                self ^ o
            }
            #[inline(always)]
            fn less(self, o: $t) -> $t {
                self.wrapping_sub(o)
            }
        }
    )*};
}
word! { u8 u16 u32 u64 }

/// A compute type with a total order: NaN is greatest, both zeros are equal.
pub trait Key: Number + Element<Compute = Self> {
    /// As wide as the type.
    type Bits: Word;
    /// Its width.
    const BITS: u32;
    /// Whether there are NaN (key: all ones) and two zeros.
    const FLOAT: bool;
    /// Keys compare as elements do.
    fn key(self) -> Self::Bits;
    /// The element of a key: a positive zero, any NaN.
    fn of_key(key: Self::Bits) -> Self;
    /// Neither zero nor NaN: its key says all about it.
    fn is_plain(self) -> bool;
}

macro_rules! integer_key {
    ($($t:ident $u:ident $sign:expr;)*) => {$(
        impl Key for $t {
            type Bits = $u;
            const BITS: u32 = $u::BITS;
            const FLOAT: bool = false;
            #[inline(always)]
            fn key(self) -> $u {
                self as $u ^ $sign
            }
            #[inline(always)]
            fn of_key(key: $u) -> $t {
                (key ^ $sign) as $t
            }
            #[inline(always)]
            fn is_plain(self) -> bool {
                true
            }
        }
    )*};
}
integer_key! {
    u8 u8 0; i8 u8 1 << 7; i16 u16 1 << 15; i32 u32 1 << 31; i64 u64 1 << 63;
}

macro_rules! float_key {
    ($($t:ident $u:ident $i:ident;)*) => {$(
        impl Key for $t {
            type Bits = $u;
            const BITS: u32 = $u::BITS;
            const FLOAT: bool = true;
            #[inline(always)]
            fn key(self) -> $u {
                const SIGN: $u = 1 << ($u::BITS - 1);
                // Adding zero makes a negative one positive.
                let bits = (self + 0.0).to_bits();
                let mask = (bits as $i >> ($u::BITS - 1)) as $u | SIGN;
                if self != self { $u::MAX } else { bits ^ mask }
            }
            #[inline(always)]
            fn of_key(key: $u) -> $t {
                const SIGN: $u = 1 << ($u::BITS - 1);
                $t::from_bits(if key & SIGN != 0 { key ^ SIGN } else { !key })
            }
            #[inline(always)]
            fn is_plain(self) -> bool {
                self != 0.0 && self == self
            }
        }
    )*};
}
float_key! { f32 u32 i32; f64 u64 i64; }
