//! The least and the greatest, and where they are.

use core::marker::PhantomData;

use crate::dtype::Element;
use crate::number::Number;

use super::{Fold, each, row};

/// Whether `x` takes the place of `best`: it is better, or the first NaN.
#[inline(always)]
fn beats<T: Number, const MAX: bool>(x: T, best: T) -> bool {
    let better = if MAX { x > best } else { x < best };
    (better | x.is_nan()) & !best.is_nan()
}

/// Independent chains of a search.
const LANES: usize = 64;

/// The best of some elements.
#[inline(always)]
fn best_of<T: Number, const MAX: bool>(x: &[T]) -> T {
    let mut best = x[0];
    let mut blocks = x.chunks_exact(LANES);
    if x.len() >= LANES {
        let mut lanes = [best; LANES];
        for x in &mut blocks {
            for i in 0..LANES {
                lanes[i] = if beats::<T, MAX>(x[i], lanes[i]) { x[i] } else { lanes[i] };
            }
        }
        for half in [32, 16, 8, 4, 2, 1] {
            for i in 0..half {
                if beats::<T, MAX>(lanes[i + half], lanes[i]) {
                    lanes[i] = lanes[i + half];
                }
            }
        }
        best = lanes[0];
    }
    for x in blocks.remainder() {
        best = if beats::<T, MAX>(*x, best) { *x } else { best };
    }
    best
}

/// Least and greatest elements; a NaN is both.
#[derive(Clone, Copy)]
pub struct Extreme<T, const MAX: bool>(PhantomData<T>);

impl<T, const MAX: bool> Extreme<T, MAX> {
    /// Greatest where `MAX`, else least.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Extreme(PhantomData)
    }
}

impl<T: Number + Element, const MAX: bool> Fold for Extreme<T, MAX> {
    type Element = T;
    type State = T;
    type First = T;
    type Second = i64;
    const ROWS: usize = 4096;

    #[inline(always)]
    fn start(self) -> T {
        if MAX { T::LOWEST } else { T::HIGHEST }
    }

    #[inline(always)]
    unsafe fn block<const W: usize>(
        self,
        from: *const T,
        stride: isize,
        rows: usize,
        _: i64,
        states: &mut [T],
    ) {
        let mut best: [T; W] = each!(W, i => states[i]);
        for r in 0..rows {
            // SAFETY: rows below `rows` can be read.
            let x: [T; W] = unsafe { row(from, stride, r) };
            for i in 0..W {
                best[i] = if beats::<T, MAX>(x[i], best[i]) { x[i] } else { best[i] };
            }
        }
        states[..W].copy_from_slice(&best);
    }

    #[inline(always)]
    fn join(self, all: &mut T, other: T) {
        if beats::<T, MAX>(other, *all) {
            *all = other;
        }
    }

    #[inline(always)]
    fn finish(self, state: &T, _: i64) -> (T, i64) {
        (*state, 0)
    }
}

/// The first of the best elements and where it is; the first NaN is best of all.
#[derive(Clone, Copy)]
pub struct ArgExtreme<T, const MAX: bool>(PhantomData<T>);

impl<T, const MAX: bool> ArgExtreme<T, MAX> {
    /// Greatest where `MAX`, else least.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        ArgExtreme(PhantomData)
    }
}

/// An element and its place; a negative place: none yet.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Found<T> {
    pub best: T,
    pub place: i64,
}

impl<T: Number + Element, const MAX: bool> Fold for ArgExtreme<T, MAX> {
    type Element = T;
    type State = Found<T>;
    type First = T;
    type Second = i64;
    const ROWS: usize = 4096;

    #[inline(always)]
    fn start(self) -> Found<T> {
        Found { best: T::ZERO, place: -1 }
    }

    #[inline(always)]
    unsafe fn block<const W: usize>(
        self,
        from: *const T,
        stride: isize,
        rows: usize,
        first: i64,
        states: &mut [Found<T>],
    ) {
        // SAFETY: rows below `rows` can be read.
        unsafe {
            let mut best: [T; W] = row(from, stride, 0);
            let mut place = [0i32; W];
            for r in 1..rows {
                let x: [T; W] = row(from, stride, r);
                for i in 0..W {
                    let take = beats::<T, MAX>(x[i], best[i]);
                    best[i] = if take { x[i] } else { best[i] };
                    place[i] = if take { r as i32 } else { place[i] };
                }
            }
            for (i, state) in states[..W].iter_mut().enumerate() {
                let place = first + place[i] as i64;
                self.join(state, Found { best: best[i], place });
            }
        }
    }

    const RUN: usize = 4096;

    #[inline(always)]
    unsafe fn run(self, from: *const T, n: usize, at: i64, state: &mut Found<T>) {
        // SAFETY: the caller's elements.
        let all = unsafe { core::slice::from_raw_parts(from, n) };
        let best = best_of::<T, MAX>(all);
        let is_it = |x: T| (x == best) | (x.is_nan() & best.is_nan());
        // Whole blocks are compared first: their answers need no branch an element.
        let mut start = 0;
        for block in all.chunks(LANES) {
            let mut any = false;
            for x in block {
                any |= is_it(*x);
            }
            if any {
                break;
            }
            start += LANES;
        }
        while start < n - 1 && !is_it(all[start]) {
            start += 1;
        }
        let place = at + start as i64;
        self.join(state, Found { best, place });
    }

    #[inline(always)]
    fn join(self, all: &mut Found<T>, other: Found<T>) {
        // Without branches: places in a tree of lanes are as good as random.
        let tie = (other.best == all.best) | (other.best.is_nan() & all.best.is_nan());
        let take = (other.place >= 0)
            & ((all.place < 0)
                | beats::<T, MAX>(other.best, all.best)
                | (tie & (other.place < all.place)));
        all.best = if take { other.best } else { all.best };
        all.place = if take { other.place } else { all.place };
    }

    #[inline(always)]
    fn place(self, state: &mut Found<T>, step: i64, first: i64) {
        if state.place >= 0 {
            state.place = state.place * step + first;
        }
    }

    #[inline(always)]
    fn finish(self, state: &Found<T>, _: i64) -> (T, i64) {
        (state.best, state.place)
    }
}
