//! The sums of columns and of rows that make up the filters.

use core::marker::PhantomData;
use core::ops::{Add, Mul, Sub};

use super::{LANES, ROWS};
use crate::dtype::Element;
use crate::number::Number;

/// A type of pixels, and what they are computed in.
pub trait Pixel: Element + Number + Default {
    /// Weighted sums of pixels.
    type Sum: Copy + Default + Add<Output = Self::Sum> + Mul<Output = Self::Sum> + From<u8>;
    /// Differences of sums.
    type Slope: Copy + Default + Add<Output = Self::Slope> + Sub<Output = Self::Slope>;

    /// As a sum of one.
    fn sum(self) -> Self::Sum;
    /// As a sum that differences are made of.
    fn slope(self) -> Self::Slope;
    /// A sum over the sum of its weights; of integers the fraction is cut off.
    fn over(sum: Self::Sum, weights: u16) -> Self;
}

impl Pixel for u8 {
    type Sum = u16;
    type Slope = i16;

    #[inline(always)]
    fn sum(self) -> u16 {
        self.into()
    }

    #[inline(always)]
    fn slope(self) -> i16 {
        self.into()
    }

    #[inline(always)]
    fn over(sum: u16, weights: u16) -> u8 {
        (sum / weights) as u8
    }
}

impl Pixel for f32 {
    type Sum = f32;
    type Slope = f32;

    #[inline(always)]
    fn sum(self) -> f32 {
        self
    }

    #[inline(always)]
    fn slope(self) -> f32 {
        self
    }

    #[inline(always)]
    fn over(sum: f32, weights: u16) -> f32 {
        sum / f32::from(weights)
    }
}

/// A filter in two passes. Unused rows, lanes and results hold anything.
pub(super) trait Filter {
    type In: Pixel;
    type Sum: Copy + Default;
    type Out: Copy;
    const RADIUS: usize;
    const LANES: usize;
    const RESULTS: usize;

    /// A border's number as a pixel.
    #[inline(always)]
    fn constant(value: f64) -> Self::In {
        Self::In::from_f64(value)
    }

    /// Sums of the pixels above one another in the first `2 * RADIUS + 1` rows.
    fn columns(rows: [&[Self::In]; ROWS], sums: [&mut [Self::Sum]; LANES]);

    /// Results of `2 * RADIUS + 1` neighbouring sums each.
    fn line(sums: [&[Self::Sum]; LANES], results: [&mut [Self::Out]; 2]);

    /// The sums of a column of one number.
    #[inline(always)]
    fn column(value: Self::In) -> [Self::Sum; LANES] {
        let pixel: &[Self::In] = &[value];
        let (mut a, mut b, mut c) = Default::default();
        let one = core::slice::from_mut;
        Self::columns([pixel; ROWS], [one(&mut a), one(&mut b), one(&mut c)]);
        [a, b, c]
    }
}

/// The filters: what a column's pixels are made into, lane by lane, and what a row's sums are,
/// result by result. `$p` and `$s` name neighbouring pixels and sums.
macro_rules! filters {
    ($($(#[$doc:meta])* $name:ident $sum:ty => $out:ty, $radius:literal
        [$($p:ident)*] { $($lane:ident: $column:expr,)* }
        [$($s:ident $from:ident $at:literal)*] { $($result:ident: $row:expr,)* })*) => {$(
        $(#[$doc])*
        pub(super) struct $name<T>(PhantomData<T>);

        impl<T: Pixel> Filter for $name<T> {
            type In = T;
            type Sum = $sum;
            type Out = $out;
            const RADIUS: usize = $radius;
            const LANES: usize = [$(stringify!($lane)),*].len();
            const RESULTS: usize = [$(stringify!($result)),*].len();

            #[inline(always)]
            fn columns(rows: [&[T]; ROWS], sums: [&mut [$sum]; LANES]) {
                let n = sums[0].len();
                let mut rows = rows.into_iter();
                $(let $p = &rows.next().unwrap_or_default()[..n];)*
                let mut sums = sums.into_iter();
                $(let $lane = &mut sums.next().unwrap_or_default()[..n];)*
                for at in 0..n {
                    $(let $p = $p[at];)*
                    $($lane[at] = $column;)*
                }
            }

            #[inline(always)]
            fn line(sums: [&[$sum]; LANES], results: [&mut [$out]; 2]) {
                let n = results[0].len();
                let mut sums = sums.into_iter();
                $(let $lane = sums.next().unwrap_or_default();)*
                $(let $s = &$from[$at..][..n];)*
                let mut results = results.into_iter();
                $(let $result = &mut results.next().unwrap_or_default()[..n];)*
                for at in 0..n {
                    $(let $s = $s[at];)*
                    $($result[at] = $row;)*
                }
            }
        }
    )*};
}

filters! {
    Gaussian3 T::Sum => T, 1
    [a b c] { s: a.sum() + (b.sum() + b.sum()) + c.sum(), }
    [l s 0 m s 1 r s 2] { out: T::over(l + (m + m) + r, 16), }

    Gaussian5 T::Sum => T, 2
    [a b c d e] {
        s: (a.sum() + e.sum())
            + (b.sum() + d.sum()) * T::Sum::from(4)
            + c.sum() * T::Sum::from(6),
    }
    [a s 0 b s 1 c s 2 d s 3 e s 4] {
        out: T::over((a + e) + (b + d) * T::Sum::from(4) + c * T::Sum::from(6), 256),
    }

    Box3 T::Sum => T, 1
    [a b c] { s: a.sum() + b.sum() + c.sum(), }
    [l s 0 m s 1 r s 2] { out: T::over(l + m + r, 9), }

    /// Each column in order: the median is that of the greatest least, the middle middle and the
    /// least greatest.
    Median3 T => T, 1
    [a b c] {
        low: least(least(a, b), c),
        middle: median(a, b, c),
        high: greatest(greatest(a, b), c),
    }
    [a low 0 b low 1 c low 2 d middle 0 e middle 1 f middle 2 g high 0 h high 1 i high 2] {
        out: median(greatest(greatest(a, b), c), median(d, e, f), least(least(g, h), i)),
    }

    Sobel3 T::Slope => T::Slope, 1
    [a b c] {
        smooth: a.slope() + (b.slope() + b.slope()) + c.slope(),
        slope: c.slope() - a.slope(),
    }
    [l smooth 0 r smooth 2 a slope 0 b slope 1 c slope 2] {
        dx: r - l,
        dy: a + (b + b) + c,
    }
}

// Without a regard for NaN, which would cost more than the rest: one instruction each.
#[inline(always)]
fn least<T: Number>(a: T, b: T) -> T {
    if a < b { a } else { b }
}

#[inline(always)]
fn greatest<T: Number>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

#[inline(always)]
fn median<T: Number>(a: T, b: T, c: T) -> T {
    greatest(least(a, b), least(greatest(a, b), c))
}
