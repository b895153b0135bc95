//! Pooling, padding and interpolation.

use super::*;
use wick_core::kernels::elementwise::Scalar;
use wick_runtime::ops::pool::*;
use wick_runtime::ops::resample::*;

const F64: DType = DType::F64;

fn pool<'a>(
    dims: usize,
    kernel: &'a [i64],
    stride: &'a [i64],
    padding: &'a [i64],
    ceil: bool,
) -> Pool<'a> {
    Pool { dims, kernel, stride, padding, dilation: &[1], ceil }
}

#[test]
fn gradients() {
    let ctx = context(2);
    let mut rng = Numbers(11);
    let x = rng.tensor(&ctx, F64, &[2, 2, 5, 6]);
    for p in [
        pool(2, &[2], &[], &[0], false),
        pool(2, &[3, 2], &[2, 1], &[1, 0], false),
        pool(2, &[3], &[2], &[1], true),
        Pool { dilation: &[2], ..pool(2, &[2], &[1], &[0], false) },
    ] {
        let (y, places) = max_pool(&ctx, "max_pool2d", &x, &p).unwrap();
        let weights = rng.tensor(&ctx, F64, y.shape());
        let slopes = max_pool_backward(&ctx, "max", &weights, &x, &places, 2).unwrap();
        check_gradient(&ctx, &x, &slopes, &weights, |x| max_pool(&ctx, "max", x, &p).unwrap().0);
        if p.dilation != [1] {
            continue;
        }
        for (include, divisor) in [(true, None), (false, None), (true, Some(5))] {
            let f = |x: &Tensor| avg_pool(&ctx, "avg", x, &p, include, divisor).unwrap();
            let weights = rng.tensor(&ctx, F64, f(&x).shape());
            let slopes =
                avg_pool_backward(&ctx, "avg", &weights, &x, &p, include, divisor).unwrap();
            check_gradient(&ctx, &x, &slopes, &weights, f);
        }
    }
    for output in [[2, 3], [5, 6], [7, 4], [1, 1]] {
        let f = |x: &Tensor| adaptive_avg_pool(&ctx, "adaptive", x, &output).unwrap();
        let weights = rng.tensor(&ctx, F64, &[2, 2, output[0], output[1]]);
        let slopes = adaptive_avg_pool_backward(&ctx, "adaptive", &weights, &x, 2).unwrap();
        check_gradient(&ctx, &x, &slopes, &weights, f);
        let (_, places) = adaptive_max_pool(&ctx, "adaptive", &x, &output).unwrap();
        let slopes = max_pool_backward(&ctx, "max", &weights, &x, &places, 2).unwrap();
        check_gradient(&ctx, &x, &slopes, &weights, |x| {
            adaptive_max_pool(&ctx, "adaptive", x, &output).unwrap().0
        });
    }
    // Three dimensions, and one without a batch.
    let x = rng.tensor(&ctx, F64, &[1, 2, 3, 4, 3]);
    let p = pool(3, &[2], &[1], &[1], false);
    let f = |x: &Tensor| avg_pool(&ctx, "avg", x, &p, true, None).unwrap();
    let weights = rng.tensor(&ctx, F64, f(&x).shape());
    let slopes = avg_pool_backward(&ctx, "avg", &weights, &x, &p, true, None).unwrap();
    check_gradient(&ctx, &x, &slopes, &weights, f);
    let x = rng.tensor(&ctx, F64, &[2, 9]);
    let p = pool(1, &[3], &[2], &[1], true);
    let (y, places) = max_pool(&ctx, "max", &x, &p).unwrap();
    assert_eq!(y.shape(), [2, 5]);
    let weights = rng.tensor(&ctx, F64, y.shape());
    let slopes = max_pool_backward(&ctx, "max", &weights, &x, &places, 1).unwrap();
    check_gradient(&ctx, &x, &slopes, &weights, |x| max_pool(&ctx, "max", x, &p).unwrap().0);
}

