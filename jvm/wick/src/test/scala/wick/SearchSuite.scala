package wick

/** Places among sorted values, counts, repeats, products of vectors, index grids, differences. */
class SearchSuite extends CleanSuite {
  import Fixtures._

  private val nan = Double.NaN

  private def floats(shape: Long*)(values: Double*)(implicit scope: Scope): STen =
    of(DType.F32, shape: _*)(values: _*)
  private def longs(values: Long*)(implicit scope: Scope): STen =
    STen.own(Native.fromLongs(values.toArray, Array(values.size.toLong)))

  private def check(t: STen, shape: Seq[Long], expected: Double*): Unit = {
    assertEquals(t.shape, shape.toList)
    assertEquals(values(t).map(_.toString), expected.toList.map(_.toString))
  }

  test("searchSorted and bucketize: both sides, lines, sorter, dtypes, errors") {
    clean { implicit scope =>
      val s = floats(4)(1, 3, 3, 5)
      val v = floats(2, 3)(3, 0, 6, 5, 1, nan)
      check(s.searchSorted(v, right = false), List(2, 3), 1, 0, 4, 3, 0, 4)
      check(s.searchSorted(v, right = true), List(2, 3), 3, 0, 4, 4, 1, 4)
      check(v.bucketize(s, right = false), List(2, 3), 1, 0, 4, 3, 0, 4)
      assertEquals(v.bucketize(s, false, outInt32 = true).dtype, DType.I32: DType)
      val lines = floats(2, 3)(1, 2, 3, 10, 20, 30)
      check(lines.searchSorted(floats(2, 2)(2, 9, 20, 31), false), List(2, 2), 1, 3, 1, 3)
      check(floats(3)(5, 1, 3).searchSorted(floats(1)(4), false, false, Some(longs(1, 2, 0))), List(1), 2)
      check(longs(1, 3).searchSorted(of(DType.F64)(1.5), false), Nil, 1)
      check(STen.zeros(List(0), STen.fOptions).searchSorted(v.narrow(0, 0L, 1L), true), List(1, 3), 0, 0, 0)
      intercept[ShapeException](lines.searchSorted(floats(3, 2)(1, 2, 3, 4, 5, 6), false))
      intercept[ShapeException](v.bucketize(lines, false))
      intercept[ShapeException](floats()(1).searchSorted(v, false))
      intercept[IndexException](floats(2)(5, 1).searchSorted(v, false, false, Some(longs(1, 2))))
      intercept[ShapeException](floats(2)(5, 1).searchSorted(v, false, false, Some(longs(1))))
    }
  }

  test("histc: given range, own range, what lies outside, errors") {
    clean { implicit scope =>
      check(floats(3)(1, 2, 1).histc(4, 0, 3), List(4), 0, 2, 1, 0)
      check(floats(5)(0, 1, 2, nan, 9).histc(2, 0, 2), List(2), 1, 2)
      check(floats(4)(1, 2, 3, 5).histc(4, 0, 0), List(4), 1, 1, 1, 1)
      check(floats(2)(7, 7).histc(2, 0, 0), List(2), 0, 2)
      check(STen.zeros(List(0), STen.dOptions).histc(3, 0, 0), List(3), 0, 0, 0)
      check(of(DType.F64, 2)(-1.7e308, 1.7e308).histc(2, 0, 0), List(2), 1, 1)
      assertEquals(values(STen.rand(List(100000), STen.fOptions).histc(20000, 0, 1)).sum, 100000.0)
      intercept[IndexException](floats(2)(1, nan).histc(2, 0, 0))
      intercept[IndexException](floats(2)(1, 2).histc(2, 3, 1))
      intercept[ShapeException](floats(2)(1, 2).histc(0, 0, 1))
      intercept[DTypeException](longs(1).histc(2, 0, 1))
    }
  }

