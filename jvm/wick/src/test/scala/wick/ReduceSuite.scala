package wick

import Fixtures.{doubles, full, values}

class ReduceSuite extends munit.FunSuite {

  private def in(body: Scope => Unit): Unit = {
    val before = Wick.memory
    Scope.root(body)
    assertEquals(Wick.memory.liveTensors, before.liveTensors)
  }

  private def of(dtype: DType, shape: Long*)(v: Double*)(implicit scope: Scope): STen = {
    val t = STen.own(Native.fromDoubles(v.toArray, shape.toArray))
    STen.own(Native.cast(t.handle, dtype.number))
  }

  test("LP-10 sums: all forms, shapes and dtypes") {
    in { implicit scope =>
      val t = of(DType.F32, 2, 3)(1, 2, 3, 4, 5, 6)
      assertEquals(values(t.sum), List(21.0))
      assertEquals(t.sum.shape, Nil)
      assertEquals(values(t.sum(0, keepDim = false)), List(5.0, 7.0, 9.0))
      assertEquals(t.sum(-1, keepDim = true).shape, List(2L, 1L))
      assertEquals(values(t.sum(List(0, 1), keepDim = false)), List(21.0))
      assertEquals(values(t.rowSum), List(6.0, 15.0))
      assertEquals(t.rowSum.shape, List(2L, 1L))
      assertEquals(t.colSum.shape, List(1L, 3L))
      assertEquals(t.sum(DType.F64).dtype, DType.F64)
      assertEquals(values(t.mean(1, keepDim = false)), List(2.0, 5.0))
      assertEquals(values(t.mean), List(3.5))
    }
  }

  test("BR-080 sums of integers and bools are i64, of floats their own") {
    in { implicit scope =>
      for (d <- DType.values) {
        val t = full(d, List(3L), 1)
        val want = if (d.isFloatingPoint) d else DType.I64
        assertEquals(t.sum.dtype, want)
        assertEquals(t.prod.dtype, want)
        assertEquals(values(t.sum), List(3.0))
      }
    }
  }

  test("BR-009 order of dimensions; BR-164 from the end; repeated or outside is an error") {
    in { implicit scope =>
      val x = of(DType.F32, 2, 2, 2)(0, 1, 2, 3, 4, 5, 6, 7)
      def s(d: Int*) = values(x.sum(d, keepDim = false))
      assertEquals(s(0, 1), List(12.0, 16.0))
      assertEquals(s(1, 0), s(0, 1))
      assertEquals(s(0, 2), List(10.0, 18.0))
      assertEquals(s(-1, -3), s(0, 2))
      assertEquals(s(2, 1), List(6.0, 22.0))
      intercept[ShapeException](x.sum(List(0, 0), keepDim = false))
      intercept[ShapeException](x.sum(List(0, -3), keepDim = false))
      intercept[IndexException](x.sum(3, keepDim = false))
      intercept[IndexException](x.max(-4, keepDim = false))
      for (d <- 0 until 3) {
        assertEquals(values(x.max(d - 3, keepDim = true)._2), values(x.max(d, keepDim = true)._2))
      }
    }
  }

  test("BR-003 BR-025 BR-051 extremes and their places") {
    in { implicit scope =>
      val v = (1L << 53) + 1
      val big = STen.own(Native.fromLongs(Array(v, v - 1), Array(2L)))
      assertEquals(Native.itemLong(big.max.handle), v)
      assertEquals(Native.itemLong(big.argmax(0, keepDim = false).handle), 0L)
      val nan = full(DType.F32, List(5L, 2L), Double.NaN)
      assert(values(nan.max).head.isNaN)
      assertEquals(values(nan.argmax), List(0.0))
      val (m, i) = nan.max(1, keepDim = false)
      assert(values(m).forall(_.isNaN))
      assertEquals(values(i), List.fill(5)(0.0))
      val x = doubles(3, 1, 3, Double.NaN, 9)
      assertEquals(values(x.argmin), List(3.0))
      assertEquals(values(doubles(3, 1, 3, 1).min(0, keepDim = false)._2), List(1.0))
      assertEquals(doubles(3, 1).min(0, keepDim = false)._2.dtype, DType.I64)
    }
  }

  test("BR-015 nothing to reduce") {
    in { implicit scope =>
      val (m, i) = full(DType.F32, List(0L, 4L), 0).max(1, keepDim = false)
      assertEquals((m.shape, i.shape), (List(0L), List(0L)))
      assertEquals(i.dtype, DType.I64)
      val none = full(DType.F32, List(2L, 0L), 0)
      assertEquals(none.max(0, keepDim = false)._1.shape, List(0L))
      assertEquals(none.argmin(0, keepDim = false).dtype, DType.I64)
      intercept[IndexException](none.max)
      intercept[IndexException](none.max(1, keepDim = false))
      assertEquals(values(none.sum(1, keepDim = false)), List(0.0, 0.0))
      assertEquals(values(none.prod), List(1.0))
      assertEquals((values(none.any), values(none.all)), (List(0.0), List(1.0)))
      assert(values(none.mean).head.isNaN)
      assertEquals(values(none.logsumexp(List(1), keepDim = false)), List.fill(2)(Double.NegativeInfinity))
    }
  }

