package wick

/** Tensors whose shape changes, and shapes that views are taken with. */
class ResizableSuite extends CleanSuite {
  import Fixtures._

  private def counted(shape: Long*)(implicit scope: Scope): STen =
    STen.arange_l(0, shape.product, 1).castToFloat.view(shape: _*)

  test("DL-17: the shape of a tensor is fixed; what can be resized is another type") {
    assert(compileErrors("(t: STen) => t.setSize(1, 2)").contains("setSize"))
    assert(compileErrors("(t: ResizableSTen) => t: STen").nonEmpty)
    assertEquals(compileErrors("(t: ResizableSTen) => t.setSize(1, 2)"), "")
  }

  test("DL-23: made empty, of a shape, of a matrix") {
    clean { implicit scope =>
      val empty = ResizableSTen()
      assertEquals((empty.numel, empty.capacity, empty.tensor.dtype), (0L, 0L, DType.F32: DType))
      val shaped = ResizableSTen(List(2, 3, 4), STenOptions.d)
      assertEquals((shaped.shape, shaped.capacity, shaped.tensor.isDouble), (List(2L, 3L, 4L), 24L, true))
      val matrix = ResizableSTen.fromMatrix(Array(Array(1.0, 2.0, 3.0), Array(4.0, 5.0, 6.0)), STenOptions.f)
      assertEquals((matrix.tensor.nchw, matrix.capacity), (Nchw(2, 3, 1, 1), 6L))
      assertEquals(values(matrix.tensor), List(1.0, 2, 3, 4, 5, 6))
      intercept[ShapeException](ResizableSTen(List(-1L)))
      intercept[ShapeException](ResizableSTen(List(1L << 40, 1L << 40)))
      ()
    }
  }

  test("DL-24: copies are deep, annotation included; moving leaves an empty tensor that can be used") {
    clean { implicit scope =>
      val a = ResizableSTen(List(10), STenOptions.f)
      a.setSize(2, 2)
      a.tensor.copyFrom(counted(2, 2))
      a.tensor.annotation = "a"
      val b = a.cloneResizable
      assertEquals((b.shape, b.capacity, b.tensor.annotation), (List(2L, 2L), 4L, "a"): (List[Long], Long, Any))
      b.tensor += 1.0
      assertEquals(values(a.tensor), List(0.0, 1, 2, 3))

      val c = Scope { implicit scope =>
        val c = ResizableSTen(List(3), STenOptions.f)
        c.moveFrom(a)
        c.moveFrom(c)
        c
      }
      assertEquals((c.shape, c.capacity, c.tensor.annotation), (List(2L, 2L), 10L, "a"): (List[Long], Long, Any))
      assertEquals(values(c.tensor), List(0.0, 1, 2, 3))
      assertEquals((a.numel, a.capacity, a.tensor.annotation), (0L, 0L, null): (Long, Long, Any))
      a.setSize(2)
      a.tensor.fill_(1.0)
      intercept[DTypeException](ResizableSTen(List(1L), STenOptions.d).moveFrom(a))
      assertEquals(values(a.tensor), List(1.0, 1.0))
    }
  }

  test("DL-25: memory grows where it must, and shrinks when it is told to") {
    clean { implicit scope =>
      val t = ResizableSTen(List(10, 100), STenOptions.f)
      t.tensor.copyFrom(counted(10, 100))
      t.tensor.annotation = "kept"
      val (held, address) = (Wick.memory.liveBytes, Native.address(t.tensor.handle))
      t.setSize(5, 20)
      assertEquals((t.shape, t.capacity, Wick.memory.liveBytes), (List(5L, 20L), 1000L, held))
      assertEquals(values(t.tensor), (0 until 100).map(_.toDouble).toList)
      t.setSize(1000)
      assertEquals(Native.address(t.tensor.handle), address)
      assertEquals(values(t.tensor).last, 999.0)

      val old = t.tensor
      t.setSize(2, 1000)
      assert(old.isClosed && t.capacity == 2000 && t.shape == List(2L, 1000L))
      assertEquals(t.tensor.annotation, "kept")
      t.copySize(counted(3, 4))
      assertEquals((t.shape, t.capacity), (List(3L, 4L), 2000L))
      t.tensor.copyFrom(counted(3, 4))
      val large = Wick.memory.liveBytes
      t.shrinkToFit()
      assert(large - Wick.memory.liveBytes > 7000)
      assertEquals((t.capacity, values(t.tensor)), (12L, (0 until 12).map(_.toDouble).toList))
      assertEquals(t.tensor.annotation, "kept")
      t.clear()
      assertEquals((t.numel, t.capacity, t.tensor.annotation), (0L, 0L, null): (Long, Long, Any))
      t.setSize(2, 2)
      assertEquals(t.capacity, 4L)
    }
  }

