package wick

import java.io.{InputStream, OutputStream}
import java.nio.file.Path
import java.nio.{ByteBuffer, ByteOrder}

/** Functions of the [[STen]] companion: copies, imported memory, slots, images, serialised tensors. */
private[wick] trait StorageFunctions {

  /** The elements of `src` in row-major order become those of `dst`: as many, of the same type, in any
    * shapes and strides. Where both see the same memory it is as if all were read before the first is
    * written.
    */
  def memcpy(dst: STen, src: STen): Unit = Native.memcpy(dst.handle, src.handle)

  private def imported[S: Sc](options: STenOptions): Int = {
    if (options.device != CPU)
      throw new DeviceException(s"import: ${options.device}: the memory is the processor's: copy the tensor with to")
    STen.dense("import", options.padding(PaddingPolicy.None))
  }

  /** A tensor over a direct buffer's bytes from its position to its limit, which are not copied: what
    * is written to either shows in the other.
    *
    * The buffer stays reachable while any view of the tensor is open. It must hold at least the bytes
    * of the shape, with the padding that the options ask for, start at a multiple of the element's size, and have the machine's byte order unless
    * elements are single bytes. Of a read-only buffer the tensor is [[STen.readOnly]].
    */
  def importBuffer[S: Sc](
      buffer: ByteBuffer,
      shape: Seq[Long],
      options: STenOptions = STen.fOptions
  ): STen = {
    val dtype = imported(options)
    if (buffer == null) throw new ShapeException(s"import: ${options.dtype} $shape: the buffer is null")
    if (options.dtype.size > 1 && buffer.order != ByteOrder.nativeOrder)
      throw new DTypeException(
        s"import: ${options.dtype} ${shape.mkString("[", ", ", "]")}: the buffer's order is ${buffer.order}, " +
          "the machine's is not: call buffer.order(ByteOrder.nativeOrder)"
      )
    own(shape, options)(Native.importBuffer(buffer.slice(), dtype, _, buffer.isReadOnly))
  }

  /** A tensor over `bytes` bytes at a native address, which are not copied. The caller vouches that they
    * may be read and written while any view of the tensor is open; `giver`, kept reachable for as long,
    * helps: the owner of the memory. `readOnly` for memory that must not be written.
    */
  def importAddress[S: Sc](
      address: Long,
      bytes: Long,
      shape: Seq[Long],
      options: STenOptions,
      giver: AnyRef,
      readOnly: Boolean = false
  ): STen = {
    val dtype = imported(options)
    own(shape, options)(Native.importAddress(address, bytes, dtype, _, readOnly, giver))
  }

  private def own[S: Sc](shape: Seq[Long], options: STenOptions)(memory: Array[Long] => Long): STen =
    if (options.isPadded) Padded.within("import", shape.toArray, options)(count => memory(Array(count)))
    else STen.own(memory(shape.toArray))

  /** Views of boxes of `out`, which producers write into: what they write is concatenated without a
    * copy. A box that leaves `out` is an [[IndexException]], boxes that share an element a
    * [[ShapeException]], as is an `out` whose own elements share their place. For boxes along one
    * dimension there is `split`.
    */
  def catInto[S: Sc](out: STen)(slots: Slot*): Vector[STen] = {
    Native.checkSlots(out.handle)
    slots.foreach(StorageOps.checkInside("cat_into", out, _))
    for (i <- slots.indices; k <- 0 until i if slots(i).overlaps(slots(k)))
      throw new ShapeException(s"cat_into: ${out.dtype} ${out.shapeText}: slots $k and $i share elements")
    slots.iterator.map(slot => out.subTensor(slot.shape, slot.coords)).toVector
  }

  /** A black image: rows, columns and, where the format has several, channels. */
  def image[S: Sc](width: Long, height: Long, format: Format): STen =
    STen.zeros(format.shape(width, height), STenOptions(format.dtype))

  /** Sizes or coordinates that are given innermost first (width, height, channels, samples), in the
    * order of shapes here, outermost first.
    */
  def fromWHCN(numbers: Long*): List[Long] = numbers.reverse.toList

  /** A matrix of another library, or an array of rows, copied. */
  def fromMatrix[M](m: M)(implicit matrix: MatrixLike[M], scope: Scope): STen = matrix.tensor(m)

  /** Writes shape and elements in row-major order, with a version and checksums, for [[read]]. What was
    * written before stays at the path until all is there.
    *
    * @throws FormatException
    *   where the file cannot be written
    */
  def write(t: STen, path: Path): Unit = Serial.toFile(path)(Serial.write(t, _))

  /** As the other `write`, to a stream, which is neither flushed nor closed. */
  def write(t: STen, to: OutputStream): Unit = Serial.write(t, to)

  /** The tensor that [[write]], or dlib's `serialize` of a tensor (version 2), has written. Anything else
    * is a [[FormatException]].
    */
  def read[S: Sc](path: Path): STen = Serial.fromFile(path)(Serial.read(_, _))

  /** As the other `read`, from a stream, of which no byte behind the tensor is read. */
  def read[S: Sc](from: InputStream): STen = Serial.read(from, Long.MaxValue)
}
