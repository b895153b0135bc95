//! Patches and lone channels of convolutions against index arithmetic.

use wick_core::Arch;
use wick_core::kernels::conv::direct::{Direct, Plan};
use wick_core::kernels::conv::{Columns, Geometry};

/// The element of the larger side that a tap sees from a place, if it is inside.
fn seen(g: &Geometry, place: usize, tap: usize) -> Option<usize> {
    let at = |s: &[i64; 3], i: usize| {
        let i = i as i64;
        [i / (s[1] * s[2]), i / s[2] % s[1], i % s[2]]
    };
    let (p, t) = (at(&g.small, place), at(&g.kernel, tap));
    let mut to = 0;
    for d in 0..3 {
        let x = p[d] * g.stride[d] + t[d] * g.dilation[d] - g.padding[d];
        if x < 0 || x >= g.large[d] {
            return None;
        }
        to = to * g.large[d] + x;
    }
    Some(to as usize)
}

/// The three sums of two channels on each side against their definition.
fn direct(g: &Geometry, plan: &Plan, x: &[f64], w: &[f64]) {
    let (volume, places, taps) = (g.volume(), g.places(), g.taps());
    let offsets: Vec<usize> = (0..taps).map(|t| plan.offset(t)).collect();
    let mut scratch = vec![f64::NAN; Direct::<f64>::room(plan, 2, 2)];
    let (mut large, mut kernel) = (x.to_vec(), w.to_vec());
    let mut small = vec![f64::NAN; 2 * places];
    let bias = [0.5, -1.0];
    let mut run = |small: &mut [f64], large: &mut [f64], kernel: &mut [f64], which| {
        for band in 0..plan.bands() {
            scratch.fill(f64::NAN);
            let (large, small) = (large.as_mut_ptr(), small.as_mut_ptr());
            let (kernel, scratch) = (kernel.as_mut_ptr(), scratch.as_mut_ptr());
            let offsets = &offsets[..];
            let part =
                Direct { plan, offsets, band, few: 2, many: 2, large, small, kernel, scratch };
            // SAFETY: vectors of these sizes.
            unsafe {
                match which {
                    0 => part.forward(Arch::new(), bias.as_ptr()),
                    1 => part.spread(Arch::new()),
                    _ => part.weigh(Arch::new()),
                }
            }
        }
    };
    run(&mut small, &mut large, &mut kernel, 0);
    let mut wanted = vec![0.0; 2 * places];
    let (mut spread, mut weights) = (vec![0.0; 2 * volume], vec![0.0; 4 * taps]);
    for k in 0..2 {
        for p in 0..places {
            wanted[k * places + p] = bias[k];
            for (c, t) in (0..2).flat_map(|c| (0..taps).map(move |t| (c, t))) {
                if let Some(at) = seen(g, p, t) {
                    wanted[k * places + p] += w[(k * 2 + c) * taps + t] * x[c * volume + at];
                }
            }
        }
    }
    assert_eq!(small, wanted, "{g:?} {plan:?}");
    for k in 0..2 {
        for p in 0..places {
            for (c, t) in (0..2).flat_map(|c| (0..taps).map(move |t| (c, t))) {
                if let Some(at) = seen(g, p, t) {
                    let y = small[k * places + p];
                    spread[c * volume + at] += w[(k * 2 + c) * taps + t] * y;
                    weights[(k * 2 + c) * taps + t] += x[c * volume + at] * y;
                }
            }
        }
    }
    large.fill(0.0);
    run(&mut small, &mut large, &mut kernel, 1);
    assert_eq!(large, spread, "{g:?} {plan:?}");
    large.copy_from_slice(x);
    kernel.fill(0.0);
    run(&mut small, &mut large, &mut kernel, 2);
    assert_eq!(kernel, weights, "{g:?} {plan:?}");
}

#[test]
fn all_geometries() {
    let mut count = 0;
    for (large, kernel) in [
        ([1, 1, 9], [1, 1, 3]),
        ([1, 5, 6], [1, 3, 2]),
        ([3, 4, 5], [2, 3, 3]),
        ([1, 2, 40], [1, 1, 19]),
    ] {
        for bits in 0..27i64 {
            let (stride, padding, dilation) = (1 + bits % 3, bits / 3 % 3, 1 + bits / 9 % 2);
            let own = |v: i64, rest: i64| large.map(|n| if n == 1 { rest } else { v });
            let (stride, padding) = (own(stride, 1), own(padding, 0));
            let dilation = own(dilation, 1);
            let mut small = [0; 3];
            for d in 0..3 {
                let reach = (kernel[d] - 1) * dilation[d] + 1;
                small[d] = (large[d] + 2 * padding[d] - reach).div_euclid(stride[d]) + 1;
            }
            if small.iter().any(|n| *n < 1) {
                continue;
            }
            count += 1;
            let g = Geometry { large, small, kernel, stride, padding, dilation };
            let (volume, places, taps) = (g.volume(), g.places(), g.taps());
            let x: Vec<f64> = (0..2 * volume).map(|i| (i * 7 % 23) as f64 + 1.0).collect();
            // Any range of positions, of two channels.
            let (start, n) = (places / 3, places - places / 3 - places / 5);
            let mut columns = vec![-1.0; 2 * taps * n];
            let to = columns.as_mut_ptr();
            let part = Columns { geometry: g, channels: 2, start, n, columns: to, ld: n };
            // SAFETY: vectors of these sizes.
            unsafe { part.gather(Arch::new(), x.as_ptr()) };
            let mut back = vec![0.0; 2 * volume];
            // SAFETY: as above.
            unsafe { part.scatter(Arch::new(), back.as_mut_ptr()) };
            let mut sums = vec![0.0; 2 * volume];
            for r in 0..2 * taps {
                for i in 0..n {
                    let at = seen(&g, start + i, r % taps).map(|at| r / taps * volume + at);
                    assert_eq!(columns[r * n + i], at.map_or(0.0, |at| x[at]), "{g:?} {r} {i}");
                    if let Some(at) = at {
                        sums[at] += x[at];
                    }
                }
            }
            assert_eq!(back, sums, "{g:?}");
            // Two channels of each side, by bands of several sizes.
            let w: Vec<f64> = (0..4 * taps).map(|i| (i * 5 % 11) as f64 - 4.0).collect();
            for wanted in [1, 40, 10_000] {
                let plan = Plan::new(g, wanted).unwrap();
                direct(&g, &plan, &x, &w);
            }
        }
    }
    assert!(count > 50, "{count}");
}
