package wick

import BinaryCalls.{binary, scaledInto}
import ElementwiseCodes.Binary

/** Functions of the [[STen]] companion: elementwise operations that lamp has there. */
private[wick] trait ArithmeticFunctions {

  /** Angle of each point (x, y), in radians. libtorch: `atan2`. */
  def atan2[S: Sc](y: STen, x: STen): STen = binary(Binary.atan2, y, x)

  /** `self + alpha * other` into `out`. libtorch: `add_out`. */
  def addOut(out: STen, self: STen, other: STen, alpha: Double): Unit =
    scaledInto(Binary.add, self, other, alpha, out)

  /** `self - alpha * other` into `out`. libtorch: `sub_out`. */
  def subOut(out: STen, self: STen, other: STen, alpha: Double): Unit =
    scaledInto(Binary.sub, self, other, alpha, out)

  /** `self + alpha * tensor1 * tensor2` into `out`. libtorch: `addcmul_out`. */
  def addcmulOut(out: STen, self: STen, tensor1: STen, tensor2: STen, alpha: Double): Unit =
    Ternary.into(Ternary.addcmul, self, tensor1, tensor2, alpha, out)

  /** `self + alpha * tensor1 / tensor2` into `out`. libtorch: `addcdiv_out`. */
  def addcdivOut(out: STen, self: STen, tensor1: STen, tensor2: STen, alpha: Double): Unit =
    Ternary.into(Ternary.addcdiv, self, tensor1, tensor2, alpha, out)
}
