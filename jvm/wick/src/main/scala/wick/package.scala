/** Off-heap N-dimensional arrays for Scala: [[wick.STen]], freed when their [[wick.Scope]] ends.
  *
  * {{{
  * import wick._
  *
  * val total: Double = Scope.root { implicit scope =>
  *   val x = STen.fromDoubleArray(Array(1d, 2d, 3d), List(3), CPU, DoublePrecision)
  *   (2.0 * x).sum.toDoubleArray.head
  * }
  * }}}
  */
package object wick {
  import ElementwiseCodes.Binary

  /** Lets a method ask for its scope by a context bound: `def f[S: Sc](t: STen): STen`. */
  type Sc[_] = Scope

  /** The scope that new tensors would go to here. */
  def scope(implicit s: Scope): Scope = s

  /** A double on the left of a tensor: `2.0 * t`. */
  implicit final class DoubleLeft(private val number: Double) extends AnyVal {

    /** `number + t`, element by element. */
    def +[S: Sc](t: STen): STen = LeftOps.float(Binary.add, number, t)

    /** `number - t`, element by element. */
    def -[S: Sc](t: STen): STen = LeftOps.float(Binary.sub, number, t)

    /** `number * t`, element by element. */
    def *[S: Sc](t: STen): STen = LeftOps.float(Binary.mul, number, t)

    /** `number / t`, element by element. */
    def /[S: Sc](t: STen): STen = LeftOps.float(Binary.div, number, t)

    /** `number + e`, element by element. */
    def +(e: Expr): Expr = Expr.binary(Binary.add, number, e)

    /** `number - e`, element by element. */
    def -(e: Expr): Expr = Expr.binary(Binary.sub, number, e)

    /** `number * e`, element by element. */
    def *(e: Expr): Expr = Expr.binary(Binary.mul, number, e)

    /** `number / e`, element by element. */
    def /(e: Expr): Expr = Expr.binary(Binary.div, number, e)
  }

  /** A float on the left of a tensor. */
  implicit final class FloatLeft(private val number: Float) extends AnyVal {

    /** `number + t`, element by element. */
    def +[S: Sc](t: STen): STen = LeftOps.float(Binary.add, number.toDouble, t)

    /** `number - t`, element by element. */
    def -[S: Sc](t: STen): STen = LeftOps.float(Binary.sub, number.toDouble, t)

    /** `number * t`, element by element. */
    def *[S: Sc](t: STen): STen = LeftOps.float(Binary.mul, number.toDouble, t)

    /** `number / t`, element by element. */
    def /[S: Sc](t: STen): STen = LeftOps.float(Binary.div, number.toDouble, t)

    /** `number + e`, element by element. */
    def +(e: Expr): Expr = Expr.binary(Binary.add, number.toDouble, e)

    /** `number - e`, element by element. */
    def -(e: Expr): Expr = Expr.binary(Binary.sub, number.toDouble, e)

    /** `number * e`, element by element. */
    def *(e: Expr): Expr = Expr.binary(Binary.mul, number.toDouble, e)

    /** `number / e`, element by element. */
    def /(e: Expr): Expr = Expr.binary(Binary.div, number.toDouble, e)
  }

  /** A long on the left of a tensor; integer tensors stay integer. */
  implicit final class LongLeft(private val number: Long) extends AnyVal {

    /** `number + t`, element by element. */
    def +[S: Sc](t: STen): STen = LeftOps.int(Binary.add, number, t)

    /** `number - t`, element by element. */
    def -[S: Sc](t: STen): STen = LeftOps.int(Binary.sub, number, t)

    /** `number * t`, element by element. */
    def *[S: Sc](t: STen): STen = LeftOps.int(Binary.mul, number, t)

    /** `number / t`, element by element. */
    def /[S: Sc](t: STen): STen = LeftOps.int(Binary.div, number, t)

    /** `number + e`, element by element. */
    def +(e: Expr): Expr = Expr.binary(Binary.add, number, e)

    /** `number - e`, element by element. */
    def -(e: Expr): Expr = Expr.binary(Binary.sub, number, e)

    /** `number * e`, element by element. */
    def *(e: Expr): Expr = Expr.binary(Binary.mul, number, e)

    /** `number / e`, element by element. */
    def /(e: Expr): Expr = Expr.binary(Binary.div, number, e)
  }

  /** An int on the left of a tensor; integer tensors stay integer. */
  implicit final class IntLeft(private val number: Int) extends AnyVal {

    /** `number + t`, element by element. */
    def +[S: Sc](t: STen): STen = LeftOps.int(Binary.add, number.toLong, t)

    /** `number - t`, element by element. */
    def -[S: Sc](t: STen): STen = LeftOps.int(Binary.sub, number.toLong, t)

    /** `number * t`, element by element. */
    def *[S: Sc](t: STen): STen = LeftOps.int(Binary.mul, number.toLong, t)

    /** `number / t`, element by element. */
    def /[S: Sc](t: STen): STen = LeftOps.int(Binary.div, number.toLong, t)

    /** `number + e`, element by element. */
    def +(e: Expr): Expr = Expr.binary(Binary.add, number.toLong, e)

    /** `number - e`, element by element. */
    def -(e: Expr): Expr = Expr.binary(Binary.sub, number.toLong, e)

    /** `number * e`, element by element. */
    def *(e: Expr): Expr = Expr.binary(Binary.mul, number.toLong, e)

    /** `number / e`, element by element. */
    def /(e: Expr): Expr = Expr.binary(Binary.div, number.toLong, e)
  }

  /** Matrices of other libraries, and arrays of rows, as operands of a tensor; see [[MatrixLike]]. */
  implicit final class MatrixSyntax(private val t: STen) extends AnyVal {

    /** The elements take those of the matrix, cast and broadcast. */
    def copyFrom[M](m: M)(implicit matrix: MatrixLike[M]): Unit =
      Scope.unsafe { implicit scope => t.copyFrom(matrix.tensor(m)) }

    /** The elements take those of the matrix, cast: it must have a row for each index of the first
      * dimension and as many columns as the other dimensions have elements.
      */
    def assignMatrix[M: MatrixLike](m: M): Unit =
      MatrixLike.passing("assign_matrix", t, m)(t.copyFrom(_))

    /** Adds the matrix, of the size that [[assignMatrix]] wants, in place. */
    def +=[M: MatrixLike](m: M): Unit = MatrixLike.passing("add_matrix", t, m)(t += _)

    /** Subtracts the matrix, of the size that [[assignMatrix]] wants, in place. */
    def -=[M: MatrixLike](m: M): Unit = MatrixLike.passing("sub_matrix", t, m)(t -= _)

    /** Sample `i` takes the elements of the matrix, cast: as many as a sample has, in any shape. */
    def setSample[M](i: Long, m: M)(implicit matrix: MatrixLike[M]): Unit =
      Scope.unsafe { implicit scope => t.setSample(i, matrix.tensor(m)) }

    /** Adds the elements of the matrix to sample `i`: as many as a sample has, in any shape. */
    def addToSample[M](i: Long, m: M)(implicit matrix: MatrixLike[M]): Unit =
      Scope.unsafe { implicit scope => t.addToSample(i, matrix.tensor(m)) }
  }
}
