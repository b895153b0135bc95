package wick

/** Functions of the companion: tensors from files of raw little-endian elements. */
private[wick] trait FileFunctions {

  /** A vector of `length` bytes' worth of elements from byte `offset` of a file.
    *
    * The bytes are read, by all threads at once and without a copy, into native memory that the scope owns
    * and [[Wick.memory]] counts; nothing else is allocated. What happens to the file afterwards, truncation
    * included, is not seen and can do no harm; a file that is shortened while it is read is a
    * [[FormatException]]. libtorch maps the file instead: there the first access beyond a new end kills the
    * JVM.
    *
    * @param offset
    *   a multiple of 4096
    * @param length
    *   bytes; a multiple of the element's size; 0 gives an empty tensor
    * @param scalarTypeByte
    *   libtorch's number of the element type
    * @param pin
    *   page-locked memory where there is a device that wants it; without one it changes nothing
    * @throws FormatException
    *   where the file cannot be read or does not hold those bytes
    */
  def fromFile[S: Sc](path: String, offset: Long, length: Long, scalarTypeByte: Byte, pin: Boolean): STen =
    tensorsFromFile(path, offset, length, pin, List((scalarTypeByte, 0L, length))).head

  /** Several tensors from the `length` bytes at byte `offset` of a file, all in one piece of memory.
    *
    * @param tensors
    *   element type, first byte counted from `offset` and a multiple of 8, and bytes of each
    */
  def tensorsFromFile[S: Sc](
      path: String,
      offset: Long,
      length: Long,
      pin: Boolean,
      tensors: List[(Byte, Long, Long)]
  ): Vector[STen] = {
    val parts = tensors.flatMap { case (dtype, from, bytes) => List(dtype.toLong, from, bytes) }.toArray
    val results = new Array[Long](tensors.size)
    Native.tensorsFromFile(path, offset, length, parts, results)
    if (Context.of[S].number == 0) STen.ownAll(results).toVector
    else Scope.in(Context.default) { here =>
      val read = STen.ownAll(results)(here)
      read.map(CPU.to(_)).toVector
    }
  }
}
