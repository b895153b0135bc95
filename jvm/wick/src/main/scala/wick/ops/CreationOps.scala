package wick

/** Methods of [[STen]]: one value everywhere. */
private[wick] trait CreationOps { self: STen =>

  /** Sets all elements to a number. One that the element type cannot hold is a [[DTypeException]];
    * integer types cut off a fraction.
    */
  def fill_(v: Double): Unit = Native.fill(handle, Native.FLOAT, Codes.bits(v))

  /** Sets all elements to a whole number of all 64 bits. */
  def fill_(v: Long): Unit = Native.fill(handle, Native.INT, v)

  /** Sets all elements to the value of a tensor without dimensions. */
  def fill_(v: STen): Unit = Native.fillTensor(handle, v.handle)

  /** Sets all elements to zero. */
  def zero_(): Unit = Native.fill(handle, Native.INT, 0L)
}
