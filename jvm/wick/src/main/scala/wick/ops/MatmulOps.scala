package wick

import MatmulCalls._

/** Methods of [[STen]]: matrix products.
  *
  * Both operands have one dtype, any but bool, which the result keeps: integers wrap, f16 and bf16
  * sum in f32 and round once. Transposed and expanded operands cost no copy, and the result has the
  * same bits whatever the number of threads.
  *
  * In the sums with a product, `beta` 0 means that the values of this tensor do not count, not even
  * a NaN. The factors of integers must be whole numbers.
  */
private[wick] trait MatmulOps { self: STen =>

  /** Product of two matrices. libtorch: `mm`. */
  def mm[S: Sc](other: STen): STen = times(MatmulCalls.mm, self, other)

  /** Products of two batches of matrices, `[b, m, k]` and `[b, k, n]`. libtorch: `bmm`. */
  def bmm[S: Sc](other: STen): STen = times(MatmulCalls.bmm, self, other)

  /** Product of vectors, matrices or batches of matrices, as NumPy's `@`: dimensions before the last
    * two broadcast, and a vector stands for a row on the left and for a column on the right.
    * libtorch: `matmul`.
    */
  def matmul[S: Sc](other: STen): STen = times(MatmulCalls.matmul, self, other)

  /** Product of this matrix and a vector. libtorch: `mv`. */
  def mv[S: Sc](vec: STen): STen = times(MatmulCalls.mv, self, vec)

  /** Scalar product of two vectors. libtorch: `dot`. */
  def dot[S: Sc](other: STen): STen = times(MatmulCalls.dot, self, other)

  /** Sums of products over the last dimensions of both, whose sizes must be equal; where one has no
    * dimensions, the product. libtorch: `inner`.
    */
  def inner[S: Sc](other: STen): STen = times(MatmulCalls.inner, self, other)

  /** Each element of this vector times each of the other; dtypes promote. libtorch: `outer`. */
  def outer[S: Sc](other: STen): STen = times(MatmulCalls.outer, self, other)

  /** `beta * this + alpha * mat1 mat2`; this tensor broadcasts to the product. libtorch: `addmm`. */
  def addmm[S: Sc](mat1: STen, mat2: STen, beta: Double, alpha: Double): STen =
    plusTimes(MatmulCalls.addmm, self, mat1, mat2, beta, alpha)

  /** `beta * this + alpha * mat1 mat2`, written into this tensor. libtorch: `addmm_`. */
  def addmm_(mat1: STen, mat2: STen, beta: Double, alpha: Double): Unit =
    plusTimesInto(MatmulCalls.addmm, self, mat1, mat2, beta, alpha, self)

  /** `beta * this + alpha * batch1 batch2`, matrix by matrix; this tensor broadcasts to the products.
    * libtorch: `baddbmm`.
    */
  def baddbmm[S: Sc](batch1: STen, batch2: STen, beta: Double, alpha: Double): STen =
    plusTimes(MatmulCalls.baddbmm, self, batch1, batch2, beta, alpha)

  /** `beta * this + alpha * batch1 batch2`, written into this tensor. libtorch: `baddbmm_`. */
  def baddbmm_(batch1: STen, batch2: STen, beta: Double, alpha: Double): Unit =
    plusTimesInto(MatmulCalls.baddbmm, self, batch1, batch2, beta, alpha, self)

  /** `beta * this + alpha * mat vec`; this tensor broadcasts to the product. libtorch: `addmv`. */
  def addmv[S: Sc](mat: STen, vec: STen, beta: Double, alpha: Double): STen =
    plusTimes(MatmulCalls.addmv, self, mat, vec, beta, alpha)

  /** `beta * this + alpha * mat vec`, written into this tensor. libtorch: `addmv_`. */
  def addmv_(mat: STen, vec: STen, beta: Double, alpha: Double): Unit =
    plusTimesInto(MatmulCalls.addmv, self, mat, vec, beta, alpha, self)
}
