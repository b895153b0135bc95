package wick

import java.util.concurrent.atomic.AtomicReference

/** Windows, kernels over parts of them, row loops: AC-01, AC-04 to AC-09, AC-11, AC-35 to AC-37. */
class WindowSuite extends CleanSuite {
  import Window.Dim

  private def message(body: => Any): String = intercept[RuntimeException](body).getMessage

  test("AC-04: a window is up to six ranges; an empty dimension leaves no iteration") {
    assertEquals(Window(2, 3).iterations, 6L)
    assertEquals(Window(Vector(Dim(1, 8, 3), Dim(0, 2))).iterations, 6L)
    assertEquals(Window(2, 0, 3).iterations, 0L)
    assertEquals(Window().iterations, 1L)
    assertEquals(Window(1, 1, 1, 1, 1, 1).rank, 6)
    intercept[ShapeException](Window(1, 1, 1, 1, 1, 1, 1))
    intercept[ShapeException](Dim(0, 1, -1))
    intercept[ShapeException](Dim(Long.MinValue, Long.MaxValue))
    intercept[IndexException](Window(2)(1))
    ()
  }

  test("AC-05: a part starts, ends, steps, is aligned and as long as the whole allows") {
    val whole = Window(Vector(Dim(2, 20, 4)))
    def wrong(start: Long, end: Long, step: Long) =
      message(whole.validateSub(Window(Vector(Dim(start, end, step)))))
    assert(wrong(-2, 10, 4).contains("starts outside"))
    assert(wrong(2, 22, 4).contains("ends outside"))
    assert(wrong(2, 10, 2).contains("another step"))
    assert(wrong(4, 8, 4).contains("starts between"))
    assert(wrong(6, 13, 4).contains("ends between"))
    assert(message(whole.validateSub(Window(2, 2))).contains("2 dimensions"))
    for (good <- List(Dim(2, 20, 4), Dim(6, 14, 4), Dim(18, 20, 4), Dim(6, 6, 4)))
      whole.validateSub(Window(Vector(good)))
  }

  test("AC-06: parts are balanced, follow each other, and are empty beyond the iterations") {
    val whole = Window(Vector(Dim(0, 3), Dim(1, 12, 2)))
    for (total <- 1 to 9) {
      val parts = (0 until total).map(whole.split(1, _, total))
      parts.foreach(whole.validateSub)
      assertEquals(parts.map(_.iterations).sum, whole.iterations)
      assertEquals(parts.flatMap(p => p(1).start until p(1).end by 2), (1L until 12L by 2).toIndexedSeq)
      val sizes = parts.map(_(1).iterations)
      assert(sizes.max - sizes.min <= 1, sizes)
    }
    intercept[IndexException](whole.split(1, 3, 3))
    intercept[IndexException](whole.split(2, 0, 1))
    ()
  }

  test("AC-07: shift, adjust, scale, collapse, slices, broadcast") {
    val w = Window(2, 3, 4)
    assertEquals(w.shift(1, 5)(1), Dim(5, 8))
    assertEquals(w.adjust(0, 1, atStart = true)(0), Dim(1, 2))
    assertEquals(w.adjust(0, -1, atStart = false)(0), Dim(0, 1))
    assertEquals(Window(Vector(Dim(3, 8))).scale(0, 1, 2)(0), Dim(1, 4))
    assertEquals(w.collapse(w, 1, 2), Some(Window(2, 12)))
    assertEquals(w.split(1, 0, 2).collapse(w, 1, 2), None)
    assertEquals(w.broadcast(Seq(1, 4)), Window(Vector(Dim(0, 1, 0), Dim(0, 4))))
    assertEquals(w.broadcast(Seq(1, 4)).iterations, 4L)
    val stepped = Window(Vector(Dim(0, 5, 2), Dim(0, 4)))
    assertEquals(stepped.slices(1).map(_(0)).toList, List(Dim(0, 2, 2), Dim(2, 4, 2), Dim(4, 5, 2)))
    assertEquals(w.slices(1).map(_.iterations).sum, 24L)
  }

