package wick

import Fixtures.{doubles, full, values}

class ReduceSuite extends munit.FunSuite {

  private def in(body: Scope => Unit): Unit = {
    val before = Wick.memory
    Scope.root(body)
    assertEquals(Wick.memory.liveTensors, before.liveTensors)
  }

  private def viewed(t: STen, shape: Long*)(implicit scope: Scope): STen =
    STen.own(Native.viewList(Native.opCode("view", "view"), t.handle, shape.toArray))

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
      assertEquals((values(x.any(1, keepDim = false)), values(x.all(1, keepDim = false))), (List(1.0, 1.0), List(0.0, 1.0)))
      assertEquals(x.all.dtype, DType.Bool)
    }
  }
}
