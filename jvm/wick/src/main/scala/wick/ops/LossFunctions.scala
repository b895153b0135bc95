package wick

import LossFunctions._
import NeuralCalls.{all, one, operands}

/** Functions of the [[STen]] companion: losses and their gradients. Names and order of parameters are
  * libtorch's. `reduction` is 0 for each loss, 1 for their mean, 2 for their sum; in a gradient,
  * `gradOutput` is that of the reduced result.
  */
private[wick] trait LossFunctions {

  /** Squared differences. */
  def mse_loss[S: Sc](self: STen, target: STen, reduction: Long): STen =
    loss(mse, self, target, reduction)

  /** Gradient of [[mse_loss]] for `self`. */
  def mse_loss_backward[S: Sc](gradOutput: STen, self: STen, target: STen, reduction: Long): STen =
    slope(mseBackward, gradOutput, self, target, reduction)

  /** Absolute differences. */
  def l1_loss[S: Sc](self: STen, target: STen, reduction: Long): STen = loss(l1, self, target, reduction)

  /** Gradient of [[l1_loss]] for `self`. */
  def l1_loss_backward[S: Sc](gradOutput: STen, self: STen, target: STen, reduction: Long): STen =
    slope(l1Backward, gradOutput, self, target, reduction)

  /** Differences, squared where they are less than `beta`: `d^2 / (2 beta)`, else `|d| - beta / 2`. */
  def smooth_l1_loss[S: Sc](self: STen, target: STen, reduction: Long, beta: Double): STen =
    loss(smooth, self, target, reduction, beta)

  /** Gradient of [[smooth_l1_loss]] for `self`. */
  def smooth_l1_loss_backward[S: Sc](
      gradOutput: STen,
      self: STen,
      target: STen,
      reduction: Long,
      beta: Double
  ): STen = slope(smoothBackward, gradOutput, self, target, reduction, beta)

  /** Differences, squared up to `delta`: `d^2 / 2`, else `delta * (|d| - delta / 2)`. */
  def huber_loss[S: Sc](self: STen, target: STen, reduction: Long, delta: Double): STen =
    loss(huber, self, target, reduction, delta)

  /** Gradient of [[huber_loss]] for `self`. */
  def huber_loss_backward[S: Sc](
      gradOutput: STen,
      self: STen,
      target: STen,
      reduction: Long,
      delta: Double
  ): STen = slope(huberBackward, gradOutput, self, target, reduction, delta)

  /** `target * (log target - self)`, `self` being log probabilities; `logTarget`: so is the target. */
  def kl_div[S: Sc](self: STen, target: STen, reduction: Long, logTarget: Boolean): STen =
    loss(if (logTarget) klLog else kl, self, target, reduction)

  /** Gradient of [[kl_div]] for `self`. */
  def kl_div_backward[S: Sc](
      gradOutput: STen,
      self: STen,
      target: STen,
      reduction: Long,
      logTarget: Boolean
  ): STen = slope(if (logTarget) klLogBackward else klBackward, gradOutput, self, target, reduction)

  /** `log(1 + e^(-target * self))`. */
  def soft_margin_loss[S: Sc](self: STen, target: STen, reduction: Long): STen =
    loss(softMargin, self, target, reduction)

  /** Gradient of [[soft_margin_loss]] for `self`. */
  def soft_margin_loss_backward[S: Sc](gradOutput: STen, self: STen, target: STen, reduction: Long): STen =
    slope(softMarginBackward, gradOutput, self, target, reduction)

  /** Cross entropy of probabilities in [0, 1]; the logarithms stop at -100. */
  def binary_cross_entropy[S: Sc](
      self: STen,
      target: STen,
      weight: Option[STen],
      reduction: Long
  ): STen = one(bce, operands(Some(self), Some(target), weight), Array(reduction))

  /** Gradient of [[binary_cross_entropy]] for `self`. */
  def binary_cross_entropy_backward[S: Sc](
      gradOutput: STen,
      self: STen,
      target: STen,
      weight: Option[STen],
      reduction: Long
  ): STen =
    one(bceBackward, operands(Some(gradOutput), Some(self), Some(target), weight), Array(reduction))

  /** Cross entropy of logits; `posWeight` is what positive targets weigh. */
  def binary_cross_entropy_with_logits[S: Sc](
      self: STen,
      target: STen,
      weight: Option[STen],
      posWeight: Option[STen],
      reduction: Long
  ): STen = one(logits, operands(Some(self), Some(target), weight, posWeight), Array(reduction))

  /** Gradient of [[binary_cross_entropy_with_logits]] for `self`. */
  def binary_cross_entropy_with_logits_backward[S: Sc](
      gradOutput: STen,
      self: STen,
      target: STen,
      weight: Option[STen],
      posWeight: Option[STen],
      reduction: Long
  ): STen =
    one(
      logitsBackward,
      operands(Some(gradOutput), Some(self), Some(target), weight, posWeight),
      Array(reduction)
    )

  /** Negative log likelihoods of the target's classes, and the sum of the weights that counted (0 where
    * each loss is wanted). `self` holds log probabilities, classes in dimension 1; targets of
    * `ignoreIndex` count nothing.
    */
  def nll_loss_forward[S: Sc](
      self: STen,
      target: STen,
      weight: Option[STen],
      reduction: Long,
      ignoreIndex: Long
  ): (STen, STen) = {
    val both = all(nll, 2, operands(Some(self), Some(target), weight), Array(reduction, ignoreIndex))
    (both(0), both(1))
  }

  /** Negative log likelihoods of the target's classes. */
  def nll_loss[S: Sc](
      self: STen,
      target: STen,
      weight: Option[STen],
      reduction: Long,
      ignoreIndex: Long
  ): STen = {
    val (loss, total) = nll_loss_forward(self, target, weight, reduction, ignoreIndex)
    total.close()
    loss
  }

  /** Gradient of [[nll_loss_forward]] for `self`. */
  def nll_loss_backward[S: Sc](
      gradOutput: STen,
      self: STen,
      target: STen,
      weight: Option[STen],
      reduction: Long,
      ignoreIndex: Long,
      totalWeight: STen
  ): STen =
    one(
      nllBackward,
      operands(Some(gradOutput), Some(self), Some(target), Some(totalWeight), weight),
      Array(reduction, ignoreIndex)
    )

  /** Cross entropy of logits against classes, or against probabilities of their shape. */
  def cross_entropy_loss[S: Sc](
      self: STen,
      target: STen,
      weight: Option[STen],
      reduction: Long,
      ignoreIndex: Long,
      labelSmoothing: Double
  ): STen =
    one(
      crossEntropy,
      operands(Some(self), Some(target), weight),
      Array(reduction, ignoreIndex),
      Array(labelSmoothing)
    )
}

