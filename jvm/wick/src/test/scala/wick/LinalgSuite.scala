package wick

/** Linear algebra; layouts, batches and sizes are tested more widely in Rust. */
class LinalgSuite extends munit.FunSuite {
  import Fixtures.values

  private def clean(name: String)(body: Scope => Unit): Unit = test(name) {
    val before = Wick.memory
    Scope.root(scope => body(scope))
    val after = Wick.memory
    assertEquals(after.liveBytes, before.liveBytes)
    assertEquals(after.liveTensors, before.liveTensors)
  }

  private val both = List(SinglePrecision, DoublePrecision)

  private def matrix(rows: Double*)(shape: Long*)(precision: FloatingPointPrecision)(implicit scope: Scope): STen =
    STen.fromDoubleArray(rows.toArray, shape, CPU, precision)

  private def near(t: STen, expected: Double*)(implicit loc: munit.Location): Unit = {
    val got = values(t)
    assertEquals(got.length, expected.length)
    got.zip(expected).foreach { case (x, y) =>
      assert(math.abs(x - y) <= 1e-5 * (1 + math.abs(y)), s"$got for ${expected.toList}")
    }
  }

  /** Whether the columns are orthonormal. */
  private def orthonormal(q: STen)(implicit scope: Scope, loc: munit.Location): Unit = {
    val n = q.shape.last.toInt
    near(q.mT.matmul(q), List.tabulate(n * n)(k => if (k / n == k % n) 1.0 else 0.0): _*)
  }

  clean("determinants, inverses, systems") { implicit scope =>
    for (p <- both) {
      val a = matrix(2, 1, 1, 3)(2, 2)(p)
      near(a.det, 5)
      val (sign, log) = a.slogdet
      near(sign, 1)
      near(log, math.log(5))
      near(a.logdet, math.log(5))
      near(a.inv, 0.6, -0.2, -0.2, 0.4)
      near(a.solve(matrix(3, 4)(2)(p)), 1, 1)
      near(a.solve(matrix(3, 4)(2, 1)(p)), 1, 1)
      near(a.solve(matrix(3, 4)(1, 2)(p), left = false), 1, 1)
      near(a.inv.matmul(a), 1, 0, 0, 1)
      near(a.matrixPower(-2).matmul(a).matmul(a), 1, 0, 0, 1)
      near(a.matrixPower(3), 15, 20, 20, 35)
      val (factors, pivots) = a.luFactor
      assertEquals((pivots.dtype, values(pivots)), (DType.I32, List(1d, 2d)))
      near(factors.luSolve(pivots, matrix(3, 4)(2, 1)(p)), 1, 1)
      val (perm, lower, upper) = matrix(0, 1, 2, 3)(2, 2)(p).lu
      near(perm, 0, 1, 1, 0)
      near(lower, 1, 0, 0, 1)
      near(upper, 2, 3, 0, 1)
      val batch = STen.stack(List(a, a * 2.0), 0)
      assertEquals(batch.inv.shape, List(2L, 2, 2))
      near(batch.det, 5, 20)
      assertEquals(batch.solve(matrix(1, 2, 3, 4)(2, 2)(p)).shape, List(2L, 2))
    }
  }

  clean("Cholesky factors and triangular systems") { implicit scope =>
    for (p <- both) {
      val a = matrix(4, 2, 2, 5)(2, 2)(p)
      near(a.choleskyLower, 2, 0, 1, 2)
      near(a.cholesky(true), 2, 1, 0, 2)
      for (upper <- List(false, true)) {
        val factor = a.cholesky(upper)
        near(factor.choleskyInverse(upper).matmul(a), 1, 0, 0, 1)
        near(matrix(6, 7)(2, 1)(p).choleskySolve(factor, upper), 1, 1)
      }
      val lower = a.choleskyLower
      near(STen.triangularSolve(matrix(2, 3)(2, 1)(p), lower, false, false, false), 1, 1)
      near(STen.triangularSolve(matrix(3, 2)(2, 1)(p), lower, false, true, false), 1, 1)
      near(STen.triangularSolve(matrix(1, 2)(2, 1)(p), lower, false, false, true), 1, 1)
      near(lower.solveTriangular(matrix(3, 2)(1, 2)(p), upper = false, left = false), 1, 1)
    }
  }

