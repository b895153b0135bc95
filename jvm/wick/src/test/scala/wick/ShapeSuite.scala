package wick

/** Views and rearrangements: LP-09, SG-01 to SG-10 and the shape cases of the bug list. */
class ShapeSuite extends munit.FunSuite {
  import ShapeFixtures._

  private def shape(t: STen): List[Long] = {
    assertEquals(t.dims.toList, Native.shape(t.handle).toList)
    t.shape
  }

  test("LP-09, SG-07: views share storage, and writes show both ways") {
    Scope.root[Unit] { implicit scope =>
      val base = counted(2, 3, 4)
      val views = List(
        base.narrow(1, 1, 2),
        base.narrow(1, longs(Array[Long](), 1), 2),
        base.slice(2, 0, 4, 2),
        base.slice(2L, 0L, 4L, 2L),
        base.select(0, 1),
        base.transpose(0, 2),
        base.swapaxes(0, 1),
        base.mT,
        base.permute(List(2, 0, 1)),
        base.movedim(0, 2),
        base.movedim(List(0, 1), List(2, 0)),
        base.expand(List(5, 2, 3, 4)),
        base.view(6, 4),
        base.view(-1, 8),
        base.reshape(4, 6),
        base.flatten(0, 1),
        base.flatten,
        base.unflatten(2, List(2, -1)),
        base.unsqueeze(0),
        base.unsqueeze(-1),
        base.unsqueeze(0).squeeze(0),
        base.unsqueeze(0).squeeze,
        base.unsqueeze(0).squeeze(List(0, 2)),
        base.diagonalView(0, 1, 2),
        base.unfold(2, 2, 1),
        base.asStrided(List(3, 2), List(4, 1), 1),
        base.detach,
        base.contiguous,
        base(1, ::, 2 until 4),
        base.sliceRows(0, 1),
        base.sliceColumns(1, 3)
      )
      for (v <- views) {
        shape(v)
        assert(v.sharesStorageWith(base), v.toString)
      }
      val column = base.select(2, 0)
      column.copyFrom(longs(Array[Long](), 100))
      assertEquals(values(base.select(2, 0)), List.fill(6)(100L))
      base.copyFrom(counted(2, 3, 4))
      assertEquals(values(column), List(0L, 4L, 8L, 12L, 16L, 20L))
      val copies =
        List(base.t3.contiguous, base.cloneTensor, base.t3.reshape(24), base.flip(List(0)), base.repeat(List(1, 1, 1)))
      for (c <- copies) assert(!c.sharesStorageWith(base) && c.isContiguous)
    }
  }

  test("SG-08, BR-220, BR-210: a view lives on when its base is closed") {
    Scope.root[Unit] { implicit scope =>
      val kept = Scope(inner => counted(4, 3)(inner).sliceRows(1, 3)(inner))
      assertEquals(values(kept), List(3L, 4L, 5L, 6L, 7L, 8L))
      val part = kept.narrow(0, 1, 1)
      kept.close()
      assertEquals(values(part), List(6L, 7L, 8L))
      intercept[ClosedTensorException](kept.narrow(0, 0, 1))
    }
  }

  test("SG-01, SG-10: rows and columns as views, bounds checked") {
    Scope.root[Unit] { implicit scope =>
      val m = counted(4, 3)
      assertEquals(values(m.sliceRows(1, 3)), List(3L, 4L, 5L, 6L, 7L, 8L))
      assertEquals(shape(m.sliceRows(4, 4)), List(0L, 3L))
      assertEquals(values(counted(5).sliceRows(2, 4)), List(2L, 3L)) // SG-06: any rank
      assertEquals(values(m.sliceColumns(1, 2)), List(1L, 4L, 7L, 10L))
      for ((s, e) <- List((-1L, 1L), (2L, 1L), (0L, 5L), (5L, 5L))) intercept[IndexException](m.sliceRows(s, e))
      intercept[IndexException](m.sliceColumns(0, 4))
      intercept[IndexException](counted(3).sliceColumns(0, 1))
    }
  }

  test("SG-02, SG-03: rows and columns copied, of a transposed matrix too") {
    Scope.root[Unit] { implicit scope =>
      val m = counted(4, 3)
      val rows = m.copyRows(1, 3)
      assertEquals(values(rows), List(3L, 4L, 5L, 6L, 7L, 8L))
      assert(!rows.sharesStorageWith(m) && rows.isContiguous)
      assertEquals(values(m.copyColumns(0, 2)), List(0L, 1L, 3L, 4L, 6L, 7L, 9L, 10L))
      assertEquals(values(m.t.copyRows(1, 2)), List(1L, 4L, 7L, 10L))
      assertEquals(values(m.t.copyColumns(1, 2)), List(3L, 4L, 5L))
      intercept[IndexException](m.copyRows(2, 5))
    }
  }

