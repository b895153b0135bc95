//! placeholder
#[inline(always)]
pub(super) fn sinh_f32(x: f32) -> f32 {
    libm::sinhf(x)
}
#[inline(always)]
pub(super) fn sinh_f64(x: f64) -> f64 {
    libm::sinh(x)
}
#[inline(always)]
pub(super) fn cosh_f32(x: f32) -> f32 {
    libm::coshf(x)
}
#[inline(always)]
pub(super) fn cosh_f64(x: f64) -> f64 {
    libm::cosh(x)
}
#[inline(always)]
pub(super) fn tanh_f32(x: f32) -> f32 {
    libm::tanhf(x)
}
#[inline(always)]
pub(super) fn tanh_f64(x: f64) -> f64 {
    libm::tanh(x)
}
#[inline(always)]
pub(super) fn asinh_f32(x: f32) -> f32 {
    libm::asinhf(x)
}
#[inline(always)]
pub(super) fn asinh_f64(x: f64) -> f64 {
    libm::asinh(x)
}
#[inline(always)]
pub(super) fn acosh_f32(x: f32) -> f32 {
    libm::acoshf(x)
}
#[inline(always)]
pub(super) fn acosh_f64(x: f64) -> f64 {
    libm::acosh(x)
}
#[inline(always)]
pub(super) fn atanh_f32(x: f32) -> f32 {
    libm::atanhf(x)
}
#[inline(always)]
pub(super) fn atanh_f64(x: f64) -> f64 {
    libm::atanh(x)
}
#[inline(always)]
pub(super) fn sigmoid_f32(x: f32) -> f32 {
    1.0 / (1.0 + libm::expf(-x))
}
#[inline(always)]
pub(super) fn sigmoid_f64(x: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-x))
}
