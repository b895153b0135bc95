//! The functions themselves, over `mad!(a, b, c)`, which is `a * b + c` rounded twice or once: this
//! folder is compiled for each of the two.

/// A polynomial, coefficients in rising order: the first apart, so that the largest term is
/// rounded once, the others by Estrin's scheme, whose chain of operations that wait for one
/// another is short, which decides the speed of a vector loop.
macro_rules! poly {
    ($x:expr; $first:expr, $($c:expr),+) => {
        mad!($x, poly!(@even $x; $($c),+), $first)
    };
    (@even $x:expr; $c:expr) => { $c };
    (@even $x:expr; $($c:expr),+) => { poly!(@pairs $x; []; $($c),+) };
    (@pairs $x:expr; []; $a:expr, $b:expr) => { mad!($x, $b, $a) };
    (@pairs $x:expr; [$($p:expr),*]; $a:expr, $b:expr $(, $c:expr)*) => {
        poly!(@pairs $x; [$($p,)* mad!($x, $b, $a)]; $($c),*)
    };
    (@pairs $x:expr; [$($p:expr),*]; $a:expr) => {
        poly!(@pairs $x; [$($p,)* $a];)
    };
    (@pairs $x:expr; [$($p:expr),*];) => {{
        let square = $x * $x;
        poly!(@even square; $($p),*)
    }};
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
