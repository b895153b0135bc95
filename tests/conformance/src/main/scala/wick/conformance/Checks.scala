package wick.conformance

import wick._

/** The named comparisons of the vectors' README: where more than one answer is right. */
object Checks {

  private def numbers(file: SafeTensors, e: Expected): Numbers = e match {
    case ExpectedTensor(key, _, _) => Tensors.numbers(file.tensors(key))
    case other                     => sys.error(s"no tensor: $other")
  }

  private def longs(n: Numbers): Array[Long] = n match {
    case Exact(v)       => v
    case Approximate(v) => v.map(_.toLong)
  }

  /** The dimension of a case that selects along one. */
  private def dim(c: Case, rank: Int): Int = {
    val at = if (c.op == "topk") 2 else 1
    val d = c.args.lift(at).collect { case IntArg(v) => v.toInt }.getOrElse(0)
    if (d < 0) d + math.max(rank, 1) else d
  }

  /** The input's elements at indices along a dimension; a missing dimension counts as kept. */
  private def gather(input: STen, d: Int, indices: Numbers, shape: Seq[Long]): Numbers = {
    val all = Tensors.numbers(input)
    val index = longs(indices)
    val full = if (shape.size < input.shape.size) shape.take(d) ++ Seq(1L) ++ shape.drop(d) else shape
    val strides = input.shape.scanRight(1L)(_ * _).tail
    val places = index.indices.map { k =>
      var left = k.toLong
      var at = 0L
      for (axis <- full.indices.reverse) {
        val i = left % full(axis)
        left /= full(axis)
        at += (if (axis == d) index(k) else i) * strides(axis)
      }
      if (full.isEmpty) 0 else at.toInt
    }
    all match {
      case Exact(v)       => Exact(places.map(v(_)).toArray)
      case Approximate(v) => Approximate(places.map(v(_)).toArray)
    }
  }

  /** Values as usual; the indices must lead to the values, whichever of several equal ones. */
  def indexOfValue(c: Case, file: SafeTensors, call: Call, got: Seq[Any], want: Seq[Expected]): Option[String] = {
    val Seq(values: STen, indices: STen) = got: @unchecked
    val expected = numbers(file, want.head)
    Compare.close(Tensors.numbers(values), expected, c.rtol, c.atol).orElse {
      val input = call.t(0)
      val led = gather(input, dim(c, input.shape.size), Tensors.numbers(indices), indices.shape)
      Compare.close(led, expected, c.rtol, c.atol).map(s => s"at the indices: $s")
    }
  }

  /** An index whose element equals that at the expected index. */
  def argExtreme(c: Case, file: SafeTensors, call: Call, got: Seq[Any], want: Seq[Expected]): Option[String] = {
    val index = got.head.asInstanceOf[STen]
    val input = call.t(0)
    val d = dim(c, input.shape.size)
    val at = (n: Numbers) => gather(input, d, n, index.shape)
    Compare.close(at(Tensors.numbers(index)), at(numbers(file, want.head)), 0.0, 0.0)
  }
}

/** The named comparisons of decompositions: factors are not unique, what they rebuild is. Products are
  * made here, by plain loops.
  */
object MatrixChecks {

  /** A matrix by its numbers, row by row. */
  final private case class Matrix(rows: Int, cols: Int, values: Array[Double]) {
    def apply(i: Int, j: Int): Double = values(i * cols + j)

    def t: Matrix = Matrix(cols, rows, Array.tabulate(rows * cols)(k => apply(k % rows, k / rows)))

    def *(o: Matrix): Matrix = {
      require(cols == o.rows, s"$cols columns by ${o.rows} rows")
      Matrix(
        rows,
        o.cols,
        Array.tabulate(rows * o.cols) { k =>
          (0 until cols).iterator.map(i => apply(k / o.cols, i) * o(i, k % o.cols)).sum
        }
      )
    }
  }

  private object Matrix {
    def of(t: STen): Matrix = {
      val List(m, n) = t.shape: @unchecked
      Matrix(m.toInt, n.toInt, doubles(Tensors.numbers(t)))
    }

    def diagonal(values: Array[Double], m: Int, n: Int): Matrix =
      Matrix(m, n, Array.tabulate(m * n)(k => if (k / n == k % n) values(k / n) else 0.0))

    def eye(n: Int): Matrix = diagonal(Array.fill(n)(1.0), n, n)
  }

  private def doubles(n: Numbers): Array[Double] = n match {
    case Exact(v)       => v.map(_.toDouble)
    case Approximate(v) => v
  }

  private def same(c: Case, what: String)(got: Matrix, want: Matrix): Option[String] =
    Compare.close(Approximate(got.values), Approximate(want.values), c.rtol, c.atol).map(s => s"$what: $s")

  private def orthonormal(c: Case, what: String)(q: Matrix): Option[String] =
    same(c, s"$what has no orthonormal columns")(q.t * q, Matrix.eye(q.cols))

  private def values(c: Case, file: SafeTensors, t: STen, want: Expected): Option[String] = want match {
    case ExpectedTensor(key, _, _) =>
      Compare.close(Tensors.numbers(t), Tensors.numbers(file.tensors(key)), c.rtol, c.atol)
    case other => sys.error(s"no tensor: $other")
  }

  /** U, S, Vᵀ: the singular values as usual, orthonormal vectors, and the matrix rebuilt. */
  def svd(c: Case, file: SafeTensors, call: Call, got: Seq[Any], want: Seq[Expected]): Option[String] = {
    val Seq(u: STen, s: STen, vh: STen) = got: @unchecked
    val (left, right) = (Matrix.of(u), Matrix.of(vh))
    val middle = Matrix.diagonal(doubles(Tensors.numbers(s)), left.cols, right.rows)
    values(c, file, s, want(1))
      .orElse(same(c, "U S V")(left * middle * right, Matrix.of(call.t(0))))
      .orElse(orthonormal(c, "U")(left))
      .orElse(orthonormal(c, "V")(right.t))
  }

  /** Eigenvalues as usual, A V = V diag(values), V orthogonal. */
  def eigh(c: Case, file: SafeTensors, call: Call, got: Seq[Any], want: Seq[Expected]): Option[String] = {
    val Seq(s: STen, v: STen) = got: @unchecked
    val (a, vectors) = (Matrix.of(call.t(0)), Matrix.of(v))
    val scaled = vectors * Matrix.diagonal(doubles(Tensors.numbers(s)), vectors.cols, vectors.cols)
    values(c, file, s, want.head)
      .orElse(same(c, "A V")(a * vectors, scaled))
      .orElse(orthonormal(c, "V")(vectors))
  }

  /** Q R rebuilds the matrix, Q has orthonormal columns, R is upper triangular. */
  def qr(c: Case, call: Call, got: Seq[Any]): Option[String] = {
    val Seq(q: STen, r: STen) = got: @unchecked
    val (left, right) = (Matrix.of(q), Matrix.of(r))
    val below = for (i <- 0 until right.rows; j <- 0 until math.min(i, right.cols)) yield right(i, j)
    same(c, "Q R")(left * right, Matrix.of(call.t(0)))
      .orElse(orthonormal(c, "Q")(left))
      .orElse(if (below.exists(_ != 0)) Some("R has elements below its diagonal") else None)
  }
}
