package wick.conformance

import wick._

import Operations._

/** Losses, gradients, convolutions, pooling, norms, attention. */
object NeuralOperations {

  private def pair(p: (STen, STen)): Seq[Any] = Seq(p._1, p._2)

  private def three(p: (Option[STen], Option[STen], Option[STen])): Seq[Any] =
    Seq(p._1, p._2, p._3).flatten

  val table: Map[String, Op] = Map(
    "conv1d" -> one(c =>
      implicit s =>
        STen.conv1d(c.t(0), c.t(1), c.option(2), c.longs(3), c.longs(4), c.longs(5), c.long(6))
    ),
    "conv2d" -> one(c =>
      implicit s =>
        STen.conv2d(c.t(0), c.t(1), c.option(2), c.longs(3), c.longs(4), c.longs(5), c.long(6))
    ),
    "conv_transpose2d" -> one(c =>
      implicit s =>
        STen.conv_transpose2d(
          c.t(0),
          c.t(1),
          c.option(2),
          c.longs(3),
          c.longs(4),
          c.longs(5),
          c.long(6),
          c.longs(7)
        )
    ),
    "convolution_backward" -> (c =>
      three(
        STen.convolution_backward(
          c.t(0),
          c.t(1),
          c.t(2),
          c.longs(3),
          c.longs(4),
          c.longs(5),
          c.longs(6),
          c.bool(7),
          c.longs(8),
          c.long(9),
          (true, true, true)
        )(c.scope)
      )
    ),
    "max_pool1d_with_indices" -> (c =>
      pair(
        STen.max_pool1d_with_indices(c.t(0), c.longs(1), c.longs(2), c.longs(3), c.longs(4))(c.scope)
      )
    ),
    "max_pool2d_with_indices" -> (c =>
      pair(
        STen.max_pool2d_with_indices(c.t(0), c.longs(1), c.longs(2), c.longs(3), c.longs(4))(c.scope)
      )
    ),
    "avg_pool2d" -> one(c => implicit s => STen.avg_pool2d(c.t(0), c.longs(1), c.longs(2), c.longs(3))),
    "native_batch_norm" -> { c =>
      val (out, mean, invstd) = STen.native_batch_norm(
        c.t(0),
        c.option(1),
        c.option(2),
        // The call moves the running values, which the vectors hold as arguments.
        c.option(3).map(_.cloneTensor(c.scope)),
        c.option(4).map(_.cloneTensor(c.scope)),
        c.bool(5),
        c.double(6),
        c.double(7)
      )(c.scope)
      Seq(out, mean, invstd)
    },
    "native_layer_norm" -> { c =>
      val (out, mean, rstd) =
        STen.native_layer_norm(c.t(0), c.longs(1), c.option(2), c.option(3), c.double(4))(c.scope)
      Seq(out, mean, rstd)
    },
    "scaled_dot_product_attention" -> one(c =>
      implicit s => STen.scaled_dot_product_attention(c.t(0), c.t(1), c.t(2), None, c.bool(3))
    ),
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
