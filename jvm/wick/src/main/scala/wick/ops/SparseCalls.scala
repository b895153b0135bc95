package wick

/** The codes of the sparse operations, and what is asked of sparse tensors. */
private[wick] object SparseCalls {
  val coalesce: Int = Native.opCode("sparse", "coalesce")
  val indices: Int = Native.opCode("sparse", "indices")
  val values: Int = Native.opCode("sparse", "values")
  val toDense: Int = Native.opCode("sparse", "to_dense")
  val toSparse: Int = Native.opCode("sparse", "to_sparse")
  val zerosLike: Int = Native.opCode("sparse", "zeros_like")

  /** Elements there, 1 where coalesced, sparse dimensions, bytes. */
  def info(t: STen): Array[Long] = {
    val out = new Array[Long](4)
    Native.sparseInfo(t.handle, out)
    out
  }

  /** Refuses a sparse operand of an operation that asks for nothing but its shape. */
  def dense(op: String, t: STen): Unit =
    if (t.isSparse)
      throw new IllegalArgumentException(
        s"$op: sparse ${t.dtype.name} ${t.shapeText}: not defined for it: call toDense first"
      )
}
