package wick

/** Selecting and writing by index and mask. */
class IndexSuite extends CleanSuite {
  import Fixtures._

  private def longs(shape: Long*)(values: Long*)(implicit scope: Scope): STen =
    STen.own(Native.fromLongs(values.toArray, shape.toArray))
  private def vector(values: Long*)(implicit scope: Scope): STen = longs(values.size.toLong)(values: _*)
  private def bools(shape: Long*)(values: Int*)(implicit scope: Scope): STen =
    STen.own(Native.fromBooleans(values.map(_ != 0).toArray, shape.toArray))
  private def floats(shape: Long*)(values: Double*)(implicit scope: Scope): STen =
    of(DType.F32, shape: _*)(values: _*)
  private def arange(n: Int): Seq[Double] = (0 until n).map(_.toDouble)

  private def check(t: STen, shape: List[Long], expected: Double*): Unit = {
    assertEquals(t.shape, shape)
    assertEquals(values(t), expected.toList)
  }

  private def message[E <: Throwable](body: => Any)(implicit tag: scala.reflect.ClassTag[E]): String =
    intercept[E](body).getMessage

  test("BR-122: a bad index is named with its place and size; nothing changes") {
    clean { implicit scope =>
      val x = floats(4)(arange(4): _*)
      for (bad <- List(4L, 1L << 62, Long.MinValue)) {
        val text = message[IndexException](x.indexSelect(0, vector(0, bad)))
        assert(text.contains(s"index $bad at place 1") && text.contains("size 4"), text)
      }
      val many = Array.fill(2000)(3L)
      many(1000) = 4
      val index = vector(many.toIndexedSeq: _*)
      val text = message[IndexException](x.indexSelect(0, index))
      assert(text.contains("index 4 at place 1000"), text)
      intercept[IndexException](x.indexAdd_(0, index, full(DType.F32, List(2000), 1)))
      intercept[IndexException](x.scatterAdd_(0, index, full(DType.F32, List(2000), 1)))
      intercept[IndexException](x.scatter_(0, index, 1.0))
      intercept[IndexException](x.indexFill_(0, index, 1.0))
      intercept[IndexException](x.put_(index, full(DType.F32, List(2000), 1), false))
      check(x, List(4), 0, 1, 2, 3)
      check(x.indexSelect(0, vector(3, 3, 0)), List(3), 3, 3, 0)
    }
  }

  test("BR-124: single values and empty indices") {
    clean { implicit scope =>
      val three = floats()(3)
      intercept[ShapeException](three.indexSelect(0, vector()))
      check(three.indexSelect(0, vector(0)), Nil, 3)
      check(floats(3)(0, 1, 2).indexSelect(0, vector()), List(0))
      check(floats(0, 3)().indexSelect(0, vector()), List(0, 3))
      check(floats(3)(0, 1, 2).indexSelect(0, longs()(2)), List(1), 2)
    }
  }

  test("BR-126: index_add refuses sources of another shape") {
    clean { implicit scope =>
      val x = full(DType.F32, List(6, 5), 0)
      intercept[ShapeException](x.indexAdd_(0, vector(0, 3), floats(2, 4)(arange(8): _*)))
      intercept[ShapeException](x.indexAdd_(0, vector(0, 3), floats(2, 6)(arange(12): _*)))
      intercept[ShapeException](x.indexAdd_(0, vector(0, 3, 1), floats(2, 5)(arange(10): _*)))
      assert(values(x).forall(_ == 0))
      x.indexAdd_(0, vector(0, 3), full(DType.F32, List(2, 5), 2))
      assertEquals(values(x).sum, 20.0)
    }
  }

