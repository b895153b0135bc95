//! Rows of adjacent columns, folded at the CPU's level.

use core::mem::MaybeUninit;
use core::slice;

use pulp::{Arch, Simd, WithSimd};

use super::WIDE;
use super::folds::Fold;

/// Values that are written before they are read.
pub(super) struct Room<T, const N: usize>([MaybeUninit<T>; N]);

impl<T: Copy, const N: usize> Room<T, N> {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Room([const { MaybeUninit::uninit() }; N])
    }

    /// The first `n`, which the caller fills before reading.
    pub(super) fn slice(&mut self, n: usize) -> &mut [T] {
        assert!(n <= N);
        // SAFETY: in bounds; plain numbers, written before they are read.
        unsafe { slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), n) }
    }

    /// The first `n`, all the same.
    #[inline(always)]
    pub(super) fn fill(&mut self, n: usize, value: T) -> &mut [T] {
        let room = &mut self.0[..n];
        for to in room.iter_mut() {
            to.write(value);
        }
        // SAFETY: just written.
        unsafe { slice::from_raw_parts_mut(room.as_mut_ptr().cast(), n) }
    }
}

/// Rows of adjacent columns, one state a column.
struct Slab<'a, F: Fold> {
    fold: F,
    from: *const F::Element,
    stride: isize,
    rows: usize,
    at: i64,
    states: &'a mut [F::State],
}

/// Folds `rows` rows, `stride` elements apart, of `states.len()` columns; `at`: place of the first
/// row among the elements of an output.
///
/// # Safety
/// All those elements can be read.
pub(super) unsafe fn fold_slab<F: Fold>(
    arch: Arch,
    fold: F,
    from: *const F::Element,
    stride: isize,
    rows: usize,
    at: i64,
    states: &mut [F::State],
) {
    arch.dispatch(Slab { fold, from, stride, rows, at, states });
}

impl<F: Fold> WithSimd for Slab<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        // SAFETY: fold_slab's caller vouches for the elements.
        unsafe {
            if size_of::<F::Element>() <= 4 {
                self.go::<64>();
            } else {
                self.go::<32>();
            }
        }
    }
}

/// Columns of the narrower blocks.
const FEW: usize = 8;

impl<F: Fold> Slab<'_, F> {
    /// Rows without gaps are taken several side by side as one, as many as fill a block, then a
    /// narrow block; the rest one by one.
    #[inline(always)]
    unsafe fn go<const W: usize>(mut self) {
        let columns = self.states.len();
        if self.rows <= F::RUN && columns == 1 && self.stride == 1 && self.rows > 0 {
            let mut state = self.fold.start();
            // SAFETY: one column without gaps is a run.
            unsafe { self.fold.run(self.from, self.rows, self.at, &mut state) };
            self.fold.join(&mut self.states[0], state);
            return;
        }
        let dense = self.stride == columns as isize;
        for most in [W, FEW, 1] {
            let k = if dense { (most / columns).max(1) } else { 1 };
            // Whole narrow blocks where there are enough rows.
            let k = if k > FEW { k / FEW * FEW } else { k };
            let rows = self.rows / k;
            if rows == 0 || k == 1 && most > 1 {
                continue;
            }
            let width = k * columns;
            let stride = if k > 1 { width as isize } else { self.stride };
            let mut states = Room::<F::State, WIDE>::new();
            let states = states.fill(width, self.fold.start());
            // SAFETY: rows × k of the slab's rows.
            unsafe { self.columns::<W>(self.from, stride, rows, states) };
            for (j, state) in states.iter_mut().enumerate() {
                self.fold.place(state, k as i64, self.at + (j / columns) as i64);
            }
            let mut left = k;
            while left > 1 {
                let half = left / 2;
                let (low, high) = states.split_at_mut((left - half) * columns);
                for (a, b) in low.iter_mut().zip(&high[..half * columns]) {
                    self.fold.join(a, *b);
                }
                left -= half;
            }
            for (all, state) in self.states.iter_mut().zip(states.iter()) {
                self.fold.join(all, *state);
            }
            let taken = rows * k;
            self.rows -= taken;
            self.at += taken as i64;
            // SAFETY: still inside, or one past the end; nothing follows where k is 1.
            self.from = unsafe { self.from.add(if k > 1 { taken * columns } else { 0 }) };
        }
    }

    /// Rows of any number of columns, into states whose rows count from 0.
    #[inline(always)]
    unsafe fn columns<const W: usize>(
        &self,
        from: *const F::Element,
        stride: isize,
        rows: usize,
        states: &mut [F::State],
    ) {
        let chunk = if states.len() == W { F::ROWS } else { 32 };
        let mut row = 0;
        while row < rows {
            let n = chunk.min(rows - row);
            // SAFETY: rows [row, row + n) of the caller's.
            unsafe {
                let from = from.offset(row as isize * stride);
                let mut c = 0;
                while c + W <= states.len() {
                    let states = &mut states[c..c + W];
                    self.fold.block::<W>(from.add(c), stride, n, row as i64, states);
                    c += W;
                }
                while c + FEW <= states.len() {
                    let states = &mut states[c..c + FEW];
                    self.fold.block::<FEW>(from.add(c), stride, n, row as i64, states);
                    c += FEW;
                }
                while c < states.len() {
                    let states = &mut states[c..c + 1];
                    self.fold.block::<1>(from.add(c), stride, n, row as i64, states);
                    c += 1;
                }
            }
            row += n;
        }
    }
}
