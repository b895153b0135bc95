//! Exponentials.
//!
//! Range reduction after Cody & Waite (1980): `x = n·ln 2 + r` with `ln 2` in two parts of which
//! the first has so few bits that `n` times it is exact. Then a polynomial in `r` (minimax, by
//! Remez exchange) and a multiplication by 2ⁿ. `n` is rounded by adding 1.5·2^(mantissa bits),
//! which also leaves it as an integer in the low bits of the sum.

use super::{key_within_f32, key_within_f64};

/// Exponents, for either width.
macro_rules! scaling {
    ($t:ident $u:ident, $round:ident $pow2:ident $scale:ident, $mantissa:expr, $bias:expr) => {
        /// Rounds `x·factor`, well below 2^mantissa, to an integer `n`: given as a float, and as
        /// bits whose lowest are the exponent field of 2ⁿ⁻ᵈ, `d` being `DOWN`.
        #[inline(always)]
        pub fn $round<const DOWN: $u>(x: $t, factor: $t) -> ($t, $u) {
            let magic = (3u64 << ($mantissa - 1)) as $t + ($bias - DOWN) as $t;
            let shifted = mad!(x, factor, magic);
            (shifted - magic, shifted.to_bits())
        }

        /// The power of 2 with this exponent field.
        #[inline(always)]
        pub fn $pow2(field: $u) -> $t {
            $t::from_bits(field << $mantissa)
        }

        /// `p · 2ⁿ` from the field of 2ⁿ⁻¹: one less, so that overflow begins at `n` = 1024 (128), where
        /// 2ⁿ itself is no longer a number. `small` must be set where the result is denormal, or
        /// nearly, and 2ⁿ⁻¹ no number. In two factors, of which only the last can round or overflow.
        #[inline(always)]
        pub fn $scale(p: $t, half: $u, small: bool) -> $t {
            const FAR: $u = 64;
            let half = if small { half.wrapping_add(FAR) } else { half };
            p * $pow2(half)
                * if small { $t::from_bits(($bias + 1 - FAR) << $mantissa) } else { 2.0 }
        }
    };
}

scaling!(f32 u32, round_int_f32 pow2_f32 scale_f32, 23, 127);
scaling!(f64 u64, round_int_f64 pow2_f64 scale_f64, 52, 1023);

/// `ln 2` in two parts, the first of 15 bits.
pub const LN_2_F32: (f32, f32) = (0.693_145_75, 1.428_606_8e-6);
/// `ln 2` in two parts, the first of 41 bits.
pub const LN_2_F64: (f64, f64) = (0.693_147_180_559_663, 2.823_529_056_303_157_7e-13);

macro_rules! BitsOf {
    (f32) => {
        u32
    };
    (f64) => {
        u64
    };
}

