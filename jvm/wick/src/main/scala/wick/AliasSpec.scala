package wick

import java.io.{InputStream, OutputStream}
import java.nio.file.Path

/** A shape that views of many tensors are taken with: dlib's `alias_tensor`.
  * {{{
  * val corner = AliasSpec(2, 2)
  * val a = corner(weights, 0)         // the first four elements as a matrix, as a view
  * val b = corner.readOnly(weights, 4) // the next four, which cannot be written
  * }}}
  * A view keeps the memory alive on its own, so the tensor may be closed first. Sizes are checked where
  * a view is taken.
  */
final case class AliasSpec(shape: List[Long]) {

  /** The shape as samples, channels, rows, columns; missing ones are 1. */
  def nchw: Nchw = Nchw.of(shape)

  /** How many elements a view has. */
  def size: Long = shape.foldLeft(1L) { (n, size) =>
    if (size < 0 || n != 0 && (Math.multiplyHigh(n, size) != 0 || n * size < 0))
      throw new ShapeException(s"alias: ${shape.mkString("[", ", ", "]")}: expected sizes of a tensor")
    n * size
  }

  /** The elements of `t` from place `offset` of its row-major order on, in this shape, as a view.
    *
    * `t` must lie in row-major order ([[ShapeException]]), and the view inside it ([[IndexException]]).
    */
  def apply[S: Sc](t: STen, offset: Long = 0): STen = {
    def text = s"alias: ${t.dtype} ${t.shapeText}: ${shape.mkString("[", ", ", "]")} from element $offset"
    if (!t.isContiguous) throw new ShapeException(s"$text: expected elements in row-major order")
    val n = size
    if (offset < 0 || n > t.numel || offset > t.numel - n) throw new IndexException(s"$text: it leaves the tensor")
    val strides = shape.scanRight(1L)((size, step) => math.max(size, 1L) * step).tail
    t.asStrided(shape, strides, t.storageOffset + offset)
  }

  /** As [[apply]], a view through which nothing is written; see [[STen.readOnly]]. */
  def readOnly[S: Sc](t: STen, offset: Long = 0): STen = {
    val writable = apply(t, offset)
    try writable.readOnly
    finally writable.close()
  }

  /** Writes the shape, and nothing of any tensor, for [[AliasSpec.read]]. */
  def write(path: Path): Unit = Serial.toFile(path)(out => write(out))

  /** As the other `write`, to a stream, which is neither flushed nor closed. */
  def write(to: OutputStream): Unit = Serial.writeShape(shape, to)
}

/** Makes and reads shapes for views. */
object AliasSpec {

  /** Of these sizes, outermost first; without any, of no element. */
  def apply(sizes: Long*): AliasSpec = new AliasSpec(if (sizes.isEmpty) List(0L) else sizes.toList)

  /** The shape that `write`, or dlib's `serialize` of an alias (version 1), has written. Anything else is
    * a [[FormatException]].
    */
  def read(path: Path): AliasSpec = Serial.fromFile(path)((in, limit) => read(in, limit))

  /** As the other `read`, from a stream, of which no byte behind the shape is read. */
  def read(from: InputStream): AliasSpec = read(from, Long.MaxValue)

  private def read(from: InputStream, limit: Long): AliasSpec = {
    val spec = new AliasSpec(Serial.readShape(from, limit))
    try spec.size
    catch { case e: ShapeException => throw new FormatException(s"read: ${e.getMessage}") }
    spec
  }
}
