//! placeholder
#[inline(always)]
pub(super) fn ln_f32(x: f32) -> f32 {
    libm::logf(x)
}
#[inline(always)]
pub(super) fn ln_f64(x: f64) -> f64 {
    libm::log(x)
}
#[inline(always)]
pub(super) fn log2_f32(x: f32) -> f32 {
    libm::log2f(x)
}
#[inline(always)]
pub(super) fn log2_f64(x: f64) -> f64 {
    libm::log2(x)
}
#[inline(always)]
pub(super) fn log10_f32(x: f32) -> f32 {
    libm::log10f(x)
}
#[inline(always)]
pub(super) fn log10_f64(x: f64) -> f64 {
    libm::log10(x)
}
#[inline(always)]
pub(super) fn log1p_f32(x: f32) -> f32 {
    libm::log1pf(x)
}
#[inline(always)]
pub(super) fn log1p_f64(x: f64) -> f64 {
    libm::log1p(x)
}
