package wick.conformance

import wick._

import Operations._

/** Reductions, softmax and cumulative operations. */
object ReductionOperations {

  private def pair(p: (STen, STen)): Seq[Any] = Seq(p._1, p._2)

  val table: Map[String, Op] = Map(
    "sum" -> one(c => implicit s => c.t(0).sum),
    "sum.dim" -> one(c => implicit s => c.t(0).sum(c.ints(1), c.bool(2))),
    "mean" -> one(c => implicit s => c.t(0).mean),
    "mean.dim" -> one(c => implicit s => c.t(0).mean(c.ints(1), c.bool(2))),
    "prod" -> one(c => implicit s => c.t(0).prod),
    "prod.dim" -> one(c => implicit s => c.t(0).prod(c.int(1), c.bool(2))),
    "max" -> one(c => implicit s => c.t(0).max),
    "min" -> one(c => implicit s => c.t(0).min),
    "max.dim" -> (c => pair(c.t(0).max(c.int(1), c.bool(2))(c.scope))),
    "min.dim" -> (c => pair(c.t(0).min(c.int(1), c.bool(2))(c.scope))),
    "argmax" -> one(c => implicit s => c.t(0).argmax(c.long(1), c.bool(2))),
    "argmin" -> one(c => implicit s => c.t(0).argmin(c.long(1), c.bool(2))),
    "all" -> one(c => implicit s => c.t(0).all),
    "all.dim" -> one(c => implicit s => c.t(0).all(c.int(1), c.bool(2))),
    "any" -> one(c => implicit s => c.t(0).any),
    "any.dim" -> one(c => implicit s => c.t(0).any(c.int(1), c.bool(2))),
    "var" -> one(c => implicit s => c.t(0).variance(c.bool(1))),
    "var.dim" -> one(c => implicit s => c.t(0).variance(c.ints(1), c.bool(2), c.bool(3))),
    "std" -> one(c => implicit s => c.t(0).std(c.bool(1))),
    "std.dim" -> one(c => implicit s => c.t(0).std(c.ints(1), c.bool(2), c.bool(3))),
    "var_mean.dim" -> (c => pair(c.t(0).varAndMean(c.ints(1), c.bool(2), c.bool(3))(c.scope))),
    "std_mean.dim" -> (c => pair(c.t(0).stdAndMean(c.ints(1), c.bool(2), c.bool(3))(c.scope))),
    "logsumexp" -> one(c => implicit s => c.t(0).logsumexp(c.ints(1), c.bool(2))),
    "norm.dim" -> one(c => implicit s => c.t(0).norm2(c.ints(1), c.bool(2))),
    "frobenius_norm" -> one(c => implicit s => c.t(0).frobeniusNorm(c.ints(1), c.bool(2))),
    "softmax" -> one(c => implicit s => c.t(0).softmax(c.int(1))),
    "log_softmax" -> one(c => implicit s => c.t(0).logSoftMax(c.int(1))),
    "mse_loss" -> one(c => implicit s => STen.mse_loss(c.t(0), c.t(1), c.long(2))),
    "mse_loss_backward" -> one(c => implicit s => STen.mse_loss_backward(c.t(0), c.t(1), c.t(2), c.long(3))),
    "smooth_l1_loss" -> one(c => implicit s => STen.smooth_l1_loss(c.t(0), c.t(1), c.long(2), c.double(3))),
    "smooth_l1_loss_backward" -> one(c =>
      implicit s => STen.smooth_l1_loss_backward(c.t(0), c.t(1), c.t(2), c.long(3), c.double(4))
    ),
    "tanh_backward" -> one(c => implicit s => STen.tanh_backward(c.t(0), c.t(1))),
    "softplus_backward" -> one(c =>
      implicit s => STen.softplus_backward(c.t(0), c.t(1), c.double(2), c.double(3))
    ),
    "cumsum" -> one(c => implicit s => c.t(0).cumsum(c.int(1))),
    "cumprod" -> one(c => implicit s => c.t(0).cumprod(c.int(1))),
    "median" -> one(c => implicit s => c.t(0).median),
    "median.dim" -> (c => pair(c.t(0).median(c.int(1), c.bool(2))(c.scope))),
    "mode" -> (c => pair(c.t(0).mode(c.int(1), c.bool(2))(c.scope)))
  )
}
