package wick

/** Sorting, selection, quantiles, different elements. */
class SortSuite extends CleanSuite {
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

  private def checkBoth(pair: (STen, STen), shape: Seq[Long])(values: Double*)(places: Double*): Unit = {
    check(pair._1, shape, values: _*)
    check(pair._2, shape, places: _*)
    assertEquals(pair._2.dtype, DType.I64: DType)
  }

  private def message[E <: Throwable](body: => Any)(implicit tag: scala.reflect.ClassTag[E]): String =
    intercept[E](body).getMessage

  test("BR-017, BR-035: medians of none, with NaN, of an even number") {
    clean { implicit scope =>
      for (dtype <- List(DType.F64, DType.F32, DType.F16, DType.BF16)) {
        check(STen.zeros(List(0), STenOptions(dtype)).median, Nil, nan)
        check(STen.zeros(List(2, 0), STenOptions(dtype)).nanmedian, Nil, nan)
      }
      for (dtype <- List(DType.I64, DType.I32, DType.U8, DType.Bool)) {
        intercept[IndexException](STen.zeros(List(0), STenOptions(dtype)).median)
        intercept[IndexException](STen.zeros(List(0), STenOptions(dtype)).nanmedian)
      }
      check(floats(3)(1, nan, 3).median, Nil, nan)
      check(floats(3)(1, nan, 3).nanmedian, Nil, 1)
      check(floats(2)(nan, nan).nanmedian, Nil, nan)
      check(floats(4)(1, 2, 3, 4).median, Nil, 2)
      val m = floats(2, 4)(4, 1, nan, 2, 1, 1, 3, 2)
      checkBoth(m.median(1, false), List(2))(nan, 1)(2, 1)
      checkBoth(m.nanmedian(1, true), List(2, 1))(2, 1)(3, 1)
      val text = message[IndexException](STen.zeros(List(3, 0), STen.fOptions).median(1, false))
      assert(text.contains("f32 [3, 0]") && text.contains("dimension 1 is empty"), text)
      checkBoth(STen.zeros(List(3, 0), STen.fOptions).median(0, false), List(0))()()
    }
  }

  test("BR-019: selection from a stepped view") {
    clean { implicit scope =>
      val v = floats(5)(4, -9, 6, -9, 5).slice(0, 0L, 5L, 2L)
      checkBoth(v.kthvalue(2, 0, false), Nil)(5)(2)
      checkBoth(v.topk(2, 0, largest = true, sorted = true), List(2))(6, 5)(1, 2)
      check(v.argmax, Nil, 1)
      check(v.median, Nil, 5)
    }
  }

  test("BR-027: NaN sorts as the greatest") {
    clean { implicit scope =>
      for (dtype <- List(DType.F64, DType.F32, DType.F16, DType.BF16)) {
        val x = of(dtype, 4)(1, nan, 3, 2)
        checkBoth(x.sort(0, false), List(4))(1, 2, 3, nan)(0, 3, 2, 1)
        checkBoth(x.sort(0, true), List(4))(nan, 3, 2, 1)(1, 2, 3, 0)
        check(x.argsort(false, 0, false), List(4), 0, 3, 2, 1)
        check(x.msort, List(4), 1, 2, 3, nan)
        checkBoth(x.topk(1, 0, true, true), List(1))(nan)(1)
        checkBoth(x.kthvalue(4, 0, true), List(1))(nan)(1)
      }
    }
  }

  test("BR-029, BR-030: each NaN is a value of its own, numbers come once") {
    clean { implicit scope =>
      val (v, i, c) = floats(5)(2, nan, 2, nan, 2).unique(true, false, true)
      check(v, List(3), 2, nan, nan)
      check(i, List(0))
      check(c, List(3), 3, 1, 1)
      val t = floats(10)(3, nan, 1, nan, 1, 2, 3, 2, 1, 3)
      for ((v, i, c) <- List(t.unique(true, true, true), t.unique(0, true, true, true))) {
        check(v, List(5), 1, 2, 3, nan, nan)
        check(i, List(10), 2, 3, 0, 4, 0, 1, 2, 1, 0, 2)
        check(c, List(5), 3, 2, 3, 1, 1)
      }
      val m = floats(4, 2)(1, nan, 0, 2, 1, nan, 0, 2)
      val (rows, number, count) = m.unique(0, true, true, true)
      check(rows, List(3, 2), 0, 2, 1, nan, 1, nan)
      check(number, List(4), 1, 0, 2, 0)
      check(count, List(3), 2, 1, 1)
      val (values2, inverse) = longs(5, 3, 5).unique(true, true)
      check(values2, List(2), 3, 5)
      check(inverse, List(3), 1, 0, 1)
    }
  }

