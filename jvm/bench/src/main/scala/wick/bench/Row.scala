package wick.bench

/** One operation at one size; `n` is what the works are made from, `size` what the table shows. */
final case class Row(op: String, size: String, n: Int, threads: Seq[Int]) {

  /** What a pattern is looked for in. */
  def name: String = s"$op $size"
}

object Row {
  private val one = Seq(1)
  private val both = Seq(1, 2)
  private val functions = Seq("exp", "tanh", "log", "sigmoid", "pow")

  /** All rows in the order of the table. Work of a few microseconds is not measured on two threads. */
  val all: Seq[Row] =
    Seq(
      Row("shape", "10", 10, one),
      Row("add", "10", 10, one),
      Row("chain", "3 on 10", 10, one),
      Row("add", "100k", 100000, both),
      Row("add", "1M", 1000000, both),
      Row("add", "10M", 10000000, both)
    ) ++
      functions.map(Row(_, "100k", 100000, both)) ++
      functions.map(Row(_, "1M", 1000000, both)) ++
      Seq(
        Row("where", "1M", 1000000, both),
        Row("masked_select", "1M", 1000000, both),
        Row("sum", "1M", 1000000, both),
        Row("argmax", "1M", 1000000, both),
        Row("softmax", "1000x1000", 1000, both),
        Row("mm", "64", 64, one),
        Row("mm", "256", 256, both),
        Row("mm", "512", 512, both),
        Row("mm", "1024", 1024, both),
        Row("conv2d", "32x64x28x28 3x3", 32, both),
        Row("conv2d_1x1", "32x64x28x28", 32, both),
        Row("max_pool2d", "32x64x28x28 2x2", 32, both),
        Row("attention", "8x1024x64", 1024, both),
        Row("layer_norm", "1000x1000", 1000, both),
        Row("batch_norm", "32x64x28x28", 32, both),
        Row("transpose_copy", "3000x3000", 3000, both),
        Row("cat", "100x10k", 10000, both),
        Row("copy_in", "1M", 1000000, one),
        Row("copy_out", "1M", 1000000, one)
      )
}
