package wick.bench

/** Arithmetic on vectors in the caches and beyond. */
object Arithmetic extends Family {

  private def on(n: Long): Seq[Row] = Seq(
    row("add", short(n), 4.0 * n)(floats(n), floats(n))
      .wick { case Seq(a, b) => implicit s => a.add(b) }
      .djl { case Seq(a, b) => () => a.add(b) }
      .loop { case Seq(a: Array[Float], b: Array[Float]) => Loops.binary(a, b)(_ + _) },
    row("mul", short(n), 4.0 * n)(floats(n), floats(n))
      .wick { case Seq(a, b) => implicit s => a.mul(b) }
      .djl { case Seq(a, b) => () => a.mul(b) }
      .loop { case Seq(a: Array[Float], b: Array[Float]) => Loops.binary(a, b)(_ * _) },
    row("addcmul", short(n), 4.0 * n)(floats(n), floats(n), floats(n))
      .wick { case Seq(a, b, c) => implicit s => a.addcmul(b, c, 1.0) }
      .torch("torch.addcmul(a, b, c)")
  ).map(_.onBoth)

  private val million = 1000000L

  private val others: Seq[Row] = Seq(
    row("div", "1M", 4.0 * million)(floats(million), floats(million))
      .wick { case Seq(a, b) => implicit s => a.div(b) }
      .djl { case Seq(a, b) => () => a.div(b) }
      .loop { case Seq(a: Array[Float], b: Array[Float]) => Loops.binary(a, b)(_ / _) },
    row("add scalar", "1M", 4.0 * million)(floats(million))
      .wick { case Seq(a) => implicit s => a.add(2.0) }
      .djl { case Seq(a) => () => a.add(2.0f) },
    row("add row", "1000x1000", 4.0 * million)(floats(1000, 1000), floats(1000))
      .wick { case Seq(a, b) => implicit s => a.add(b) }
      .djl { case Seq(a, b) => () => a.add(b) },
    row("add column", "1000x1000", 4.0 * million)(floats(1000, 1000), floats(1000, 1))
      .wick { case Seq(a, b) => implicit s => a.add(b) }
      .djl { case Seq(a, b) => () => a.add(b) },
    row("maximum", "1M", 4.0 * million)(floats(million), floats(million))
      .wick { case Seq(a, b) => implicit s => a.maximum(b) }
      .djl { case Seq(a, b) => () => a.maximum(b) },
    row("lt", "1M", 1.0 * million)(floats(million), floats(million))
      .wick { case Seq(a, b) => implicit s => a.lt(b) }
      .djl { case Seq(a, b) => () => a.lt(b) },
    row("clamp", "1M", 4.0 * million)(floats(million))
      .wick { case Seq(a) => implicit s => a.clamp(0.3, 0.6) }
      .torch("a.clamp(0.3, 0.6)"),
    row("add in place", "1M", 4.0 * million)(floats(million), floats(million))
      .wickPlain { case Seq(a, b) => () => a.add_(b) }
      .djlPlain { case Seq(a, b) => () => a.addi(b) }
  ).map(_.onBoth)

  val rows: Seq[Row] = Seq(100000L, million, 10 * million).flatMap(on) ++ others
}
