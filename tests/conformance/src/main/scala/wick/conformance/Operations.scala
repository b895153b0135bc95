package wick.conformance

import wick._

/** Which public call a case's operation is. */
object Operations {

  /** Computes the results: tensors, longs, doubles or booleans. */
  type Op = Call => Seq[Any]

  /** All operations that are there. */
  lazy val all: Map[String, Op] =
    UnaryOperations.table ++ BinaryOperations.table ++ ShapingOperations.table ++ ReductionOperations.table ++
      LinalgOperations.table ++ IndexingOperations.table ++ NeuralOperations.table

  /** One result. */
  def one(f: Call => Scope => Any): Op = c => Seq(f(c)(c.scope))

  /** In place: the first argument is the result. */
  def inPlace(f: (STen, Call) => Unit): Op = { c =>
    f(c.t(0), c)
    Seq(c.t(0))
  }
}
