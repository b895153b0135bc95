package wick

import munit.FunSuite

/** Tensors from arrays, from nothing, and filling. */
class CreationSuite extends FunSuite {

  private val dtypes = DType.values

  /** The elements as doubles, whatever the type. */
  private def values(t: STen): List[Double] = Scope.unsafe { implicit scope =>
    t.copyTo(STenOptions.d).toDoubleArray.toList
  }

  private def longs(t: STen): List[Long] = t.toLongArray.toList

  /** Runs `body`, which must throw, and checks that it left no tensor and no byte behind. */
  private def refused[E <: Throwable](body: Scope => Any)(implicit tag: reflect.ClassTag[E], loc: munit.Location): E =
    Scope.unsafe { scope =>
      val before = Wick.memory
      val e = intercept[E](body(scope))
      val after = Wick.memory
      assertEquals((after.liveBytes, after.liveTensors), (before.liveBytes, before.liveTensors))
      e
    }

  test("LP-01, LP-08: arrays of every primitive type, with shape and without") {
    Scope.root { implicit scope =>
      val d = STen.fromDoubleArray(Array(1d, 2d, 3d, 4d), List(2, 2), CPU, DoublePrecision)
      assertEquals((d.dtype, d.shape, values(d)), (DType.F64: DType, List(2L, 2L), List(1d, 2d, 3d, 4d)))
      for (p <- List(DoublePrecision, SinglePrecision, HalfPrecision, BFloat16Precision)) {
        val t = STen.fromDoubleArray(Array(0.1, -2.5), Seq(2), CPU, p)
        val expected = p.dtype match {
          case DType.F32  => 0.1f.toDouble
          case DType.F16  => 0.0999755859375
          case DType.BF16 => 0.10009765625
          case _          => 0.1
        }
        assertEquals((t.dtype, values(t)), (p.dtype, List(expected, -2.5)))
      }
      val f = STen.fromFloatArray(Array(1.5f, -0.1f), Seq(1, 2), CPU)
      assertEquals((f.dtype, f.shape, values(f)), (DType.F32: DType, List(1L, 2L), List(1.5, -0.1f.toDouble)))
      assertEquals(values(STen.fromFloatArray(Array(1f), Seq(1), CPU, HalfPrecision)), List(1.0))
      val l = STen.fromLongArray(Array(Long.MinValue, Long.MaxValue), Seq(2), CPU)
      assertEquals((l.dtype, longs(l)), (DType.I64: DType, List(Long.MinValue, Long.MaxValue)))
      assertEquals(STen.fromLongArray(Array(7L, 8L, 9L)).shape, List(3L))
      val i = STen.fromIntArray(Array(Int.MinValue, 5), Seq(2, 1), CPU)
      assertEquals((i.dtype, i.shape, values(i)), (DType.I32: DType, List(2L, 1L), List(Int.MinValue.toDouble, 5d)))
      val s = STen.fromShortArray(Array[Short](-3, 4), Seq(2), CPU)
      assertEquals((s.dtype, values(s)), (DType.I16: DType, List(-3d, 4d)))
      val b = STen.fromByteArray(Array[Byte](-1, 4), Seq(2), CPU)
      assertEquals((b.dtype, values(b)), (DType.I8: DType, List(-1d, 4d)))
      val u = STen.fromUnsignedByteArray(Array[Byte](-1, 4), Seq(2))
      assertEquals((u.dtype, values(u)), (DType.U8: DType, List(255d, 4d)))
      val z = STen.fromBooleanArray(Array(true, false, true))
      assertEquals((z.dtype, values(z)), (DType.Bool: DType, List(1d, 0d, 1d)))
      val h = STen.fromHalfBits(Array[Short](0x3c00, 0xc000.toShort), Seq(2), HalfPrecision)
      assertEquals((h.dtype, values(h)), (DType.F16: DType, List(1d, -2d)))
      val bf = STen.fromHalfBits(Array[Short](0x3f80, 0xc000.toShort), Seq(2), BFloat16Precision)
      assertEquals((bf.dtype, values(bf)), (DType.BF16: DType, List(1d, -2d)))
      assertEquals(STen.fromDoubleArray(Array(1d)).shape, List(1L))
      assertEquals(STen.fromDoubleArray(Array(1d), Nil).shape, Nil)
      val many = STen.fromLongArrayOfArrays(Array(Array(1L, 2L), Array[Long](), Array(3L)), Seq(3, 1), CPU)
      assertEquals((many.shape, longs(many)), (List(3L, 1L), List(1L, 2L, 3L)))
      val none = STen.fromLongArrayOfArrays(Array(), Seq(2), CPU)
      assertEquals(longs(none), List(0L, 0L))
      assertEquals(values(STen(1.0, 2.5)), List(1.0, 2.5))
      assertEquals(longs(STen(1, 2, 3)), List(1L, 2L, 3L))
    }
  }

