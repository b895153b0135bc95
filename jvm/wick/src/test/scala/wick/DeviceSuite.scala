package wick

import java.nio.ByteBuffer
import java.util.concurrent.{CountDownLatch, TimeUnit}
import java.util.concurrent.atomic.AtomicInteger

import munit.FunSuite
import SimDevice.{Compute, Download, Upload}

/** Devices, mirrored storages, queues. */
class DeviceSuite extends FunSuite {
  private val sim = Device.Sim(0)

  override def afterEach(context: AfterEach): Unit = sim.reset()

  private def vector(values: Double*)(implicit scope: Scope): STen =
    STen.fromDoubleArray(values.toArray, List(values.size.toLong), CPU, DoublePrecision)

  private def values(t: STen): List[Double] = t.toDoubleArray.toList

  private def thread(f: => Unit): Thread = {
    val t = new Thread(() => f)
    t.start()
    t
  }

  test("DL-05, DL-13 devices are named, and one that is not there is an exception at once") {
    Scope.root { implicit scope =>
      for (i <- List(-1, Device.simDevices, Int.MaxValue)) intercept[DeviceException](Device.Sim(i))
      intercept[DeviceException](Device.Cuda(0))
      val t = STen.zeros(List(2), STenOptions.f.withDevice(sim))
      assertEquals((t.device, t.deviceId, t.isCPU, t.isCuda), (sim: Device, 0, false, false))
      assertEquals((t + 1f).device, sim: Device)
      assertEquals(t.slice(0, 0, 1, 1).device, sim: Device)
      assertEquals(STen.onesLike(t).device, sim: Device)
      assertEquals(STen.rand(List(3), t.options).device, sim: Device)
      assertEquals(vector(1).device, CPU: Device)
      assertEquals((vector(1).deviceId, vector(1).deviceIndex), (0, -1))
      val back = t.to(CPU)
      assertEquals((back.device, values(back)), (CPU: Device, List(0.0, 0.0)))
      assert(sim.liveBytes > 0)
    }
    assertEquals(sim.liveBytes, 0L)
  }

  test("LP-06 operands on two devices are refused, naming both, and nothing changes") {
    Scope.root { implicit scope =>
      val (a, b) = (vector(1, 2), vector(3, 4).to(sim))
      val error = intercept[DeviceException](a + b)
      assert(error.getMessage.contains("cpu") && error.getMessage.contains("sim:0"), error.getMessage)
      intercept[DeviceException](a += b)
      intercept[DeviceException](STen.cat(List(b, a), 0))
      intercept[DeviceException](STen.addOut(a, b, b))
      assertEquals((values(a), values(b)), (List(1.0, 2.0), List(3.0, 4.0)))
      a.copyFrom(b)
      assertEquals(values(a), List(3.0, 4.0))
      val other = Device.Sim(1)
      assertEquals(values(b.to(other)), List(3.0, 4.0))
      intercept[DeviceException](b.onDevice(other))
      ()
    }
  }

  test("DL-03, DL-07, DL-09, AC-18 both sides show what either writes, and each transfer is needed") {
    Scope.root { implicit scope =>
      val here = vector(1, 2, 3)
      val there = here.onDevice(sim)
      assert(there.sharesStorageWith(here))
      val (up, down) = (sim.done(Upload), sim.done(Download))
      def moved = (sim.done(Upload) - up, sim.done(Download) - down)
      assertEquals((here.hostReady, here.deviceReady, moved), (true, false, (0L, 0L)))
      there += 1.0
      assertEquals((here.hostReady, here.deviceReady, moved), (false, true, (1L, 0L)))
      assertEquals(values(here), List(2.0, 3.0, 4.0))
      assertEquals(values(here), List(2.0, 3.0, 4.0))
      assertEquals((here.hostReady, here.deviceReady, moved), (true, true, (1L, 1L)))
      here *= 2.0
      assertEquals((here.hostReady, here.deviceReady), (true, false))
      assertEquals((there + 0.0).to(CPU).toDoubleArray.toList, List(4.0, 6.0, 8.0))
      // An overwrite of the whole needs no elements.
      here.fill_(1.0)
      val before = moved
      there.fill_(5.0)
      assertEquals(moved, before)
      assertEquals(values(here), List(5.0, 5.0, 5.0))
    }
  }

