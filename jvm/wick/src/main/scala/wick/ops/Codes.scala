package wick

/** Bits of the scalars that natives take. */
private[wick] object Codes {
  def bits(v: Double): Long = java.lang.Double.doubleToRawLongBits(v)
}