  test("BR-128, BR-130: gather refuses negative indices and other ranks") {
    clean { implicit scope =>
      val x = floats(2, 2)(0, 1, 2, 3)
      val text = message[IndexException](x.gather(1, longs(2, 2)(-1, 0, 0, 0)))
      assert(text.contains("index -1 at place [0, 0]"), text)
      intercept[IndexException](x.gather(1, longs(2, 2)(4095, 0, 0, -4096)))
      check(x.gather(1, longs(0)()), List(0))
      check(floats(2, 2)(5, 6, 7, 8).gather(1, longs(1, 1)(1)), List(1, 1), 6)
      intercept[ShapeException](full(DType.F32, List(3, 3), 1).gather(0, vector(0)))
      intercept[DTypeException](x.gather(1, floats(1, 1)(0)))
    }
  }

  test("BR-132, BR-134: scatter takes a longer index; repeats add up exactly") {
    clean { implicit scope =>
      val x = floats(6)(arange(6): _*)
      x.scatter_(0, vector(5, 1, 0, 0, 0, 0, 0, 2), 0.0)
      check(x, List(6), 0, 0, 0, 3, 4, 0)
      val zeros = floats(4)(0, 0, 0, 0)
      val index = vector(2, 0, 2, 2)
      val source = floats(4)(7, 8, 9, 10)
      check(zeros.scatter(0, index, source), List(4), 8, 0, 10, 0)
      check(zeros.scatterAdd(0, index, source), List(4), 8, 0, 26, 0)
      val n = 1000000L
      val many = STen.own(Native.full(DType.I64.number, Array(n), Native.INT, 3L))
      val sum = zeros.scatterAdd(0, many, full(DType.F32, List(n), 1))
      check(sum, List(4), 0, 0, 0, 1e6)
      check(zeros.indexAdd(0, many, full(DType.F32, List(n), 1)), List(4), 0, 0, 0, 1e6)
      check(zeros, List(4), 0, 0, 0, 0)
    }
  }

  test("BR-088: scatter refuses a source of another dtype") {
    clean { implicit scope =>
      val x = floats(1, 3)(0, 0, 0)
      val text = message[DTypeException](x.scatter_(1, longs(1, 3)(2, 0, 1), longs(1, 3)(7, 8, 9)))
      assert(text.contains("f32 [1, 3]") && text.contains("i64 [1, 3]"), text)
      check(x, List(1, 3), 0, 0, 0)
    }
  }

  test("BR-136: one_hot") {
    clean { implicit scope =>
      intercept[IndexException](vector(0, 5, 9).oneHot(6))
      intercept[IndexException](vector(0, 3, -2).oneHot(4))
      check(vector(1, 2).oneHot(-1), List(2, 3), 0, 1, 0, 0, 0, 1)
      intercept[DTypeException](floats(2)(0, 1).oneHot(2))
      check(longs(1, 2)(1, 0).oneHot(2), List(1, 2, 2), 0, 1, 1, 0)
      assert(vector(1, 2).oneHot(-1).isLong)
      check(longs(0)().oneHot(3), List(0, 3))
      intercept[ShapeException](longs(0)().oneHot(-1))
    }
  }

  test("BR-138: masks are bool and fills must fit") {
    clean { implicit scope =>
      val x = floats(2)(1, 1)
      val mask = bools(2)(0, 1)
      intercept[DTypeException](x.maskedFill(floats(2)(0, 1), 5.0))
      intercept[DTypeException](x.maskedFill(vector(0, 1), 5.0))
      intercept[DTypeException](x.maskedSelect(vector(0, 1)))
      val text = message[DTypeException](of(DType.U8, 2)(1, 1).maskedFill(mask, 300L))
      assert(text.contains("300") && text.contains("u8"), text)
      check(of(DType.I32, 2)(1, 1).maskedFill(mask, 2.7), List(2), 1, 2)
      check(x.maskFill(mask, 5.0), List(2), 1, 5)
      check(x.maskFill(mask, 5L), List(2), 1, 5)
      x.maskedFill_(mask, Double.NegativeInfinity)
      check(x, List(2), 1, Double.NegativeInfinity)
      x.maskedFill_(mask, 4L)
      check(x, List(2), 1, 4)
    }
  }

