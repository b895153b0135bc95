package wick

/** Between tensors and JVM arrays, and the one element of a tensor. */
class ArraySuite extends munit.FunSuite {
  import ShapeFixtures._

  test("arrays of every type come back as they went, of views in row-major order (BR-102)") {
    Scope.root[Unit] { implicit scope =>
      val shape = Array(2L, 3L)
      val d = STen.own(Native.fromDoubles(Array(1.5, -0.0, Double.NaN, 4, 5, 6), shape))
      assertEquals(d.toDoubleArray.toList.map(_.toString), List("1.5", "-0.0", "NaN", "4.0", "5.0", "6.0"))
      assertEquals(d.t.toDoubleArray.toList.map(_.toString), List("1.5", "4.0", "-0.0", "5.0", "NaN", "6.0"))
      val f = STen.own(Native.fromFloats(Array(1f, 2f, 3f, 4f, 5f, 6f), shape))
      assertEquals(f.select(1, 2).toFloatArray.toList, List(3f, 6f))
      val l = longs(shape, Long.MaxValue, Long.MinValue, 0, 1, 2, 3)
      assertEquals(l.slice(1, 0, 3, 2).toLongArray.toList, List(Long.MaxValue, 0L, 1L, 3L))
      val i = STen.own(Native.fromInts(Array(1, 2, 3, 4, 5, Int.MinValue), shape))
      assertEquals(i.narrow(0, 1, 1).toIntArray.toList, List(4, 5, Int.MinValue))
      val s = STen.own(Native.fromShorts(Array[Short](1, 2, 3, 4, 5, -6), shape))
      assertEquals(s.t.toShortArray.toList, List[Short](1, 4, 2, 5, 3, -6))
      val b = STen.own(Native.fromBytes(Array[Byte](1, 2, 3, 4, 5, -128), shape, DType.I8.number))
      assertEquals(b.toByteArray.toList, List[Byte](1, 2, 3, 4, 5, -128))
      val u = STen.own(Native.fromBytes(Array[Byte](-1, 2), Array(2L), DType.U8.number))
      assertEquals(u.toByteArray.toList, List[Byte](-1, 2))
      assertEquals(u.castToLong.toLongArray.toList, List(255L, 2L))
      val z = STen.own(Native.fromBooleans(Array(true, false, true), Array(3L)))
      assertEquals(z.toBooleanArray.toList, List(true, false, true))
      val h = f.castToHalf
      assertEquals(h.toHalfBits.toList, List[Short](0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600))
      assertEquals(f.castToBF16.castToFloat.toFloatArray.toList, f.toFloatArray.toList)
      // The views of BR-102.
      val x = counted(5)
      assertEquals(x.castToFloat.narrow(0, 3, 1).item, 3.0)
      assertEquals(counted(2, 3).select(0, 1).select(0, 2).toLong, 5L)
      assertEquals(counted(2, 3).select(0, 1).select(0, 2).toLongArray.toList, List(5L))
    }
  }

  test("an array's type must be the element type, its length the element count (BR-206)") {
    Scope.root[Unit] { implicit scope =>
      val f = counted(2, 2).castToFloat
      assertEquals(f.toDoubleArray.toList, List(0.0, 1.0, 2.0, 3.0)) // wide enough for every f32
      intercept[DTypeException](f.toIntArray)
      intercept[DTypeException](f.castToHalf.toShortArray)
      intercept[DTypeException](f.castToBool.toByteArray)
      intercept[DTypeException](f.toHalfBits)
      intercept[DTypeException](f.castToBool.toLongArray)
      intercept[DTypeException](f.castToLong.toDoubleArray)
      intercept[DTypeException](f.castToUnsignedByte.toBooleanArray)
      intercept[ShapeException](STen.own(Native.fromFloats(new Array[Float](4), Array(1000L))))
      intercept[ShapeException](STen.own(Native.fromFloats(new Array[Float](4), Array(1L << 62, 4L))))
      intercept[ShapeException](STen.own(Native.fromFloats(new Array[Float](4), Array[Long]())))
      val big = counted(1).expand(List(1L << 40))
      intercept[ShapeException](big.toLongArray)
      assertEquals(Native.fromFloats(Array(2f), Array[Long]()) & Native.DTYPE_MASK, 6L)
    }
  }

  test("one element as a number, of every element type") {
    Scope.root[Unit] { implicit scope =>
      for (dtype <- DType.values) {
        val one = counted(3).castToType(dtype)(scope)(1)
        assertEquals(one.shape, Nil)
        assertEquals((one.toDouble, one.toLong, one.toBoolean, one.item), (1.0, 1L, true, 1.0))
      }
      intercept[ShapeException](counted(2).toDouble)
      intercept[ShapeException](counted(0).toLong)
      assertEquals(longs(Array[Long](), Long.MaxValue).toLong, Long.MaxValue)
    }
  }

  test("BR-155: tensors without elements, of every element type") {
    Scope.root[Unit] { implicit scope =>
      for (dtype <- DType.values) {
        val empty = counted(1, 0, 3).castToType(dtype)
        assertEquals(empty.cloneTensor.shape, List(1L, 0L, 3L))
        assertEquals(STen.cat(List(empty, empty), 0).shape, List(2L, 0L, 3L))
        assertEquals(STen.cat(List(empty, empty), 0).dtype, dtype)
        empty.copyFrom(empty.cloneTensor)
        assertEquals(empty.castToLong.toLongArray.length, 0)
        assertEquals(empty.dtype, dtype)
        assertEquals(empty.t3.castToDouble.toDoubleArray.length, 0)
      }
    }
  }
}
