package wick.bench

import java.util.SplittableRandom

import wick.DType

/** What an operand's elements are. */
sealed trait Fill

object Fill {

  /** Numbers in [low, high). */
  final case class Uniform(low: Double, high: Double) extends Fill

  /** Whole numbers in [0, bound). */
  final case class Below(bound: Long) extends Fill

  /** True half of the time. */
  case object Coin extends Fill

  /** Symmetric and positive definite, by a large diagonal. */
  case object Definite extends Fill
}

/** An operand as data, so that each peer makes it in its own way from the same numbers. */
final case class Operand(shape: Seq[Long], dtype: DType, fill: Fill) {

  def count: Int = shape.product.toInt

  def bytes: Double = shape.product.toDouble * dtype.size

  /** The elements as a `float[]`, `long[]` or `boolean[]`; peers cast them where the dtype is another. */
  def array(seed: Int): Any = {
    val random = new SplittableRandom(seed.toLong)
    fill match {
      case Fill.Uniform(low, high) =>
        val width = high - low
        val out = new Array[Float](count)
        var i = 0
        while (i < out.length) { out(i) = (low + width * random.nextDouble()).toFloat; i += 1 }
        out
      case Fill.Below(bound) =>
        val out = new Array[Long](count)
        var i = 0
        while (i < out.length) { out(i) = random.nextLong(bound); i += 1 }
        out
      case Fill.Coin =>
        val out = new Array[Boolean](count)
        var i = 0
        while (i < out.length) { out(i) = random.nextBoolean(); i += 1 }
        out
      case Fill.Definite =>
        val n = shape.last.toInt
        val out = new Array[Float](n * n)
        for (i <- 0 until n; j <- 0 to i) {
          out(i * n + j) = random.nextDouble().toFloat + (if (i == j) n.toFloat else 0f)
          out(j * n + i) = out(i * n + j)
        }
        out
    }
  }

  /** How torch_peer.py makes it. */
  def python: String = {
    val to = s"${shape.mkString("(", ", ", ",)")}, torch.${Operand.torchName(dtype)}"
    fill match {
      case Fill.Uniform(low, high) => s"uniform($to, $low, $high)"
      case Fill.Below(bound)       => s"below($to, $bound)"
      case Fill.Coin               => s"below($to, 2)"
      case Fill.Definite           => s"definite($to)"
    }
  }
}

object Operand {

  def beyondDjl(dtype: DType): Boolean = dtype == DType.I16 || dtype == DType.BF16

  def torchName(dtype: DType): String = dtype match {
    case DType.U8   => "uint8"
    case DType.I8   => "int8"
    case DType.I16  => "int16"
    case DType.I32  => "int32"
    case DType.I64  => "int64"
    case DType.F16  => "float16"
    case DType.F32  => "float32"
    case DType.F64  => "float64"
    case DType.Bool => "bool"
    case DType.BF16 => "bfloat16"
  }
}
