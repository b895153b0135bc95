package wick

import NeuralCalls.{all, flag, list, operands, some}
import NormFunctions._

/** Functions of the [[STen]] companion: normalisation and its gradients. Names and order of parameters
  * are libtorch's. Sums are made in f64. Beside a half type, weights and biases may be f32.
  *
  * The `native_` forms give the result, means, and one over the deviations, which the gradients take;
  * an `outputMask` says which gradients (for input, weight, bias) are wanted.
  */
private[wick] trait NormFunctions {

  /** Each channel of `[batch, channels, …]` to mean 0 and deviation 1, then times weight plus bias. In
    * training the moments are the batch's, and `runningMean` and `runningVar` move toward them by
    * `momentum`; else these are the moments, and mean and deviation of the result are empty.
    */
  def native_batch_norm[S: Sc](
      input: STen,
      weight: Option[STen],
      bias: Option[STen],
      runningMean: Option[STen],
      runningVar: Option[STen],
      training: Boolean,
      momentum: Double,
      eps: Double
  ): (STen, STen, STen) =
    triple(
      all(
        batch,
        3,
        operands(Some(input), weight, bias, runningMean, runningVar),
        Array(flag(training)),
        Array(momentum, eps)
      )
    )

  /** Gradients of [[native_batch_norm]]. */
  def native_batch_norm_backward[S: Sc](
      gradOut: STen,
      input: STen,
      weight: Option[STen],
      runningMean: Option[STen],
      runningVar: Option[STen],
      saveMean: Option[STen],
      saveInvstd: Option[STen],
      train: Boolean,
      eps: Double,
      outputMask: (Boolean, Boolean, Boolean)
  ): (Option[STen], Option[STen], Option[STen]) =
    gradients(
      some(
        batchBackward,
        3,
        operands(Some(gradOut), Some(input), weight, runningMean, runningVar, saveMean, saveInvstd),
        flag(train) +: mask(outputMask),
        Array(eps)
      )
    )

  /** The result of [[native_batch_norm]]. */
  def batch_norm[S: Sc](
      input: STen,
      weight: Option[STen],
      bias: Option[STen],
      runningMean: Option[STen],
      runningVar: Option[STen],
      training: Boolean,
      momentum: Double,
      eps: Double
  ): STen =
    first(native_batch_norm(input, weight, bias, runningMean, runningVar, training, momentum, eps))

  /** Each run of the last dimensions, which are `normalizedShape`, to mean 0 and deviation 1, then times
    * weight plus bias of that shape.
    */
  def native_layer_norm[S: Sc](
      input: STen,
      normalizedShape: Seq[Long],
      weight: Option[STen],
      bias: Option[STen],
      eps: Double
  ): (STen, STen, STen) =
    triple(
      all(layer, 3, operands(Some(input), weight, bias), list(normalizedShape), Array(eps))
    )

  /** Gradients of [[native_layer_norm]]. */
  def native_layer_norm_backward[S: Sc](
      gradOut: STen,
      input: STen,
      normalizedShape: Seq[Long],
      mean: STen,
      rstd: STen,
      weight: Option[STen],
      bias: Option[STen],
      outputMask: (Boolean, Boolean, Boolean)
  ): (Option[STen], Option[STen], Option[STen]) =
    gradients(
      some(
        layerBackward,
        3,
        operands(Some(gradOut), Some(input), Some(mean), Some(rstd), weight),
        list(normalizedShape) ++ mask(outputMask)
      )
    )

  /** The result of [[native_layer_norm]]. */
  def layer_norm[S: Sc](
      input: STen,
      normalizedShape: Seq[Long],
      weight: Option[STen] = None,
      bias: Option[STen] = None,
      eps: Double = 1e-5
  ): STen = first(native_layer_norm(input, normalizedShape, weight, bias, eps))

  /** Each run of the last dimensions over the root of its mean square, then times weight; and one over
    * those roots. libtorch: `_fused_rms_norm`.
    */
  def native_rms_norm[S: Sc](
      input: STen,
      normalizedShape: Seq[Long],
      weight: Option[STen],
      eps: Double
  ): (STen, STen) = {
    val both = all(rms, 2, operands(Some(input), weight), list(normalizedShape), Array(eps))
    (both(0), both(1))
  }

  /** Gradients of [[native_rms_norm]] for input and weight. */
  def native_rms_norm_backward[S: Sc](
      gradOut: STen,
      input: STen,
      normalizedShape: Seq[Long],
      rstd: STen,
      weight: Option[STen],
      outputMask: (Boolean, Boolean)
  ): (Option[STen], Option[STen]) = {
    val made = some(
      rmsBackward,
      3,
      operands(Some(gradOut), Some(input), Some(rstd), weight),
      list(normalizedShape) ++ mask((outputMask._1, outputMask._2, false))
    )
    (made(0), made(1))
  }

  /** The result of [[native_rms_norm]]. */
  def rms_norm[S: Sc](
      input: STen,
      normalizedShape: Seq[Long],
      weight: Option[STen] = None,
      eps: Double = 1e-6
  ): STen = {
    val (out, rstd) = native_rms_norm(input, normalizedShape, weight, eps)
    rstd.close()
    out
  }

  /** Each group of channels of each sample of `[batch, channels, …]` to mean 0 and deviation 1, then
    * times weight plus bias of its channel. `n`, `c` and `hxw` are the input's sizes.
    */
  def native_group_norm[S: Sc](
      input: STen,
      weight: Option[STen],
      bias: Option[STen],
      n: Long,
      c: Long,
      hxw: Long,
      group: Long,
      eps: Double
  ): (STen, STen, STen) = {
    sizes("native_group_norm", input, n, c, hxw)
    triple(all(groups, 3, operands(Some(input), weight, bias), Array(group), Array(eps)))
  }

  /** Gradients of [[native_group_norm]]. */
  def native_group_norm_backward[S: Sc](
      gradOut: STen,
      input: STen,
      mean: STen,
      rstd: STen,
      weight: Option[STen],
      n: Long,
      c: Long,
      hxw: Long,
      group: Long,
      outputMask: (Boolean, Boolean, Boolean)
  ): (Option[STen], Option[STen], Option[STen]) = {
    sizes("native_group_norm_backward", input, n, c, hxw)
    gradients(
      some(
        groupsBackward,
        3,
        operands(Some(gradOut), Some(input), Some(mean), Some(rstd), weight),
        group +: mask(outputMask)
      )
    )
  }

  /** The result of [[native_group_norm]]. */
  def group_norm[S: Sc](
      input: STen,
      numGroups: Long,
      weight: Option[STen] = None,
      bias: Option[STen] = None,
      eps: Double = 1e-5
  ): STen = first(triple(all(groups, 3, operands(Some(input), weight, bias), Array(numGroups), Array(eps))))
}

