//! placeholder
#[inline(always)]
pub(super) fn sin_f32(x: f32) -> f32 {
    libm::sinf(x)
}
#[inline(always)]
pub(super) fn sin_f64(x: f64) -> f64 {
    libm::sin(x)
}
#[inline(always)]
pub(super) fn cos_f32(x: f32) -> f32 {
    libm::cosf(x)
}
#[inline(always)]
pub(super) fn cos_f64(x: f64) -> f64 {
    libm::cos(x)
}
#[inline(always)]
pub(super) fn tan_f32(x: f32) -> f32 {
    libm::tanf(x)
}
#[inline(always)]
pub(super) fn tan_f64(x: f64) -> f64 {
    libm::tan(x)
}
#[inline(always)]
pub(super) fn asin_f32(x: f32) -> f32 {
    libm::asinf(x)
}
#[inline(always)]
pub(super) fn asin_f64(x: f64) -> f64 {
    libm::asin(x)
}
#[inline(always)]
pub(super) fn acos_f32(x: f32) -> f32 {
    libm::acosf(x)
}
#[inline(always)]
pub(super) fn acos_f64(x: f64) -> f64 {
    libm::acos(x)
}
#[inline(always)]
pub(super) fn atan_f32(x: f32) -> f32 {
    libm::atanf(x)
}
#[inline(always)]
pub(super) fn atan_f64(x: f64) -> f64 {
    libm::atan(x)
}
#[inline(always)]
pub(super) fn atan2_f32(y: f32, x: f32) -> f32 {
    libm::atan2f(y, x)
}
#[inline(always)]
pub(super) fn atan2_f64(y: f64, x: f64) -> f64 {
    libm::atan2(y, x)
}
