//! Special values of the elementary functions, rounding to integers, and the same bits at
//! every CPU level that rounds alike.

mod common;

use pulp::{Arch, Simd, WithSimd};
use wick_core::scalar::{Fused, Real};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;
const PI: f64 = std::f64::consts::PI;

/// What the tests need of a type beyond [`Real`].
trait Bits: Real {
    fn bits(self) -> u64;
}

impl Bits for f32 {
    fn bits(self) -> u64 {
        self.to_bits() as u64
    }
}

impl Bits for f64 {
    fn bits(self) -> u64 {
        self.to_bits()
    }
}

impl Bits for Fused<f32> {
    fn bits(self) -> u64 {
        self.get().bits()
    }
}

impl Bits for Fused<f64> {
    fn bits(self) -> u64 {
        self.get().bits()
    }
}

fn same<T: Bits>(got: T, want: T) -> bool {
    (got.is_nan() && want.is_nan()) || got.bits() == want.bits()
}

fn check_one<T: Bits>(name: &str, f: impl Fn(T) -> T, cases: &[(f64, f64)]) {
    for &(x, want) in cases {
        let got = f(T::from_f64(x));
        assert!(same(got, T::from_f64(want)), "{name}({x:?}) = {got:?}, not {want:?}");
    }
}

fn check_two<T: Bits>(name: &str, f: impl Fn(T, T) -> T, cases: &[(f64, f64, f64)]) {
    for &(x, y, want) in cases {
        let got = f(T::from_f64(x), T::from_f64(y));
        assert!(same(got, T::from_f64(want)), "{name}({x:?}, {y:?}) = {got:?}, not {want:?}");
    }
}

/// Functions that keep the sign of zero and send infinities to `limit`.
fn check_odd<T: Bits>(name: &str, f: impl Fn(T) -> T, limit: f64) {
    check_one(name, &f, &[(0.0, 0.0), (-0.0, -0.0), (INF, limit), (-INF, -limit), (NAN, NAN)]);
    // Where the function is the identity to the last bit it must be so for denormals as well.
    for x in [T::from_f64(T::MIN_POSITIVE.to_f64() / 8.0), T::from_f64(f64::from_bits(5))] {
        assert!(same(f(x), x) && same(f(-x), -x), "{name}({x:?}) = {:?}", f(x));
    }
}

