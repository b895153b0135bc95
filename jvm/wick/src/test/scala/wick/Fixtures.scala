package wick

/** Tensors for suites that need some, made straight from the natives. */
object Fixtures {

  /** A vector of f64. */
  def doubles(values: Double*)(implicit scope: Scope): STen =
    STen.own(Native.fromDoubles(values.toArray, Array(values.length.toLong)))

  /** A tensor full of one number. */
  def full(dtype: DType, shape: Seq[Long], value: Double)(implicit scope: Scope): STen =
    STen.own(
      Native.full(dtype.number, shape.toArray, Native.FLOAT, java.lang.Double.doubleToRawLongBits(value))
    )

  /** A tensor of a dtype from numbers in row-major order. */
  def of(dtype: DType, shape: Long*)(values: Double*)(implicit scope: Scope): STen =
    STen.own(Native.cast(STen.own(Native.fromDoubles(values.toArray, shape.toArray)).handle, dtype.number))

  /** The elements in row-major order. */
  def values(t: STen): List[Double] = {
    val out = new Array[Double](t.numel.toInt)
    if (t.isDouble) Native.toDoubles(t.handle, out)
    else {
      val cast = Native.cast(t.handle, DType.F64.number) & Native.HANDLE_MASK
      try Native.toDoubles(cast, out)
      finally Native.release(cast)
    }
    out.toList
  }

  private lazy val addCode = Native.opCode("binary", "add")

  /** The sum, element by element. */
  def add(a: STen, b: STen)(implicit scope: Scope): STen =
    STen.own(Native.binary(addCode, a.handle, b.handle, Native.INT, 1L, 0L), a, b)

  /** Bytes of this process that lie in memory; None where the system does not say. */
  def resident: Option[Long] = {
    val statm = java.nio.file.Paths.get("/proc/self/statm")
    if (java.nio.file.Files.isReadable(statm))
      Some(new String(java.nio.file.Files.readAllBytes(statm), "US-ASCII").split(' ')(1).toLong * 4096)
    else None
  }
}
