package wick

/** The codes of linear algebra, and the one way to call its native. */
private[wick] object LinalgCalls {
  private def code(name: String) = Native.opCode("linalg", name)

  val det: Int = code("linalg_det")
  val slogdet: Int = code("linalg_slogdet")
  val inv: Int = code("linalg_inv")
  val solve: Int = code("linalg_solve")
  val luFactor: Int = code("linalg_lu_factor")
  val lu: Int = code("linalg_lu")
  val luSolve: Int = code("linalg_lu_solve")
  val cholesky: Int = code("linalg_cholesky")
  val choleskyInverse: Int = code("cholesky_inverse")
  val choleskySolve: Int = code("cholesky_solve")
  val triangularSolve: Int = code("triangular_solve")
  val solveTriangular: Int = code("linalg_solve_triangular")
  val qr: Int = code("linalg_qr")
  val svd: Int = code("linalg_svd")
  val svdvals: Int = code("linalg_svdvals")
  val pinv: Int = code("linalg_pinv")
  val matrixRank: Int = code("linalg_matrix_rank")
  val eigh: Int = code("linalg_eigh")
  val eigvalsh: Int = code("linalg_eigvalsh")
  val eig: Int = code("linalg_eig")
  val eigvals: Int = code("linalg_eigvals")
  val lstsq: Int = code("linalg_lstsq")
  val vectorNorm: Int = code("linalg_vector_norm")
  val matrixNorm: Int = code("linalg_matrix_norm")
  val cond: Int = code("linalg_cond")
  val matrixPower: Int = code("matrix_power")
  val multiDot: Int = code("linalg_multi_dot")
  val tensordot: Int = code("tensordot")
  val tensorinv: Int = code("linalg_tensorinv")
  val tensorsolve: Int = code("linalg_tensorsolve")
  val kron: Int = code("kron")
  val cross: Int = code("cross")
  val cdist: Int = code("cdist")

  private val none = new Array[Long](0)

  /** The places in libtorch's lists of modes and drivers. */
  val modes: Vector[String] = Vector("reduced", "complete", "r")
  val drivers: Vector[String] = Vector("gelsy", "gels", "gelsd", "gelss")

  def flags(values: Boolean*): Array[Long] = values.iterator.map(v => if (v) 1L else 0L).toArray

  def one(op: Int, operands: Array[Long], p: Array[Long] = none, x: Double = Double.NaN, y: Double = Double.NaN)(
      implicit scope: Scope
  ): STen = {
    val results = new Array[Long](1)
    Native.linalg(op, operands, p, x, y, results)
    STen.own(results(0))
  }

  def many(n: Int, op: Int, operands: Array[Long], p: Array[Long] = none, x: Double = Double.NaN)(implicit
      scope: Scope
  ): Array[STen] = {
    val results = new Array[Long](n)
    Native.linalg(op, operands, p, x, Double.NaN, results)
    STen.ownAll(results)
  }

  def two(op: Int, a: STen, p: Array[Long] = none)(implicit scope: Scope): (STen, STen) = {
    val both = many(2, op, Array(a.handle), p)
    (both(0), both(1))
  }

  def three(op: Int, a: STen, p: Array[Long] = none)(implicit scope: Scope): (STen, STen, STen) = {
    val all = many(3, op, Array(a.handle), p)
    (all(0), all(1), all(2))
  }

  /** The place of a word in a list of those allowed. */
  def place(op: String, a: STen, word: String, allowed: Seq[String]): Long = {
    val i = allowed.indexOf(word)
    if (i < 0)
      throw new IllegalArgumentException(
        s"$op: ${a.dtype} ${a.shapeText}: \"$word\" is none of ${allowed.mkString(", ")}"
      )
    i.toLong
  }

  /** Whether the upper triangle is meant. */
  def isUpper(op: String, a: STen, uplo: String): Boolean =
    place(op, a, if (uplo == null) uplo else uplo.toUpperCase, Vector("L", "U")) == 1

  /** Kind and number of a norm that is told by a word. */
  def norm(op: String, a: STen, word: String): (Long, Double) = word match {
    case "fro"      => (1L, 0.0)
    case "nuc"      => (2L, 0.0)
    case "inf"      => (0L, Double.PositiveInfinity)
    case "-inf"     => (0L, Double.NegativeInfinity)
    case "1" | "-1" => (0L, word.toDouble)
    case "2" | "-2" => (0L, word.toDouble)
    case _          =>
      place(op, a, word, Vector("fro", "nuc", "inf", "-inf", "1", "-1", "2", "-2"))
      (0L, 0.0)
  }
}
