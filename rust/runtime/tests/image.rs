//! Images: filters against a naive reference over layouts, borders, sizes and windows.

use proptest::prelude::*;
use wick_core::kernels::image::StencilOp;
use wick_core::{BorderMode, DType, Dim, Kernel, Rect, Sides, Window};
use wick_runtime::ops::image::padding::{fill_border, padded};
use wick_runtime::ops::image::{
    BT709, Color, Edges, Resize, color, equalize_hist, filter, filter_into, histogram, resize,
    stencil,
};
use wick_runtime::{Context, Tensor};

mod common;
use common::{Lie, ctx, near, tensor, values};

/// A pixel of storage place `i`: whole numbers, so that f32 sums are exact.
fn pixel(i: i64) -> f64 {
    ((i * 7919 + i * i * 31) % 256) as f64
}

fn images() -> impl Strategy<Value = Vec<i64>> {
    let size = prop_oneof![4 => 0i64..10, 1 => 30i64..70];
    (proptest::collection::vec(0i64..3, 0..3), size.clone(), size)
        .prop_map(|(outer, h, w)| [outer, vec![h, w]].concat())
}

fn modes() -> impl Strategy<Value = BorderMode> {
    prop_oneof![
        Just(BorderMode::Undefined),
        Just(BorderMode::Replicate),
        Just(BorderMode::Constant(0.0)),
        Just(BorderMode::Constant(200.0)),
        Just(BorderMode::Reflect),
    ]
}

fn ops() -> impl Strategy<Value = StencilOp> {
    (0..StencilOp::ALL.len()).prop_map(|i| StencilOp::ALL[i])
}

fn pixels() -> impl Strategy<Value = DType> {
    prop_oneof![Just(DType::U8), Just(DType::F32)]
}

/// A plane's pixels, rows first.
struct Plane<'a> {
    values: &'a [f64],
    width: i64,
    region: Rect,
    mode: BorderMode,
}

impl Plane<'_> {
    fn at(&self, y: i64, x: i64) -> Option<f64> {
        let row = self.mode.place(y, self.region.top, self.region.bottom);
        let column = self.mode.place(x, self.region.left, self.region.right);
        match (row, column, self.mode) {
            (Some(y), Some(x), _) => Some(self.values[(y * self.width + x) as usize]),
            (_, _, BorderMode::Constant(v)) => Some(v),
            _ => None,
        }
    }

    /// Results at a place; none where a neighbour is missing.
    fn results(&self, op: StencilOp, y: i64, x: i64, cut: bool) -> Option<Vec<f64>> {
        let r = op.radius();
        let mut near = vec![];
        for dy in -r..=r {
            for dx in -r..=r {
                near.push(self.at(y + dy, x + dx)?);
            }
        }
        let weigh = |rows: &[f64], columns: &[f64]| -> f64 {
            let n = rows.len();
            (0..n * n).map(|i| rows[i / n] * columns[i % n] * near[i]).sum()
        };
        let over = |sum: f64, by: f64| {
            if cut { (sum / by).floor() } else { f64::from(sum as f32 / by as f32) }
        };
        let (three, five, slope) = ([1.0, 2.0, 1.0], [1.0, 4.0, 6.0, 4.0, 1.0], [-1.0, 0.0, 1.0]);
        Some(match op {
            StencilOp::Gaussian3x3 => vec![over(weigh(&three, &three), 16.0)],
            StencilOp::Gaussian5x5 => vec![over(weigh(&five, &five), 256.0)],
            StencilOp::Box3x3 => vec![over(weigh(&[1.0; 3], &[1.0; 3]), 9.0)],
            StencilOp::Sobel3x3 => vec![weigh(&three, &slope), weigh(&slope, &three)],
            StencilOp::Median3x3 => {
                near.sort_by(f64::total_cmp);
                vec![near[4]]
            }
        })
    }
}

