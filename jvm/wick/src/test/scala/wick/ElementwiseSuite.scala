package wick

/** Unary, binary and ternary operations: dtypes, promotion, broadcasting, in-place and out forms. */
class ElementwiseSuite extends munit.FunSuite {

  private val nan = Double.NaN
  private val inf = Double.PositiveInfinity
  private val integers = List(DType.I8, DType.U8, DType.I16, DType.I32, DType.I64)
  private val floats = List(DType.F64, DType.F32, DType.F16, DType.BF16)

  private def root(f: Scope => Unit): Unit = {
    val before = Wick.memory.liveBytes
    Scope.root(f)
    assertEquals(Wick.memory.liveBytes, before, "live bytes after the scope")
  }

  private def t[S: Sc](values: Double*): STen = STen.fromDoubleArray(values.toArray)
  private def as[S: Sc](d: DType, values: Double*): STen = t(values: _*).castToType(d.scalarTypeByte)
  private def values(x: STen): List[Double] =
    Scope.root(implicit s => x.castToDouble.toDoubleArray.toList)

  private def same(x: STen, expected: Double*)(implicit loc: munit.Location): Unit = {
    val got = values(x)
    val equal = got.size == expected.size && got.zip(expected).forall { case (a, b) =>
      a == b || (a.isNaN && b.isNaN)
    }
    assert(equal, s"$got, expected ${expected.toList}")
  }

  private def close(x: STen, rel: Double, expected: Double*)(implicit loc: munit.Location): Unit = {
    val got = values(x)
    assertEquals(got.size, expected.size)
    got.zip(expected).foreach { case (a, b) =>
      assert(a == b || math.abs(a - b) <= rel * math.abs(b), s"$got, expected ${expected.toList}")
    }
  }

  test("LP-10 shapes broadcast; a mismatch names operation, shapes, dtypes and dimension") {
    root { implicit s =>
      val column = t(1, 2, 3).view(3, 1)
      val sum = column + t(10, 20)
      assertEquals(sum.shape, List(3L, 2L))
      same(sum.reshape(-1), 11, 21, 12, 22, 13, 23)
      val a = STen.zeros(Seq(3, 4, 6), STenOptions.f)
      val b = STen.zeros(Seq(3, 2, 6), STenOptions.f)
      val e = intercept[ShapeException](a + b)
      assertEquals(
        e.getMessage,
        "add: shapes [3, 4, 6] and [3, 2, 6] do not broadcast at dimension 1 (4 and 2); dtypes f32 and f32"
      )
    }
  }

  test("BR-084 a 0-d tensor and a number yield to tensors with dimensions of their category") {
    root { implicit s =>
      def type2(a: STen, b: STen) = (a + b).dtype
      assertEquals(type2(STen.ones(Seq(2), STenOptions.f), STen.scalarDouble(1, STenOptions.d)), DType.F32: DType)
      assertEquals(type2(STen.ones(Seq(2), STenOptions.f16), STen.scalarDouble(1, STenOptions.f)), DType.F16: DType)
      assertEquals(type2(STen.ones(Seq(2), STenOptions.l), STen.scalarDouble(1, STenOptions.d)), DType.F64: DType)
      assertEquals(
        type2(STen.scalarDouble(1, STenOptions.f), STen.scalarDouble(1, STenOptions.d)),
        DType.F64: DType
      )
    }
  }

  test("BR-071 numbers meet integer tensors as floats or integers, as they are") {
    root { implicit s =>
      val q = STen.scalarLong(540, STenOptions.l) / 0.25
      assertEquals(q.dtype, DType.F32: DType)
      same(q, 2160)
      val half = as(DType.I32, 3, 4) * 0.5
      assertEquals(half.dtype, DType.F32: DType)
      same(half, 1.5, 2)
      same(STen.scalarLong(7, STenOptions.l).floorDivide(0.5), 14)
      assertEquals((as(DType.I32, 3) * 2).dtype, DType.I32: DType)
    }
  }

