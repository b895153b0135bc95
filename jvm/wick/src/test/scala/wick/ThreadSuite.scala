package wick

import java.util.concurrent.{CyclicBarrier, Executors, ExecutorService, TimeUnit}
import java.util.concurrent.atomic.{AtomicInteger, AtomicLong, AtomicReference}

/** Tensors and scopes shared by threads: guarantees 1 to 4, pains 4, 7, 8 and 23. */
class ThreadSuite extends munit.FunSuite {
  import Fixtures._

  /** Runs `body(i)` on `n` threads that start together; the first failure fails the test. */
  private def together(n: Int)(body: Int => Unit): Unit = {
    val gate = new CyclicBarrier(n)
    val failure = new AtomicReference[Throwable]
    val threads = List.tabulate(n) { i =>
      val t = new Thread(() =>
        try {
          gate.await()
          body(i)
        } catch { case e: Throwable => failure.compareAndSet(null, e); () }
      )
      t.start()
      t
    }
    threads.foreach(_.join(120000))
    assert(threads.forall(!_.isAlive), "a thread hangs")
    if (failure.get != null) throw failure.get
  }

  test("BR-218: 32 threads close one tensor while others read; it is freed once") {
    Scope.root { implicit scope =>
      val rounds = 10000
      val tensors = new java.util.concurrent.atomic.AtomicReferenceArray[STen](rounds)
      val before = Wick.memory
      val read = new AtomicLong
      val gate = new CyclicBarrier(33)
      // Two of three threads close, the third reads; the tensors of 100 rounds are made at a time.
      together(33) { i =>
        for (block <- 0 until rounds by 100) {
          if (i == 0) for (r <- block until block + 100) tensors.set(r, doubles(r.toDouble))
          gate.await()
          for (r <- block until block + 100) {
            val t = tensors.get(r)
            if (i % 3 == 2)
              try {
                assertEquals(values(t), List(r.toDouble))
                read.incrementAndGet()
              } catch { case _: ClosedTensorException => assert(t.isClosed) }
            else t.close()
          }
          gate.await()
        }
      }
      val after = Wick.memory
      assertEquals(after.made - before.made, rounds.toLong)
      assertEquals(after.freed - before.freed, rounds.toLong)
      assertEquals(scope.live, 0)
    }
  }

  test("guarantee 2: threads that end one scope free it once") {
    val before = Wick.memory
    for (_ <- 0 until 200) {
      val scope = Scope.free
      for (i <- 0 until 20) doubles(i.toDouble)(scope)
      together(4)(_ => scope.release())
    }
    val after = Wick.memory
    assertEquals(after.freed - before.freed, 200L * 20)
    assertEquals(after.liveTensors, before.liveTensors)
  }

  test("BR-222: 16 threads on one tensor and one scope lose and double nothing") {
    val before = Wick.memory
    Scope.root { implicit scope =>
      val shared = full(DType.F64, List(4, 4), 2)
      val each = 5000
      val narrow = Native.opCode("view", "narrow")
      together(16) { _ =>
        for (i <- 0 until each) {
          assert(shared.isContiguous)
          assertEquals(shared.strides, List(4L, 1L))
          val view = STen.own(Native.view(narrow, shared.handle, 0, 1, 2, 0))
          assertEquals(view.shape, List(2L, 4L))
          if (i % 4 == 0) view.close()
        }
      }
      assertEquals(scope.live, 1 + 16 * each * 3 / 4)
      assertEquals(Wick.memory.liveTensors - before.liveTensors, scope.live.toLong)
    }
    assertEquals(Wick.memory.liveTensors, before.liveTensors)
  }

  test("guarantee 3: a scope that ends while threads make tensors in it leaks none") {
    val before = Wick.memory.liveTensors
    for (_ <- 0 until 100) {
      val scope = Scope.free
      val refused = new AtomicInteger
      together(5) { i =>
        if (i == 0) { Thread.`yield`(); scope.release() }
        else
          try while (true) doubles(1)(scope)
          catch { case _: IllegalStateException => refused.incrementAndGet(); () }
      }
      assertEquals(refused.get, 4)
      assertEquals(scope.live, 0)
    }
    assertEquals(Wick.memory.liveTensors, before)
  }

