//! QR factors.

use faer::dyn_stack::{MemStack, StackReq};
use faer::{MatMut, MatRef};
use wick_core::named_ops;
use wick_dense::Reflections;

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
    let coefficients = matrix_scratch::<T>(T::block(m, n), m.min(n));
    StackReq::all_of(&[matrix_scratch::<T>(m, n), coefficients, T::qr_scratch(m, n, cols)])
}

/// Calls `give` with the factored matrix, R above its diagonal; then writes the columns of Q.
fn factor<T: Float>(
    source: MatRef<'_, T>,
    q: Option<MatMut<'_, T>>,
    stack: &mut MemStack,
    give: impl FnOnce(MatRef<'_, T>),
) {
    let (m, n) = (source.nrows(), source.ncols());
    let (mut qr, rest) = matrix::<T>(stack, m, n);
    let (mut coeff, rest) = matrix::<T>(rest, T::block(m, n), m.min(n));
    copy(qr.as_mut(), source);
    T::qr(qr.as_mut(), coeff.as_mut(), rest);
    give(qr.as_ref());
    if let Some(mut q) = q {
        q.fill(T::ZERO);
        (0..q.ncols()).for_each(|i| q[(i, i)] = T::ONE);
        T::apply_q(Reflections { qr: qr.as_ref(), coefficients: coeff.as_ref() }, q, rest);
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
        let cost = 200.0 + 0.3 * volume([m, n, cols]);
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
