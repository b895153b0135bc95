package wick

import NeuralCalls.{all, flag, list, one}
import PoolFunctions._

/** Functions of the [[STen]] companion: pooling and its gradients. Names and order of parameters are
  * libtorch's. An input is `[batch, channels, size…]`, or without the batch. Lists have a number a
  * dimension, or one for all; an empty stride is the kernel's sizes. With `ceilMode` a last window may
  * reach beyond the padding, if it begins before its end. A NaN is the greatest of elements.
  */
private[wick] trait PoolFunctions {

  /** The greatest element of each window, over one dimension, and its place in its plane. */
  def max_pool1d_with_indices[S: Sc](
      self: STen,
      kernelSize: Seq[Long],
      stride: Seq[Long] = Nil,
      padding: Seq[Long] = Zero,
      dilation: Seq[Long] = One,
      ceilMode: Boolean = false
  ): (STen, STen) = max(1L, self, kernelSize, stride, padding, dilation, ceilMode)

  /** The greatest element of each window, over one dimension. */
  def max_pool1d[S: Sc](
      self: STen,
      kernelSize: Seq[Long],
      stride: Seq[Long] = Nil,
      padding: Seq[Long] = Zero,
      dilation: Seq[Long] = One,
      ceilMode: Boolean = false
  ): STen = first(max(1L, self, kernelSize, stride, padding, dilation, ceilMode))

  /** Gradient of [[max_pool1d_with_indices]], from the places that it gave. */
  def max_pool1d_with_indices_backward[S: Sc](
      gradOutput: STen,
      self: STen,
      kernelSize: Seq[Long],
      stride: Seq[Long],
      padding: Seq[Long],
      dilation: Seq[Long],
      ceilMode: Boolean,
      indices: STen
  ): STen = maxBackward(1L, gradOutput, self, indices)

  /** The mean of each window, over one dimension. Padding counts as zeros where `countIncludePad`;
    * `divisorOverride` divides the sums instead of the number of elements.
    */
  def avg_pool1d[S: Sc](
      self: STen,
      kernelSize: Seq[Long],
      stride: Seq[Long] = Nil,
      padding: Seq[Long] = Zero,
      ceilMode: Boolean = false,
      countIncludePad: Boolean = true,
      divisorOverride: Option[Long] = None
  ): STen =
    one(avgCode, Array(self.handle), avg(1L, kernelSize, stride, padding, ceilMode, countIncludePad, divisorOverride))

  /** Gradient of [[avg_pool1d]]. */
  def avg_pool1d_backward[S: Sc](
      gradOutput: STen,
      self: STen,
      kernelSize: Seq[Long],
      stride: Seq[Long],
      padding: Seq[Long],
      ceilMode: Boolean,
      countIncludePad: Boolean,
      divisorOverride: Option[Long]
  ): STen =
    one(
      avgBackwardCode,
      Array(gradOutput.handle, self.handle),
      avg(1L, kernelSize, stride, padding, ceilMode, countIncludePad, divisorOverride)
    )

  /** Means of as many windows as `outputSize` says, of nearly one size, over one dimension. */
  def adaptive_avg_pool1d[S: Sc](self: STen, outputSize: Seq[Long]): STen =
    one(adaptiveAvgCode, Array(self.handle), list(sizes("adaptive_avg_pool1d", outputSize, 1)))

  /** Gradient of [[adaptive_avg_pool1d]]. */
  def adaptive_avg_pool1d_backward[S: Sc](gradOutput: STen, self: STen): STen =
    one(adaptiveAvgBackwardCode, Array(gradOutput.handle, self.handle), Array(1L))

  /** Greatest elements of as many windows as `outputSize` says, of nearly one size, over one dimension,
    * and their places in their planes.
    */
  def adaptive_max_pool1d[S: Sc](self: STen, outputSize: Seq[Long]): (STen, STen) = {
    val both = all(adaptiveMaxCode, 2, Array(self.handle), list(sizes("adaptive_max_pool1d", outputSize, 1)))
    (both(0), both(1))
  }

  /** Gradient of [[adaptive_max_pool1d]], from the places that it gave. */
  def adaptive_max_pool1d_backward[S: Sc](gradOutput: STen, self: STen, indices: STen): STen =
    maxBackward(1L, gradOutput, self, indices)

  /** The greatest element of each window, over two dimensions, and its place in its plane. */
  def max_pool2d_with_indices[S: Sc](
      self: STen,
      kernelSize: Seq[Long],
      stride: Seq[Long] = Nil,
      padding: Seq[Long] = Zero,
      dilation: Seq[Long] = One,
      ceilMode: Boolean = false
  ): (STen, STen) = max(2L, self, kernelSize, stride, padding, dilation, ceilMode)

  /** The greatest element of each window, over two dimensions. */
  def max_pool2d[S: Sc](
      self: STen,
      kernelSize: Seq[Long],
      stride: Seq[Long] = Nil,
      padding: Seq[Long] = Zero,
      dilation: Seq[Long] = One,
      ceilMode: Boolean = false
  ): STen = first(max(2L, self, kernelSize, stride, padding, dilation, ceilMode))

  /** Gradient of [[max_pool2d_with_indices]], from the places that it gave. */
  def max_pool2d_with_indices_backward[S: Sc](
      gradOutput: STen,
      self: STen,
      kernelSize: Seq[Long],
      stride: Seq[Long],
      padding: Seq[Long],
      dilation: Seq[Long],
      ceilMode: Boolean,
      indices: STen
  ): STen = maxBackward(2L, gradOutput, self, indices)

  /** The mean of each window, over two dimensions. Padding counts as zeros where `countIncludePad`;
    * `divisorOverride` divides the sums instead of the number of elements.
    */
  def avg_pool2d[S: Sc](
      self: STen,
      kernelSize: Seq[Long],
      stride: Seq[Long] = Nil,
      padding: Seq[Long] = Zero,
      ceilMode: Boolean = false,
      countIncludePad: Boolean = true,
      divisorOverride: Option[Long] = None
  ): STen =
    one(avgCode, Array(self.handle), avg(2L, kernelSize, stride, padding, ceilMode, countIncludePad, divisorOverride))

  /** Gradient of [[avg_pool2d]]. */
  def avg_pool2d_backward[S: Sc](
      gradOutput: STen,
      self: STen,
      kernelSize: Seq[Long],
      stride: Seq[Long],
      padding: Seq[Long],
      ceilMode: Boolean,
      countIncludePad: Boolean,
      divisorOverride: Option[Long]
  ): STen =
    one(
      avgBackwardCode,
      Array(gradOutput.handle, self.handle),
      avg(2L, kernelSize, stride, padding, ceilMode, countIncludePad, divisorOverride)
    )

  /** Means of as many windows as `outputSize` says, of nearly one size, over two dimensions. */
  def adaptive_avg_pool2d[S: Sc](self: STen, outputSize: Seq[Long]): STen =
    one(adaptiveAvgCode, Array(self.handle), list(sizes("adaptive_avg_pool2d", outputSize, 2)))

  /** Gradient of [[adaptive_avg_pool2d]]. */
  def adaptive_avg_pool2d_backward[S: Sc](gradOutput: STen, self: STen): STen =
    one(adaptiveAvgBackwardCode, Array(gradOutput.handle, self.handle), Array(2L))

  /** Greatest elements of as many windows as `outputSize` says, of nearly one size, over two dimensions,
    * and their places in their planes.
    */
  def adaptive_max_pool2d[S: Sc](self: STen, outputSize: Seq[Long]): (STen, STen) = {
    val both = all(adaptiveMaxCode, 2, Array(self.handle), list(sizes("adaptive_max_pool2d", outputSize, 2)))
    (both(0), both(1))
  }

  /** Gradient of [[adaptive_max_pool2d]], from the places that it gave. */
  def adaptive_max_pool2d_backward[S: Sc](gradOutput: STen, self: STen, indices: STen): STen =
    maxBackward(2L, gradOutput, self, indices)

  /** The greatest element of each window, over three dimensions, and its place in its plane. */
  def max_pool3d_with_indices[S: Sc](
      self: STen,
      kernelSize: Seq[Long],
      stride: Seq[Long] = Nil,
      padding: Seq[Long] = Zero,
      dilation: Seq[Long] = One,
      ceilMode: Boolean = false
  ): (STen, STen) = max(3L, self, kernelSize, stride, padding, dilation, ceilMode)

  /** The greatest element of each window, over three dimensions. */
  def max_pool3d[S: Sc](
      self: STen,
      kernelSize: Seq[Long],
      stride: Seq[Long] = Nil,
      padding: Seq[Long] = Zero,
      dilation: Seq[Long] = One,
      ceilMode: Boolean = false
  ): STen = first(max(3L, self, kernelSize, stride, padding, dilation, ceilMode))

  /** Gradient of [[max_pool3d_with_indices]], from the places that it gave. */
  def max_pool3d_with_indices_backward[S: Sc](
      gradOutput: STen,
      self: STen,
      kernelSize: Seq[Long],
      stride: Seq[Long],
      padding: Seq[Long],
      dilation: Seq[Long],
      ceilMode: Boolean,
      indices: STen
  ): STen = maxBackward(3L, gradOutput, self, indices)

  /** The mean of each window, over three dimensions. Padding counts as zeros where `countIncludePad`;
    * `divisorOverride` divides the sums instead of the number of elements.
    */
  def avg_pool3d[S: Sc](
      self: STen,
      kernelSize: Seq[Long],
      stride: Seq[Long] = Nil,
      padding: Seq[Long] = Zero,
      ceilMode: Boolean = false,
      countIncludePad: Boolean = true,
      divisorOverride: Option[Long] = None
  ): STen =
    one(avgCode, Array(self.handle), avg(3L, kernelSize, stride, padding, ceilMode, countIncludePad, divisorOverride))

  /** Gradient of [[avg_pool3d]]. */
  def avg_pool3d_backward[S: Sc](
      gradOutput: STen,
      self: STen,
      kernelSize: Seq[Long],
      stride: Seq[Long],
      padding: Seq[Long],
      ceilMode: Boolean,
      countIncludePad: Boolean,
      divisorOverride: Option[Long]
  ): STen =
    one(
      avgBackwardCode,
      Array(gradOutput.handle, self.handle),
      avg(3L, kernelSize, stride, padding, ceilMode, countIncludePad, divisorOverride)
    )

  /** Means of as many windows as `outputSize` says, of nearly one size, over three dimensions. */
  def adaptive_avg_pool3d[S: Sc](self: STen, outputSize: Seq[Long]): STen =
    one(adaptiveAvgCode, Array(self.handle), list(sizes("adaptive_avg_pool3d", outputSize, 3)))

  /** Gradient of [[adaptive_avg_pool3d]]. */
  def adaptive_avg_pool3d_backward[S: Sc](gradOutput: STen, self: STen): STen =
    one(adaptiveAvgBackwardCode, Array(gradOutput.handle, self.handle), Array(3L))

  /** Greatest elements of as many windows as `outputSize` says, of nearly one size, over three dimensions,
    * and their places in their planes.
    */
  def adaptive_max_pool3d[S: Sc](self: STen, outputSize: Seq[Long]): (STen, STen) = {
    val both = all(adaptiveMaxCode, 2, Array(self.handle), list(sizes("adaptive_max_pool3d", outputSize, 3)))
    (both(0), both(1))
  }

  /** Gradient of [[adaptive_max_pool3d]], from the places that it gave. */
  def adaptive_max_pool3d_backward[S: Sc](gradOutput: STen, self: STen, indices: STen): STen =
    maxBackward(3L, gradOutput, self, indices)
}