  clean("decompositions rebuild what they are of") { implicit scope =>
    for (p <- both) {
      val a = matrix(1, 2, 3, 4, 5, 6)(3, 2)(p)
      for ((mode, k) <- List("reduced" -> 2L, "complete" -> 3L)) {
        val (q, r) = a.qr(mode)
        assertEquals((q.shape, r.shape), (List(3L, k), List(k, 2L)))
        orthonormal(q)
        near(q.matmul(r), 1, 2, 3, 4, 5, 6)
      }
      assertEquals(a.qr("r")._1.shape, List(0L))
      val (u, s, vh) = a.svd()
      assertEquals((u.shape, s.shape, vh.shape), (List(3L, 2), List(2L), List(2L, 2)))
      orthonormal(u)
      orthonormal(vh.t)
      near((u * s).matmul(vh), 1, 2, 3, 4, 5, 6)
      near(a.svdvals, values(s): _*)
      assertEquals(a.svd(fullMatrices = true)._1.shape, List(3L, 3))
      near(a.pinverse(1e-6).matmul(a), 1, 0, 0, 1)
      near(a.pinv(false).matmul(a), 1, 0, 0, 1)
      val symmetric = matrix(2, 1, 1, 2)(2, 2)(p)
      for (uplo <- List("L", "U")) {
        val (w, v) = symmetric.eigh(uplo)
        near(w, 1, 3)
        orthonormal(v)
        near(symmetric.matmul(v) - v * w, 0, 0, 0, 0)
        near(symmetric.eigvalsh(uplo), 1, 3)
      }
      near(symmetric.pinv(hermitian = true), 2.0 / 3, -1.0 / 3, -1.0 / 3, 2.0 / 3)
      val (w, v) = matrix(0, -1, 1, 0)(2, 2)(p).eig
      assertEquals((w.shape, v.shape), (List(2L, 2), List(2L, 2, 2)))
      near(w.select(1, 0), 0, 0)
      near(w.select(1, 1).abs, 1, 1)
      near(v.square.sum(List(0, 2), false), 1, 1)
      near(matrix(3, 0, 0, 4)(2, 2)(p).eigvals.sum(0, false), 7, 0)
    }
  }

  clean("BR-176, BR-178: what is not finite is refused, with and without vectors") { implicit scope =>
    for (p <- both; bad <- List(Double.NaN, Double.PositiveInfinity)) {
      val a = STen.ones(List(4, 4), STenOptions(p.dtype))
      a(2, 2) = bad
      val calls = List[() => Any](
        () => a.svd(),
        () => a.svd(true),
        () => a.svdvals,
        () => a.eigh("L"),
        () => a.eigvalsh("U"),
        () => a.eig,
        () => a.matrixRank(false),
        () => a.matrixRank(true),
        () => a.matrixNorm("nuc"),
        () => a.norm(2.0),
        () => a.cond,
        () => a.pinv(false)
      )
      calls.foreach { call =>
        val e = intercept[LinalgException](call())
        assert(e.getMessage.contains("not finite"), e.getMessage)
      }
      if (bad.isNaN) {
        assert(a.det.item.isNaN)
        val regular = STen.eye(4, STenOptions(p.dtype))
        regular(2, 1) = bad
        assert(regular.det.item.isNaN)
        assert(values(regular.inv).exists(_.isNaN))
        intercept[LinalgException](a.cholesky(false))
      }
    }
  }

