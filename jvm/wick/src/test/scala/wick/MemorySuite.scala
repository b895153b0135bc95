package wick

/** What the native side holds: guarantee 6, pains 1, 2, 6 and 22. */
class MemorySuite extends munit.FunSuite {
  import Fixtures._

  private val Megabyte = 1 << 20

  test("pain 1: a hundred thousand temporaries of 1 MB never hold more than one iteration does") {
    Wick.resetPeak()
    val before = Wick.memory
    for (i <- 0 until 100000) {
      Scope.root { implicit scope =>
        val t = STen.own(Native.empty(DType.I8.number, Array(Megabyte.toLong)))
        if (i == 0) assertEquals(Wick.memory.liveBytes - before.liveBytes, Megabyte.toLong)
        assertEquals(t.numBytes, Megabyte.toLong)
      }
    }
    val after = Wick.memory
    assertEquals(after.liveBytes, before.liveBytes)
    assertEquals(after.liveTensors, before.liveTensors)
    assertEquals(after.made - before.made, 100000L)
    assertEquals(after.freed - before.freed, 100000L)
    assert(after.peakBytes - before.liveBytes <= 2L * Megabyte, after.toString)
  }

  test("pain 2: a nested scope an iteration keeps what is live constant") {
    Scope.root { implicit scope =>
      val weights = full(DType.F32, List(64), 1)
      var state = full(DType.F32, List(64), 0)
      val before = Wick.memory.liveTensors
      for (_ <- 0 until 100000) {
        val next = Scope { implicit scope =>
          val a = add(state, weights)
          val b = add(a, weights)
          add(b, a)
        }
        state.close()
        state = next
      }
      assertEquals(Wick.memory.liveTensors, before)
      assertEquals(scope.live, 2)
    }
  }

  test("guarantee 6: bytes and tensors are counted, views as tensors without bytes") {
    Scope.root { implicit scope =>
      val before = Wick.memory
      val t = full(DType.F64, List(1000), 1)
      val one = Wick.memory
      val bytes = one.liveBytes - before.liveBytes
      assert(bytes >= 8000L && bytes < 10000L, s"$bytes") // blocks are rounded up
      assertEquals(one.liveTensors - before.liveTensors, 1L)
      val view = CPU.to(t)
      val two = Wick.memory
      assertEquals(two.liveBytes - before.liveBytes, bytes)
      assertEquals(two.liveTensors - before.liveTensors, 2L)
      t.close()
      assertEquals(Wick.memory.liveBytes - before.liveBytes, bytes) // the view holds them
      view.close()
      assertEquals(Wick.memory.liveBytes, before.liveBytes)
      assert(Wick.memory.peakBytes >= two.liveBytes)
    }
  }

  test("the same gauges are a bean of the management server") {
    val server = java.lang.management.ManagementFactory.getPlatformMBeanServer
    val name = Wick.publishMemory()
    assertEquals(Wick.publishMemory(), name)
    def gauge(attribute: String): Long = server.getAttribute(name, attribute).asInstanceOf[Long]
    Scope.root { implicit scope =>
      val t = STen.zeros(List(1L << 17), STenOptions.d)
      assertEquals((gauge("LiveBytes"), gauge("LiveTensors")), (Wick.memory.liveBytes, Wick.memory.liveTensors))
      assert(gauge("LiveBytes") >= t.numBytes && gauge("PeakBytes") >= gauge("LiveBytes"))
      assertEquals(gauge("Cap"), Wick.memoryCap)
      assertEquals(gauge("Made") - gauge("Freed"), gauge("LiveTensors"))
    }
    server.invoke(name, "trim", null, null)
    server.invoke(name, "resetPeak", null, null)
    assertEquals(gauge("PeakBytes"), Wick.memory.liveBytes)
  }

