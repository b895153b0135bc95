//! faer's decompositions for f32 and f64, always on the calling thread.
//!
//! They are long generic functions: standing in a crate of their own they are compiled once, not
//! with each change of the runtime.

use faer::diag::DiagMut;
use faer::dyn_stack::{MemStack, StackReq};
use faer::linalg::cholesky::llt;
use faer::linalg::evd::{self, ComputeEigenvectors};
use faer::linalg::householder;
use faer::linalg::matmul::matmul;
use faer::linalg::qr::{col_pivoting, no_pivoting};
use faer::linalg::svd::{self, ComputeSvdVectors};
use faer::linalg::{triangular_inverse, triangular_solve};
use faer::traits::RealField;
use faer::{Accum, Conj, MatMut, MatRef, Par};

/// An iteration that did not end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoConvergence;

/// Which singular vectors are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Vectors {
    /// None.
    No,
    /// As many as the shorter side has elements.
    Thin,
    /// Square matrices of them.
    Full,
}

impl From<Vectors> for ComputeSvdVectors {
    fn from(v: Vectors) -> ComputeSvdVectors {
        match v {
            Vectors::No => ComputeSvdVectors::No,
            Vectors::Thin => ComputeSvdVectors::Thin,
            Vectors::Full => ComputeSvdVectors::Full,
        }
    }
}

/// A triangular matrix: which triangle, and whether its diagonal counts as ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Triangle {
    pub upper: bool,
    pub unit: bool,
}

/// Columns that Householder reflections are applied in together.
fn block<T: RealField>(m: usize, n: usize) -> usize {
    no_pivoting::factor::recommended_block_size::<T>(m, n)
}

fn eigenvectors(wanted: bool) -> ComputeEigenvectors {
    if wanted { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No }
}

/// QR factors as reflections: the vectors below the diagonal of a matrix, R on and above it, and
/// the reflections' coefficients.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Reflections<'a, T> {
    pub qr: MatRef<'a, T>,
    pub coefficients: MatRef<'a, T>,
}

/// The element types that decompositions are compiled for. Functions that end in `_scratch` say
/// what the function before takes of a stack; matrices are best column-major.
pub trait Dense: RealField {
    /// `to = left * right`, or added to what is there, times a factor.
    fn multiply(to: MatMut<Self>, add: bool, left: MatRef<Self>, right: MatRef<Self>, factor: Self);

    /// Solves a triangular system for the columns of `x`, in its place.
    fn solve_triangular(a: MatRef<Self>, x: MatMut<Self>, how: Triangle);

    /// The inverse of a lower triangle with ones on its diagonal, below the diagonal of `to`.
    fn invert_unit_lower(to: MatMut<Self>, a: MatRef<Self>);

    /// The lower Cholesky factor in the place of the lower triangle, or which pivot is not positive.
    fn cholesky(a: MatMut<Self>, stack: &mut MemStack) -> Result<(), usize>;
    #[allow(missing_docs)]
    fn cholesky_scratch(n: usize) -> StackReq;

    /// The lower triangle of the inverse, from the lower Cholesky factor.
    fn cholesky_inverse(to: MatMut<Self>, factor: MatRef<Self>, stack: &mut MemStack);
    #[allow(missing_docs)]
    fn cholesky_inverse_scratch(n: usize) -> StackReq;

    /// Rows of the coefficients that QR factors of a matrix have.
    fn block(m: usize, n: usize) -> usize;

    /// QR factors in the place of a matrix.
    fn qr(a: MatMut<Self>, coefficients: MatMut<Self>, stack: &mut MemStack);

    /// Reflects the columns of `x`, as Q would.
    fn apply_q(factors: Reflections<Self>, x: MatMut<Self>, stack: &mut MemStack);
    /// What [`Dense::qr`] and [`Dense::apply_q`] for `cols` columns take, one after the other.
    fn qr_scratch(m: usize, n: usize, cols: usize) -> StackReq;