#[test]
fn all_dtypes_and_nan() {
    let ctx = context(1);
    for dtype in DType::ALL {
        let x = tensor(&ctx, dtype, &[1, 1, 2, 4], &[1.0, 5.0, 2.0, 0.0, 3.0, 4.0, 7.0, 6.0]);
        let got = max_pool(&ctx, "max", &x, &pool(2, &[2], &[], &[0], false));
        if dtype == DType::Bool {
            assert!(got.is_err());
            continue;
        }
        let (y, places) = got.unwrap();
        assert_eq!((y.dtype(), values(&ctx, &y)), (dtype, vec![5.0, 7.0]));
        assert_eq!(values(&ctx, &places), [1.0, 6.0]);
        let mean = avg_pool(&ctx, "avg", &x, &pool(2, &[2], &[], &[0], false), true, None).unwrap();
        let want = if dtype.is_float() { [3.25, 3.75] } else { [3.0, 3.0] };
        assert_eq!(values(&ctx, &mean), want, "{dtype}");
    }
    let x = tensor(&ctx, DType::F32, &[1, 4], &[1.0, f64::NAN, 9.0, f64::NEG_INFINITY]);
    let (y, places) = max_pool(&ctx, "max", &x, &pool(1, &[2], &[1], &[0], false)).unwrap();
    let got = values(&ctx, &y);
    assert!(got[0].is_nan() && got[1].is_nan());
    assert_eq!(got[2], 9.0);
    assert_eq!(values(&ctx, &places), [1.0, 1.0, 2.0]);
    let low = tensor(&ctx, DType::F32, &[1, 2], &[f64::NEG_INFINITY; 2]);
    let (y, places) = max_pool(&ctx, "max", &low, &pool(1, &[2], &[1], &[0], false)).unwrap();
    assert_eq!((values(&ctx, &y), values(&ctx, &places)), (vec![f64::NEG_INFINITY], vec![0.0]));
}

#[test]
fn what_does_not_fit_is_an_error() {
    let ctx = context(1);
    let x = Numbers(1).tensor(&ctx, DType::F32, &[2, 3, 4, 4]);
    let big = i64::MAX;
    for (kernel, stride, padding) in [
        (&[5][..], &[1][..], &[0][..]),
        (&[0], &[1], &[0]),
        (&[2], &[0], &[0]),
        (&[2], &[1], &[2]),
        (&[2], &[1], &[-1]),
        (&[big], &[1], &[0]),
        (&[2, 2, 2], &[1], &[0]),
        (&[], &[], &[0]),
    ] {
        assert!(max_pool(&ctx, "max", &x, &pool(2, kernel, stride, padding, false)).is_err());
        let p = pool(2, kernel, stride, padding, true);
        assert!(avg_pool(&ctx, "avg", &x, &p, true, None).is_err());
    }
    let far = [big];
    let p = pool(2, &[2], &far, &[0], true);
    assert_eq!(max_pool(&ctx, "max", &x, &p).unwrap().0.shape(), [2, 3, 1, 1]);
    let fits = pool(2, &[2], &[], &[0], false);
    assert!(avg_pool(&ctx, "avg", &x, &fits, true, Some(0)).is_err());
    let (y, _) = max_pool(&ctx, "max", &x, &fits).unwrap();
    let outside = tensor(&ctx, DType::I64, y.shape(), &[16.0; 24]);
    assert!(max_pool_backward(&ctx, "max", &y, &x, &outside, 2).is_err());
    assert!(adaptive_avg_pool(&ctx, "adaptive", &x, &[-1, 2]).is_err());
}

