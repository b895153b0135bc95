package wick

import java.util.concurrent.{Callable, Executors, TimeUnit}

/** The memory behind tensors, and dlib's and the Arm Compute Library's ways to see it. */
class StorageSuite extends CleanSuite {
  import Fixtures._

  private def counted(shape: Long*)(implicit scope: Scope): STen =
    STen.arange_l(0, shape.product, 1).castToFloat.view(shape: _*)

  test("SG-07, SG-08: the offset is the view's, the storage shared, at row 0 too") {
    clean { implicit scope =>
      val base = counted(4, 3)
      assertEquals((base.storageOffset, base.storageRefCount), (0L, 2L)) // the tensor that was viewed is open
      val (top, low) = (base.sliceRows(0, 2), base.sliceRows(2, 4))
      assertEquals((top.storageOffset, low.storageOffset), (0L, 6L))
      assertEquals((top.numel, low.numBytes), (6L, 24L)) // of the layout, not of the block
      assert(top.sharesStorageWith(low) && !top.sharesStorageWith(base.cloneTensor))
      assertEquals(base.storageRefCount, 4L)
      top.close()
      assertEquals(low.storageRefCount, 3L)
      low.select(0, 1)(scope).fill_(7.0)
      assertEquals(values(base).drop(9), List(7.0, 7.0, 7.0))
      base.sliceRows(2, 3).fill_(5.0)
      assertEquals(values(low).take(3), List(5.0, 5.0, 5.0))
    }
  }

  test("SG-08: a view outlives its parent, and the memory goes with the last holder") {
    clean { implicit scope =>
      val before = Wick.memory.liveBytes
      val rows = Scope { implicit scope => STen.ones(List(4000, 3), STenOptions.f).sliceRows(10, 12) }
      val held = Wick.memory.liveBytes
      assert(held - before >= 48000, s"$held")
      assertEquals(rows.storageRefCount, 1L)
      rows += 1.0
      assertEquals(values(rows), List.fill(6)(2.0))
      rows.close()
      assertEquals(Wick.memory.liveBytes, before)
    }
  }

  test("SG-09: the counter of a storage is right after views were made and closed on many threads") {
    clean { implicit scope =>
      val base = STen.ones(List(64, 64), STenOptions.f)
      val live = Wick.memory.liveTensors
      val threads = Executors.newFixedThreadPool(8)
      val tasks = (0 until 8).map { k =>
        threads.submit(new Callable[Double] {
          def call(): Double = {
            var sum = 0.0
            for (i <- 0 until 2000) Scope.root { implicit scope =>
              val view = base.sliceRows(i % 60L, i % 60L + 4)
              val again = view.sliceColumns(k.toLong, k + 1L)
              if (i % 3 == 0) view.close()
              sum += again.sum.toDouble
            }
            sum
          }
        })
      }
      assertEquals(tasks.map(_.get).toSet, Set(8000.0))
      threads.shutdown()
      assert(threads.awaitTermination(10, TimeUnit.SECONDS))
      assertEquals(base.storageRefCount, 1L)
      assertEquals(Wick.memory.liveTensors, live)
    }
  }

  test("SG-11: an empty tensor has its shape at once and takes pages when they are written") {
    clean { implicit scope =>
      val before = resident
      val t = STen.empty(List(1L << 26, 4L), STenOptions.f) // 1 GiB
      assertEquals((t.shape, t.dtype), (List(1L << 26, 4L), DType.F32: DType))
      val grown = for (a <- before; b <- resident) yield b - a
      assert(grown.forall(_ < (256L << 20)), s"$grown bytes for memory that nobody wrote")
      t.sliceRows(1000, 1002).fill_(2.0)
      assertEquals(values(t.sliceRows(1000, 1002)), List.fill(8)(2.0))
      assertEquals(STen.empty(List(2, 0), STenOptions.l).numel, 0L)
      intercept[ShapeException](STen.empty(List(-1L), STenOptions.d))
    }
  }