  test("BR-051: whole numbers stay exact") {
    clean { implicit scope =>
      val v = (1L << 53) + 1
      val filled = vector(v, v - 1).maskedFill(bools(2)(0, 1), v)
      val out = new Array[Long](2)
      Native.toLongs(filled.handle, out)
      assertEquals(out.toList, List(v, v))
    }
  }

  test("BR-096: a target whose elements share a place is refused") {
    clean { implicit scope =>
      val base = floats(2, 1)(6, 8)
      val t = base.expand(List(2, 3))
      val mask = bools(2, 3)(0, 0, 0, 0, 0, 1)
      check(t.maskedFill(mask, 3.0), List(2, 3), 6, 6, 6, 8, 8, 3)
      intercept[ShapeException](t.maskedFill_(mask, 3.0))
      intercept[ShapeException](t.indexFill_(0, vector(0), 3.0))
      intercept[ShapeException](t.scatterAdd_(0, longs(1, 1)(0), floats(1, 1)(1)))
      check(base, List(2, 1), 6, 8)
    }
  }

  test("BR-140: masked_scatter needs enough values") {
    clean { implicit scope =>
      val x = floats(3, 4)(arange(12): _*)
      intercept[ShapeException](x.maskedScatter(bools(4)(1, 0, 1, 0), floats(5)(arange(5): _*)))
      val column = x.maskedScatter(bools(4)(0, 1, 0, 0), floats(3)(7, 8, 9))
      check(column, List(3, 4), 0, 7, 2, 3, 4, 8, 6, 7, 8, 9, 10, 11)
      x.maskedScatter_(bools(3, 1)(1, 0, 0), floats(4)(-1, -2, -3, -4))
      check(x, List(3, 4), -1, -2, -3, -4, 4, 5, 6, 7, 8, 9, 10, 11)
    }
  }

  test("BR-164: dimensions count from both ends, and no further") {
    clean { implicit scope =>
      val x = floats(2, 3)(arange(6): _*)
      val (i, j) = (vector(1, 0), longs(2, 1)(0, 1))
      for (d <- List(0L, 1L)) {
        assert(x.indexSelect(d, i).equalDeep(x.indexSelect(d - 2, i)))
        assert(x.gather(d, j).equalDeep(x.gather(d - 2, j)))
      }
      for (d <- List(2L, -3L)) {
        intercept[IndexException](x.indexSelect(d, i))
        intercept[IndexException](x.gather(d, j))
        intercept[IndexException](x.scatterAdd(d, j, x))
        intercept[IndexException](x.indexAdd(d, i, x))
      }
    }
  }

  test("masked_select, where, nonzero") {
    clean { implicit scope =>
      val x = floats(2, 3)(arange(6): _*)
      check(x.maskedSelect(bools(2, 1)(0, 1)), List(3), 3, 4, 5)
      check(x.maskedSelect(bools(2, 3)(1, 0, 1, 0, 0, 1)), List(3), 0, 2, 5)
      check(x.maskedSelect(bools()(0)), List(0))
      intercept[ShapeException](x.maskedSelect(bools(2)(0, 1)))

      val c = bools(2, 1)(1, 0)
      check(STen.where(c, x, floats()(9)), List(2, 3), 0, 1, 2, 9, 9, 9)
      check(STen.where(c, x, 9.5), List(2, 3), 0, 1, 2, 9.5, 9.5, 9.5)
      check(STen.where(c, -1L, x), List(2, 3), -1, -1, -1, 3, 4, 5)
      assert(STen.where(c, vector(1, 2), 7L).isLong)
      check(STen.where(c, vector(1, 2), 7L), List(2, 2), 1, 2, 7, 7)
      assert(STen.where(c, vector(1, 2), 7.5).isFloat)
      assert(STen.where(c, vector(1), floats(1)(2)).isFloat)
      intercept[DTypeException](STen.where(x, x, x))
      intercept[ShapeException](STen.where(bools(4)(1, 1, 1, 1), x, x))

      val z = longs(2, 3)(0, 5, 0, 7, 0, 9)
      check(z.nonzero, List(3, 2), 0, 1, 1, 0, 1, 2)
      assertEquals(z.where.map(values), List(List(0.0, 1, 1), List(1.0, 0, 2)))
      check(floats()(3).nonzero, List(1, 0))
      assertEquals(floats()(3).where.map(values), List(List(0.0)))
      check(floats(3)(0, Double.NaN, -0.0).nonzero, List(1, 1), 1)
    }
  }

