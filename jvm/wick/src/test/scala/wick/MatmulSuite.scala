package wick

/** Matrix products; layouts, dtypes and threads are tested more widely in Rust. */
class MatmulSuite extends munit.FunSuite {
  import Fixtures.values

  private def clean(name: String)(body: Scope => Unit): Unit = test(name) {
    val before = Wick.memory
    Scope.root(scope => body(scope))
    val after = Wick.memory
    assertEquals(after.liveBytes, before.liveBytes)
    assertEquals(after.liveTensors, before.liveTensors)
  }

  private def floats(shape: Long*)(from: Int => Double)(implicit scope: Scope): STen =
    STen.fromFloatArray(Array.tabulate(shape.product.toInt)(i => from(i).toFloat), shape)

  private val dtypes = DType.values.filter(_ != DType.Bool)

  clean("BR-104: a transposed matrix times ones; all small sizes against three loops") {
    implicit scope =>
      val turned = STen.fromFloatArray(Array(1f, 4, 2, 5, 3, 6), List(3, 2))
      assertEquals(values(turned.mm(floats(2, 2)(_ => 1))), List(5d, 5, 7, 7, 9, 9))
      for (m <- 1 to 9; n <- 1 to 9; k <- 1 to 9) Scope.root { implicit scope =>
        val (a, b) = (floats(m, k)(_ % 7 - 3), floats(k, n)(_ % 5 - 2))
        val expected =
          for (i <- List.range(0, m); j <- 0 until n)
            yield (0 until k).map(t => ((i * k + t) % 7 - 3) * ((t * n + j) % 5 - 2)).sum.toDouble
        assertEquals(values(a.mm(b)), expected, s"$m $n $k")
        assertEquals(values(a.matmul(b)), expected, s"$m $n $k")
      }
  }

  clean("BR-106: batches of matrices, and batch dimensions that broadcast") { implicit scope =>
    val a = floats(1, 1, 2, 2, 4)(i => i)
    val turned = floats(1, 1, 2, 4, 2)(i => (i / 8 * 8 + i % 2 * 4 + i / 2 % 4).toDouble)
    val p = a.matmul(turned)
    assertEquals(p.shape, List(1L, 1, 2, 2, 2))
    assertEquals(values(p).drop(4), List(366d, 518, 518, 734))
    val wide = floats(2, 1, 3, 4)(_ => 1).matmul(floats(1, 3, 4, 5)(_ => 2))
    assertEquals(wide.shape, List(2L, 3, 3, 5))
    assertEquals(values(wide).toSet, Set(8d))
  }

  clean("BR-162: nothing to sum gives zeros or the scaled addend") { implicit scope =>
    val (none, other) = (floats(3, 0)(_ => 0), floats(0, 2)(_ => 0))
    assertEquals(values(floats(3, 2)(_ => 1).addmm(none, other, 3, 1)), List.fill(6)(3d))
    assertEquals(values(floats(2, 0)(_ => 0).mm(floats(0, 3)(_ => 0))), List.fill(6)(0d))
    val batch = floats(2, 2, 0)(_ => 0).bmm(floats(2, 0, 4)(_ => 0))
    assertEquals(batch.shape, List(2L, 2, 4))
    assertEquals(values(batch), List.fill(16)(0d))
  }

  clean("each product, its shape and its dtype") { implicit scope =>
    for (dtype <- dtypes) Scope.root { implicit scope =>
      def of(shape: Long*)(from: Int => Double) = floats(shape: _*)(from).castToType(dtype.scalarTypeByte)
      val (a, b) = (of(2, 3)(i => i), of(3, 2)(i => i + 1))
      val (u, v) = (of(3)(i => i + 1), of(3)(i => i))
      val product = List(13d, 16, 40, 52)
      def check(t: STen, shape: List[Long], expected: List[Double]): Unit = {
        assertEquals((t.dtype, t.shape, values(t)), (dtype, shape, expected))
      }
      check(a.mm(b), List(2, 2), product)
      check(a.matmul(b), List(2, 2), product)
      check(a.matmul(u), List(2), List(8, 26))
      check(u.matmul(b), List(2), List(22, 28))
      check(u.matmul(v), Nil, List(8))
      check(a.mv(u), List(2), List(8, 26))
      check(u.dot(v), Nil, List(8))
      check(u.outer(v), List(3, 3), List(0, 1, 2, 0, 2, 4, 0, 3, 6))
      check(a.inner(u), List(2), List(8, 26))
      check(a.inner(a), List(2, 2), List(5, 14, 14, 50))
      check(of(2, 1, 3)(i => i).bmm(of(2, 3, 1)(_ => 1)), List(2, 1, 1), List(3, 12))
      check(of(2)(_ => 1).addmm(a, b, 2, 1), List(2, 2), product.map(_ + 2))
      check(
        of(1, 2, 1)(_ => 1).baddbmm(of(2, 2, 3)(_ => 1), of(2, 3, 2)(_ => 1), 2, 3),
        List(2, 2, 2),
        List.fill(8)(11d)
      )
      check(of(2)(_ => 1).addmv(a, u, 3, 2), List(2), List(19, 55))
    }
  }

