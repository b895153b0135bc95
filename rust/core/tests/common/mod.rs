//! What the tests of the elementary functions share.

use wick_core::scalar::Fused;

/// The number whose functions fuse, where this CPU has the instruction.
pub fn fused<T>(x: T) -> Option<Fused<T>> {
    #[cfg(target_arch = "x86_64")]
    let has = std::arch::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    let has = true;
    // SAFETY: just asked.
    has.then(|| unsafe { Fused::new(x) })
}