  test("SG-04, SG-05: matrices joined by rows and columns, or refused") {
    Scope.root[Unit] { implicit scope =>
      val (a, b) = (counted(1, 2), counted(2, 2))
      assertEquals(values(STen.concatRows(List(a, b))), List(0L, 1L, 0L, 1L, 2L, 3L))
      assertEquals(values(STen.concatColumns(List(b, a.t))), List(0L, 1L, 0L, 2L, 3L, 1L))
      assertEquals(values(STen.concatRows(List(b.t, a))), List(0L, 2L, 1L, 3L, 0L, 1L))
      intercept[ShapeException](STen.concatRows(Nil))
      intercept[ShapeException](STen.concatRows(List(a, counted(3, 0)))) // zero width is checked like any
      intercept[ShapeException](STen.concatRows(List(a, counted(2))))
      intercept[ShapeException](STen.concatColumns(List(a, b)))
    }
  }

  test("BR-094, BR-100: copies into expanded, transposed and selected targets") {
    Scope.root[Unit] { implicit scope =>
      val b = longs(Array(1L), 9).expand(List(6))
      intercept[ShapeException](b.copyFrom(counted(6)))
      assertEquals(values(b), List.fill(6)(9L))
      b.fill_(3L)
      assertEquals(values(b), List.fill(6)(3L))
      b.zero_()
      assertEquals(values(b), List.fill(6)(0L))
      val x = counted(2, 2, 2)
      val y = longs(Array(2L, 2L), 0, 0, 0, 0)
      y.copyFrom(x.select(2, 1))
      assertEquals(values(y), List(1L, 3L, 5L, 7L))
      y.t.copyFrom(x.select(2, 1), nonBlocking = true)
      assertEquals(values(y.t), List(1L, 3L, 5L, 7L))
      assertEquals(values(y), List(1L, 5L, 3L, 7L))
      intercept[ShapeException](y.copyFrom(counted(3)))
    }
  }

  test("BR-108, BR-110: as_strided stays inside its storage") {
    Scope.root[Unit] { implicit scope =>
      val x = counted(4)
      assertEquals(values(x.asStrided(List(2, 2), List(1, 2), 0)), List(0L, 2L, 1L, 3L))
      assertEquals(values(x.narrow(0, 2, 2).asStrided(List(2), List(1))), List(2L, 3L))
      val wrong = List[(Seq[Long], Seq[Long], Long)](
        (List(1), Nil, 0),
        (List(1, 0), Nil, 1),
        (List(2), List(-1), 0),
        (List(2), List(1), -1),
        (List(5), List(1), 0),
        (List(2), List(3), 1),
        (List(1L << 32, 1L << 32), List(1L << 32, 1L), 0),
        (List(1L << 62), List(4L), 0),
        (List(3L), List(Long.MaxValue), 0),
        (List(2L), List(1L), Long.MaxValue)
      )
      for ((size, stride, offset) <- wrong)
        intercept[ShapeException](x.asStrided(size, stride, offset))
    }
  }

  test("BR-114: narrow's bounds do not overflow") {
    Scope.root[Unit] { implicit scope =>
      val x = counted(10)
      assertEquals(shape(x.narrow(0, 10, 0)), List(0L))
      assertEquals(values(x.narrow(0, -2, 2)), List(8L, 9L))
      for ((s, l) <- List((11L, 0L), (-1000000L, 1L), (2L, -1L), (1L, Long.MaxValue), (Long.MinValue, 1L)))
        intercept[IndexException](x.narrow(0, s, l))
      intercept[IndexException](longs(Array[Long](), 1).narrow(0, 0, 1))
      intercept[DTypeException](x.narrow(0, x.castToFloat, 1))
    }
  }