  test("LP-01, BR-206: an array that does not fill its shape is refused") {
    val four = Array(1d, 2d, 3d, 4d)
    for (dim <- List(Seq(1000L), Seq(1L << 62, 4L), Nil, Seq(2L, 3L), Seq(-4L), Seq(-2L, -2L), Seq(0L))) {
      val e = refused[ShapeException](s => STen.fromDoubleArray(four, dim)(s))
      assert(e.getMessage.contains("from array"), e.getMessage)
    }
    refused[ShapeException](s => STen.fromDoubleArray(four, Seq(5), CPU, SinglePrecision)(s))
    refused[ShapeException](s => STen.fromLongArray(Array(1L), Seq(2), CPU)(s))
    refused[ShapeException](s => STen.fromIntArray(Array(1), Seq(2), CPU)(s))
    refused[ShapeException](s => STen.fromShortArray(Array[Short](1), Seq(2), CPU)(s))
    refused[ShapeException](s => STen.fromByteArray(Array[Byte](1), Seq(2), CPU)(s))
    refused[ShapeException](s => STen.fromFloatArray(Array(1f), Seq(2), CPU)(s))
    refused[ShapeException](s => STen.fromBooleanArray(Array(true), Seq(2), CPU)(s))
    refused[ShapeException](s => STen.fromUnsignedByteArray(Array[Byte](1), Seq(2))(s))
    refused[ShapeException](s => STen.fromHalfBits(Array[Short](1), Seq(2), HalfPrecision)(s))
    refused[ShapeException](s => STen.fromLongArrayOfArrays(Array(Array(1L)), Seq(2), CPU)(s))
    refused[DTypeException](s => STen.fromHalfBits(Array[Short](1), Seq(1), SinglePrecision)(s))
    ()
  }

  test("LP-07, BR-149: sizes that cannot be are refused and nothing is allocated") {
    val sixtyFour = Seq.fill(64)(2L)
    refused[ShapeException](s => STen.ones(sixtyFour)(s))
    refused[ShapeException](s => STen.ones(Seq.fill(100)(1L))(s))
    refused[ShapeException](s => STen.ones(Seq(4, 4, 1, 1L << 60), STenOptions.u8)(s))
    refused[ShapeException](s => STen.zeros(Seq(1L << 62, 8))(s))
    refused[ShapeException](s => STen.zeros(Seq(1L << 61))(s)) // 2^64 bytes
    refused[ShapeException](s => STen.empty(Seq(-1, 3))(s))
    refused[ShapeException](s => STen.full(Seq(-1, 0), 1.0)(s))
    refused[ShapeException](s => STen.eye(-1)(s))
    // munit lets virtual machine errors pass.
    val exhausted =
      try { Scope.unsafe(s => STen.zeros(Seq(1L << 45))(s)); "" }
      catch { case e: OutOfNativeMemoryError => e.getMessage }
    assert(exhausted.contains("281474976710656 bytes asked"), exhausted)
  }

