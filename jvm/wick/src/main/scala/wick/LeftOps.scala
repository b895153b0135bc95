package wick

/** The calls behind numbers on the left of a tensor. */
private[wick] object LeftOps {
  def float(op: Int, number: Double, t: STen)(implicit scope: Scope): STen =
    call(op, Native.FLOAT, Codes.bits(number), t)

  def int(op: Int, number: Long, t: STen)(implicit scope: Scope): STen =
    call(op, Native.INT, number, t)

  private def call(op: Int, kind: Int, bits: Long, t: STen)(implicit scope: Scope): STen =
    STen.own(Native.binaryScalar(op, t.handle, kind, bits, true, Native.INT, 1L, 0L), t)
}