  clean("BR-180: least squares of low rank have the shortest solution") { implicit scope =>
    for (p <- both) {
      val (a, b) = (matrix(2, 4, 1, 2)(2, 2)(p), matrix(10, 5)(2, 1)(p))
      for (driver <- List("gelsy", "gelsd", "gelss")) {
        val (x, residuals, rank, s) = STen.lstsq(a, b, Double.NaN, driver)
        near(x, 1, 2)
        assertEquals((rank.dtype, rank.itemLong), (DType.I64, 1L))
        assertEquals((residuals.shape, s.shape), (List(0L), List(if (driver == "gelsy") 0L else 2L)))
      }
      intercept[LinalgException](STen.lstsq(a, b, Double.NaN, "gels"))
      near(STen.lstsq(matrix(1, 2, 2)(1, 3)(p), matrix(9)(1, 1)(p))._1, 1, 2, 2)
      val tall = matrix(1, 0, 0, 1, 0, 0)(3, 2)(p)
      val (x, residuals, _, _) = STen.lstsq(tall, matrix(1, 2, 3)(3, 1)(p), Double.NaN, "gels")
      near(x, 1, 2)
      near(residuals, 9)
    }
  }

  clean("BR-182: zeros, empty sides, single elements") { implicit scope =>
    for (p <- both) {
      val options = STenOptions(p.dtype)
      val (u, s, vh) = STen.zeros(List(3, 3), options).svd(true)
      assertEquals(values(s), List(0d, 0, 0))
      orthonormal(u)
      orthonormal(vh.t)
      def shapes(m: Long, n: Long, full: Boolean) = {
        val (u, s, vh) = STen.zeros(List(m, n), options).svd(full)
        (u.shape, s.shape, vh.shape)
      }
      assertEquals(shapes(0, 3, true), (List(0L, 0), List(0L), List(3L, 3)))
      assertEquals(shapes(3, 0, false), (List(3L, 0), List(0L), List(0L, 0)))
      assertEquals(values(STen.ones(List(1, 1), options).svd()._2), List(1d))
      val none = STen.zeros(List(0, 0), options)
      assertEquals(values(none.det), List(1d))
      assertEquals(none.inv.shape, List(0L, 0))
      assertEquals(none.eigh("L")._1.shape, List(0L))
      assertEquals(STen.zeros(List(3, 0, 0), options).det.shape, List(3L))
      assertEquals(STen.zeros(List(0, 2, 2), options).inv.shape, List(0L, 2, 2))
    }
  }

  clean("BR-021, BR-049: norms of nothing") { implicit scope =>
    for (p <- both) {
      def zeros(m: Long, n: Long) = STen.zeros(List(m, n), STenOptions(p.dtype))
      val inf = Double.PositiveInfinity
      assertEquals(zeros(0, 3).vectorNorm(inf, List(-1), false).shape, List(0L))
      intercept[ShapeException](zeros(3, 0).vectorNorm(inf, List(-1), false))
      intercept[ShapeException](zeros(4, 0).vectorNorm(-1, List(-1), false))
      intercept[ShapeException](zeros(4, 0).vectorNorm(inf, List(-1), false))
      assertEquals(values(zeros(4, 0).vectorNorm(2, List(-1), false)), List(0d, 0, 0, 0))
    }
  }

  clean("BR-043: norms of any exponent do not overflow on the way") { implicit scope =>
    for (ord <- List(1.0, 2.0, 3.0, 7.5)) {
      val f = STen.fromFloatArray(Array(1e20f, 1, 1))
      assertEqualsDouble(f.vectorNorm(ord).item / 1e20, 1.0, 1e-6)
      assertEqualsDouble(STen.fromDoubleArray(Array(1e200, 1, 1)).vectorNorm(ord).item / 1e200, 1.0, 1e-12)
    }
  }

