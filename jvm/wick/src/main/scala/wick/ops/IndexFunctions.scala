package wick

/** Functions of the [[STen]] companion: indexing into a given tensor, and where. */
private[wick] trait IndexFunctions {

  /** The elements of `self` where the condition holds, of `other` elsewhere; shapes broadcast, dtypes
    * promote. libtorch: `where`.
    */
  def where[S: Sc](condition: STen, self: STen, other: STen): STen =
    STen.own(
      Native.ternary(Ternary.where, condition.handle, self.handle, other.handle, Native.INT, 0L, 0L),
      condition,
      self
    )

  /** As `where`, with a number where the condition does not hold. */
  def where[S: Sc](condition: STen, self: STen, other: Double): STen =
    branch(condition, self, 0L, Native.FLOAT, Codes.bits(other))

  /** As `where`, with a whole number where the condition does not hold. */
  def where[S: Sc](condition: STen, self: STen, other: Long): STen =
    branch(condition, self, 0L, Native.INT, other)

  /** As `where`, with a number where the condition holds. */
  def where[S: Sc](condition: STen, self: Double, other: STen): STen =
    branch(condition, null, other.handle, Native.FLOAT, Codes.bits(self))

  /** As `where`, with a whole number where the condition holds. */
  def where[S: Sc](condition: STen, self: Long, other: STen): STen =
    branch(condition, null, other.handle, Native.INT, self)

  private def branch(condition: STen, self: STen, other: Long, kind: Int, bits: Long)(implicit scope: Scope): STen =
    STen.own(
      Native.ternary(Ternary.where, condition.handle, if (self == null) 0L else self.handle, other, kind, bits, 0L),
      condition,
      self
    )

  /** `indexSelect` of `self` into `out`, which has the result's shape and dtype. */
  def indexSelectOut(out: STen, self: STen, dim: Int, index: STen): Unit = {
    Native.index(IndexCalls.select, self.handle, dim.toLong, index.handle, out.handle)
    ()
  }

  /** `indexCopy` of `self` into `out`, which has its shape. */
  def indexCopyOut(out: STen, self: STen, dim: Int, index: STen, source: STen): Unit = {
    val result = Native.indexPut(
      IndexCalls.copy,
      self.handle,
      dim.toLong,
      index.handle,
      source.handle,
      Native.INT,
      0L,
      false
    ) & Native.HANDLE_MASK
    try Native.copy(out.handle, result)
    finally Native.release(result)
  }
}
