package wick.bench

import ai.djl.ndarray.types.Shape
import ai.djl.nn.convolutional.Conv2d
import ai.djl.nn.norm.{BatchNorm, LayerNorm}
import ai.djl.nn.pooling.Pool
import wick.STen

/** Layers of networks. */
object Neural extends Family {

  /** 32 images of 64 channels and 28×28. */
  private val images = floats(32, 64, 28, 28)
  private val pixels = 32.0 * 64 * 28 * 28

  private def both(n: Long): Shape = new Shape(n, n)

  private def conv(name: String, size: String, input: Operand, kernel: Operand, side: Long, stride: Long, pad: Long, groups: Long): Row = {
    val outputs = input.shape.head.toDouble * kernel.shape.head * side * side
    row(name, size, 4 * outputs)(input, kernel)
      .flops(2 * outputs * kernel.shape.tail.product)
      .wick { case Seq(x, w) => implicit s => STen.conv2d(x, w, None, List(stride), List(pad), groups = groups) }
      .djl { case Seq(x, w) =>
        val (steps, padding) = (both(stride), both(pad))
        () => Conv2d.conv2d(x, w, null, steps, padding, both(1), groups.toInt)
      }
  }

  val rows: Seq[Row] = Seq(
    conv("conv2d 3x3", "32x64x28x28", images, floats(64, 64, 3, 3), 28, 1, 1, 1),
    conv("conv2d 1x1", "32x64x28x28", images, floats(64, 64, 1, 1), 28, 1, 0, 1),
    conv("conv2d depthwise 3x3", "32x64x28x28", images, floats(64, 1, 3, 3), 28, 1, 1, 64),
    conv("conv2d 7x7 step 2", "8x3x224x224", floats(8, 3, 224, 224), floats(64, 3, 7, 7), 112, 2, 3, 1),
    row("max_pool2d 2x2", "32x64x28x28", pixels)(images)
      .wick { case Seq(x) => implicit s => STen.max_pool2d(x, List(2)) }
      .djl { case Seq(x) => () => Pool.maxPool2d(x, both(2), both(2), both(0), false) },
    row("avg_pool2d 2x2", "32x64x28x28", pixels)(images)
      .wick { case Seq(x) => implicit s => STen.avg_pool2d(x, List(2)) }
      .djl { case Seq(x) => () => Pool.avgPool2d(x, both(2), both(2), both(0), false, true) },
    row("layer_norm", "1000x1000", 4e6)(floats(1000, 1000), floats(1000))
      .wick { case Seq(x, w) => implicit s => STen.layer_norm(x, List(1000L), Some(w), Some(w)) }
      .djl { case Seq(x, w) =>
        val shape = new Shape(1000)
        () => LayerNorm.layerNorm(x, shape, w, w, 1e-5f)
      },
    row("batch_norm", "32x64x28x28", 4 * pixels)(images, floats(64))
      .wick { case Seq(x, w) => implicit s => STen.batch_norm(x, Some(w), Some(w), Some(w), Some(w), false, 0.1, 1e-5) }
      .djl { case Seq(x, w) => () => BatchNorm.batchNorm(x, w, w, w, w, 1, 0.1f, 1e-5f, false) },
    row("batch_norm training", "32x64x28x28", 4 * pixels)(images, floats(64))
      .wick { case Seq(x, w) => implicit s => STen.batch_norm(x, Some(w), Some(w), None, None, true, 0.1, 1e-5) }
      .torch("F.batch_norm(a, None, None, b, b, True)"),
    row("group_norm 8", "32x64x28x28", 4 * pixels)(images, floats(64))
      .wick { case Seq(x, w) => implicit s => STen.group_norm(x, 8, Some(w), Some(w)) }
      .torch("F.group_norm(a, 8, b, b)"),
    row("attention", "8x1024x64", 4.0 * 8 * 1024 * 64)(Seq.fill(3)(floats(8, 1024, 64)): _*)
      .flops(4.0 * 8 * 1024 * 1024 * 64)
      .wick { case Seq(q, k, v) => implicit s => STen.scaled_dot_product_attention(q, k, v) }
      .torch("F.scaled_dot_product_attention(a, b, c)"),
    row("attention causal", "8x1024x64", 4.0 * 8 * 1024 * 64)(Seq.fill(3)(floats(8, 1024, 64)): _*)
      .flops(2.0 * 8 * 1024 * 1024 * 64)
      .wick { case Seq(q, k, v) => implicit s => STen.scaled_dot_product_attention(q, k, v, isCausal = true) }
      .torch("F.scaled_dot_product_attention(a, b, c, is_causal=True)")
  ).map(_.onBoth)
}