  test("BR-023 maximum and minimum give NaN wherever either is NaN") {
    root { implicit s =>
      for (n <- List(1, 7, 8, 9, 33); d <- floats) {
        val x = as(d, List.fill(n)(0.0): _*)
        val y = as(d, List.fill(n)(nan): _*)
        for (m <- List(x.max(y), y.max(x), x.min(y), y.min(x))) assert(values(m).forall(_.isNaN), s"$d $n")
        val stepped = as(d, List.tabulate(2 * n)(i => if (i % 2 == 0) nan else 0.0): _*).slice(0, 0, 2L * n, 2)
        assert(values(x.max(stepped)).forall(_.isNaN))
      }
      same(STen.scalarDouble(0, STenOptions.d).max(STen.scalarDouble(nan, STenOptions.d)), nan)
    }
  }

  test("BR-031 clamp with NaN bounds") {
    root { implicit s =>
      same(t(0, 0, 0).clampMin(t(nan, 1, -1)), nan, 1, 0)
      same(t(1, 2, 3).clamp(nan, 2), nan, nan, nan)
      val many = STen.zeros(Seq(32), STenOptions.f)
      assert(values(many.clamp(nan, 2)).forall(_.isNaN))
    }
  }

  test("BR-033 NaN passes through relu and its kin") {
    root { implicit s =>
      for (n <- List(3, 33)) {
        val x = t(List.tabulate(n)(i => List(nan, -1.0, 2.0)(i % 3)): _*)
        for (y <- List(x.relu, x.clampMin(0), x.leakyRelu(0.0))) {
          val v = values(y)
          assert(v.head.isNaN && v(1) == 0 && v(2) == 2, v)
        }
        val low = values(x.clampMax(0))
        assert(low.head.isNaN && low(1) == -1 && low(2) == 0, low)
      }
    }
  }

  test("BR-051 integers beyond 2^53 stay exact") {
    root { implicit s =>
      val v = (1L << 53) + 1
      val x = STen.fromLongArray(Array(v, v - 1))
      assertEquals(x.clamp(0L, 1L << 62).toLongArray.toList, List(v, v - 1))
      assertEquals(x.remainder(10L).toLongArray.toList, List(v % 10, (v - 1) % 10))
      assertEquals((x + 0L).toLongArray.toList, List(v, v - 1))
      x.fill_(v)
      assertEquals(x.toLongArray.toList, List(v, v))
    }
  }

  test("BR-059 saturating activations have no NaN at any length") {
    root { implicit s =>
      for (n <- 1 to 17) {
        def of(v: Double) = t(List.fill(n)(v): _*)
        assert(values(of(21.5).gelu).forall(_ == 21.5))
        assert(values(of(21.5).geluTanh).forall(_ == 21.5))
        assert(values(of(400).tanh).forall(_ == 1))
        assert(values(of(400).mish).forall(_ == 400))
      }
    }
  }

  test("BR-061 gelu at the infinities") {
    root { implicit s =>
      for (n <- List(1, 8, 33)) {
        assert(values(t(List.fill(n)(inf): _*).gelu).forall(_ == inf))
        val low = values(t(List.fill(n)(-inf): _*).gelu)
        assert(low.forall(v => v == 0 && 1 / v == -inf), low)
        assert(values(t(List.fill(n)(inf): _*).geluTanh).forall(_ == inf))
      }
    }
  }

  test("BR-063 BR-065 softplus is linear above its threshold and never overflows") {
    root { implicit s =>
      close(t(0.03, 0.05, 0.3).softplus(10, 0.4), 1e-6, 0.0854355244, 0.05, 0.3)
      close(t(1000, 100, -1000).softplus(1, 20), 1e-12, 1000, 100, 0)
      assert(values(as(DType.F32, -100).softplus(1, 20)).head <= 3.8e-44)
    }
  }