  test("BR-090 variance with a correction") {
    in { implicit scope =>
      val x = of(DType.F32, 2, 2)(0, 1, 2, 3)
      val inf = Double.PositiveInfinity
      assertEquals(values(x.variance(List(0), 3.0, keepDim = false)), List(inf, inf))
      val (v, m) = x.varAndMean(List(0), 3.0, keepDim = false)
      assertEquals((values(v), values(m)), (List(inf, inf), List(1.0, 2.0)))
      assertEquals(values(x.variance(unbiased = false)), List(1.25))
      assertEquals(values(x.std(0, unbiased = false, keepDim = true)), List(1.0, 1.0))
      val (s, mean) = x.stdAndMean(List(1), unbiased = false, keepDim = false)
      assertEquals((values(s), values(mean)), (List(0.5, 0.5), List(0.5, 2.5)))
    }
  }

  test("BR-055 logsumexp of infinities") {
    in { implicit scope =>
      val inf = Double.PositiveInfinity
      def l(v: Double*) = values(doubles(v: _*).logsumexp(List(0), keepDim = false)).head
      assertEquals(l(-inf, -inf), -inf)
      assertEquals(l(inf, 0), inf)
      assertEquals(l(inf, -inf), inf)
      assertEqualsDouble(l(1000, 1000), 1000.6931471805599, 1e-9)
    }
  }

  test("BR-043 norms") {
    in { implicit scope =>
      assertEquals(values(doubles(3, 4).norm2(List(0), keepDim = true)), List(5.0))
      assertEquals(values(doubles(1e200, 1, 1).norm2(List(0), keepDim = false)), List(1e200))
    }
  }

  test("sumOut and meanOut write, or fail and change nothing") {
    in { implicit scope =>
      val x = of(DType.F32, 2, 2)(0, 1, 2, 3)
      val out = full(DType.F32, List(2L), 9)
      STen.sumOut(out, x, List(0), keepDim = false)
      assertEquals(values(out), List(2.0, 4.0))
      STen.meanOut(out, x, List(1), keepDim = false)
      assertEquals(values(out), List(0.5, 2.5))
      intercept[ShapeException](STen.sumOut(out, x, List(0), keepDim = true))
      val ints = full(DType.I64, List(2L), 9)
      intercept[DTypeException](STen.sumOut(ints, x, List(0), keepDim = false))
      assertEquals(values(ints), List(9.0, 9.0))
      intercept[DTypeException](ints.mean)
      assertEquals(values(ints.mean(DType.F32)), List(9.0))
      intercept[DTypeException](ints.std(unbiased = true))
    }
  }

  test("any and all: u8 answers in u8") {
    in { implicit scope =>
      assertEquals(of(DType.U8, 2)(0, 7).any.dtype, DType.U8)
      val x = of(DType.F32, 2, 2)(0, 0.5, 1, 2)
      assertEquals(
        (values(x.any(1, keepDim = false)), values(x.all(1, keepDim = false))),
        (List(1.0, 1.0), List(0.0, 1.0))
      )
      assertEquals(x.all.dtype, DType.Bool)
    }
  }

  private def assertNear(got: List[Double], want: Double*): Unit = {
    assertEquals(got.length, want.length)
    got.zip(want).foreach { case (g, w) => if (g != w) assertEqualsDouble(g, w, 1e-6) }
  }

  test("BR-053 softmax and its logarithm") {
    in { implicit scope =>
      assertNear(values(of(DType.F32, 2)(1e8, 1e8).logSoftMax(0)), -0.6931472, -0.6931472)
      val x = of(DType.F32, 2, 2)(0, 0, 1000, 1000)
      assertNear(values(x.softmax(1)), 0.5, 0.5, 0.5, 0.5)
      assertNear(values(x.softmax(0)), 0, 0, 1, 1)
      assertNear(values(x.softmax(-2)), 0, 0, 1, 1)
      assert(values(doubles(Double.NegativeInfinity, Double.NegativeInfinity).softmax(0)).forall(_.isNaN))
      intercept[DTypeException](of(DType.I64, 2)(1, 2).softmax(0))
      assertEquals(of(DType.I64, 2)(1, 2).softmax(0, DType.F64).dtype, DType.F64)
      intercept[IndexException](x.softmax(2))
      intercept[IndexException](x.logSoftMax(-3))
      assertEquals(full(DType.F32, List(0L, 3L), 0).softmax(0).shape, List(0L, 3L))
      assertEquals(full(DType.F16, Nil, 3).softmax(-1).shape, Nil)
    }
  }

