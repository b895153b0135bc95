//! Accuracy and special values of the elementary functions.
//!
//! Each test prints the worst error it met, in units of the result's last place (ulp):
//! `cargo test -p wick-core --test scalar -- --nocapture`; a `+` marks the fused form. `WICK_ULP_DENSE=1` samples the `f32`
//! functions 50 times as densely.

mod common;

use wick_core::scalar::Real;

/// Spacing of `f32` numbers at `x`.
fn spacing_f32(x: f64) -> f64 {
    let a = (x.abs().min(f32::MAX as f64)) as f32;
    let a = if a as f64 > x.abs() { f32::from_bits(a.to_bits().max(1) - 1) } else { a };
    (f32::from_bits(a.to_bits() + 1) as f64).min(f64::MAX) - a as f64
}

/// Error of `got` against `want` in ulp; `floor` is the least magnitude whose ulp counts.
fn error_f32(got: f32, want: f64, floor: f64) -> f64 {
    if want.is_nan() || got.is_nan() {
        return if want.is_nan() && got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let top = 2f64.powi(128);
    let unit = if want.abs() >= f32::MAX as f64 {
        2f64.powi(104)
    } else {
        spacing_f32(want.abs().max(floor))
    };
    // Beyond the largest number infinity stands for 2^128.
    let want = want.clamp(-top, top);
    let got = (got as f64).clamp(-top, top);
    (got - want).abs() / unit
}

/// Finite `f32` values of both signs over all exponents, denormals included.
fn samples_f32() -> impl Iterator<Item = f32> {
    let dense = std::env::var_os("WICK_ULP_DENSE").is_some();
    let step = if dense { 1_009 } else { 50_021 };
    let spread = (0..0x7f80_0000u32).step_by(step);
    let edges = (0..256u32)
        .flat_map(|e| [0, 1, 2, 0x7f_fffe, 0x7f_ffff, 0x2a_aaaa, 0x35_04f3].map(|f| (e << 23) | f));
    let ones = (0..4000u32).map(|i| 0x3f80_0000 - 2000 + i);
    // The neighbours of quarter turns, and of where circular functions change their ways.
    let turns = (1..90_000u32).step_by(7).map(|i| i as f64 * std::f64::consts::FRAC_PI_2);
    let turns = turns.chain([131_072.0, 0.5, 0.75]).flat_map(|x| {
        let bits = (x as f32).to_bits();
        [bits - 1, bits, bits + 1]
    });
    spread
        .chain(edges)
        .chain(ones)
        .chain(turns)
        .flat_map(|b| [f32::from_bits(b), f32::from_bits(b | 0x8000_0000)])
        .filter(|x| x.is_finite())
}

struct Worst {
    ulp: f64,
    at: f64,
    got: f64,
    want: f64,
}

fn check_f32(
    name: &str,
    limit: f64,
    floor: f64,
    f: impl Fn(f32) -> f32,
    reference: impl Fn(f64) -> f64,
) -> bool {
    let mut worst = Worst { ulp: 0.0, at: 0.0, got: 0.0, want: 0.0 };
    for x in samples_f32() {
        let (got, want) = (f(x), reference(x as f64));
        let ulp = error_f32(got, want, floor);
        if ulp > worst.ulp {
            worst = Worst { ulp, at: x as f64, got: got as f64, want };
        }
    }
    println!(
        "f32 {name:8} {:7.3} ulp at {:e} (got {:e}, want {:e})",
        worst.ulp, worst.at, worst.got, worst.want
    );
    worst.ulp <= limit
}

macro_rules! f32_table {
    ($($name:ident $limit:literal $floor:literal $reference:expr;)*) => {{
        let mut failed = Vec::new();
        $(if !check_f32(stringify!($name), $limit, $floor, <f32 as Real>::$name, $reference) {
            failed.push(stringify!($name));
        }
        let fused = |x| common::fused(x).map_or_else(|| Real::$name(x), |x| Real::$name(x).get());
        if !check_f32(concat!(stringify!($name), "+"), $limit, $floor, fused, $reference) {
            failed.push(concat!(stringify!($name), "+"));
        })*
        failed
    }};
}

#[test]
fn f32_functions_are_within_their_ulp() {
    let failed = f32_table! {
        sqrt 0.5001 0.0 libm::sqrt;
        rsqrt 1.6 0.0 |x| 1.0 / libm::sqrt(x);
        exp 2.0 0.0 libm::exp;
        exp2 2.0 0.0 libm::exp2;
        expm1 2.0 0.0 libm::expm1;
        ln 2.0 0.0 libm::log;
        log2 2.0 0.0 libm::log2;
        log10 2.0 0.0 libm::log10;
        log1p 2.0 0.0 libm::log1p;
        sin 2.0 0.0 libm::sin;
        cos 2.0 0.0 libm::cos;
        tan 2.0 0.0 libm::tan;
        asin 2.0 0.0 libm::asin;
        acos 2.0 0.0 libm::acos;
        atan 2.0 0.0 libm::atan;
        sinh 2.0 0.0 libm::sinh;
        cosh 2.0 0.0 libm::cosh;
        tanh 2.0 0.0 libm::tanh;
        asinh 2.0 0.0 libm::asinh;
        acosh 2.0 0.0 |x| if x < 1.0 { f64::NAN } else { libm::acosh(x) };
        atanh 2.0 0.0 libm::atanh;
        sigmoid 2.0 0.0 |x| 1.0 / (1.0 + libm::exp(-x));
        erf 2.0 0.0 libm::erf;
        erfc 2.0 0.0 libm::erfc;
        // The f64 functions are checked against the golden points.
        erfinv 4.0 0.0 <f64 as Real>::erfinv;
        lgamma 4.0 1.0 libm::lgamma;
        digamma 4.0 1.0 <f64 as Real>::digamma;
    };
    assert!(failed.is_empty(), "beyond their limit: {failed:?}");
}

#[test]
fn f32_functions_of_two_arguments_are_within_their_ulp() {
    // A linear congruential walk over bit patterns pairs every exponent with every other.
    let mut state = 1u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 32) as u32
    };
    let mut worst = [0.0f64; 6];
    for i in 0..400_000 {
        let (a, b) = (next(), next());
        let (mut x, mut y) = (f32::from_bits(a), f32::from_bits(b));
        if i % 2 == 0 {
            // Powers that neither overflow nor vanish.
            x = (a % 1_000_000) as f32 * 1e-5;
            y = (b % 2_000_000) as f32 * 1e-5 - 10.0;
        }
        if x.is_nan() || y.is_nan() {
            continue;
        }
        let (wx, wy) = (x as f64, y as f64);
        for (worst, ulp) in worst.iter_mut().zip([
            error_f32(Real::pow(x, y), libm::pow(wx, wy), 0.0),
            error_f32(Real::atan2(x, y), libm::atan2(wx, wy), 0.0),
            error_f32(Real::hypot(x, y), libm::hypot(wx, wy), 0.0),
            error_f32(Real::fmod(x, y), libm::fmod(wx, wy), 0.0),
            match (common::fused(x), common::fused(y)) {
                (Some(x), Some(y)) => error_f32(Real::pow(x, y).get(), libm::pow(wx, wy), 0.0),
                _ => 0.0,
            },
            match (common::fused(x), common::fused(y)) {
                (Some(x), Some(y)) => error_f32(Real::atan2(x, y).get(), libm::atan2(wx, wy), 0.0),
                _ => 0.0,
            },
        ]) {
            *worst = worst.max(ulp);
        }
    }
    println!(
        "f32 pow {:.3}, atan2 {:.3}, hypot {:.3}, fmod {}, pow+ {:.3}, atan2+ {:.3} ulp",
        worst[0], worst[1], worst[2], worst[3], worst[4], worst[5]
    );
    assert!(worst[0] <= 2.0 && worst[1] <= 2.0 && worst[2] <= 2.0 && worst[3] == 0.0);
    assert!(worst[4] <= 2.0 && worst[5] <= 2.0);
}