fn special_values_of_one<T: Bits>() {
    check_one::<T>(
        "exp",
        T::exp,
        &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (NAN, NAN), (1e4, INF), (-1e4, 0.0)],
    );
    check_one::<T>(
        "exp2",
        T::exp2,
        &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (NAN, NAN), (1e4, INF), (-1e4, 0.0)],
    );
    check_one::<T>("expm1", T::expm1, &[(-1e4, -1.0), (1e4, INF), (-INF, -1.0)]);
    for (name, f) in [("ln", T::ln as fn(T) -> T), ("log2", T::log2), ("log10", T::log10)] {
        check_one(
            name,
            f,
            &[
                (1.0, 0.0),
                (0.0, -INF),
                (-0.0, -INF),
                (INF, INF),
                (-INF, NAN),
                (-1.0, NAN),
                (-1e-40, NAN),
                (NAN, NAN),
            ],
        );
    }
    check_one::<T>(
        "log1p",
        T::log1p,
        &[(-1.0, -INF), (-1.5, NAN), (INF, INF), (-INF, NAN), (NAN, NAN), (0.0, 0.0), (-0.0, -0.0)],
    );
    for (name, f) in [("sin", T::sin as fn(T) -> T), ("tan", T::tan)] {
        check_odd(name, f, NAN);
    }
    check_one::<T>("cos", T::cos, &[(0.0, 1.0), (-0.0, 1.0), (INF, NAN), (-INF, NAN), (NAN, NAN)]);
    check_odd::<T>("asin", T::asin, NAN);
    check_one::<T>("asin", T::asin, &[(1.5, NAN), (-1.5, NAN), (1.0, PI / 2.0)]);
    check_one::<T>("acos", T::acos, &[(1.0, 0.0), (-1.0, PI), (1.5, NAN), (INF, NAN), (NAN, NAN)]);
    check_odd::<T>("atan", T::atan, PI / 2.0);
    check_odd::<T>("sinh", T::sinh, INF);
    check_odd::<T>("asinh", T::asinh, INF);
    check_odd::<T>("tanh", T::tanh, 1.0);
    check_one::<T>("tanh", T::tanh, &[(50.0, 1.0), (-50.0, -1.0)]);
    check_one::<T>(
        "cosh",
        T::cosh,
        &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, INF), (NAN, NAN), (1e4, INF)],
    );
    check_one::<T>(
        "acosh",
        T::acosh,
        &[(1.0, 0.0), (0.5, NAN), (-1.0, NAN), (-1e3, NAN), (INF, INF), (-INF, NAN), (NAN, NAN)],
    );
    check_odd::<T>("atanh", T::atanh, NAN);
    check_one::<T>("atanh", T::atanh, &[(1.0, INF), (-1.0, -INF), (1.5, NAN)]);
    check_one::<T>(
        "sigmoid",
        T::sigmoid,
        &[(0.0, 0.5), (-0.0, 0.5), (INF, 1.0), (-INF, 0.0), (NAN, NAN), (1e4, 1.0), (-1e4, 0.0)],
    );
    check_one::<T>(
        "erf",
        T::erf,
        &[(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (NAN, NAN), (30.0, 1.0)],
    );
    check_one::<T>("erfc", T::erfc, &[(0.0, 1.0), (INF, 0.0), (-INF, 2.0), (NAN, NAN)]);
    check_one::<T>(
        "erfinv",
        T::erfinv,
        &[(0.0, 0.0), (-0.0, -0.0), (1.0, INF), (-1.0, -INF), (1.5, NAN), (-INF, NAN), (NAN, NAN)],
    );
    check_one::<T>(
        "lgamma",
        T::lgamma,
        &[
            (1.0, 0.0),
            (2.0, 0.0),
            (0.0, INF),
            (-0.0, INF),
            (-3.0, INF),
            (INF, INF),
            (-INF, INF),
            (NAN, NAN),
        ],
    );
    check_one::<T>(
        "digamma",
        T::digamma,
        &[(0.0, -INF), (-0.0, INF), (-3.0, NAN), (INF, INF), (-INF, NAN), (NAN, NAN)],
    );
    check_one::<T>(
        "sqrt",
        T::sqrt,
        &[(0.0, 0.0), (-0.0, -0.0), (4.0, 2.0), (-1.0, NAN), (INF, INF), (-INF, NAN), (NAN, NAN)],
    );
    check_one::<T>(
        "rsqrt",
        T::rsqrt,
        &[(0.0, INF), (-0.0, -INF), (4.0, 0.5), (-1.0, NAN), (INF, 0.0), (NAN, NAN)],
    );
    check_one::<T>(
        "reciprocal",
        T::reciprocal,
        &[(0.0, INF), (-0.0, -INF), (INF, 0.0), (-INF, -0.0), (4.0, 0.25), (NAN, NAN)],
    );
    check_one::<T>(
        "frac",
        T::frac,
        &[(1.5, 0.5), (-1.5, -0.5), (INF, NAN), (NAN, NAN), (7.0, 0.0)],
    );
    check_one::<T>("abs", T::abs, &[(-0.0, 0.0), (-INF, INF), (-1.5, 1.5), (NAN, NAN)]);
}

#[test]
fn special_values() {
    special_values_of_one::<f32>();
    special_values_of_one::<f64>();
    if common::fused(1.0).is_some() {
        special_values_of_one::<Fused<f32>>();
        special_values_of_one::<Fused<f64>>();
    }
}

/// BR-079, and the special cases of C99 annex F.9.4.4.
fn special_powers<T: Bits>() {
    check_two::<T>(
        "pow",
        T::pow,
        &[
            (-8.0, 1.0 / 3.0, NAN),
            (-8.0, 3.0, -512.0),
            (-2.0, -3.0, -0.125),
            (0.0, 0.5, 0.0),
            (NAN, 0.0, 1.0),
            (NAN, -0.0, 1.0),
            (1.0, NAN, 1.0),
            (NAN, 1.0, NAN),
            (2.0, NAN, NAN),
            (-1.0, NAN, NAN),
            (0.0, NAN, NAN),
            (0.0, 0.0, 1.0),
            (-0.0, 0.0, 1.0),
            (INF, 0.0, 1.0),
            (-INF, 0.0, 1.0),
            (1.0, INF, 1.0),
            (1.0, -INF, 1.0),
            (-1.0, INF, 1.0),
            (-1.0, -INF, 1.0),
            (0.0, -1.0, INF),
            (-0.0, -1.0, -INF),
            (-0.0, -2.0, INF),
            (-0.0, -1.5, INF),
            (-0.0, 3.0, -0.0),
            (-0.0, 2.0, 0.0),
            (-0.0, 1.5, 0.0),
            (0.0, INF, 0.0),
            (-0.0, INF, 0.0),
            (0.0, -INF, INF),
            (-0.0, -INF, INF),
            (0.5, INF, 0.0),
            (-0.5, INF, 0.0),
            (0.5, -INF, INF),
            (1.5, INF, INF),
            (-1.5, INF, INF),
            (1.5, -INF, 0.0),
            (INF, 2.5, INF),
            (INF, -2.5, 0.0),
            (INF, INF, INF),
            (INF, -INF, 0.0),
            (-INF, 3.0, -INF),
            (-INF, 2.0, INF),
            (-INF, 0.5, INF),
            (-INF, -3.0, -0.0),
            (-INF, -2.0, 0.0),
            (-INF, -0.5, 0.0),
            (-INF, INF, INF),
            (-1.0, 3.0, -1.0),
            (-1.0, 1e30, 1.0),
            (-1.0, 16_777_215.0, -1.0),
            (-1.5, 0.5, NAN),
            (2.0, 1e30, INF),
            (2.0, -1e30, 0.0),
            (-2.0, 1e30, INF),
            (1.0, 1e30, 1.0),
            (2.0, 1e-40, 1.0),
            (1e-40, 1e-40, 1.0),
            (10.0, 2.0, 100.0),
            (3.0, 4.0, 81.0),
        ],
    );
    let halves = |x: f64| x as i64 % 2 == 0;
    for k in -20..20 {
        let want = if halves(k as f64) { 2f64.powi(k) } else { -(2f64.powi(k)) };
        let got = T::from_f64(-2.0).pow(T::from_f64(k as f64));
        assert!(same(got, T::from_f64(want)), "pow(-2, {k}) = {got:?}");
    }
}

