package wick.bench

import ai.djl.ndarray.{NDArray, NDArrays, NDList}
import ai.djl.ndarray.types.Shape

/** Copies in another order, joined and in steps. */
object Shaping extends Family {

  /** DJL copies a view only when it is given a shape that cannot be one. */
  private def copied(view: NDArray): NDArray = {
    val copy = view.reshape(new Shape(view.size))
    view.close()
    copy
  }

  private def permuted(shape: Seq[Long], order: Seq[Int]): Row =
    row(s"permute ${order.mkString}", shape.mkString("x"), 4.0 * shape.product)(floats(shape: _*))
      .wick { case Seq(a) => implicit s => a.permute(order).contiguous }
      .djl { case Seq(a) => () => copied(a.transpose(order: _*)) }

  private val parts = Seq.fill(100)(floats(10000))

  val rows: Seq[Row] = Seq(
    row("transpose", "3000x3000", 36e6)(floats(3000, 3000))
      .wick { case Seq(a) => implicit s => a.t.contiguous }
      .djl { case Seq(a) => () => copied(a.transpose()) }
      .loop { case Seq(a: Array[Float]) => Loops.transpose(a, 3000) },
    row("transpose", "1000x1000 f64", 8e6)(numbers(F64, 1000, 1000))
      .wick { case Seq(a) => implicit s => a.t.contiguous }
      .djl { case Seq(a) => () => copied(a.transpose()) },
    permuted(Seq(128, 128, 128), Seq(2, 0, 1)),
    permuted(Seq(128, 128, 128), Seq(1, 0, 2)),
    permuted(Seq(128, 128, 128), Seq(0, 2, 1)),
    permuted(Seq(16, 64, 56, 56), Seq(0, 2, 3, 1)),
    row("clone", "1M", 4e6)(floats(1000000))
      .wick { case Seq(a) => implicit s => a.cloneTensor }
      .djl { case Seq(a) => () => a.duplicate() }
      .loop { case Seq(a: Array[Float]) => () => a.clone },
    row("expand copy", "1000x1000", 4e6)(floats(1000, 1))
      .wick { case Seq(a) => implicit s => a.expand(List(1000L, 1000L)).contiguous }
      .djl { case Seq(a) => () => copied(a.broadcast(1000, 1000)) },
    row("cat", "100x10k", 4e6)(parts: _*)
      .wick { case parts => implicit s => wick.STen.cat(parts, 0) }
      .djl { case parts =>
        val list = new NDList(parts: _*)
        () => NDArrays.concat(list, 0)
      }
      .loop { case parts => Loops.join(parts.collect { case part: Array[Float] => part }) },
    row("cat columns", "2 of 1000x500", 4e6)(floats(1000, 500), floats(1000, 500))
      .wick { case Seq(a, b) => implicit s => a.cat(b, 1) }
      .djl { case Seq(a, b) =>
        val list = new NDList(a, b)
        () => NDArrays.concat(list, 1)
      },
    row("stack", "100x10k", 4e6)(parts: _*)
      .wick { case parts => implicit s => wick.STen.stack(parts, 0) }
      .djl { case parts =>
        val list = new NDList(parts: _*)
        () => NDArrays.stack(list, 0)
      },
    row("stack last", "4 of 250k", 4e6)(Seq.fill(4)(floats(250000)): _*)
      .wick { case parts => implicit s => wick.STen.stack(parts, 1) }
      .djl { case parts =>
        val list = new NDList(parts: _*)
        () => NDArrays.stack(list, 1)
      },
    row("slice step 2", "1M", 2e6)(floats(1000000))
      .wick { case Seq(a) => implicit s => a.slice(0, 0L, 1000000L, 2L).contiguous }
      .torch("a[::2].contiguous()"),
    row("slice columns step 3", "1000x1000", 1.336e6)(floats(1000, 1000))
      .wick { case Seq(a) => implicit s => a.slice(1, 0L, 1000L, 3L).contiguous }
      .torch("a[:, ::3].contiguous()"),
    row("slice rows step 3", "1000x1000", 1.336e6)(floats(1000, 1000)).reading(1.336e6)
      .wick { case Seq(a) => implicit s => a.slice(0, 0L, 1000L, 3L).contiguous }
      .torch("a[::3].contiguous()"),
    row("flip", "1M", 4e6)(floats(1000000))
      .wick { case Seq(a) => implicit s => a.flip(Seq(0)) }
      .djl { case Seq(a) => () => a.flip(0) },
    row("roll", "1M", 4e6)(floats(1000000))
      .wick { case Seq(a) => implicit s => a.roll(1000L) }
      .torch("a.roll(1000)"),
    row("tril", "1000x1000", 4e6)(floats(1000, 1000))
      .wick { case Seq(a) => implicit s => a.tril() }
      .torch("a.tril()")
  ).map(_.onBoth)
}
