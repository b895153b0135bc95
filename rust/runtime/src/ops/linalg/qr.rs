//! QR factors.

use faer::dyn_stack::{MemStack, StackReq};
use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_scratch as apply_scratch,
    apply_block_householder_sequence_on_the_left_in_place_with_conj as apply,
};
use faer::linalg::qr::no_pivoting::factor::{
    qr_in_place, qr_in_place_scratch, recommended_block_size,
};
use faer::{Conj, MatMut, MatRef, Par};
use wick_core::named_ops;

use super::batch::*;
use crate::context::Context;
use crate::error::Result;
use crate::tensor::Tensor;

named_ops! {
    /// What QR factors are wanted.
    QrMode {
        /// As many columns of Q as the shorter side has elements.
        Reduced "reduced",
        /// A square Q.
        Complete "complete",
        /// R alone.
        R "r",
    }
}

fn factor_scratch<T: Float>(m: usize, n: usize, cols: usize) -> StackReq {
    let (k, block) = (m.min(n), recommended_block_size::<T>(m, n));
    let inner = qr_in_place_scratch::<T>(m, n, block, Par::Seq, Default::default());
    let outer = apply_scratch::<T>(m, block, cols);
    StackReq::all_of(&[matrix_scratch::<T>(m, n), matrix_scratch::<T>(block, k), inner.or(outer)])
}

/// Calls `give` with the factored matrix, R above its diagonal; then writes the columns of Q.
fn factor<T: Float>(
    source: MatRef<'_, T>,
    q: Option<MatMut<'_, T>>,
    stack: &mut MemStack,
    give: impl FnOnce(MatRef<'_, T>),
) {
    let (m, n) = (source.nrows(), source.ncols());
    let (k, block) = (m.min(n), recommended_block_size::<T>(m, n));
    let (mut qr, rest) = matrix::<T>(stack, m, n);
    let (mut coeff, rest) = matrix::<T>(rest, block, k);
    copy(qr.as_mut(), source);
    qr_in_place(qr.as_mut(), coeff.as_mut(), Par::Seq, rest, Default::default());
    give(qr.as_ref());
    if let Some(mut q) = q {
        q.fill(T::ZERO);
        (0..q.ncols()).for_each(|i| q[(i, i)] = T::ONE);
        let basis = qr.as_ref().subcols(0, k);
        apply(basis, coeff.as_ref(), Conj::No, q, Par::Seq, rest);
    }
}

/// Q, unless `mode` wants none, and R with A = Q R.
pub(super) fn qr(
    ctx: &Context,
    op: &'static str,
    a: &Tensor,
    mode: QrMode,
) -> Result<(Tensor, Tensor)> {
    let dtype = check_float(op, &[a])?;
    let (m, n) = check_matrix(op, a)?;
    let k = m.min(n);
    let cols = if mode == QrMode::Complete { m } else { k };
    let shape = batch_shape(a);
    let q = match mode {
        QrMode::R => Tensor::empty(ctx, op, dtype, &[0])?,
        _ => matrices(ctx, op, dtype, shape, (m, cols))?,
    };
    let r = matrices(ctx, op, dtype, shape, (cols, n))?;
    with_float!(dtype, T => {
        let (from, to) = (Mats::<T>::of(a), Mats::<T>::of(&r));
        let basis = (mode != QrMode::R).then(|| Mats::<T>::of(&q));
        let batch = Batch::new(&[a]);
        let cost = 200.0 + 0.3 * (m * n) as f64 * cols as f64;
        batch.each(ctx, (op, &[a]), cost, factor_scratch::<T>(m, n, cols), &|i, stack| {
            // SAFETY: an operand's and the results' matrices.
            let (source, mut r) = unsafe { (from.at(batch.offset(0, i)), to.result(i)) };
            // SAFETY: as above.
            let mut q = basis.map(|q| unsafe { q.result(i) });
            if k == 0 {
                if let Some(q) = &mut q {
                    q.fill(0.0);
                    (0..cols).for_each(|i| q[(i, i)] = 1.0);
                }
                r.fill(0.0);
                return Ok(());
            }
            factor(source, q, stack, |qr| {
                for j in 0..n {
                    let kept = (j + 1).min(k);
                    copy(r.as_mut().submatrix_mut(0, j, kept, 1), qr.submatrix(0, j, kept, 1));
                    r.as_mut().submatrix_mut(kept, j, cols - kept, 1).fill(0.0);
                }
            });
            Ok(())
        })?;
    });
    Ok((q, r))
}
