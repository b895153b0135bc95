package wick

import Reductions._

/** Methods of [[STen]]: reductions, softmax, cumulative operations.
  *
  * A dimension may be counted from the end (-1 is the last), the order of several does not matter,
  * and none means all. `keepDim` keeps the reduced dimensions with size 1. Sums and products of
  * integers and truth values are i64; a `dtype` is what elements are cast to first and the result
  * has. A NaN is the greatest and the least of elements, the first of equal ones is the one named.
  */
private[wick] trait ReduceOps { self: STen =>

  /** The sum of all elements. */
  def sum[S: Sc]: STen = reduced(sumCode)

  /** The sum of all elements as another type. */
  def sum[S: Sc](dtype: DType): STen = reduced(sumCode, dtype = dtype.number)

  /** Sums over dimensions. */
  def sum[S: Sc](dim: Seq[Int], keepDim: Boolean): STen = reduced(sumCode, longs(dim), keepDim)

  /** Sums over a dimension. */
  def sum[S: Sc](dim: Int, keepDim: Boolean): STen = reduced(sumCode, one(dim), keepDim)

  /** Sums over dimensions as another type. */
  def sum[S: Sc](dim: Seq[Int], keepDim: Boolean, dtype: DType): STen =
    reduced(sumCode, longs(dim), keepDim, dtype.number)

  /** Sums over the second dimension, which stays with size 1. */
  def rowSum[S: Sc]: STen = sum(1, true)

  /** Sums over the first dimension, which stays with size 1. */
  def colSum[S: Sc]: STen = sum(0, true)

  /** The mean of all elements, which must be floats. */
  def mean[S: Sc]: STen = reduced(meanCode)

  /** The mean of all elements as another float type. */
  def mean[S: Sc](dtype: DType): STen = reduced(meanCode, dtype = dtype.number)

  /** Means over dimensions. */
  def mean[S: Sc](dim: Seq[Int], keepDim: Boolean): STen = reduced(meanCode, longs(dim), keepDim)

  /** Means over a dimension. */
  def mean[S: Sc](dim: Int, keepDim: Boolean): STen = reduced(meanCode, one(dim), keepDim)

  /** Means over dimensions as another float type. */
  def mean[S: Sc](dim: Seq[Int], keepDim: Boolean, dtype: DType): STen =
    reduced(meanCode, longs(dim), keepDim, dtype.number)

  /** The product of all elements. */
  def prod[S: Sc]: STen = reduced(prodCode)

  /** The product of all elements as another type. */
  def prod[S: Sc](dtype: DType): STen = reduced(prodCode, dtype = dtype.number)

  /** Products over a dimension. */
  def prod[S: Sc](dim: Int, keepDim: Boolean): STen = reduced(prodCode, one(dim), keepDim)

  /** Products over a dimension as another type. */
  def prod[S: Sc](dim: Int, keepDim: Boolean, dtype: DType): STen =
    reduced(prodCode, one(dim), keepDim, dtype.number)

  /** The greatest element. */
  def max[S: Sc]: STen = reduced(amaxCode)

  /** The greatest elements over a dimension, and their places in it. */
  def max[S: Sc](dim: Int, keepDim: Boolean): (STen, STen) = pair(maxCode, one(dim), keepDim)

  /** The least element. */
  def min[S: Sc]: STen = reduced(aminCode)

  /** The least elements over a dimension, and their places in it. */
  def min[S: Sc](dim: Int, keepDim: Boolean): (STen, STen) = pair(minCode, one(dim), keepDim)

  /** The greatest elements over dimensions. */
  def amax[S: Sc](dim: Seq[Int], keepDim: Boolean): STen = reduced(amaxCode, longs(dim), keepDim)

  /** The least elements over dimensions. */
  def amin[S: Sc](dim: Seq[Int], keepDim: Boolean): STen = reduced(aminCode, longs(dim), keepDim)

  /** Where the greatest element is, counted in row-major order. */
  def argmax[S: Sc]: STen = reduced(argmaxCode)

  /** Where the greatest elements over a dimension are. */
  def argmax[S: Sc](dim: Long, keepDim: Boolean): STen =
    reduced(argmaxCode, Array(dim), keepDim)

  /** Where the least element is, counted in row-major order. */
  def argmin[S: Sc]: STen = reduced(argminCode)

  /** Where the least elements over a dimension are. */
  def argmin[S: Sc](dim: Long, keepDim: Boolean): STen =
    reduced(argminCode, Array(dim), keepDim)

  /** Whether all elements are true, that is not 0; of u8 the answer is a u8, else a bool. */
  def all[S: Sc]: STen = reduced(allCode)

  /** Whether all elements over a dimension are true. */
  def all[S: Sc](dim: Int, keepDim: Boolean): STen = reduced(allCode, one(dim), keepDim)

  /** Whether all elements over dimensions are true. */
  def all[S: Sc](dim: Seq[Int], keepDim: Boolean): STen = reduced(allCode, longs(dim), keepDim)

  /** Whether any element is true, that is not 0; of u8 the answer is a u8, else a bool. */
  def any[S: Sc]: STen = reduced(anyCode)

  /** Whether any element over a dimension is true. */
  def any[S: Sc](dim: Int, keepDim: Boolean): STen = reduced(anyCode, one(dim), keepDim)

  /** Whether any element over dimensions is true. */
  def any[S: Sc](dim: Seq[Int], keepDim: Boolean): STen = reduced(anyCode, longs(dim), keepDim)

  /** The variance of all elements; `unbiased` divides by one less than their number. */
  def variance[S: Sc](unbiased: Boolean): STen = spread(varCode, null, unbiased, false)

  /** Variances over dimensions. */
  def variance[S: Sc](dim: Seq[Int], unbiased: Boolean, keepDim: Boolean): STen =
    spread(varCode, longs(dim), unbiased, keepDim)

  /** Variances over a dimension. */
  def variance[S: Sc](dim: Int, unbiased: Boolean, keepDim: Boolean): STen =
    spread(varCode, one(dim), unbiased, keepDim)

  /** Variances over dimensions, the divisor their number less `correction` (but not below 0). */
  def variance[S: Sc](dim: Seq[Int], correction: Double, keepDim: Boolean): STen =
    reduced(varCode, longs(dim), keepDim, correction = correction)

  /** The standard deviation of all elements. */
  def std[S: Sc](unbiased: Boolean): STen = spread(stdCode, null, unbiased, false)

  /** Standard deviations over dimensions. */
  def std[S: Sc](dim: Seq[Int], unbiased: Boolean, keepDim: Boolean): STen =
    spread(stdCode, longs(dim), unbiased, keepDim)

  /** Standard deviations over a dimension. */
  def std[S: Sc](dim: Int, unbiased: Boolean, keepDim: Boolean): STen =
    spread(stdCode, one(dim), unbiased, keepDim)

  /** Standard deviations over dimensions, with a correction as in `variance`. */
  def std[S: Sc](dim: Seq[Int], correction: Double, keepDim: Boolean): STen =
    reduced(stdCode, longs(dim), keepDim, correction = correction)

  /** Variance and mean of all elements. */
  def varAndMean[S: Sc](unbiased: Boolean): (STen, STen) =
    pair(varMeanCode, null, false, correction(unbiased))

  /** Variances and means over dimensions. */
  def varAndMean[S: Sc](dim: Seq[Int], unbiased: Boolean, keepDim: Boolean): (STen, STen) =
    pair(varMeanCode, longs(dim), keepDim, correction(unbiased))

  /** Variances and means over dimensions, with a correction as in `variance`. */
  def varAndMean[S: Sc](dim: Seq[Int], correction: Double, keepDim: Boolean): (STen, STen) =
    pair(varMeanCode, longs(dim), keepDim, correction)

  /** Standard deviation and mean of all elements. */
  def stdAndMean[S: Sc](unbiased: Boolean): (STen, STen) =
    pair(stdMeanCode, null, false, correction(unbiased))

  /** Standard deviations and means over dimensions. */
  def stdAndMean[S: Sc](dim: Seq[Int], unbiased: Boolean, keepDim: Boolean): (STen, STen) =
    pair(stdMeanCode, longs(dim), keepDim, correction(unbiased))

  /** Standard deviations and means over dimensions, with a correction as in `variance`. */
  def stdAndMean[S: Sc](dim: Seq[Int], correction: Double, keepDim: Boolean): (STen, STen) =
    pair(stdMeanCode, longs(dim), keepDim, correction)

  /** The logarithm of the sum of exponentials over dimensions, without overflow on the way. */
  def logsumexp[S: Sc](dim: Seq[Int], keepDim: Boolean): STen =
    reduced(logsumexpCode, longs(dim), keepDim)

  /** Euclidean norms over dimensions, without overflow on the way. */
  def norm2[S: Sc](dim: Seq[Int], keepDim: Boolean): STen =
    reduced(normCode, longs(dim), keepDim)

  /** exp(x) / Σ exp(x) along a dimension. */
  def softmax[S: Sc](dim: Int): STen = along(softmaxCode, dim)

  /** Softmax along a dimension as another float type. */
  def softmax[S: Sc](dim: Int, dtype: DType): STen = along(softmaxCode, dim, dtype.number)

  /** The logarithm of softmax along a dimension. */
  def logSoftMax[S: Sc](dim: Int): STen = along(logSoftmaxCode, dim)

  /** The logarithm of softmax along a dimension as another float type. */
  def logSoftMax[S: Sc](dim: Int, dtype: DType): STen = along(logSoftmaxCode, dim, dtype.number)

  /** Sums of the elements so far along a dimension. */
  def cumsum[S: Sc](dim: Int): STen = along(cumsumCode, dim)

  /** Sums of the elements so far along a dimension as another type. */
  def cumsum[S: Sc](dim: Int, dtype: DType): STen = along(cumsumCode, dim, dtype.number)

  /** Products of the elements so far along a dimension. */
  def cumprod[S: Sc](dim: Int): STen = along(cumprodCode, dim)

  /** Products of the elements so far along a dimension as another type. */
  def cumprod[S: Sc](dim: Int, dtype: DType): STen = along(cumprodCode, dim, dtype.number)

  /** Logarithms of the sums of exponentials so far along a dimension. */
  def logcumsumexp[S: Sc](dim: Int): STen = along(logcumsumexpCode, dim)

  private def along(code: Int, dim: Int, dtype: Int = -1)(implicit scope: Scope): STen =
    STen.own(Native.along(code, handle, dim.toLong, dtype), this)

  private def spread(code: Int, dims: Array[Long], unbiased: Boolean, keepDim: Boolean)(implicit
      scope: Scope
  ): STen = reduced(code, dims, keepDim, correction = correction(unbiased))

  private def reduced(
      code: Int,
      dims: Array[Long] = null,
      keepDim: Boolean = false,
      dtype: Int = -1,
      correction: Double = 0.0
  )(implicit scope: Scope): STen =
    STen.own(Native.reduce(code, handle, dims, keepDim, dtype, correction, 0L), this)

  private def pair(code: Int, dims: Array[Long], keepDim: Boolean, correction: Double = 0.0)(implicit
      scope: Scope
  ): (STen, STen) = {
    val results = new Array[Long](2)
    Native.reducePair(code, handle, dims, keepDim, correction, results)
    val both = STen.ownAll(results)
    (both(0), both(1))
  }
}

