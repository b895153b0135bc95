//! Convolutions and patches.

use super::*;
use proptest::prelude::*;
use wick_runtime::ops::conv::{Moves, col2im, convolution, convolution_backward, im2col};

/// A convolution by its definition: for each output, a sum over the kernel.
struct Naive {
    x: Vec<f64>,
    w: Vec<f64>,
    b: Vec<f64>,
    /// Batch, input channels, output channels, groups.
    counts: [usize; 4],
    size: [usize; 3],
    kernel: [usize; 3],
    out: [usize; 3],
    moves: [[i64; 3]; 3],
    transposed: bool,
}

impl Naive {
    fn run(&self) -> Vec<f64> {
        let [n, c, k, groups] = self.counts;
        let vol = |s: &[usize; 3]| s.iter().product::<usize>();
        let (volume, places, taps) = (vol(&self.size), vol(&self.out), vol(&self.kernel));
        let at = |s: &[usize; 3], i: usize| {
            [(i / (s[1] * s[2])) as i64, (i / s[2] % s[1]) as i64, (i % s[2]) as i64]
        };
        let (cg, kg) = (c / groups, k / groups);
        let mut out = vec![0.0; n * k * places];
        for (i, v) in out.iter_mut().enumerate() {
            *v = self.b[i / places % k];
        }
        let [stride, padding, dilation] = self.moves;
        for s in 0..n {
            for g in 0..groups {
                for ic in 0..cg {
                    for oc in 0..kg {
                        for small in 0..if self.transposed { volume } else { places } {
                            for t in 0..taps {
                                let grid = if self.transposed { &self.size } else { &self.out };
                                let place = at(grid, small);
                                let tap = at(&self.kernel, t);
                                let large = if self.transposed { &self.out } else { &self.size };
                                let mut to = 0;
                                let mut inside = true;
                                for d in 0..3 {
                                    let p =
                                        place[d] * stride[d] + tap[d] * dilation[d] - padding[d];
                                    inside &= p >= 0 && p < large[d] as i64;
                                    to = to * large[d] as i64 + p;
                                }
                                if !inside {
                                    continue;
                                }
                                let (x, y, w) = if self.transposed {
                                    (small, to as usize, ((g * cg + ic) * kg + oc) * taps + t)
                                } else {
                                    (to as usize, small, ((g * kg + oc) * cg + ic) * taps + t)
                                };
                                out[((s * k) + g * kg + oc) * places + y] +=
                                    self.x[(s * c + g * cg + ic) * volume + x] * self.w[w];
                            }
                        }
                    }
                }
            }
        }
        out
    }
}

fn three(list: &[i64], fill: i64) -> [i64; 3] {
    let mut out = [fill; 3];
    out[3 - list.len()..].copy_from_slice(list);
    out
}