  test("AC-08: a kernel is checked when it is made, and run over its window and no other") {
    clean { implicit scope =>
      val a = Fixtures.of(DType.F32, 2, 3)(1, 2, 3, 4, 5, 6)
      val b = Fixtures.of(DType.F32, 3)(10, 20, 30)
      val out = STen.full(Seq(2, 3), -1, STenOptions.f)
      val add = Kernel.binary("add", a, b, out)
      assertEquals(add.window, Window(2, 3))
      assertEquals(add.border, Padding.none)
      KernelRunner.run(add, Window(Vector(Dim(1, 2), Dim(0, 2))))
      assertEquals(Fixtures.values(out), List(-1.0, -1, -1, 14, 25, -1))
      val late = message(KernelRunner.run(add, Window(Vector(Dim(0, 3), Dim(0, 3)))))
      assert(late.contains("ends outside") && late.contains("f32 [2, 3]") && late.contains("[0, 2)"), late)
      intercept[IndexException](KernelRunner.run(add, Window(6)))
      intercept[IndexException](KernelRunner.run(add, Window(Vector(Dim(0, 2), Dim(0, 3, 2)))))
      assertEquals(Fixtures.values(out), List(-1.0, -1, -1, 14, 25, -1))
      intercept[ShapeException](Kernel.binary("add", a, Fixtures.of(DType.F32, 2)(1, 2), out))
      intercept[DTypeException](Kernel.unary("exp", a, STen.zeros(Seq(2, 3), STenOptions.l)))
      intercept[NativeException](Kernel.unary("no such operation", a, out))
      val exp = Kernel.unary("exp", a, out)
      a.close()
      intercept[ClosedTensorException](KernelRunner.run(exp))
      ()
    }
  }

  test("AC-09: without a part, all of the window; with all of it as a part, on the caller, the same") {
    clean { implicit scope =>
      val a = STen.rand(Seq(5, 7), STenOptions.f)
      val (x, y) = (STen.zeros(Seq(5, 7), STenOptions.f), STen.zeros(Seq(5, 7), STenOptions.f))
      KernelRunner.run(Kernel.unary("tanh", a, x))
      val second = Kernel.unary("tanh", a, y)
      KernelRunner.run(second, second.window)
      assert(x.equalDeep(y) && x.equalDeep(a.tanh))
      val scalar = STen.scalarDouble(0, STenOptions.d)
      KernelRunner.run(Kernel.unary("exp", STen.scalarDouble(0, STenOptions.d), scalar))
      assertEquals(scalar.item, 1.0)
    }
  }

  test("AC-01, AC-11: parts run on threads of the caller's, each with scratch, and make no tensors") {
    clean { implicit scope =>
      val image = (STen.rand(Seq(2, 61, 83), STenOptions.f) * 255.0).castToUnsignedByte
      val whole = image.gaussian5x5(BorderMode.Reflect)
      val out = STen.zeros(Seq(2, 61, 83), STenOptions.u8)
      val kernel = Kernel(Filter.Gaussian5x5, image, Seq(out), BorderMode.Reflect)
      assertEquals(kernel.window, Window(2, 61, 83))
      assert(kernel.scratchBytes >= 2 * (83 + 4), kernel.scratchBytes)
      val before = Wick.memory
      val failure = new AtomicReference[Throwable]
      val threads = (0 until 4).map { id =>
        new Thread(() =>
          try KernelRunner.run(kernel, kernel.window.split(1, id, 4))
          catch { case t: Throwable => failure.set(t) }
        )
      }
      threads.foreach(_.start())
      threads.foreach(_.join())
      assertEquals(failure.get, null)
      assertEquals(Wick.memory.liveBytes, before.liveBytes)
      assertEquals(Wick.memory.liveTensors, before.liveTensors)
      assert(out.equalDeep(whole))
    }
  }

  test(
    "AC-35: rows follow the window's steps, whatever the strides; outer dimensions that are not there are one step"
  ) {
    clean { implicit scope =>
      for (dtype <- DType.values) {
        val base = STen.arange_l(0, 24, 1).castToType(dtype).view(4, 6)
        for (t <- List(base, base.transpose(0, 1), base.slice(1, 1, 6, 2))) {
          val w = Window(t.shape: _*)
          val found = List.newBuilder[Double]
          STen.windowLoop(w, t)(row => (0 until row.length).foreach(i => found += row(i)))
          assertEquals(found.result(), Fixtures.values(t), dtype.toString)
        }
      }
      val t = STen.arange_l(0, 24, 1).view(4, 6)
      val found = List.newBuilder[Double]
      val w = Window(Vector(Dim(0, 1), Dim(1, 4, 2), Dim(1, 6, 3)))
      STen.windowLoop(w, t)(row => (0 until row.length).foreach(i => found += row(i)))
      assertEquals(found.result(), List(7.0, 10, 19, 22))
      intercept[ShapeException](STen.windowLoop(Window(2, 4, 6), t)(_ => ()))
      intercept[IndexException](STen.windowLoop(Window(5, 6), t)(_ => ()))
      intercept[IndexException](STen.windowLoop(Window(Vector(Dim(-1, 2), Dim(0, 6))), t)(_ => ()))
      intercept[ShapeException](STen.windowLoop(Window(Vector(Dim(0, 1, 0), Dim(0, 6))), t)(_ => ()))
      intercept[ShapeException](STen.windowLoop(Window(6), t)(_ => ()))
      intercept[ShapeException](STen.windowLoop(Window(6), STen.scalarDouble(1, STenOptions.d))(_ => ()))
      ()
    }
  }