  test("DL-01, DL-02: samples, channels, rows, columns; missing ones are 1, the product is checked") {
    clean { implicit scope =>
      val t = counted(2, 3, 4, 5)
      assertEquals(t.nchw, Nchw(2, 3, 4, 5))
      assertEquals((t.nchw.numSamples, t.nchw.k, t.nchw.nr, t.nchw.nc, t.nchw.size), (2L, 3L, 4L, 5L, 120L))
      val flat = t.flatten
      val Nchw(_, k, nr, nc) = t.nchw
      for ((s, c, r, x) <- List((0L, 0L, 0L, 0L), (1L, 2L, 3L, 4L), (1L, 0L, 2L, 3L)))
        assertEquals(flat.select(0, ((s * k + c) * nr + r) * nc + x).toDouble, t(s, c, r, x).toDouble)
      assertEquals(counted(7, 2).nchw, Nchw(7, 2, 1, 1))
      assertEquals(STen.scalarDouble(1, STenOptions.d).nchw, Nchw(1))
      assertEquals(Nchw(0, 3, 1L << 40, 1L << 40).size, 0L)
      intercept[ShapeException](Nchw(1L << 40, 1L << 30))
      intercept[ShapeException](Nchw(3, -1))
      intercept[ShapeException](counted(1, 1, 1, 1, 1).nchw)
    }
  }

  test("DL-11: elements in row-major order, of views and long tensors too") {
    clean { implicit scope =>
      val t = counted(3, 4)
      assertEquals(t.t.iterator.toList, values(t.t))
      val long = STen.arange_l(0, 1500, 1)
      var sum = 0.0
      for (x <- long) sum += x
      assertEquals(sum, 1500.0 * 1499 / 2)
      assertEquals(long.slice(0, 1, 1500, 2).iterator.sum, 750.0 * 750)
      assertEquals(long.iterator.map(_.toLong).toList, (0L until 1500L).toList)
      assertEquals(STen.zeros(List(0, 3)).iterator.hasNext, false)
      assertEquals(counted(2).expand(List(2, 2)).iterator.toList, List(0.0, 1.0, 0.0, 1.0))
      intercept[NoSuchElementException](STen.zeros(List(0)).iterator.next())
      val it = t.iterator
      t.close()
      intercept[ClosedTensorException](it.next())
      ()
    }
  }

  test("DL-12: an annotation is the storage's: shared by views, copied by clones, let go with the last") {
    clean { implicit scope =>
      val t = counted(4)
      assertEquals(t.annotation, null)
      val (view, note) = (t.narrow(0, 1, 2), new Object)
      view.annotation = note
      assert(t.annotation.asInstanceOf[AnyRef] eq note)
      t.annotation = "labels"
      assertEquals(view.annotation, "labels")
      val copy = t.cloneTensor
      assertEquals(copy.annotation, "labels")
      copy.annotation = 7
      assertEquals((copy.annotation, t.annotation), (7, "labels"): (Any, Any))
      assertEquals((t + 1.0).annotation, null)
      t.close()
      assertEquals(view.annotation, "labels")
      view.annotation = null
      assertEquals(view.annotation, null)
      // Small memory that is used again brings no old annotation along.
      for (_ <- 0 until 100) Scope.root { implicit scope =>
        val t = STen.ones(List(4), STenOptions.f)
        assertEquals(t.annotation, null)
        t.annotation = "old"
      }
      // Nothing holds the object once the tensors are closed.
      val weak = Scope.unsafe { implicit scope =>
        val big = new Array[Byte](1 << 20)
        STen.ones(List(3)).annotation = big
        new java.lang.ref.WeakReference(big)
      }
      val end = System.nanoTime + 5000000000L
      while (weak.get != null && System.nanoTime < end) System.gc()
      assertEquals(weak.get, null)
    }
  }

  test("DL-13: the device's number is fixed, 0 on the processor") {
    clean { implicit scope =>
      val t = counted(2)
      assertEquals((t.device, t.deviceId, t.narrow(0, 1, 1).deviceId), (CPU, 0, 0): (Device, Int, Int))
      assertEquals(STen.zeros(List(0)).deviceId, 0)
    }
  }

  test("DL-14: fill, scale, and a division that rounds once") {
    clean { implicit scope =>
      val t = STen.zeros(List(2, 3), STenOptions.f)
      t.fill_(5.0)
      t *= 3.0
      assertEquals(values(t), List.fill(6)(15.0))
      t.fill_(1.0)
      t /= 49.0
      assertEquals(t.toFloatArray.toList, List.fill(6)(1f / 49f))
      // By the reciprocal, rounded before, these come out otherwise.
      val x = STen.arange_l(1, 2000, 1).castToFloat
      val expected = (1 until 2000).map(_.toFloat / 49f).toList
      assert(expected != (1 until 2000).map(_ * (1f / 49f)).toList)
      x /= 49.0
      assertEquals(x.toFloatArray.toList, expected)
      t /= 0.0
      assert(values(t).forall(_.isPosInfinity))
      intercept[DTypeException](STen.ones(List(2), STenOptions.l) /= 2.0)
      ()
    }
  }

