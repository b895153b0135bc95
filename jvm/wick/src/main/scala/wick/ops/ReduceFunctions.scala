package wick

import Reductions._

/** Functions of the [[STen]] companion: reductions into a given tensor. */
private[wick] trait ReduceFunctions {

  /** Writes sums over dimensions into `out`, which has their shape. */
  def sumOut(out: STen, self: STen, dim: Seq[Int], keepDim: Boolean): Unit =
    into(sumCode, out, self, dim, keepDim)

  /** Writes means over dimensions into `out`, which has their shape. */
  def meanOut(out: STen, self: STen, dim: Seq[Int], keepDim: Boolean): Unit =
    into(meanCode, out, self, dim, keepDim)

  private def into(code: Int, out: STen, self: STen, dim: Seq[Int], keepDim: Boolean): Unit = {
    Native.reduce(code, self.handle, longs(dim), keepDim, -1, 0.0, out.handle)
    ()
  }
}
