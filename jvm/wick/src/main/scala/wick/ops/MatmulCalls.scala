package wick

/** The codes of the matrix products, and the one way to call each of their two natives. */
private[wick] object MatmulCalls {
  val mm: Int = Native.opCode("matmul", "mm")
  val bmm: Int = Native.opCode("matmul", "bmm")
  val matmul: Int = Native.opCode("matmul", "matmul")
  val mv: Int = Native.opCode("matmul", "mv")
  val dot: Int = Native.opCode("matmul", "dot")
  val inner: Int = Native.opCode("matmul", "inner")
  val outer: Int = Native.opCode("matmul", "outer")
  val addmm: Int = Native.opCode("addmm", "addmm")
  val baddbmm: Int = Native.opCode("addmm", "baddbmm")
  val addmv: Int = Native.opCode("addmm", "addmv")

  def times(op: Int, a: STen, b: STen)(implicit scope: Scope): STen =
    STen.own(Native.matmul(op, a.handle, b.handle, 0L), a, b)

  def timesInto(op: Int, a: STen, b: STen, out: STen): Unit = {
    Native.matmul(op, a.handle, b.handle, out.handle)
    ()
  }

  def plusTimes(op: Int, c: STen, a: STen, b: STen, beta: Double, alpha: Double)(implicit
      scope: Scope
  ): STen = STen.own(call(op, c, a, b, beta, alpha, 0L), c, a)

  def plusTimesInto(op: Int, c: STen, a: STen, b: STen, beta: Double, alpha: Double, out: STen): Unit = {
    call(op, c, a, b, beta, alpha, out.handle)
    ()
  }

  private def call(op: Int, c: STen, a: STen, b: STen, beta: Double, alpha: Double, out: Long) =
    Native.addmm(
      op,
      c.handle,
      a.handle,
      b.handle,
      Native.FLOAT,
      Codes.bits(beta),
      Native.FLOAT,
      Codes.bits(alpha),
      out
    )
}
