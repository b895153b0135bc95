//! Sorting items digit by digit, from the lowest.

use pulp::{Arch, Simd, WithSimd};

use super::items::Item;

/// The most values of a digit.
pub const MAX_BUCKETS: usize = 1 << 11;

/// Counts of a digit's values, then where each value's items go next.
pub type Counts = [usize; MAX_BUCKETS];

/// The digits of keys.
#[derive(Clone, Copy, Debug)]
pub struct Digits {
    bits: u32,
    width: u32,
}

impl Digits {
    /// For `n` keys of `bits` bits: wide digits take fewer passes, but pay for long lines only.
    pub fn new(bits: u32, n: usize) -> Digits {
        let widest = if n < 1 << 13 { 8 } else { MAX_BUCKETS.ilog2() };
        let passes = bits.div_ceil(widest).max(1);
        Digits { bits, width: bits.div_ceil(passes) }
    }

    /// The bit each digit begins at.
    pub fn shifts(self) -> impl Iterator<Item = u32> {
        (0..self.bits).step_by(self.width as usize)
    }

    /// How many digits.
    pub fn passes(self) -> usize {
        self.bits.div_ceil(self.width) as usize
    }

    /// How many values a digit has.
    pub fn buckets(self) -> usize {
        1 << self.width
    }
}

/// Counts the values of a digit.
pub fn count<I: Item>(items: &[I], digits: Digits, shift: u32, counts: &mut Counts) {
    let mask = digits.buckets() - 1;
    counts[..=mask].fill(0);
    for item in items {
        counts[item.digit(shift, mask)] += 1;
    }
}

/// Turns the counts of consecutive parts into where their items go. Whether one value has all items,
/// so that they need not move.
pub fn places(parts: &mut [Counts], digits: Digits) -> bool {
    let (mut at, mut used) = (0, 0);
    for value in 0..digits.buckets() {
        let before = at;
        for counts in parts.iter_mut() {
            at += core::mem::replace(&mut counts[value], at);
        }
        used += (at > before) as usize;
    }
    used < 2
}

/// Moves a part's items to where their digits' values go.
///
/// # Safety
/// The counts are this part's places, made from these very items, and `to` has room for all items of
/// all parts; nobody else writes at these places.
pub unsafe fn deal<I: Item>(
    items: &[I],
    digits: Digits,
    shift: u32,
    counts: &mut Counts,
    to: *mut I,
) {
    let mask = digits.buckets() - 1;
    for item in items {
        let place = &mut counts[item.digit(shift, mask)];
        // SAFETY: the caller's promise.
        unsafe { to.add(*place).write(*item) };
        *place += 1;
    }
}

/// Lines shorter than this are sorted by comparison.
fn short(digits: Digits) -> usize {
    160 * digits.passes()
}

/// Lines up to this length are sorted by counting, for each item, those before it.
const TINY: usize = 32;
const LANES: usize = 8;

struct ByRank<'a, I> {
    items: &'a [I],
    to: &'a mut [I],
}

impl<I: Item> WithSimd for ByRank<'_, I> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, _: V) {
        let ByRank { items, to } = self;
        for lanes in items.chunks(LANES) {
            let mine: [I; LANES] = core::array::from_fn(|k| lanes[k.min(lanes.len() - 1)]);
            let mut before = [0u64; LANES];
            for item in items {
                for (before, mine) in before.iter_mut().zip(&mine) {
                    *before += u64::from(item < mine);
                }
            }
            for (item, before) in lanes.iter().zip(before) {
                to[before as usize] = *item;
            }
        }
    }
}

/// Sorts items, which come in the order of their places, by their keys of `bits` bits; whether they
/// end up in `spare`, which is as long.
pub fn sort<I: Item>(arch: Arch, items: &mut [I], spare: &mut [I], bits: u32) -> bool {
    let n = items.len();
    assert!(spare.len() >= n);
    if n <= TINY {
        arch.dispatch(ByRank { items, to: &mut spare[..n] });
        return true;
    }
    let digits = Digits::new(bits, n);
    if n < short(digits) {
        items.sort_unstable();
        return false;
    }
    let mut parts = [[0; MAX_BUCKETS]];
    let (mut from, mut to) = (items, spare);
    let mut moved = false;
    for shift in digits.shifts() {
        count(from, digits, shift, &mut parts[0]);
        if places(&mut parts, digits) {
            continue;
        }
        // SAFETY: the counts were made of the same items just now; `to` is as long.
        unsafe { deal(from, digits, shift, &mut parts[0], to.as_mut_ptr()) };
        core::mem::swap(&mut from, &mut to);
        moved = !moved;
    }
    moved
}
