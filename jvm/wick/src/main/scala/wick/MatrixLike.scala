package wick

import scala.reflect.ClassTag

/** What may stand for a matrix: arrays of rows, and whatever a library's user gives an instance for.
  * {{{
  * implicit def mine: MatrixLike[MyMatrix] = new MatrixLike[MyMatrix] {
  *   def rows(m: MyMatrix) = m.height.toLong
  *   def columns(m: MyMatrix) = m.width.toLong
  *   def tensor(m: MyMatrix)(implicit scope: Scope) =
  *     STen.fromDoubleArray(m.rowMajor, List(rows(m), columns(m)))
  * }
  * }}}
  */
trait MatrixLike[M] {

  /** How many rows there are. */
  def rows(m: M): Long

  /** How many columns there are. */
  def columns(m: M): Long

  /** A copy as a tensor of rows and columns. */
  def tensor(m: M)(implicit scope: Scope): STen
}

/** Instances for arrays of rows of equal length; other lengths are a [[ShapeException]]. */
object MatrixLike {

  private final class Rows[A: ClassTag](make: (Array[A], List[Long], Scope) => STen)
      extends MatrixLike[Array[Array[A]]] {

    def rows(m: Array[Array[A]]): Long = m.length.toLong
    def columns(m: Array[Array[A]]): Long = if (m.isEmpty) 0L else m(0).length.toLong

    def tensor(m: Array[Array[A]])(implicit scope: Scope): STen = {
      val width = columns(m).toInt
      val at = m.indexWhere(_.length != width)
      if (at >= 0)
        throw new ShapeException(s"matrix: row 0 has $width elements, row $at has ${m(at).length}")
      val count = m.length.toLong * width
      if (count > Int.MaxValue - 8)
        throw new ShapeException(s"matrix: $count elements: at most ${Int.MaxValue - 8} are possible")
      val all = new Array[A](count.toInt)
      for (i <- m.indices) System.arraycopy(m(i), 0, all, i * width, width)
      make(all, List(rows(m), columns(m)), scope)
    }
  }

  /** Rows of doubles. */
  implicit val doubles: MatrixLike[Array[Array[Double]]] =
    new Rows[Double]((a, dims, scope) => STen.fromDoubleArray(a, dims)(scope))

  /** Rows of floats. */
  implicit val floats: MatrixLike[Array[Array[Float]]] =
    new Rows[Float]((a, dims, scope) => STen.fromFloatArray(a, dims)(scope))

  /** Rows of longs. */
  implicit val longs: MatrixLike[Array[Array[Long]]] =
    new Rows[Long]((a, dims, scope) => STen.fromLongArray(a, dims)(scope))

  /** Rows of ints. */
  implicit val ints: MatrixLike[Array[Array[Int]]] =
    new Rows[Int]((a, dims, scope) => STen.fromIntArray(a, dims)(scope))

  /** Runs `use` on the matrix as a tensor of the shape of `t`: one row for each index of its first
    * dimension, as many columns as the others have elements.
    */
  private[wick] def passing[M](op: String, t: STen, m: M)(use: STen => Unit)(implicit M: MatrixLike[M]): Unit = {
    val shape = t.shape
    val rows = shape.headOption.getOrElse(1L)
    val columns = shape.drop(1).product
    if (M.rows(m) != rows || M.columns(m) != columns)
      throw new ShapeException(
        s"$op: ${t.dtype} ${t.shapeText} and a matrix [${M.rows(m)}, ${M.columns(m)}]: " +
          s"expected $rows rows of $columns"
      )
    Scope.unsafe { implicit scope => use(M.tensor(m).view(shape: _*)) }
  }
}
