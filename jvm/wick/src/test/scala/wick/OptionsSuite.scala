package wick

/** Options, element types and devices (LP-07). */
class OptionsSuite extends munit.FunSuite {

  test("LP-07: lamp's names stand for libtorch's numbers") {
    val names = List(
      STenOptions.b -> 1,
      STenOptions.sh -> 2,
      STenOptions.i -> 3,
      STenOptions.l -> 4,
      STenOptions.f16 -> 5,
      STenOptions.f -> 6,
      STenOptions.d -> 7,
      STenOptions.bf16 -> 15,
      STenOptions.u8 -> 0,
      STenOptions.bool -> 11
    )
    for ((options, number) <- names) {
      assertEquals(options.scalarTypeByte.toInt, number)
      assert(options.isCPU && !options.isCuda && !options.isSparse)
      assertEquals(options.deviceIndex, -1)
    }
  }

  test("LP-07: conversions set the element type and keep the rest") {
    Scope.root { implicit scope =>
      val o = STenOptions.i
      assert(o.toDouble.isDouble && o.toFloat.isFloat && o.toLong.isLong)
      assert(o.toShort.isShort && o.toByte.isByte && o.toDouble.toInt.isInt)
      assertEquals(o.toHalf.dtype, DType.F16: DType)
      assertEquals(o.toBF16.dtype, DType.BF16: DType)
      assertEquals(o.toBool.dtype, DType.Bool: DType)
      assertEquals(o.cpu, o)
      assertEquals(STenOptions.fromScalarType(6), STenOptions.f)
      assertEquals(scope.live, 0) // options hold nothing native
    }
  }

  test("element types have libtorch's numbers, sizes and kinds") {
    assertEquals(
      DType.values.map(d => (d.name, d.number, d.size)),
      List(
        ("u8", 0, 1),
        ("i8", 1, 1),
        ("i16", 2, 2),
        ("i32", 3, 4),
        ("i64", 4, 8),
        ("f16", 5, 2),
        ("f32", 6, 4),
        ("f64", 7, 8),
        ("bool", 11, 1),
        ("bf16", 15, 2)
      )
    )
    DType.values.foreach(d => assertEquals(DType.fromNumber(d.number), d))
    for (bad <- List(-1, 8, 9, 10, 12, 16, 99)) {
      val e = intercept[DTypeException](DType.fromNumber(bad))
      assert(e.getMessage.contains(bad.toString), e.getMessage)
    }
    assertEquals(DType.values.filter(_.isFloatingPoint).map(_.name), List("f16", "f32", "f64", "bf16"))
    assertEquals(DType.values.filter(_.isIntegral).map(_.name), List("u8", "i8", "i16", "i32", "i64"))
  }

  test("LP-03: a device that is not there is an exception when asked for") {
    Scope.root { implicit scope =>
      intercept[DeviceException](STenOptions.d.mps)
      intercept[DeviceException](CudaDevice(-1))
      val absent = Device.cudaDevices
      val e = intercept[DeviceException](CudaDevice(absent))
      assert(e.getMessage.contains(s"cuda:$absent"), e.getMessage)
      intercept[DeviceException](STenOptions.d.cudaIndex(absent.toShort))
      ()
    }
  }

  test("devices and precisions give options") {
    Scope.root { implicit scope =>
      assertEquals(CPU.options(SinglePrecision), STenOptions.f)
      assertEquals(CPU.options(DoublePrecision), STenOptions.d)
      assertEquals(CPU.options(HalfPrecision), STenOptions.f16)
      assertEquals(CPU.options(BFloat16Precision), STenOptions.bf16)
      assertEquals(CPU.to(STenOptions.l), STenOptions.l)
      assertEquals(Device.fromOptions(STenOptions.d), CPU: Device)
      assertEquals(SinglePrecision.scalarTypeByte.toInt, 6)
      val (value, nanos) = CPU.measureTime(41 + 1)
      assertEquals(value, 42)
      assert(nanos >= 0)
    }
  }

  test("LP-03: a tensor moved to its own device shares its elements; a converted one does not") {
    Scope.root { implicit scope =>
      val t = Fixtures.doubles(1, 2)
      val same = CPU.to(t)
      assert(!(same eq t) && same.sharesStorageWith(t))
      assertEquals(Fixtures.values(same), List(1.0, 2.0))
      val f = SinglePrecision.convertTensor(t)
      assert(f.isFloat && !f.sharesStorageWith(t))
      assertEquals(Fixtures.values(f), List(1.0, 2.0))
    }
  }

  test("LP-04: a tensor answers for its element type, shape and device") {
    Scope.root { implicit scope =>
      for (d <- DType.values) {
        val t = Fixtures.full(d, List(2, 3, 4), 1)
        assertEquals(t.dtype, d)
        assertEquals(t.shape, List(2L, 3L, 4L))
        assertEquals(t.sizes, t.shape)
        assertEquals((t.dim, t.numel, t.elementSize, t.numBytes), (3, 24L, d.size.toLong, 24L * d.size))
        assertEquals(t.scalarTypeByte, d.scalarTypeByte)
        assertEquals(t.options, STenOptions(d))
        assertEquals(t.isFloatingPoint, d.isFloatingPoint)
        assertEquals(t.strides, List(12L, 4L, 1L))
        assertEquals(t.storageOffset, 0L)
        assertEquals(t.device, CPU: Device)
        assert(t.isContiguous && t.isCPU && !t.isCuda && !t.isSparse && !t.isPinned)
        assert(t.pin eq t)
        assertEquals(t.deviceIndex, -1)
        val kinds = List(t.isDouble, t.isFloat, t.isLong, t.isInt, t.isShort, t.isByte, t.isHalf, t.isBF16, t.isBool)
        assertEquals(kinds.count(identity), if (d == DType.U8) 0 else 1)
      }
      assertEquals(Fixtures.full(DType.F32, Nil, 1).shape, List.empty[Long])
      assertEquals(Fixtures.full(DType.F32, Nil, 1).numel, 1L)
      assertEquals(Fixtures.full(DType.F32, List(3, 0), 1).numel, 0L)
    }
  }
}