/** Codes of the losses. */
private[wick] object LossFunctions {
  import NeuralCalls.code

  val mse: Int = code("mse_loss")
  val l1: Int = code("l1_loss")
  val smooth: Int = code("smooth_l1_loss")
  val huber: Int = code("huber_loss")
  val kl: Int = code("kl_div")
  val klLog: Int = code("kl_div_log")
  val softMargin: Int = code("soft_margin_loss")
  val mseBackward: Int = code("mse_loss_backward")
  val l1Backward: Int = code("l1_loss_backward")
  val smoothBackward: Int = code("smooth_l1_loss_backward")
  val huberBackward: Int = code("huber_loss_backward")
  val klBackward: Int = code("kl_div_backward")
  val klLogBackward: Int = code("kl_div_log_backward")
  val softMarginBackward: Int = code("soft_margin_loss_backward")
  val bce: Int = code("binary_cross_entropy")
  val bceBackward: Int = code("binary_cross_entropy_backward")
  val logits: Int = code("binary_cross_entropy_with_logits")
  val logitsBackward: Int = code("binary_cross_entropy_with_logits_backward")
  val nll: Int = code("nll_loss_forward")
  val nllBackward: Int = code("nll_loss_backward")
  val crossEntropy: Int = code("cross_entropy_loss")

  def loss(op: Int, x: STen, target: STen, reduction: Long, p: Double = 0.0)(implicit scope: Scope): STen =
    one(op, Array(x.handle, target.handle), Array(reduction), Array(p))

  def slope(op: Int, grad: STen, x: STen, target: STen, reduction: Long, p: Double = 0.0)(implicit
      scope: Scope
  ): STen = one(op, Array(grad.handle, x.handle, target.handle), Array(reduction), Array(p))
}