  test("DL-07, DL-08 the host's buffers: read, update, overwrite") {
    Scope.root { implicit scope =>
      val t = STen.arange_l(0, 6, 1).view(2, 3).t
      assertEquals(t.hostRead(b => List.fill(6)(b.getLong)), List(0L, 3, 1, 4, 2, 5))
      intercept[java.nio.ReadOnlyBufferException](t.hostRead(_.putLong(0, 7)))
      t.hostUpdate(b => b.putLong(8, b.getLong(8) * 10))
      assertEquals(t.toLongArray.toList, List(0L, 30, 1, 4, 2, 5))
      intercept[ArithmeticException](t.hostUpdate { b => b.putLong(0, 9); throw new ArithmeticException })
      assertEquals(t.toLongArray.toList, List(0L, 30, 1, 4, 2, 5))

      val whole = vector(1, 2)
      val there = whole.onDevice(sim)
      there += 1.0
      val down = sim.done(Download)
      whole.hostOverwrite { b => b.putDouble(7.0); b.putDouble(8.0) }
      assertEquals(sim.done(Download), down)
      assertEquals(values(there.to(CPU)), List(7.0, 8.0))
      // Kept too long, a buffer is a copy and no more.
      var kept: ByteBuffer = null
      whole.hostUpdate { b => kept = b }
      kept.putDouble(0, 99.0)
      assertEquals(values(whole), List(7.0, 8.0))
      whole.close()
      kept.putDouble(0, 100.0)
      ()
    }
  }

  test("DL-08, DL-10 an overwrite that throws leaves undefined elements until all are written") {
    Scope.root { implicit scope =>
      val t = vector(1, 2)
      intercept[ArithmeticException](t.hostOverwrite(_ => throw new ArithmeticException))
      intercept[IllegalStateException](t.toDoubleArray)
      intercept[IllegalStateException](t + 1.0)
      intercept[IllegalStateException](t.onDevice(sim) += 1.0)
      t.zero_()
      assertEquals(values(t), List(0.0, 0.0))
      val up = sim.done(Upload)
      t.deviceOverwrite(sim)(_.fill_(3.0))
      assertEquals((sim.done(Upload) - up, values(t)), (0L, List(3.0, 3.0)))
      intercept[IllegalStateException](t.deviceOverwrite(sim)(_ += 1.0))
      t.copyFrom(vector(1, 2))
      // A part: the rest is kept, and so is the part where the write fails.
      val part = t.slice(0, 1, 2, 1)
      intercept[ArithmeticException](part.hostOverwrite(_ => throw new ArithmeticException))
      assertEquals(values(t), List(1.0, 2.0))
      part.hostOverwrite(_.putDouble(9.0))
      assertEquals(values(t), List(1.0, 9.0))
    }
  }

  test("interaction 2: an overwrite through a column keeps what the device has in the others") {
    Scope.root { implicit scope =>
      val t = STen.zeros(List(2, 3), STenOptions.d)
      t.onDevice(sim) += 5.0
      t.select(1, 1).hostOverwrite { b => b.putDouble(1.0); b.putDouble(2.0) }
      assertEquals(values(t), List(5.0, 1, 5, 5, 2, 5))
      assertEquals(values(t.onDevice(sim).to(CPU)), List(5.0, 1, 5, 5, 2, 5))
    }
  }

  test("DL-06, interaction 3: an upload in flight, a write, a read on the device") {
    Scope.root { implicit scope =>
      val t = vector(1, 2)
      sim.hold(Upload)
      t.asyncCopyToDevice(sim)
      assert(!t.deviceReady)
      t += 1.0
      @volatile var seen = List.empty[Double]
      val reader = thread(Scope.root { implicit scope => seen = values(t.onDevice(sim) + 0.0) })
      reader.join(20)
      assert(reader.isAlive, "the reader waits for the queue")
      sim.release(Upload)
      reader.join()
      assertEquals(seen, List(2.0, 3.0))
      val again = vector(1)
      again.asyncCopyToDevice(sim)
      Context.default.sync(sim)
      assert(again.deviceReady && again.hostReady)
    }
  }