  test("zeros, ones, full, empty and their Like forms, in every type") {
    Scope.root { implicit scope =>
      assertEquals((STen.zeros(Seq(2, 3)).dtype, STen.ones(Seq(2, 3)).shape), (DType.F64: DType, List(2L, 3L)))
      for (d <- dtypes) {
        val o = STenOptions(d)
        assertEquals(values(STen.zeros(Seq(2, 2), o)), List.fill(4)(0d))
        assertEquals(values(STen.ones(Seq(2, 2), o)), List.fill(4)(1d))
        val f = STen.full(Seq(3), 1.0, o)
        assertEquals((f.dtype, values(f)), (d, List.fill(3)(1d)))
        val e = STen.empty(Seq(4, 5), o)
        assertEquals((e.dtype, e.shape), (d, List(4L, 5L)))
        for (
          like <-
            List(STen.zerosLike(e), STen.onesLike(e), STen.fullLike(e, 1.0), STen.fullLike(e, 1L), STen.emptyLike(e))
        )
          assertEquals((like.dtype, like.shape, like.isContiguous), (d, e.shape, true))
        assertEquals(values(STen.onesLike(e)).sum, 20.0)
        assertEquals((STen.scalarDouble(1.0, o).shape, STen.scalarLong(1, o).dtype), (List[Long](), d))
        assertEquals(values(STen.scalarLong(1, o)), List(1d))
      }
      assertEquals(longs(STen.full_l(Seq(1), Long.MaxValue)), List(Long.MaxValue))
      assertEquals(longs(STen.scalarLong(Long.MinValue + 1, STenOptions.l)), List(Long.MinValue + 1))
      assertEquals(values(STen.full(Seq(1), 2.7, STenOptions.i)), List(2d))
      assertEquals(values(STen.full(Seq(2), Double.NegativeInfinity, STenOptions.bf16)).head, Double.NegativeInfinity)
      assert(values(STen.full(Seq(1), Double.NaN, STenOptions.f16)).head.isNaN)
    }
  }

  test("BR-155: empty shapes in every type") {
    Scope.root { implicit scope =>
      for (d <- dtypes) {
        val o = STenOptions(d)
        val z = STen.zeros(Seq(1, 0, 3), o)
        for (t <- List(z, STen.ones(Seq(1, 0, 3), o), STen.full(Seq(1, 0, 3), 1, o), STen.zerosLike(z)))
          assertEquals((t.shape, t.numel, values(t)), (List(1L, 0L, 3L), 0L, Nil))
        z.zero_()
        z.fill_(1.0)
        z.fill_(STen.scalarDouble(1, o))
      }
      assertEquals(STen.fromDoubleArray(Array[Double](), Seq(1, 0, 3)).shape, List(1L, 0L, 3L))
      assertEquals(STen.fromBooleanArray(Array[Boolean]()).shape, List(0L))
    }
  }

  test("numbers outside a type's range are refused, fill_ then changes nothing") {
    val bad = List[(DType, Double)](
      DType.U8 -> 256,
      DType.U8 -> -1,
      DType.I8 -> 128,
      DType.I16 -> 40000,
      DType.I32 -> 3e9,
      DType.I64 -> 9.3e18,
      DType.I64 -> Double.NaN,
      DType.I32 -> Double.PositiveInfinity,
      DType.F16 -> 7e4,
      DType.F32 -> 1e300
    )
    for ((d, v) <- bad) {
      val e = refused[DTypeException](s => STen.full(Seq(2), v, STenOptions(d))(s))
      assert(e.getMessage.contains(s"full: $d [2]: "), e.getMessage)
    }
    Scope.root { implicit scope =>
      for ((d, v) <- bad) {
        val t = STen.ones(Seq(3), STenOptions(d))
        intercept[DTypeException](t.fill_(v))
        assertEquals(values(t), List(1d, 1d, 1d))
      }
      intercept[DTypeException](STen.ones(Seq(2), STenOptions.b).fill_(200L))
      val t = STen.ones(Seq(2), STenOptions.b)
      intercept[ShapeException](t.fill_(STen.ones(Seq(2), STenOptions.b)))
      intercept[DTypeException](t.fill_(STen.scalarLong(200, STenOptions.l)))
      assertEquals(values(t), List(1d, 1d))
    }
  }

