//! Patches and lone channels of convolutions against index arithmetic.

use wick_core::Arch;
use wick_core::kernels::conv::{Alone, Columns, Geometry};

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
            let w: Vec<f64> = (0..taps).map(|i| (i * 5 % 11) as f64 - 4.0).collect();
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
            let mut small = vec![0.0; places];
            let (mut input, mut spread) = (x.clone(), vec![0.0; volume]);
            let kernel = w.as_ptr();
            let large = input.as_mut_ptr();
            let alone = Alone { geometry: g, large, small: small.as_mut_ptr(), kernel };
            // SAFETY: as above.
            unsafe { alone.forward(Arch::new(), 0.5) };
            let mut wanted = vec![0.5; places];
            let mut wanted_spread = vec![0.0; volume];
            for (p, wanted) in wanted.iter_mut().enumerate() {
                for (t, w) in w.iter().enumerate() {
                    if let Some(at) = seen(&g, p, t) {
                        *wanted += w * x[at];
                    }
                }
            }
            assert_eq!(small, wanted, "{g:?}");
            for (p, y) in small.iter().enumerate() {
                for (t, w) in w.iter().enumerate() {
                    if let Some(at) = seen(&g, p, t) {
                        wanted_spread[at] += w * y;
                    }
                }
            }
            let large = spread.as_mut_ptr();
            // SAFETY: as above.
            unsafe { Alone { large, ..alone }.spread(Arch::new()) };
            assert_eq!(spread, wanted_spread, "{g:?}");
        }
    }
    assert!(count > 50, "{count}");
}