  test("unique: empty, single, all dtypes, slices of other dimensions, errors") {
    clean { implicit scope =>
      for (dtype <- DType.values) {
        val x = of(dtype, 2, 3)(1, 0, 1, 0, 1, 1)
        val (v, i, c) = x.unique(true, true, true)
        assertEquals(v.dtype, dtype)
        check(v, List(2), 0, 1)
        check(i, List(2, 3), 1, 0, 1, 0, 1, 1)
        check(c, List(2), 2, 4)
        val (columns, _, count) = x.unique(1, true, false, true)
        check(columns, List(2, 3), 0, 1, 1, 1, 0, 1)
        check(count, List(3), 1, 1, 1)
        val (run, at, long) = x.uniqueConsecutive(true, true)
        check(run, List(5), 1, 0, 1, 0, 1)
        check(at, List(2, 3), 0, 1, 2, 3, 4, 4)
        check(long, List(5), 1, 1, 1, 1, 2)
      }
      val rows = floats(4, 2)(1, 2, 1, 2, 0, 1, 1, 2).uniqueConsecutive(0, returnInverse = true, returnCounts = true)
      check(rows._1, List(3, 2), 1, 2, 0, 1, 1, 2)
      check(rows._2, List(4), 0, 0, 1, 2)
      check(rows._3, List(3), 2, 1, 1)
      check(floats()(7).unique(true, true, true)._2, Nil, 0)
      val none = STen.zeros(List(0, 3), STen.fOptions).unique(0, true, true, true)
      check(none._1, List(0, 3))
      check(none._3, List(0))
      intercept[ShapeException](STen.zeros(List(3, 0), STen.fOptions).unique(0, true, true, true))
      intercept[IndexException](floats(2)(1, 2).unique(1, true, true, true))
    }
  }

  test("BR-051: 2^53 + 1 sorts and stays exact") {
    clean { implicit scope =>
      val v = (1L << 53) + 1
      val x = longs(v, v - 1)
      assertEquals(x.sort(0, false)._1.toLongArray.toList, List(v - 1, v))
      assertEquals(x.unique(true, true)._1.toLongArray.toList, List(v - 1, v))
      assertEquals(x.median.toLongArray.toList, List(v - 1))
      assertEquals(x.topk(1, 0, true, true)._1.toLongArray.toList, List(v))
      assertEquals(x.mode(0, false)._1.toLongArray.toList, List(v - 1))
    }
  }

  test("BR-118: sorting expanded views") {
    clean { implicit scope =>
      checkBoth(floats()(1).expand(List(1L, 1L, 1L)).sort(true, 1, true), List(1, 1, 1))(1)(0)
      checkBoth(floats(2, 1)(3, 1).expand(List(2L, 4L)).sort(0, false), List(2, 4))(1, 1, 1, 1, 3, 3, 3, 3)(
        1, 1, 1, 1, 0, 0, 0, 0
      )
      check(
        STen.zeros(List(3), STen.fOptions).expand(List(2L, 3L)).argsort(true, -1, false),
        List(2, 3),
        0,
        1,
        2,
        0,
        1,
        2
      )
    }
  }

