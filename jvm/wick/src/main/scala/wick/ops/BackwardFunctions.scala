package wick

import BackwardFunctions._

/** Functions of the [[STen]] companion: gradients of elementwise operations and of softmax. The first
  * operand is the gradient of the operation's result; operands broadcast, dtypes promote and must be
  * floats. Names and order of parameters are libtorch's.
  */
private[wick] trait BackwardFunctions {

  /** Gradient of `tanh`, from its result. */
  def tanh_backward[S: Sc](gradOutput: STen, output: STen): STen = pair(tanh, gradOutput, output)

  /** Gradient of `sigmoid`, from its result. */
  def sigmoid_backward[S: Sc](gradOutput: STen, output: STen): STen = pair(sigmoid, gradOutput, output)

  /** Gradient of `softplus`: 1 where `beta * self` exceeds the threshold. */
  def softplus_backward[S: Sc](gradOutput: STen, self: STen, beta: Double, threshold: Double): STen =
    pair(softplus, gradOutput, self, beta, threshold)

  /** Gradient of `gelu`; `approximate`: "none" or "tanh". */
  def gelu_backward[S: Sc](gradOutput: STen, self: STen, approximate: String = "none"): STen =
    approximate match {
      case "none" => pair(gelu, gradOutput, self)
      case "tanh" => pair(geluTanh, gradOutput, self)
      case other  =>
        throw new IllegalArgumentException(s"gelu_backward: approximate \"$other\": expected \"none\" or \"tanh\"")
    }

  /** Gradient of `hardSwish`. */
  def hardswish_backward[S: Sc](gradOutput: STen, self: STen): STen = pair(hardswish, gradOutput, self)

  /** Gradient of `hardSigmoid`. */
  def hardsigmoid_backward[S: Sc](gradOutput: STen, self: STen): STen = pair(hardsigmoid, gradOutput, self)

  /** Gradient of `silu`. */
  def silu_backward[S: Sc](gradOutput: STen, self: STen): STen = pair(silu, gradOutput, self)

  /** Gradient of `mish`. */
  def mish_backward[S: Sc](gradOutput: STen, self: STen): STen = pair(mish, gradOutput, self)

  /** Gradient of `logSigmoid`. */
  def log_sigmoid_backward[S: Sc](gradOutput: STen, self: STen): STen = pair(logSigmoid, gradOutput, self)

  /** Gradient of `leakyRelu`, from its operand or, where `selfIsResult`, from its result, for which the
    * slope must not be negative.
    */
  def leaky_relu_backward[S: Sc](
      gradOutput: STen,
      self: STen,
      negativeSlope: Double,
      selfIsResult: Boolean
  ): STen = {
    if (selfIsResult && negativeSlope < 0.0)
      throw new IllegalArgumentException(
        s"leaky_relu_backward: slope $negativeSlope: from the result, it must not be negative"
      )
    pair(leakyRelu, gradOutput, self, negativeSlope)
  }

  /** Gradient of `elu`, from its operand or, where `isResult`, from its result. */
  def elu_backward[S: Sc](
      gradOutput: STen,
      alpha: Double,
      scale: Double,
      inputScale: Double,
      isResult: Boolean,
      selfOrResult: STen
  ): STen = {
    if (isResult && alpha < 0.0)
      throw new IllegalArgumentException(
        s"elu_backward: alpha $alpha: from the result, it must not be negative"
      )
    pair(if (isResult) eluResult else elu, gradOutput, selfOrResult, alpha * scale, scale, inputScale)
  }

  /** Gradient of a threshold, with 0 of `relu`: none up to `threshold`. */
  def threshold_backward[S: Sc](gradOutput: STen, self: STen, threshold: Double): STen =
    pair(thresholdCode, gradOutput, self, threshold)

  /** Gradient of clamping to bounds, with 0 and 6 of `relu6`. */
  def hardtanh_backward[S: Sc](gradOutput: STen, self: STen, minVal: Double, maxVal: Double): STen =
    pair(hardtanh, gradOutput, self, minVal, maxVal)

  /** Gradient of soft and hard shrinking by `lambd`. */
  def softshrink_backward[S: Sc](gradOutput: STen, self: STen, lambd: Double): STen =
    pair(softshrink, gradOutput, self, lambd)

  /** Gradient of `softmax` along a dimension, from its result; `inputDtype`: of its operand. */
  def _softmax_backward_data[S: Sc](gradOutput: STen, output: STen, dim: Int, inputDtype: DType): STen =
    alongBackward(softmax, gradOutput, output, dim, inputDtype)

  /** Gradient of `logSoftMax` along a dimension, from its result; `inputDtype`: of its operand. */
  def _log_softmax_backward_data[S: Sc](gradOutput: STen, output: STen, dim: Int, inputDtype: DType): STen =
    alongBackward(logSoftmax, gradOutput, output, dim, inputDtype)
}

/** Codes, and the way to call rows of two operands. */
private[wick] object BackwardFunctions {
  private def code(name: String) = Native.opCode("pair", name)

  val tanh: Int = code("tanh_backward")
  val sigmoid: Int = code("sigmoid_backward")
  val softplus: Int = code("softplus_backward")
  val gelu: Int = code("gelu_backward")
  val geluTanh: Int = code("gelu_tanh_backward")
  val hardswish: Int = code("hardswish_backward")
  val hardsigmoid: Int = code("hardsigmoid_backward")
  val silu: Int = code("silu_backward")
  val mish: Int = code("mish_backward")
  val logSigmoid: Int = code("log_sigmoid_backward")
  val leakyRelu: Int = code("leaky_relu_backward")
  val elu: Int = code("elu_backward")
  val eluResult: Int = code("elu_backward_result")
  val thresholdCode: Int = code("threshold_backward")
  val hardtanh: Int = code("hardtanh_backward")
  val softshrink: Int = code("softshrink_backward")
  val dropout: Int = code("native_dropout_backward")

  val softmax: Int = NeuralCalls.code("_softmax_backward_data")
  val logSoftmax: Int = NeuralCalls.code("_log_softmax_backward_data")

  def pair(op: Int, a: STen, b: STen, p: Double = 0.0, q: Double = 0.0, r: Double = 0.0)(implicit
      scope: Scope
  ): STen = STen.own(Native.pair(op, a.handle, b.handle, p, q, r, 0L), a, b)

  def alongBackward(op: Int, grad: STen, output: STen, dim: Int, dtype: DType)(implicit scope: Scope): STen =
    NeuralCalls.one(op, Array(grad.handle, output.handle), Array(dim.toLong, dtype.number.toLong))
}