fn adjoint(ctx: &Context, a: &Tensor, b: &Tensor) -> f64 {
    values(ctx, a).iter().zip(values(ctx, b)).map(|(a, b)| a * b).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn convolutions(
        dims in 1..4usize, transposed: bool, dtype in 0..4usize,
        n in 0..4i64, groups in 1..4i64, cg in 1..5i64, kg in 1..7i64, seed: u64,
    ) {
        let ctx = context(2);
        let mut rng = Numbers(seed);
        let dtype = [DType::F64, DType::F32, DType::F16, DType::BF16][dtype];
        let mut list = |low: i64, high: u64| -> Vec<i64> {
            (0..dims).map(|_| low + rng.below(high) as i64).collect()
        };
        let (kernel, stride, dilation) = (list(1, 3), list(1, 3), list(1, 2));
        let (padding, size) = (list(0, 3), list(1, if dims == 1 { 40 } else { 7 }));
        let extra: Vec<i64> = (0..dims).map(|d| (seed as i64 & 1).min(stride[d].max(dilation[d]) - 1)).collect();
        let moves = Moves {
            stride: &stride, padding: &padding, dilation: &dilation, transposed,
            output_padding: &extra, groups,
        };
        let (c, k) = (cg * groups, kg * groups);
        let x_shape = [&[n, c][..], &size].concat();
        let w_shape = if transposed { [&[c, kg][..], &kernel].concat() } else { [&[k, cg][..], &kernel].concat() };
        let x = rng.view(&ctx, dtype, &x_shape);
        let w = rng.view(&ctx, dtype, &w_shape);
        let b = rng.tensor(&ctx, dtype, &[k]);
        let out: Vec<i64> = (0..dims).map(|d| {
            let reach = (kernel[d] - 1) * dilation[d] + 1;
            if transposed { (size[d] - 1) * stride[d] - 2 * padding[d] + reach + extra[d] }
            else if size[d] + 2 * padding[d] < reach { 0 }
            else { (size[d] + 2 * padding[d] - reach) / stride[d] + 1 }
        }).collect();
        let got = convolution(&ctx, "conv", &x, &w, Some(&b), &moves);
        if out.iter().any(|n| *n <= 0) {
            prop_assert!(got.is_err());
            return Ok(());
        }
        let got = got.unwrap();
        let sizes = |l: &[i64]| three(l, 1).map(|n| n as usize);
        let naive = Naive {
            x: values(&ctx, &x), w: values(&ctx, &w), b: values(&ctx, &b),
            counts: [n as usize, c as usize, k as usize, groups as usize],
            size: sizes(&size), kernel: sizes(&kernel), out: sizes(&out),
            moves: [three(&stride, 1), three(&padding, 0), three(&dilation, 1)],
            transposed,
        };
        let tolerance = match dtype { DType::F64 => 1e-12, DType::F32 => 1e-5, DType::F16 => 4e-3, _ => 3e-2 };
        prop_assert_eq!(got.shape(), &[&[n, k][..], &out].concat()[..]);
        prop_assert_eq!(got.dtype(), dtype);
        assert_near(&values(&ctx, &got), &naive.run(), tolerance);

        // Linear in input and weight: the gradients are the adjoints.
        if dtype != DType::F64 {
            return Ok(());
        }
        let g = rng.view(&ctx, dtype, got.shape());
        let [gx, gw, gb] = convolution_backward(&ctx, &g, &x, &w, &moves, [true; 3]).unwrap();
        let (dx, dw) = (rng.tensor(&ctx, dtype, &x_shape), rng.tensor(&ctx, dtype, &w_shape));
        let moved = |x: &Tensor, w: &Tensor| convolution(&ctx, "conv", x, w, None, &moves).unwrap();
        let near = |a: f64, b: f64| prop::test_runner::TestCaseResult::Ok(()).and(
            if (a - b).abs() <= 1e-9 * (1.0 + b.abs()) { Ok(()) } else { Err(TestCaseError::fail(format!("{a} {b}"))) });
        near(adjoint(&ctx, &gx.unwrap(), &dx), adjoint(&ctx, &g, &moved(&dx, &w)))?;
        near(adjoint(&ctx, &gw.unwrap(), &dw), adjoint(&ctx, &g, &moved(&x, &dw)))?;
        let places: usize = out.iter().product::<i64>() as usize;
        let mut sums = vec![0.0; k as usize];
        for (i, v) in values(&ctx, &g).iter().enumerate() {
            sums[i / places % k as usize] += v;
        }
        assert_near(&values(&ctx, &gb.unwrap()), &sums, 1e-12);
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let mut seen: Option<Vec<Vec<f64>>> = None;
    for threads in [1, 2, 7] {
        let ctx = context(threads);
        let mut rng = Numbers(5);
        let x = rng.tensor(&ctx, DType::F32, &[3, 12, 30, 30]);
        let w = rng.tensor(&ctx, DType::F32, &[20, 12, 3, 3]);
        let moves = Moves {
            stride: &[1],
            padding: &[1],
            dilation: &[1],
            transposed: false,
            output_padding: &[0],
            groups: 1,
        };
        let y = convolution(&ctx, "conv", &x, &w, None, &moves).unwrap();
        let all = convolution_backward(&ctx, &y, &x, &w, &moves, [true; 3]).unwrap();
        let mut got = vec![values(&ctx, &y)];
        got.extend(all.iter().flatten().map(|t| values(&ctx, t)));
        assert_eq!(got.len(), 4);
        match &seen {
            None => seen = Some(got),
            Some(first) => assert!(*first == got, "{threads} threads"),
        }
    }
}

#[test]
fn patches_are_adjoint_to_folding() {
    let ctx = context(2);
    let mut rng = Numbers(6);
    let moves = Moves {
        stride: &[2, 1],
        padding: &[1, 2],
        dilation: &[1, 2],
        transposed: false,
        output_padding: &[0],
        groups: 1,
    };
    let x = rng.tensor(&ctx, DType::F64, &[2, 3, 6, 5]);
    let columns = im2col(&ctx, &x, &[3, 2], &moves).unwrap();
    assert_eq!(columns.shape(), [2, 18, 3 * 7]);
    let other = rng.tensor(&ctx, DType::F64, columns.shape());
    let folded = col2im(&ctx, &other, &[6, 5], &[3, 2], &moves).unwrap();
    assert_eq!(folded.shape(), x.shape());
    let (a, b) = (adjoint(&ctx, &columns, &other), adjoint(&ctx, &x, &folded));
    assert!((a - b).abs() < 1e-10);
}

#[test]
fn what_does_not_fit_is_an_error() {
    let ctx = context(1);
    let mut rng = Numbers(2);
    let x = rng.tensor(&ctx, DType::F32, &[2, 4, 5, 5]);
    let w = rng.tensor(&ctx, DType::F32, &[6, 4, 3, 3]);
    let good = Moves {
        stride: &[1],
        padding: &[0],
        dilation: &[1],
        transposed: false,
        output_padding: &[0],
        groups: 1,
    };
    let big = i64::MAX;
    for bad in [
        Moves { stride: &[0], ..good.clone() },
        Moves { stride: &[1, 1, 1], ..good.clone() },
        Moves { padding: &[-1], ..good.clone() },
        Moves { dilation: &[0], ..good.clone() },
        Moves { dilation: &[3], ..good.clone() },
        Moves { dilation: &[big], ..good.clone() },
        Moves { padding: &[big], ..good.clone() },
        Moves { groups: 0, ..good.clone() },
        Moves { groups: 4, ..good.clone() },
        Moves { transposed: true, output_padding: &[1], ..good.clone() },
        Moves { transposed: true, padding: &[50], ..good.clone() },
        Moves { transposed: true, stride: &[big], ..good.clone() },
    ] {
        assert!(convolution(&ctx, "conv", &x, &w, None, &bad).is_err(), "{bad:?}");
    }
    assert!(
        convolution(&ctx, "conv", &x, &w, None, &Moves { stride: &[big], ..good.clone() }).is_ok()
    );
    let bias = rng.tensor(&ctx, DType::F32, &[5]);
    assert!(convolution(&ctx, "conv", &x, &w, Some(&bias), &good).is_err());
}
