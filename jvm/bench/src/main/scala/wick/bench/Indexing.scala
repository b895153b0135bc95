package wick.bench

import ai.djl.ndarray.NDArrays
import ai.djl.ndarray.types.{DataType, SparseFormat}

/** Gathers, scatters and masks. */
object Indexing extends Family {

  private val million = 1000000L

  val rows: Seq[Row] = Seq(
    row("gather", "1M of 1M", 4e6)(floats(million), below(million, million))
      .wick { case Seq(a, i) => implicit s => a.gather(0, i) }
      .djl { case Seq(a, i) => () => a.gather(i, 0) }
      .loop { case Seq(a: Array[Float], i: Array[Long]) => Loops.pick(a, i) },
    row("gather rows", "1000x1000", 4e6)(floats(1000, 1000), below(1000, 1000, 1000))
      .wick { case Seq(a, i) => implicit s => a.gather(1, i) }
      .djl { case Seq(a, i) => () => a.gather(i, 1) },
    row("take", "1M of 1M", 4e6)(floats(million), below(million, million))
      .wick { case Seq(a, i) => implicit s => a.take(i) }
      .djl { case Seq(a, i) => () => a.take(i) },
    row("index_select rows", "100k of 100kx16", 6.4e6)(floats(100000, 16), below(100000, 100000))
      .wick { case Seq(a, i) => implicit s => a.indexSelect(0, i) }
      .torch("a.index_select(0, b)"),
    row("index_select columns", "1000 of 1000x1000", 4e6)(floats(1000, 1000), below(1000, 1000))
      .wick { case Seq(a, i) => implicit s => a.indexSelect(1, i) }
      .torch("a.index_select(1, b)"),
    row("index_add", "100k of 100kx16", 6.4e6)(floats(100000, 16), below(100000, 100000), floats(100000, 16))
      .wick { case Seq(a, i, b) => implicit s => a.indexAdd(0, i, b) }
      .torch("a.index_add(0, b, c)"),
    row("scatter", "1M to 1M", 4e6)(floats(million), below(million, million), floats(million))
      .wick { case Seq(a, i, b) => implicit s => a.scatter(0, i, b) }
      .torch("a.scatter(0, b, c)"),
    row("scatter_add", "1M to 1M", 4e6)(floats(million), below(million, million), floats(million))
      .wick { case Seq(a, i, b) => implicit s => a.scatterAdd(0, i, b) }
      .torch("a.scatter_add(0, b, c)"),
    row("masked_select", "1M", 2e6)(floats(million), coins(million))
      .wick { case Seq(a, m) => implicit s => a.maskedSelect(m) }
      .djl { case Seq(a, m) => () => a.booleanMask(m, 0) }
      .loop { case Seq(a: Array[Float], m: Array[Boolean]) => Loops.select(a, m) },
    row("masked_fill", "1M", 4e6)(floats(million), coins(million))
      .wick { case Seq(a, m) => implicit s => a.maskedFill(m, 0.0) }
      .torch("a.masked_fill(b, 0.0)"),
    row("where", "1M", 4e6)(floats(million), floats(million), coins(million))
      .wick { case Seq(a, b, m) => implicit s => wick.STen.where(m, a, b) }
      .djl { case Seq(a, b, m) => () => NDArrays.where(m, a, b) }
      .loop { case Seq(a: Array[Float], b: Array[Float], m: Array[Boolean]) => Loops.where(m, a, b) },
    row("nonzero", "1M", 4e6)(coins(million))
      .wick { case Seq(m) => implicit s => m.nonzero }
      .djl { case Seq(m) => () => m.nonzero() },
    row("one_hot", "100k of 16", 12.8e6)(below(16, 100000))
      .wick { case Seq(i) => implicit s => i.oneHot(16) }
      .djl { case Seq(i) => () => i.oneHot(16, DataType.INT64) },
    row("embedding", "100k of 10kx64", 25.6e6)(floats(10000, 64), below(10000, 100000)).reading(26.4e6)
      .wick { case Seq(w, i) => implicit s => wick.STen.embedding(w, i) }
      .djl { case Seq(w, i) => () => w.getNDArrayInternal.embedding(i, w, SparseFormat.DENSE) },
    row("embedding backward", "100k of 10kx64", 2.56e6)(floats(100000, 64), below(10000, 100000))
      .wick { case Seq(g, i) => implicit s => wick.STen.embedding_dense_backward(g, i, 10000L, -1L, false) }
      .torch("torch.ops.aten.embedding_dense_backward(a, b, 10000, -1, False)")
  ).map(_.onBoth)
}
