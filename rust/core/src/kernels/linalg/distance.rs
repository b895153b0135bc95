//! Distances between points.

use pulp::{Arch, Simd, WithSimd};

use crate::scalar::Real;

/// What a distance is of the differences between two points' coordinates.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Distance {
    /// How many of them are not 0.
    Count,
    /// The sum of their absolute values.
    Manhattan,
    /// The square root of the sum of their squares.
    Euclid,
    /// The greatest absolute value.
    Greatest,
    /// The p-th root of the sum of the p-th powers of their absolute values.
    Power(f64),
}

impl Distance {
    /// The distance of a norm's exponent, which is not negative.
    pub fn of(p: f64) -> Distance {
        if p == 0.0 {
            Distance::Count
        } else if p == 1.0 {
            Distance::Manhattan
        } else if p == 2.0 {
            Distance::Euclid
        } else if p == f64::INFINITY {
            Distance::Greatest
        } else {
            Distance::Power(p)
        }
    }
}

/// Partial results that are kept apart, so that a sum becomes vector code with the same bits
/// everywhere.
const LANES: usize = 16;

struct Between<'a, T> {
    x: &'a [T],
    y: &'a [T],
    distance: Distance,
}

/// The distance between two points of equally many coordinates.
pub fn between<T: Real>(arch: Arch, x: &[T], y: &[T], distance: Distance) -> T {
    arch.dispatch(Between { x, y, distance })
}

impl<T: Real> WithSimd for Between<'_, T> {
    type Output = T;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> T {
        let Between { x, y, distance } = self;
        let one = T::ONE;
        match distance {
            Distance::Count => fold(x, y, |d| if d == T::ZERO { T::ZERO } else { one }, add),
            Distance::Manhattan => fold(x, y, |d| d.abs(), add),
            Distance::Euclid => {
                let sum = fold(x, y, |d| d * d, add);
                if sum.is_finite() && (sum >= T::MIN_POSITIVE / T::EPSILON || sum == T::ZERO) {
                    return sum.sqrt();
                }
                scaled(x, y, |d| d * d, |sum| sum.sqrt())
            }
            Distance::Greatest => fold(x, y, |d| d.abs(), |a, b| Real::max(a, b)),
            Distance::Power(p) => {
                let p = T::from_f64(p);
                scaled(x, y, |d| d.abs().pow(p), |sum| sum.pow(one / p))
            }
        }
    }
}

#[inline(always)]
fn add<T: Real>(a: T, b: T) -> T {
    a + b
}

/// Folds what `f` makes of the differences; nothing to fold is 0.
#[inline(always)]
fn fold<T: Real>(x: &[T], y: &[T], f: impl Fn(T) -> T, join: impl Fn(T, T) -> T) -> T {
    let mut lanes = [T::ZERO; LANES];
    let (xs, ys) = (x.chunks_exact(LANES), y.chunks_exact(LANES));
    let (last_x, last_y) = (xs.remainder(), ys.remainder());
    for (a, b) in xs.zip(ys) {
        for i in 0..LANES {
            lanes[i] = join(lanes[i], f(a[i] - b[i]));
        }
    }
    for (i, (a, b)) in last_x.iter().zip(last_y).enumerate() {
        lanes[i] = join(lanes[i], f(*a - *b));
    }
    let mut n = LANES / 2;
    while n > 0 {
        for i in 0..n {
            lanes[i] = join(lanes[i], lanes[i + n]);
        }
        n /= 2;
    }
    lanes[0]
}

/// A root of a sum of powers of the differences, which are divided by the greatest first so that
/// nothing overflows or vanishes.
#[inline(always)]
fn scaled<T: Real>(x: &[T], y: &[T], f: impl Fn(T) -> T, root: impl Fn(T) -> T) -> T {
    let greatest = fold(x, y, |d| d.abs(), |a, b| Real::max(a, b));
    if greatest == T::ZERO || !greatest.is_finite() {
        return greatest;
    }
    greatest * root(fold(x, y, |d| f(d / greatest), add))
}
