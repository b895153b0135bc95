package wick.bench

import ai.djl.ndarray.types.Shape
import ai.djl.nn.norm.LayerNorm
import wick.{DType, STen}

/** The main operations on f16 and bf16. Products may pass the limit, which is that of f32. */
object Halves extends Family {

  private def on(dtype: DType): Seq[Row] = {
    val vector = numbers(dtype, 1000000)
    val matrix = numbers(dtype, 1000, 1000)
    def mm(n: Long): Row = row("mm", s"$n $dtype", 2.0 * n * n)(numbers(dtype, n, n), numbers(dtype, n, n))
      .flops(2.0 * n * n * n)
      .wick { case Seq(a, b) => implicit s => a.mm(b) }
      .djl { case Seq(a, b) => () => a.matMul(b) }
        .torch("a @ b")
    Seq(
      row("add", s"1M $dtype", 2e6)(vector, vector)
        .wick { case Seq(a, b) => implicit s => a.add(b) }
        .djl { case Seq(a, b) => () => a.add(b) }
        .torch("a + b"),
      row("mul", s"1M $dtype", 2e6)(vector, vector)
        .wick { case Seq(a, b) => implicit s => a.mul(b) }
        .djl { case Seq(a, b) => () => a.mul(b) }
        .torch("a * b"),
      row("exp", s"1M $dtype", 2e6)(vector).wick { case Seq(a) => implicit s => a.exp }.djl { case Seq(a) => () => a.exp }
        .torch("a.exp()"),
      row("tanh", s"1M $dtype", 2e6)(vector).wick { case Seq(a) => implicit s => a.tanh }.djl { case Seq(a) => () => a.tanh }
        .torch("a.tanh()"),
      row("gelu", s"1M $dtype", 2e6)(vector)
        .wick { case Seq(a) => implicit s => a.gelu }
        .djl { case Seq(a) => () => a.getNDArrayInternal.gelu }
        .torch("F.gelu(a)"),
      row("sum", s"1M $dtype", 2)(vector).wick { case Seq(a) => implicit s => a.sum }.djl { case Seq(a) => () => a.sum() }
        .torch("a.sum()"),
      row("sum over rows", s"1000x1000 $dtype", 2000)(matrix)
        .wick { case Seq(a) => implicit s => a.sum(1, false) }
        .djl { case Seq(a) => () => a.sum(Array(1)) }
        .torch("a.sum(1)"),
      row("argmax", s"1M $dtype", 8)(vector)
        .wick { case Seq(a) => implicit s => a.argmax }
        .djl { case Seq(a) => () => a.argMax() }
        .torch("a.argmax()"),
      row("softmax", s"1000x1000 $dtype", 2e6)(matrix)
        .wick { case Seq(a) => implicit s => a.softmax(1) }
        .djl { case Seq(a) => () => a.softmax(1) }
        .torch("a.softmax(1)"),
      row("layer_norm", s"1000x1000 $dtype", 2e6)(matrix, numbers(dtype, 1000))
        .wick { case Seq(x, w) => implicit s => STen.layer_norm(x, List(1000L), Some(w), Some(w)) }
        .djl { case Seq(x, w) =>
          val shape = new Shape(1000)
          () => LayerNorm.layerNorm(x, shape, w, w, 1e-5f)
        }
        .torch("F.layer_norm(a, (1000,), b, b)"),
      row("transpose", s"1000x1000 $dtype", 2e6)(matrix)
        .wick { case Seq(a) => implicit s => a.t.contiguous }
        .torch("a.t().contiguous()"),
      row("sort", s"1M $dtype", 10e6)(vector).wick { case Seq(a) => implicit s => a.sort(0, false) }.torch("a.sort(0)"),
      mm(64),
      mm(256),
      mm(1024)
    )
  }

  val rows: Seq[Row] = Seq(DType.BF16, DType.F16).flatMap(on)
}
