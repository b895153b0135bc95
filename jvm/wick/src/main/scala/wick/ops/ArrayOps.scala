package wick

/** Methods of [[STen]]: between tensors and JVM arrays.
  *
  * An array takes the elements in row-major order. Its type must be the element type: another one is
  * a [[DTypeException]], and a cast (`castToFloat`, …) converts.
  */
private[wick] trait ArrayOps { self: STen =>

  private def count: Int = {
    val n = numel
    if (n > ArrayOps.MaxLength)
      throw new ShapeException(s"to array: $dtype $shapeText: $n elements exceed what a JVM array holds")
    n.toInt
  }

  /** The elements of an f64 tensor. */
  def toDoubleArray: Array[Double] = {
    val out = new Array[Double](count)
    Native.toDoubles(handle, out)
    out
  }

  /** The elements of an f32 tensor. */
  def toFloatArray: Array[Float] = {
    val out = new Array[Float](count)
    Native.toFloats(handle, out)
    out
  }

  /** The elements of an i64 tensor. */
  def toLongArray: Array[Long] = {
    val out = new Array[Long](count)
    Native.toLongs(handle, out)
    out
  }

  /** The elements of an i32 tensor. */
  def toIntArray: Array[Int] = {
    val out = new Array[Int](count)
    Native.toInts(handle, out)
    out
  }

  /** The elements of an i16 tensor. */
  def toShortArray: Array[Short] = {
    val out = new Array[Short](count)
    Native.toShorts(handle, out)
    out
  }

  /** The elements of an i8 tensor, or the bits of a u8 tensor's. */
  def toByteArray: Array[Byte] = {
    val out = new Array[Byte](count)
    Native.toBytes(handle, out)
    out
  }

  /** The elements of a bool tensor. */
  def toBooleanArray: Array[Boolean] = {
    val out = new Array[Boolean](count)
    Native.toBooleans(handle, out)
    out
  }

  /** The bits of the elements of an f16 or bf16 tensor. */
  def toHalfBitsArray: Array[Short] = {
    val out = new Array[Short](count)
    Native.toHalfBits(handle, out)
    out
  }

  /** The element of a tensor that has one, of any type; any other count is a [[ShapeException]]. */
  def toDouble: Double = Native.itemDouble(handle)

  /** The element of a tensor that has one; fractions are cut off. */
  def toLong: Long = Native.itemLong(handle)

  /** Whether the element of a tensor that has one is not zero. */
  def toBoolean: Boolean = Native.itemDouble(handle) != 0

  /** The same as [[toDouble]]: libtorch's name. */
  def item: Double = toDouble
}

private object ArrayOps {
  // What the JVM can allocate, a few words below the greatest Int.
  final val MaxLength = Int.MaxValue - 8L
}
