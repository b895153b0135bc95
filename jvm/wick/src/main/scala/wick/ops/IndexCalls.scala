package wick

/** The codes of the operations that read and write by index, and the ways to call them. */
private[wick] object IndexCalls {
  val select: Int = Native.opCode("index", "index_select")
  val gather: Int = Native.opCode("index", "gather")
  val take: Int = Native.opCode("index", "take")
  val maskedSelect: Int = Native.opCode("index", "masked_select")

  val add: Int = Native.opCode("index_put", "index_add")
  val copy: Int = Native.opCode("index_put", "index_copy")
  val fill: Int = Native.opCode("index_put", "index_fill")
  val scatter: Int = Native.opCode("index_put", "scatter")
  val scatterAdd: Int = Native.opCode("index_put", "scatter_add")
  val put: Int = Native.opCode("index_put", "put")
  val putAccumulate: Int = Native.opCode("index_put", "put_accumulate")
  val maskedScatter: Int = Native.opCode("index_put", "masked_scatter")

  def read(op: Int, a: STen, dim: Long, index: STen)(implicit scope: Scope): STen =
    STen.own(Native.index(op, a.handle, dim, index.handle, 0L), a, index)

  def write(op: Int, a: STen, dim: Long, index: STen, source: STen)(implicit scope: Scope): STen =
    STen.own(writeRaw(op, a, dim, index, source, inPlace = false), a, index)

  def writeInto(op: Int, a: STen, dim: Long, index: STen, source: STen): Unit = {
    writeRaw(op, a, dim, index, source, inPlace = true)
    ()
  }

  private def writeRaw(op: Int, a: STen, dim: Long, index: STen, source: STen, inPlace: Boolean): Long =
    Native.indexPut(op, a.handle, dim, index.handle, source.handle, Native.INT, 0L, inPlace)

  /** The number as kind and bits. */
  def write(op: Int, a: STen, dim: Long, index: STen, kind: Int, bits: Long)(implicit scope: Scope): STen =
    STen.own(Native.indexPut(op, a.handle, dim, index.handle, 0L, kind, bits, false), a, index)

  def writeInto(op: Int, a: STen, dim: Long, index: STen, kind: Int, bits: Long): Unit = {
    Native.indexPut(op, a.handle, dim, index.handle, 0L, kind, bits, true)
    ()
  }

  def fill(a: STen, mask: STen, kind: Int, bits: Long)(implicit scope: Scope): STen =
    STen.own(Native.maskedFill(a.handle, mask.handle, kind, bits, false), a, mask)

  def fillInto(a: STen, mask: STen, kind: Int, bits: Long): Unit = {
    Native.maskedFill(a.handle, mask.handle, kind, bits, true)
    ()
  }

  def handles(tensors: Seq[STen]): Array[Long] = {
    val out = new Array[Long](tensors.size)
    var i = 0
    tensors.foreach { t => out(i) = t.handle; i += 1 }
    out
  }
}
