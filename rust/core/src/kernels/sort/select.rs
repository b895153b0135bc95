//! The least items of a line without sorting it, and what is read off sorted items.

use core::ops::ControlFlow;

use pulp::{Arch, Simd, WithSimd};

use super::items::Item;
use super::key::{Key, Word};
use super::{Line, Order, Range, pack};
use crate::block::BLOCK;

/// Room that [`least`] needs for the `k` least of `n`.
pub fn room(n: usize, k: usize) -> usize {
    if sifted(n, k) { 2 * k + 2 * BLOCK } else { n }
}

/// Whether few are taken of many.
fn sifted(n: usize, k: usize) -> bool {
    n >= 8 * BLOCK && k <= n / 8
}

/// Whether a value's key may be below a bound.
struct AnyBelow<'a, T: Key> {
    values: &'a [T],
    flip: T::Bits,
    bound: T::Bits,
}

impl<T: Key> WithSimd for AnyBelow<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<V: Simd>(self, _: V) -> bool {
        let mut any = false;
        for v in self.values {
            any |= v.key().xor(self.flip) < self.bound;
        }
        any
    }
}

/// Puts the `k` least items of a line, in no order, to the front of `items`, which has [`room`] for
/// them. `order` has no base.
///
/// # Safety
/// The line lies in memory that stays alive.
pub unsafe fn least<T: Key, I: Item>(
    arch: Arch,
    line: &Line,
    order: Order,
    k: usize,
    items: &mut [I],
) {
    let n = line.length as usize;
    if k == 0 {
        return;
    }
    if !sifted(n, k) {
        let items = &mut items[..n];
        // SAFETY: the caller's promise.
        unsafe { pack::<T, I>(arch, line, order, 0, items) };
        if k < n {
            items.select_nth_unstable(k - 1);
        }
        return;
    }
    let flip = T::Bits::narrow(order.flip);
    let mut kept = 0;
    // Equal keys come later in the line: they lose against what is there.
    let mut bound = None;
    // SAFETY: the caller's promise.
    unsafe {
        line.for_blocks::<T>(arch, |at, values| {
            if let Some(bound) = bound {
                if !arch.dispatch(AnyBelow { values, flip, bound }) {
                    return;
                }
                let bound = bound.wide();
                for (i, v) in values.iter().enumerate() {
                    let key = v.key().xor(flip).wide();
                    // Written always, counted where it passes: no branch to mispredict.
                    items[kept] = I::new(key, at as u64 + i as u64);
                    kept += (key < bound) as usize;
                }
            } else {
                for (i, v) in values.iter().enumerate() {
                    items[kept] = I::new(v.key().xor(flip).wide(), at as u64 + i as u64);
                    kept += 1;
                }
            }
            // As many again as are kept, so that choosing costs each item little.
            if kept >= 2 * k + BLOCK {
                let (_, last, _) = items[..kept].select_nth_unstable(k - 1);
                bound = Some(T::Bits::narrow(last.key()));
                kept = k;
            }
        });
    }
    items[..kept].select_nth_unstable(k - 1);
}

/// Steps of a histogram over the range of keys.
pub const STEPS: usize = 1 << 11;

/// How many keys fall into each step.
pub type Histogram = [i64; STEPS];

/// Bits of a key below a step of a range.
pub fn step_shift(range: Range) -> u32 {
    let bits = u64::BITS - range.greatest.saturating_sub(range.least).leading_zeros();
    bits.saturating_sub(STEPS.ilog2())
}

struct StepOf<'a, T> {
    values: &'a [T],
    least: u64,
    shift: u32,
    steps: &'a mut [u16],
}

impl<T: Key> WithSimd for StepOf<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, _: V) {
        let least = T::Bits::narrow(self.least);
        for (step, v) in self.steps.iter_mut().zip(self.values) {
            *step = (v.key().less(least).wide() >> self.shift) as u16 & (STEPS - 1) as u16;
        }
    }
}

/// Counts a line's keys by steps of their range.
///
/// # Safety
/// As [`least`].
pub unsafe fn histogram<T: Key>(arch: Arch, line: &Line, range: Range, counts: &mut Histogram) {
    let shift = step_shift(range);
    let mut buffer = [0u16; BLOCK];
    // SAFETY: the caller's promise.
    unsafe {
        line.for_blocks::<T>(arch, |_, values| {
            let steps = &mut buffer[..values.len()];
            arch.dispatch(StepOf { values, least: range.least, shift, steps });
            for step in &buffer[..values.len()] {
                counts[*step as usize] += 1;
            }
        });
    }
}

/// The items of a line whose keys fall into one step, at most as many as `items` holds; how many.
///
/// # Safety
/// As [`least`].
pub unsafe fn collect<T: Key, I: Item>(
    arch: Arch,
    line: &Line,
    range: Range,
    step: usize,
    items: &mut [I],
) -> usize {
    let shift = step_shift(range);
    let mut buffer = [0u16; BLOCK];
    let mut kept = 0;
    // SAFETY: the caller's promise.
    unsafe {
        line.for_blocks::<T>(arch, |at, values| {
            let steps = &mut buffer[..values.len()];
            arch.dispatch(StepOf { values, least: range.least, shift, steps });
            for (i, v) in values.iter().enumerate() {
                if kept == items.len() {
                    return;
                }
                items[kept] = I::new(v.key().wide(), at as u64 + i as u64);
                kept += (buffer[i] as usize == step) as usize;
            }
        });
    }
    kept
}

/// Calls `f(first, length)` for the runs of equal keys in sorted items, until it says to stop. A NaN
/// is a run of its own.
pub fn runs<T: Key, I: Item>(
    items: &[I],
    order: Order,
    mut f: impl FnMut(usize, usize) -> ControlFlow<()>,
) {
    let mut first = 0;
    for i in 1..=items.len() {
        let ends = i == items.len()
            || items[i].key() != items[first].key()
            || order.is_nan::<T, I>(items[first]);
        if ends {
            if f(first, i - first).is_break() {
                return;
            }
            first = i;
        }
    }
}

/// The last item of the longest run of equal keys; of several the first run.
pub fn mode<T: Key, I: Item>(items: &[I], order: Order) -> I {
    let (mut best, mut longest) = (items[0], 0);
    runs::<T, I>(items, order, |first, length| {
        if length > longest {
            (best, longest) = (items[first + length - 1], length);
        }
        if items.len() - first - length <= longest {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    best
}