  test("BR-041 BR-082 running sums and products") {
    in { implicit scope =>
      val halves = values(full(DType.F16, List(100000L), 0.5).cumsum(0)).last
      assertEqualsDouble(halves, 50000.0, 50.0)
      def both(t: STen) = {
        assertEquals((t.cumsum(0).dtype, t.cumprod(0).dtype), (DType.I64, DType.I64))
        (values(t.cumsum(0)), values(t.cumprod(0)))
      }
      assertEquals(
        both(of(DType.U8, 3)(150, 150, 3)),
        (List(150.0, 300.0, 303.0), List(150.0, 22500.0, 67500.0))
      )
      assertEquals(both(of(DType.I8, 2)(90, 90))._1, List(90.0, 180.0))
      assertEquals(both(of(DType.Bool, 3)(1, 1, 0))._1, List(1.0, 2.0, 2.0))
      val x = of(DType.F32, 2, 2)(1, 2, 3, 4)
      assertEquals(values(x.cumsum(0)), List(1.0, 2.0, 4.0, 6.0))
      assertEquals(values(x.cumprod(-1)), List(1.0, 2.0, 3.0, 12.0))
      assertEquals(x.cumsum(0, DType.I32).dtype, DType.I32)
      intercept[IndexException](x.cumsum(2))
    }
  }

  test("BR-057 running log-sums of exponentials") {
    in { implicit scope =>
      val inf = Double.PositiveInfinity
      assertNear(values(doubles(-inf, -inf, 1).logcumsumexp(0)), -inf, -inf, 1)
      assertNear(values(doubles(2, -inf, -inf, 1).logcumsumexp(0)), 2, 2, 2, 2.3132617)
      intercept[DTypeException](of(DType.I64, 1)(1).logcumsumexp(0))
    }
  }

  test("BR-013 BR-007 every length, and the first of equal extremes") {
    in { implicit scope =>
      for (n <- (1 to 1100) ++ (4095 to 4097)) Scope.root { implicit scope =>
        assertEquals(values(full(DType.F32, List(n.toLong), 1).sum), List(n.toDouble))
      }
      for (n <- List(1, 63, 64, 65, 127, 1023, 1025, 4097)) {
        val data = new Array[Double](n)
        data(n - 1) = 1
        assertEquals(values(doubles(data.toSeq: _*).argmax), List((n - 1).toDouble))
        data(n / 2) = 1
        assertEquals(values(doubles(data.toSeq: _*).argmax), List((n / 2).toDouble))
      }
    }
  }

  test("BR-037 BR-005 long and thin") {
    in { implicit scope =>
      val x = full(DType.F32, List(20000000L, 2L), 1)
      assertEquals(values(x.sum(0, keepDim = false)), List(2e7, 2e7))
      assertEquals(values(x.mean(0, keepDim = false)), List(1.0, 1.0))
      for (n <- List(32767L, 32768L, 40000L, 65537L)) {
        val t = full(DType.F32, List(n, 1L), 1)
        assert(values(t.argmin(1, keepDim = false)).forall(_ == 0.0))
        assert(values(t.min(1, keepDim = false)._2).forall(_ == 0.0))
      }
    }
  }

  test("BR-039 no rounding where none is needed") {
    in { implicit scope =>
      val x = full(DType.F32, List(1L << 25, 2L), 1.0 / (1 << 26))
      assertEquals(values(x.sum), List(1.0))
      assertEquals(values(x.sum(0, keepDim = false).sum), List(1.0))
      assertEquals(values(x.sum(1, keepDim = false).sum), List(1.0))
    }
  }

  test("BR-045 BR-047 no overflow on the way") {
    in { implicit scope =>
      val x = of(DType.F32, 3)(1e20, 1.5e20, 2e20)
      assertEqualsDouble(values(x.std(unbiased = true)).head / 5e19, 1.0, 1e-6)
      assertEquals(values(x.variance(unbiased = true)).head, Double.PositiveInfinity)
      assertEqualsDouble(values(full(DType.F16, List(4L), 50000).mean).head, 50000, 16)
      assert(!values(full(DType.F32, List(3L), 3e38).mean).head.isNaN)
    }
  }

  test("BR-011 a dimension of size 1") {
    in { implicit scope =>
      val x = of(DType.F32, 3, 1, 8)((0 until 24).map(_.toDouble): _*)
      assertEquals(x.sum(1, keepDim = false).shape, List(3L, 8L))
      assertEquals(values(x.sum(1, keepDim = false)), values(x))
      assertEquals(values(x.max(1, keepDim = false)._2), List.fill(24)(0.0))
    }
  }

  test("BR-219 a failing operation leaves nothing behind") {
    in { implicit scope =>
      val x = of(DType.F32, 2, 3)(1, 2, 3, 4, 5, 6)
      val before = Wick.memory.liveTensors
      intercept[IndexException](x.sum(5, keepDim = false))
      intercept[IndexException](x.max(5, keepDim = false))
      intercept[IndexException](x.cumsum(5))
      intercept[DTypeException](of(DType.Bool, 1)(1).softmax(0))
      assertEquals(Wick.memory.liveTensors, before + 2)
    }
  }
}
