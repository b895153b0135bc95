package wick

import AttentionFunctions._
import NeuralCalls.{all, flag, operands}

/** Functions of the [[STen]] companion: scaled dot product attention,
  * `softmax(query key' / sqrt(length) + bias) value`, over the last two dimensions; those before are a
  * batch. The matrix of scores is made by tiles and never as a whole.
  */
private[wick] trait AttentionFunctions {

  /** Attention as lamp gives it: the result, the logarithms of the sums of exponentials of each query's
    * scores, and what libtorch's kernels give besides: two empty tensors, the numbers of queries and
    * keys, and two numbers of a generator that is not used. A query that sees no key gives 0.
    *
    * @param attentionBias
    *   numbers to add to the scores, or a bool mask that is true where a score counts; broadcasts
    * @param isCausal
    *   whether a query sees only keys up to its own place
    */
  def scaledDotProductAttention[S: Sc](
      query: STen,
      key: STen,
      value: STen,
      attentionBias: Option[STen],
      isCausal: Boolean
  ): (STen, STen, STen, STen, Long, Long, STen, STen) = {
    val (out, log) = forward(query, key, value, attentionBias, isCausal, None)
    def none = STen.zeros(List(0L), STen.iOptions)
    def number = STen.zeros(Nil, STen.lOptions)
    val (rows, cols) = (query.shape(query.dim - 2), key.shape(key.dim - 2))
    (out, log, none, none, rows, cols, number, number)
  }

  /** Gradients of [[scaledDotProductAttention]] for query, key and value. The last six arguments play no
    * part.
    */
  def scaledDotProductAttentionBackward[S: Sc](
      gradOutput: STen,
      query: STen,
      key: STen,
      value: STen,
      out: STen,
      attentionBias: Option[STen],
      logsumexp: STen,
      isCausal: Boolean,
      philoxSeed: STen,
      philoxOffset: STen,
      cum_seq_q: STen,
      cum_seq_k: STen,
      max_q: Long,
      max_k: Long
  ): (STen, STen, STen) =
    scaled_dot_product_attention_backward(
      gradOutput,
      query,
      key,
      value,
      out,
      logsumexp,
      attentionBias,
      isCausal
    )

  /** The result of attention. `scale`: what scores are multiplied by, else one over the root of the
    * query's length.
    */
  def scaled_dot_product_attention[S: Sc](
      query: STen,
      key: STen,
      value: STen,
      attnMask: Option[STen] = None,
      isCausal: Boolean = false,
      scale: Option[Double] = None
  ): STen = {
    val (out, log) = forward(query, key, value, attnMask, isCausal, scale)
    log.close()
    out
  }

  /** Gradients of attention for query, key and value, from its result and the logarithms beside it. */
  def scaled_dot_product_attention_backward[S: Sc](
      gradOutput: STen,
      query: STen,
      key: STen,
      value: STen,
      out: STen,
      logsumexp: STen,
      attnMask: Option[STen] = None,
      isCausal: Boolean = false,
      scale: Option[Double] = None
  ): (STen, STen, STen) = {
    val all = gradients(gradOutput, query, key, value, out, logsumexp, attnMask, isCausal, scale, false)
    (all(0), all(1), all(2))
  }

  /** Gradients of attention for query, key, value and bias; the last in the bias's shape and dtype, summed
    * over the dimensions along which it was stretched. libtorch's
    * `_scaled_dot_product_efficient_attention_backward` with all four asked for. The slopes of all scores
    * are held at once. A bool mask has no gradient (DTypeException).
    */
  def scaled_dot_product_attention_backward_with_bias[S: Sc](
      gradOutput: STen,
      query: STen,
      key: STen,
      value: STen,
      out: STen,
      logsumexp: STen,
      attnBias: STen,
      isCausal: Boolean = false,
      scale: Option[Double] = None
  ): (STen, STen, STen, STen) = {
    val bias = Some(attnBias)
    val all = gradients(gradOutput, query, key, value, out, logsumexp, bias, isCausal, scale, true)
    (all(0), all(1), all(2), all(3))
  }
}

/** Codes of attention. */
private[wick] object AttentionFunctions {
  val code: Int = NeuralCalls.code("scaled_dot_product_attention")
  val backward: Int = NeuralCalls.code("scaled_dot_product_attention_backward")

  def forward(
      query: STen,
      key: STen,
      value: STen,
      bias: Option[STen],
      causal: Boolean,
      scale: Option[Double]
  )(implicit scope: Scope): (STen, STen) = {
    val both = all(
      code,
      2,
      operands(Some(query), Some(key), Some(value), bias),
      Array(flag(causal), flag(scale.nonEmpty)),
      Array(scale.getOrElse(0.0))
    )
    (both(0), both(1))
  }

  def gradients(
      grad: STen,
      query: STen,
      key: STen,
      value: STen,
      out: STen,
      log: STen,
      bias: Option[STen],
      causal: Boolean,
      scale: Option[Double],
      withBias: Boolean
  )(implicit scope: Scope): Array[STen] =
    all(
      backward,
      if (withBias) 4 else 3,
      operands(Some(grad), Some(query), Some(key), Some(value), Some(out), Some(log), bias),
      Array(flag(causal), flag(scale.nonEmpty), flag(withBias)),
      Array(scale.getOrElse(0.0))
    )
}
