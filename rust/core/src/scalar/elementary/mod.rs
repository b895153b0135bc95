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

pub mod erf;
pub mod exp;
pub mod hyperbolic;
pub mod log;
pub mod power;
pub mod rounding;
pub mod special;
pub mod trig;
