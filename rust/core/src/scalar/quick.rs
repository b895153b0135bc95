//! Numbers whose elementary functions leave their special cases out, and remember if they met one.

use core::fmt;
use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use crate::scalar::Real;

/// A number, and the greatest key of the arguments on the way to it. Where that is below
/// [`Real::SPECIAL`], the number has the bits that `T` itself would give; else it has any. A loop over
/// these keeps the greatest key of many, and is done again with `T` when that says so.
#[derive(Clone, Copy, Default, Debug)]
pub struct Quick<T: Real> {
    x: T,
    key: T::Key,
}

impl<T: Real> Quick<T> {
    /// A number that no function has been applied to.
    #[inline(always)]
    pub const fn new(x: T) -> Self {
        Quick { x, key: T::ORDINARY }
    }

    /// The number.
    #[inline(always)]
    pub fn get(self) -> T {
        self.x
    }

    /// The greatest key.
    #[inline(always)]
    pub fn key(self) -> T::Key {
        self.key
    }

    /// The result `x` of a function of this number, whose key was `key`.
    #[inline(always)]
    pub(super) fn then(self, x: T, key: T::Key) -> Self {
        Quick { x, key: self.key.max(key) }
    }

    /// This number with the key of another that it depends on.
    #[inline(always)]
    pub(super) fn after(self, other: Self) -> Self {
        Quick { x: self.x, key: self.key.max(other.key) }
    }
}

impl<T: Real> PartialEq for Quick<T> {
    #[inline(always)]
    fn eq(&self, o: &Self) -> bool {
        self.x == o.x
    }
}

impl<T: Real> PartialOrd for Quick<T> {
    #[inline(always)]
    fn partial_cmp(&self, o: &Self) -> Option<core::cmp::Ordering> {
        self.x.partial_cmp(&o.x)
    }
    // One comparison each, as a number has them.
    #[inline(always)]
    fn lt(&self, o: &Self) -> bool {
        self.x < o.x
    }
    #[inline(always)]
    fn le(&self, o: &Self) -> bool {
        self.x <= o.x
    }
    #[inline(always)]
    fn gt(&self, o: &Self) -> bool {
        self.x > o.x
    }
    #[inline(always)]
    fn ge(&self, o: &Self) -> bool {
        self.x >= o.x
    }
}

impl<T: Real> fmt::Display for Quick<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.x, f)
    }
}

impl<T: Real> Neg for Quick<T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Quick { x: -self.x, key: self.key }
    }
}

macro_rules! operators {
    ($($op:ident $method:ident $assign:ident $assign_method:ident;)*) => {$(
        impl<T: Real> $op for Quick<T> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, o: Self) -> Self {
                Quick { x: self.x.$method(o.x), key: self.key }.after(o)
            }
        }

        impl<T: Real> $assign for Quick<T> {
            #[inline(always)]
            fn $assign_method(&mut self, o: Self) {
                *self = self.$method(o);
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
