//! Dense linear algebra: decompositions and what they give, norms, and products of many operands.
//!
//! Decompositions take f32 and f64 in any layout, matrix by matrix over any batch dimensions.

mod batch;
mod cholesky;
mod distance;
mod eigen;
mod einsum;
mod lstsq;
mod lu;
mod norm;
mod products;
mod qr;
mod svd;

use wick_core::kernels::linalg::Triangular;
use wick_core::{DType, named_ops};

pub use einsum::einsum;
pub use lstsq::Driver;
use norm::Dims;
pub use norm::MatrixNorm;
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
        /// A, B; a Driver; the condition's limit, NaN for the default: solution, residuals, ranks,
        /// singular values
        Lstsq "linalg_lstsq",
        /// x; keep, a dtype or -1, dimensions; the exponent
        VectorNorm "linalg_vector_norm",
        /// A; keep, kind (0 the number, 1 fro, 2 nuc), two dimensions; the number
        MatrixNorm "linalg_matrix_norm",
        /// A; kind as of a norm; the number
        Cond "linalg_cond",
        /// A; the power
        MatrixPower "matrix_power",
        /// matrices
        MultiDot "linalg_multi_dot",
        /// a, b; n, n dimensions of a, n of b
        Tensordot "tensordot",
        /// a; how many dimensions are rows
        Tensorinv "linalg_tensorinv",
        /// a, b; dimensions to move behind
        Tensorsolve "linalg_tensorsolve",
        /// a, b
        Kron "kron",
        /// a, b; the dimension
        Cross "cross",
        /// a, b; the exponent
        Cdist "cdist",
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
    let few = || Error::internal(format!("{name}: too few arguments").into());
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
        LinalgOp::Lstsq => {
            let driver = Driver::from_code(n(0)? as i32).ok_or_else(few)?;
            Ok(lstsq::lstsq(ctx, name, t(0)?, t(1)?, v(0)?, driver)?.into())
        }
        LinalgOp::VectorNorm => {
            let dtype = match n(1)? {
                -1 => None,
                code => Some(DType::from_code(code as i32).ok_or_else(few)?),
            };
            let over = Dims { dims: p.get(2..).unwrap_or(&[]), keep: flag(0)? };
            one(norm::vector_norm(ctx, name, t(0)?, v(0)?, over, dtype)?)
        }
        LinalgOp::MatrixNorm => {
            let which = MatrixNorm::of(n(1)?, v(0)?).ok_or_else(few)?;
            let over = Dims { dims: p.get(2..).unwrap_or(&[]), keep: flag(0)? };
            one(norm::matrix_norm(ctx, name, t(0)?, which, over)?)
        }
        LinalgOp::Cond => {
            let which = MatrixNorm::of(n(0)?, v(0)?).ok_or_else(few)?;
            one(norm::cond(ctx, name, t(0)?, which)?)
        }
        LinalgOp::MatrixPower => one(products::matrix_power(ctx, name, t(0)?, n(0)?)?),
        LinalgOp::MultiDot => one(products::multi_dot(ctx, name, operands)?),
        LinalgOp::Tensordot => {
            let count = usize::try_from(n(0)?).map_err(|_| few())?;
            let (x, y) = (p.get(1..1 + count), p.get(1 + count..));
            let dims = (x.ok_or_else(few)?, y.ok_or_else(few)?);
            one(products::tensordot(ctx, name, t(0)?, t(1)?, dims)?)
        }
        LinalgOp::Tensorinv => one(products::tensorinv(ctx, name, t(0)?, n(0)?)?),
        LinalgOp::Tensorsolve => one(products::tensorsolve(ctx, name, t(0)?, t(1)?, p)?),
        LinalgOp::Kron => one(products::kron(ctx, name, t(0)?, t(1)?)?),
        LinalgOp::Cross => one(products::cross(ctx, name, t(0)?, t(1)?, n(0)?)?),
        LinalgOp::Cdist => one(distance::cdist(ctx, name, t(0)?, t(1)?, v(0)?)?),
    }
}
