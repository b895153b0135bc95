package wick

import ConvFunctions._
import NeuralCalls.{flag, list, operands, some}

/** Functions of the [[STen]] companion: convolutions and their gradients. Names and order of parameters
  * are libtorch's. An input is `[batch, channels, size…]`, or without the batch; a weight `[out channels,
  * in channels / groups, kernel…]`, of a transposed convolution `[in channels, out channels / groups,
  * kernel…]`. Lists have a number a spatial dimension, or one for all. Operands have one float dtype;
  * f16 and bf16 sum in f32 and round once.
  */
private[wick] trait ConvFunctions {

  /** Convolution over one dimension. */
  def conv1d[S: Sc](
      input: STen,
      weight: STen,
      bias: Option[STen] = None,
      stride: Seq[Long] = One,
      padding: Seq[Long] = Zero,
      dilation: Seq[Long] = One,
      groups: Long = 1L
  ): STen = {
    dimensions("conv1d", weight, 1)
    convolution(input, weight, bias, stride, padding, dilation, false, Zero, groups)
  }

  /** Convolution over two dimensions. */
  def conv2d[S: Sc](
      input: STen,
      weight: STen,
      bias: Option[STen] = None,
      stride: Seq[Long] = One,
      padding: Seq[Long] = Zero,
      dilation: Seq[Long] = One,
      groups: Long = 1L
  ): STen = {
    dimensions("conv2d", weight, 2)
    convolution(input, weight, bias, stride, padding, dilation, false, Zero, groups)
  }

  /** Convolution over three dimensions. */
  def conv3d[S: Sc](
      input: STen,
      weight: STen,
      bias: Option[STen] = None,
      stride: Seq[Long] = One,
      padding: Seq[Long] = Zero,
      dilation: Seq[Long] = One,
      groups: Long = 1L
  ): STen = {
    dimensions("conv3d", weight, 3)
    convolution(input, weight, bias, stride, padding, dilation, false, Zero, groups)
  }

  /** Transposed convolution over one dimension: the gradient of [[conv1d]] for its input, as an operation. */
  def conv_transpose1d[S: Sc](
      input: STen,
      weight: STen,
      bias: Option[STen] = None,
      stride: Seq[Long] = One,
      padding: Seq[Long] = Zero,
      outputPadding: Seq[Long] = Zero,
      groups: Long = 1L,
      dilation: Seq[Long] = One
  ): STen = {
    dimensions("conv_transpose1d", weight, 1)
    convolution(input, weight, bias, stride, padding, dilation, true, outputPadding, groups)
  }

  /** Transposed convolution over two dimensions: the gradient of [[conv2d]] for its input, as an operation. */
  def conv_transpose2d[S: Sc](
      input: STen,
      weight: STen,
      bias: Option[STen] = None,
      stride: Seq[Long] = One,
      padding: Seq[Long] = Zero,
      outputPadding: Seq[Long] = Zero,
      groups: Long = 1L,
      dilation: Seq[Long] = One
  ): STen = {
    dimensions("conv_transpose2d", weight, 2)
    convolution(input, weight, bias, stride, padding, dilation, true, outputPadding, groups)
  }

  /** Transposed convolution over three dimensions: the gradient of [[conv3d]] for its input, as an operation. */
  def conv_transpose3d[S: Sc](
      input: STen,
      weight: STen,
      bias: Option[STen] = None,
      stride: Seq[Long] = One,
      padding: Seq[Long] = Zero,
      outputPadding: Seq[Long] = Zero,
      groups: Long = 1L,
      dilation: Seq[Long] = One
  ): STen = {
    dimensions("conv_transpose3d", weight, 3)
    convolution(input, weight, bias, stride, padding, dilation, true, outputPadding, groups)
  }

  /** Convolution over as many dimensions as the weight has, or a transposed one. */
  def convolution[S: Sc](
      input: STen,
      weight: STen,
      bias: Option[STen],
      stride: Seq[Long],
      padding: Seq[Long],
      dilation: Seq[Long],
      transposed: Boolean,
      outputPadding: Seq[Long],
      groups: Long
  ): STen =
    NeuralCalls.one(
      convolutionCode,
      operands(Some(input), Some(weight), bias),
      moves(stride, padding, dilation, transposed, outputPadding, groups)
    )

  /** Gradients of [[convolution]] for input, weight and bias, those that `outputMask` asks for.
    * `biasSizes` plays no part.
    */
  def convolution_backward[S: Sc](
      gradOutput: STen,
      input: STen,
      weight: STen,
      biasSizes: Seq[Long],
      stride: Seq[Long],
      padding: Seq[Long],
      dilation: Seq[Long],
      transposed: Boolean,
      outputPadding: Seq[Long],
      groups: Long,
      outputMask: (Boolean, Boolean, Boolean)
  ): (Option[STen], Option[STen], Option[STen]) = {
    val (x, w, b) = outputMask
    val made = some(
      backwardCode,
      3,
      operands(Some(gradOutput), Some(input), Some(weight)),
      moves(stride, padding, dilation, transposed, outputPadding, groups) ++ Array(flag(x), flag(w), flag(b))
    )
    (made(0), made(1), made(2))
  }
}

/** Codes and arguments of the convolutions. */
private[wick] object ConvFunctions {
  val convolutionCode: Int = NeuralCalls.code("convolution")
  val backwardCode: Int = NeuralCalls.code("convolution_backward")

  val One: Seq[Long] = List(1L)
  val Zero: Seq[Long] = List(0L)

  def dimensions(op: String, weight: STen, n: Int): Unit =
    if (weight.dim != n + 2)
      throw new ShapeException(
        s"$op: weight ${weight.dtype.name} ${weight.shapeText}: expected ${n + 2} dimensions"
      )

  def moves(
      stride: Seq[Long],
      padding: Seq[Long],
      dilation: Seq[Long],
      transposed: Boolean,
      outputPadding: Seq[Long],
      groups: Long
  ): Array[Long] =
    list(stride) ++ list(padding) ++ list(dilation) ++ Array(flag(transposed)) ++ list(outputPadding) ++
      Array(groups)
}
