package wick.conformance

import Operations._

/** Matrix products. */
object LinalgOperations {
  val table: Map[String, Op] = Map(
    "mm" -> one(c => implicit s => c.t(0).mm(c.t(1))),
    "bmm" -> one(c => implicit s => c.t(0).bmm(c.t(1))),
    "matmul" -> one(c => implicit s => c.t(0).matmul(c.t(1))),
    "dot" -> one(c => implicit s => c.t(0).dot(c.t(1))),
    "outer" -> one(c => implicit s => c.t(0).outer(c.t(1))),
    "inner" -> one(c => implicit s => c.t(0).inner(c.t(1))),
    "addmm" -> one(c => implicit s => c.t(0).addmm(c.t(1), c.t(2), c.double(3), c.double(4))),
    "baddbmm" -> one(c => implicit s => c.t(0).baddbmm(c.t(1), c.t(2), c.double(3), c.double(4)))
  )
}
