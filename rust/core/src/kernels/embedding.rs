//! The gradient of an embedding's rows.

use pulp::{Arch, Simd, WithSimd};

use crate::number::Number;

/// Adds the rows of `grad` to the rows of `out` that the indices name, in the order of the
/// indices, for the columns `[start, end)`.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct EmbeddingBackward<'a, T> {
    pub arch: Arch,
    pub indices: &'a [i64],
    /// The row that takes no gradient.
    pub padding: i64,
    /// A factor a row of `out`, or none.
    pub scale: Option<&'a [T]>,
    pub columns: usize,
    pub grad: *const T,
    pub out: *mut T,
}

// SAFETY: parts write disjoint columns.
unsafe impl<T> Sync for EmbeddingBackward<'_, T> {}

struct Part<'a, T>(EmbeddingBackward<'a, T>, usize, usize);

impl<T: Number> WithSimd for Part<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Part(all, start, end) = self;
        for (i, &row) in all.indices.iter().enumerate() {
            if row == all.padding {
                continue;
            }
            // SAFETY: the maker's promise: rows in range, these columns ours.
            let (from, to) = unsafe {
                (
                    core::slice::from_raw_parts(all.grad.add(i * all.columns + start), end - start),
                    core::slice::from_raw_parts_mut(
                        all.out.add(row as usize * all.columns + start),
                        end - start,
                    ),
                )
            };
            match all.scale {
                None => {
                    for (to, from) in to.iter_mut().zip(from) {
                        *to = to.add(*from);
                    }
                }
                Some(scale) => {
                    let scale = scale[row as usize];
                    for (to, from) in to.iter_mut().zip(from) {
                        *to = to.add(from.mul(scale));
                    }
                }
            }
        }
    }
}

impl<T: Number> EmbeddingBackward<'_, T> {
    /// Runs the columns `[start, end)`.
    ///
    /// # Safety
    /// `grad` has a row an index, `out` covers all indices, and nobody else touches these columns.
    pub unsafe fn run(&self, start: usize, end: usize) {
        self.arch.dispatch(Part(*self, start, end));
    }
}