  private val matrix = Array(Array(1.0, 2.0, 3.0, 4.0), Array(5.0, 6.0, 7.0, 8.0))

  test("DL-15: matrices assigned, added and subtracted, a row for each sample") {
    clean { implicit scope =>
      val t = STen.zeros(List(2, 2, 2), STenOptions.f)
      t.assignMatrix(matrix)
      assertEquals(values(t), (1 to 8).map(_.toDouble).toList)
      t += matrix
      t -= Array(Array(1f, 1f, 1f, 1f), Array(0f, 0f, 0f, 0f))
      assertEquals(values(t), List(1.0, 3.0, 5.0, 7.0, 10.0, 12.0, 14.0, 16.0))
      t += 1 // numbers are still numbers
      t -= 1.0
      val transposed = STen.zeros(List(4, 2), STenOptions.l).t
      transposed.copyFrom(matrix)
      assertEquals(values(transposed), (1 to 8).map(_.toDouble).toList)
      t.copyFrom(Array(Array(1L, 2L))) // broadcasts, as a tensor does
      assertEquals(values(t), List(1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0))
      for (wrong <- List(Array(Array(1.0)), Array.fill(4)(Array(1.0, 2.0)), matrix ++ matrix)) {
        intercept[ShapeException](t.assignMatrix(wrong))
        intercept[ShapeException](t += wrong)
        intercept[ShapeException](t -= wrong)
      }
      intercept[ShapeException](t.assignMatrix(Array(Array(1, 2, 3, 4), Array(1))))
      assertEquals(values(t), List(1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0))
    }
  }

  test("DL-16: samples set and added to, by items of any shape") {
    clean { implicit scope =>
      val t = STen.ones(List(3, 2, 2), STenOptions.f)
      t.setSample(1, matrix.take(1))
      t.addToSample(1, Array(Array(1), Array(1), Array(1), Array(1)))
      t.addToSample(2, counted(2, 2).t)
      assertEquals(values(t), List(1.0, 1, 1, 1, 2, 3, 4, 5, 1, 3, 2, 4))
      intercept[ShapeException](t.setSample(0, matrix))
      intercept[IndexException](t.setSample(3, matrix.take(1)))
      intercept[IndexException](t.addToSample(-1, counted(4)))
      intercept[IndexException](STen.scalarDouble(1, STenOptions.d).setSample(0, counted(1)))
      assertEquals(values(t).take(4), List(1.0, 1.0, 1.0, 1.0))
    }
  }

  test("DL-18: memcpy between shapes, and within one memory as if all were read first") {
    clean { implicit scope =>
      val (a, b) = (counted(2, 6), STen.zeros(List(3, 4), STenOptions.f))
      STen.memcpy(b, a)
      assertEquals(values(b), values(a))
      STen.memcpy(b.t, a) // strides on either side
      assertEquals(values(b.t), values(a))
      for ((to, from) <- List((0L, 3L), (3L, 0L), (1L, 2L), (2L, 2L))) {
        val t = counted(10)
        STen.memcpy(t.narrow(0, to, 6).view(2, 3), t.narrow(0, from, 6).view(3, 2))
        val expected = Array.tabulate(10)(_.toDouble)
        Array.copy(expected.clone(), from.toInt, expected, to.toInt, 6)
        assertEquals(values(t), expected.toList)
      }
      val square = counted(3, 3)
      STen.memcpy(square, square.t)
      assertEquals(values(square), List(0.0, 3, 6, 1, 4, 7, 2, 5, 8))
      intercept[ShapeException](STen.memcpy(counted(3), counted(4)))
      intercept[DTypeException](STen.memcpy(counted(3), counted(3).castToDouble))
      intercept[ShapeException](STen.memcpy(counted(1).expand(List(3)), counted(3)))
      STen.memcpy(STen.zeros(List(0, 3)), STen.zeros(List(2, 0)))
    }
  }

