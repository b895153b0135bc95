package wick

import java.util.concurrent.{Callable, CompletableFuture, CountDownLatch, Executors, Future, TimeUnit}
import scala.concurrent.duration._

/** Lives, pools and leases by hand. */
class MemoryManagerSuite extends CleanSuite {

  /** Three intermediates of which the first and the last never meet. */
  private def three(memory: MemoryManager): (MemoryGroup, Seq[Managed]) = {
    val group = memory.group()
    val (a, b) = (group.manage(Seq(4), STen.dOptions), group.manage(Seq(8), STen.dOptions))
    a.endLifetime()
    val c = group.manage(Seq(4), STen.dOptions)
    Seq(b, c).foreach(_.endLifetime())
    (group, Seq(a, b, c))
  }

  test("AC-42, AC-43, AC-44: intermediates that never meet share a block") {
    clean { implicit scope =>
      val memory = new MemoryManager(Pipeline.Blobs)
      val (group, Seq(a, b, c)) = three(memory): @unchecked
      memory.populate()
      assertEquals(
        memory.blocks,
        Seq(MemoryManager.Block(64, 64, 1), MemoryManager.Block(32, 64, 2))
      )
      group.acquired { lease =>
        lease(a).fill_(1.0)
        lease(b).fill_(2.0)
        assertEquals(Fixtures.values(lease(c)), List(1d, 1d, 1d, 1d))
        assertEquals(Fixtures.values(lease(b)).sum, 16d)
      }
      memory.close()
    }
  }

  test("AC-45, AC-48, AC-49: the states of a manager") {
    clean { implicit scope =>
      val before = Wick.memory.liveBytes
      val memory = new MemoryManager()
      def refuses(what: String)(body: => Unit): Unit = {
        val message = intercept[IllegalStateException](body).getMessage
        assert(message.contains(what), message)
      }
      val group = memory.group()
      val a = group.manage(Seq(1000))
      refuses("has not ended")(memory.populate())
      refuses("no pools")(group.acquired(_ => ()))
      a.endLifetime()
      refuses("has ended")(a.endLifetime())
      refuses("at least 1")(memory.populate(0))
      refuses("no power of two")(group.manage(Seq(1), align = 3))
      memory.populate(2)
      assertEquals(memory.blocks, Seq(MemoryManager.Block(4000, 64, 1)))
      assert(Wick.memory.liveBytes - before >= 8000)
      refuses("after populate")(group.manage(Seq(1)): Unit)
      refuses("after populate")(memory.populate())
      group.acquired(_ => refuses("no pool in use")(memory.clear()))
      memory.clear()
      assertEquals(Wick.memory.liveBytes, before)
      memory.populate()
      memory.close()
      memory.close()
      refuses("it is closed")(group.acquired(_ => ()))
      assertEquals(Wick.memory.liveBytes, before)
    }
  }

  test("AC-47: without a manager memory is asked for at once, aligned to 64 bytes") {
    clean { implicit scope =>
      val before = Wick.memory.liveBytes
      for (n <- Seq(1L, 3L, 1000L, 1L << 20)) {
        val t = STen.empty(Seq(n), STen.fOptions)
        assertEquals(Native.address(t.handle) % 64, 0L)
      }
      assert(Wick.memory.liveBytes > before)
    }
  }

  test("AC-51: a thread that holds a pool gets no second one; others wait until their time is out") {
    clean { implicit scope =>
      val memory = new MemoryManager()
      val (group, _) = three(memory)
      memory.populate()
      val other = Executors.newSingleThreadExecutor()
      try
        group.acquired { _ =>
          assert(intercept[IllegalStateException](group.acquired(_ => ())).getMessage.contains("already"))
          val waits = other.submit(new Callable[String] {
            def call(): String =
              intercept[IllegalStateException](group.acquired(20.millis)(_ => ())).getMessage
          })
          assert(waits.get(60, TimeUnit.SECONDS).contains("all 1 pools are in use"))
        }
      finally other.shutdown()
      group.acquired(_ => ())
      memory.close()
    }
  }

  test("AC-51: whoever waits for a lease that other threads used has it as soon as it ends") {
    clean { implicit scope =>
      val memory = new MemoryManager()
      val (group, Seq(a, _, _)) = three(memory): @unchecked
      memory.populate()
      val threads = Executors.newFixedThreadPool(2)
      def run[A](body: => A) = threads.submit(new Callable[A] { def call(): A = body })
      try {
        val waiting = new CompletableFuture[Future[Boolean]]
        group.acquired { lease =>
          run(lease(a).shape).get(60, TimeUnit.SECONDS)
          waiting.complete(run(group.acquired(60.seconds)(_ => true)))
          Thread.sleep(200) // until it waits
        }
        assert(waiting.get.get(10, TimeUnit.SECONDS))
      } finally threads.shutdown()
      memory.close()
    }
  }

  test("AC-52: as many runs at once as there are pools") {
    clean { implicit scope =>
      val memory = new MemoryManager()
      val (group, Seq(a, _, _)) = three(memory): @unchecked
      memory.populate(2)
      val (both, threads) = (new CountDownLatch(2), Executors.newFixedThreadPool(2))
      try {
        val runs = (1 to 2).map(i =>
          threads.submit(new Callable[Boolean] {
            def call(): Boolean = group.acquired { lease =>
              lease(a).fill_(i.toDouble)
              both.countDown()
              both.await(60, TimeUnit.SECONDS)
              Fixtures.values(lease(a)).forall(_ == i.toDouble)
            }
          })
        )
        assert(runs.forall(_.get(60, TimeUnit.SECONDS)))
      } finally threads.shutdown()
      memory.close()
    }
  }

  test("Interaction 1: a view of a leased tensor throws after the lease, whichever scope has it") {
    clean { implicit scope =>
      val memory = new MemoryManager()
      val (group, Seq(_, b, _)) = three(memory): @unchecked
      memory.populate()
      var slice: STen = null
      group.acquired { lease =>
        lease(b).fill_(3.0)
        slice = lease(b).slice(0, 0, 2, 1)(scope)
        assertEquals(Fixtures.values(slice), List(3d, 3d))
      }
      for (use <- Seq[STen => Any](Fixtures.values(_), _ + 1.0, _.fill_(0.0), _.cloneTensor)) {
        val message = intercept[IllegalStateException](use(slice)).getMessage
        assert(message.contains("when the lease ended"), message)
      }
      // Runs go on in other memory than what it still sees, and find what the last one left there.
      group.acquired { lease => lease(b).fill_(5.0); () }
      group.acquired(lease => assertEquals(Fixtures.values(lease(b)).toSet, Set(5d)))
      memory.close()
    }
  }

  test("AC-53: memory is cleared after each run, or when asked, all of it (interaction 9)") {
    clean { implicit scope =>
      for (wipe <- Seq(true, false)) {
        val memory = new MemoryManager(wipe = wipe)
        val (group, all) = three(memory)
        memory.populate()
        group.acquired(lease => all.foreach(lease(_).fill_(5.0)))
        group.acquired { lease =>
          def zero: Boolean = all.forall(m => Fixtures.values(lease(m)).forall(_ == 0.0))
          assertEquals(zero, wipe)
          lease.wipe()
          assert(zero)
        }
        memory.close()
      }
    }
  }
}