  test("BR-120: topk into stepped, overlapping and wrong targets") {
    clean { implicit scope =>
      val x = STen.arange_l(0, 9, 1, STen.lOptions)
      val v = STen.zeros(List(9), STen.lOptions)
      val i = STen.zeros(List(9), STen.lOptions)
      STen.topkOut(v.slice(0, 0L, 9L, 3L), i.slice(0, 0L, 9L, 3L), x, 3, 0, true, true)
      check(v, List(9), 8, 0, 0, 7, 0, 0, 6, 0, 0)
      check(i, List(9), 8, 0, 0, 7, 0, 0, 6, 0, 0)
      intercept[ShapeException](STen.topkOut(v, i, x, 3, 0, true, true))
      intercept[ShapeException](STen.topkOut(v.narrow(0, 0L, 3L), v.narrow(0, 2L, 3L), x, 3, 0, true, true))
      val one = STen.zeros(List(1), STen.lOptions).expand(List(3L))
      intercept[ShapeException](STen.topkOut(one, i.narrow(0, 0L, 3L), x, 3, 0, true, true))
      intercept[DTypeException](
        STen.topkOut(STen.zeros(List(3), STen.dOptions), i.narrow(0, 0L, 3L), x, 3, 0, true, true)
      )
      check(v, List(9), 8, 0, 0, 7, 0, 0, 6, 0, 0)
      // Into the operand itself: the values are those of before.
      STen.topkOut(x.narrow(0, 0L, 3L), i.narrow(0, 0L, 3L), x, 3, 0, true, true)
      check(x, List(9), 8, 7, 6, 3, 4, 5, 6, 7, 8)
    }
  }

  test("BR-164: dimensions count from both ends, and end") {
    clean { implicit scope =>
      val x = floats(2, 3, 2)(5, 1, 4, 1, 3, 9, 2, 6, 5, 3, 5, 8)
      val ops = List[Int => STen](
        d => x.sort(d, true)._2,
        d => x.argsort(true, d, false),
        d => x.topk(2, d, true, true)._1,
        d => x.kthvalue(1, d, true)._1,
        d => x.median(d, false)._1,
        d => x.mode(d, false)._1,
        d => x.cummax(d)._2,
        d => x.quantile(0.5, d, false),
        d => x.unique(d, true, true, true)._1,
        d => x.repeatInterleave(2L, d),
        d => x.diff(1, d)
      )
      for (op <- ops) {
        for (d <- 0 until 3) check(op(d - 3), op(d).shape, values(op(d)): _*)
        for (d <- List(3, -4)) {
          val text = message[IndexException](op(d))
          assert(text.contains(s"dimension $d is outside [-3, 3)"), text)
        }
      }
    }
  }

  test("BR-169: a permutation sorts to a range") {
    clean { implicit scope =>
      val n = 100000
      val (v, i) = STen.randperm(n.toLong, STen.lOptions).sort(0, false)
      assert(v.equalDeep(STen.arange_l(0, n.toLong, 1, STen.lOptions)))
      assert(i.sort(0, false)._1.equalDeep(v))
    }
  }

  test("topk and kthvalue: bounds of k, both ends, first of equals") {
    clean { implicit scope =>
      val x = floats(2, 4)(1, 3, 3, 2, 0, 0, 0, 0)
      checkBoth(x.topk(2, 1, true, true), List(2, 2))(3, 3, 0, 0)(1, 2, 0, 1)
      checkBoth(x.topk(3, 1, false, true), List(2, 3))(1, 2, 3, 0, 0, 0)(0, 3, 1, 0, 1, 2)
      checkBoth(x.topk(0, 1, true, true), List(2, 0))()()
      assertEquals(values(x.topk(3, 1, true, false)._1).take(3).sorted, List(2.0, 3.0, 3.0))
      for (k <- List(-1, 5, Int.MaxValue, Int.MinValue)) {
        val text = message[IndexException](x.topk(k, 1, true, true))
        assert(text.contains(s"k = $k") && text.contains("size 4"), text)
        intercept[IndexException](x.kthvalue(k, 1, false))
      }
      intercept[IndexException](x.kthvalue(0, 1, false))
      checkBoth(floats()(5).topk(1, 0, true, true), Nil)(5)(0)
      checkBoth(floats()(5).kthvalue(1, -1, true), Nil)(5)(0)
      val many = STen.arange_l(0, 100000, 1, STen.lOptions)
      checkBoth(many.topk(3, 0, false, true), List(3))(0, 1, 2)(0, 1, 2)
      checkBoth(many.topk(2, 0, true, true), List(2))(99999, 99998)(99999, 99998)
      checkBoth(many.kthvalue(777, 0, false), Nil)(776)(776)
      check(many.median, Nil, 49999)
      val ties = many.remainder(7L)
      val (v, i) = ties.topk(5000, 0, false, true)
      val (sorted, places) = ties.sort(0, false)
      assert(v.equalDeep(sorted.narrow(0, 0L, 5000L)) && i.equalDeep(places.narrow(0, 0L, 5000L)))
    }
  }