  test("BR-067 integer division by zero is an error that can be caught") {
    root { implicit s =>
      for (d <- integers) {
        val ones = STen.ones(Seq(100), STenOptions(d))
        val quotient = ones / STen.zeros(Seq(100), STenOptions(d))
        assertEquals(quotient.dtype, DType.F32: DType)
        assert(values(quotient).forall(_ == inf))
        val oneZero = ones.cloneTensor
        oneZero.narrow(0, 37, 1).fill_(0L)
        val zeros = List(STen.zeros(Seq(100), STenOptions(d)), STen.zeros(Nil, STenOptions(d)), oneZero)
        for (z <- zeros) {
          intercept[DTypeException](ones.divTrunc(z))
          intercept[DTypeException](ones.floorDivide(z))
          intercept[DTypeException](ones.remainder(z))
          intercept[DTypeException](ones.fmod(z))
        }
        intercept[DTypeException](ones.floorDivide(0L))
        assert(values(ones).forall(_ == 1))
      }
    }
  }

  test("BR-069 the least integer wraps") {
    root { implicit s =>
      for ((d, min) <- List(DType.I8 -> -128.0, DType.I16 -> -32768.0, DType.I32 -> Int.MinValue.toDouble)) {
        val x = as(d, min)
        val minusOne = as(d, -1)
        for (y <- List(x.floorDivide(minusOne), x.divTrunc(minusOne), x.abs, x.neg)) same(y, min)
      }
      val x = STen.fromLongArray(Array(Long.MinValue))
      for (y <- List(x.floorDivide(-1L), x.divTrunc(-1L), x.abs, x.neg))
        assertEquals(y.toLongArray.toList, List(Long.MinValue))
    }
  }

  test("BR-073 BR-075 floor division and remainders are exact") {
    root { implicit s =>
      for (n <- 1 until 200; d <- List(DType.F32, DType.F64)) {
        val x = as(d, n.toDouble * n)
        same(x.floorDivide(as(d, n.toDouble)), n.toDouble)
        same(x.floorDivide(n.toDouble), n.toDouble)
      }
      same(as(DType.F32, 3e9).remainder(7.0), 4)
      same(as(DType.F32, 3e9).fmod(7.0), 4)
      val big = BigDecimal.exact(1e20f.toDouble).toBigInt % 7
      same(as(DType.F32, 1e20).remainder(7.0), big.toDouble)
    }
  }

  test("BR-077 BR-079 powers") {
    root { implicit s =>
      val p = STen.fromLongArray(Array(10L, 1, -1, 2)).pow(STen.fromLongArray(Array(-1L, -3, -3, -2)))
      assertEquals(p.toLongArray.toList, List(0L, 1L, -1L, 0L))
      val e = intercept[DTypeException](STen.fromLongArray(Array(2L)).pow(-1L))
      assert(e.getMessage.contains("pow") && e.getMessage.contains("i64"), e.getMessage)
      same(t(-8, -2, -0.0, 0).pow(t(1.0 / 3, 3, -1, -1)), nan, -8, -inf, inf)
      same(t(nan, 1).pow(t(0, nan)), 1, 1)
      same(t(-0.0).pow(t(-2)), inf)
      same(t(0).pow(t(0.5)), 0)
    }
  }

  test("BR-086 float to integer truncates and saturates, integer to narrower wraps, at every length") {
    root { implicit s =>
      val source = List(nan, inf, -inf, 3e9, -3e9, 300.7)
      for (n <- List(6, 67); d <- List(DType.F32, DType.F64)) {
        val x = as(d, List.tabulate(n)(i => source(i % 6)): _*)
        def first(y: STen) = values(y).take(6)
        val (i32, i64) = (Int.MaxValue.toDouble, Long.MaxValue.toDouble)
        assertEquals(first(x.castToInt), List(0.0, i32, -i32 - 1, i32, -i32 - 1, 300.0))
        assertEquals(first(x.castToLong), List(0.0, i64, -i64, 3e9, -3e9, 300.0))
        assertEquals(first(x.castToByte), List(0.0, 127.0, -128.0, 127.0, -128.0, 127.0))
        val u8 = x.castToType(DType.U8.scalarTypeByte)
        assertEquals(first(u8), List(0.0, 255.0, 0.0, 255.0, 0.0, 255.0))
        assertEquals(first(x.castToBool), List.fill(6)(1.0))
      }
      same(as(DType.I32, 300).castToByte, 44)
      same(t(-1).castToType(DType.U8.scalarTypeByte), 0)
    }
  }