  test("fill_ and zero_: every type of value into every type") {
    Scope.root { implicit scope =>
      for (d <- dtypes; from <- dtypes) {
        val t = STen.zeros(Seq(2, 3), STenOptions(d))
        t.fill_(STen.scalarDouble(1, STenOptions(from)))
        assertEquals(values(t), List.fill(6)(1d))
      }
      val t = STen.zeros(Seq(2, 3))
      t.fill_(2.5)
      assertEquals(values(t), List.fill(6)(2.5))
      t.zero_()
      assertEquals(values(t), List.fill(6)(0d))
      val long = STen.zeros(Seq(2), STenOptions.l)
      long.fill_((1L << 53) + 1)
      assertEquals(longs(long), List.fill(2)((1L << 53) + 1))
    }
  }

  test("eye") {
    Scope.root { implicit scope =>
      assertEquals(values(STen.eye(2)), List(1d, 0d, 0d, 1d))
      for (d <- dtypes; (n, m) <- List((2, 5), (4, 1), (0, 0), (0, 3), (3, 0), (1, 1), (3, 3))) {
        val t = STen.eye(n, m, STenOptions(d))
        assertEquals((t.dtype, t.shape), (d, List(n.toLong, m.toLong)))
        assertEquals(values(t), List.tabulate(n, m)((i, j) => if (i == j) 1d else 0d).flatten)
      }
    }
  }

  test("BR-147: arange counts as libtorch does, and element i is start + i * step") {
    Scope.root { implicit scope =>
      assertEquals(List(98, 103, 196, 64).map(n => STen.arange(0, 1, 1.0 / n).numel), List(99L, 104L, 197L, 64L))
      val t = STen.arange(0, 1e4, 0.1, STenOptions.f)
      assertEquals((t.numel, values(t).apply(50000)), (100000L, 5000.0))
      val d = STen.arange(-3, 1e4, 0.1)
      assertEquals(values(d), List.tabulate(d.numel.toInt)(i => -3 + i * 0.1))
      assertEquals(values(STen.arange(1, -1, -0.25)), List(1, 0.75, 0.5, 0.25, 0, -0.25, -0.5, -0.75))
      assertEquals(STen.arange(0, 0, 1).shape, List(0L))
      val h = STen.arange(0, 3000, 1, STenOptions.f16)
      assertEquals(values(h).slice(2047, 2053), List(2047d, 2048d, 2048d, 2050d, 2052d, 2052d))
      assertEquals(values(STen.arange(0.5, 5.5, 1.5, STenOptions.i)), List(0d, 1d, 2d, 3d))
      assertEquals(longs(STen.arange(0.9, 5.9, 2.9, STenOptions.l)), List(0L, 2L, 4L))
    }
  }

  test("arange_l is exact over all of i64") {
    Scope.root { implicit scope =>
      assertEquals(longs(STen.arange_l(0, 10, 3)), List(0L, 3L, 6L, 9L))
      assertEquals(longs(STen.arange_l(5, -5, -2)), List(5L, 3L, 1L, -1L, -3L))
      assertEquals(STen.arange_l(3, 3, 1).shape, List(0L))
      val top = Long.MaxValue
      assertEquals(longs(STen.arange_l(top - 5, top, 2)), List(top - 5, top - 3, top - 1))
      assertEquals(longs(STen.arange_l(Long.MinValue, top, 1L << 62)), List(Long.MinValue, -(1L << 62), 0L, 1L << 62))
      assertEquals(longs(STen.arange_l(0, Long.MinValue, Long.MinValue)), List(0L))
      for (d <- dtypes if d != DType.Bool)
        assertEquals(values(STen.arange_l(0, 5, 1, STenOptions(d))), List(0d, 1d, 2d, 3d, 4d))
      val b = STen.arange_l(0, 300, 100, STenOptions.b)
      assertEquals(values(b), List(0d, 100d, -56d))
    }
  }

