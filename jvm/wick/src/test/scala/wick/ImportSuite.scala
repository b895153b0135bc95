package wick

import java.lang.ref.WeakReference
import java.nio.{ByteBuffer, ByteOrder}
import java.nio.channels.FileChannel
import java.nio.file.{Files, StandardOpenOption}

/** AC-50: memory that stays its giver's. */
class ImportSuite extends CleanSuite {
  import Fixtures._

  private def direct(bytes: Int): ByteBuffer = ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder)

  test("AC-50: a direct buffer is a tensor without a copy, and both see what is written") {
    clean { implicit scope =>
      val buffer = direct(48)
      (0 until 12).foreach(i => buffer.putFloat(4 * i, i.toFloat))
      val live = Wick.memory.liveBytes
      val t = STen.importBuffer(buffer, List(3, 4), STenOptions.f)
      assertEquals(Wick.memory.liveBytes, live)
      assert(t.isImported && t.sliceRows(0, 1).isImported && !t.cloneTensor.isImported && !t.isReadOnly)
      assertEquals(values(t), (0 until 12).map(_.toDouble).toList)
      t.t.select(0, 1) += 100.0
      assertEquals(List(4, 20, 36).map(buffer.getFloat), List(101f, 105f, 109f))
      buffer.putFloat(0, -5f)
      assertEquals(t(0, 0).toDouble, -5.0)
      assertEquals(values(t.matmul(STen.ones(List(4, 1), STenOptions.f))), List(101 - 5.0 + 2 + 3, 122.0, 138.0))
    }
  }

  test("AC-50: the bytes between position and limit; more than the shape needs do no harm") {
    clean { implicit scope =>
      val buffer = direct(64)
      buffer.position(16)
      val t = STen.importBuffer(buffer, List(2), STenOptions.d)
      t.fill_(1.5)
      assertEquals(buffer.getDouble(16), 1.5)
      assertEquals((buffer.getDouble(8), buffer.getDouble(32), buffer.position()), (0.0, 0.0, 16))
      buffer.limit(24)
      intercept[ShapeException](STen.importBuffer(buffer, List(2), STenOptions.d))
      assertEquals(STen.importBuffer(buffer, List(0, 7), STenOptions.d).numel, 0L)
    }
  }

  test("AC-50: null, heap, short, misaligned and foreign-endian buffers are refused") {
    clean { implicit scope =>
      def refused[E <: Throwable](buffer: ByteBuffer, shape: List[Long])(implicit
          c: scala.reflect.ClassTag[E]
      ): String =
        intercept[E](STen.importBuffer(buffer, shape, STenOptions.f)).getMessage
      assert(refused[ShapeException](null, List(1L)).contains("null"))
      assert(refused[ShapeException](ByteBuffer.allocate(16).order(ByteOrder.nativeOrder), List(1L)).contains("direct"))
      assert(refused[ShapeException](direct(15), List(4L)).contains("16 bytes needed, 15 given"))
      refused[ShapeException](direct(16), List(1L << 40, 1L << 40))
      refused[ShapeException](direct(16), List(-1L))
      val odd = direct(17)
      odd.position(1)
      assert(refused[DTypeException](odd, List(4L)).contains("multiple of 4"))
      assertEquals(STen.importBuffer(odd, List(16), STenOptions.u8).numel, 16L)
      val foreign = if (ByteOrder.nativeOrder == ByteOrder.BIG_ENDIAN) ByteOrder.LITTLE_ENDIAN else ByteOrder.BIG_ENDIAN
      assert(refused[DTypeException](direct(16).order(foreign), List(4L)).contains("nativeOrder"))
      for ((address, bytes) <- List((0L, 16L), (8L, 3L), (8L, -1L), (6L, 16L)))
        intercept[IllegalArgumentException](STen.importAddress(address, bytes, List(1), STenOptions.f, null))
      intercept[IllegalArgumentException](STen.importBuffer(
        direct(8),
        List(1),
        STenOptions.f.copy(layout = Layout.Sparse)
      ))
      ()
    }
  }

  test("AC-50: the buffer stays while any view is open, and not longer") {
    clean { implicit scope =>
      def collected(weak: WeakReference[_], seconds: Double): Boolean = {
        val end = System.nanoTime + (seconds * 1e9).toLong
        while (weak.get != null && System.nanoTime < end) { System.gc(); Thread.sleep(5) }
        weak.get == null
      }
      val buffers = new java.util.concurrent.atomic.AtomicReference[WeakReference[ByteBuffer]]
      val view = Scope { implicit scope =>
        val buffer = direct(4096)
        buffers.set(new WeakReference(buffer))
        STen.importBuffer(buffer, List(1024), STenOptions.f).narrow(0, 1000, 24)
      }
      val weak = buffers.get
      view.fill_(3.0)
      assert(!collected(weak, 0.2))
      assertEquals(values(view), List.fill(24)(3.0))
      // The last holder lets go on a thread of its own.
      val last = new Thread(() => view.close())
      last.start()
      last.join()
      assert(collected(weak, 10))
    }
  }

  test("AC-50: an address, its giver kept reachable") {
    clean { implicit scope =>
      val buffer = direct(32)
      val whole = STen.importBuffer(buffer, List(4), STenOptions.d)
      val address = Native.address(whole.handle)
      val t = STen.importAddress(address + 8, 24, List(3), STenOptions.d, buffer)
      t.fill_(2.0)
      assertEquals(values(whole), List(0.0, 2.0, 2.0, 2.0))
      assert(!t.sharesStorageWith(whole) && t.isImported)
      val r = STen.importAddress(address, 32, List(4), STenOptions.d, buffer, readOnly = true)
      intercept[UnsupportedOperationException](r += 1.0)
      ()
    }
  }

  test("AC-25, AC-50: padding is of the buffer, whose length is checked with it; it is the giver's to fill") {
    clean { implicit scope =>
      val (height, width, padding) = (3, 4, Padding(1, 2, 1, 2))
      val (rows, row) = (height + 2, width + 4)
      val options = STenOptions.f.padding(PaddingPolicy.Exact(padding))
      val buffer = direct(4 * rows * row)
      for (i <- 0 until rows * row) buffer.putFloat(4 * i, -1f)
      val t = STen.importBuffer(buffer, List(3, 4), options)
      assertEquals((t.shape, t.strides, t.padding), (List(3L, 4L), List(8L, 1L), padding))
      t.copyFrom(STen.arange_l(0, 12, 1).view(3, 4))
      for (r <- 0 until rows; c <- 0 until row) {
        val inside = r >= 1 && r <= height && c >= 2 && c < 2 + width
        assertEquals(buffer.getFloat(4 * (r * row + c)), if (inside) (4f * (r - 1) + c - 2) else -1f, s"$r $c")
      }
      buffer.limit(4 * rows * row - 4)
      val e = intercept[ShapeException](STen.importBuffer(buffer, List(3, 4), options))
      assert(e.getMessage.contains("160 bytes needed, 156 given"), e.getMessage)
    }
  }

  test("AC-50: a file mapped for reading is a tensor that nothing writes") {
    val path = Files.createTempFile("wick", ".map")
    try {
      val bytes = ByteBuffer.allocate(8192).order(ByteOrder.nativeOrder)
      (0 until 1024).foreach(i => bytes.putDouble(i.toDouble))
      Files.write(path, bytes.array)
      clean { implicit scope =>
        val channel = FileChannel.open(path, StandardOpenOption.READ)
        val mapped =
          try channel.map(FileChannel.MapMode.READ_ONLY, 0, 8192).order(ByteOrder.nativeOrder)
          finally channel.close()
        val t = STen.importBuffer(mapped, List(1024), STenOptions.d)
        assert(t.isReadOnly)
        assertEquals(t.sum.toDouble, 1023 * 512.0)
        intercept[UnsupportedOperationException](t += 1.0) // the page would end the process
        intercept[UnsupportedOperationException](t.narrow(0, 1, 2).zero_())
        assertEquals(values(t.sliceRows(3, 5)), List(3.0, 4.0))
      }
    } finally Files.delete(path)
  }

  test("2.4.4, AC-39, AC-50: concatenation into a padded buffer or mapped file leaves the padding alone") {
    val path = Files.createTempFile("wick", ".map")
    try {
      val channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)
      val mapped =
        try channel.map(FileChannel.MapMode.READ_WRITE, 0, paddedBytes)
        finally channel.close()
      concatenate(direct(paddedBytes))
      concatenate(mapped.order(ByteOrder.nativeOrder))
      mapped.force()
      assertEquals(Files.readAllBytes(path).last, 0x5a.toByte)
    } finally Files.delete(path)
  }

  private val (rows, width, row, before) = (5, 6, 9, 7) // in elements
  private val paddedBytes = 4 * (before + rows * row + 3)

  private def concatenate(buffer: ByteBuffer): Unit = clean { implicit scope =>
    for (i <- 0 until buffer.capacity) buffer.put(i, 0x5a.toByte)
    val memory = STen.importBuffer(buffer, List((buffer.capacity / 4).toLong), STenOptions.f)
    val out = memory.asStrided(List(rows.toLong, width.toLong), List(row.toLong, 1L), before.toLong)
    val parts = STen.catInto(out)(Slot(List(5, 2), List(0, 0)), Slot(List(5, 4), List(0, 2)))
    STen.expOut(parts(0), STen.zeros(List(5, 2), STenOptions.f))
    parts(1).copyFrom(STen.arange_l(0, 20, 1).view(5, 4))
    parts(1) *= 2.0
    for (i <- 0 until buffer.capacity / 4) {
      val (r, c) = ((i - before) / row, (i - before) % row)
      if (i >= before && r < rows && c < width) {
        val expected = if (c < 2) 1f else 2f * (4 * r + c - 2)
        assertEquals(buffer.getFloat(4 * i), expected, s"$r $c")
      } else assertEquals(buffer.getInt(4 * i), 0x5a5a5a5a, s"padding at $i")
    }
  }
}