  clean("norms and condition numbers") { implicit scope =>
    for (p <- both) {
      val v = matrix(3, -4, 0)(3)(p)
      near(v.norm, 5)
      near(v.vectorNorm(0), 2)
      near(v.vectorNorm(1), 7)
      near(v.vectorNorm(Double.PositiveInfinity), 4)
      near(v.vectorNorm(Double.NegativeInfinity), 0)
      near(v.norm(3.0), math.cbrt(27 + 64))
      val a = matrix(1, -2, 3, 4)(2, 2)(p)
      near(a.vectorNorm(1, List(0), false), 4, 6)
      assertEquals(a.vectorNorm(1, List(1), true).shape, List(2L, 1))
      near(a.matrixNorm("fro"), math.sqrt(30))
      near(a.norm("inf"), 7)
      near(a.norm(1.0), 6)
      near(a.norm(-1.0), 4)
      near(a.matrixNorm("-inf", List(0, 1), true), 3)
      near(a.matrixNorm("nuc"), values(a.svdvals).sum)
      near(a.norm(2.0), values(a.svdvals).head)
      near(a.norm(1.0, List(1), false), 3, 7)
      near(a.norm(1.0, List(0, 1), false), 6)
      val scale = matrix(1, 0, 0, 4)(2, 2)(p)
      near(scale.cond, 4)
      near(scale.cond("1"), 4)
      near(scale.cond("fro"), math.sqrt(17) * math.sqrt(17) / 4)
      near(scale.cond("-2"), 0.25)
      near(scale.cond(Double.PositiveInfinity), 4)
      assert(STen.ones(List(2, 2), STenOptions(p.dtype)).cond("fro").item.isInfinite)
    }
    assertEquals(STen.ones(List(4), STenOptions.bf16).vectorNorm(3, Nil, false, DType.F64).dtype, DType.F64)
    assertEquals(STen.ones(List(4), STenOptions.bf16).vectorNorm(3).dtype, DType.BF16)
  }

  clean("ranks and their tolerances") { implicit scope =>
    for (p <- both) {
      val a = matrix(1, 0, 0, 0, 0.1, 0, 0, 0, 0.01)(3, 3)(p)
      assertEquals(a.matrixRank(false).itemLong, 3L)
      assertEquals(a.matrixRank(true).itemLong, 3L)
      assertEquals(a.matrixRank(matrix(0.05)()(p), false).itemLong, 2L)
      assertEquals(a.matrixRank(0.0, 0.5, false).itemLong, 1L)
      assertEquals(STen.stack(List(a, a), 0).matrixRank(matrix(0.05, 2)(2)(p), true).toLongArray.toList, List(2L, 0))
    }
  }

  clean("contractions, Kronecker and cross products, distances, chains") { implicit scope =>
    val (a, b) = (matrix(1, 2, 3, 4)(2, 2)(DoublePrecision), matrix(0, 1, 1, 0)(2, 2)(DoublePrecision))
    near(a.tensordot(b, List(1), List(0)), 2, 1, 4, 3)
    near(a.tensordot(b, List(0, 1), List(0, 1)), 5)
    assertEquals(a.tensordot(b, Nil, Nil).shape, List(2L, 2, 2, 2))
    near(a.kron(b), 0, 1, 0, 2, 1, 0, 2, 0, 0, 3, 0, 4, 3, 0, 4, 0)
    val (x, y) = (STen.fromLongArray(Array(1L, 0, 0)), STen.fromLongArray(Array(0L, 1, 0)))
    assertEquals(x.cross(y, 0).toLongArray.toList, List(0L, 0, 1))
    near(a.cdist(b), math.sqrt(2), math.sqrt(4), math.sqrt(18), math.sqrt(20))
    near(a.cdist(b, 1), 2, 2, 6, 6)
    near(a.cdist(a, Double.PositiveInfinity), 0, 2, 2, 0)
    near(STen.multiDot(List(a, b, a)), values(a.mm(b).mm(a)): _*)
    near(STen.chainMatmul(a, b), 2, 1, 4, 3)
    val eye = STen.eye(6).view(2, 3, 2, 3)
    val right = STen.arange(0, 6, 1).view(2, 3)
    near(eye.tensorsolve(right), 0, 1, 2, 3, 4, 5)
    near(eye.tensorinv(2).tensordot(right, List(2, 3), List(0, 1)), 0, 1, 2, 3, 4, 5)
  }