  test("arange refuses what leads nowhere") {
    refused[ShapeException](s => STen.arange(0, 5, 0)(s))
    val e = refused[ShapeException](s => STen.arange(0, 5, -1)(s))
    assertEquals(e.getMessage, "arange: f64 from 0 to 5 by -1: the step leads away from the end")
    refused[ShapeException](s => STen.arange(0, Double.NaN, 1)(s))
    refused[ShapeException](s => STen.arange(0, Double.PositiveInfinity, 1)(s))
    refused[ShapeException](s => STen.arange(0, 1e300, 1e-300)(s))
    refused[ShapeException](s => STen.arange(0, 3, 0.5, STenOptions.i)(s))
    refused[ShapeException](s => STen.arange_l(0, 5, 0)(s))
    refused[ShapeException](s => STen.arange_l(0, 5, -1)(s))
    refused[ShapeException](s => STen.arange_l(Long.MinValue, Long.MaxValue, 1)(s))
    refused[DTypeException](s => STen.arange(0, 1, 1, STenOptions.bool)(s))
    refused[DTypeException](s => STen.arange(0, 1e30, 1e29, STenOptions.l)(s))
    ()
  }

  test("BR-143: linspace meets both ends exactly") {
    Scope.root { implicit scope =>
      assertEquals(
        values(STen.linspace(0, 3 * 5000, 5001, STenOptions.f)),
        values(STen.arange(0, 15003, 3, STenOptions.f))
      )
      val ends = List(0.1, -0.3, 1e-300, 7.0, -1e308, 1e308, 1.0 / 3, 4.9e-324)
      for (a <- ends; b <- ends; n <- List(2L, 3L, 10L, 97L)) {
        val v = values(STen.linspace(a, b, n))
        assertEquals((v.head, v.last, v.length), (a, b, n.toInt))
        assert(v.forall(x => x >= (a min b) && x <= (a max b)), s"$a $b $n $v")
      }
      val f = values(STen.linspace(0.1, 0.7, 13, STenOptions.f))
      assertEquals((f.head, f.last), (0.1f.toDouble, 0.7f.toDouble))
      assertEquals(values(STen.linspace(3, -3, 7)), List(3d, 2d, 1d, 0d, -1d, -2d, -3d))
      assertEquals(values(STen.linspace(0, 10, 4, STenOptions.i)), List(0d, 3d, 6d, 10d))
    }
  }

  test("BR-145: linspace with an infinite end, one step, none and fewer") {
    Scope.root { implicit scope =>
      assert(values(STen.linspace(0, Double.PositiveInfinity, 3)).forall(_.isNaN))
      assertEquals(values(STen.linspace(3, 7, 1)), List(3d))
      assertEquals(STen.linspace(3, 7, 0).shape, List(0L))
    }
    refused[ShapeException](s => STen.linspace(3, 7, -1)(s))
    refused[DTypeException](s => STen.linspace(3, 7, 3, STenOptions.bool)(s))
    refused[DTypeException](s => STen.linspace(0, 300, 3, STenOptions.b)(s))
    ()
  }