  test("BR-115: slices as Python cuts them") {
    Scope.root[Unit] { implicit scope =>
      val x = counted(10)
      assertEquals(values(x.slice(0, -3, 100, 2)), List(7L, 9L))
      assertEquals(values(x.slice(0, 7, 2, 1)), Nil)
      assertEquals(values(x.slice(0, -100, -8, 1)), List(0L, 1L))
      assertEquals(values(x.slice(0, 2, Long.MaxValue, Long.MaxValue)), List(2L))
      assertEquals(values(x.slice(0, Long.MinValue, Long.MaxValue, 4)), List(0L, 4L, 8L))
      intercept[ShapeException](x.slice(0, 0, 4, 0))
      intercept[ShapeException](x.slice(0, 0, 4, -1))
      intercept[IndexException](x.slice(Long.MaxValue, 0, 4, 1))
      for (start <- -4L to 4L; end <- -4L to 4L; step <- 1L to 4L) shape(counted(3, 2).slice(0, start, end, step))
    }
  }

  test("BR-116: repeat") {
    Scope.root[Unit] { implicit scope =>
      assertEquals(values(counted(1, 4).repeat(List(3, 1))), List.fill(3)(List(0L, 1L, 2L, 3L)).flatten)
      assertEquals(shape(counted(4).repeat(List(0))), List(0L))
      val twice = counted(4).repeat(List(2, 2))
      assertEquals(shape(twice), List(2L, 8L))
      assertEquals(values(twice), List.fill(4)(List(0L, 1L, 2L, 3L)).flatten)
      intercept[ShapeException](counted(2, 2).repeat(List(2)))
      intercept[ShapeException](counted(2).repeat(List(-1)))
      intercept[ShapeException](counted(2).repeat(List(1L << 62, 4L)))
    }
  }

  test("BR-112: windows of a flipped matrix") {
    Scope.root[Unit] { implicit scope =>
      val w = counted(3, 3).flip(List(1)).unfold(1, 2, 1)
      assertEquals(shape(w), List(3L, 2L, 2L))
      assertEquals(values(w), List(2L, 1L, 1L, 0L, 5L, 4L, 4L, 3L, 8L, 7L, 7L, 6L))
    }
  }

  test("BR-149, BR-151: element counts beyond 2^63 are refused") {
    Scope.root[Unit] { implicit scope =>
      intercept[ShapeException](counted(6).reshape(2, 467443687L, 39463029637L))
      intercept[ShapeException](counted(4).expand(List(1L << 62, 4)))
      intercept[ShapeException](counted(1).expand(List.fill(17)(1L)))
      intercept[ShapeException](counted(1).expand(List.fill(64)(2L)))
      intercept[ShapeException](counted(1).expand(List(1L << 40)).unfold(0, 1L << 39, 1))
      assertEquals(counted(1).expand(List(1L << 40)).numel, 1L << 40)
    }
  }

  test("BR-156, BR-158: joins of empty tensors") {
    Scope.root[Unit] { implicit scope =>
      val (none, two) = (counted(0), counted(2, 3))
      intercept[IndexException](STen.cat(List(none, none), 7))
      intercept[IndexException](STen.cat(List(counted(2)), 1))
      intercept[ShapeException](STen.cat(Nil, 0))
      intercept[ShapeException](STen.stack(Nil, 0))
      assertEquals(shape(STen.cat(List(none, none), 0)), List(0L))
      assertEquals(values(STen.cat(List(two, none), 1)), values(two))
      assertEquals(values(none.cat(two, 1)), values(two))
      intercept[ShapeException](STen.cat(List(two, counted(3, 0)), 1))
      intercept[ShapeException](STen.cat(List(longs(Array[Long](), 1)), 0))
    }
  }

  test("BR-160: a join's target is no operand's memory, and has the result's shape and type") {
    Scope.root[Unit] { implicit scope =>
      val z = counted(0)
      intercept[ShapeException](STen.catOut(z, List(z, counted(3, 5)), 0))
      val x = counted(4)
      intercept[ShapeException](STen.catOut(x, List(x.narrow(0, 0, 2), x.narrow(0, 2, 2)), 0))
      intercept[ShapeException](STen.catOut(x.narrow(0, 0, 2), List(x.narrow(0, 1, 1), x.narrow(0, 3, 1)), 0))
      assertEquals(values(x), List(0L, 1L, 2L, 3L))
      val out = counted(2, 2)
      STen.catOut(out.t, List(counted(1, 2), counted(1, 2)), 0)
      assertEquals(values(out), List(0L, 0L, 1L, 1L))
      STen.stackOut(out, List(counted(2), counted(2)), 0)
      assertEquals(values(out), List(0L, 1L, 0L, 1L))
      intercept[DTypeException](STen.catOut(out, List(counted(2, 2).castToFloat), 0))
    }
  }