#[test]
fn padding() {
    let ctx = context(1);
    let x = tensor(&ctx, DType::I32, &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let got = |mode, p: &[i64]| values(&ctx, &pad(&ctx, mode, &x, p).unwrap());
    assert_eq!(got(PadMode::Reflect, &[2, 1]), [3., 2., 1., 2., 3., 2., 6., 5., 4., 5., 6., 5.]);
    assert_eq!(got(PadMode::Replicate, &[1, 2]), [1., 1., 2., 3., 3., 3., 4., 4., 5., 6., 6., 6.]);
    assert_eq!(got(PadMode::Circular, &[1, 1]), [3., 1., 2., 3., 1., 6., 4., 5., 6., 4.]);
    let framed = constant_pad(&ctx, &x, &[1, -1, 0, 1], Scalar::Int(9)).unwrap();
    assert_eq!(framed.shape(), [3, 3]);
    assert_eq!(values(&ctx, &framed), [9., 1., 2., 9., 4., 5., 9., 9., 9.]);
    assert_eq!(constant_pad(&ctx, &x, &[-3, 0], Scalar::Int(0)).unwrap().shape(), [2, 0]);
    assert!(constant_pad(&ctx, &x, &[-4, 0], Scalar::Int(0)).is_err());
    assert!(constant_pad(&ctx, &x, &[i64::MAX, 1], Scalar::Int(0)).is_err());
    assert!(constant_pad(&ctx, &x, &[1], Scalar::Int(0)).is_err());
    assert!(pad(&ctx, PadMode::Reflect, &x, &[3, 0]).is_err());
    assert!(pad(&ctx, PadMode::Replicate, &x, &[-1, 0]).is_err());
    let mut rng = Numbers(8);
    let x = rng.tensor(&ctx, F64, &[2, 3, 4]);
    for mode in [PadMode::Reflect, PadMode::Replicate, PadMode::Circular] {
        let sizes = [3, 2, 1, 2];
        let weights = rng.tensor(&ctx, F64, &[2, 6, 9]);
        let slopes = pad_backward(&ctx, mode, &weights, &x, &sizes).unwrap();
        check_gradient(&ctx, &x, &slopes, &weights, |x| pad(&ctx, mode, x, &sizes).unwrap());
    }
}

#[test]
fn interpolation() {
    let ctx = context(1);
    let x = tensor(&ctx, DType::F32, &[1, 1, 2, 2], &[1.0, 2.0, 3.0, 4.0]);
    let of = |mode, sizes: &[i64], align| {
        values(&ctx, &interpolate(&ctx, mode, &x, sizes, align, &[]).unwrap())
    };
    let want = [1., 1., 2., 1., 1., 2., 3., 3., 4.];
    assert_eq!(of(Interpolation::Nearest, &[3, 3], false), want);
    let want = [1., 1.25, 1.75, 2., 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3., 3.25, 3.75, 4.];
    assert_eq!(of(Interpolation::Linear, &[4, 4], false), want);
    assert_eq!(of(Interpolation::Linear, &[3, 3], true), [1., 1.5, 2., 2., 2.5, 3., 3., 3.5, 4.]);
    assert_near(&of(Interpolation::Cubic, &[2, 2], false), &[1., 2., 3., 4.], 1e-6);
    assert!(interpolate(&ctx, Interpolation::Linear, &x, &[0, 1], false, &[]).is_err());
    assert!(interpolate(&ctx, Interpolation::Nearest, &x, &[1], false, &[]).is_err());
    assert!(interpolate(&ctx, Interpolation::Nearest, &x, &[i64::MAX, 2], false, &[]).is_err());
    let mut rng = Numbers(12);
    let x = rng.tensor(&ctx, F64, &[1, 2, 3, 4]);
    for mode in [Interpolation::Nearest, Interpolation::Linear, Interpolation::Cubic] {
        for align in [false, true] {
            for sizes in [[5, 3], [2, 9], [3, 4]] {
                let f = |x: &Tensor| interpolate(&ctx, mode, x, &sizes, align, &[]).unwrap();
                let weights = rng.tensor(&ctx, F64, f(&x).shape());
                let slopes =
                    interpolate_backward(&ctx, mode, &weights, x.shape(), align, &[]).unwrap();
                check_gradient(&ctx, &x, &slopes, &weights, f);
            }
        }
    }
}
