//! Powers and roots.

/// Square root. The SSE intrinsic is LLVM's square root of one lane, so a loop over it becomes
/// the vector instruction; `no_std` Rust offers no other road to it.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn sqrt_f32(x: f32) -> f32 {
    use core::arch::x86_64::{_mm_cvtss_f32, _mm_set_ss, _mm_sqrt_ss};
    // SAFETY: SSE2 is part of every x86-64.
    #[allow(unused_unsafe)]
    unsafe {
        _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x)))
    }
}

/// Square root, as for `f32`.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn sqrt_f64(x: f64) -> f64 {
    use core::arch::x86_64::{_mm_cvtsd_f64, _mm_set_sd, _mm_setzero_pd, _mm_sqrt_sd};
    // SAFETY: SSE2 is part of every x86-64.
    #[allow(unused_unsafe)]
    unsafe {
        _mm_cvtsd_f64(_mm_sqrt_sd(_mm_setzero_pd(), _mm_set_sd(x)))
    }
}

/// Square root by the NEON instruction.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub(super) fn sqrt_f32(x: f32) -> f32 {
    use core::arch::aarch64::{vdup_n_f32, vget_lane_f32, vsqrt_f32};
    // SAFETY: NEON is part of every aarch64 target with floating point.
    #[allow(unused_unsafe)]
    unsafe {
        vget_lane_f32::<0>(vsqrt_f32(vdup_n_f32(x)))
    }
}

/// Square root by the NEON instruction.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub(super) fn sqrt_f64(x: f64) -> f64 {
    use core::arch::aarch64::{vdup_n_f64, vget_lane_f64, vsqrt_f64};
    // SAFETY: NEON is part of every aarch64 target with floating point.
    #[allow(unused_unsafe)]
    unsafe {
        vget_lane_f64::<0>(vsqrt_f64(vdup_n_f64(x)))
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) use libm::{sqrt as sqrt_f64, sqrtf as sqrt_f32};

#[inline(always)]
pub(super) fn rsqrt_f32(x: f32) -> f32 {
    1.0 / sqrt_f32(x)
}

#[inline(always)]
pub(super) fn rsqrt_f64(x: f64) -> f64 {
    1.0 / sqrt_f64(x)
}

/// The squares are exact in `f64` and their sum cannot overflow.
#[inline(always)]
pub(super) fn hypot_f32(x: f32, y: f32) -> f32 {
    let (a, b) = (x as f64, y as f64);
    let h = sqrt_f64(a * a + b * b) as f32;
    // An infinity wins over a NaN.
    if x.is_infinite() | y.is_infinite() {
        f32::INFINITY
    } else {
        h
    }
}

#[inline(always)]
pub(super) fn hypot_f64(x: f64, y: f64) -> f64 {
    libm::hypot(x, y)
}

#[inline(always)]
pub(super) fn pow_f32(x: f32, y: f32) -> f32 {
    libm::powf(x, y)
}

#[inline(always)]
pub(super) fn pow_f64(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}