  test("joins take the element type that holds all operands") {
    Scope.root[Unit] { implicit scope =>
      val x = counted(2)
      assertEquals(STen.cat(List(x.castToByte, x.castToUnsignedByte), 0).dtype, DType.I16: DType)
      assertEquals(STen.cat(List(x.castToHalf, x.castToBF16), 0).dtype, DType.F32: DType)
      assertEquals(STen.stack(List(x, x.castToBool, x.castToHalf), 1).dtype, DType.F16: DType)
      assertEquals(
        STen.stack(List(x, x.castToBool, x.castToHalf), 1).castToDouble.toDoubleArray.toList,
        List(0.0, 0.0, 0.0, 1.0, 1.0, 1.0)
      )
      assertEquals(shape(STen.stack(List(x, x, x), -1)), List(2L, 3L))
      intercept[ShapeException](STen.stack(List(x, counted(3)), 0))
    }
  }

  test("BR-164: a dimension counts from either end, and one beyond is refused") {
    Scope.root[Unit] { implicit scope =>
      val x = counted(2, 1, 3)
      val ops = List[Int => STen](
        d => x.narrow(d, 0, 1),
        d => x.slice(d, 0, 1, 1),
        d => x.select(d.toLong, 0),
        d => x.squeeze(d),
        d => x.flip(List(d)),
        d => x.roll(1, d),
        d => x.transpose(d, 0),
        d => x.movedim(d, 0),
        d => x.unfold(d, 1, 1),
        d => x.unflatten(d, List(-1)),
        d => x.cat(x, d.toLong),
        d => x.split(1, d).last,
        d => x.chunk(2, d).head,
        d => x.unbind(d).head
      )
      for (op <- ops) {
        for (d <- 0 to 2) {
          assertEquals(shape(op(d)), shape(op(d - 3)))
          assertEquals(values(op(d)), values(op(d - 3)))
        }
        intercept[IndexException](op(3))
        intercept[IndexException](op(-4))
      }
      for (op <- List[Int => STen](d => x.unsqueeze(d), d => STen.stack(List(x, x), d.toLong))) {
        for (d <- 0 to 3) assertEquals(shape(op(d)), shape(op(d - 4)))
        intercept[IndexException](op(4))
        intercept[IndexException](op(-5))
      }
    }
  }

  test("flip, roll, diagonals, triangles") {
    Scope.root[Unit] { implicit scope =>
      val m = counted(2, 3)
      assertEquals(values(m.flip(List(0, -1))), List(5L, 4L, 3L, 2L, 1L, 0L))
      intercept[ShapeException](m.flip(List(0, 0)))
      assertEquals(values(m.roll(1)), List(5L, 0L, 1L, 2L, 3L, 4L))
      assertEquals(values(m.roll(-7, 1)), List(1L, 2L, 0L, 4L, 5L, 3L))
      assertEquals(values(m.roll(List(1L, 2L), List(0, 1))), List(4L, 5L, 3L, 1L, 2L, 0L))
      assertEquals(values(m.roll(List(Long.MaxValue, Long.MinValue), List(1, 1))), List(1L, 2L, 0L, 4L, 5L, 3L))
      assertEquals(values(m.tril()), List(0L, 0L, 0L, 3L, 4L, 0L))
      assertEquals(values(m.triu(1)), List(0L, 1L, 2L, 0L, 0L, 5L))
      assertEquals(values(m.t.tril(-1)), List(0L, 0L, 1L, 0L, 2L, 5L))
      val square = counted(2, 2)
      square.triu_()
      assertEquals(values(square), List(0L, 1L, 0L, 3L))
      square.tril_(-1)
      assertEquals(values(square), List(0L, 0L, 0L, 0L))
      intercept[ShapeException](counted(1, 2).expand(List(2, 2)).tril_())
      intercept[ShapeException](counted(2).tril())
      assertEquals(values(m.diag(1)), List(1L, 5L))
      assertEquals(values(counted(2).diag(-1)), List(0L, 0L, 0L, 0L, 0L, 0L, 0L, 1L, 0L))
      intercept[ShapeException](counted(1, 1, 1).diag(0))
      assertEquals(values(m.diagonalView(1)), List(1L, 5L))
      assertEquals(values(m.trace), List(4L))
      assertEquals(m.castToByte.trace.dtype, DType.I64: DType)
      assertEquals(m.castToHalf.trace.dtype, DType.F16: DType)
      assertEquals(m.t.castToFloat.trace.toDouble, 4.0)
      intercept[ShapeException](counted(2).trace)
    }
  }