  test("DL-19, DL-22: vectors, and equal dimensions") {
    clean { implicit scope =>
      val vectors = List(List(5L), List(1L, 5L), List(1L, 1L, 5L, 1L), List(0L, 3L), Nil, List(1L, 1L))
      for (shape <- vectors) assert(STen.zeros(shape).isVector, s"$shape")
      for (shape <- List(List(2L, 3L), List(2L, 1L, 2L))) assert(!STen.zeros(shape).isVector, s"$shape")
      assert(counted(2, 3).sameDimensions(STen.zeros(List(2, 3), STenOptions.l)))
      assert(counted(2, 3).sameDimensions(counted(2, 3, 1, 1)) && counted(2, 3, 1, 1).sameDimensions(counted(2, 3)))
      assert(!counted(2, 3).sameDimensions(counted(3, 2)) && !counted(2, 3).sameDimensions(counted(1, 2, 3)))
    }
  }

  test("DL-20, DL-21: a tensor as a matrix, and one plane of an image, as views") {
    clean { implicit scope =>
      val t = counted(2, 3, 4, 5)
      assertEquals(t.asMatrix.shape, List(2L, 60L))
      assertEquals(t.asMatrix(6, 20).shape, List(6L, 20L))
      t.asMatrix(120, 1).fill_(1.0)
      assertEquals(t.sum.toDouble, 120.0)
      assertEquals(STen.scalarDouble(1, STenOptions.d).asMatrix.shape, List(1L, 1L))
      assertEquals(STen.zeros(List(0, 3)).asMatrix.shape, List(0L, 3L))
      intercept[ShapeException](t.asMatrix(7, 20))
      intercept[ShapeException](t.transpose(1, 3).asMatrix)

      val u = counted(2, 3, 4, 5)
      val plane = u.imagePlane(1, 2)
      assertEquals((plane.shape, plane.storageOffset), (List(4L, 5L), 100L))
      assertEquals(values(plane), (100 until 120).map(_.toDouble).toList)
      plane.zero_()
      assertEquals(values(u(1, 2)), List.fill(20)(0.0))
      assertEquals(values(u.transpose(2, 3).imagePlane(0, 1)), values(u(0, 1).t))
      assertEquals(values(counted(2, 3).imagePlane(1, 2)), List(5.0))
      for ((s, k) <- List((2L, 0L), (-1L, 0L), (0L, 3L))) intercept[IndexException](u.imagePlane(s, k))
      intercept[IndexException](STen.zeros(List(0, 3, 2, 2)).imagePlane(0, 0))
      ()
    }
  }

  test("DL-28: an inner product in doubles, of any strides, whatever the threads") {
    clean { implicit scope =>
      val (a, b) = (STen.full(List(2), 1e10, STenOptions.f), STen.fromFloatArray(Array(1e-3f, 3f)))
      val exact = 1e10f.toDouble * 1e-3f + 1e10f.toDouble * 3f
      assertEquals(a.dotDouble(b), exact)
      assert((a * b).sum.toDouble != exact)
      assertEquals(counted(2, 3).dotDouble(counted(3, 2).t), 0 * 0 + 1 * 2 + 2 * 4 + 3 * 1 + 4 * 3 + 5 * 5.0)
      assertEquals(STen.arange_l(0, 4, 1).dotDouble(counted(2, 2)), 14.0)
      assertEquals(STen.zeros(List(0)).dotDouble(STen.zeros(List(3, 0))), 0.0)
      intercept[ShapeException](a.dotDouble(counted(3)))
      val x = STen.rand(List(700, 301), STenOptions.f)
      val (n, one) = (Wick.threads, x.t.dotDouble(x.t))
      Wick.threads = 1
      try assertEquals(x.t.dotDouble(x.t), one)
      finally Wick.threads = n
      val expected = x.toFloatArray.map(v => v.toDouble * v).sum
      assert(math.abs(x.dotDouble(x) / expected - 1) < 1e-12)
    }
  }

  test("LP-02: matrices of other libraries by a type class") {
    final class Diagonal(val values: Array[Double])
    implicit val diagonal: MatrixLike[Diagonal] = new MatrixLike[Diagonal] {
      def rows(m: Diagonal): Long = m.values.length.toLong
      def columns(m: Diagonal): Long = m.values.length.toLong
      def tensor(m: Diagonal)(implicit scope: Scope): STen = STen.fromDoubleArray(m.values).diag(0)
    }
    clean { implicit scope =>
      assertEquals(STen.fromMatrix(matrix).shape, List(2L, 4L))
      assertEquals(values(STen.fromMatrix(Array(Array(1, 2)))), List(1.0, 2.0))
      assertEquals(STen.fromMatrix(Array.empty[Array[Float]]).shape, List(0L, 0L))
      val t = STen.ones(List(2, 2))
      t += new Diagonal(Array(1.0, 2.0))
      assertEquals(values(t), List(2.0, 1.0, 1.0, 3.0))
      intercept[ShapeException](STen.fromMatrix(Array(Array(1L), Array(1L, 2L))))
      ()
    }
  }

