package wick

/** Functions of the [[STen]] companion: joining tensors. */
private[wick] trait ShapeFunctions {

  /** Tensors of equal shapes but for dimension `dim`, after each other along it, in the element type
    * that holds them all. A 1-D tensor without elements fits anything, as in libtorch.
    */
  def cat[S: Sc](tensors: Seq[STen], dim: Long): STen =
    own(Native.cat(handles(tensors), dim, 0L), tensors)

  /** Tensors of one shape along a new dimension `dim`, in the element type that holds them all. */
  def stack[S: Sc](tensors: Seq[STen], dim: Long): STen =
    own(Native.stack(handles(tensors), dim, 0L), tensors)

  /** As `cat`, into a tensor of the result's shape. */
  def catOut(out: STen, tensors: Seq[STen], dim: Int): Unit = {
    Native.cat(handles(tensors), dim.toLong, out.handle)
    ()
  }

  /** As `stack`, into a tensor of the result's shape. */
  def stackOut(out: STen, tensors: Seq[STen], dim: Int): Unit = {
    Native.stack(handles(tensors), dim.toLong, out.handle)
    ()
  }

  /** The rows of matrices below each other. */
  def concatRows[S: Sc](matrices: Seq[STen]): STen = cat(checked("concatRows", matrices), 0)

  /** The columns of matrices beside each other. */
  def concatColumns[S: Sc](matrices: Seq[STen]): STen = cat(checked("concatColumns", matrices), 1)

  private def checked(op: String, matrices: Seq[STen]): Seq[STen] = {
    matrices.find(_.dim != 2).foreach { t =>
      throw new ShapeException(s"$op: ${t.dtype} ${t.shapeText}: expected matrices")
    }
    matrices
  }

  private def own(raw: Long, tensors: Seq[STen])(implicit scope: Scope): STen =
    STen.own(raw, tensors.head)

  private def handles(tensors: Seq[STen]): Array[Long] = {
    val out = new Array[Long](tensors.length)
    var i = 0
    tensors.foreach { t => out(i) = t.handle; i += 1 }
    out
  }
}