  test("DL-06 a failed transfer surfaces where it is waited for, and leaves the right side right") {
    Scope.root { implicit scope =>
      val t = vector(1, 2)
      sim.fail(Upload, 1)
      t.asyncCopyToDevice(sim)
      Context.default.sync(sim)
      val there = t.onDevice(sim)
      assertEquals((t.deviceReady, values(t)), (false, List(1.0, 2.0)))
      assert(intercept[DeviceException](there + 1.0).getMessage.contains("upload"))
      assertEquals(values((there + 1.0).to(CPU)), List(2.0, 3.0))
      there += 1.0
      sim.fail(Download, 1)
      intercept[DeviceException](t.toDoubleArray)
      assertEquals(values(t), List(2.0, 3.0))
      sim.fail(Compute, 1)
      intercept[DeviceException](there += 1.0)
      assertEquals(values(t), List(2.0, 3.0))
    }
  }

  test("interaction 12: a scope that ends while a copy uses its storage leaves it to the copy") {
    val before = Wick.memory
    sim.hold(Upload)
    Scope.root { implicit scope => STen.ones(List(5000), STenOptions.d).asyncCopyToDevice(sim) }
    assertEquals(Wick.memory.liveTensors, before.liveTensors)
    assert(Wick.memory.liveBytes >= before.liveBytes + 40000)
    sim.release(Upload)
    Context.default.sync(sim)
    assertEquals(Wick.memory.liveBytes, before.liveBytes)
    assertEquals(sim.liveBytes, 0L)
  }

  test("DL-34 any threads may read; writes on both sides are put in order or refused") {
    Scope.root { implicit scope =>
      val t = STen.zeros(List(100), STenOptions.d)
      val there = t.onDevice(sim)
      val done = new AtomicInteger
      val start = new CountDownLatch(1)
      val problems = new java.util.concurrent.ConcurrentLinkedQueue[Throwable]
      val threads = for (i <- 0 until 4) yield thread {
        start.await()
        val x = if (i % 2 == 0) t else there
        for (_ <- 1 to 100)
          try
            if (i < 2) { x += 1.0; done.incrementAndGet(); () }
            else { x.toDoubleArray; () }
          catch {
            case _: DeviceException => ()
            case e: Throwable       => problems.add(e)
          }
      }
      start.countDown()
      threads.foreach(_.join())
      assert(problems.isEmpty, problems.toString)
      assertEquals(values(t).distinct, List(done.get.toDouble))
    }
  }

  test("DL-04, AC-15, AC-17 queues in order, events, chaining") {
    Scope.root { implicit scope =>
      val context = Context.default
      val t = vector(1, 2)
      sim.hold(Upload)
      t.asyncCopyToDevice(sim)
      val uploaded = context.queue(sim, uploads = true).event()
      context.queue(sim).waitFor(uploaded)
      val computed = context.event(sim)
      assert(!uploaded.isDone && !computed.await(5, TimeUnit.MILLISECONDS))
      assert(context.event().isDone, "the processor's calls end with their work")
      sim.release(Upload)
      computed.await()
      assert(uploaded.isDone && t.deviceReady)
      context.sync()
    }
  }

  test("AC-16 a device's programs are built once, and kept on disk for the next process") {
    val cache = Context.default.kernelCache(sim)
    val folder = java.nio.file.Files.createTempDirectory("wick-kernels")
    try
      Scope.root { implicit scope =>
        cache.clear()
        cache.folder(folder)
        val t = vector(1, 2).to(sim)
        val (built, read, hits) = (cache.built, cache.read, cache.hits)
        t + 1.0
        t + 2.0
        assertEquals((cache.built - built, cache.read - read), (1L, 0L))
        assert(cache.hits > hits && cache.size > 0 && cache.bytes > 0)
        cache.clear()
        t + 3.0
        assertEquals((cache.built - built, cache.read - read), (1L, 1L))
        assertEquals(Context.default.kernelCache().size, 0L)
      }
    finally {
      cache.folder(null)
      val files = folder.toFile.listFiles
      files.foreach(_.delete())
      folder.toFile.delete()
    }
  }

