package wick

/** Tensors that shape suites look at. */
object ShapeFixtures {

  /** i64 values of a shape. */
  def longs(shape: Array[Long], values: Long*)(implicit scope: Scope): STen =
    STen.own(Native.fromLongs(values.toArray, shape))

  /** i64 0, 1, 2, … of a shape. */
  def counted(shape: Int*)(implicit scope: Scope): STen =
    longs(shape.map(_.toLong).toArray, (0L until shape.map(_.toLong).product): _*)

  /** The elements of an i64 tensor, whose shape on the JVM's side must be the native one. */
  def values(t: STen): List[Long] = {
    assert(t.dims.toList == Native.shape(t.handle).toList, s"${t.shape} is ${Native.shape(t.handle).toList}")
    t.toLongArray.toList
  }

  implicit final class Transposed(private val t: STen) extends AnyVal {

    /** First and last dimension exchanged. */
    def t3(implicit scope: Scope): STen = t.transpose(0, -1)
  }
}
