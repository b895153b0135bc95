package wick.conformance

import wick._

import Operations._

/** Losses, gradients, convolutions, pooling, norms, attention. */
object NeuralOperations {

  private def pair(p: (STen, STen)): Seq[Any] = Seq(p._1, p._2)

  val table: Map[String, Op] = Map(
    "nll_loss_forward" -> (c =>
      pair(STen.nll_loss_forward(c.t(0), c.t(1), c.option(2), c.long(3), c.long(4))(c.scope))
    ),
    "binary_cross_entropy_with_logits" -> one(c =>
      implicit s =>
        STen.binary_cross_entropy_with_logits(c.t(0), c.t(1), c.option(2), c.option(3), c.long(4))
    ),
    "embedding" -> one(c => implicit s => STen.embedding(c.t(0), c.t(1))),
    "gelu_backward" -> one(c => implicit s => STen.gelu_backward(c.t(0), c.t(1))),
    "hardswish_backward" -> one(c => implicit s => STen.hardswish_backward(c.t(0), c.t(1))),
    "sigmoid_backward" -> one(c => implicit s => STen.sigmoid_backward(c.t(0), c.t(1))),
    "_log_softmax_backward_data" -> one(c =>
      implicit s => STen._log_softmax_backward_data(c.t(0), c.t(1), c.int(2), c.t(0).dtype)
    )
  )
}