#[test]
fn br_079_special_powers() {
    special_powers::<f32>();
    special_powers::<f64>();
    if common::fused(1.0).is_some() {
        special_powers::<Fused<f32>>();
        special_powers::<Fused<f64>>();
    }
    assert_eq!(Real::pow(-1.0, 9_007_199_254_740_991.0), -1.0);
    assert_eq!(Real::pow(-1.0, 9_007_199_254_740_992.0), 1.0);
}

/// BR-075: remainders are exact however large the quotient.
fn special_pairs<T: Bits>() {
    check_two::<T>(
        "fmod",
        T::fmod,
        &[
            (3e9, 7.0, 4.0),
            (-3e9, 7.0, -4.0),
            (3e9, -7.0, 4.0),
            (5.5, 2.0, 1.5),
            (6.0, 2.0, 0.0),
            (-6.0, 2.0, -0.0),
            (0.0, 2.0, 0.0),
            (-0.0, 2.0, -0.0),
            (1.0, 0.0, NAN),
            (INF, 2.0, NAN),
            (1.0, INF, 1.0),
            (-1.0, -INF, -1.0),
            (NAN, 1.0, NAN),
            (1.0, NAN, NAN),
        ],
    );
    check_two::<T>(
        "atan2",
        T::atan2,
        &[
            (0.0, 0.0, 0.0),
            (-0.0, 0.0, -0.0),
            (0.0, -0.0, PI),
            (-0.0, -0.0, -PI),
            (0.0, -1.0, PI),
            (-0.0, 1.0, -0.0),
            (1.0, 0.0, PI / 2.0),
            (-1.0, -0.0, -PI / 2.0),
            (1.0, -INF, PI),
            (-1.0, INF, -0.0),
            (INF, 1.0, PI / 2.0),
            (INF, INF, PI / 4.0),
            (INF, -INF, 3.0 * PI / 4.0),
            (-INF, -INF, -3.0 * PI / 4.0),
            (NAN, 1.0, NAN),
            (1.0, NAN, NAN),
        ],
    );
    check_two::<T>(
        "hypot",
        T::hypot,
        &[
            (3.0, 4.0, 5.0),
            (INF, NAN, INF),
            (NAN, -INF, INF),
            (NAN, 1.0, NAN),
            (0.0, -0.0, 0.0),
            (-3.0, 0.0, 3.0),
        ],
    );
    let mixed = [(1.0, 2.0), (2.0, 1.0), (-1.0, 1.0), (INF, -INF)];
    for (x, y) in mixed {
        check_two::<T>(
            "min",
            T::min,
            &[(x, y, if x < y { x } else { y }), (x, NAN, NAN), (NAN, y, NAN)],
        );
        check_two::<T>(
            "max",
            T::max,
            &[(x, y, if x > y { x } else { y }), (x, NAN, NAN), (NAN, y, NAN)],
        );
    }
    check_two::<T>(
        "copysign",
        T::copysign,
        &[(1.0, -0.0, -1.0), (-2.0, 3.0, 2.0), (INF, -1.0, -INF)],
    );
}

#[test]
fn br_075_remainders_and_other_pairs() {
    special_pairs::<f32>();
    special_pairs::<f64>();
    if common::fused(1.0).is_some() {
        special_pairs::<Fused<f32>>();
        special_pairs::<Fused<f64>>();
    }
    // Against integer arithmetic on the stored value.
    let stored = 1e20f32 as u128;
    assert_eq!(Real::fmod(1e20f32, 7.0), (stored % 7) as f32);
    assert_eq!(Real::fmod(1e20f64, 7.0), (100_000_000_000_000_000_000u128 % 7) as f64);
    assert_eq!(Real::fmod(f32::MAX, 3.0), (f32::MAX as u128 % 3) as f32);
}

