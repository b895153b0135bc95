package wick

import java.util.IdentityHashMap

import ElementwiseCodes.Binary

/** What [[STen.fuse]] evaluates: an expression, or the reduction of one. */
sealed trait Fusible {
  private[wick] def expression: Expr
  private[wick] def finish: Int
}

/** An elementwise expression of the operands given to [[STen.fuse]]. Its methods are those of [[STen]]
  * of the same names, with the same shapes, dtypes and values; nothing is computed before the
  * expression is whole. Numbers may stand on either side of an operator.
  */
sealed abstract class Expr private[wick] () extends Fusible with ExprOps {

  /** Sum; shapes broadcast, dtypes promote. libtorch: `add`. */
  def +(other: Expr): Expr = Expr.binary(Binary.add, this, other)

  /** Adds a number. libtorch: `add`. */
  def +(other: Double): Expr = Expr.binary(Binary.add, this, other)

  /** Adds a whole number, which leaves integers integer. libtorch: `add`. */
  def +(other: Long): Expr = Expr.binary(Binary.add, this, other)

  /** Difference; shapes broadcast, dtypes promote. libtorch: `sub`. */
  def -(other: Expr): Expr = Expr.binary(Binary.sub, this, other)

  /** Subtracts a number. libtorch: `sub`. */
  def -(other: Double): Expr = Expr.binary(Binary.sub, this, other)

  /** Subtracts a whole number, which leaves integers integer. libtorch: `sub`. */
  def -(other: Long): Expr = Expr.binary(Binary.sub, this, other)

  /** Product; shapes broadcast, dtypes promote. libtorch: `mul`. */
  def *(other: Expr): Expr = Expr.binary(Binary.mul, this, other)

  /** Multiplies by a number. libtorch: `mul`. */
  def *(other: Double): Expr = Expr.binary(Binary.mul, this, other)

  /** Multiplies by a whole number, which leaves integers integer. libtorch: `mul`. */
  def *(other: Long): Expr = Expr.binary(Binary.mul, this, other)

  /** True quotient; integers divide as f32. libtorch: `div`. */
  def /(other: Expr): Expr = Expr.binary(Binary.div, this, other)

  /** Divides by a number; integers divide as f32. libtorch: `div`. */
  def /(other: Double): Expr = Expr.binary(Binary.div, this, other)

  /** Divides by a whole number; integers divide as f32. libtorch: `div`. */
  def /(other: Long): Expr = Expr.binary(Binary.div, this, other)

  /** The same as `neg`. */
  def unary_- : Expr = neg

  /** Elements held between two numbers; a NaN bound makes all NaN. libtorch: `clamp`. */
  def clamp(min: Double, max: Double): Expr = maximum(min).minimum(max)

  /** The sum of all elements, 0-d, with the bits of [[STen.sum]]. libtorch: `sum`. */
  def sum: Fusible = new Expr.Folded(this, Expr.sumCode)

  /** The mean of all elements, 0-d. libtorch: `mean`. */
  def mean: Fusible = new Expr.Folded(this, Expr.meanCode)

  /** The greatest element, 0-d; NaN wins. libtorch: `amax`. */
  def max: Fusible = new Expr.Folded(this, Expr.amaxCode)

  /** The least element, 0-d; NaN wins. libtorch: `amin`. */
  def min: Fusible = new Expr.Folded(this, Expr.aminCode)

  private[wick] def expression: Expr = this
  private[wick] def finish: Int = -1
}

object Expr {
  private[wick] val sumCode: Int = Native.opCode("reduce", "sum")
  private[wick] val meanCode: Int = Native.opCode("reduce", "mean")
  private[wick] val amaxCode: Int = Native.opCode("reduce", "amax")
  private[wick] val aminCode: Int = Native.opCode("reduce", "amin")

  /** The elements of `x` where the condition, a bool expression, holds, of `y` elsewhere. libtorch:
    * `where`.
    */
  def where(condition: Expr, x: Expr, y: Expr): Expr =
    new Step(2L, Ternary.where, List(condition, x, y), List(Native.INT.toLong, 0L))

  /** The place of an operand of one call of `fuse`, which `of` stands for. */
  private[wick] final class Operand(val of: AnyRef, val place: Int) extends Expr

  private final class Number(val kind: Int, val bits: Long) extends Expr

  private final class Step(val kind: Long, val op: Int, val args: List[Expr], val params: List[Long])
      extends Expr

  private[wick] final class Folded(
      private[wick] val expression: Expr,
      private[wick] val finish: Int
  ) extends Fusible

  private[wick] def unary(op: Int, x: Expr, p0: Double, p1: Double, p2: Double): Expr =
    new Step(0L, op, List(x), List(p0, p1, p2).map(Codes.bits))

  private[wick] def binary(op: Int, x: Expr, y: Expr): Expr = new Step(1L, op, List(x, y), Nil)

  private[wick] def binary(op: Int, x: Expr, y: Double): Expr = binary(op, x, float(y))

  private[wick] def binary(op: Int, x: Expr, y: Long): Expr = binary(op, x, int(y))

  private[wick] def binary(op: Int, x: Double, y: Expr): Expr = binary(op, float(x), y)

  private[wick] def binary(op: Int, x: Long, y: Expr): Expr = binary(op, int(x), y)

  private def float(x: Double): Expr = new Number(Native.FLOAT, Codes.bits(x))

  private def int(x: Long): Expr = new Number(Native.INT, x)

  /** The steps as [[Native.fuse]] takes them, each subexpression once. */
  private[wick] def program(root: Expr, of: AnyRef): Array[Long] = {
    val places = new IdentityHashMap[Expr, Integer]()
    val out = Array.newBuilder[Long]
    // Steps wait on a list of our own: an expression may be longer than the stack is deep.
    var waiting = List[Expr](root)
    while (waiting.nonEmpty) waiting.head match {
      case step: Step if !places.containsKey(step) =>
        val before = step.args.filter(a => a.isInstanceOf[Step] && !places.containsKey(a))
        if (before.nonEmpty) waiting = before ::: waiting
        else {
          out ++= List(step.kind, step.op.toLong)
          step.args.foreach {
            case x: Operand if x.of eq of => out ++= List(0L, x.place.toLong)
            case _: Operand               =>
              throw new IllegalArgumentException("fuse: an operand of another call of fuse")
            case x: Number => out ++= List(2L + x.kind, x.bits)
            case x: Step   => out ++= List(1L, places.get(x).toLong)
          }
          out ++= step.params
          places.put(step, places.size)
          waiting = waiting.tail
        }
      case _ => waiting = waiting.tail
    }
    out.result()
  }
}
