package wick

/** Four sizes as images and neural networks count them: samples, channels, rows, columns.
  * {{{
  * assert(STen.zeros(List(8, 3)).nchw == Nchw(8, 3, 1, 1))
  * }}}
  * Negative sizes, and more elements than 63 bits count, are a [[ShapeException]].
  *
  * @param numSamples
  *   samples
  * @param k
  *   channels of each sample
  * @param nr
  *   rows of each channel
  * @param nc
  *   columns of each channel
  */
final case class Nchw(numSamples: Long, k: Long = 1, nr: Long = 1, nc: Long = 1) {

  /** How many elements there are. */
  val size: Long = {
    val dims = List(numSamples, k, nr, nc)
    def fail(text: String) = throw new ShapeException(s"nchw: ${dims.mkString("[", ", ", "]")}: $text")
    dims.find(_ < 0).foreach(size => fail(s"size $size is negative"))
    if (dims.contains(0L)) 0L
    else
      dims.reduce { (a, b) =>
        if (Math.multiplyHigh(a, b) != 0 || a * b < 0) fail("the element count exceeds 2^63 - 1")
        a * b
      }
  }

  /** The same as a shape of four dimensions. */
  def shape: List[Long] = List(numSamples, k, nr, nc)
}

/** Reads shapes. */
object Nchw {

  /** The sizes of a shape of at most four dimensions, outermost first; missing ones are 1. */
  def of(shape: Seq[Long]): Nchw = {
    if (shape.length > 4)
      throw new ShapeException(s"nchw: ${shape.mkString("[", ", ", "]")}: expected at most 4 dimensions")
    def at(i: Int): Long = if (i < shape.length) shape(i) else 1L
    Nchw(at(0), at(1), at(2), at(3))
  }
}