/// The results of a whole image; 0 where there are none.
fn naive(
    op: StencilOp,
    dtype: DType,
    shape: &[i64],
    pixels: &[f64],
    edges: Edges,
) -> Vec<Vec<f64>> {
    let (h, w) = (shape[shape.len() - 2], shape[shape.len() - 1]);
    let region = edges.region.unwrap_or(Rect::of(h, w));
    let mut out = vec![vec![0.0; pixels.len()]; op.results()];
    let size = (h * w) as usize;
    if size == 0 {
        return out;
    }
    for (p, values) in pixels.chunks_exact(size).enumerate() {
        let plane = Plane { values, width: w, region, mode: edges.mode };
        for y in region.top..region.bottom {
            for x in region.left..region.right {
                if let Some(results) = plane.results(op, y, x, dtype == DType::U8) {
                    for (k, v) in results.into_iter().enumerate() {
                        out[k][p * size + (y * w + x) as usize] = v;
                    }
                }
            }
        }
    }
    out
}

/// A part of a range, from random numbers.
fn some_of(n: i64, a: u8, b: u8) -> (i64, i64) {
    let (a, b) = (i64::from(a) % (n + 1), i64::from(b) % (n + 1));
    (a.min(b), a.max(b))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    /// AC-19, AC-21, AC-22, AC-23: every filter over every border mode, layout and valid region.
    #[test]
    fn filters_are_the_naive_ones(
        op in ops(), dtype in pixels(), shape in images(), mode in modes(), bits: u64,
        region in proptest::option::of(any::<[u8; 4]>()),
    ) {
        let ctx = ctx(2);
        let n = shape.len();
        let region = region.map(|[a, b, c, d]| {
            let ((top, bottom), (left, right)) = (some_of(shape[n - 2], a, b), some_of(shape[n - 1], c, d));
            Rect { top, left, bottom, right }
        });
        let edges = Edges { mode, region };
        let x = Lie::random(n, bits, true).make(&ctx, dtype, &shape, pixel);
        let found = filter(&ctx, op, &x, edges).unwrap();
        let wanted = naive(op, dtype, &shape, &values(&ctx, &x), edges);
        for (found, wanted) in found.iter().zip(&wanted) {
            prop_assert_eq!(found.dtype(), op.result(dtype));
            prop_assert_eq!(values(&ctx, found), wanted.clone(), "{:?} {:?}", op, edges);
        }
    }

    /// AC-08, AC-09: parts of the window make up the whole, on strided targets, and write nothing
    /// else.
    #[test]
    fn parts_write_their_own(
        op in ops(), dtype in pixels(), shape in images(), mode in modes(), bits: u64, cut: [u8; 4],
        targets: u64,
    ) {
        let ctx = ctx(1);
        let x = Lie::random(shape.len(), bits, false).make(&ctx, dtype, &shape, pixel);
        let lie = Lie::random(shape.len(), targets, false);
        let outs: Vec<Tensor> =
            (0..op.results()).map(|_| lie.make(&ctx, op.result(dtype), &shape, |_| 99.0)).collect();
        let outs: Vec<&Tensor> = outs.iter().collect();
        let edges = Edges { mode, region: None };
        let whole = stencil(&ctx, op, &x, &outs, edges).unwrap().window();
        let range = |d: usize, a, b| {
            let (start, end) = some_of(whole.dim(d).end - whole.dim(d).start, a, b);
            Dim { start: whole.dim(d).start + start, end: whole.dim(d).start + end, step: 1 }
        };
        let part = whole.with(1, range(1, cut[0], cut[1])).with(2, range(2, cut[2], cut[3]));
        filter_into(&ctx, op, &x, &outs, edges, Some(&part)).unwrap();
        let wanted = naive(op, dtype, &shape, &values(&ctx, &x), edges);
        let (h, w) = (shape[shape.len() - 2].max(1), shape[shape.len() - 1].max(1));
        for (out, wanted) in outs.iter().zip(&wanted) {
            for (i, v) in values(&ctx, out).into_iter().enumerate() {
                let (y, x) = (i as i64 / w % h, i as i64 % w);
                let inside = (part.dim(1).start..part.dim(1).end).contains(&y)
                    && (part.dim(2).start..part.dim(2).end).contains(&x);
                prop_assert_eq!(v, if inside { wanted[i] } else { 99.0 }, "{} {}", y, x);
            }
        }
    }

    /// AC-24, AC-32: a filter that reads its border from the padding is the one with that border.
    #[test]
    fn padding_is_a_border(
        op in ops(), dtype in pixels(), shape in images(), mode in modes(), more in 0i64..3,
    ) {
        prop_assume!(mode != BorderMode::Undefined);
        let ctx = ctx(1);
        let n = shape.len();
        let (h, w) = (shape[n - 2], shape[n - 1]);
        prop_assume!(h > 0 && w > 0);
        let room = op.radius() + more;
        let (row, plane) = (w + 2 * room + 1, (w + 2 * room + 1) * (h + 2 * room));
        let mut strides = vec![1; n];
        let mut step = plane;
        strides[n - 2] = row;
        for d in (0..n - 2).rev() {
            strides[d] = step;
            step *= shape[d];
        }
        let x = padded(&ctx, dtype, &shape, &strides, room * row + room, step).unwrap();
        let from = Lie::plain(n).make(&ctx, dtype, &shape, pixel);
        wick_runtime::ops::elementwise::copy(&ctx, &x, &from).unwrap();
        fill_border(&ctx, &x, Sides::all(room), mode).unwrap();
        prop_assert_eq!(values(&ctx, &x), values(&ctx, &from));
        let region = Rect { top: -room, left: -room, bottom: h + room, right: w + room };
        let padded = Edges { mode: BorderMode::Undefined, region: Some(region) };
        let found = filter(&ctx, op, &x, padded).unwrap();
        let wanted = filter(&ctx, op, &from, Edges { mode, region: None }).unwrap();
        for (found, wanted) in found.iter().zip(&wanted) {
            prop_assert_eq!(values(&ctx, found), values(&ctx, wanted));
        }
        // Beyond the storage there is nothing to read.
        let far = Rect { top: -room - 1, ..region };
        let beyond = Edges { mode: BorderMode::Undefined, region: Some(far) };
        prop_assert!(filter(&ctx, op, &x, beyond).is_err() || more > 0 || shape[..n - 2].contains(&0));
    }

    /// Histograms count each plane's pixels, whatever the threads.
    #[test]
    fn histograms_count(dtype in pixels(), shape in images(), bins in 1i64..300, bits: u64) {
        let (one, two) = (ctx(1), ctx(3));
        let x = Lie::random(shape.len(), bits, true).make(&one, dtype, &shape, pixel);
        let (from, range) = (10.0, 200.0);
        let found = histogram(&one, &x, bins, from, range).unwrap();
        let again = histogram(&two, &x, bins, from, range).unwrap();
        let pixels = values(&one, &x);
        let planes = shape[..shape.len() - 2].iter().product::<i64>() as usize;
        let mut wanted = vec![0.0; planes * bins as usize];
        let size = pixels.len() / planes.max(1);
        for (i, v) in pixels.iter().enumerate().filter(|(_, v)| **v >= from && **v < from + range) {
            let bin = ((v - from) * bins as f64 / range) as usize;
            wanted[i / size * bins as usize + bin] += 1.0;
        }
        prop_assert_eq!(values(&one, &found), wanted);
        prop_assert_eq!(values(&two, &again), values(&one, &found));
    }

    /// Equalised planes: monotone, the least value to 0, the greatest to 255, one value stays.
    #[test]
    fn equalised(shape in images(), bits: u64) {
        let ctx = ctx(2);
        let x = Lie::random(shape.len(), bits, true).make(&ctx, DType::U8, &shape, pixel);
        let (before, after) = (values(&ctx, &x), values(&ctx, &equalize_hist(&ctx, &x).unwrap()));
        let size = (shape[shape.len() - 2] * shape[shape.len() - 1]) as usize;
        if size > 0 {
            for (x, y) in before.chunks_exact(size).zip(after.chunks_exact(size)) {
                let mut sorted = x.to_vec();
                sorted.sort_by(f64::total_cmp);
                let cdf = |v: f64| sorted.iter().filter(|o| **o <= v).count() as f64;
                let (least, all) = (cdf(sorted[0]), size as f64);
                for (x, y) in x.iter().zip(y) {
                    let wanted = if least == all {
                        *x
                    } else {
                        (255.0 * (cdf(*x) - least) / (all - least) + 0.5).floor()
                    };
                    prop_assert_eq!(*y, wanted);
                }
            }
        }
    }

    /// Colours: grey stays grey, and there and back is the same within rounding.
    #[test]
    fn colours(dtype in pixels(), bits: u64, h in 0i64..6, w in 0i64..300, outer in 0usize..2) {
        let ctx = ctx(2);
        let shape = [&[2][..outer], &[3, h, w]].concat();
        let x = Lie::random(shape.len(), bits, true).make(&ctx, dtype, &shape, pixel);
        let yuv = color(&ctx, Color::Yuv, &x, BT709).unwrap();
        let back = color(&ctx, Color::Rgb, &yuv, BT709).unwrap();
        let grey = color(&ctx, Color::Gray, &x, BT709).unwrap();
        let (x, back) = (values(&ctx, &x), values(&ctx, &back));
        let (yuv, grey) = (values(&ctx, &yuv), values(&ctx, &grey));
        let size = (h * w) as usize;
        for i in 0..x.len() / 3 {
            let at = i / size * 3 * size + i % size;
            let [r, g, b] = [0, 1, 2].map(|c| x[at + c * size]);
            let luma = 0.2126 * r + 0.7152 * g + 0.0722 * b;
            let exact = dtype == DType::F32;
            let middle = if exact { 0.0 } else { 128.0 };
            let wanted = [luma, (b - luma) / 1.8556 + middle, (r - luma) / 1.5748 + middle];
            let tolerance = if exact { 1e-4 } else { 0.51 };
            prop_assert!((grey[i] - luma).abs() < tolerance);
            for c in 0..3 {
                prop_assert!((yuv[at + c * size] - wanted[c]).abs() < tolerance);
                let there = if exact { 1e-3 } else { 2.5 };
                prop_assert!((back[at + c * size] - x[at + c * size]).abs() < there);
            }
            if r == g && g == b {
                prop_assert!(near(grey[i], r, 1e-6));
            }
        }
    }
}

