package wick.conformance

import wick._

import Operations._

/** Two and three operands. */
object BinaryOperations {

  private def tensor(f: (STen, STen) => Scope => STen): Op = one(c => s => f(c.t(0), c.t(1))(s))

  /** A number on the right: a double or a long, as the case has it. */
  private def number(d: (STen, Double) => Scope => STen, l: (STen, Long) => Scope => STen): Op =
    one(c => s => if (c.isFloat(1)) d(c.t(0), c.double(1))(s) else l(c.t(0), c.long(1))(s))

  private val tensors: Map[String, Op] = Map(
    "add.Tensor" -> tensor((a, b) => implicit s => a + b),
    "sub.Tensor" -> tensor((a, b) => implicit s => a - b),
    "mul.Tensor" -> tensor((a, b) => implicit s => a * b),
    "div.Tensor" -> tensor((a, b) => implicit s => a / b),
    "atan2.Tensor" -> tensor((a, b) => implicit s => STen.atan2(a, b)),
    "remainder.Tensor" -> tensor((a, b) => implicit s => a.remainder(b)),
    "fmod.Tensor" -> tensor((a, b) => implicit s => a.fmod(b)),
    "pow.Tensor" -> tensor((a, b) => implicit s => a.pow(b)),
    "maximum.Tensor" -> tensor((a, b) => implicit s => a.max(b)),
    "minimum.Tensor" -> tensor((a, b) => implicit s => a.min(b)),
    "eq.Tensor" -> tensor((a, b) => implicit s => a.equ(b)),
    "ne.Tensor" -> tensor((a, b) => implicit s => a.ne(b)),
    "lt.Tensor" -> tensor((a, b) => implicit s => a.lt(b)),
    "le.Tensor" -> tensor((a, b) => implicit s => a.le(b)),
    "gt.Tensor" -> tensor((a, b) => implicit s => a.gt(b)),
    "ge.Tensor" -> tensor((a, b) => implicit s => a.ge(b)),
    "logical_and.Tensor" -> tensor((a, b) => implicit s => a.logicalAnd(b)),
    "logical_or.Tensor" -> tensor((a, b) => implicit s => a.logicalOr(b)),
    "logical_xor.Tensor" -> tensor((a, b) => implicit s => a.logicalXor(b))
  )

  private val numbers: Map[String, Op] = Map(
    "add.Scalar" -> number((a, v) => implicit s => a + v, (a, v) => implicit s => a + v),
    "sub.Scalar" -> number((a, v) => implicit s => a - v, (a, v) => implicit s => a - v),
    "mul.Scalar" -> number((a, v) => implicit s => a * v, (a, v) => implicit s => a * v),
    "div.Scalar" -> number((a, v) => implicit s => a / v, (a, v) => implicit s => a / v),
    "remainder.Scalar" -> number((a, v) => implicit s => a.remainder(v), (a, v) => implicit s => a.remainder(v)),
    "fmod.Scalar" -> number((a, v) => implicit s => a.fmod(v), (a, v) => implicit s => a.fmod(v)),
    "pow.Scalar" -> number((a, v) => implicit s => a.pow(v), (a, v) => implicit s => a.pow(v)),
    "eq.Scalar" -> number((a, v) => implicit s => a.equ(v), (a, v) => implicit s => a.equ(v)),
    "ne.Scalar" -> number((a, v) => implicit s => a.ne(v), (a, v) => implicit s => a.ne(v)),
    "lt.Scalar" -> number((a, v) => implicit s => a.lt(v), (a, v) => implicit s => a.lt(v)),
    "le.Scalar" -> number((a, v) => implicit s => a.le(v), (a, v) => implicit s => a.le(v)),
    "gt.Scalar" -> number((a, v) => implicit s => a.gt(v), (a, v) => implicit s => a.gt(v)),
    "ge.Scalar" -> number((a, v) => implicit s => a.ge(v), (a, v) => implicit s => a.ge(v))
  )

  private val others: Map[String, Op] = Map(
    "add.alpha" -> one(c =>
      implicit s =>
        if (c.isFloat(2)) c.t(0).add(c.t(1), c.double(2)) else c.t(0).add(c.t(1), c.long(2))
    ),
    "sub.alpha" -> one(c =>
      implicit s =>
        if (c.isFloat(2)) c.t(0).sub(c.t(1), c.double(2)) else c.t(0).sub(c.t(1), c.long(2))
    ),
    "add_" -> inPlace((t, c) => t += c.t(1)),
    "sub_" -> inPlace((t, c) => t -= c.t(1)),
    "mul_" -> inPlace((t, c) => t *= c.t(1)),
    "div_" -> inPlace((t, c) => t /= c.t(1)),
    "addcmul" -> one(c => implicit s => c.t(0).addcmul(c.t(1), c.t(2), c.double(3))),
    "addcdiv" -> one(c => implicit s => c.t(0).addcdiv(c.t(1), c.t(2), c.double(3))),
    "lerp" -> one(c => implicit s => c.t(0).lerp(c.t(1), c.double(2))),
    "clamp" -> one(c => implicit s => c.t(0).clamp(c.double(1), c.double(2))),
    "where" -> one(c => implicit s => STen.where(c.t(0), c.t(1), c.t(2)))
  )

  val table: Map[String, Op] = tensors ++ numbers ++ others
}
