package wick

import BinaryCalls.{binary, binaryInto, scaled, scaledInto}
import ElementwiseCodes.Binary

/** Methods of [[STen]]: operators, and elementwise operations with more than one operand that the
  * table does not make.
  */
private[wick] trait ArithmeticOps { self: STen =>

  /** Sum; shapes broadcast, dtypes promote. libtorch: `add`. */
  def +[S: Sc](other: STen): STen = binary(Binary.add, self, other)

  /** Adds a number. libtorch: `add`. */
  def +[S: Sc](other: Double): STen = binary(Binary.add, self, other)

  /** Adds a whole number, which leaves integer tensors integer. libtorch: `add`. */
  def +[S: Sc](other: Long): STen = binary(Binary.add, self, other)

  /** Difference; shapes broadcast, dtypes promote. libtorch: `sub`. */
  def -[S: Sc](other: STen): STen = binary(Binary.sub, self, other)

  /** Subtracts a number. libtorch: `sub`. */
  def -[S: Sc](other: Double): STen = binary(Binary.sub, self, other)

  /** Subtracts a whole number, which leaves integer tensors integer. libtorch: `sub`. */
  def -[S: Sc](other: Long): STen = binary(Binary.sub, self, other)

  /** Elementwise product; shapes broadcast, dtypes promote. libtorch: `mul`. */
  def *[S: Sc](other: STen): STen = binary(Binary.mul, self, other)

  /** Multiplies by a number. libtorch: `mul`. */
  def *[S: Sc](other: Double): STen = binary(Binary.mul, self, other)

  /** Multiplies by a whole number, which leaves integer tensors integer. libtorch: `mul`. */
  def *[S: Sc](other: Long): STen = binary(Binary.mul, self, other)

  /** True quotient; integers divide as f32. libtorch: `div`. */
  def /[S: Sc](other: STen): STen = binary(Binary.div, self, other)

  /** Divides by a number; integers divide as f32. libtorch: `div`. */
  def /[S: Sc](other: Double): STen = binary(Binary.div, self, other)

  /** Divides by a whole number; integers divide as f32. libtorch: `div`. */
  def /[S: Sc](other: Long): STen = binary(Binary.div, self, other)

  /** The same as `neg`. */
  def unary_-[S: Sc]: STen = self.neg

  /** Adds in place; `other` broadcasts to this shape. */
  def +=(other: STen): Unit = binaryInto(Binary.add, self, other, self)

  /** Adds a number in place. */
  def +=(other: Double): Unit = binaryInto(Binary.add, self, other, self)

  /** Adds a whole number in place. */
  def +=(other: Long): Unit = binaryInto(Binary.add, self, other, self)

  /** Subtracts in place; `other` broadcasts to this shape. */
  def -=(other: STen): Unit = binaryInto(Binary.sub, self, other, self)

  /** Subtracts a number in place. */
  def -=(other: Double): Unit = binaryInto(Binary.sub, self, other, self)

  /** Subtracts a whole number in place. */
  def -=(other: Long): Unit = binaryInto(Binary.sub, self, other, self)

  /** Multiplies in place; `other` broadcasts to this shape. */
  def *=(other: STen): Unit = binaryInto(Binary.mul, self, other, self)

  /** Multiplies by a number in place. */
  def *=(other: Double): Unit = binaryInto(Binary.mul, self, other, self)

  /** Multiplies by a whole number in place. */
  def *=(other: Long): Unit = binaryInto(Binary.mul, self, other, self)

  /** Divides in place; an error for integer tensors, which cannot hold the quotient. */
  def /=(other: STen): Unit = binaryInto(Binary.div, self, other, self)

  /** Divides by a number in place; an error for integer tensors. */
  def /=(other: Double): Unit = binaryInto(Binary.div, self, other, self)

  /** Divides by a whole number in place; an error for integer tensors. */
  def /=(other: Long): Unit = binaryInto(Binary.div, self, other, self)

  /** `this + alpha * other`. libtorch: `add`. */
  def add[S: Sc](other: STen, alpha: Double): STen = scaled(Binary.add, self, other, alpha)

  /** `this + alpha * other`, exact for integers. libtorch: `add`. */
  def add[S: Sc](other: STen, alpha: Long): STen = scaled(Binary.add, self, other, alpha)

  /** `this + alpha * other`. libtorch: `add`. */
  def add[S: Sc](other: Double, alpha: Double): STen = scaled(Binary.add, self, other, alpha)

  /** lamp's name of `add`. */
  def add_l[S: Sc](other: STen): STen = self + other

  /** `this - alpha * other`. libtorch: `sub`. */
  def sub[S: Sc](other: STen, alpha: Double): STen = scaled(Binary.sub, self, other, alpha)

  /** `this - alpha * other`, exact for integers. libtorch: `sub`. */
  def sub[S: Sc](other: STen, alpha: Long): STen = scaled(Binary.sub, self, other, alpha)

  /** `this - alpha * other`. libtorch: `sub`. */
  def sub[S: Sc](other: Double, alpha: Double): STen = scaled(Binary.sub, self, other, alpha)

  /** lamp's name of `sub`. */
  def sub_l[S: Sc](other: STen): STen = self - other

  /** In place `this + alpha * other`. */
  def add_(other: STen, alpha: Double): Unit = scaledInto(Binary.add, self, other, alpha, self)

  /** In place `this - alpha * other`. */
  def sub_(other: STen, alpha: Double): Unit = scaledInto(Binary.sub, self, other, alpha, self)

  /** lamp's name of `mul` by a whole number. */
  def multiply[S: Sc](other: Long): STen = self * other

  /** The greater of two elements; NaN wins. libtorch: `maximum`. */
  def max[S: Sc](other: STen): STen = binary(Binary.maximum, self, other)

  /** The lesser of two elements; NaN wins. libtorch: `minimum`. */
  def min[S: Sc](other: STen): STen = binary(Binary.minimum, self, other)

  /** lamp's name of `logicalNot`. */
  def not[S: Sc]: STen = self.logicalNot

  /** NaN to 0, infinities to the dtype's extremes. libtorch: `nan_to_num`. */
  def nanToNum[S: Sc]: STen =
    self.nanToNum(0.0, Double.PositiveInfinity, Double.NegativeInfinity)

  /** `this + value * tensor1 * tensor2`. libtorch: `addcmul`. */
  def addcmul[S: Sc](tensor1: STen, tensor2: STen, alpha: Double): STen =
    Ternary.make(Ternary.addcmul, self, tensor1, tensor2, alpha)

  /** In place `this + alpha * tensor1 * tensor2`; lamp's name. */
  def addcmulSelf(tensor1: STen, tensor2: STen, alpha: Double): Unit =
    Ternary.into(Ternary.addcmul, self, tensor1, tensor2, alpha, self)

  /** `this + alpha * tensor1 / tensor2`; float dtypes. libtorch: `addcdiv`. */
  def addcdiv[S: Sc](tensor1: STen, tensor2: STen, alpha: Double): STen =
    Ternary.make(Ternary.addcdiv, self, tensor1, tensor2, alpha)

  /** `this + weight * (end - this)`; float dtypes. libtorch: `lerp`. */
  def lerp[S: Sc](end: STen, weight: Double): STen =
    STen.own(
      Native.ternary(
        Ternary.lerpScalar,
        handle,
        end.handle,
        0L,
        Native.FLOAT,
        Codes.bits(weight),
        0L
      ),
      self,
      end
    )

  /** `this + weight * (end - this)`; float dtypes. libtorch: `lerp`. */
  def lerp[S: Sc](end: STen, weight: STen): STen =
    Ternary.make(Ternary.lerp, self, end, weight, 1.0)

  /** Elements held between two numbers; a NaN bound makes all NaN. libtorch: `clamp`. */
  def clamp[S: Sc](min: Double, max: Double): STen = {
    val out = self.maximum(min)
    out.minimum_(max)
    out
  }

  /** Elements held between two whole numbers, exact for integers. libtorch: `clamp`. */
  def clamp[S: Sc](min: Long, max: Long): STen = {
    val out = self.maximum(min)
    out.minimum_(max)
    out
  }

  /** Elements held between those of two tensors; NaN wins. libtorch: `clamp`. */
  def clamp[S: Sc](min: STen, max: STen): STen =
    Ternary.make(Ternary.clamp, self, min, max, 1.0)

  /** Elements not below a number. libtorch: `clamp_min`. */
  def clampMin[S: Sc](min: Double): STen = self.maximum(min)

  /** Elements not below those of a tensor. libtorch: `clamp_min`. */
  def clampMin[S: Sc](min: STen): STen = self.maximum(min)

  /** Elements not above a number. libtorch: `clamp_max`. */
  def clampMax[S: Sc](max: Double): STen = self.minimum(max)

  /** Elements not above those of a tensor. libtorch: `clamp_max`. */
  def clampMax[S: Sc](max: STen): STen = self.minimum(max)

  /** Elements held between two numbers, in place. */
  def clamp_(min: Double, max: Double): Unit = {
    self.maximum_(min)
    self.minimum_(max)
  }
}