    /// Least squares by QR factors with exchanged columns, in the place of a matrix of at least as
    /// many rows as columns and of the right-hand side, whose first rows become the solution.
    /// Where the least element of R's diagonal is not above `limit` times the first, or a NaN,
    /// nothing is solved: false.
    fn least_squares(
        a: MatMut<Self>,
        coefficients: MatMut<Self>,
        places: (&mut [usize], &mut [usize]),
        x: MatMut<Self>,
        limit: Self,
        stack: &mut MemStack,
    ) -> bool;
    #[allow(missing_docs)]
    fn least_squares_scratch(m: usize, n: usize, k: usize) -> StackReq;

    /// Singular values and vectors of a matrix whose elements are finite.
    fn svd(
        a: MatRef<Self>,
        s: &mut [Self],
        u: Option<MatMut<Self>>,
        v: Option<MatMut<Self>>,
        stack: &mut MemStack,
    ) -> Result<(), NoConvergence>;
    #[allow(missing_docs)]
    fn svd_scratch(m: usize, n: usize, vectors: Vectors) -> StackReq;

    /// Eigenvalues and eigenvectors of a symmetric matrix whose elements are finite, of which the
    /// lower triangle is read.
    fn eigh(
        a: MatRef<Self>,
        s: &mut [Self],
        u: Option<MatMut<Self>>,
        stack: &mut MemStack,
    ) -> Result<(), NoConvergence>;
    #[allow(missing_docs)]
    fn eigh_scratch(n: usize, vectors: bool) -> StackReq;

    /// Eigenvalues and eigenvectors of a square matrix whose elements are finite: real and imaginary
    /// parts; a pair of complex eigenvalues has those of its first vector as two columns.
    fn eig(
        a: MatRef<Self>,
        s: (&mut [Self], &mut [Self]),
        u: Option<MatMut<Self>>,
        stack: &mut MemStack,
    ) -> Result<(), NoConvergence>;
    #[allow(missing_docs)]
    fn eig_scratch(n: usize, vectors: bool) -> StackReq;
}

