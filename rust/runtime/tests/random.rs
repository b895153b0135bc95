//! Random tensors: distributions, reproducibility, bounds, errors.

mod common;

use common::values;
use wick_core::kernels::philox;
use wick_core::{DType, Layout};
use wick_runtime::error::Kind;
use wick_runtime::ops::creation::full;
use wick_runtime::ops::random::{
    Parameters, RandomOp, bernoulli_of, random, random_in_place, randperm,
};
use wick_runtime::{Context, Result, Stream, Tensor};

use wick_core::kernels::elementwise::Scalar;

const FLOATS: [DType; 4] = [DType::F64, DType::F32, DType::F16, DType::BF16];
const NONE: Parameters = Parameters::Float(0.0, 0.0);

fn context() -> Context {
    Context::new(1 << 32, 2)
}

fn at(seed: u64) -> Option<Stream> {
    Some(Stream { seed, offset: 0 })
}

fn bytes(t: &Tensor) -> Vec<u8> {
    assert!(t.layout().is_contiguous());
    let n = t.numel() as usize * t.dtype().size();
    // SAFETY: contiguous, inside the storage.
    unsafe { std::slice::from_raw_parts(t.view().start(), n) }.to_vec()
}

fn draw(ctx: &Context, op: RandomOp, dtype: DType, n: i64, p: Parameters, seed: u64) -> Vec<f64> {
    values(ctx, &random(ctx, op, dtype, &[n], p, at(seed)).unwrap())
}

/// The n-th 64-bit number of a seed's sequence, from single blocks.
fn long(seed: u64, n: u64) -> u64 {
    let (step, place) = (n / 32, n % 32);
    let (lane, half) = (place % 16, (place / 16) as usize);
    let counter = [step as u32, (step >> 32) as u32, lane as u32, 0];
    let words = philox::block([seed as u32, (seed >> 32) as u32], counter);
    u64::from(words[2 * half]) | u64::from(words[2 * half + 1]) << 32
}

/// The n-th 32-bit number.
fn word(seed: u64, n: u64) -> u32 {
    let (step, place) = (n / 64, n % 64);
    let counter = [step as u32, (step >> 32) as u32, (place % 16) as u32, 0];
    philox::block([seed as u32, (seed >> 32) as u32], counter)[(place / 16) as usize]
}

#[test]
fn uniform_is_the_sequence() {
    let ctx = context();
    let seed = 0xdead_beef_1234_5678;
    for n in [0, 1, 31, 32, 33, 64, 65, 1000] {
        let d = draw(&ctx, RandomOp::Rand, DType::F64, n, NONE, seed);
        for (i, v) in d.iter().enumerate() {
            assert_eq!(*v, (long(seed, i as u64) >> 11) as f64 / (1u64 << 53) as f64);
        }
        for (dtype, bits) in [(DType::F32, 24), (DType::F16, 11), (DType::BF16, 8)] {
            for (i, v) in draw(&ctx, RandomOp::Rand, dtype, n, NONE, seed).iter().enumerate() {
                let expected = f64::from(word(seed, i as u64) >> (32 - bits)) / (1 << bits) as f64;
                assert_eq!(*v, expected, "{dtype} {i}");
            }
        }
    }
}

#[test]
fn integers_are_the_sequence() {
    let ctx = context();
    let cases = [
        (0, 10),
        (-5, 5),
        (i64::MIN, i64::MAX),
        (0, 1 << 32),
        (0, (1 << 32) + 1),
        (7, 8),
        (-(1 << 62), 1 << 62),
    ];
    for (low, high) in cases {
        let t =
            random(&ctx, RandomOp::Randint, DType::I64, &[100], Parameters::Int(low, high), at(3));
        let t = t.unwrap();
        let first = t.view().start().cast::<i64>();
        let span = (i128::from(high) - i128::from(low)) as u128;
        for i in 0..100 {
            let number = (u128::from(long(3, i as u64)) * span) >> 64;
            // SAFETY: the tensor has 100 elements.
            let value = unsafe { *first.add(i) };
            assert_eq!(i128::from(value), i128::from(low) + number as i128);
        }
    }
}