  test("AC-31, AC-33: from single values to four dimensions, outermost first, and images by format") {
    clean { implicit scope =>
      for (shape <- List(Nil, List(3L), List(2L, 3L), List(4L, 2L, 3L), List(2L, 4L, 2L, 3L))) {
        val t = STen.ones(shape)
        assertEquals((t.dim, t.shape), (shape.length, shape))
      }
      assertEquals(STen.fromWHCN(8, 6, 3, 2), List(2L, 3L, 6L, 8L))
      val t = STen.zeros(STen.fromWHCN(8, 6, 3, 2), STenOptions.f)
      assertEquals(t.strides, List(144L, 48L, 8L, 1L)) // along the width elements are neighbours
      for (format <- Format.values) {
        val image = STen.image(8, 6, format)
        val expected = if (format.channels == 1) List(6L, 8L) else List(6L, 8L, format.channels.toLong)
        assertEquals((image.shape, image.dtype, image.sum.toDouble), (expected, format.dtype, 0.0))
      }
      assertEquals(STen.image(4, 3, Format.RGB888).strides, List(12L, 3L, 1L))
      intercept[ShapeException](STen.image(-1, 3, Format.U8))
      ()
    }
  }

  test("AC-34: where an element lies, in bytes") {
    clean { implicit scope =>
      val t = counted(2, 3, 4)
      assertEquals(t.offsetBytes(1, 2, 3), 4L * 23)
      assertEquals(t.select(0, 1).transpose(0, 1).offsetBytes(3, 2), 4L * 23)
      assertEquals(t.castToDouble.sliceRows(1, 2).offsetBytes(0, 0, 1), 8L * 13)
      assertEquals(t.offsetBytes(STen.fromWHCN(3, 2, 1): _*), 4L * 23)
      assertEquals(STen.scalarDouble(1, STenOptions.d).offsetBytes(), 0L)
      for (coords <- List(Seq(2L, 0L, 0L), Seq(0L, -1L, 0L), Seq(0L, 0L), Seq(0L, 0L, 0L, 0L)))
        intercept[IndexException](t.offsetBytes(coords: _*))
    }
  }

  test("AC-38: a sub-tensor is a view of a box, inside its parent or refused") {
    clean { implicit scope =>
      val t = counted(4, 5)
      val live = Wick.memory.liveBytes
      val box = t.subTensor(List(2, 3), List(1, 2))
      assertEquals(Wick.memory.liveBytes, live)
      assertEquals((values(box), box.storageOffset), (List(7.0, 8, 9, 12, 13, 14), 7L))
      box.subTensor(List(1, 1), List(1, 2)).fill_(-1.0)
      assertEquals(t(2, 4).toDouble, -1.0)
      assertEquals(t.subTensor(List(0, 5), List(4, 0)).numel, 0L)
      assertEquals(values(t.t.subTensor(List(1, 2), List(3, 0))), List(3.0, 8.0))
      t.close()
      assertEquals(box(1, 2).toDouble, -1.0)
      for (
        (shape, at) <- List(
          (List(2L, 3L), List(3L, 0L)),
          (List(5L, 1L), List(0L, 0L)),
          (List(1L, 1L), List(-1L, 0L)),
          (List(-1L, 1L), List(0L, 0L)),
          (List(1L), List(0L)),
          (List(1L, 1L), List(0L)),
          (List(2L, Long.MaxValue), List(0L, 1L))
        )
      ) intercept[IndexException](box.subTensor(shape, at))
    }
  }

