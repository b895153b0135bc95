package wick.bench

/** Orders, selections and running sums. */
object Sorting extends Family {

  private val million = 1000000L

  val rows: Seq[Row] = Seq(
    row("sort", "1M", 12e6)(floats(million))
      .wick { case Seq(a) => implicit s => a.sort(0, false) }
      .torch("a.sort(0)")
      .loop { case Seq(a: Array[Float]) => Loops.sorted(a) },
    row("sort", "1M f64", 16e6)(numbers(F64, million)).wick { case Seq(a) => implicit s => a.sort(0, false) }.torch("a.sort(0)"),
    row("sort", "1M i64", 16e6)(below(million, million)).wick { case Seq(a) => implicit s => a.sort(0, false) }.torch("a.sort(0)"),
    row("sort rows", "1000x1000", 12e6)(floats(1000, 1000))
      .wick { case Seq(a) => implicit s => a.sort(1, false) }
      .torch("a.sort(1)"),
    row("argsort", "1M", 8e6)(floats(million))
      .wick { case Seq(a) => implicit s => a.argsort(0, false) }
      .djl { case Seq(a) => () => a.argSort(0, true) },
    row("topk 10", "1M", 120)(floats(million))
      .wick { case Seq(a) => implicit s => a.topk(10, 0, true, true) }
      .djl { case Seq(a) => () => a.topK(10, 0, true, true) },
    row("topk 10 rows", "1000x1000", 120e3)(floats(1000, 1000))
      .wick { case Seq(a) => implicit s => a.topk(10, 1, true, true) }
      .djl { case Seq(a) => () => a.topK(10, 1, true, true) },
    row("kthvalue", "1M", 12)(floats(million))
      .wick { case Seq(a) => implicit s => a.kthvalue(500000, 0, false) }
      .torch("a.kthvalue(500000, 0)"),
    row("median", "1M", 4)(floats(million)).wick { case Seq(a) => implicit s => a.median }.torch("a.median()"),
    row("unique", "1M of 1000", 8000)(below(1000, million))
      .wick { case Seq(a) => implicit s => a.unique(true, false) }
      .torch("a.unique()"),
    row("unique", "1M of 1M", 5e6)(below(million, million))
      .wick { case Seq(a) => implicit s => a.unique(true, false) }
      .torch("a.unique()"),
    row("cumsum", "1M", 4e6)(floats(million))
      .wick { case Seq(a) => implicit s => a.cumsum(0) }
      .djl { case Seq(a) => () => a.cumSum(0) }
      .loop { case Seq(a: Array[Float]) => Loops.cumsum(a) },
    row("cumsum columns", "1000x1000", 4e6)(floats(1000, 1000))
      .wick { case Seq(a) => implicit s => a.cumsum(0) }
      .djl { case Seq(a) => () => a.cumSum(0) },
    row("cumsum rows", "1000x1000", 4e6)(floats(1000, 1000))
      .wick { case Seq(a) => implicit s => a.cumsum(1) }
      .djl { case Seq(a) => () => a.cumSum(1) },
    row("searchsorted", "1M in 1000", 8e6)(floats(million), floats(1000))
      .wick { case Seq(a, edges) => implicit s =>
        edges.searchSorted(a, false)
      }
      .torch("torch.searchsorted(b, a)"),
    row("bincount", "1M of 1000", 8000)(below(1000, million))
      .wick { case Seq(a) => implicit s => a.bincount(None) }
      .torch("a.bincount()")
  ).map(_.onBoth)
}
