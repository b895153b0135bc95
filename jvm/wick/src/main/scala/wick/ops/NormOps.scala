package wick

import LinalgCalls._

/** Methods of [[STen]]: norms and condition numbers.
  *
  * Norms neither overflow nor vanish on the way: they are right wherever the result is representable.
  */
private[wick] trait NormOps { self: STen =>

  private def vector(ord: Double, dim: Seq[Int], keepDim: Boolean, dtype: Long)(implicit scope: Scope): STen = {
    val from = handle
    val p = (Iterator(if (keepDim) 1L else 0L, dtype) ++ dim.iterator.map(_.toLong)).toArray
    one(LinalgCalls.vectorNorm, Array(from), p, ord)
  }

  private def matrix(kind: Long, ord: Double, dim: Seq[Int], keepDim: Boolean)(implicit scope: Scope): STen = {
    val p = (Iterator(if (keepDim) 1L else 0L, kind) ++ dim.iterator.map(_.toLong)).toArray
    one(LinalgCalls.matrixNorm, Array(handle), p, ord)
  }

  /** (Σ |x|^ord)^(1/ord) of all elements; the infinities: the greatest and least |x|; 0: how many are
    * not 0. libtorch: `linalg_vector_norm`.
    */
  def vectorNorm[S: Sc](ord: Double): STen = vector(ord, Nil, false, -1L)

  /** Norms of the vectors that dimensions hold together; none: of all elements. libtorch:
    * `linalg_vector_norm`.
    */
  def vectorNorm[S: Sc](ord: Double, dim: Seq[Int], keepDim: Boolean): STen = vector(ord, dim, keepDim, -1L)

  /** As the other `vectorNorm`, of the elements in another float type. */
  def vectorNorm[S: Sc](ord: Double, dim: Seq[Int], keepDim: Boolean, dtype: DType): STen =
    vector(ord, dim, keepDim, dtype.number.toLong)

  /** Norms of the matrices of the last two dimensions. libtorch: `linalg_matrix_norm`. */
  def matrixNorm[S: Sc](ord: String): STen = matrixNorm(ord, List(-2, -1), false)

  /** Norms of the matrices of two dimensions: "fro" (the square root of the sum of squares), "nuc" (the
    * sum of the singular values), or a number as of the other `matrixNorm`. libtorch: `linalg_matrix_norm`.
    */
  def matrixNorm[S: Sc](ord: String, dim: Seq[Int], keepDim: Boolean): STen = {
    handle
    val (kind, number) = LinalgCalls.norm("linalg_matrix_norm", self, ord)
    matrix(kind, number, dim, keepDim)
  }

  /** Norms of the matrices of two dimensions: 2 and -2 are the greatest and least singular value; 1
    * and -1 the greatest and least sum of a column's absolute values; the infinities those of the rows.
    * libtorch: `linalg_matrix_norm`.
    */
  def matrixNorm[S: Sc](ord: Double, dim: Seq[Int], keepDim: Boolean): STen = matrix(0L, ord, dim, keepDim)

  /** The Euclidean norm of all elements. libtorch: `linalg_norm`. */
  def norm[S: Sc]: STen = vectorNorm(2.0)

  /** The norm of a matrix, by a word. libtorch: `linalg_norm`. */
  def norm[S: Sc](ord: String): STen = {
    if (dim != 2)
      throw new ShapeException(s"linalg_norm: $dtype $shapeText: expected a matrix for the norm \"$ord\"")
    matrixNorm(ord)
  }

  /** The norm of a vector, or of a matrix. libtorch: `linalg_norm`. */
  def norm[S: Sc](ord: Double): STen = dim match {
    case 1 => vectorNorm(ord)
    case 2 => matrixNorm(ord, List(0, 1), false)
    case _ => throw new ShapeException(s"linalg_norm: $dtype $shapeText: expected a vector or a matrix")
  }

  /** Norms of the vectors of one dimension or the matrices of two. libtorch: `linalg_norm`. */
  def norm[S: Sc](ord: Double, dim: Seq[Int], keepDim: Boolean): STen =
    if (dim.length == 2) matrixNorm(ord, dim, keepDim) else vectorNorm(ord, dim, keepDim)

  /** Condition numbers in the Euclidean norm: the greatest singular value by the least. libtorch:
    * `linalg_cond`.
    */
  def cond[S: Sc]: STen = cond(2.0)

  /** Condition numbers: the norms of matrices times those of their inverses. `norm`: "fro", "nuc",
    * "inf", "-inf", "1", "-1", "2", "-2". libtorch: `linalg_cond`.
    */
  def cond[S: Sc](norm: String): STen = {
    val from = handle
    val (kind, number) = LinalgCalls.norm("linalg_cond", self, norm)
    one(LinalgCalls.cond, Array(from), Array(kind), number)
  }

  /** Condition numbers in a norm of [[matrixNorm]]. libtorch: `linalg_cond`. */
  def cond[S: Sc](norm: Double): STen = one(LinalgCalls.cond, Array(handle), Array(0L), norm)
}
