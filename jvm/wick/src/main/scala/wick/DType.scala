package wick

/** The element type of a tensor.
  *
  * `number` is libtorch's scalar type number, which lamp calls `scalarTypeByte` and which native
  * handles carry in their low bits; `name` is the short name that errors and printing use.
  */
sealed abstract class DType(
    val number: Int,
    val name: String,
    val size: Int,
    val isFloatingPoint: Boolean
) extends Product
    with Serializable {

  /** The libtorch number as lamp has it. */
  def scalarTypeByte: Byte = number.toByte

  /** Whether values are integers (bool is not). */
  def isIntegral: Boolean = !isFloatingPoint && this != DType.Bool

  override def toString: String = name
}

/** The ten element types. */
object DType {

  /** Unsigned 8-bit integers. */
  case object U8 extends DType(0, "u8", 1, false)

  /** Signed 8-bit integers: lamp's byte. */
  case object I8 extends DType(1, "i8", 1, false)

  /** 16-bit integers. */
  case object I16 extends DType(2, "i16", 2, false)

  /** 32-bit integers. */
  case object I32 extends DType(3, "i32", 4, false)

  /** 64-bit integers. */
  case object I64 extends DType(4, "i64", 8, false)

  /** IEEE half precision; computes in f32. */
  case object F16 extends DType(5, "f16", 2, true)

  /** IEEE single precision. */
  case object F32 extends DType(6, "f32", 4, true)

  /** IEEE double precision. */
  case object F64 extends DType(7, "f64", 8, true)

  /** Truth values, one byte each. */
  case object Bool extends DType(11, "bool", 1, false)

  /** Brain floating point: f32 cut to 16 bits; computes in f32. */
  case object BF16 extends DType(15, "bf16", 2, true)

  /** All element types in the order of their libtorch numbers. */
  val values: List[DType] = List(U8, I8, I16, I32, I64, F16, F32, F64, Bool, BF16)

  private[this] val table: Array[DType] =
    Array.tabulate(16)(n => values.find(_.number == n).orNull)

  /** The type with a libtorch number; a number without one is a [[DTypeException]]. */
  def fromNumber(number: Int): DType = {
    val found = if (number >= 0 && number < table.length) table(number) else null
    if (found == null)
      throw new DTypeException(
        s"dtype: libtorch scalar type number $number is not offered; the numbers are " +
          values.map(d => s"${d.number} ${d.name}").mkString(", ")
      )
    found
  }

  /** The type of a native handle. */
  private[wick] def ofHandle(handle: Long): DType = table((handle & Native.DTYPE_MASK).toInt)
}
