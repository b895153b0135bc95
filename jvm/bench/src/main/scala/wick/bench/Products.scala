package wick.bench

import ai.djl.ndarray.NDArray
import wick.DType

/** Products of matrices and vectors. */
object Products extends Family {

  private def mm(dtype: DType, m: Long, k: Long, n: Long): Row = {
    val size = if (m == k && k == n) s"$m $dtype" else s"${m}x$k * ${k}x$n $dtype"
    val product = row("mm", size, dtype.size.toDouble * m * n)(numbers(dtype, m, k), numbers(dtype, k, n))
      .flops(2.0 * m * k * n)
      .wick { case Seq(a, b) => implicit s => a.mm(b) }
      .djl { case Seq(a, b) => () => a.matMul(b) }
    if (m * k * n >= 256L * 256 * 256) product.onBoth else product
  }

  /** A product with a transposed matrix, whose view is freed as well. */
  private def turned(a: NDArray)(product: NDArray => NDArray): NDArray = {
    val view = a.transpose()
    try product(view)
    finally view.close()
  }

  private val square: Seq[Row] = for {
    dtype <- Seq(F32, F64)
    n <- Seq(16L, 32L, 64L, 128L, 256L, 512L, 1024L, 2048L)
  } yield {
    val product = mm(dtype, n, n, n)
    if (dtype == F32 && n <= 512) product.loop { case Seq(a: Array[Float], b: Array[Float]) => Loops.product(a, b, n.toInt) }
    else product
  }

  private val others: Seq[Row] = Seq(
    mm(F32, 4096, 16, 4096),
    mm(F32, 16, 4096, 16),
    mm(F32, 4096, 512, 16),
    mm(F32, 1, 1024, 1024),
    mm(F32, 64, 784, 256),
    row("mm transposed", "512", 4.0 * 512 * 512)(floats(512, 512), floats(512, 512))
      .flops(2.0 * 512 * 512 * 512)
      .wick { case Seq(a, b) => implicit s => a.mm(b.t) }
      .djl { case Seq(a, b) => () => turned(b)(a.matMul(_)) },
    row("bmm", "64 of 64x64", 4.0 * 64 * 64 * 64)(floats(64, 64, 64), floats(64, 64, 64))
      .flops(2.0 * 64 * 64 * 64 * 64)
      .wick { case Seq(a, b) => implicit s => a.bmm(b) }
      .djl { case Seq(a, b) => () => a.batchMatMul(b) }
      .onBoth,
    row("mv", "1000x1000", 4000)(floats(1000, 1000), floats(1000))
      .flops(2e6)
      .wick { case Seq(a, b) => implicit s => a.mv(b) }
      .djl { case Seq(a, b) => () => a.matMul(b) },
    row("mv", "4000x4000", 16000)(floats(4000, 4000), floats(4000))
      .flops(32e6)
      .wick { case Seq(a, b) => implicit s => a.mv(b) }
      .djl { case Seq(a, b) => () => a.matMul(b) }
      .onBoth,
    row("mv transposed", "1000x1000", 4000)(floats(1000, 1000), floats(1000))
      .flops(2e6)
      .wick { case Seq(a, b) => implicit s => a.t.mv(b) }
      .djl { case Seq(a, b) => () => turned(a)(_.matMul(b)) },
    row("dot", "1M", 4)(floats(1000000), floats(1000000))
      .flops(2e6)
      .wick { case Seq(a, b) => implicit s => a.dot(b) }
      .djl { case Seq(a, b) => () => a.dot(b) },
    row("outer", "1000", 4e6)(floats(1000), floats(1000))
      .wick { case Seq(a, b) => implicit s => a.outer(b) }
      .torch("torch.outer(a, b)")
  )

  val rows: Seq[Row] = square ++ others
}
