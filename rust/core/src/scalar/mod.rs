//! Elementary functions of one element, written so that a loop over a slice becomes vector code.
//!
//! Every function is `#[inline(always)]`. The hot ones are free of branches and calls, so the
//! loop around them vectorises at whatever CPU level it is compiled for; the cold ones call
//! `libm`. Each exists twice: for `f32` and `f64` with products and sums rounded apart, which every
//! CPU can do, and for [`Fused`] with the two rounded once, for the levels that have the instruction.
//! Some have a quick form besides, for arguments that are no special cases: see [`Quick`].
//! Accuracy, of both, is within 2 ulp, 4 for `lgamma`, `digamma` and `erfinv`; NaN, infinities, signed
//! zeros and denormals are as in C99 and libtorch. `tests/scalar.rs` measures both.

use crate::number::Number;
use core::fmt::{Debug, Display};
use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

mod fused;
pub mod half;
mod quick;

pub use fused::Fused;
pub(crate) use fused::reinterpret;
pub use quick::Quick;

/// `a * b + c` as the type of numbers rounds it.
macro_rules! mad {
    ($a:expr, $b:expr, $c:expr) => {
        $a * $b + $c
    };
}
/// `a * b + c` of `f32`, exact where that is a number.
macro_rules! fused {
    ($a:expr, $b:expr, $c:expr) => {
        ($a as f64 * $b as f64 + $c as f64) as f32
    };
}
/// The first block where `mad!` rounds once, the second where it rounds twice.
macro_rules! if_fused {
    ($fused:block else $plain:block) => {
        $plain
    };
}
#[path = "elementary/mod.rs"]
mod plain;

macro_rules! mad {
    ($a:expr, $b:expr, $c:expr) => {
        crate::scalar::fused::MulAdd::fused($a, $b, $c)
    };
}
macro_rules! fused {
    ($a:expr, $b:expr, $c:expr) => {
        mad!($a, $b, $c)
    };
}
macro_rules! if_fused {
    ($fused:block else $plain:block) => {
        $fused
    };
}
#[path = "elementary/mod.rs"]
#[allow(clippy::duplicate_mod)]
mod once;