  test("BR-092 in place on an expanded tensor is an error, out of place is not") {
    root { implicit s =>
      val y = STen.scalarDouble(0.5, STenOptions.d).expand(List(3L))
      val cosines = y.cos.toDoubleArray
      assertEquals(cosines.length, 3)
      cosines.foreach(assertEqualsDouble(_, math.cos(0.5), 3e-16))
      intercept[ShapeException](y.cos_())
      intercept[ShapeException](y += 1.0)
      same(y, 0.5, 0.5, 0.5)
    }
  }

  test("BR-098 an operand that is part of the target is read as it was before") {
    root { implicit s =>
      for (_ <- 1 to 5) {
        val a = STen.full(Seq(16, 80, 32, 32), 2.0, STenOptions.f)
        a /= a.narrow(1, 79, 1)
        assertEquals(a.min.item, 1.0)
        assertEquals(a.max.item, 1.0)
      }
    }
  }

  test("LP-08 in-place and out forms write where they are told and check what they are given") {
    root { implicit s =>
      val x = t(1, 4, 9)
      x.sqrt_()
      same(x, 1, 2, 3)
      x += t(1, 1, 1)
      x *= 2.0
      same(x, 4, 6, 8)
      val out = STen.zeros(Seq(3), STenOptions.f)
      STen.addOut(out, x, x, 0.5)
      same(out, 6, 9, 12)
      STen.expOut(out, t(0, 0, 0))
      same(out, 1, 1, 1)
      intercept[ShapeException](STen.mulOut(STen.zeros(Seq(2)), x, x))
      intercept[DTypeException](STen.divOut(STen.zeros(Seq(3), STenOptions.l), x, x))
      intercept[ShapeException](STen.addOut(x.narrow(0, 0, 2), x.narrow(0, 1, 2), x.narrow(0, 0, 2), 1.0))
      val long = STen.fromLongArray(Array(1L, 2L))
      intercept[DTypeException](long.exp_())
      intercept[DTypeException](long += 0.5)
      assertEquals(long.toLongArray.toList, List(1L, 2L))
      intercept[ShapeException](x.narrow(0, 0, 1) += x)
    }
  }

  test("ternary operations and alpha") {
    root { implicit s =>
      val (x, y, z) = (t(1, 2), t(3, 4), t(5, 6))
      same(x.addcmul(y, z, 2), 31, 50)
      close(x.addcdiv(y, z, 10), 1e-15, 7, 2 + 40.0 / 6)
      same(x.lerp(y, 0.5), 2, 3)
      same(x.lerp(y, t(0, 1)), 1, 4)
      same(x.sub(y, 2.0), -5, -6)
      same(x.clamp(t(1.5, 0), t(9, 1)), 1.5, 1)
      x.addcmulSelf(y, z, 1)
      same(x, 16, 26)
      intercept[DTypeException](STen.fromLongArray(Array(1L)).add(STen.fromLongArray(Array(1L)), 0.5))
      intercept[DTypeException](STen.fromBooleanArray(Array(true)) - STen.fromBooleanArray(Array(true)))
    }
  }

  test("numbers on the left") {
    root { implicit s =>
      val x = t(1, 2)
      same(2.0 * x, 2, 4)
      same(1 - x, 0, -1)
      same(2.0 / x, 2, 1)
      same(3L + x, 4, 5)
      same(-x, -1, -2)
    }
  }

  test("every dtype adds, compares and casts back") {
    root { implicit s =>
      for (d <- integers ++ floats) {
        val x = as(d, 1, 2, 3)
        assertEquals((x + x).dtype, d: DType)
        same(x + x, 2, 4, 6)
        same(x.gt(1.5), 0, 1, 1)
        assertEquals(x.gt(1.5).dtype, DType.Bool: DType)
        same(x.square, 1, 4, 9)
      }
      val b = STen.fromBooleanArray(Array(true, false))
      same(b + b, 1, 0)
      assertEquals((b + b).dtype, DType.Bool: DType)
      same(b.logicalNot, 0, 1)
      intercept[DTypeException](b.neg)
      intercept[DTypeException](as(DType.I32, 1).gelu)
    }
  }
}
