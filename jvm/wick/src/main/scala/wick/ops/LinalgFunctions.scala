package wick

import LinalgCalls._

/** Functions of the [[STen]] companion: linear algebra. */
private[wick] trait LinalgFunctions {

  /** X with `A X = b`, or `Aᵀ X = b`, for a triangular A, of which the other triangle does not count;
    * `uniTriangular`: nor does the diagonal, it is 1. libtorch: `triangular_solve`.
    */
  def triangularSolve[S: Sc](
      b: STen,
      A: STen,
      upper: Boolean,
      transpose: Boolean,
      uniTriangular: Boolean
  ): STen =
    one(LinalgCalls.triangularSolve, Array(b.handle, A.handle), flags(upper, transpose, uniTriangular))

  /** X with the least `|A X - B|`, and of those the shortest; then residuals (empty), ranks, singular
    * values (empty). libtorch: `linalg_lstsq` with the driver `gelsy`.
    */
  def lstsq[S: Sc](A: STen, B: STen): (STen, STen, STen, STen) = lstsq(A, B, Double.NaN, "gelsy")

  /** Least squares: solution, residuals, ranks, singular values. Singular values up to `rcond` times
    * the greatest count as 0 (NaN: the rounding of the element type). `driver`: "gelsy" gives solution
    * and ranks; "gels" solution and residuals, and throws where a matrix does not have full rank;
    * "gelsd" and "gelss" give everything, residuals where all matrices have more rows than columns and
    * full rank. What is not given is empty. libtorch: `linalg_lstsq`.
    */
  def lstsq[S: Sc](A: STen, B: STen, rcond: Double, driver: String): (STen, STen, STen, STen) = {
    val operands = Array(A.handle, B.handle)
    val all = many(4, LinalgCalls.lstsq, operands, Array(place("lstsq", A, driver, drivers)), rcond)
    (all(0), all(1), all(2), all(3))
  }

  /** Einstein's summation: letters name the operands' dimensions, `...` all others, and dimensions
    * whose letter the result does not have are summed: `"bij,bjk->bik"` are matrix products, `"ii"` is a
    * trace. Without `->` the result has the letters that appear once, in alphabetical order. A result
    * that only rearranges its one operand is a view of it. libtorch: `einsum`.
    */
  def einsum[S: Sc](equation: String, operands: STen*): STen = {
    if (equation == null) throw new IllegalArgumentException("einsum: the equation is null")
    val raw = Native.einsum(equation, operands.iterator.map(_.handle).toArray)
    operands.headOption.fold(STen.own(raw))(a => STen.own(raw, a))
  }

  /** The product of matrices in the order of the fewest multiplications; the first and the last may be
    * vectors. libtorch: `linalg_multi_dot`.
    */
  def multiDot[S: Sc](tensors: Seq[STen]): STen =
    one(LinalgCalls.multiDot, tensors.iterator.map(_.handle).toArray)

  /** The same as [[multiDot]]. libtorch: `chain_matmul`. */
  def chainMatmul[S: Sc](tensors: STen*): STen = multiDot(tensors)
}