  test("BR-212: reading a tensor again and again leaves nothing") {
    Scope.root { implicit scope =>
      val t = full(DType.F64, List(75000), 1)
      val out = new Array[Double](75000)
      Native.toDoubles(t.handle, out)
      val before = (Wick.memory.liveTensors, Wick.memory.liveBytes, resident)
      for (_ <- 0 until 20000) Native.toDoubles(t.handle, out)
      assertEquals((Wick.memory.liveTensors, Wick.memory.liveBytes), (before._1, before._2))
      for (earlier <- before._3; now <- resident)
        assert(now - earlier < 64L * Megabyte, s"resident memory grew by ${(now - earlier) / Megabyte} MB")
    }
  }

  test("BR-216: a large tensor's memory goes back to the system") {
    assume(resident.isDefined, "this system does not say what is resident")
    val size = 256L * Megabyte
    Wick.trim()
    val before = resident.get
    for (_ <- 0 until 10) {
      Scope.root { implicit scope =>
        full(DType.F32, List(size / 4), 1)
        assert(resident.get - before > size * 9 / 10)
      }
      Wick.trim()
      assert(resident.get - before < size / 4, s"${(resident.get - before) / Megabyte} MB stay")
    }
  }

  test("pain 22: the cap turns exhaustion into an error that names bytes, and all goes on") {
    val cap = Wick.memoryCap
    try {
      Scope.root { implicit scope =>
        Wick.memoryCap = Wick.memory.liveBytes + 10L * Megabyte
        val before = Wick.memory
        // A fatal error to Scala, so munit's intercept lets it through.
        val message =
          try fail(s"made ${full(DType.F64, List(4L * Megabyte), 0)}")
          catch { case e: OutOfNativeMemoryError => e.getMessage }
        assert(message.contains((32L * Megabyte).toString), message)
        assertEquals(Wick.memory.liveBytes, before.liveBytes)
        assertEquals(scope.live, 0)
        assertEquals(values(full(DType.F64, List(2), 3)), List(3.0, 3.0))
      }
    } finally Wick.memoryCap = cap
    assertEquals(Wick.memoryCap, cap)
  }

  test("trim gives the cache back; peaks start anew") {
    Scope.root { implicit scope =>
      full(DType.F64, List(100000), 1)
      ()
    }
    Wick.trim()
    // What other threads keep for their next small tensors is theirs.
    assert(Wick.memory.cachedBytes < 100000L, Wick.memory.toString)
    Wick.resetPeak()
    assertEquals(Wick.memory.peakBytes, Wick.memory.liveBytes)
  }

  test("threads and the CPU level can be asked for, threads set") {
    val before = Wick.threads
    assert(before >= 1)
    try {
      Wick.threads = 1
      assertEquals(Wick.threads, 1)
    } finally Wick.threads = before
    assert(Set("baseline", "avx2", "avx512")(Wick.cpuLevel), Wick.cpuLevel)
  }

  test("pain 6: a failing operation leaves nothing behind") {
    Scope.root { implicit scope =>
      val (a, b) = (doubles(1, 2), doubles(1, 2, 3))
      val before = Wick.memory
      for (_ <- 0 until 1000) intercept[ShapeException](add(a, b))
      assertEquals(Wick.memory.liveTensors, before.liveTensors)
      assertEquals(Wick.memory.liveBytes, before.liveBytes)
      assertEquals(scope.live, 2)
    }
  }

  test("guarantee 5, pain 10: shape, element type and device cost no native call") {
    Scope.root { implicit scope =>
      val t = full(DType.F32, List(2, 3), 1)
      // The native side forgets the tensor without the JVM's knowing: what still answers did not ask.
      Native.release(t.rawHandle)
      intercept[ClosedTensorException](t.strides)
      assertEquals(t.shape, List(2L, 3L))
      assertEquals((t.dim, t.numel, t.numBytes), (2, 6L, 24L))
      assertEquals(t.dtype, DType.F32: DType)
      assertEquals(t.options, STenOptions.f)
      assertEquals(t.device, CPU: Device)
      assert(t.isFloat && t.isCPU && !t.isClosed)
      assertEquals(t.toString, "STen(closed, f32, [2, 3])")
      assert(t.shape eq t.shape)
    }
  }
}
