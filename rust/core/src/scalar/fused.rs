//! Numbers whose elementary functions multiply and add in one instruction with one rounding.

use core::fmt;
use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use crate::number::Number;
use crate::scalar::Real;

/// A number as it is, and a type whose [`Real`] functions fuse. Only kernels of a CPU level that has
/// the instruction may make one, by [`reinterpret`] or `Fused::new`.
#[derive(Clone, Copy, PartialEq, PartialOrd, Default, Debug)]
#[repr(transparent)]
pub struct Fused<T>(pub(super) T);

impl<T> Fused<T> {
    /// The number as a fused one.
    ///
    /// # Safety
    /// The CPU has the fused instruction: on x86-64 the feature `fma`.
    #[inline(always)]
    pub unsafe fn new(x: T) -> Self {
        Fused(x)
    }

    /// The number.
    #[inline(always)]
    pub fn get(self) -> T
    where
        T: Copy,
    {
        self.0
    }
}

/// Slices, references and arrays of numbers as those of their fused type, or the other way round.
///
/// # Safety
/// `A` and `B` differ at most in [`Fused`] around numbers, and the CPU has the fused instruction.
#[inline(always)]
pub(crate) unsafe fn reinterpret<A, B>(a: A) -> B {
    const { assert!(size_of::<A>() == size_of::<B>() && align_of::<A>() == align_of::<B>()) };
    let a = core::mem::ManuallyDrop::new(a);
    // SAFETY: one size, and the same bits, since `Fused` is transparent.
    unsafe { core::mem::transmute_copy(&a) }
}

/// `a * b + c` with one rounding. The intrinsics of one lane are LLVM's own operation, so that a
/// loop over them becomes the vector instruction; `no_std` Rust offers no other road to it.
pub(super) trait MulAdd {
    fn fused(self, b: Self, c: Self) -> Self;
}

#[cfg(target_arch = "x86_64")]
impl MulAdd for f32 {
    #[inline(always)]
    fn fused(self, b: f32, c: f32) -> f32 {
        use core::arch::x86_64::{_mm_cvtss_f32, _mm_fmadd_ss, _mm_set_ss};
        // SAFETY: whoever made a `Fused` number vouches for the instruction.
        unsafe { _mm_cvtss_f32(_mm_fmadd_ss(_mm_set_ss(self), _mm_set_ss(b), _mm_set_ss(c))) }
    }
}

#[cfg(target_arch = "x86_64")]
impl MulAdd for f64 {
    #[inline(always)]
    fn fused(self, b: f64, c: f64) -> f64 {
        use core::arch::x86_64::{_mm_cvtsd_f64, _mm_fmadd_sd, _mm_set_sd};
        // SAFETY: whoever made a `Fused` number vouches for the instruction.
        unsafe { _mm_cvtsd_f64(_mm_fmadd_sd(_mm_set_sd(self), _mm_set_sd(b), _mm_set_sd(c))) }
    }
}

#[cfg(target_arch = "aarch64")]
impl MulAdd for f32 {
    #[inline(always)]
    fn fused(self, b: f32, c: f32) -> f32 {
        use core::arch::aarch64::{vdup_n_f32, vfma_f32, vget_lane_f32};
        // SAFETY: NEON is part of every aarch64 target with floating point.
        #[allow(unused_unsafe)]
        unsafe {
            vget_lane_f32::<0>(vfma_f32(vdup_n_f32(c), vdup_n_f32(self), vdup_n_f32(b)))
        }
    }
}

#[cfg(target_arch = "aarch64")]
impl MulAdd for f64 {
    #[inline(always)]
    fn fused(self, b: f64, c: f64) -> f64 {
        use core::arch::aarch64::{vdup_n_f64, vfma_f64, vget_lane_f64};
        // SAFETY: NEON is part of every aarch64 target with floating point.
        #[allow(unused_unsafe)]
        unsafe {
            vget_lane_f64::<0>(vfma_f64(vdup_n_f64(c), vdup_n_f64(self), vdup_n_f64(b)))
        }
    }
}

/// Elsewhere no level has it: rounded twice.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
impl<T: Real> MulAdd for T {
    #[inline(always)]
    fn fused(self, b: T, c: T) -> T {
        self * b + c
    }
}

impl<T: fmt::Display> fmt::Display for Fused<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Neg<Output = T>> Neg for Fused<T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Fused(-self.0)
    }
}

macro_rules! operators {
    ($($op:ident $method:ident $assign:ident $assign_method:ident;)*) => {$(
        impl<T: $op<Output = T>> $op for Fused<T> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, o: Self) -> Self {
                Fused(self.0.$method(o.0))
            }
        }

        impl<T: $assign> $assign for Fused<T> {
            #[inline(always)]
            fn $assign_method(&mut self, o: Self) {
                self.0.$assign_method(o.0);
            }
        }
    )*};
}
operators! {
    Add add AddAssign add_assign;
    Sub sub SubAssign sub_assign;
    Mul mul MulAssign mul_assign;
    Div div DivAssign div_assign;
}

/// Methods of [`Number`] that are those of the number itself.
macro_rules! same {
    ($($method:ident ( $($o:ident)* ) -> $out:ty $(as $wrap:ident)?;)*) => {$(
        #[inline(always)]
        fn $method(self $(, $o: Self)*) -> $out {
            $($wrap)?(Number::$method(self.0 $(, $o.0)*))
        }
    )*};
}

impl<T: Number> Number for Fused<T>
where
    Fused<T>: Real,
{
    type Fused = Self;
    const ZERO: Self = Fused(T::ZERO);
    const ONE: Self = Fused(T::ONE);
    const LOWEST: Self = Fused(T::LOWEST);
    const HIGHEST: Self = Fused(T::HIGHEST);

    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        Fused(T::from_f64(value))
    }
    #[inline(always)]
    fn from_i64(value: i64) -> Self {
        Fused(T::from_i64(value))
    }
    #[inline(always)]
    fn of_bool(value: bool) -> Self {
        Fused(T::of_bool(value))
    }
    #[inline(always)]
    fn cast<U: Number>(self) -> U {
        self.0.cast()
    }
    #[inline(always)]
    fn pow(self, o: Self) -> Self {
        Real::pow(self, o)
    }
    same! {
        to_f64() -> f64; to_f32() -> f32; to_i64() -> i64; to_i32() -> i32; to_i16() -> i16;
        to_i8() -> i8; to_u8() -> u8; is_true() -> bool; is_nan() -> bool; is_infinite() -> bool;
        add(o) -> Self as Fused; sub(o) -> Self as Fused; mul(o) -> Self as Fused;
        neg() -> Self as Fused; abs() -> Self as Fused; sign() -> Self as Fused;
        div_trunc(o) -> Self as Fused; div_floor(o) -> Self as Fused; fmod(o) -> Self as Fused;
        remainder(o) -> Self as Fused; maximum(o) -> Self as Fused; minimum(o) -> Self as Fused;
        floor() -> Self as Fused; ceil() -> Self as Fused; round() -> Self as Fused;
        trunc() -> Self as Fused;
    }
}