/// Arguments, the rounded result, and what rounding took away in ulp.
type Point = ([f64; 2], f64, f64);

/// The records of `golden_scalar.bin`; its layout is described in `golden_scalar.py`.
fn golden() -> Vec<(String, Vec<Point>)> {
    let mut rest: &[u8] = include_bytes!("golden_scalar.bin");
    let mut take = |n: usize| {
        let (head, tail) = rest.split_at_checked(n)?;
        rest = tail;
        Some(head)
    };
    let mut tables = Vec::new();
    while let Some(name) = take(8) {
        let name =
            String::from_utf8(name.iter().copied().take_while(|&b| b != 0).collect()).unwrap();
        let mut count = || u32::from_le_bytes(take(4).unwrap().try_into().unwrap()) as usize;
        let (arity, n) = (count(), count());
        let records = (0..n)
            .map(|_| {
                let mut float = || f64::from_le_bytes(take(8).unwrap().try_into().unwrap());
                let x = float();
                let y = if arity == 2 { float() } else { 0.0 };
                let want = float();
                ([x, y], want, take(1).unwrap()[0] as i8 as f64 / 254.0)
            })
            .collect();
        tables.push((name, records));
    }
    tables
}

/// Error in ulp of `got` against `want` + `residual` ulp.
fn error_f64(got: f64, want: f64, residual: f64, floor: f64) -> f64 {
    if got == want {
        // Zeros are equal whatever their sign; the table of special values looks at signs.
        return if want.is_infinite() || want == 0.0 { 0.0 } else { residual.abs() };
    }
    if got.is_nan() || want.is_infinite() || got.is_infinite() {
        return f64::INFINITY;
    }
    let spacing = |x: f64| f64::from_bits(x.abs().to_bits() + 1) - x.abs();
    let unit = spacing(want);
    let units = if unit < f64::MIN_POSITIVE {
        (got.to_bits() as i64 - want.to_bits() as i64) as f64 * want.signum()
    } else {
        (got - want) / unit
    };
    (units - residual).abs() * (unit / spacing(want.abs().max(floor)))
}

