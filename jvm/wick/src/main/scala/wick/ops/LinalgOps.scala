package wick

import LinalgCalls._

/** Methods of [[STen]]: decompositions, systems, contractions.
  *
  * Matrices are the last two dimensions, any dimensions before them a batch. Decompositions take f32
  * and f64 in any layout; the matrices of their results lie column by column, as libtorch's do, and
  * have the same bits whatever the number of threads. A matrix that will not do (singular, not
  * positive-definite, not finite) is a [[LinalgException]] that says which of the batch it is.
  */
private[wick] trait LinalgOps { self: STen =>

  /** Determinants. libtorch: `linalg_det`. */
  def det[S: Sc]: STen = one(LinalgCalls.det, Array(handle))

  /** Signs of determinants, and logarithms of their absolute values. libtorch: `linalg_slogdet`. */
  def slogdet[S: Sc]: (STen, STen) = two(LinalgCalls.slogdet, self)

  /** Logarithms of determinants: NaN where they are negative. libtorch: `logdet`. */
  def logdet[S: Sc]: STen = {
    val (sign, log) = slogdet
    try {
      val turned = sign.log
      try log + turned
      finally turned.close()
    } finally {
      sign.close()
      log.close()
    }
  }

  /** Inverses. libtorch: `linalg_inv`. */
  def inv[S: Sc]: STen = one(LinalgCalls.inv, Array(handle))

  /** X with `this X = other`, where `other` holds vectors or matrices; batches broadcast. libtorch:
    * `linalg_solve`.
    */
  def solve[S: Sc](other: STen): STen = solve(other, left = true)

  /** X with `this X = other`, or with `X this = other`. libtorch: `linalg_solve`. */
  def solve[S: Sc](other: STen, left: Boolean): STen =
    one(LinalgCalls.solve, Array(handle, other.handle), flags(left))

  /** X with `this X = b`, or with `X this = b`, for a triangular tensor, of which the other triangle
    * does not count; `uniTriangular`: nor does the diagonal, it is 1. libtorch: `linalg_solve_triangular`.
    */
  def solveTriangular[S: Sc](
      b: STen,
      upper: Boolean,
      left: Boolean = true,
      uniTriangular: Boolean = false
  ): STen =
    one(LinalgCalls.solveTriangular, Array(handle, b.handle), flags(upper, left, uniTriangular))

  /** LU factors in one matrix, and the row (from 1) that each row was exchanged with. libtorch:
    * `linalg_lu_factor`.
    */
  def luFactor[S: Sc]: (STen, STen) = two(LinalgCalls.luFactor, self)

  /** P, L and U with `this = P L U`. libtorch: `linalg_lu`. */
  def lu[S: Sc]: (STen, STen, STen) = three(LinalgCalls.lu, self)

  /** X with `A X = b`, this being the factors of A from `luFactor`. libtorch: `linalg_lu_solve`. */
  def luSolve[S: Sc](pivots: STen, b: STen): STen =
    one(LinalgCalls.luSolve, Array(handle, pivots.handle, b.handle))

  /** Lower Cholesky factors. libtorch: `linalg_cholesky`. */
  def choleskyLower[S: Sc]: STen = cholesky(false)

  /** Cholesky factors L with `this = L Lᵀ`, or upper ones U with `this = Uᵀ U`; only that triangle of
    * this tensor is read. libtorch: `linalg_cholesky`.
    */
  def cholesky[S: Sc](upper: Boolean): STen =
    one(LinalgCalls.cholesky, Array(handle), flags(upper))

  /** The inverses of the matrices that this tensor holds the Cholesky factors of. libtorch:
    * `cholesky_inverse`.
    */
  def choleskyInverse[S: Sc](upper: Boolean): STen =
    one(LinalgCalls.choleskyInverse, Array(handle), flags(upper))

  /** X with `A X = this` for the A of a Cholesky factor. libtorch: `cholesky_solve`. */
  def choleskySolve[S: Sc](choleskyFactor: STen, upper: Boolean): STen =
    one(LinalgCalls.choleskySolve, Array(handle, choleskyFactor.handle), flags(upper))

  /** Q with orthonormal columns and an upper triangular R, `this = Q R`. `mode`: "reduced", "complete"
    * (Q is square), "r" (Q is empty). libtorch: `linalg_qr`.
    */
  def qr[S: Sc](mode: String): (STen, STen) = {
    handle
    two(LinalgCalls.qr, self, Array(place("qr", self, mode, modes)))
  }

  /** U, S and Vᵀ with `this = U diag(S) Vᵀ`: singular values in falling order, and singular vectors,
    * with `fullMatrices` as many as there are rows and columns. libtorch: `linalg_svd`.
    */
  def svd[S: Sc](fullMatrices: Boolean = false): (STen, STen, STen) =
    three(LinalgCalls.svd, self, flags(fullMatrices))

  /** Singular values in falling order. libtorch: `linalg_svdvals`. */
  def svdvals[S: Sc]: STen = one(LinalgCalls.svdvals, Array(handle))

  /** Eigenvalues in rising order, and eigenvectors as columns, of symmetric matrices, of which the
    * lower ("L") or upper ("U") triangle is read. libtorch: `linalg_eigh`.
    */
  def eigh[S: Sc](uplo: String): (STen, STen) = {
    handle
    two(LinalgCalls.eigh, self, flags(isUpper("eigh", self, uplo)))
  }

  /** Eigenvalues as of [[eigh]]. libtorch: `linalg_eigvalsh`. */
  def eigvalsh[S: Sc](uplo: String): STen = {
    val from = handle
    one(LinalgCalls.eigvalsh, Array(from), flags(isUpper("eigvalsh", self, uplo)))
  }

  /** Eigenvalues and eigenvectors (columns of length 1) of any square matrices: complex numbers, whose
    * real and imaginary parts lie along a last dimension of size 2. libtorch: `view_as_real` of
    * `linalg_eig`.
    */
  def eig[S: Sc]: (STen, STen) = two(LinalgCalls.eig, self)

  /** Eigenvalues as of [[eig]]. libtorch: `view_as_real` of `linalg_eigvals`. */
  def eigvals[S: Sc]: STen = one(LinalgCalls.eigvals, Array(handle))

  /** Pseudoinverses; singular values up to 1e-15 times the greatest count as 0. `hermitian`: the
    * matrices are symmetric, and eigenvalues serve. libtorch: `linalg_pinv`.
    */
  def pinv[S: Sc](hermitian: Boolean): STen = pinv(0.0, 1e-15, hermitian)

  /** Pseudoinverses; singular values up to the greater of `atol` and `rtol` times the greatest count
    * as 0. libtorch: `linalg_pinv`.
    */
  def pinv[S: Sc](atol: Double, rtol: Double, hermitian: Boolean): STen =
    one(LinalgCalls.pinv, Array(handle), flags(hermitian), atol, rtol)

  /** Pseudoinverses; singular values up to `rcond` times the greatest count as 0. libtorch: `pinverse`. */
  def pinverse[S: Sc](rcond: Double): STen = pinv(0.0, rcond, false)

  /** Ranks: how many singular values are above the rounding of the greatest; `hermitian`: eigenvalues
    * of symmetric matrices. libtorch: `linalg_matrix_rank`.
    */
  def matrixRank[S: Sc](hermitian: Boolean): STen = matrixRank(Double.NaN, Double.NaN, hermitian)

  /** Ranks: how many singular values are above `tol`, one a matrix or what broadcasts to that.
    * libtorch: `linalg_matrix_rank`.
    */
  def matrixRank[S: Sc](tol: STen, symmetric: Boolean): STen =
    one(LinalgCalls.matrixRank, Array(handle, tol.handle), flags(symmetric))

  /** Ranks: how many singular values are above the greater of `atol` and `rtol` times the greatest;
    * NaN stands for the defaults. libtorch: `linalg_matrix_rank`.
    */
  def matrixRank[S: Sc](atol: Double, rtol: Double, hermitian: Boolean): STen =
    one(LinalgCalls.matrixRank, Array(handle), flags(hermitian), atol, rtol)

  /** Square matrices to a whole power: of the inverse where it is negative. libtorch: `matrix_power`. */
  def matrixPower[S: Sc](n: Int): STen =
    one(LinalgCalls.matrixPower, Array(handle), Array(n.toLong))

  /** Sums of products over pairs of dimensions, `dims` of this tensor and `dimsOther` of the other.
    * libtorch: `tensordot`.
    */
  def tensordot[S: Sc](other: STen, dims: List[Int], dimsOther: List[Int]): STen = {
    val operands = Array(handle, other.handle)
    if (dims.length != dimsOther.length)
      throw new ShapeException(
        s"tensordot: $dtype $shapeText and ${other.dtype} ${other.shapeText}: " +
          s"${dims.length} dimensions of the first, ${dimsOther.length} of the second"
      )
    val all = dims.length :: dims ::: dimsOther
    one(LinalgCalls.tensordot, operands, all.iterator.map(_.toLong).toArray)
  }

  /** What undoes `this.tensordot(_, …)`, this being a matrix whose rows are the first `int` dimensions.
    * libtorch: `linalg_tensorinv`.
    */
  def tensorinv[S: Sc](int: Int): STen =
    one(LinalgCalls.tensorinv, Array(handle), Array(int.toLong))

  /** X with `this.tensordot(X, …) = other`, over all dimensions of X. libtorch: `linalg_tensorsolve`. */
  def tensorsolve[S: Sc](other: STen): STen = one(LinalgCalls.tensorsolve, Array(handle, other.handle))

  /** As the other `tensorsolve`, with dimensions of this tensor moved behind the others first. */
  def tensorsolve[S: Sc](other: STen, dims: Seq[Int]): STen =
    one(LinalgCalls.tensorsolve, Array(handle, other.handle), dims.iterator.map(_.toLong).toArray)

  /** Cross products along a dimension of size 3. libtorch: `linalg_cross`. */
  def cross[S: Sc](other: STen, dim: Int): STen =
    one(LinalgCalls.cross, Array(handle, other.handle), Array(dim.toLong))

  /** The Kronecker product: each element of this tensor times all of the other. libtorch: `kron`. */
  def kron[S: Sc](other: STen): STen = one(LinalgCalls.kron, Array(handle, other.handle))

  /** Distances between all points of this tensor and of another, a point a row: the norms of exponent
    * `p` (0 counts the coordinates that differ) of their differences. libtorch: `cdist`.
    */
  def cdist[S: Sc](other: STen, p: Double = 2.0): STen =
    one(LinalgCalls.cdist, Array(handle, other.handle), Array.emptyLongArray, p)
}