/// sqrt(n) times the greatest distance between the sample's and the distribution's function.
fn kolmogorov(mut sample: Vec<f64>, cumulative: impl Fn(f64) -> f64) -> f64 {
    sample.sort_by(f64::total_cmp);
    let n = sample.len() as f64;
    let mut most = 0.0f64;
    for (i, x) in sample.iter().enumerate() {
        let c = cumulative(*x);
        most = most.max((c - i as f64 / n).abs()).max(((i + 1) as f64 / n - c).abs());
    }
    most * n.sqrt()
}

fn moments(sample: &[f64]) -> [f64; 4] {
    let n = sample.len() as f64;
    let mean = sample.iter().sum::<f64>() / n;
    let central = |k| sample.iter().map(|x| (x - mean).powi(k)).sum::<f64>() / n;
    let variance = central(2);
    [mean, variance, central(3) / variance.powf(1.5), central(4) / variance.powi(2)]
}

fn normal_cumulative(x: f64) -> f64 {
    0.5 * libm_erfc(-x / std::f64::consts::SQRT_2)
}

fn libm_erfc(x: f64) -> f64 {
    wick_core::Real::erfc(x)
}

// 1.95 is passed by chance once in a thousand seeds; the seeds are fixed.
const LIMIT: f64 = 1.95;

#[test]
fn distributions() {
    let ctx = context();
    let n = 200_000;
    for seed in [0, 1, 42] {
        for dtype in [DType::F64, DType::F32] {
            let u = draw(&ctx, RandomOp::Rand, dtype, n, NONE, seed);
            let [mean, variance, ..] = moments(&u);
            assert!((mean - 0.5).abs() < 0.003 && (variance - 1.0 / 12.0).abs() < 0.001);
            assert!(u.iter().all(|v| (0.0..1.0).contains(v)));
            assert!(kolmogorov(u, |x| x) < LIMIT, "{dtype} {seed}");

            let z = draw(&ctx, RandomOp::Randn, dtype, n, NONE, seed);
            let [mean, variance, skew, tails] = moments(&z);
            assert!(mean.abs() < 0.01 && (variance - 1.0).abs() < 0.015, "{mean} {variance}");
            assert!(skew.abs() < 0.03 && (tails - 3.0).abs() < 0.06, "{skew} {tails}");
            // Neighbours, and the two of a pair, are independent.
            for lag in [1, 16, 32] {
                let product: f64 = z.iter().zip(&z[lag..]).map(|(a, b)| a * b).sum();
                assert!((product / n as f64).abs() < 0.01, "{dtype} {seed} {lag}");
            }
            assert!(kolmogorov(z, normal_cumulative) < LIMIT, "{dtype} {seed}");

            let p = Parameters::Float(-3.0, 2.5);
            let z = draw(&ctx, RandomOp::Normal, dtype, n, p, seed);
            assert!(kolmogorov(z, |x| normal_cumulative((x + 3.0) / 2.5)) < LIMIT);
            let p = Parameters::Float(-3.0, 5.0);
            let u = draw(&ctx, RandomOp::Uniform, dtype, n, p, seed);
            assert!(kolmogorov(u, |x| (x + 3.0) / 8.0) < LIMIT);
        }
        for dtype in [DType::F16, DType::BF16] {
            let z = draw(&ctx, RandomOp::Randn, dtype, n, NONE, seed);
            let [mean, variance, skew, tails] = moments(&z);
            assert!(mean.abs() < 0.01 && (variance - 1.0).abs() < 0.015);
            assert!(skew.abs() < 0.03 && (tails - 3.0).abs() < 0.06);
        }
    }
}

