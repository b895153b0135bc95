//! placeholder
#[inline(always)]
pub(super) fn erf_f32(x: f32) -> f32 {
    libm::erff(x)
}
#[inline(always)]
pub(super) fn erf_f64(x: f64) -> f64 {
    libm::erf(x)
}
#[inline(always)]
pub(super) fn erfc_f32(x: f32) -> f32 {
    libm::erfc(x as f64) as f32
}
#[inline(always)]
pub(super) fn erfc_f64(x: f64) -> f64 {
    libm::erfc(x)
}
#[inline(always)]
pub(super) fn erfinv_f32(x: f32) -> f32 {
    erfinv_f64(x as f64) as f32
}
/// Giles' start, refined by two Newton steps on erfc.
pub(super) fn erfinv_f64(x: f64) -> f64 {
    let a = x.abs();
    if !(a < 1.0) {
        return if a == 1.0 {
            f64::INFINITY.copysign(x)
        } else {
            f64::NAN
        };
    }
    let w = libm::log((1.0 - a) * (1.0 + a));
    let c = 2.0 / (core::f64::consts::PI * 0.147) + 0.5 * w;
    let mut y = libm::sqrt(libm::sqrt(c * c - w / 0.147) - c);
    for _ in 0..3 {
        let e = if a < 0.5 {
            libm::erf(y) - a
        } else {
            (1.0 - a) - libm::erfc(y)
        };
        let u = e / (core::f64::consts::FRAC_2_SQRT_PI * libm::exp(-y * y));
        y -= u / (1.0 + y * u);
    }
    y.copysign(x)
}