  test("AC-36: several tensors advance together, the body hears where it is, and a loop can run again") {
    clean { implicit scope =>
      val a = STen.arange_l(0, 12, 1).castToFloat.view(3, 4)
      val b = Fixtures.of(DType.I32, 1, 4)(1, 2, 3, 4) // stays at its one row
      val c = STen.zeros(Seq(4, 3), STenOptions.d).t
      val column = Fixtures.of(DType.U8, 3, 1)(200, 201, 202)
      for (_ <- 0 until 2) {
        val places = List.newBuilder[(Long, Long)]
        STen.windowLoop(Window(3, 4), a, b, c) { (x, y, z) =>
          places += ((x.index(0), z.index(1)))
          for (i <- 0 until x.length) z(i) = x(i) * y(i)
        }
        assertEquals(places.result(), List((0L, 0L), (1L, 0L), (2L, 0L)))
        assert(c.equalDeep((a * b).castToDouble))
      }
      STen.windowLoop(Window(3, 4), column, c)((x, z) => for (i <- 0 until x.length) z(i) = x(i))
      assertEquals(Fixtures.values(c.select(1, 3)), List(200.0, 201, 202))
      var calls = 0
      STen.windowLoop(Window(0, 4), a)(_ => calls += 1)
      STen.windowLoop(Window(3, 0), a)(_ => calls += 1)
      assertEquals(calls, 0)
    }
  }

  test("AC-36: typed arrays, halves and truth values; wrong ones, closed and read-only tensors are refused") {
    clean { implicit scope =>
      val half = STen.zeros(Seq(2, 700), STenOptions.f16)
      for (row <- half.rows) {
        val xs = row.floats
        xs.indices.foreach(i => xs(i) = i.toFloat + row.index(0))
        row.changed()
        intercept[DTypeException](row.doubles)
        intercept[IndexException](row(700))
        intercept[IndexException](row(-1))
      }
      assertEquals(half.select(0, 1).castToFloat.toFloatArray.toSeq, (0 until 700).map(_ + 1f))
      val bits = STen.zeros(Seq(3), STenOptions.bool)
      for (row <- bits.rows) row(1) = 5
      assertEquals(bits.toBooleanArray.toSeq, Seq(false, true, false))
      val bytes = STen.full(Seq(3), 250, STenOptions.u8)
      for (row <- bytes.rows) row(0) = row(1) + 1
      assertEquals(Fixtures.values(bytes), List(251.0, 250, 250))
      val stretched = STen.zeros(Seq(1), STenOptions.d).expand(List(4))
      intercept[ShapeException](for (row <- stretched.rows) row(0) = 1)
      var rows = 0
      intercept[ClosedTensorException](for (row <- half.rows) { rows += 1; half.close(); row(0) })
      assertEquals(rows, 1)
      intercept[ClosedTensorException](half.rows)
      val kept = STen.zeros(Seq(2, 2), STenOptions.d)
      intercept[IllegalStateException](for (row <- kept.rows) {
        row(0) = 1
        if (row.index(0) == 1) throw new IllegalStateException
      })
      assertEquals(Fixtures.values(kept), List(1.0, 0, 0, 0)) // the row at which the body threw stays
    }
  }

  test("AC-37: a row at a time, of the logical width: padding is skipped") {
    clean { implicit scope =>
      val t = STen.zeros(Seq(2, 3, 5), STenOptions.f.padding(PaddingPolicy.Auto))
      val from = STen.rand(Seq(2, 3, 5), STenOptions.f)
      STen.windowLoop(Window(2, 3, 5), from, t) { (a, b) =>
        System.arraycopy(a.floats, 0, b.floats, 0, a.length)
        b.changed()
      }
      assert(t.equalDeep(from))
      var widths = Set.empty[Int]
      for (row <- t.rows) widths += row.length
      assertEquals(widths, Set(5))
    }
  }

  test("AC-36: a step allocates nothing") {
    clean { implicit scope =>
      val (a, b) = (STen.rand(Seq(20000, 8), STenOptions.f), STen.zeros(Seq(20000, 8), STenOptions.f))
      val bean = java.lang.management.ManagementFactory.getThreadMXBean.asInstanceOf[com.sun.management.ThreadMXBean]
      val id = Thread.currentThread.getId
      var sum = 0f
      def loop(rows: Long): Long = {
        val before = bean.getThreadAllocatedBytes(id)
        STen.windowLoop(Window(rows, 8), a, b) { (x, y) =>
          val from = x.floats
          val to = y.floats
          var i = 0
          while (i < from.length) { to(i) = 2 * from(i); sum += to(i); i += 1 }
          y.changed()
        }
        bean.getThreadAllocatedBytes(id) - before
      }
      loop(20000)
      val (few, many) = (loop(1), loop(20000))
      // A step costs no object; 16 bytes each would be 320,000.
      assert(many - few < 32000, s"$few and $many bytes")
      assert(b.equalDeep(a * 2.0))
    }
  }
}