#[test]
fn normal_tails() {
    let ctx = context();
    let n = 4_000_000;
    for dtype in [DType::F64, DType::F32] {
        let z = draw(&ctx, RandomOp::Randn, dtype, n, NONE, 5);
        assert!(z.iter().all(|v| v.is_finite()));
        // 27 of them are expected beyond 4.5 standard deviations.
        let beyond = z.iter().filter(|v| v.abs() > 4.5).count();
        assert!((10..50).contains(&beyond), "{dtype} {beyond}");
    }
}

#[test]
fn normal_is_box_and_muller() {
    let ctx = context();
    let turn = std::f64::consts::TAU;
    let pair = |u: f64, t: f64| {
        let radius = (-2.0 * u.ln()).sqrt();
        [radius * (turn * t).cos(), radius * (turn * t).sin()]
    };
    let d = draw(&ctx, RandomOp::Randn, DType::F64, 6400, NONE, 12);
    let f = draw(&ctx, RandomOp::Randn, DType::F32, 6400, NONE, 12);
    let place = |i: u64, half: u64| i / half * 2 * half + i % half;
    for i in 0..3200 {
        let (a, b) = (place(i, 16), place(i, 16) + 16);
        let unit = |n| (long(12, n) >> 12) as f64 / (1u64 << 52) as f64;
        let [x, y] = pair(1.0 - unit(a), unit(b));
        assert!((d[a as usize] - x).abs() < 1e-14 && (d[b as usize] - y).abs() < 1e-14);
        let word = |n| f64::from(word(12, n)) / (1u64 << 32) as f64;
        let [x, y] = pair(word(a) + 0.5 / (1u64 << 32) as f64, word(b));
        // The smaller the radius, the nearer u is to 1, where f32 is coarse.
        let near = |v: f64, w: f64| (v - w).abs() < 1e-6 + 3e-7 / x.hypot(y);
        assert!(near(f[a as usize], x) && near(f[b as usize], y), "{i}");
    }
}

#[test]
fn integers_are_even() {
    let ctx = context();
    let n = 100_000;
    for (low, high) in [(0, 10), (-3, 4), (100, 356)] {
        let v = draw(&ctx, RandomOp::Randint, DType::I32, n, Parameters::Int(low, high), 9);
        let kinds = (high - low) as usize;
        let mut counts = vec![0f64; kinds];
        v.iter().for_each(|x| counts[(*x as i64 - low) as usize] += 1.0);
        let expected = n as f64 / kinds as f64;
        let chi: f64 = counts.iter().map(|c| (c - expected).powi(2) / expected).sum();
        let freedom = (kinds - 1) as f64;
        assert!((chi - freedom).abs() < 4.0 * (2.0 * freedom).sqrt(), "{low} {high} {chi}");
    }
}

#[test]
fn bernoulli() {
    let ctx = context();
    let n = 100_000;
    for dtype in DType::ALL {
        for p in [0.0, 0.1, 0.5, 1.0] {
            let v = draw(&ctx, RandomOp::Bernoulli, dtype, n, Parameters::Float(p, 0.0), 4);
            let mean = v.iter().sum::<f64>() / n as f64;
            assert!(v.iter().all(|x| *x == 0.0 || *x == 1.0));
            assert!((mean - p).abs() < 0.005 && (p.fract() != 0.0 || mean == p), "{p} {mean}");
        }
    }
    // Through a transposed view: place i, j has the probability at i, j.
    for dtype in FLOATS {
        let probs = full(&ctx, dtype, &[100, 3], Scalar::Float(0.0)).unwrap();
        let column = probs.with_layout("select", probs.layout().select(1, 2)).unwrap();
        random_in_place(&ctx, RandomOp::Randint, &column, Parameters::Int(1, 2), None).unwrap();
        let t = probs.with_layout("t", probs.layout().transpose(0, 1)).unwrap();
        let drawn = bernoulli_of(&ctx, &t, at(8)).unwrap();
        assert_eq!((drawn.dtype(), drawn.shape()), (dtype, &[3i64, 100][..]));
        assert_eq!(values(&ctx, &drawn), values(&ctx, &t));
    }
    let half = full(&ctx, DType::F32, &[1000], Scalar::Float(0.5)).unwrap();
    let a = values(&ctx, &bernoulli_of(&ctx, &half, at(8)).unwrap());
    let b = draw(&ctx, RandomOp::Bernoulli, DType::F32, 1000, Parameters::Float(0.5, 0.0), 8);
    assert_eq!(a, b);
}