/** Codes and arguments of normalisation. */
private[wick] object NormFunctions {
  import NeuralCalls.code

  val batch: Int = code("native_batch_norm")
  val batchBackward: Int = code("native_batch_norm_backward")
  val layer: Int = code("native_layer_norm")
  val layerBackward: Int = code("native_layer_norm_backward")
  val rms: Int = code("_fused_rms_norm")
  val rmsBackward: Int = code("_fused_rms_norm_backward")
  val groups: Int = code("native_group_norm")
  val groupsBackward: Int = code("native_group_norm_backward")

  def mask(m: (Boolean, Boolean, Boolean)): Array[Long] = Array(flag(m._1), flag(m._2), flag(m._3))

  def triple(all: Array[STen]): (STen, STen, STen) = (all(0), all(1), all(2))

  def gradients(all: Array[Option[STen]]): (Option[STen], Option[STen], Option[STen]) =
    (all(0), all(1), all(2))

  def first(all: (STen, STen, STen)): STen = {
    all._2.close()
    all._3.close()
    all._1
  }

  def sizes(op: String, input: STen, n: Long, c: Long, hxw: Long): Unit = {
    val shape = input.shape
    if (shape.length < 2 || shape.head != n || shape(1) != c || shape.drop(2).product != hxw)
      throw new ShapeException(
        s"$op: ${input.dtype.name} ${input.shapeText}: expected batch $n, channels $c and $hxw places"
      )
  }
}
