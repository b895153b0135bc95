//! Dense linear algebra: decompositions and what they give, norms, and products of many operands.
//!
//! Decompositions take f32 and f64 in any layout, matrix by matrix over any batch dimensions.

mod batch;
mod cholesky;
mod eigen;
mod lu;
mod qr;
mod svd;

use wick_core::kernels::linalg::Triangular;
use wick_core::named_ops;

pub use qr::QrMode;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::tensor::Tensor;

named_ops! {
    /// Operations on matrices; the comments name the operands, the flags and the results.
    LinalgOp {
        /// A
        Det "linalg_det",
        /// A: sign, logarithm
        Slogdet "linalg_slogdet",
        /// A
        Inv "linalg_inv",
        /// A, B; left
        Solve "linalg_solve",
        /// A: factors, pivots
        LuFactor "linalg_lu_factor",
        /// A: P, L, U
        Lu "linalg_lu",
        /// factors, pivots, B
        LuSolve "linalg_lu_solve",
        /// A; upper
        Cholesky "linalg_cholesky",
        /// factor; upper
        CholeskyInverse "cholesky_inverse",
        /// B, factor; upper
        CholeskySolve "cholesky_solve",
        /// B, A; upper, transposed, unit
        TriangularSolve "triangular_solve",
        /// A, B; upper, left, unit
        SolveTriangular "linalg_solve_triangular",
        /// A; a QrMode: Q, R
        Qr "linalg_qr",
        /// A; full matrices: U, S, Vᵀ
        Svd "linalg_svd",
        /// A
        Svdvals "linalg_svdvals",
        /// A; hermitian; absolute and relative tolerance, NaN for the defaults
        Pinv "linalg_pinv",
        /// A, perhaps tolerances; hermitian; absolute and relative tolerance, NaN for the defaults
        MatrixRank "linalg_matrix_rank",
        /// A; upper: eigenvalues, eigenvectors
        Eigh "linalg_eigh",
        /// A; upper
        Eigvalsh "linalg_eigvalsh",
        /// A: eigenvalues, eigenvectors, each complex
        Eig "linalg_eig",
        /// A
        Eigvals "linalg_eigvals",
    }
}

/// Runs an operation on its operands, with flags and whole numbers `p` and numbers `x`.
pub fn linalg(
    ctx: &Context,
    op: LinalgOp,
    operands: &[&Tensor],
    p: &[i64],
    x: &[f64],
) -> Result<Vec<Tensor>> {
    let name = op.name();
    // A caller that sends too little is ours and wrong.
    let few = || Error::Internal(format!("{name}: too few arguments").into());
    let t = |i: usize| operands.get(i).copied().ok_or_else(few);
    let n = |i: usize| p.get(i).copied().ok_or_else(few);
    let flag = |i: usize| n(i).map(|v| v != 0);
    let v = |i: usize| x.get(i).copied().ok_or_else(few);
    let one = |t: Tensor| Ok(vec![t]);
    match op {
        LinalgOp::Det => one(lu::det(ctx, name, t(0)?)?),
        LinalgOp::Slogdet => {
            let (sign, log) = lu::slogdet(ctx, name, t(0)?)?;
            Ok(vec![sign, log])
        }
        LinalgOp::Inv => one(lu::inverse(ctx, name, t(0)?, None)?),
        LinalgOp::Solve => one(lu::solve(ctx, name, t(0)?, t(1)?, flag(0)?)?),
        LinalgOp::LuFactor => {
            let (factors, pivots) = lu::lu_factor(ctx, name, t(0)?)?;
            Ok(vec![factors, pivots])
        }
        LinalgOp::Lu => Ok(lu::lu(ctx, name, t(0)?)?.into()),
        LinalgOp::LuSolve => one(lu::lu_solve(ctx, name, t(0)?, t(1)?, t(2)?)?),
        LinalgOp::Cholesky => one(cholesky::cholesky(ctx, name, t(0)?, flag(0)?)?),
        LinalgOp::CholeskyInverse => one(cholesky::cholesky_inverse(ctx, name, t(0)?, flag(0)?)?),
        LinalgOp::CholeskySolve => {
            one(cholesky::cholesky_solve(ctx, name, t(0)?, t(1)?, flag(0)?)?)
        }
        LinalgOp::TriangularSolve => {
            let how = Triangular { upper: flag(0)?, transposed: flag(1)?, unit: flag(2)? };
            one(cholesky::triangular_solve(ctx, name, t(1)?, t(0)?, how)?)
        }
        LinalgOp::SolveTriangular => {
            let how = Triangular { upper: flag(0)?, transposed: false, unit: flag(2)? };
            one(cholesky::solve_with_side(ctx, name, (t(0)?, t(1)?), how, flag(1)?)?)
        }
        LinalgOp::Qr => {
            let mode = QrMode::from_code(n(0)? as i32).ok_or_else(few)?;
            let (q, r) = qr::qr(ctx, name, t(0)?, mode)?;
            Ok(vec![q, r])
        }
        LinalgOp::Svd => {
            let (u, s, v) = svd::svd(ctx, name, t(0)?, flag(0)?)?;
            Ok(vec![u, s, v])
        }
        LinalgOp::Svdvals => one(svd::svdvals(ctx, name, t(0)?)?),
        LinalgOp::Pinv => one(svd::pinv(ctx, name, t(0)?, (v(0)?, v(1)?), flag(0)?)?),
        LinalgOp::MatrixRank => {
            let (tol, limits) = (operands.get(1).copied(), (v(0)?, v(1)?));
            one(svd::matrix_rank(ctx, name, t(0)?, tol, limits, flag(0)?)?)
        }
        LinalgOp::Eigh => {
            let (values, vectors) = eigen::eigh(ctx, name, t(0)?, flag(0)?)?;
            Ok(vec![values, vectors])
        }
        LinalgOp::Eigvalsh => one(eigen::eigvalsh(ctx, name, t(0)?, flag(0)?)?),
        LinalgOp::Eig => {
            let (values, vectors) = eigen::eig(ctx, name, t(0)?, true)?;
            Ok(std::iter::once(values).chain(vectors).collect())
        }
        LinalgOp::Eigvals => one(eigen::eig(ctx, name, t(0)?, false)?.0),
    }
}
