package wick

import MatmulCalls._

/** Functions of the [[STen]] companion: matrix products into a given tensor, which has the result's
  * shape and dtype and shares no memory with what is multiplied.
  */
private[wick] trait MatmulFunctions {

  /** Product of two matrices into `out`. libtorch: `mm_out`. */
  def mmOut(out: STen, self: STen, other: STen): Unit =
    timesInto(MatmulCalls.mm, self, other, out)

  /** Products of two batches of matrices into `out`. libtorch: `bmm_out`. */
  def bmmOut(out: STen, self: STen, other: STen): Unit =
    timesInto(MatmulCalls.bmm, self, other, out)

  /** Product of vectors, matrices or batches of matrices into `out`. libtorch: `matmul_out`. */
  def matmulOut(out: STen, self: STen, other: STen): Unit =
    timesInto(MatmulCalls.matmul, self, other, out)

  /** Product of a matrix and a vector into `out`. libtorch: `mv_out`. */
  def mvOut(out: STen, self: STen, vec: STen): Unit =
    timesInto(MatmulCalls.mv, self, vec, out)

  /** Sums of products over the last dimensions into `out`. libtorch: `inner_out`. */
  def innerOut(out: STen, self: STen, other: STen): Unit =
    timesInto(MatmulCalls.inner, self, other, out)

  /** Each element of one vector times each of the other into `out`. libtorch: `outer_out`. */
  def outerOut(out: STen, self: STen, other: STen): Unit =
    timesInto(MatmulCalls.outer, self, other, out)

  /** `beta * self + alpha * mat1 mat2` into `out`, which may be `self`. libtorch: `addmm_out`. */
  def addmmOut(
      out: STen,
      self: STen,
      mat1: STen,
      mat2: STen,
      beta: Double,
      alpha: Double
  ): Unit = plusTimesInto(MatmulCalls.addmm, self, mat1, mat2, beta, alpha, out)

  /** `beta * self + alpha * batch1 batch2` into `out`, which may be `self`. libtorch: `baddbmm_out`. */
  def baddbmmOut(
      out: STen,
      self: STen,
      batch1: STen,
      batch2: STen,
      beta: Double,
      alpha: Double
  ): Unit = plusTimesInto(MatmulCalls.baddbmm, self, batch1, batch2, beta, alpha, out)
}