  test("guarantee 1: tensors moved, closed and read at once are freed once, and never read freed") {
    val before = Wick.memory
    for (_ <- 0 until 100) {
      val scopes = Array.fill(3)(Scope.free)
      val tensors = Array.tabulate(20)(i => doubles(i.toDouble)(scopes(i % 3)))
      together(6) { id =>
        val random = new java.util.Random(id.toLong)
        for (_ <- 0 until 60) {
          val i = random.nextInt(20)
          try
            id match {
              case 0         => if (random.nextInt(20) == 0) tensors(i).close()
              case 1 | 2 | 3 => scopes(random.nextInt(3))(tensors(i)); ()
              case _         => assertEquals(values(tensors(i)), List(i.toDouble))
            }
          catch { case _: ClosedTensorException => () }
        }
      }
      scopes.foreach(_.release())
      assert(tensors.forall(_.isClosed))
    }
    val after = Wick.memory
    assertEquals(after.liveTensors, before.liveTensors)
    assertEquals(after.made - before.made, after.freed - before.freed)
  }

  test("BR-224: each thread sees its own error") {
    Scope.root { implicit scope =>
      val a = doubles(1, 2)
      val lengths = List.tabulate(8)(i => doubles(List.fill(i + 3)(0.0): _*))
      together(8) { i =>
        for (_ <- 0 until 500) {
          val e = intercept[ShapeException](add(a, lengths(i)))
          assert(e.getMessage.contains(s"[${i + 3}]"), e.getMessage)
          Scope.root { implicit scope => assertEquals(values(add(a, a)), List(2.0, 4.0)) }
        }
      }
    }
  }

  test("pain 23: a small stack is enough") {
    val failure = new AtomicReference[Throwable]
    val thread = new Thread(
      null,
      () =>
        try
          Scope.root { implicit scope =>
            val t = full(DType.F32, List(100, 100), 1)
            assertEquals(values(add(t, t)).sum, 20000.0)
            assert(t.toString.contains("..."))
          }
        catch { case e: Throwable => failure.set(e) },
      "small",
      256 * 1024L
    )
    thread.start()
    thread.join(60000)
    assertEquals(failure.get, null)
  }

  test("pain 23: ten thousand short-lived threads leave nothing") {
    val before = Wick.memory.liveTensors
    val resident = Fixtures.resident
    for (_ <- 0 until 1250) {
      val threads = List.tabulate(8)(i =>
        new Thread(() => Scope.root { implicit scope => add(doubles(i.toDouble), doubles(1)); () })
      )
      threads.foreach(_.start())
      threads.foreach(_.join())
    }
    assertEquals(Wick.memory.liveTensors, before)
    for (earlier <- resident; now <- Fixtures.resident)
      assert(now - earlier < (128L << 20), s"resident memory grew by ${(now - earlier) >> 20} MB")
  }

  test("pain 7, guarantee 4: virtual threads, where the JDK has them") {
    val make =
      try Some(classOf[Executors].getMethod("newVirtualThreadPerTaskExecutor"))
      catch { case _: NoSuchMethodException => None }
    assume(make.isDefined, "this JDK has no virtual threads")
    val before = Wick.memory.liveTensors
    val pool = make.get.invoke(null).asInstanceOf[ExecutorService]
    val done = new AtomicInteger
    for (i <- 0 until 2000)
      pool.submit(
        (
            () =>
              Scope.root { implicit scope =>
                val t = doubles(i.toDouble)
                Thread.sleep(1) // comes back on whichever carrier
                val kept = Scope { implicit scope => Thread.sleep(1); add(t, t) }
                if (values(kept) == List(2.0 * i)) done.incrementAndGet()
                ()
              }
        ): Runnable
      )
    pool.shutdown()
    assert(pool.awaitTermination(60, TimeUnit.SECONDS))
    assertEquals(done.get, 2000)
    assertEquals(Wick.memory.liveTensors, before)
  }
}
