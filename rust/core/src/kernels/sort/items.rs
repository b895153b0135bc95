//! Items: a key above a place, in one number.

/// A key and a place; items compare by key, then by place.
pub trait Item: Copy + Ord + Send + Sync + 'static {
    /// Bits of a key, and of a place.
    const HALF: u32;
    /// Of a key and a place that fit.
    fn new(key: u64, place: u64) -> Self;
    /// Its key.
    fn key(self) -> u64;
    /// Its place.
    fn place(self) -> u64;
    /// Bits of the key from `shift` on.
    fn digit(self, shift: u32, mask: usize) -> usize;
}

impl Item for u64 {
    const HALF: u32 = 32;
    #[inline(always)]
    fn new(key: u64, place: u64) -> u64 {
        key << 32 | place
    }
    #[inline(always)]
    fn key(self) -> u64 {
        self >> 32
    }
    #[inline(always)]
    fn place(self) -> u64 {
        self & 0xFFFF_FFFF
    }
    #[inline(always)]
    fn digit(self, shift: u32, mask: usize) -> usize {
        (self >> (32 + shift)) as usize & mask
    }
}

impl Item for u128 {
    const HALF: u32 = 64;
    #[inline(always)]
    fn new(key: u64, place: u64) -> u128 {
        (key as u128) << 64 | place as u128
    }
    #[inline(always)]
    fn key(self) -> u64 {
        (self >> 64) as u64
    }
    #[inline(always)]
    fn place(self) -> u64 {
        self as u64
    }
    #[inline(always)]
    fn digit(self, shift: u32, mask: usize) -> usize {
        (self >> 64 >> shift) as usize & mask
    }
}
