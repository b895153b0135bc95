//! Conversions between `f32` and the 16-bit types, given as bits, free of branches so that a
//! loop over a slice vectorises.
//!
//! Denormal halves go through one `f32` addition whose spacing is that of the half.

/// Widens an IEEE half; exact.
#[inline(always)]
pub fn f16_to_f32(h: u16) -> f32 {
    let sign = ((h & 0x8000) as u32) << 16;
    let magnitude = ((h & 0x7fff) as u32) << 13;
    // The smallest normal half; denormals have its exponent without its leading bit, which the
    // subtraction takes away, without ever computing with f32 denormals.
    const MIN_NORMAL: u32 = (127 - 14) << 23;
    let normal = magnitude + ((127 - 15) << 23);
    let denormal = (f32::from_bits(magnitude | MIN_NORMAL) - f32::from_bits(MIN_NORMAL)).to_bits();
    let finite = if h & 0x7c00 == 0 { denormal } else { normal };
    let special = if magnitude >= 0x7c00 << 13 { 0x7f80_0000 } else { 0 };
    f32::from_bits(finite | special | sign)
}

/// Rounds to an IEEE half, ties to even; too large becomes infinite, a NaN stays a quiet NaN.
#[inline(always)]
pub fn f32_to_f16(x: f32) -> u16 {
    let bits = x.to_bits();
    let sign = (bits >> 16) & 0x8000;
    let a = bits & 0x7fff_ffff;
    // Normal result: round at bit 13, then move the exponent to its bias of 15. A carry out of
    // the fraction raises the exponent, up to that of infinity.
    let rounded = a.wrapping_add(0xfff + ((a >> 13) & 1));
    let normal = rounded.wrapping_sub((127 - 15) << 23) >> 13;
    // Denormal result: 1/2 has a spacing of 2^-24, that of half denormals, so adding it rounds.
    let denormal = (f32::from_bits(a) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
    let finite = if a < 0x3880_0000 { denormal } else { normal };
    let infinite = if a >= 0x4780_0000 { 0x7c00 } else { finite };
    let nan = 0x7e00 | ((a >> 13) & 0x3ff);
    (sign | if a > 0x7f80_0000 { nan } else { infinite }) as u16
}

/// Widens a bfloat16; exact.
#[inline(always)]
pub fn bf16_to_f32(h: u16) -> f32 {
    f32::from_bits((h as u32) << 16)
}

/// Rounds to a bfloat16, ties to even; a NaN stays a quiet NaN.
#[inline(always)]
pub fn f32_to_bf16(x: f32) -> u16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + ((bits >> 16) & 1)) >> 16;
    let nan = (bits >> 16) | 0x0040;
    (if bits & 0x7fff_ffff > 0x7f80_0000 { nan } else { rounded }) as u16
}

/// Converts between two slices of one length, element by element.
macro_rules! slices {
    ($($(#[$doc:meta])* $name:ident: $from:ty => $to:ty, $f:path;)*) => {$(
        $(#[$doc])*
        ///
        /// Converts as many elements as the shorter slice has.
        #[inline(always)]
        pub fn $name(from: &[$from], to: &mut [$to]) {
            for (o, &x) in to.iter_mut().zip(from) {
                *o = $f(x);
            }
        }
    )*};
}

slices! {
    /// [`f16_to_f32`] over a slice.
    f16_to_f32_slice: u16 => f32, f16_to_f32;
    /// [`f32_to_f16`] over a slice.
    f32_to_f16_slice: f32 => u16, f32_to_f16;
    /// [`bf16_to_f32`] over a slice.
    bf16_to_f32_slice: u16 => f32, bf16_to_f32;
    /// [`f32_to_bf16`] over a slice.
    f32_to_bf16_slice: f32 => u16, f32_to_bf16;
}
