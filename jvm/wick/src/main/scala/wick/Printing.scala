package wick

/** Shows tensors as NumPy prints arrays. */
private[wick] object Printing {

  /** Element type and shape; never throws. */
  def show(t: STen): String = {
    val trailer = s"${t.dtypeUnchecked.name}, ${t.shapeText})"
    if (t.isClosed) s"STen(closed, $trailer" else s"STen($trailer"
  }
}
