package wick

/** What a filter finds beyond the edge of an image, or of the part of it that is valid. */
sealed trait BorderMode extends Product with Serializable

/** The modes. */
object BorderMode {

  /** Nothing: pixels that would need it are not computed, and the result's [[STen.validRegion]] is that
    * much smaller.
    */
  case object Undefined extends BorderMode

  /** The nearest pixel. */
  case object Replicate extends BorderMode

  /** A number, which must be one of the image's element type. */
  final case class Constant(value: Double) extends BorderMode

  /** The pixels before the edge, mirrored; the edge itself once. */
  case object Reflect extends BorderMode

  /** What stands in the tensor's padding: see [[STen.fillBorder_]]. Where the padding is narrower than the
    * filter reaches, this is a [[ShapeException]] that names the side, or, with [[OnShort.Shrink]] in the
    * options that the tensor was made with, the result's valid region is smaller.
    */
  case object Padding extends BorderMode

  private[wick] def code(mode: BorderMode): Int = mode match {
    case Undefined | Padding => 0
    case Replicate           => 1
    case Constant(_)         => 2
    case Reflect             => 3
  }

  private[wick] def value(mode: BorderMode): Double = mode match {
    case Constant(v) => v
    case _           => 0.0
  }
}

/** A filter that looks at the pixels around one; pixels are u8 or f32.
  *
  * Sums of u8 pixels are exact, and their fraction is cut off when they are divided, as OpenVX and the
  * Arm Compute Library define these filters. Among f32 pixels NaN has no defined place in the median.
  */
sealed abstract class Filter private[wick] (
    /** The name by which timings are kept. */
    val id: String,
    /** How far it looks to each side. */
    val radius: Int,
    private[wick] val results: Int
) extends Product
    with Serializable {
  private[wick] val code: Int = Native.opCode("image", id)

  /** How far it looks to each side. */
  def border: Padding = Padding.all(radius.toLong)
}

/** The filters. */
object Filter {

  /** Weights 1 2 1 by 1 2 1 over 16. */
  case object Gaussian3x3 extends Filter("gaussian3x3", 1, 1)

  /** Weights 1 4 6 4 1 by 1 4 6 4 1 over 256. */
  case object Gaussian5x5 extends Filter("gaussian5x5", 2, 1)

  /** The median of the nine. */
  case object Median3x3 extends Filter("median3x3", 1, 1)

  /** The mean of the nine. */
  case object Box3x3 extends Filter("box3x3", 1, 1)

  /** Slopes along rows (-1 0 1 by 1 2 1) and along columns: two results, i16 of u8 pixels. */
  case object Sobel3x3 extends Filter("sobel3x3", 1, 2)
}