  clean("in place and into a target") { implicit scope =>
    val (a, b) = (floats(2, 3)(i => i), floats(3, 2)(i => i + 1))
    val exact = values(a.mm(b))
    assertEquals(exact, List(13d, 16, 40, 52))
    val c = floats(2, 2)(_ => 1)
    c.addmm_(a, b, 2, 1)
    assertEquals(values(c), exact.map(_ + 2))
    STen.mmOut(c, a, b)
    assertEquals(values(c), exact)
    STen.matmulOut(c, a, b)
    assertEquals(values(c), exact)
    STen.addmmOut(c, c, a, b, 1, 1)
    assertEquals(values(c), exact.map(_ * 2))
    STen.addmmOut(c, floats(2, 2)(_ => Double.NaN), a, b, 0, 2)
    assertEquals(values(c), exact.map(_ * 2))
    val d = floats(1, 2, 2)(_ => 1)
    STen.bmmOut(d, floats(1, 2, 3)(i => i), floats(1, 3, 2)(i => i + 1))
    assertEquals(values(d), exact)
    d.baddbmm_(floats(1, 2, 3)(i => i), floats(1, 3, 2)(i => i + 1), 1, -1)
    assertEquals(values(d), List.fill(4)(0d))
    STen.baddbmmOut(d, d, floats(1, 2, 3)(i => i), floats(1, 3, 2)(i => i + 1), 1, 1)
    assertEquals(values(d), exact)
    val v = floats(2)(_ => 0)
    STen.mvOut(v, a, floats(3)(_ => 1))
    assertEquals(values(v), List(3d, 12))
    STen.innerOut(v, a, floats(3)(_ => 1))
    assertEquals(values(v), List(3d, 12))
    v.addmv_(a, floats(3)(_ => 1), 1, -1)
    assertEquals(values(v), List(0d, 0))
    STen.outerOut(c, floats(2)(_ + 1), floats(2)(_ + 3))
    assertEquals(values(c), List(3d, 4, 6, 8))
  }

  clean("what is refused says why, and changes nothing") { implicit scope =>
    val (a, b) = (floats(2, 3)(i => i), floats(2, 3)(i => i))
    val e = intercept[ShapeException](a.mm(b))
    assertEquals(
      e.getMessage,
      "mm: f32 [2, 3] and f32 [2, 3]: the numbers of columns of the first and rows of the second " +
        "must be equal, not 3 and 2"
    )
    val doubles = STen.zeros(List(3, 2), STenOptions.d)
    intercept[DTypeException](a.mm(doubles))
    intercept[DTypeException](a.matmul(doubles))
    val flags = STen.zeros(List(2, 2), STenOptions.bool)
    intercept[DTypeException](flags.mm(flags))
    intercept[ShapeException](floats(2)(_ => 1).dot(floats(3)(_ => 1)))
    intercept[ShapeException](floats(2, 3, 4)(_ => 1).bmm(floats(3, 4, 2)(_ => 1)))
    intercept[ShapeException](floats()(_ => 1).matmul(a))
    intercept[ShapeException](a.outer(b))
    intercept[ShapeException](a.inner(floats(2)(_ => 1)))
    val square = floats(2, 2)(_ => 1)
    intercept[ShapeException](STen.mmOut(square, square, floats(2, 2)(_ => 1)))
    intercept[ShapeException](square.addmm_(square, floats(2, 2)(_ => 1), 1, 1))
    intercept[ShapeException](STen.mmOut(square, a, floats(3, 3)(_ => 1)))
    intercept[DTypeException](STen.mmOut(STen.zeros(List(2, 2), STenOptions.d), a, floats(3, 2)(_ => 1)))
    val longs = STen.fromLongArray(Array(1L, 2, 3, 4), List(2, 2))
    intercept[DTypeException](longs.addmm(longs, longs, 1, 0.5))
    intercept[DTypeException](square.addmm(longs, longs, 1, 1))
    assertEquals(values(square), List.fill(4)(1d))
    assertEquals(values(a), List.tabulate(6)(_.toDouble))
    val closed = floats(3, 2)(_ => 1)
    closed.close()
    intercept[ClosedTensorException](a.mm(closed))
    intercept[ClosedTensorException](STen.mmOut(closed, a, floats(3, 2)(_ => 1)))
  }
}