/** Codes of the reductions, and their arguments as natives take them. */
private[wick] object Reductions {
  private def code(name: String) = Native.opCode("reduce", name)

  val sumCode: Int = code("sum")
  val meanCode: Int = code("mean")
  val prodCode: Int = code("prod")
  val maxCode: Int = code("max")
  val minCode: Int = code("min")
  val amaxCode: Int = code("amax")
  val aminCode: Int = code("amin")
  val argmaxCode: Int = code("argmax")
  val argminCode: Int = code("argmin")
  val allCode: Int = code("all")
  val anyCode: Int = code("any")
  val varCode: Int = code("var")
  val stdCode: Int = code("std")
  val varMeanCode: Int = code("var_mean")
  val stdMeanCode: Int = code("std_mean")
  val logsumexpCode: Int = code("logsumexp")
  val normCode: Int = code("norm")

  private def alongCode(name: String) = Native.opCode("along", name)

  val softmaxCode: Int = alongCode("softmax")
  val logSoftmaxCode: Int = alongCode("log_softmax")
  val cumsumCode: Int = alongCode("cumsum")
  val cumprodCode: Int = alongCode("cumprod")
  val logcumsumexpCode: Int = alongCode("logcumsumexp")

  def one(dim: Int): Array[Long] = Array(dim.toLong)

  def longs(dims: Seq[Int]): Array[Long] = {
    val out = new Array[Long](dims.length)
    var i = 0
    dims.foreach { d => out(i) = d.toLong; i += 1 }
    out
  }

  def correction(unbiased: Boolean): Double = if (unbiased) 1.0 else 0.0
}