  test("DL-18 memcpy goes from any device to any, in any shape, and is done when it returns") {
    Scope.root { implicit scope =>
      val places = List[Device](CPU, sim, Device.Sim(1))
      for (from <- places; to <- places) {
        val source = STen.arange_l(0, 6, 1).view(2, 3).to(from)
        val target = STen.zeros(List(3, 2), STenOptions.l).to(to)
        STen.memcpy(target, source.t)
        assertEquals(target.to(CPU).toLongArray.toList, List(0L, 3, 1, 4, 2, 5), s"$from to $to")
        val part = STen.zeros(List(4), STenOptions.l).to(to)
        STen.memcpy(part.slice(0, 1, 4, 1), source.select(0, 1))
        assertEquals(part.to(CPU).toLongArray.toList, List(0L, 3, 4, 5))
        intercept[ShapeException](STen.memcpy(part, source))
        assertEquals(part.to(CPU).toLongArray.toList, List(0L, 3, 4, 5))
      }
      // A part of a block that is on two devices keeps the rest of what the other side wrote.
      val shared = STen.zeros(List(4), STenOptions.l)
      shared.onDevice(sim) += 7L
      STen.memcpy(shared.slice(0, 0, 2, 1), STen.arange_l(0, 2, 1).to(Device.Sim(1)))
      assertEquals(shared.toLongArray.toList, List(0L, 1, 7, 7))
    }
  }

  // What is about the device itself, or the process's own.
  private val others = Set(
    "close",
    "release",
    "manualSeed",
    "free",
    "isClosed",
    "handle",
    "moveTo",
    "to",
    "onDevice",
    "context",
    "device",
    "deviceIndex",
    "deviceId",
    "deviceNumber",
    "likeCode",
    "options",
    "isCPU",
    "hostReady",
    "deviceReady",
    "asyncCopyToDevice",
    "deviceOverwrite",
    "hostOverwrite",
    "copyToDevice",
    "copyTo",
    "unsafeHandle",
    "storageRefCount",
    "rows",
    "currentOwner"
  )

  private def plain(result: Any)(implicit scope: Scope): Any = result match {
    case t: STen if t.isSparse => "sparse"
    case t: STen               => (t.dtype, t.shape, t.to(CPU).castToDouble.toDoubleArray.toList.map(_.toString))
    case a: Array[_]           => a.toList.map(plain)
    case s: Iterable[_]        => s.toList.map(plain)
    case i: Iterator[_]        => i.toList
    case p: Product            => p.productIterator.toList.map(plain)
    case d: Double             => d.toString
    case f: Float              => f.toString
    case other                 => other
  }

  private def call(method: java.lang.reflect.Method, receiver: AnyRef, t: STen, number: AnyRef, word: String) =
    Scope.unsafe { implicit scope =>
      CPU.setSeed(7)
      sim.setSeed(7)
      scala.util.Try(plain(method.invoke(receiver, PublicApi.arguments(method, t, number, word, scope): _*))) match {
        case scala.util.Failure(e: java.lang.reflect.InvocationTargetException) => Left(e.getCause.getClass.getName)
        case scala.util.Failure(e)                                              => Left(e.getClass.getName)
        case scala.util.Success(v)                                              => Right(v)
      }
    }

  test("DL-09 every operation gives on a device what it gives on the processor") {
    Scope.root { implicit scope =>
      def operands = List(
        STen.rand(Seq(3, 3), STenOptions.d, Generator(1)) + STen.eye(3, STenOptions.d) * 3.0,
        STen.rand(Seq(2, 3, 4), STenOptions.f, Generator(2)).transpose(0, 2),
        STen.arange_l(0, 4, 1),
        STen.ones(Seq(2, 2), STenOptions(DType.Bool))
      )
      val results = for {
        method <- PublicApi.publicMethods(classOf[STen]) if !others(method.getName)
        i <- operands.indices
        number <- List[AnyRef](Long.box(0), Int.box(0))
        word <- if (method.getParameterTypes.contains(classOf[String])) PublicApi.words else List("L")
      } yield Scope.unsafe { implicit scope =>
        val here = operands(i).contiguous
        val there = here.to(sim)
        val (a, b) = (call(method, here, here, number, word), call(method, there, there, number, word))
        val after = (plain(here), plain(there))
        (a.isRight, if (a == b && after._1 == after._2) None else Some(s"$method: $a, on the device $b"))
      }
      val wrong = results.flatMap(_._2).distinct
      assert(wrong.isEmpty, s"${wrong.size}\n" + wrong.map(_.take(400)).take(40).mkString("\n"))
      assert(results.count(_._1) > 500, results.count(_._1).toString)
    }
  }
}