  clean("Einstein's summation") { implicit scope =>
    val (a, b) = (matrix(1, 2, 3, 4)(2, 2)(DoublePrecision), matrix(0, 1, 1, 0)(2, 2)(DoublePrecision))
    near(STen.einsum("ij,jk->ik", a, b), 2, 1, 4, 3)
    near(STen.einsum("ij,jk", a, b), 2, 1, 4, 3)
    near(STen.einsum("ii", a), 5)
    near(STen.einsum("ii->i", a), 1, 4)
    near(STen.einsum("ij->ji", a), 1, 3, 2, 4)
    near(STen.einsum("i,j -> ij", STen.einsum("ii->i", a), STen.einsum("ij->j", a)), 4, 6, 16, 24)
    near(STen.einsum("...ij,...jk->...ik", a.expand(List(3, 2, 2)), b), List.fill(3)(List(2d, 1, 4, 3)).flatten: _*)
    near(STen.einsum("ij,jk,kl->il", a, b, a), values(a.mm(b).mm(a)): _*)
    val turned = STen.einsum("ij->ji", a)
    assert(turned.sharesStorageWith(a))
    val e = intercept[ShapeException](STen.einsum("ij,jk->iq", a, b))
    assertEquals(
      e.getMessage,
      "einsum: f64 [2, 2] and f64 [2, 2]: \"ij,jk->iq\": 'q' of the result is in no operand"
    )
    intercept[ShapeException](STen.einsum("ij"))
    intercept[DTypeException](STen.einsum("ij,ij", a, a.castToFloat))
  }

  clean("what is refused says why, and changes nothing") { implicit scope =>
    val singular = STen.fromFloatArray(Array(1f, 2, 2, 4), List(2, 2))
    val e = intercept[LinalgException](singular.inv)
    assertEquals(
      e.getMessage,
      "linalg_inv: f32 [2, 2]: the matrix is singular: pivot 2 of its LU factors is 0"
    )
    assertEquals(values(singular.det), List(0d))
    val batch = STen.stack(List(STen.eye(2, STenOptions.f), singular), 0)
    val second = intercept[LinalgException](batch.solve(singular))
    assert(second.getMessage.contains("matrix [1] of the batch is singular: pivot 2"), second.getMessage)
    val negative = intercept[LinalgException]((-STen.eye(3)).cholesky(false))
    assert(negative.getMessage.contains("its leading minor of order 1 is not positive"), negative.getMessage)
    assert(intercept[LinalgException](singular.matrixPower(-1)).isInstanceOf[IllegalArgumentException])

    val (wide, long) = (STen.zeros(List(2, 3), STenOptions.f), STen.zeros(List(2, 2), STenOptions.l))
    List[() => Any](
      () => wide.det,
      () => wide.inv,
      () => wide.eigh("L"),
      () => wide.solve(wide),
      () => singular.solve(STen.zeros(List(3, 2), STenOptions.f)),
      () => singular.tensordot(wide, List(0, 1), List(0)),
      () => singular.tensorinv(5),
      () => singular.cross(singular, 0),
      () => singular.matrixNorm(3.0, List(0, 1), false),
      () => singular.matrixNorm("fro", List(0), false),
      () => singular.cdist(wide),
      () => singular.cdist(singular, -1),
      () => singular.norm("fro").norm("fro")
    ).foreach(call => intercept[ShapeException](call()))
    List[() => Any](
      () => long.inv,
      () => long.det,
      () => long.svd(),
      () => long.vectorNorm(2),
      () => singular.castToHalf.inv,
      () => singular.solve(singular.castToDouble),
      () => singular.cross(singular.castToDouble, 0)
    ).foreach(call => intercept[DTypeException](call()))
    List[() => Any](
      () => singular.eigh("X"),
      () => singular.eigvalsh(null),
      () => singular.qr("full"),
      () => singular.cond("3"),
      () => singular.matrixNorm("spectral"),
      () => STen.lstsq(singular, singular, 0.0, "svd"),
      () => STen.einsum(null, singular)
    ).foreach(call => intercept[IllegalArgumentException](call()))
    intercept[IndexException](singular.vectorNorm(2, List(5), false))
    assertEquals(values(singular), List(1d, 2, 2, 4))
    val closed = STen.eye(2)
    closed.close()
    List[() => Any](
      () => closed.inv,
      () => closed.svd(),
      () => closed.eigh("L"),
      () => closed.qr("reduced"),
      () => closed.cond("fro"),
      () => singular.solve(closed),
      () => STen.einsum("ij,jk", singular, closed),
      () => STen.multiDot(List(singular, closed))
    ).foreach(call => intercept[ClosedTensorException](call()))
  }
}