  test("what a shape cannot become is an exception that says why") {
    Scope.root[Unit] { implicit scope =>
      val x = counted(4, 5, 6)
      val message = intercept[ShapeException](x.t3.view(30, 4)).getMessage
      for (part <- List("view", "i64", "[6, 5, 4]", "reshape")) assert(message.contains(part), message)
      intercept[ShapeException](x.view(7, -1))
      intercept[ShapeException](x.reshape(-1, -1))
      intercept[ShapeException](x.t)
      intercept[IndexException](x.select(0, 4))
      intercept[ShapeException](counted(3, 2).expand(List(3, 4)))
      intercept[ShapeException](counted(3, 2).expand(List(-1)))
      intercept[ShapeException](x.permute(List(0, 0, 1)))
      intercept[ShapeException](x.permute(List(0, 1)))
      intercept[ShapeException](x.movedim(List(0, 0), List(1, 2)))
      intercept[ShapeException](x.movedim(List(0, 1), List(2, 2)))
      intercept[ShapeException](x.split(0, 0))
      intercept[ShapeException](x.split(List(1L, 2L), 0))
      intercept[ShapeException](x.chunk(0, 0))
    }
  }

  test("split, chunk, unbind") {
    Scope.root[Unit] { implicit scope =>
      val x = counted(5, 2)
      assertEquals(x.split(2, 0).map(shape), Vector(List(2L, 2L), List(2L, 2L), List(1L, 2L)))
      assertEquals(x.split(List(1L, 0L, 4L), 0).map(_.shape.head), Vector(1L, 0L, 4L))
      assertEquals(x.chunk(2, 0).map(_.shape.head), Vector(3L, 2L))
      assertEquals(x.unbind(1).map(values), Vector(List(0L, 2L, 4L, 6L, 8L), List(1L, 3L, 5L, 7L, 9L)))
      assertEquals(counted(0, 2).split(1, 0).map(shape), Vector(List(0L, 2L)))
      assertEquals(counted(0, 2).chunk(3, 0).length, 3)
    }
  }

  test("LP-10: expanding stretches sizes of 1 and puts dimensions in front") {
    Scope.root[Unit] { implicit scope =>
      val x = counted(3, 1)
      assertEquals(values(x.expandAs(counted(3, 2))), List(0L, 0L, 1L, 1L, 2L, 2L))
      assertEquals(shape(x.expand(List(2, -1, 4))), List(2L, 3L, 4L))
      assertEquals(values(counted(1).expand(List(0))), Nil)
      assertEquals(shape(x.viewAs(counted(1, 3))), List(1L, 3L))
      assertEquals(shape(x.reshapeAs(counted(1, 3))), List(1L, 3L))
    }
  }

  test("LP-10: unbroadcast sums what broadcasting stretched") {
    Scope.root[Unit] { implicit scope =>
      val x = counted(2, 3)
      assert(x.unbroadcast(List(2, 3)) eq x)
      assertEquals(values(x.unbroadcast(List(1, 3))), List(3L, 5L, 7L))
      assertEquals(shape(x.unbroadcast(List(3))), List(3L))
      assertEquals(values(x.unbroadcast(List(3))), List(3L, 5L, 7L))
      assertEquals(values(x.unbroadcast(List(2, 1))), List(3L, 12L))
      assertEquals(shape(x.unbroadcast(Nil)), Nil)
      assertEquals(values(x.unbroadcast(Nil)), List(15L))
      assertEquals(shape(counted(1, 3).unbroadcast(List(3))), List(3L))
      assertEquals(shape(counted(0, 3).unbroadcast(List(1, 3))), List(1L, 3L))
      intercept[ShapeException](x.unbroadcast(List(4)))
    }
  }

  test("casts and copies: to, copyTo, castToType") {
    Scope.root[Unit] { implicit scope =>
      val x = counted(2, 2)
      assert(x.castToLong.sharesStorageWith(x) && (x.castToLong ne x))
      assert(!x.copyTo(STenOptions.l).sharesStorageWith(x))
      assert(x.to(STenOptions.l, nonBlocking = false, copy = false).sharesStorageWith(x))
      assert(x.copyToDevice(CPU).sharesStorageWith(x))
      for (dtype <- DType.values) {
        val y = x.castToType(dtype.scalarTypeByte)
        assertEquals(y.dtype, dtype)
        assertEquals(y.to(STenOptions.l, nonBlocking = true, copy = true).dtype, DType.I64: DType)
        if (dtype != DType.Bool) assertEquals(values(y.castToLong), List(0L, 1L, 2L, 3L))
      }
      assertEquals(x.castToBool.toBooleanArray.toList, List(false, true, true, true))
      intercept[DTypeException](x.castToType(9.toByte))
      intercept[DTypeException](x.to(STenOptions.l.copy(layout = Layout.Sparse), nonBlocking = true, copy = true))
    }
  }

