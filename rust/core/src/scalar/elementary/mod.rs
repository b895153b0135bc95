//! The functions themselves, over `mad!(a, b, c)`, which is `a * b + c` rounded twice or once: this
//! folder is compiled for each of the two.

/// A polynomial, coefficients in rising order, by Horner's scheme: the fewest operations, and
/// a vector loop has other elements to work on while one waits.
macro_rules! poly {
    ($x:expr; $c:expr) => { $c };
    ($x:expr; $c:expr, $($more:expr),+) => { mad!($x, poly!($x; $($more),+), $c) };
}

/// Limits `x` to `lo..=hi`, leaving a NaN alone.
macro_rules! clamp {
    ($x:expr, $lo:expr, $hi:expr) => {{
        let x = if $x < $lo { $lo } else { $x };
        if x > $hi { $hi } else { x }
    }};
}

/// Keys of arguments, which are below [`Real::SPECIAL`](crate::scalar::Real) where a quick function
/// has the answer.
macro_rules! keys {
    ($t:ident $u:ident $normal:ident $within:ident) => {
        /// Whether `x` is positive and normal.
        #[inline(always)]
        fn $normal(x: $t) -> $u {
            x.to_bits().wrapping_sub($t::MIN_POSITIVE.to_bits())
        }

        /// Whether `|x|` is below `bound`.
        #[inline(always)]
        fn $within(x: $t, bound: $t) -> $u {
            x.abs().to_bits() + (<$t as crate::scalar::Real>::SPECIAL - bound.to_bits())
        }
    };
}
keys!(f32 u32 key_normal_f32 key_within_f32);
keys!(f64 u64 key_normal_f64 key_within_f64);

pub mod arc;
pub mod area;
pub mod erf;
pub mod exp;
pub mod gamma;
pub mod hyperbolic;
pub mod log;
pub mod power;
pub mod rounding;
pub mod special;
pub mod trig;