  test("LP-08: to arrays of every primitive type; a type that does not hold all values is refused") {
    Scope.root { implicit scope =>
      for (d <- dtypes) {
        val t = STen.arange_l(0, 6, 1).castToType(d)
        def of[A](allowed: DType*)(body: => Seq[A])(toDouble: A => Double): Unit =
          if (allowed.contains(d))
            assertEquals(
              body.map(toDouble).toList,
              if (d == DType.Bool) List(0d, 1, 1, 1, 1, 1) else List(0d, 1, 2, 3, 4, 5)
            )
          else {
            val e = intercept[DTypeException](body)
            assert(e.getMessage.contains(s"$d [6]"), e.getMessage)
          }
        import DType._
        of(F64, F32, F16, BF16)(t.toDoubleArray.toSeq)(identity)
        of(F32, F16, BF16)(t.toFloatArray.toSeq)(_.toDouble)
        of(I64, I32, I16, I8, U8)(t.toLongArray.toSeq)(_.toDouble)
        of(I32, I16, I8, U8)(t.toIntArray.toSeq)(_.toDouble)
        of(I16, I8, U8)(t.toShortArray.toSeq)(_.toDouble)
        of(I8, U8)(t.toByteArray.toSeq)(_.toDouble)
        of(Bool)(t.toBooleanArray.toSeq)(b => if (b) 1 else 0)
        val one = STen.full(Nil, 1, STenOptions(d))
        assertEquals((one.item, one.itemLong), (1.0, 1L))
        intercept[ShapeException](t.item)
        intercept[ShapeException](t.itemLong)
      }
      assertEquals(STen.full(Seq(1), 255, STenOptions.u8).toByteArray.toList, List(-1.toByte))
      assertEquals(STen.full(Seq(1), 255, STenOptions.u8).toShortArray.toList, List(255.toShort))
      assertEquals(STen.full(Seq(2), 1, STenOptions.f16).toHalfBits.toList, List.fill(2)(0x3c00.toShort))
      assertEquals(STen.full(Seq(2), 1, STenOptions.bf16).toHalfBits.toList, List.fill(2)(0x3f80.toShort))
      assertEquals(STen.scalarLong(Long.MaxValue, STenOptions.l).itemLong, Long.MaxValue)
    }
  }

  test("casts: a copy, or the same elements where the type is the same already") {
    Scope.root { implicit scope =>
      val t = STen(-1.5, 0.0, 300.7)
      val all = List(t.castToDouble, t.castToFloat, t.castToHalf, t.castToBF16, t.castToLong, t.castToInt)
      val more = List(t.castToShort, t.castToByte, t.castToUnsignedByte, t.castToBool)
      assertEquals(
        (all ++ more).map(_.dtype.name),
        List("f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u8", "bool")
      )
      assertEquals((all ++ more).map(_.sharesStorageWith(t)), true :: List.fill(9)(false))
      assertEquals(longs(t.castToLong), List(-1L, 0L, 300L))
      assertEquals(t.castToBool.toBooleanArray.toList, List(true, false, true))
      assertEquals(t.castToType(6: Byte).dtype, DType.F32: DType)
      intercept[DTypeException](t.castToType(9: Byte))
      val copy = t.copyTo(STenOptions.d)
      assert(!copy.sharesStorageWith(t))
      assert(t.copyToDevice(CPU).sharesStorageWith(t))
    }
  }

  test("closed tensors and sparse options are refused") {
    Scope.root { implicit scope =>
      val t = STen.ones(Seq(2))
      t.close()
      intercept[ClosedTensorException](t.fill_(1.0))
      intercept[ClosedTensorException](t.zero_())
      intercept[ClosedTensorException](STen.onesLike(t))
      intercept[ClosedTensorException](STen.emptyLike(t))
      intercept[ClosedTensorException](STen.ones(Seq(2)).fill_(t))
      ()
    }
    refused[DTypeException](s => STen.ones(Seq(2), STenOptions.d.copy(layout = Layout.Sparse))(s))
    ()
  }

  test("nothing stays behind") {
    val before = Wick.memory
    Scope.root { implicit scope =>
      STen.fromDoubleArray(Array(1d, 2d), Seq(2), CPU, HalfPrecision)
      STen.linspace(0, 1, 1000)
      assertEquals(Wick.memory.liveTensors - before.liveTensors, 2L)
    }
    assertEquals((Wick.memory.liveBytes, Wick.memory.liveTensors), (before.liveBytes, before.liveTensors))
  }
}