  test("indices: numbers, ranges, ::, slices, ellipsis, new dimensions") {
    Scope.root[Unit] { implicit scope =>
      val t = counted(3, 4, 5)
      assertEquals(values(t(1, ::, 2 until 5)), values(t.select(0, 1).narrow(1, 2, 3)))
      assertEquals(values(t(-1)), values(t.select(0, 2)))
      assertEquals(shape(t(0L)), List(4L, 5L))
      assertEquals(t(2, 3, 4).toLong, 59L)
      assertEquals(values(t(0 until 3 by 2, 0, 0)), List(0L, 40L))
      assertEquals(values(t(0, 0, 1 to 3)), List(1L, 2L, 3L))
      assertEquals(values(t(0, 0, 1 to 100)), List(1L, 2L, 3L, 4L))
      assertEquals(values(t(0, 0, -2 to -1)), List(3L, 4L))
      assertEquals(values(t(0, 0, -3 until -1)), List(2L, 3L))
      assertEquals(values(t(0, 0, 3 until 3)), Nil)
      assertEquals(values(t(0, 0, Slice(start = 3))), List(3L, 4L))
      assertEquals(values(t(0, 0, Slice(end = -3))), List(0L, 1L))
      assertEquals(values(t(0, 0, Slice(step = 3))), List(0L, 3L))
      assertEquals(shape(t(---, 0)), List(3L, 4L))
      assertEquals(shape(t(0, ---, 0)), List(4L))
      assertEquals(shape(t(0, 0, ---, 0)), Nil)
      assertEquals(shape(t(NewAxis, ---, NewAxis)), List(1L, 3L, 4L, 5L, 1L))
      assertEquals(shape(t(::, NewAxis, 0 until 4 by 2)), List(3L, 1L, 2L, 5L))
      assertEquals(shape(t()), List(3L, 4L, 5L))
      val message = intercept[IndexException](t(0, 0, 5)).getMessage
      assert(message.contains("index 5 is outside dimension 2 of size 5"), message)
      intercept[IndexException](t(0, 0, 0, 0))
      intercept[IndexException](t(---, ---))
      intercept[IndexException](t(5 until 1 by -1))
      intercept[IndexException](t(-1 to 1))
      intercept[ShapeException](t(Slice(step = 0)))
      intercept[ShapeException](t(List.fill[Index](17)(NewAxis): _*))
    }
  }

  test("assignment through indices") {
    Scope.root[Unit] { implicit scope =>
      val t = counted(2, 3)
      t(0) = 7L
      t(1, 0) = -1.0
      t(---, 2) = longs(Array(2L), 8, 9)
      assertEquals(values(t), List(7L, 7L, 8L, -1L, 4L, 9L))
      t(0, 0) = Long.MaxValue
      assertEquals(t(0, 0).toLong, Long.MaxValue)
      val q = counted(1, 1, 1, 2)
      q(0, 0, 0, 1) = 5L
      q(0, 0, 0) = counted(2)
      q(0, 0, 0, 0) = 4.0
      assertEquals(values(q), List(4L, 1L))
      intercept[ShapeException](t(0) = counted(2))
      intercept[IndexException](t(2) = 1.0)
    }
  }

  test("nothing leaks, whether operations succeed or fail") {
    def use(): Unit = Scope.root[Unit] { implicit scope =>
      val x = counted(3, 4)
      x.t.reshape(12).flip(List(0)).roll(2).repeat(List(2))
      x.copyRows(1, 2)
      x(1) = 3.0
      STen.stack(x.unbind(0), 0).diag(0).diag(1).tril().trace
      intercept[ShapeException](x.t.view(12))
      intercept[ShapeException](STen.cat(List(x, counted(2)), 0))
      intercept[IndexException](x.copyRows(1, 9))
      intercept[ShapeException](x(0) = counted(3))
      ()
    }
    use()
    val before = Wick.memory
    use()
    val after = Wick.memory
    assertEquals(after.liveTensors, before.liveTensors)
    assertEquals(after.liveBytes, before.liveBytes)
  }
}
