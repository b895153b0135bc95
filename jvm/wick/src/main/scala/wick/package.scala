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
  }
}
