//! The quick forms of the elementary functions: where they say that an argument was ordinary, they
//! have the bits of the full ones, and they say so wherever most arguments are.

mod common;

use wick_core::scalar::{Quick, Real};

/// Numbers of both signs over the exponents around 1 and over all, and the special ones.
fn samples<T: Real>() -> Vec<T> {
    let mut state = 1u64;
    let mut random = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut all = vec![0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 5e-324];
    all.extend([1e-40, 0.5, 1.5, 2.5, -0.5, -1.5, 85.99, 86.0, 86.01, -86.0, 124.0, -124.0, 707.0]);
    for reach in [4, 10, 150, 1070] {
        for _ in 0..20_000 {
            let sign = if random() < 0.5 { -1.0 } else { 1.0 };
            all.push(sign * ((random() - 0.5) * 2.0 * reach as f64).exp2() * (1.0 + random()));
        }
    }
    all.into_iter().map(T::from_f64).collect()
}

/// Compares the functions; `least` is the part of the samples that must be ordinary.
fn agree<T: Real>(
    name: &str,
    least: f64,
    full: impl Fn(T, T) -> T,
    quick: impl Fn(Quick<T>, Quick<T>) -> Quick<T>,
) {
    let xs = samples::<T>();
    let mut ordinary = 0;
    for (i, x) in xs.iter().enumerate() {
        let y = xs[(i * 7919 + 13) % xs.len()];
        let (want, got) = (full(*x, y), quick(Quick::new(*x), Quick::new(y)));
        if got.key() < T::SPECIAL {
            ordinary += 1;
            let same = want.to_f64().to_bits() == got.get().to_f64().to_bits();
            assert!(same, "{name}({x:?}, {y:?}) = {want:?}, quickly {:?}", got.get());
            // Where lgamma overflows it does so without a special case.
            let finite = want.is_finite() || name == "lgamma";
            assert!(finite, "{name}({x:?}, {y:?}) is not ordinary");
        }
    }
    assert!(ordinary as f64 > least * xs.len() as f64, "{name}: {ordinary} of {}", xs.len());
}

fn all_agree<T: Real>() {
    agree::<T>("exp", 0.3, |x, _| x.exp(), |x, _| x.exp());
    agree::<T>("exp2", 0.3, |x, _| x.exp2(), |x, _| x.exp2());
    agree::<T>("ln", 0.3, |x, _| x.ln(), |x, _| x.ln());
    agree::<T>("log2", 0.3, |x, _| x.log2(), |x, _| x.log2());
    agree::<T>("log10", 0.3, |x, _| x.log10(), |x, _| x.log10());
    agree::<T>("log1p", 0.3, |x, _| x.log1p(), |x, _| x.log1p());
    agree::<T>("sin", 0.3, |x, _| x.sin(), |x, _| x.sin());
    agree::<T>("cos", 0.3, |x, _| x.cos(), |x, _| x.cos());
    agree::<T>("tan", 0.3, |x, _| x.tan(), |x, _| x.tan());
    agree::<T>("lgamma", 0.1, |x, _| x.lgamma(), |x, _| x.lgamma());
    agree::<T>("sigmoid", 0.3, |x, _| x.sigmoid(), |x, _| x.sigmoid());
    agree::<T>("pow", 0.1, |x, y| x.pow(y), |x, y| x.pow(y));
    agree::<T>("hypot", 0.3, |x, y| x.hypot(y), |x, y| x.hypot(y));
    // Through operators, comparisons and functions that have no quick form.
    agree::<T>("composed", 0.3, |x, _| composed(x), |x, _| composed(x));
}

fn composed<T: Real>(x: T) -> T {
    let y = if x > T::ZERO { -x } else { x };
    y.exp() * T::TWO + x.tanh() / (T::ONE + x.abs())
}

#[test]
fn quick_forms_have_the_bits_of_the_full_ones() {
    all_agree::<f32>();
    all_agree::<f64>();
    if common::fused(0.0).is_some() {
        all_agree::<wick_core::scalar::Fused<f32>>();
        all_agree::<wick_core::scalar::Fused<f64>>();
    }
}