/// The exponential functions of one type; `$q…` are the polynomials' coefficients.
macro_rules! exponentials {
    ($t:ident, $round:ident $pow2:ident $scale:ident $ln2:ident $within:ident, $reduce:ident $exp:ident
    $quick_exp:ident $exp_in_range:ident $exp_normal:ident $parts:ident $factor:ident $exp2:ident $quick_exp2:ident $fraction:ident $expm1:ident
    $half_expm1:ident,
     range $lo:expr, $hi:expr, $lo2:expr, $hi2:expr, $lom1:expr, $small:expr, $small2:expr;
     exp $($q:expr),+; exp2 $($q2:expr),+; expm1 $($qm1:expr),+) => {
        /// `x` as `n·ln 2 + high - low`: the two, of which `high` is exact, and the bits of `n`.
        #[inline(always)]
        pub fn $reduce(x: $t) -> ($t, $t, BitsOf!($t)) {
            let (n, bits) = $round::<1>(x, core::$t::consts::LOG2_E);
            (mad!(n, -$ln2.0, x), n * $ln2.1, bits)
        }

        #[inline(always)]
        pub fn $exp(x: $t) -> $t {
            $exp_in_range(clamp!(x, $lo, $hi))
        }

        /// `eʳ` and the field of 2ⁿ⁻ᵈ for `x = n·ln 2 + r`.
        #[inline(always)]
        fn $parts<const DOWN: BitsOf!($t)>(x: $t) -> ($t, BitsOf!($t)) {
            let (n, field) = $round::<DOWN>(x, core::$t::consts::LOG2_E);
            let r = mad!(n, -$ln2.1, mad!(n, -$ln2.0, x));
            (mad!(r, mad!(r, $factor(r), 1.0), 1.0), field)
        }

        /// `eˣ` for `x` not far beyond where it overflows or vanishes.
        #[inline(always)]
        pub fn $exp_in_range(x: $t) -> $t {
            let (p, half) = $parts::<1>(x);
            $scale(p, half, x < $small)
        }

        /// `eˣ` where that is a normal number.
        #[inline(always)]
        pub fn $exp_normal(x: $t) -> $t {
            let (p, field) = $parts::<0>(x);
            p * $pow2(field)
        }

        #[inline(always)]
        pub fn $quick_exp(x: $t) -> ($t, BitsOf!($t)) {
            ($exp_normal(x), $within(x, -$small))
        }

        /// `(eʳ - 1 - r)/r²` for `r` up to half of `ln 2`.
        #[inline(always)]
        pub fn $factor(r: $t) -> $t {
            poly!(r; $($q),+)
        }

        #[inline(always)]
        pub fn $exp2(x: $t) -> $t {
            let x = clamp!(x, $lo2, $hi2);
            let (whole, field) = $round::<0>(x, 1.0);
            $scale($fraction(x - whole), field.wrapping_sub(1), x < $small2)
        }

        #[inline(always)]
        pub fn $quick_exp2(x: $t) -> ($t, BitsOf!($t)) {
            let (whole, field) = $round::<0>(x, 1.0);
            ($fraction(x - whole) * $pow2(field), $within(x, -$small2))
        }

        /// `2ʳ` for `r` from -1/2 to 1/2.
        #[inline(always)]
        pub fn $fraction(r: $t) -> $t {
            mad!(r, poly!(r; $($q2),+), 1.0)
        }

        #[inline(always)]
        pub fn $expm1(x: $t) -> $t {
            let y = $half_expm1(clamp!(x, $lom1, $hi), 1.0) * 2.0;
            // Half of a denormal may lose its last bit, and -0 its sign.
            if x.abs() < $t::MIN_POSITIVE { x } else { y }
        }

        /// `(eᶻ - 1)/2` for `z = x·times` not far beyond where that overflows or is -1/2;
        /// `times` is 1 or 2.
        #[inline(always)]
        pub fn $half_expm1(x: $t, times: $t) -> $t {
            let (n, bits) = $round::<1>(x, times * core::$t::consts::LOG2_E);
            // In units of 1/times, and exact where n is 0, which is where it must be.
            let r = mad!(n, -$ln2.1 / times, mad!(n, -$ln2.0 / times, x)) * times;
            let half = $pow2(bits);
            mad!(half, mad!(r * r, poly!(r; $($qm1),+), r), half - 0.5)
        }
    };
}

exponentials!(f32, round_int_f32 pow2_f32 scale_f32 LN_2_F32 key_within_f32, reduce_f32 exp_f32
    quick_exp_f32 exp_in_range_f32 exp_normal_f32 exp_parts_f32 exp_factor_f32 exp2_f32 quick_exp2_f32
    exp2_fraction_f32 expm1_f32 half_expm1_f32,
    range -104.0, 89.0, -151.0, 129.0, -18.0, -86.0, -124.0;
    exp 4.9999994e-01, 1.666652e-01, 4.1668408e-02, 8.368922e-03, 1.381419e-03;
    exp2 core::f32::consts::LN_2, 2.4022648e-01, 5.5503312e-02, 9.6184425e-03, 1.3399391e-03, 1.5352937e-04;
    expm1 4.9999997e-01, 1.6666542e-01, 4.1667204e-02, 8.366713e-03, 1.3882486e-03);
exponentials!(f64, round_int_f64 pow2_f64 scale_f64 LN_2_F64 key_within_f64, reduce_f64 exp_f64
    quick_exp_f64 exp_in_range_f64 exp_normal_f64 exp_parts_f64 exp_factor_f64 exp2_f64 quick_exp2_f64
    exp2_fraction_f64 expm1_f64 half_expm1_f64,
    range -746.0, 710.0, -1077.0, 1025.0, -40.0, -707.0, -1020.0;
    exp 0.5000000000000011, 0.16666666666666405, 0.041666666666527026, 0.008333333333498626,
    0.0013888888944582464, 0.00019841269500323234, 2.4801492002075208e-05, 2.7557589532134087e-06,
    2.763067348299403e-07, 2.4999817293744584e-08;
    exp2 core::f64::consts::LN_2, 0.24022650695910133, 0.05550410866482002, 0.009618129107593004,
    0.001333355814678556, 0.0001540353045865758, 1.5252733485822473e-05, 1.321543445299623e-06,
    1.0178201316232238e-07, 7.073934601879443e-09, 4.434696220653852e-10;
    expm1 0.5000000000000006, 0.16666666666666588, 0.04166666666657466, 0.008333333333390869,
    0.001388888893230986, 0.00019841269716863638, 2.4801504320923146e-05, 2.7557408573691526e-06,
    2.762643624828592e-07, 2.5053783609300446e-08);

/// Clears the lower 27 bits, so that the product of two such numbers is exact (Dekker 1971).
#[inline(always)]
pub fn upper_half(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & 0xffff_ffff_f800_0000)
}
