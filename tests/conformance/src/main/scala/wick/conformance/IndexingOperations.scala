package wick.conformance


import Operations._

/** Selecting and writing by index and mask. */
object IndexingOperations {
  val table: Map[String, Op] = Map(
    "index_select" -> one(c => implicit s => c.t(0).indexSelect(c.long(1), c.t(2))),
    "gather" -> one(c => implicit s => c.t(0).gather(c.long(1), c.t(2))),
    "masked_select" -> one(c => implicit s => c.t(0).maskedSelect(c.t(1))),
    "masked_fill" -> one(c => implicit s =>
      if (c.isFloat(2)) c.t(0).maskFill(c.t(1), c.double(2)) else c.t(0).maskFill(c.t(1), c.long(2))
    ),
    "index_add" -> one(c => implicit s => c.t(0).indexAdd(c.long(1), c.t(2), c.t(3))),
    "scatter_add" -> one(c => implicit s => c.t(0).scatterAdd(c.long(1), c.t(2), c.t(3))),
    "equal" -> (c => Seq(c.t(0).equalDeep(c.t(1)))),
    "one_hot" -> one(c => implicit s => c.t(0).oneHot(c.int(1)))
  )
}