#[test]
fn permutations() {
    let ctx = context();
    for n in [0, 1, 2, 31, 32, 33, 34, 1000, 100_000] {
        let mut v = draw_permutation(&ctx, DType::I64, n, 6);
        let moved = v.iter().enumerate().filter(|(i, x)| *i as f64 != **x).count();
        assert!(n < 1000 || moved as i64 > n * 9 / 10);
        v.sort_by(f64::total_cmp);
        assert!(v.iter().enumerate().all(|(i, x)| *x == i as f64), "BR-169");
    }
    // All orders of four are as frequent.
    let mut counts = std::collections::HashMap::new();
    for seed in 0..24_000 {
        let v = draw_permutation(&ctx, DType::U8, 4, seed);
        *counts.entry(v.iter().map(|x| *x as u8).collect::<Vec<_>>()).or_insert(0.0) += 1.0;
    }
    assert_eq!(counts.len(), 24);
    let chi: f64 = counts.values().map(|c: &f64| (c - 1000.0).powi(2) / 1000.0).sum();
    assert!(chi < 50.0, "{chi}");

    let most = [
        (DType::U8, 256),
        (DType::I8, 128),
        (DType::I16, 1 << 15),
        (DType::F16, 2049),
        (DType::BF16, 257),
    ];
    for (dtype, n) in most {
        let mut v = draw_permutation(&ctx, dtype, n, 1);
        v.sort_by(f64::total_cmp);
        assert!(v.iter().enumerate().all(|(i, x)| *x == i as f64), "{dtype}");
        assert!(
            matches!(randperm(&ctx, dtype, n + 1, None), Err(e) if matches!(e.kind(), Kind::DType { .. }))
        );
    }
    assert!(
        matches!(randperm(&ctx, DType::Bool, 1, None), Err(e) if matches!(e.kind(), Kind::DType { .. }))
    );
    assert!(
        matches!(randperm(&ctx, DType::I64, -1, None), Err(e) if matches!(e.kind(), Kind::Shape { .. }))
    );
}

fn draw_permutation(ctx: &Context, dtype: DType, n: i64, seed: u64) -> Vec<f64> {
    values(ctx, &randperm(ctx, dtype, n, at(seed)).unwrap())
}

/// Everything there is, as bytes.
fn everything(ctx: &Context) -> Vec<Vec<u8>> {
    let mut all = vec![];
    let from = Some(Stream {
        seed: 11,
        offset: u64::MAX - 2, // steps count on from 0
    });
    let n = [70_001];
    for dtype in FLOATS {
        for (op, p) in [
            (RandomOp::Rand, NONE),
            (RandomOp::Randn, NONE),
            (RandomOp::Uniform, Parameters::Float(-1.0, 3.0)),
            (RandomOp::Normal, Parameters::Float(1.0, 3.0)),
        ] {
            all.push(bytes(&random(ctx, op, dtype, &n, p, from).unwrap()));
        }
        let probs = random(ctx, RandomOp::Rand, dtype, &n, NONE, from).unwrap();
        all.push(bytes(&bernoulli_of(ctx, &probs, from).unwrap()));
    }
    for dtype in DType::ALL {
        let p = Parameters::Int(0, 2);
        all.push(bytes(&random(ctx, RandomOp::Randint, dtype, &n, p, from).unwrap()));
        let p = Parameters::Float(0.3, 0.0);
        all.push(bytes(&random(ctx, RandomOp::Bernoulli, dtype, &n, p, from).unwrap()));
    }
    all
}

