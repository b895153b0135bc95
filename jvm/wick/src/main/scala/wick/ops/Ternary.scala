package wick

/** The codes of the operations with three operands, and the one way to call them. */
private[wick] object Ternary {
  val where: Int = Native.opCode("ternary", "where")
  val addcmul: Int = Native.opCode("ternary", "addcmul")
  val addcdiv: Int = Native.opCode("ternary", "addcdiv")
  val lerp: Int = Native.opCode("ternary", "lerp")
  val lerpScalar: Int = Native.opCode("ternary", "lerp_scalar")
  val clamp: Int = Native.opCode("ternary", "clamp")

  def make(op: Int, a: STen, b: STen, c: STen, value: Double)(implicit scope: Scope): STen =
    STen.own(call(op, a, b, c, value, 0L), a, b)

  def into(op: Int, a: STen, b: STen, c: STen, value: Double, out: STen): Unit = {
    call(op, a, b, c, value, out.handle)
    ()
  }

  // A whole value travels as an integer, so that integer tensors take it.
  private def call(op: Int, a: STen, b: STen, c: STen, value: Double, out: Long): Long =
    if (value == value.toLong.toDouble)
      Native.ternary(op, a.handle, b.handle, c.handle, Native.INT, value.toLong, out)
    else
      Native.ternary(op, a.handle, b.handle, c.handle, Native.FLOAT, Codes.bits(value), out)
}