  test("bincount: weights, minimum length, bad numbers") {
    clean { implicit scope =>
      check(longs(0, 3, 3, 1).bincount(None), List(4), 1, 1, 0, 2)
      val w = longs(0, 3, 3, 1).bincount(Some(floats(4)(0.5, 1, 2, 4)), 6)
      check(w, List(6), 0.5, 4, 0, 3, 0, 0)
      assertEquals(w.dtype, DType.F32: DType)
      assertEquals(longs(1).bincount(Some(longs(2))).dtype, DType.F64: DType)
      check(of(DType.U8, 3)(2, 2, 255).bincount(None).narrow(0, 0L, 4L), List(4), 0, 0, 2, 0)
      check(longs().bincount(None, 3), List(3), 0, 0, 0)
      val text = intercept[IndexException](longs(1, -7).bincount(None)).getMessage
      assert(text.contains("-7 is negative") && text.contains("place 1"), text)
      for (v <- List(Long.MaxValue, Long.MaxValue - 1, 1L << 60))
        try {
          longs(v).bincount(None)
          fail("made a result of that size")
        } catch { case _: ShapeException | _: OutOfNativeMemoryError => }
      intercept[ShapeException](longs(1).bincount(None, -1))
      intercept[ShapeException](longs(1, 2).bincount(Some(floats(1)(1))))
      intercept[ShapeException](longs(1, 2).view(1, 2).bincount(None))
      intercept[DTypeException](floats(1)(1).bincount(None))
    }
  }

  test("repeatInterleave in its forms, and refused counts") {
    clean { implicit scope =>
      val x = floats(2, 2)(1, 2, 3, 4)
      check(x.repeatInterleave(2L, 0), List(4, 2), 1, 2, 1, 2, 3, 4, 3, 4)
      check(x.repeatInterleave(2L, 1), List(2, 4), 1, 1, 2, 2, 3, 3, 4, 4)
      check(x.repeatInterleave(longs(0, 2), 1), List(2, 2), 2, 2, 4, 4)
      check(x.repeatInterleave(longs(2), 0), List(4, 2), 1, 2, 1, 2, 3, 4, 3, 4)
      check(x.repeatInterleave(0L, 0), List(0, 2))
      check(longs(2, 0, 3).repeatInterleave, List(5), 0, 0, 2, 2, 2)
      assertEquals(of(DType.I32, 2)(1, 2).repeatInterleave.dtype, DType.I32: DType)
      intercept[IndexException](x.repeatInterleave(-1L, 0))
      intercept[IndexException](x.repeatInterleave(longs(1, -1), 0))
      intercept[ShapeException](x.repeatInterleave(longs(1, 2, 3), 0))
      intercept[ShapeException](x.repeatInterleave(Long.MaxValue, 0))
      intercept[ShapeException](x.repeatInterleave(longs(Long.MaxValue, 1), 0))
      intercept[DTypeException](x.repeatInterleave(floats(2)(1, 1), 0))
    }
  }

  test("cartesianProduct, combinations, meshgrid") {
    clean { implicit scope =>
      check(STen.cartesianProduct(List(longs(1, 2), longs(3, 4, 5))), List(6, 2), 1, 3, 1, 4, 1, 5, 2, 3, 2, 4, 2, 5)
      check(STen.cartesianProduct(List(longs(1, 2))), List(2), 1, 2)
      check(STen.cartesianProduct(List(longs(1, 2), longs())), List(0, 2))
      intercept[ShapeException](STen.cartesianProduct(Nil))
      intercept[DTypeException](STen.cartesianProduct(List(longs(1), floats(1)(1))))
      intercept[ShapeException](STen.cartesianProduct(List(floats(1, 1)(1))))
      val big = longs(1).expand(List(1L << 40))
      intercept[ShapeException](STen.cartesianProduct(List(big, big)))

      check(longs(7, 8, 9).combinations(2, false), List(3, 2), 7, 8, 7, 9, 8, 9)
      check(longs(7, 8).combinations(2, true), List(3, 2), 7, 7, 7, 8, 8, 8)
      check(longs(1, 2, 3, 4).combinations(3, false), List(4, 3), 1, 2, 3, 1, 2, 4, 1, 3, 4, 2, 3, 4)
      check(longs(7, 8).combinations(3, false), List(0, 3))
      check(longs(7, 8).combinations(0, false), List(0))
      intercept[IndexException](longs(7, 8).combinations(-1, false))
      intercept[ShapeException](STen.arange_l(0, 1000, 1, STen.lOptions).combinations(500, false))

      val List(x, y) = STen.meshgrid(List(longs(1, 2), longs(3, 4, 5))): @unchecked
      check(x, List(2, 3), 1, 1, 1, 2, 2, 2)
      check(y, List(2, 3), 3, 4, 5, 3, 4, 5)
      val List(a, b) = STen.meshgrid(List(longs(1, 2), longs(3, 4, 5)), "xy"): @unchecked
      check(a, List(3, 2), 1, 2, 1, 2, 1, 2)
      check(b, List(3, 2), 3, 3, 4, 4, 5, 5)
      intercept[ShapeException](STen.meshgrid(Nil))
      intercept[IllegalArgumentException](STen.meshgrid(List(longs(1)), "yx"))
      intercept[ShapeException](STen.meshgrid(List(big, big)))
    }
  }