#[test]
fn threads_and_levels_do_not_show() {
    let expected = everything(&Context::new(1 << 32, 1));
    for threads in [2, 7] {
        assert!(everything(&Context::new(1 << 32, threads)) == expected, "{threads} threads");
    }
    for level in ["baseline", "avx2", "avx512"] {
        // A process of its own, since the level is read from the environment.
        let this = std::env::current_exe().unwrap();
        let out = std::process::Command::new(this)
            .args(["--exact", "fingerprint", "--ignored", "--nocapture"])
            .env("WICK_CPU", level)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        let wanted = format!("fingerprint {}\n", hash(&expected));
        assert!(text.contains(&wanted), "{level}: {text}, wanted {wanted}");
    }
}

/// Run by the test above in processes of other CPU levels.
#[test]
#[ignore = "part of another test"]
fn fingerprint() {
    println!("fingerprint {}", hash(&everything(&context())));
}

fn hash(all: &[Vec<u8>]) -> u64 {
    let fnv = |h: u64, b: &u8| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3);
    all.iter().flatten().fold(0xcbf2_9ce4_8422_2325, fnv)
}

#[test]
fn parts_of_a_draw_are_draws() {
    let ctx = context();
    let whole = draw(&ctx, RandomOp::Randn, DType::F64, 320, NONE, 2);
    let from = Some(Stream { seed: 2, offset: 5 });
    let rest = random(&ctx, RandomOp::Randn, DType::F64, &[160], NONE, from).unwrap();
    assert_eq!(values(&ctx, &rest), whole[160..]);
}

#[test]
fn context_stream() {
    let ctx = context();
    let start = Stream { seed: 77, offset: 0 };
    ctx.set_stream(start);
    let make = |n: i64| random(&ctx, RandomOp::Rand, DType::F32, &[n], NONE, None).unwrap();
    let a = values(&ctx, &make(33));
    let saved = ctx.stream();
    assert_eq!(saved, Stream { seed: 77, offset: 2 });
    let b = values(&ctx, &make(100));
    ctx.set_stream(saved);
    assert_eq!(values(&ctx, &make(100)), b);
    ctx.set_stream(start);
    assert_eq!(values(&ctx, &make(33)), a);
    // A failed draw takes no steps.
    assert!(random(&ctx, RandomOp::Rand, DType::I32, &[5], NONE, None).is_err());
    assert!(random(&ctx, RandomOp::Rand, DType::F32, &[-5], NONE, None).is_err());
    assert!(random(&ctx, RandomOp::Rand, DType::F32, &[1 << 40], NONE, None).is_err());
    assert_eq!(ctx.stream().offset, 2);
}

#[test]
fn in_place_is_row_major_whatever_the_strides() {
    let ctx = context();
    for dtype in FLOATS {
        let fresh = random(&ctx, RandomOp::Randn, dtype, &[5, 7], NONE, at(1)).unwrap();
        let base = full(&ctx, dtype, &[7, 20], Scalar::Int(9)).unwrap();
        let view = base.layout().slice(1, 3, 18, 3).and_then(|l| l.transpose(0, 1));
        let view = base.with_layout("view", view).unwrap();
        random_in_place(&ctx, RandomOp::Randn, &view, NONE, at(1)).unwrap();
        assert_eq!(values(&ctx, &view), values(&ctx, &fresh));
        let others = values(&ctx, &base).iter().filter(|v| **v == 9.0).count();
        assert_eq!(others, 140 - 35);
        let wide = base.with_layout("expand", Layout::strided(&[3, 3], &[0, 1], 0)).unwrap();
        assert!(random_in_place(&ctx, RandomOp::Randn, &wide, NONE, at(1)).is_err());
    }
}