/** Codes and arguments of pooling. */
private[wick] object PoolFunctions {
  import NeuralCalls.code

  val maxCode: Int = code("max_pool_with_indices")
  val maxBackwardCode: Int = code("max_pool_with_indices_backward")
  val avgCode: Int = code("avg_pool")
  val avgBackwardCode: Int = code("avg_pool_backward")
  val adaptiveMaxCode: Int = code("adaptive_max_pool")
  val adaptiveAvgCode: Int = code("adaptive_avg_pool")
  val adaptiveAvgBackwardCode: Int = code("adaptive_avg_pool_backward")

  val One: Seq[Long] = List(1L)
  val Zero: Seq[Long] = List(0L)

  def sizes(op: String, outputSize: Seq[Long], n: Int): Seq[Long] =
    if (outputSize.length == n) outputSize
    else throw new ShapeException(s"$op: output size ${outputSize.mkString("[", ", ", "]")}: expected $n numbers")

  def first(both: (STen, STen)): STen = {
    both._2.close()
    both._1
  }

  def max(
      dims: Long,
      x: STen,
      kernel: Seq[Long],
      stride: Seq[Long],
      padding: Seq[Long],
      dilation: Seq[Long],
      ceil: Boolean
  )(implicit scope: Scope): (STen, STen) = {
    val numbers =
      Array(dims) ++ list(kernel) ++ list(stride) ++ list(padding) ++ list(dilation) ++ Array(flag(ceil))
    val both = all(maxCode, 2, Array(x.handle), numbers)
    (both(0), both(1))
  }

  def maxBackward(dims: Long, grad: STen, x: STen, indices: STen)(implicit scope: Scope): STen =
    one(maxBackwardCode, Array(grad.handle, x.handle, indices.handle), Array(dims))

  def avg(
      dims: Long,
      kernel: Seq[Long],
      stride: Seq[Long],
      padding: Seq[Long],
      ceil: Boolean,
      include: Boolean,
      divisor: Option[Long]
  ): Array[Long] =
    Array(dims) ++ list(kernel) ++ list(stride) ++ list(padding) ++
      Array(flag(ceil), flag(include), flag(divisor.nonEmpty), divisor.getOrElse(0L))
}