  test("take, put, index_copy, index_fill") {
    clean { implicit scope =>
      val x = floats(2, 3)(arange(6): _*)
      check(x.take(longs(2, 2)(0, -1, 5, 2)), List(2, 2), 0, 5, 5, 2)
      intercept[IndexException](x.take(vector(6)))
      intercept[IndexException](x.take(vector(-7)))
      check(x.put(vector(1, -1, 1), floats(3)(10, 20, 30), true), List(2, 3), 0, 41, 2, 3, 4, 25)
      check(x.put(vector(1, -1, 1), floats(3)(10, 20, 30), false), List(2, 3), 0, 30, 2, 3, 4, 20)
      check(x.indexCopy(1, vector(2, 0), floats(2, 2)(7, 8, 9, 10)), List(2, 3), 8, 1, 7, 10, 4, 9)
      check(x.indexFill(1, vector(-1), 9.0), List(2, 3), 0, 1, 9, 3, 4, 9)
      check(x.indexFill(0, vector(1), floats()(2.5)), List(2, 3), 0, 1, 2, 2.5, 2.5, 2.5)
      intercept[ShapeException](x.indexFill(0, vector(1), floats(2)(1, 2)))
      intercept[IndexException](x.indexCopy(1, vector(-1), floats(2, 1)(7, 8)))
      val out = full(DType.F32, List(2, 3), 0)
      STen.indexCopyOut(out, x, 0, vector(0), floats(1, 3)(7, 8, 9))
      check(out, List(2, 3), 7, 8, 9, 3, 4, 5)
      intercept[IndexException](STen.indexCopyOut(out, x, 0, vector(2), floats(1, 3)(7, 8, 9)))
      STen.indexSelectOut(out, x, 0, vector(1, 1))
      check(out, List(2, 3), 3, 4, 5, 3, 4, 5)
      intercept[ShapeException](STen.indexSelectOut(out, x, 0, vector(1)))
      intercept[DTypeException](STen.indexSelectOut(full(DType.F64, List(1, 3), 0), x, 0, vector(1)))
      intercept[ShapeException](STen.indexSelectOut(x, x, 0, vector(1, 0)))
      check(x, List(2, 3), 0, 1, 2, 3, 4, 5)
    }
  }

  test("BR-142: values land each at its own place") {
    clean { implicit scope =>
      val x = floats(2, 3)(arange(6): _*)
      check(x.index(vector(1, 0)), List(2, 3), 3, 4, 5, 0, 1, 2)
      check(x.index(longs(2, 1)(0, -1), vector(2, 0)), List(2, 2), 2, 0, 5, 3)
      check(x.index(bools(2, 3)(0, 1, 0, 0, 0, 1)), List(2), 1, 5)
      check(x.index(bools(2)(0, 1)), List(1, 3), 3, 4, 5)
      intercept[IndexException](x.index(vector(2)))
      intercept[ShapeException](x.index(bools(3)(0, 1, 0)))
      intercept[ShapeException](x.index(vector(0), vector(0), vector(0)))
      intercept[ShapeException](x.index())
      val values1 = floats(2)(10, 20)
      check(x.indexPut(List(vector(0, 0), vector(1, 1)), values1, true), List(2, 3), 0, 31, 2, 3, 4, 5)
      check(x.indexPut(List(vector(1)), floats(3)(7, 8, 9), false), List(2, 3), 0, 1, 2, 7, 8, 9)
      x.indexPut_(List(bools(2, 3)(1, 0, 0, 0, 0, 1)), floats()(-1), false)
      check(x, List(2, 3), -1, 1, 2, 3, 4, -1)
      intercept[DTypeException](x.indexPut_(List(vector(0)), vector(1, 2, 3), false))
      intercept[ShapeException](x.indexPut_(List(vector(0)), values1, false))
    }
  }

