//! placeholder
#[inline(always)]
pub(super) fn lgamma_f32(x: f32) -> f32 {
    libm::lgammaf(x)
}
#[inline(always)]
pub(super) fn lgamma_f64(x: f64) -> f64 {
    libm::lgamma(x)
}
#[inline(always)]
pub(super) fn digamma_f32(x: f32) -> f32 {
    digamma_f64(x as f64) as f32
}
pub(super) fn digamma_f64(x: f64) -> f64 {
    if x == 0.0 {
        return f64::INFINITY.copysign(-x);
    }
    if x < 0.0 {
        let f = x - libm::trunc(x);
        if f == 0.0 {
            return f64::NAN;
        }
        return digamma_f64(1.0 - x) - core::f64::consts::PI / libm::tan(core::f64::consts::PI * f);
    }
    let (mut x, mut s) = (x, 0.0);
    while x < 10.0 {
        s -= 1.0 / x;
        x += 1.0;
    }
    let z = 1.0 / (x * x);
    s + libm::log(x)
        - 0.5 / x
        - z * (1.0 / 12.0
            - z * (1.0 / 120.0
                - z * (1.0 / 252.0 - z * (1.0 / 240.0 - z * (1.0 / 132.0 - z * 691.0 / 32760.0)))))
}