  test("trilIndices and triuIndices are the places of tril and triu") {
    clean { implicit scope =>
      for (rows <- 0 to 4; columns <- 0 to 4; offset <- -6 to 6) {
        val ones = full(DType.F32, List(rows.toLong, columns.toLong), 1)
        val lower = STen.trilIndices(rows.toLong, columns.toLong, offset.toLong)
        val upper = STen.triuIndices(rows.toLong, columns.toLong, offset.toLong)
        for ((got, mask) <- List((lower, ones.tril(offset)), (upper, ones.triu(offset)))) {
          val places = mask.where
          check(got, List(2L, places.head.numel), places.flatMap(values): _*)
        }
      }
      check(STen.trilIndices(1L << 60, 3, -(1L << 60) + 1), List(2, 1), ((1L << 60) - 1).toDouble, 0)
      check(STen.triuIndices(1L << 60, 1L << 60, (1L << 60) - 1), List(2, 1), 0, ((1L << 60) - 1).toDouble)
      intercept[ShapeException](STen.trilIndices(-1, 3, 0))
      intercept[ShapeException](STen.trilIndices(Long.MaxValue, Long.MaxValue, 0))
      intercept[ShapeException](STen.triuIndices(Long.MaxValue, Long.MaxValue, Long.MinValue))
    }
  }

  test("diff") {
    clean { implicit scope =>
      val x = floats(2, 3)(1, 4, 9, 0, 0, 5)
      check(x.diff(1, 1), List(2, 2), 3, 5, 0, 5)
      check(x.diff(2, -1), List(2, 1), 2, 5)
      check(x.diff(3, 1), List(2, 0))
      check(x.diff(Int.MaxValue, 1), List(2, 0))
      check(x.diff(0, 1), List(2, 3), 1, 4, 9, 0, 0, 5)
      check(x.diff(1, 0, Some(floats(1, 3)(0, 0, 0)), None), List(2, 3), 1, 4, 9, -1, -4, -4)
      check(of(DType.Bool, 3)(1, 1, 0).diff(1, 0), List(2), 0, 1)
      intercept[ShapeException](floats()(1).diff(1, 0))
      intercept[IndexException](x.diff(-1, 0))
      intercept[ShapeException](x.diff(1, 0, Some(floats(3)(0, 0, 0)), None))
    }
  }

  test("nansum and nanmean") {
    clean { implicit scope =>
      val x = floats(2, 2)(1, nan, 3, 4)
      check(x.nansum, Nil, 8)
      check(x.nansum(List(0), keepDim = true), List(1, 2), 4, 4)
      check(x.nanmean(List(1), keepDim = false), List(2), 1, 3.5)
      check(floats(2)(nan, nan).nanmean, Nil, nan)
      check(floats(2)(nan, nan).nansum, Nil, 0)
      check(floats(2)(nan, Double.PositiveInfinity).nansum, Nil, Double.PositiveInfinity)
      check(longs(1, 2).nansum, Nil, 3)
      intercept[DTypeException](longs(1, 2).nanmean)
    }
  }
}
