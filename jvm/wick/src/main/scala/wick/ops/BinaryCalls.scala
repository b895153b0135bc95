package wick

import Codes.bits

/** The one way to call an operation of two operands. */
private[wick] object BinaryCalls {

  def binary(op: Int, a: STen, b: STen)(implicit scope: Scope): STen =
    STen.own(Native.binary(op, a.handle, b.handle, Native.INT, 1L, 0L), a, b)

  def binary(op: Int, a: STen, b: Double)(implicit scope: Scope): STen =
    STen.own(
      Native.binaryScalar(op, a.handle, Native.FLOAT, bits(b), false, Native.INT, 1L, 0L),
      a
    )

  def binary(op: Int, a: STen, b: Long)(implicit scope: Scope): STen =
    STen.own(Native.binaryScalar(op, a.handle, Native.INT, b, false, Native.INT, 1L, 0L), a)

  def binaryInto(op: Int, a: STen, b: STen, out: STen): Unit = {
    Native.binary(op, a.handle, b.handle, Native.INT, 1L, out.handle)
    ()
  }

  def binaryInto(op: Int, a: STen, b: Double, out: STen): Unit = {
    Native.binaryScalar(op, a.handle, Native.FLOAT, bits(b), false, Native.INT, 1L, out.handle)
    ()
  }

  def binaryInto(op: Int, a: STen, b: Long, out: STen): Unit = {
    Native.binaryScalar(op, a.handle, Native.INT, b, false, Native.INT, 1L, out.handle)
    ()
  }

  /** `a + alpha * b`, `a - alpha * b`. */
  def scaled(op: Int, a: STen, b: STen, alpha: Double)(implicit scope: Scope): STen =
    STen.own(Native.binary(op, a.handle, b.handle, Native.FLOAT, bits(alpha), 0L), a, b)

  def scaled(op: Int, a: STen, b: STen, alpha: Long)(implicit scope: Scope): STen =
    STen.own(Native.binary(op, a.handle, b.handle, Native.INT, alpha, 0L), a, b)

  def scaled(op: Int, a: STen, b: Double, alpha: Double)(implicit scope: Scope): STen =
    STen.own(
      Native.binaryScalar(op, a.handle, Native.FLOAT, bits(b), false, Native.FLOAT, bits(alpha), 0L),
      a
    )

  def scaledInto(op: Int, a: STen, b: STen, alpha: Double, out: STen): Unit = {
    Native.binary(op, a.handle, b.handle, Native.FLOAT, bits(alpha), out.handle)
    ()
  }
}