#[test]
fn bounds_of_uniform_and_integers() {
    let ctx = context();
    for dtype in FLOATS {
        for (low, high) in [(0.0, 1.0), (100.0, 100.5), (-1.0, 0.0), (-0.3, -0.29), (3.0, 3.0)] {
            let v = draw(&ctx, RandomOp::Uniform, dtype, 20_000, Parameters::Float(low, high), 3);
            let t = full(&ctx, dtype, &[2], Scalar::Float(low)).unwrap();
            let low = values(&ctx, &t)[0];
            let t = full(&ctx, dtype, &[2], Scalar::Float(high)).unwrap();
            let high = values(&ctx, &t)[0];
            assert!(
                v.iter().all(|x| low <= *x && (*x < high || low == high)),
                "{dtype} {low} {high}"
            );
        }
        let ranges = [(0, 5000), (2049, 3001), (-5001, -2049), (0, 65504)];
        for (low, high) in ranges {
            let v = draw(&ctx, RandomOp::Randint, dtype, 20_000, Parameters::Int(low, high), 3);
            assert!(
                v.iter().all(|x| (low as f64..high as f64).contains(x)),
                "{dtype} {low} {high}"
            );
        }
    }
    let one = Parameters::Int(2049, 2050);
    assert!(random(&ctx, RandomOp::Randint, DType::F16, &[1], one, None).is_err());
    let v = draw(&ctx, RandomOp::Randint, DType::F32, 1000, Parameters::Int(i64::MIN, i64::MAX), 3);
    assert!(v.iter().all(|x| *x < 9.3e18 && *x >= -9.3e18));
}

#[test]
fn refusals() {
    let ctx = context();
    let refused = |r: Result<Tensor>| match r.unwrap_err().kind() {
        Kind::DType { op, expected, .. } => format!("{op}: {expected}"),
        other => panic!("{other:?}"),
    };
    let make = |op, dtype, p| refused(random(&ctx, op, dtype, &[2], p, None));
    for dtype in DType::ALL.into_iter().filter(|d| !d.is_float()) {
        for op in [RandomOp::Rand, RandomOp::Randn, RandomOp::Normal, RandomOp::Uniform] {
            assert!(make(op, dtype, NONE).ends_with("expected a float dtype"));
        }
    }
    let float = Parameters::Float;
    let f32 = DType::F32;
    assert_eq!(
        make(RandomOp::Normal, f32, float(0.0, -1.0)),
        "normal: the deviation must not be negative: -1"
    );
    make(RandomOp::Normal, f32, float(0.0, f64::NAN));
    make(RandomOp::Uniform, f32, float(1.0, 0.0));
    make(RandomOp::Uniform, f32, float(0.0, f64::INFINITY));
    make(RandomOp::Uniform, f32, float(0.0, f64::NAN));
    make(RandomOp::Uniform, f32, float(-3e38, 3e38));
    make(RandomOp::Uniform, f32, float(0.0, 1e300));
    make(RandomOp::Bernoulli, f32, float(1.5, 0.0));
    make(RandomOp::Bernoulli, f32, float(f64::NAN, 0.0));
    assert_eq!(
        make(RandomOp::Randint, f32, Parameters::Int(3, 3)),
        "randint: low 3 must be less than high 3"
    );
    make(RandomOp::Randint, DType::U8, Parameters::Int(0, 257));
    make(RandomOp::Randint, DType::U8, Parameters::Int(-1, 5));
    make(RandomOp::Randint, DType::I8, Parameters::Int(-129, 5));
    make(RandomOp::Randint, DType::Bool, Parameters::Int(0, 3));
    make(RandomOp::Randint, DType::F16, Parameters::Int(0, 70_000));
    let two = full(&ctx, f32, &[2], Scalar::Int(2)).unwrap();
    refused(bernoulli_of(&ctx, &two, None));
    let ints = full(&ctx, DType::I32, &[2], Scalar::Int(1)).unwrap();
    refused(bernoulli_of(&ctx, &ints, None));
}

#[test]
fn empty_and_scalar_shapes() {
    let ctx = context();
    for dtype in FLOATS {
        let t = random(&ctx, RandomOp::Rand, dtype, &[1, 0, 3], NONE, None).unwrap();
        assert_eq!(t.shape(), &[1, 0, 3], "BR-155");
        let t = random(&ctx, RandomOp::Randn, dtype, &[], NONE, None).unwrap();
        assert_eq!(values(&ctx, &t).len(), 1);
    }
}