  test("DL-25: live views block what would replace the memory, and nothing changes") {
    clean { implicit scope =>
      val t = ResizableSTen(List(4, 4), STenOptions.f)
      t.setSize(2, 2)
      t.tensor.copyFrom(counted(2, 2))
      val view = t.tensor.sliceRows(1, 2)
      val e = intercept[IllegalStateException](t.setSize(100))
      assert(e.getMessage.contains("1 views"), e.getMessage)
      intercept[IllegalStateException](t.clear())
      intercept[IllegalStateException](t.shrinkToFit())
      intercept[IllegalStateException](t.assign(STen.ones(List(5, 5))))
      intercept[IllegalStateException](t.moveFrom(ResizableSTen(List(1L))))
      assertEquals((t.shape, t.capacity, values(t.tensor)), (List(2L, 2L), 16L, List(0.0, 1, 2, 3)))
      t.setSize(16) // within the capacity a view does no harm
      assertEquals(values(view), List(2.0, 3.0))
      view.close()
      t.setSize(100)
      assertEquals(t.capacity, 100L)
      intercept[ShapeException](t.setSize(-1))
      intercept[ShapeException](t.setSize(1L << 62, 4))
      val exhausted =
        try { t.setSize(1L << 55); false }
        catch { case _: OutOfNativeMemoryError => true } // no exception to munit, but an error of the machine
      assert(exhausted)
      assertEquals(t.shape, List(100L))
    }
  }

  test("DL-26: a matrix assigned keeps a shape that it conforms to, else gives its own") {
    clean { implicit scope =>
      val t = ResizableSTen(List(2, 2, 1, 2), STenOptions.f)
      t.assign(Array(Array(1.0, 2.0, 3.0, 4.0), Array(5.0, 6.0, 7.0, 8.0)))
      assertEquals((t.shape, values(t.tensor)), (List(2L, 2L, 1L, 2L), (1 to 8).map(_.toDouble).toList))
      t.assign(Array(Array(1L, 2L, 3L)))
      assertEquals((t.tensor.nchw, t.capacity), (Nchw(1, 3), 8L))
      assertEquals(values(t.tensor), List(1.0, 2.0, 3.0))
      t.assign(STen.eye(3))
      assertEquals((t.shape, t.tensor.isFloat, t.tensor.sum.toDouble), (List(3L, 3L), true, 3.0))
    }
  }

  test("a resizable tensor leaves a scope, is closed with its own, and grows where it went") {
    clean { implicit scope =>
      val t = Scope { implicit scope => ResizableSTen(List(2L)) }
      t.setSize(10)
      t.tensor.zero_()
      assertEquals(t.numel, 10L)
      val gone = Scope.unsafe { implicit scope => ResizableSTen(List(2L)) }
      intercept[ClosedTensorException](gone.tensor)
      intercept[ClosedTensorException](gone.setSize(5))
      t.close()
      intercept[ClosedTensorException](t.setSize(1))
      t.close()
    }
  }

  test("DL-29: one shape for views of many tensors; without sizes it has no element") {
    clean { implicit scope =>
      val spec = AliasSpec(2, 3)
      assertEquals((spec.size, spec.nchw), (6L, Nchw(2, 3)))
      assertEquals((AliasSpec().size, AliasSpec(Nil).size, AliasSpec(4, 0, 2).size), (0L, 1L, 0L))
      assertEquals(values(spec(counted(10))), values(counted(6)))
      assertEquals(values(spec(STen.arange_l(0, 10, 1), 4)), (4 until 10).map(_.toDouble).toList)
      assertEquals(AliasSpec()(counted(2)).shape, List(0L))
      intercept[ShapeException](AliasSpec(2, -3)(counted(10)))
      intercept[ShapeException](AliasSpec(1L << 40, 1L << 40).size)
      ()
    }
  }

  test("DL-30: a view at an element offset, inside or refused; of a view offsets add up") {
    clean { implicit scope =>
      val t = counted(4, 5)
      val a = AliasSpec(3, 4)(t, 6)
      assertEquals((a.shape, a.storageOffset), (List(3L, 4L), 6L))
      val b = AliasSpec(2, 2)(a, 5)
      assertEquals((b.storageOffset, values(b)), (11L, List(11.0, 12, 13, 14)))
      val c = AliasSpec(2)(a, 6)
      b.fill_(-1.0) // overlapping views are allowed
      assertEquals(values(c), List(-1.0, -1.0))
      assertEquals(values(t).count(_ == -1.0), 4)
      a.annotation = "shared"
      assertEquals((t.annotation, b.annotation), ("shared", "shared"): (Any, Any))
      assertEquals(AliasSpec(0)(t, 20).numel, 0L)
      for (offset <- List(-1L, 9L, Long.MaxValue)) intercept[IndexException](AliasSpec(3, 4)(t, offset))
      intercept[IndexException](AliasSpec(0)(t, 21))
      intercept[ShapeException](AliasSpec(2)(t.t))
      ()
    }
  }

  test("DL-31: a read-only view sees writes and makes none") {
    clean { implicit scope =>
      val t = counted(6)
      val holders = t.storageRefCount
      val r = AliasSpec(2, 2).readOnly(t, 1)
      assertEquals(t.storageRefCount, holders + 1)
      t.fill_(4.0)
      assertEquals(values(r), List.fill(4)(4.0))
      intercept[UnsupportedOperationException](r.fill_(1.0))
      intercept[UnsupportedOperationException](r.t += 1.0)
      assertEquals(values(t), List.fill(6)(4.0))
    }
  }

  test("DL-32: a view keeps the memory, whether its tensor is closed or changes its shape") {
    clean { implicit scope =>
      val t = counted(6)
      val view = AliasSpec(2)(t, 2)
      t.close()
      view += 1.0
      assertEquals(values(view), List(3.0, 4.0))
      val r = ResizableSTen(List(6), STenOptions.f)
      r.tensor.copyFrom(counted(6))
      val part = AliasSpec(2)(r.tensor, 4)
      r.setSize(1)
      assertEquals(values(part), List(4.0, 5.0))
      r.close()
      assertEquals(values(part), List(4.0, 5.0))
    }
  }
}
