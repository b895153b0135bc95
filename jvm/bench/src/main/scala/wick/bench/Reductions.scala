package wick.bench

/** Reductions over all, over rows and over columns, and softmax. */
object Reductions extends Family {

  private val all: Seq[Row] = Seq(
    row("sum", "1M", 4)(floats(1000000))
      .wick { case Seq(a) => implicit s => a.sum }
      .djl { case Seq(a) => () => a.sum() }
      .loop { case Seq(a: Array[Float]) => Loops.sum(a) },
    row("mean", "1M", 4)(floats(1000000))
      .wick { case Seq(a) => implicit s => a.mean }
      .djl { case Seq(a) => () => a.mean() },
    row("max", "1M", 4)(floats(1000000))
      .wick { case Seq(a) => implicit s => a.max }
      .djl { case Seq(a) => () => a.max() }
      .loop { case Seq(a: Array[Float]) => Loops.max(a) },
    row("argmax", "1M", 8)(floats(1000000))
      .wick { case Seq(a) => implicit s => a.argmax }
      .djl { case Seq(a) => () => a.argMax() }
      .loop { case Seq(a: Array[Float]) => Loops.argmax(a) },
    row("var", "1M", 4)(floats(1000000))
      .wick { case Seq(a) => implicit s => a.variance(true) }
      .torch("a.var()"),
    row("norm", "1M", 4)(floats(1000000))
      .wick { case Seq(a) => implicit s => a.norm }
      .djl { case Seq(a) => () => a.norm() }
  )

  private def along(dim: Int): Seq[Row] = {
    val size = s"1000x1000 over ${if (dim == 1) "rows" else "columns"}"
    def matrix(op: String): Row = row(op, size, 4000)(floats(1000, 1000))
    Seq(
      matrix("sum").wick { case Seq(a) => implicit s => a.sum(dim, false) }.djl { case Seq(a) => () => a.sum(Array(dim)) },
      matrix("mean").wick { case Seq(a) => implicit s => a.mean(dim, false) }.djl { case Seq(a) => () => a.mean(Array(dim)) },
      matrix("max").wick { case Seq(a) => implicit s => a.max(dim, false) }.torch(s"a.max($dim)"),
      matrix("amax").wick { case Seq(a) => implicit s => a.amax(Seq(dim), false) }.torch(s"a.amax($dim)"),
      matrix("argmax").wick { case Seq(a) => implicit s => a.argmax(dim.toLong, false) }.djl { case Seq(a) => () => a.argMax(dim) },
      matrix("var").wick { case Seq(a) => implicit s => a.variance(dim, true, false) }.torch(s"a.var($dim)"),
      matrix("norm")
        .wick { case Seq(a) => implicit s => a.norm(2.0, Seq(dim), false) }
        .djl { case Seq(a) => () => a.norm(2, Array(dim), false) },
      matrix("logsumexp").wick { case Seq(a) => implicit s => a.logsumexp(Seq(dim), false) }.torch(s"a.logsumexp($dim)")
    )
  }

  private val softmaxes: Seq[Row] = for {
    (rows, columns) <- Seq(1000L -> 1000L, 64L -> 50000L)
    size = s"${rows}x${short(columns).replace("1k", "1000")}"
    result <- Seq(
      row("softmax", size, 4.0 * rows * columns)(floats(rows, columns))
        .wick { case Seq(a) => implicit s => a.softmax(1) }
        .djl { case Seq(a) => () => a.softmax(1) }
        .loop { case Seq(a: Array[Float]) => Loops.softmax(a, columns.toInt) },
      row("log_softmax", size, 4.0 * rows * columns)(floats(rows, columns))
        .wick { case Seq(a) => implicit s => a.logSoftMax(1) }
        .djl { case Seq(a) => () => a.logSoftmax(1) }
    )
  } yield result

  private val columns: Row = row("softmax", "1000x1000 over columns", 4e6)(floats(1000, 1000))
    .wick { case Seq(a) => implicit s => a.softmax(0) }
    .djl { case Seq(a) => () => a.softmax(0) }

  val rows: Seq[Row] = (all ++ along(1) ++ along(0) ++ softmaxes :+ columns).map(_.onBoth)
}
