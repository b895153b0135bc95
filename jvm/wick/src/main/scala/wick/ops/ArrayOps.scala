package wick

import wick.DType._

/** Methods of [[STen]]: to JVM arrays and between element types.
  *
  * Arrays have the elements in row-major order, whatever the strides. An array's type must hold every
  * value of the tensor's: f16 comes out as floats or doubles, but i64 does not come out as ints or
  * doubles without a cast.
  */
private[wick] trait ArrayOps { self: STen =>

  private def length: Int = {
    val n = numel
    if (n > Int.MaxValue - 8)
      throw new ShapeException(
        s"to array: $dtype $shapeText: a JVM array holds at most ${Int.MaxValue - 8} elements"
      )
    n.toInt
  }

  /** Runs `read` on the elements as `wanted`, which `from` widen to. */
  private def read[A](wanted: DType, from: DType*)(make: Int => A)(fill: (Long, A) => Unit): A = {
    val h = handle
    if (dtype == wanted) {
      val out = make(length)
      fill(h, out)
      out
    } else if (from.contains(dtype)) {
      val out = make(length)
      val cast = Native.cast(h, wanted.number) & Native.HANDLE_MASK
      try fill(cast, out)
      finally Native.release(cast)
      out
    } else throw new DTypeException(s"to array: $dtype $shapeText: the array holds $wanted: cast first")
  }

  /** The elements of an f64, f32, f16 or bf16 tensor. */
  def toDoubleArray: Array[Double] =
    read(F64, F32, F16, BF16)(new Array[Double](_))(Native.toDoubles(_, _))

  /** The elements of an f32, f16 or bf16 tensor. */
  def toFloatArray: Array[Float] = read(F32, F16, BF16)(new Array[Float](_))(Native.toFloats(_, _))

  /** The elements of an integer tensor. */
  def toLongArray: Array[Long] =
    read(I64, I32, I16, I8, U8)(new Array[Long](_))(Native.toLongs(_, _))

  /** The elements of an i32, i16, i8 or u8 tensor. */
  def toIntArray: Array[Int] = read(I32, I16, I8, U8)(new Array[Int](_))(Native.toInts(_, _))

  /** The elements of an i16, i8 or u8 tensor. */
  def toShortArray: Array[Short] = read(I16, I8, U8)(new Array[Short](_))(Native.toShorts(_, _))

  /** The elements of an i8 tensor; of a u8 tensor their bits, so that 255 comes out as -1. */
  def toByteArray: Array[Byte] =
    read(if (dtype == U8) U8 else I8)(new Array[Byte](_))(Native.toBytes(_, _))

  /** The elements of a bool tensor. */
  def toBooleanArray: Array[Boolean] = read(Bool)(new Array[Boolean](_))(Native.toBooleans(_, _))

  /** The 16 bits of each element of an f16 or bf16 tensor. */
  def toHalfBits: Array[Short] =
    read(if (dtype == BF16) BF16 else F16)(new Array[Short](_))(Native.toHalfBits(_, _))

  /** The one element of a tensor of any type and shape that has exactly one. */
  def item: Double = Native.itemDouble(handle)

  /** As [[item]], exact over all of i64; floats are cut off. */
  def itemLong: Long = Native.itemLong(handle)

  /** The same as [[item]]. */
  def toDouble: Double = item

  /** The same as [[itemLong]]. */
  def toLong: Long = itemLong

  /** Whether the one element of a tensor that has exactly one is not zero. */
  def toBoolean: Boolean = item != 0

  private def cast[S: Sc](to: DType): STen =
    if (dtype == to) alias else STen.own(Native.cast(handle, to.number), this)

  /** In the element type of a libtorch number. As all casts: floats become integers by cutting off
    * the fraction, integers wrap, whatever is not zero is true; a tensor that has the type already
    * is not copied, the result shares its elements.
    */
  def castToType[S: Sc](scalarType: Byte): STen = cast(DType.fromNumber(scalarType.toInt))

  /** In another element type; see [[castToType]]. */
  def castToType[S: Sc](dtype: DType): STen = cast(dtype)

  /** In f64; see [[castToType]]. */
  def castToDouble[S: Sc]: STen = cast(F64)

  /** In f32; see [[castToType]]. */
  def castToFloat[S: Sc]: STen = cast(F32)

  /** In f16; see [[castToType]]. */
  def castToHalf[S: Sc]: STen = cast(F16)

  /** In bf16; see [[castToType]]. */
  def castToBF16[S: Sc]: STen = cast(BF16)

  /** In i64; see [[castToType]]. */
  def castToLong[S: Sc]: STen = cast(I64)

  /** In i32; see [[castToType]]. */
  def castToInt[S: Sc]: STen = cast(I32)

  /** In i16; see [[castToType]]. */
  def castToShort[S: Sc]: STen = cast(I16)

  /** In i8; see [[castToType]]. */
  def castToByte[S: Sc]: STen = cast(I8)

  /** In u8; see [[castToType]]. */
  def castToUnsignedByte[S: Sc]: STen = cast(U8)

  /** As truth values; see [[castToType]]. */
  def castToBool[S: Sc]: STen = cast(Bool)

  /** A copy with the element type, on the device and with the padding of `options`. */
  def copyTo[S: Sc](options: STenOptions): STen = {
    if (options.isSparse)
      throw new DTypeException(s"copyTo: ${options.dtype} sparse: expected the strided layout")
    val from = handle
    val kept = if (frame eq null) null else frame.copied
    if (options.isPadded) {
      val out = Padded.empty("copyTo", dims, options)
      Native.copy(out.handle, from)
      if (kept eq null) out else out.withValidRegion(kept.region)
    } else {
      val cast = STen.own(Native.cast(from, options.dtype.number), dims, kept)
      if (options.device == device) cast
      else
        try cast.to(options.device)
        finally cast.close()
    }
  }

  /** On another device; where it is there already, a second owner of the same elements. */
  def copyToDevice(device: Device)(implicit scope: Scope): STen = device.to(this)
}