#[test]
fn f64_functions_are_within_their_ulp() {
    type F1 = fn(f64) -> f64;
    type F2 = fn(f64, f64) -> f64;
    macro_rules! names {
        (@args $args:tt $($n:ident)*) => { &[$(names!(@row $args $n)),*] };
        (@row ($($x:ident)*) $n:ident) => {(
            stringify!($n),
            |$($x),*| Real::$n($($x),*),
            |$($x),*| match ($(common::fused($x),)*) {
                ($(Some($x),)*) => Real::$n($($x),*).get(),
                _ => Real::$n($($x),*),
            },
        )};
    }
    let one: &[(&str, F1, F1)] = names!(@args (x) exp exp2 expm1 ln log2 log10 log1p sin cos tan asin acos atan sinh cosh
        tanh asinh acosh atanh sigmoid erf erfc erfinv lgamma digamma rsqrt);
    let two: &[(&str, F2, F2)] = names!(@args (x y) pow atan2 hypot fmod);
    let mut failed = Vec::new();
    let tables = golden();
    assert_eq!(tables.len(), one.len() + two.len());
    for (name, records) in tables {
        let limit = match name.as_str() {
            "lgamma" | "digamma" | "erfinv" => 4.0,
            "fmod" => 0.0,
            _ => 2.0,
        };
        // Next to their zeros the error is measured against the terms that cancel there.
        let floor = |x: f64| match name.as_str() {
            "lgamma" => 1.0,
            "digamma" => 1.0 + (1.0 + (-x).max(0.0)).ln(),
            _ => 0.0,
        };
        let f1 = one.iter().find(|f| f.0 == name);
        let f2 = two.iter().find(|f| f.0 == name);
        assert!(!records.is_empty());
        for fused in [false, true] {
            let mut worst = (0.0, [0.0, 0.0], 0.0, 0.0);
            for &([x, y], want, residual) in &records {
                let got = match (f1, f2) {
                    (Some(f), _) => (if fused { f.2 } else { f.1 })(x),
                    (_, f) => f.map(|f| if fused { f.2 } else { f.1 }).unwrap()(x, y),
                };
                let ulp = error_f64(got, want, residual, floor(x));
                if ulp > worst.0 {
                    worst = (ulp, [x, y], got, want);
                }
            }
            let (ulp, [x, y], got, want) = worst;
            let plus = if fused { "+" } else { "" };
            let name = format!("{name}{plus}");
            println!("f64 {name:8} {ulp:7.3} ulp at {x:e} {y:e} (got {got:e}, want {want:e})");
            if ulp > limit {
                failed.push(name);
            }
        }
    }
    assert!(failed.is_empty(), "beyond their limit: {failed:?}");
}