  test("AC-39: producers write into slots of the result, which must not share elements") {
    clean { implicit scope =>
      val out = STen.full(List(3, 6), -1.0, STenOptions.f)
      val slots = List(Slot(List(3, 2), List(0, 0)), Slot(List(2, 3), List(1, 2)), Slot(List(0, 6), List(0, 0)))
      val parts = STen.catInto(out)(slots: _*)
      STen.addOut(parts(0), STen.ones(List(3, 2), STenOptions.f), STen.ones(List(3, 2), STenOptions.f), 1.0)
      parts(1).copyFrom(counted(2, 3))
      assertEquals(values(out), List(2.0, 2, -1, -1, -1, -1, 2, 2, 0, 1, 2, -1, 2, 2, 3, 4, 5, -1))
      val e = intercept[ShapeException](STen.catInto(out)(slots :+ Slot(List(1, 1), List(2, 4)): _*))
      assert(e.getMessage.contains("slots 1 and 3"), e.getMessage)
      val live = scope.live
      intercept[IndexException](STen.catInto(out)(Slot(List(1, 1), List(0, 0)), Slot(List(3, 3), List(0, 4))))
      intercept[UnsupportedOperationException](STen.catInto(out.readOnly)())
      assertEquals(scope.live, live + 1)
      // Boxes apart in a tensor whose rows are all one row are not apart in memory.
      intercept[ShapeException](STen.catInto(counted(6).expand(List(3, 6)))(slots.take(2): _*))
      ()
    }
  }

  test("AC-40: a parent never grows through a view; one without a size yet takes what a box needs") {
    clean { implicit scope =>
      val t = counted(2, 2)
      intercept[IndexException](t.subTensor(List(2, 2), List(1, 1)))
      assertEquals(t.shape, List(2L, 2L))
      val unset = ResizableSTen()
      val box = unset.subTensor(List(2, 2), List(1, 3))
      assertEquals((unset.shape, box.shape), (List(3L, 5L), List(2L, 2L)))
      intercept[IndexException](unset.subTensor(List(2, 2), List(2, 4)))
      intercept[IllegalStateException](unset.setSize(100))
      assertEquals(unset.shape, List(3L, 5L))
    }
  }

  test("AC-41: boxes smaller than the parent's planes are written to their edge and no further") {
    clean { implicit scope =>
      for (dtype <- DType.values if dtype != DType.Bool; width <- List(1L, 7L, 33L)) {
        val whole = full(dtype, List(2, 5, 40), 3)
        val (box, rest) = (whole.subTensor(List(2, 3, width), List(0, 1, 3)), whole.cloneTensor)
        box += 2L
        box *= 2L
        box.copyFrom(box + box)
        rest.subTensor(List(2, 3, width), List(0, 1, 3)).fill_(20.0)
        assert(whole.equalDeep(rest), s"$dtype $width")
      }
    }
  }

  test("read-only tensors and their views are read like any, and written by nothing") {
    clean { implicit scope =>
      val t = counted(3, 4)
      val r = t.readOnly
      assert(r.isReadOnly && !t.isReadOnly && r.sharesStorageWith(t))
      t += 1.0
      assertEquals(values(r), values(t))
      assert(r.t.isReadOnly && r.sliceRows(1, 2).isReadOnly && r.view(12).isReadOnly && r.detach.isReadOnly)
      assert(!r.cloneTensor.isReadOnly && !(r + 1.0).isReadOnly && !r.exp.isReadOnly)
      val before = values(t)
      val places = STen.fromLongArray(Array(0L))
      val writes = List[STen => Unit](
        _ += 1.0,
        _ *= t,
        _.fill_(1.0),
        _.fill_(STen.scalarDouble(1, STenOptions.f)),
        _.zero_(),
        _.copyFrom(t),
        _.exp_(),
        _.tril_(),
        _.normal_(0, 1),
        x => STen.memcpy(x, t),
        x => STen.addOut(x, t, t, 1.0),
        x => x(0) = 1.0,
        x => x(0, 1) = t(0, 0),
        x => STen.catOut(x, List(t), 0),
        x => x.indexFill_(0, places, 0.0),
        x => x.maskedFill_(t.gt(0.0), 1.0)
      )
      for ((write, i) <- writes.zipWithIndex) {
        val e = intercept[UnsupportedOperationException](write(r))
        assert(e.getMessage.contains("read-only"), s"$i: ${e.getMessage}")
        assertEquals(values(t), before, i)
      }
    }
  }

  test("2.4.7: of a scope's result that is a view, the memory survives and its siblings do not") {
    clean { implicit scope =>
      var sibling: STen = null
      val (view, bytes) = Scope { implicit scope =>
        val base = STen.ones(List(1000, 10), STenOptions.d)
        sibling = base.sliceRows(0, 1)
        (base.sliceRows(5, 7), Wick.memory.liveBytes)
      }
      assert(sibling.isClosed)
      intercept[ClosedTensorException](sibling += 1.0)
      assertEquals((view.storageRefCount, Wick.memory.liveBytes), (1L, bytes))
      assertEquals(values(view), List.fill(20)(1.0))
    }
  }
}