  test("mode takes the least of the most frequent and its last place") {
    clean { implicit scope =>
      checkBoth(longs(3, 1, 3, 1, 2).mode(0, false), Nil)(1)(3)
      checkBoth(floats(2, 3)(nan, nan, 5, 7, 7, 1).mode(1, true), List(2, 1))(5, 7)(2, 1)
      checkBoth(floats()(2).mode(0, false), Nil)(2)(0)
      intercept[IndexException](STen.zeros(List(0), STen.fOptions).mode(0, false))
    }
  }

  test("cummax, cummin, aminmax") {
    clean { implicit scope =>
      val x = floats(6)(1, 3, 3, 2, nan, 9)
      checkBoth(x.cummax(0), List(6))(1, 3, 3, 3, nan, nan)(0, 1, 2, 2, 4, 4)
      checkBoth(x.cummin(0), List(6))(1, 1, 1, 1, nan, nan)(0, 0, 0, 0, 4, 4)
      checkBoth(floats(2, 2)(1, 0, 0, 2).cummin(0), List(2, 2))(1, 0, 0, 0)(0, 0, 1, 0)
      checkBoth(STen.zeros(List(0), STen.fOptions).cummax(0), List(0))()()
      val (low, high) = longs(4, -2, 7).aminmax
      check(low, Nil, -2)
      check(high, Nil, 7)
      check(floats(2, 2)(1, 5, nan, 2).aminmax(1, true)._2, List(2, 1), 5, nan)
    }
  }

  test("quantiles: interpolation, vectors of fractions, NaN, bad fractions") {
    clean { implicit scope =>
      val x = floats(5)(10, 40, 20, 30, 50)
      check(x.quantile(0.5), Nil, 30)
      check(x.quantile(0.375), Nil, 25)
      val by = List("linear" -> 24.0, "lower" -> 20.0, "higher" -> 30.0, "midpoint" -> 25.0, "nearest" -> 20.0)
      for ((name, expected) <- by)
        assertEqualsDouble(values(x.quantile(0.35, 0, false, name)).head, expected, 1e-4)
      val fractions = floats(3)(0, 0.5, 1)
      check(x.quantile(fractions), List(3), 10, 30, 50)
      val m = of(DType.F64, 2, 3)(1, 2, 3, 4, nan, 6)
      check(m.quantile(of(DType.F64, 2)(0, 1), 1, true, "linear"), List(2, 2, 1), 1, nan, 3, nan)
      check(m.quantile(0.5, 1, false), List(2), 2, nan)
      check(m.nanquantile(0.5, 1, false), List(2), 2, 5)
      check(m.nanquantile(1.0), Nil, 6)
      check(floats(2)(nan, nan).nanquantile(0.5), Nil, nan)
      check(floats(3)(1, Double.PositiveInfinity, 2).quantile(1.0), Nil, Double.PositiveInfinity)
      check(of(DType.F16, 2)(1, 2).quantile(0.5), Nil, 1.5)
      for (q <- List(-0.1, 1.5, nan)) intercept[IndexException](x.quantile(q))
      intercept[DTypeException](longs(1, 2).quantile(0.5))
      intercept[IllegalArgumentException](x.quantile(0.5, 0, false, "cubic"))
      intercept[IndexException](STen.zeros(List(0), STen.fOptions).quantile(0.5))
    }
  }

  test("closed tensors are refused") {
    clean { implicit scope =>
      val x = floats(3)(1, 2, 3)
      x.close()
      intercept[ClosedTensorException](x.sort(0, false))
      intercept[ClosedTensorException](x.unique(true, true))
      intercept[ClosedTensorException](x.median)
      intercept[ClosedTensorException](floats(3)(1, 2, 3).searchSorted(x, false))
    }
  }
}
