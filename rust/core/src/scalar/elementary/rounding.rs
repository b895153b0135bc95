//! Rounding to integers, remainders, minima and maxima.
//!
//! Rounding adds and subtracts 2²³ (or 2⁵²), which leaves no bits for a fraction: plain
//! additions that vectorise at every CPU level, where a rounding instruction needs SSE4.1.

macro_rules! rounding {
    ($t:ident, $limit:expr, $round:ident $floor:ident $ceil:ident $trunc:ident $frac:ident
     $min:ident $max:ident $mul_add:ident $abs:ident $copysign:ident) => {
        #[inline(always)]
        pub fn $abs(x: $t) -> $t {
            x.abs()
        }

        #[inline(always)]
        pub fn $copysign(x: $t, sign: $t) -> $t {
            x.copysign(sign)
        }

        #[inline(always)]
        pub fn $round(x: $t) -> $t {
            let a = x.abs();
            let r = (a + $limit) - $limit;
            // From the limit on, and for NaN, x stays as it is.
            (if a < $limit { r } else { a }).copysign(x)
        }

        #[inline(always)]
        pub fn $floor(x: $t) -> $t {
            let r = $round(x);
            if r > x { r - 1.0 } else { r }
        }

        #[inline(always)]
        pub fn $ceil(x: $t) -> $t {
            let r = $round(x);
            // The sign is for -1 < x < 0, whose ceiling is -0.
            (if r < x { r + 1.0 } else { r }).copysign(x)
        }

        #[inline(always)]
        pub fn $trunc(x: $t) -> $t {
            $floor(x.abs()).copysign(x)
        }

        #[inline(always)]
        pub fn $frac(x: $t) -> $t {
            x - $trunc(x)
        }

        #[inline(always)]
        pub fn $min(x: $t, y: $t) -> $t {
            // `|`, not `||`: both sides are compared without a branch.
            if (x < y) | x.is_nan() { x } else { y }
        }

        #[inline(always)]
        pub fn $max(x: $t, y: $t) -> $t {
            if (x > y) | x.is_nan() { x } else { y }
        }

        #[inline(always)]
        pub fn $mul_add(a: $t, b: $t, c: $t) -> $t {
            mad!(a, b, c)
        }
    };
}

rounding!(f32, 8_388_608.0, round_f32 floor_f32 ceil_f32 trunc_f32 frac_f32 min_f32 max_f32 mul_add_f32
    abs_f32 copysign_f32);
rounding!(f64, 4_503_599_627_370_496.0, round_f64 floor_f64 ceil_f64 trunc_f64 frac_f64 min_f64 max_f64 mul_add_f64
    abs_f64 copysign_f64);

#[inline(always)]
pub fn fmod_f32(x: f32, y: f32) -> f32 {
    libm::fmodf(x, y)
}

#[inline(always)]
pub fn fmod_f64(x: f64, y: f64) -> f64 {
    libm::fmod(x, y)
}