/// Declares [`Real`] and its implementations from one row a function: doc, name, further
/// arguments, the `f32` body, the `f64` body, and the name and bodies of its quick form if it has
/// one.
macro_rules! real {
    ($($(#[$doc:meta])* $name:ident ( $($arg:ident)* ) $m:ident $f32_fn:ident $f64_fn:ident
        $(=> $quick:ident ( $($q_arg:ident)* ) $q32:ident $q64:ident)?;)*) => {
        /// A floating-point element: `f32` or `f64`, and the functions that kernels apply to it.
        ///
        /// Several names are also inherent methods of `f32` and `f64` where `std` is linked, and
        /// `min` and `max` always are, with another meaning for NaN: on a concrete type write
        /// `Real::max(a, b)`.
        pub trait Real:
            Copy
            + PartialOrd
            + Default
            + Debug
            + Display
            + Send
            + Sync
            + 'static
            + Add<Output = Self>
            + Sub<Output = Self>
            + Mul<Output = Self>
            + Div<Output = Self>
            + Neg<Output = Self>
            + AddAssign
            + SubAssign
            + MulAssign
            + DivAssign
        {
            /// The same numbers, computed with fused multiplication and addition.
            type Fused: Real + Number;
            /// What the special cases of an argument are recognised by.
            type Key: Copy + Ord + Default + Debug + Send + Sync + 'static;

            /// The least key.
            const ORDINARY: Self::Key;
            /// The least key of arguments for which a quick function does not have the answer.
            const SPECIAL: Self::Key;

            /// 0
            const ZERO: Self;
            /// 1
            const ONE: Self;
            /// 2
            const TWO: Self;
            /// 1/2
            const HALF: Self;
            /// π
            const PI: Self;
            /// e
            const E: Self;
            /// ln 2
            const LN_2: Self;
            /// ln 10
            const LN_10: Self;
            /// √2
            const SQRT_2: Self;
            /// 2/√π
            const FRAC_2_SQRT_PI: Self;
            /// Distance from 1 to the next larger number.
            const EPSILON: Self;
            /// Smallest positive normal number.
            const MIN_POSITIVE: Self;
            /// Largest finite number.
            const MAX: Self;
            /// Smallest finite number.
            const MIN: Self;
            /// +∞
            const INFINITY: Self;
            /// −∞
            const NEG_INFINITY: Self;
            /// A quiet NaN.
            const NAN: Self;

            /// Rounds an `f64` to this type.
            fn from_f64(x: f64) -> Self;
            /// Widens to `f64`, exactly.
            fn to_f64(self) -> f64;
            /// Whether this is a NaN.
            fn is_nan(self) -> bool;
            /// Whether this is neither infinite nor a NaN.
            fn is_finite(self) -> bool;
            /// Whether this is +∞ or −∞.
            fn is_infinite(self) -> bool;
            /// Whether the sign bit is set, that of zeros and NaNs included.
            fn is_sign_negative(self) -> bool;
            $($(#[$doc])* fn $name(self $(, $arg: Self)*) -> Self;)*
            $($(
                /// The same bits without the special cases, where the key is below
                /// [`Real::SPECIAL`].
                fn $quick(self $(, $q_arg: Self)*) -> (Self, Self::Key);
            )?)*
        }
        real!(@impl f32 u32 [$($name ( $($arg)* ) $m $f32_fn $($quick ( $($q_arg)* ) $q32)?;)*]);
        real!(@impl f64 u64 [$($name ( $($arg)* ) $m $f64_fn $($quick ( $($q_arg)* ) $q64)?;)*]);
        real!(@fused f32 [$($name ( $($arg)* ) $m $f32_fn $($quick ( $($q_arg)* ) $q32)?;)*]);
        real!(@fused f64 [$($name ( $($arg)* ) $m $f64_fn $($quick ( $($q_arg)* ) $q64)?;)*]);

        impl<T: Real> Real for Quick<T> {
            type Fused = T::Fused;
            type Key = T::Key;
            const ORDINARY: T::Key = T::ORDINARY;
            const SPECIAL: T::Key = T::SPECIAL;
            real!(@constants (Quick::new) T ZERO ONE TWO HALF PI E LN_2 LN_10 SQRT_2 FRAC_2_SQRT_PI
                EPSILON MIN_POSITIVE MAX MIN INFINITY NEG_INFINITY NAN);
            real!(@same (Quick::new) T);
            $(
                #[inline(always)]
                fn $name(self $(, $arg: Self)*) -> Self {
                    real!(@quick $name [$($quick)?] self $($arg)*)
                }
            )*
            $($(
                #[inline(always)]
                fn $quick(self $(, $q_arg: Self)*) -> (Self, T::Key) {
                    (self.$name($($q_arg),*), T::ORDINARY)
                }
            )?)*
        }
    };
    (@quick $name:ident [] $self:ident $($arg:ident)*) => {
        $self.then(T::$name($self.get() $(, $arg.get())*), T::ORDINARY) $(.after($arg))*
    };
    (@quick $name:ident [$quick:ident] $self:ident $($arg:ident)*) => {{
        let (x, key) = T::$quick($self.get() $(, $arg.get())*);
        $self.then(x, key) $(.after($arg))*
    }};
    (@same ($wrap:expr) $t:ident) => {
        #[inline(always)]
        fn from_f64(x: f64) -> Self {
            $wrap(<$t as Real>::from_f64(x))
        }
        #[inline(always)]
        fn to_f64(self) -> f64 {
            Real::to_f64(self.get())
        }
        #[inline(always)]
        fn is_nan(self) -> bool {
            Real::is_nan(self.get())
        }
        #[inline(always)]
        fn is_finite(self) -> bool {
            Real::is_finite(self.get())
        }
        #[inline(always)]
        fn is_infinite(self) -> bool {
            Real::is_infinite(self.get())
        }
        #[inline(always)]
        fn is_sign_negative(self) -> bool {
            Real::is_sign_negative(self.get())
        }
    };
    (@fused $t:ident [$($name:ident ( $($arg:ident)* ) $m:ident $f:ident $($quick:ident ( $($q_arg:ident)* ) $q:ident)?;)*]) => {
        impl Real for Fused<$t> {
            type Fused = Self;
            type Key = <$t as Real>::Key;
            const ORDINARY: Self::Key = <$t as Real>::ORDINARY;
            const SPECIAL: Self::Key = <$t as Real>::SPECIAL;
            real!(@constants (Fused) $t ZERO ONE TWO HALF PI E LN_2 LN_10 SQRT_2 FRAC_2_SQRT_PI
                EPSILON MIN_POSITIVE MAX MIN INFINITY NEG_INFINITY NAN);
            real!(@same (Fused) $t);
            $(
                #[inline(always)]
                fn $name(self $(, $arg: Self)*) -> Self {
                    Fused(once::$m::$f(self.0 $(, $arg.0)*))
                }
            )*
            $($(
                #[inline(always)]
                fn $quick(self $(, $q_arg: Self)*) -> (Self, Self::Key) {
                    let (x, key) = once::$m::$q(self.0 $(, $q_arg.0)*);
                    (Fused(x), key)
                }
            )?)*
        }
    };
    (@constants ($wrap:expr) $t:ident $($c:ident)*) => {
        $(const $c: Self = $wrap(<$t as Real>::$c);)*
    };
    (@impl $t:ident $u:ident [$($name:ident ( $($arg:ident)* ) $m:ident $f:ident $($quick:ident ( $($q_arg:ident)* ) $q:ident)?;)*]) => {
        impl Real for $t {
            type Fused = Fused<$t>;
            type Key = $u;
            const ORDINARY: $u = 0;
            const SPECIAL: $u = $t::INFINITY.to_bits() - $t::MIN_POSITIVE.to_bits();
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const TWO: Self = 2.0;
            const HALF: Self = 0.5;
            const PI: Self = core::$t::consts::PI;
            const E: Self = core::$t::consts::E;
            const LN_2: Self = core::$t::consts::LN_2;
            const LN_10: Self = core::$t::consts::LN_10;
            const SQRT_2: Self = core::$t::consts::SQRT_2;
            const FRAC_2_SQRT_PI: Self = core::$t::consts::FRAC_2_SQRT_PI;
            const EPSILON: Self = $t::EPSILON;
            const MIN_POSITIVE: Self = $t::MIN_POSITIVE;
            const MAX: Self = $t::MAX;
            const MIN: Self = $t::MIN;
            const INFINITY: Self = $t::INFINITY;
            const NEG_INFINITY: Self = $t::NEG_INFINITY;
            const NAN: Self = $t::NAN;

            #[inline(always)]
            fn from_f64(x: f64) -> Self {
                x as $t
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                $t::is_nan(self)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                $t::is_finite(self)
            }
            #[inline(always)]
            fn is_infinite(self) -> bool {
                $t::is_infinite(self)
            }
            #[inline(always)]
            fn is_sign_negative(self) -> bool {
                $t::is_sign_negative(self)
            }
            $(
                #[inline(always)]
                fn $name(self $(, $arg: Self)*) -> Self {
                    plain::$m::$f(self $(, $arg)*)
                }
            )*
            $($(
                #[inline(always)]
                fn $quick(self $(, $q_arg: Self)*) -> (Self, $u) {
                    plain::$m::$q(self $(, $q_arg)*)
                }
            )?)*
        }
    };
}

real! {
    /// Absolute value; clears the sign of zeros and NaNs too.
    abs() rounding abs_f32 abs_f64;
    /// Square root, correctly rounded.
    sqrt() power sqrt_f32 sqrt_f64;
    /// `1/√x`
    rsqrt() power rsqrt_f32 rsqrt_f64;
    /// `1/x`
    reciprocal() power reciprocal_f32 reciprocal_f64;
    /// Largest integer not above `x`.
    floor() rounding floor_f32 floor_f64;
    /// Smallest integer not below `x`.
    ceil() rounding ceil_f32 ceil_f64;
    /// `x` without its fraction.
    trunc() rounding trunc_f32 trunc_f64;
    /// Nearest integer, halves to even.
    round() rounding round_f32 round_f64;
    /// `x - trunc(x)`
    frac() rounding frac_f32 frac_f64;
    /// `eˣ`
    exp() exp exp_f32 exp_f64 => quick_exp() quick_exp_f32 quick_exp_f64;
    /// `2ˣ`
    exp2() exp exp2_f32 exp2_f64 => quick_exp2() quick_exp2_f32 quick_exp2_f64;
    /// `eˣ - 1`, accurate near zero.
    expm1() exp expm1_f32 expm1_f64;
    /// Natural logarithm.
    ln() log ln_f32 ln_f64 => quick_ln() quick_ln_f32 quick_ln_f64;
    /// Logarithm to base 2.
    log2() log log2_f32 log2_f64 => quick_log2() quick_log2_f32 quick_log2_f64;
    /// Logarithm to base 10.
    log10() log log10_f32 log10_f64 => quick_log10() quick_log10_f32 quick_log10_f64;
    /// `ln(1 + x)`, accurate near zero.
    log1p() log log1p_f32 log1p_f64 => quick_log1p() quick_log1p_f32 quick_log1p_f64;
    /// Sine.
    sin() trig sin_f32 sin_f64 => quick_sin() quick_sin_f32 quick_sin_f64;
    /// Cosine.
    cos() trig cos_f32 cos_f64 => quick_cos() quick_cos_f32 quick_cos_f64;
    /// Tangent.
    tan() trig tan_f32 tan_f64 => quick_tan() quick_tan_f32 quick_tan_f64;
    /// Arc sine.
    asin() arc asin_f32 asin_f64;
    /// Arc cosine.
    acos() arc acos_f32 acos_f64;
    /// Arc tangent.
    atan() arc atan_f32 atan_f64;
    /// Angle of the point (`x`, `self`).
    atan2(x) arc atan2_f32 atan2_f64;
    /// Hyperbolic sine.
    sinh() hyperbolic sinh_f32 sinh_f64;
    /// Hyperbolic cosine.
    cosh() hyperbolic cosh_f32 cosh_f64;
    /// Hyperbolic tangent.
    tanh() hyperbolic tanh_f32 tanh_f64;
    /// Inverse hyperbolic sine.
    asinh() area asinh_f32 asinh_f64;
    /// Inverse hyperbolic cosine.
    acosh() area acosh_f32 acosh_f64;
    /// Inverse hyperbolic tangent.
    atanh() area atanh_f32 atanh_f64;
    /// `1/(1 + e⁻ˣ)`
    sigmoid() hyperbolic sigmoid_f32 sigmoid_f64 => quick_sigmoid() quick_sigmoid_f32 quick_sigmoid_f64;
    /// Error function.
    erf() erf erf_f32 erf_f64;
    /// `1 - erf(x)`, accurate for large `x`.
    erfc() erf erfc_f32 erfc_f64;
    /// Inverse of the error function.
    erfinv() erf erfinv_f32 erfinv_f64;
    /// `ln |Γ(x)|`
    lgamma() gamma lgamma_f32 lgamma_f64 => quick_lgamma() quick_lgamma_f32 quick_lgamma_f64;
    /// Derivative of `ln Γ(x)`.
    digamma() special digamma_f32 digamma_f64;
    /// `self` to the power `y`, with the special cases of C99.
    pow(y) power pow_f32 pow_f64 => quick_pow(y) quick_pow_f32 quick_pow_f64;
    /// Exact remainder of `self / y`, with the sign of `self`.
    fmod(y) rounding fmod_f32 fmod_f64;
    /// `√(self² + y²)` without overflow on the way.
    hypot(y) power hypot_f32 hypot_f64 => quick_hypot(y) quick_hypot_f32 quick_hypot_f64;
    /// The magnitude of `self` with the sign of `s`.
    copysign(s) rounding copysign_f32 copysign_f64;
    /// `self * b + c`, rounded twice, or once where this type is [`Fused`].
    mul_add(b c) rounding mul_add_f32 mul_add_f64;
    /// The smaller; NaN where either is NaN.
    min(y) rounding min_f32 min_f64;
    /// The larger; NaN where either is NaN.
    max(y) rounding max_f32 max_f64;
}
