package wick

import NeuralCalls.{flag, list, one}
import ResampleFunctions._

/** Functions of the [[STen]] companion: padding, patches, interpolation, and their gradients. Names and
  * order of parameters are libtorch's.
  */
private[wick] trait ResampleFunctions {

  /** Elements around a tensor: two numbers a dimension, from the last one on.
    *
    * @param mode
    *   "constant" (a negative padding cuts), "reflect", "replicate" or "circular"
    */
  def pad[S: Sc](self: STen, pad: Seq[Long], mode: String = "constant", value: Double = 0.0): STen =
    if (mode == "constant") constant_pad_nd(self, pad, value)
    else one(padding(mode)._1, Array(self.handle), list(pad))

  /** A number around a tensor: two numbers a dimension, from the last one on; negative ones cut. */
  def constant_pad_nd[S: Sc](self: STen, pad: Seq[Long], value: Double = 0.0): STen =
    one(constant, Array(self.handle), list(pad), Array(value))

  /** Gradient of [[pad]] for `self`. */
  def pad_backward[S: Sc](gradOutput: STen, self: STen, pad: Seq[Long], mode: String = "constant"): STen =
    if (mode == "constant") one(constant, Array(gradOutput.handle), list(pad.map(-_)), Array(0.0))
    else one(padding(mode)._2, Array(gradOutput.handle, self.handle), list(pad))

  /** The patches that a kernel sees of images `[batch, channels, height, width]`, or without the batch, as
    * columns of matrices `[batch, channels * kernel, places]`. torch: `unfold`.
    */
  def im2col[S: Sc](
      self: STen,
      kernelSize: Seq[Long],
      dilation: Seq[Long],
      padding: Seq[Long],
      stride: Seq[Long]
  ): STen =
    one(patches, Array(self.handle), list(kernelSize) ++ list(stride) ++ list(padding) ++ list(dilation))

  /** Columns of patches added up where they lie in images of `outputSize`: the gradient of [[im2col]].
    * torch: `fold`.
    */
  def col2im[S: Sc](
      self: STen,
      outputSize: Seq[Long],
      kernelSize: Seq[Long],
      dilation: Seq[Long],
      padding: Seq[Long],
      stride: Seq[Long]
  ): STen =
    one(
      images,
      Array(self.handle),
      list(outputSize) ++ list(kernelSize) ++ list(stride) ++ list(padding) ++ list(dilation)
    )

  /** A tensor `[batch, channels, size…]` of one to three sizes in other sizes.
    *
    * @param size
    *   the new sizes
    * @param mode
    *   "nearest", "linear", "bilinear", "trilinear" or "bicubic"
    * @param alignCorners
    *   whether the outermost elements keep their places; not with "nearest"
    */
  def interpolate[S: Sc](
      self: STen,
      size: Seq[Long],
      mode: String = "nearest",
      alignCorners: Boolean = false
  ): STen = {
    val code = interpolation(mode, size.length, alignCorners)._1
    one(code, Array(self.handle), list(size) :+ flag(alignCorners))
  }

  /** Gradient of [[interpolate]] for an input of `inputSize`, batch and channels included. */
  def interpolate_backward[S: Sc](
      gradOutput: STen,
      inputSize: Seq[Long],
      mode: String = "nearest",
      alignCorners: Boolean = false
  ): STen = {
    val code = interpolation(mode, inputSize.length - 2, alignCorners)._2
    one(code, Array(gradOutput.handle), list(inputSize) :+ flag(alignCorners))
  }
}

/** Codes of padding, patches and interpolation. */
private[wick] object ResampleFunctions {
  import NeuralCalls.code

  val constant: Int = code("constant_pad_nd")
  val patches: Int = code("im2col")
  val images: Int = code("col2im")

  private def both(name: String) = (code(name), code(name + "_backward"))

  private val reflect = both("reflection_pad")
  private val replicate = both("replication_pad")
  private val circular = both("circular_pad")
  private val nearest = both("upsample_nearest")
  private val linear = both("upsample_linear")
  private val bicubic = both("upsample_bicubic")

  def padding(mode: String): (Int, Int) = mode match {
    case "reflect"   => reflect
    case "replicate" => replicate
    case "circular"  => circular
    case other       =>
      throw new IllegalArgumentException(
        s"pad: mode \"$other\": expected constant, reflect, replicate or circular"
      )
  }

  def interpolation(mode: String, dims: Int, align: Boolean): (Int, Int) = (mode, dims) match {
    case ("nearest", _) if align =>
      throw new IllegalArgumentException("interpolate: mode \"nearest\" aligns no corners")
    case ("nearest", _)                                       => nearest
    case ("linear", 1) | ("bilinear", 2) | ("trilinear", 3)   => linear
    case ("bicubic", 2)                                       => bicubic
    case ("linear" | "bilinear" | "trilinear" | "bicubic", _) =>
      throw new ShapeException(s"interpolate: mode \"$mode\" does not take $dims sizes")
    case _ =>
      throw new IllegalArgumentException(
        s"interpolate: mode \"$mode\": expected nearest, linear, bilinear, trilinear or bicubic"
      )
  }
}