macro_rules! dense {
    ($($t:ident)*) => {$(
        impl Dense for $t {
            fn multiply(to: MatMut<$t>, add: bool, left: MatRef<$t>, right: MatRef<$t>, factor: $t) {
                let start = if add { Accum::Add } else { Accum::Replace };
                matmul(to, start, left, right, factor, Par::Seq);
            }

            fn solve_triangular(a: MatRef<$t>, x: MatMut<$t>, how: Triangle) {
                use triangular_solve::*;
                match (how.upper, how.unit) {
                    (true, false) => solve_upper_triangular_in_place(a, x, Par::Seq),
                    (true, true) => solve_unit_upper_triangular_in_place(a, x, Par::Seq),
                    (false, false) => solve_lower_triangular_in_place(a, x, Par::Seq),
                    (false, true) => solve_unit_lower_triangular_in_place(a, x, Par::Seq),
                }
            }

            fn invert_unit_lower(to: MatMut<$t>, a: MatRef<$t>) {
                triangular_inverse::invert_unit_lower_triangular(to, a, Par::Seq);
            }

            fn cholesky(a: MatMut<$t>, stack: &mut MemStack) -> Result<(), usize> {
                let (plain, how) = (Default::default(), Default::default());
                match llt::factor::cholesky_in_place(a, plain, Par::Seq, stack, how) {
                    Ok(_) => Ok(()),
                    Err(llt::factor::LltError::NonPositivePivot { index }) => Err(index),
                }
            }

            fn cholesky_scratch(n: usize) -> StackReq {
                llt::factor::cholesky_in_place_scratch::<$t>(n, Par::Seq, Default::default())
            }

            fn cholesky_inverse(to: MatMut<$t>, factor: MatRef<$t>, stack: &mut MemStack) {
                llt::inverse::inverse(to, factor, Par::Seq, stack);
            }

            fn cholesky_inverse_scratch(n: usize) -> StackReq {
                llt::inverse::inverse_scratch::<$t>(n, Par::Seq)
            }

            fn block(m: usize, n: usize) -> usize {
                block::<$t>(m, n)
            }

            fn qr(a: MatMut<$t>, coefficients: MatMut<$t>, stack: &mut MemStack) {
                let how = Default::default();
                no_pivoting::factor::qr_in_place(a, coefficients, Par::Seq, stack, how);
            }

            fn apply_q(factors: Reflections<$t>, x: MatMut<$t>, stack: &mut MemStack) {
                let k = factors.qr.nrows().min(factors.qr.ncols());
                householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
                    factors.qr.subcols(0, k),
                    factors.coefficients,
                    Conj::No,
                    x,
                    Par::Seq,
                    stack,
                );
            }

            fn qr_scratch(m: usize, n: usize, cols: usize) -> StackReq {
                let (block, how) = (block::<$t>(m, n), Default::default());
                no_pivoting::factor::qr_in_place_scratch::<$t>(m, n, block, Par::Seq, how).or(
                    householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<$t>(
                        m, block, cols,
                    ),
                )
            }

            fn least_squares(
                a: MatMut<$t>,
                coefficients: MatMut<$t>,
                places: (&mut [usize], &mut [usize]),
                x: MatMut<$t>,
                limit: $t,
                stack: &mut MemStack,
            ) -> bool {
                let (mut a, mut coefficients) = (a, coefficients);
                let (_, order) = col_pivoting::factor::qr_in_place(
                    a.as_mut(),
                    coefficients.as_mut(),
                    places.0,
                    places.1,
                    Par::Seq,
                    stack,
                    Default::default(),
                );
                let n = a.ncols();
                let first = a[(0, 0)].abs();
                if !(0..n).all(|i| a[(i, i)].abs() > limit * first) {
                    return false;
                }
                col_pivoting::solve::solve_lstsq_in_place(
                    a.as_ref(),
                    coefficients.as_ref(),
                    a.as_ref().subrows(0, n),
                    order,
                    x,
                    Par::Seq,
                    stack,
                );
                true
            }

            fn least_squares_scratch(m: usize, n: usize, k: usize) -> StackReq {
                let (block, par) = (block::<$t>(m, n), Par::Seq);
                let how = Default::default();
                col_pivoting::factor::qr_in_place_scratch::<usize, $t>(m, n, block, par, how).or(
                    col_pivoting::solve::solve_lstsq_in_place_scratch::<usize, $t>(m, n, block, k, par),
                )
            }

            fn svd(
                a: MatRef<$t>,
                s: &mut [$t],
                u: Option<MatMut<$t>>,
                v: Option<MatMut<$t>>,
                stack: &mut MemStack,
            ) -> Result<(), NoConvergence> {
                let s = DiagMut::from_slice_mut(s);
                svd::svd(a, s, u, v, Par::Seq, stack, Default::default()).map_err(|_| NoConvergence)
            }

            fn svd_scratch(m: usize, n: usize, vectors: Vectors) -> StackReq {
                let v = vectors.into();
                svd::svd_scratch::<$t>(m, n, v, v, Par::Seq, Default::default())
            }

            fn eigh(
                a: MatRef<$t>,
                s: &mut [$t],
                u: Option<MatMut<$t>>,
                stack: &mut MemStack,
            ) -> Result<(), NoConvergence> {
                let s = DiagMut::from_slice_mut(s);
                evd::self_adjoint_evd(a, s, u, Par::Seq, stack, Default::default())
                    .map_err(|_| NoConvergence)
            }

            fn eigh_scratch(n: usize, vectors: bool) -> StackReq {
                let wanted = eigenvectors(vectors);
                evd::self_adjoint_evd_scratch::<$t>(n, wanted, Par::Seq, Default::default())
            }

            fn eig(
                a: MatRef<$t>,
                s: (&mut [$t], &mut [$t]),
                u: Option<MatMut<$t>>,
                stack: &mut MemStack,
            ) -> Result<(), NoConvergence> {
                let (re, im) = (DiagMut::from_slice_mut(s.0), DiagMut::from_slice_mut(s.1));
                evd::evd_real(a, re, im, None, u, Par::Seq, stack, Default::default())
                    .map_err(|_| NoConvergence)
            }

            fn eig_scratch(n: usize, vectors: bool) -> StackReq {
                let (no, right) = (ComputeEigenvectors::No, eigenvectors(vectors));
                evd::evd_scratch::<$t>(n, no, right, Par::Seq, Default::default())
            }
        }
    )*};
}
dense! { f32 f64 }