/// AC-08: what a kernel is asked beyond its window, and what it cannot do, are errors that say so.
#[test]
fn refused() {
    let ctx = ctx(1);
    let x = Lie::plain(2).make(&ctx, DType::U8, &[6, 7], pixel);
    let out = Lie::plain(2).make(&ctx, DType::U8, &[6, 7], |_| 9.0);
    let edges = Edges { mode: BorderMode::Undefined, region: None };
    let into = |x: &Tensor, out: &Tensor, edges, part: Option<&Window>| {
        let done = filter_into(&ctx, StencilOp::Gaussian3x3, x, &[out], edges, part);
        done.unwrap_err().to_string()
    };
    let window = |y: [i64; 3], x: [i64; 3]| {
        let dim = |[start, end, step]: [i64; 3]| Dim { start, end, step };
        Window::new(&[Dim::upto(1), dim(y), dim(x)])
    };
    let beyond = into(&x, &out, edges, Some(&window([0, 6, 1], [1, 6, 1])));
    assert!(beyond.contains("dimension 1 of the window, [0, 6) by 1, starts outside"), "{beyond}");
    assert!(beyond.contains("u8 [6, 7]") && beyond.contains("[1, 5) by 1"), "{beyond}");
    let late = into(&x, &out, edges, Some(&window([1, 5, 1], [1, 9, 1])));
    assert!(late.contains("ends outside"), "{late}");
    let stepped = into(&x, &out, edges, Some(&window([1, 5, 2], [1, 6, 1])));
    assert!(stepped.contains("another step"), "{stepped}");
    assert!(into(&x, &out, edges, Some(&Window::flat(3))).contains("of 1 dimensions"));
    assert_eq!(values(&ctx, &out), vec![9.0; 42]);
    assert!(into(&x, &x, edges, None).contains("overlaps"));
    let floats = Lie::plain(2).make(&ctx, DType::F32, &[6, 7], pixel);
    assert!(into(&x, &floats, edges, None).contains("type u8"));
    let narrow = Lie::plain(2).make(&ctx, DType::U8, &[6, 6], pixel);
    assert!(into(&x, &narrow, edges, None).contains("shape"));
    let constant = Edges { mode: BorderMode::Constant(256.0), region: None };
    assert!(filter(&ctx, StencilOp::Box3x3, &x, constant).is_err());
    let region = Rect { top: 0, left: 0, bottom: 7, right: 7 };
    let far = Edges { mode: BorderMode::Replicate, region: Some(region) };
    assert!(into(&x, &out, far, None).contains("beyond the image"));
    let huge = Rect { top: i64::MIN, left: 0, bottom: i64::MAX, right: 7 };
    let huge = Edges { mode: BorderMode::Undefined, region: Some(huge) };
    assert!(filter(&ctx, StencilOp::Box3x3, &x, huge).is_err());
    let doubles = Lie::plain(2).make(&ctx, DType::F64, &[6, 7], pixel);
    assert!(filter(&ctx, StencilOp::Box3x3, &doubles, edges).is_err());
    let line = Lie::plain(1).make(&ctx, DType::U8, &[6], pixel);
    assert!(filter(&ctx, StencilOp::Box3x3, &line, edges).is_err());
}