#[test]
fn powers_of_two_are_exact() {
    for k in -149..128 {
        let x = 2f64.powi(k) as f32;
        assert_eq!(Real::exp2(k as f32), x);
        assert_eq!(Real::log2(x), k as f32);
    }
    for k in -1074..1024 {
        let x = if k < -1000 { 2f64.powi(-1000) * 2f64.powi(k + 1000) } else { 2f64.powi(k) };
        assert_eq!(Real::exp2(k as f64), x);
        assert_eq!(Real::log2(x), k as f64);
    }
}

#[test]
fn roundings_agree_with_std() {
    let f32s = (0..=u32::MAX).step_by(4_099).map(f32::from_bits);
    let halves = (-40..40).map(|i| i as f32 * 0.25);
    let large = (0..2_000u32).map(|i| f32::from_bits(0x4b00_0000 - 1_000 + i));
    for x in f32s.chain(halves).chain(large) {
        assert!(same(Real::floor(x), x.floor()), "floor {x:e}");
        assert!(same(Real::ceil(x), x.ceil()), "ceil {x:e}");
        assert!(same(Real::trunc(x), x.trunc()), "trunc {x:e}");
        assert!(same(Real::round(x), x.round_ties_even()), "round {x:e}");
    }
    let f64s = (0..1_000_000u64).map(|i| f64::from_bits(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    let halves = (-40..40).map(|i| i as f64 * 0.25);
    let large = (0..2_000u64).map(|i| f64::from_bits(0x4330_0000_0000_0000 - 1_000 + i));
    for x in f64s.chain(halves).chain(large) {
        assert!(same(Real::floor(x), x.floor()), "floor {x:e}");
        assert!(same(Real::ceil(x), x.ceil()), "ceil {x:e}");
        assert!(same(Real::trunc(x), x.trunc()), "trunc {x:e}");
        assert!(same(Real::round(x), x.round_ties_even()), "round {x:e}");
    }
}

/// One function over a slice at a CPU level.
struct Run<'a, T, F>(&'a [T], &'a mut [T], F);

impl<T: Real, F: Fn(T) -> T> WithSimd for Run<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (o, &x) in self.1.iter_mut().zip(self.0) {
            *o = (self.2)(x);
        }
    }
}

/// The levels this machine has, the base first.
fn levels() -> Vec<Arch> {
    #[allow(unused_mut)]
    let mut levels = vec![Arch::Scalar];
    #[cfg(target_arch = "x86_64")]
    levels.extend(pulp::x86::V3::try_new().map(Arch::V3));
    levels.push(Arch::new());
    levels
}

/// A function of the plain and of the fused type: all levels but the scalar one fuse.
macro_rules! check_levels {
    ($name:expr, $inputs:expr, $f:expr) => {{
        let inputs = $inputs;
        for level in levels() {
            let scalar = matches!(level, Arch::Scalar);
            let mut plain = inputs.to_vec();
            level.dispatch(Run(inputs, &mut plain, $f));
            let mut out: Vec<_> = inputs.iter().filter_map(|&x| common::fused(x)).collect();
            let fused = out.clone();
            if !scalar {
                level.dispatch(Run(&fused, &mut out, $f));
            }
            for (i, &x) in inputs.iter().enumerate() {
                let want = $f(x);
                assert!(same(plain[i], want), "{}({x:?}) is {:?} at {level:?}", $name, plain[i]);
                if !scalar {
                    let want = $f(fused[i]);
                    assert!(same(out[i], want), "{}+({x:?}) is {:?} at {level:?}", $name, out[i]);
                }
            }
        }
    }};
}

#[test]
fn all_cpu_levels_give_the_same_bits() {
    let f32s: Vec<f32> = (0..=u32::MAX).step_by(400_009).map(f32::from_bits).collect();
    let f64s: Vec<f64> =
        (0..10_000u64).map(|i| f64::from_bits(i.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
    fn third<T: Real>(x: T) -> T {
        x.pow(T::ONE / T::from_f64(3.0))
    }
    macro_rules! levels {
        ($($name:ident)*) => {$(
            check_levels!(stringify!($name), &f32s, Real::$name);
            check_levels!(stringify!($name), &f64s, Real::$name);
        )*};
    }
    levels!(exp exp2 expm1 ln log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh lgamma sigmoid erf erfc sqrt rsqrt floor ceil trunc round);
    check_levels!("pow", &f32s, third);
    check_levels!("pow", &f64s, third);
}
