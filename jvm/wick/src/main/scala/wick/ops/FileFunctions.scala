package wick

/** Functions of the companion: tensors from files, of raw little-endian elements or of formats. */
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
    here(results)
  }

  /** The array of a NumPy `.npy` file, of versions 1 to 3, in the element type of the file. One that was
    * written column by column is a transposed view. Big-endian elements, unsigned ones of more than a byte,
    * complex ones and objects are a [[FormatException]], as is whatever else is not as the format says.
    */
  def fromNpy[S: Sc](path: String): STen = here(Array(Native.fromNpy(path))).head

  /** The tensors of a safetensors file by their names, and the file's metadata. They share one piece of
    * memory, the whole file's.
    *
    * {{{
    * val (weights, _) = STen.fromSafetensors("model.safetensors")
    * val logits = x.mm(weights("head.weight").t)
    * }}}
    *
    * @throws FormatException
    *   where the file cannot be read, is not as the format says, or has a type that no tensor has
    */
  def fromSafetensors[S: Sc](path: String): (Map[String, STen], Map[String, String]) = {
    val all = Native.fromSafetensors(path)
    val names = all(1).asInstanceOf[Array[String]]
    val metadata = all(2).asInstanceOf[Array[String]].grouped(2).map(kv => kv(0) -> kv(1)).toMap
    (names.zip(here(all(0).asInstanceOf[Array[Long]])).toMap, metadata)
  }

  /** Tensors that were read into the default context, in the scope's own. */
  private def here[S: Sc](results: Array[Long]): Vector[STen] =
    if (Context.of[S].number == 0) STen.ownAll(results).toVector
    else
      Scope.in(Context.default) { first =>
        val read = STen.ownAll(results)(first)
        read.map(CPU.to(_)).toVector
      }
}
