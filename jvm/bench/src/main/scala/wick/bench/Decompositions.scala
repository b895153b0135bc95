package wick.bench

import wick.{DType, Scope, STen}

/** Dense linear algebra; operations counted as by Golub and Van Loan. */
object Decompositions extends Family {

  private def on(n: Long, dtype: DType): Seq[Row] = {
    val cube = n.toDouble * n * n
    val square = dtype.size.toDouble * n * n
    def plain(op: String, out: Double, flops: Double, torch: String)(f: (STen, Scope) => Any): Row =
      row(op, s"$n $dtype", out)(numbers(dtype, n, n)).flops(flops).wick { case Seq(a) => f(a, _) }.torch(torch)
    val definite = Operand(Seq(n, n), dtype, Fill.Definite)
    Seq(
      plain("svd", 2 * square, 21 * cube, "torch.linalg.svd(a, full_matrices=False)")((a, s) => a.svd(false)(s)),
      plain("qr", 2 * square, 8 * cube / 3, "torch.linalg.qr(a)")((a, s) => a.qr("reduced")(s)),
      plain("inv", square, 2 * cube, "torch.linalg.inv(a)")((a, s) => a.inv(s)),
      row("eigh", s"$n $dtype", square)(definite)
        .flops(9 * cube)
        .wick { case Seq(a) => implicit s => a.eigh("L") }
        .torch("torch.linalg.eigh(a)"),
      row("cholesky", s"$n $dtype", square)(definite)
        .flops(cube / 3)
        .wick { case Seq(a) => implicit s => a.choleskyLower }
        .torch("torch.linalg.cholesky(a)"),
      row("solve", s"$n $dtype", square)(definite, numbers(dtype, n, n))
        .flops(8 * cube / 3)
        .wick { case Seq(a, b) => implicit s => a.solve(b) }
        .torch("torch.linalg.solve(a, b)")
    )
  }

  val rows: Seq[Row] = for {
    n <- Seq(128L, 512L)
    dtype <- Seq(F32, F64)
    decomposition <- on(n, dtype)
  } yield decomposition
}
