//! placeholder
#[inline(always)]
pub(super) fn exp_f32(x: f32) -> f32 {
    libm::expf(x)
}
#[inline(always)]
pub(super) fn exp_f64(x: f64) -> f64 {
    libm::exp(x)
}
#[inline(always)]
pub(super) fn exp2_f32(x: f32) -> f32 {
    libm::exp2f(x)
}
#[inline(always)]
pub(super) fn exp2_f64(x: f64) -> f64 {
    libm::exp2(x)
}
#[inline(always)]
pub(super) fn expm1_f32(x: f32) -> f32 {
    libm::expm1f(x)
}
#[inline(always)]
pub(super) fn expm1_f64(x: f64) -> f64 {
    libm::expm1(x)
}