/// AC-11: parts on many threads give the bits of one, and each part has scratch of its own.
#[test]
fn threads_do_not_show() {
    let shape = [2, 700, 900];
    for op in StencilOp::ALL {
        for dtype in [DType::U8, DType::F32] {
            let run = |ctx: &Context| {
                let x = Lie::plain(3).make(ctx, dtype, &shape, |i| pixel(i) * 0.37);
                let edges = Edges { mode: BorderMode::Reflect, region: None };
                let all = filter(ctx, *op, &x, edges).unwrap();
                all.iter().map(|t| values(ctx, t)).collect::<Vec<_>>()
            };
            assert!(run(&ctx(1)) == run(&ctx(3)), "{op:?} {dtype}");
        }
    }
}

/// Sizes: nearest takes pixels, area means, bilinear is between.
#[test]
fn resized() {
    let ctx = ctx(1);
    let x = tensor(&ctx, DType::U8, &[2, 4], &[0.0, 10.0, 20.0, 30.0, 100.0, 111.0, 120.0, 131.0]);
    let to = |mode, size| values(&ctx, &resize(&ctx, mode, &x, size).unwrap());
    assert_eq!(to(Resize::Nearest, [1, 2]), [0.0, 20.0]);
    assert_eq!(to(Resize::Area, [1, 2]), [55.0, 75.0]);
    assert_eq!(to(Resize::Bilinear, [2, 2]), [5.0, 25.0, 106.0, 126.0]);
    assert_eq!(to(Resize::Bilinear, [2, 4]), values(&ctx, &x));
    assert!(resize(&ctx, Resize::Area, &x, [0, 2]).is_err());
    let floats = wick_runtime::ops::elementwise::cast(&ctx, &x, DType::F32).unwrap();
    let between = resize(&ctx, Resize::Bilinear, &floats, [2, 2]).unwrap();
    assert_eq!(values(&ctx, &between), [5.0, 25.0, 105.5, 125.5]);
}