  test("equalDeep") {
    clean { implicit scope =>
      val x = floats(2, 2)(0, 1, 2, 3)
      assert(x.equalDeep(x) && x.equalDeep(floats(2, 2)(0, 1, 2, 3)))
      assert(!x.equalDeep(floats(2, 2)(0, 1, 2, 4)))
      assert(!x.equalDeep(floats(4)(0, 1, 2, 3)))
      assert(!floats(1)(Double.NaN).equalDeep(floats(1)(Double.NaN)))
      assert(floats(1)(0.0).equalDeep(floats(1)(-0.0)))
      assert(floats(0)().equalDeep(floats(0)()))
      intercept[DTypeException](x.equalDeep(longs(2, 2)(0, 1, 2, 3)))
    }
  }

  test("every dtype moves bit by bit") {
    clean { implicit scope =>
      for (
        dtype <- List(
          DType.F64,
          DType.F32,
          DType.F16,
          DType.BF16,
          DType.I64,
          DType.I32,
          DType.I16,
          DType.I8,
          DType.U8,
          DType.Bool
        )
      ) {
        val x = of(dtype, 2, 2)(1, 0, 0, 1)
        val picked = x.indexSelect(0, vector(1, 0)).gather(1, longs(2, 1)(1, 0))
        assertEquals((picked.dtype, values(picked)), (dtype, List(1.0, 1.0)))
        val selected = x.maskedSelect(bools(2, 2)(1, 0, 1, 0))
        assertEquals((selected.dtype, values(selected)), (dtype, List(1.0, 0.0)))
        val added = x.scatterAdd(0, longs(1, 2)(1, 0), of(dtype, 1, 2)(1, 1))
        assertEquals((added.dtype, values(added)), (dtype, List(1.0, 1, 1, 1)))
        assertEquals(values(x.maskedFill(bools(2, 2)(0, 1, 1, 0), 1L)), List(1.0, 1, 1, 1))
      }
    }
  }

  test("NaN and signed zeros survive being moved") {
    clean { implicit scope =>
      val x = doubles(-0.0, Double.NaN, Double.NegativeInfinity)
      val moved = values(x.indexSelect(0, vector(0, 1, 2)))
      assert(1 / moved.head == Double.NegativeInfinity && moved(1).isNaN && moved(2).isNegInfinity)
      val kept = values(x.maskedFill(bools(3)(0, 0, 1), 1.0))
      assert(1 / kept.head == Double.NegativeInfinity && kept(1).isNaN)
    }
  }

  test("BR-153: more than 2^31 elements") {
    assume(Wick.memoryCap - Wick.memory.liveBytes > (6L << 30), "needs 2.1 GB and room")
    clean { implicit scope =>
      val far = (1L << 31) + 5
      val x = STen.zeros(List((1L << 31) + 9), STenOptions(DType.U8))
      x.indexFill_(0, vector(far), 1L)
      check(x.nonzero, List(1, 1), far.toDouble)
      check(x.indexSelect(0, vector(far)), List(1), 1)
      check(x.narrow(0, 1L << 31, 9), List(9), 0, 0, 0, 0, 0, 1, 0, 0, 0)
      check(x.take(vector(-4)), List(1), 1)
      check(x.sum, Nil, 1)
      check(x.argmax, Nil, far.toDouble)
    }
    Wick.trim()
  }
}
