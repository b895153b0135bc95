package wick

import java.util.concurrent.{ConcurrentHashMap, Executors, TimeUnit}
import java.util.concurrent.atomic.AtomicInteger

import munit.FunSuite

/** Contexts and schedulers. */
class ContextSuite extends FunSuite {

  private def context(threads: Int = 0, cap: Long = 0L)(f: Context => Unit): Unit = {
    val c = Context(threads, cap)
    try f(c)
    finally c.close()
  }

  private def big(implicit scope: Scope): STen = STen.arange(0.0, 4e6, 1.0, STenOptions.d)

  test("AC-02, AC-61 two contexts share neither memory nor threads nor random numbers") {
    context(threads = 1, cap = 1L << 20) { a =>
      context(threads = 3) { b =>
        val before = Wick.memory
        a.root { implicit scope =>
          val t = STen.zeros(List(1000), STenOptions.d)
          assert(a.liveBytes >= 8000 && a.peakBytes >= a.liveBytes)
          assertEquals(b.liveBytes, 0L)
          assertEquals(Wick.memory.liveBytes, before.liveBytes)
          assertEquals(t.context, a)
          assertEquals((t + 1.0).exp.sum.context, a)
          assertEquals(t.device, CPU: Device)
          // No exception to munit, but an error of the machine.
          val full =
            try { STen.zeros(List(1 << 20), STenOptions.d); false }
            catch { case _: OutOfNativeMemoryError => true }
          assert(full, "its own cap")
          assertEquals(STen.fromLongArray(Array(1L, 2L)).context, a)
          assertEquals(STen.fromLongArray(Array(1L, 2L)).toLongArray.toList, List(1L, 2L))
          Scope { implicit scope => STen.ones(List(1), STenOptions.f) }
          assertEquals(Scope(implicit scope => STen.ones(List(1), STenOptions.f)).context, a)
        }
        assertEquals((a.liveBytes, a.threads, b.threads), (0L, 1, 3))
        b.threads = 2
        b.memoryCap = 1L << 24
        assertEquals((a.threads, b.threads, a.memoryCap, b.memoryCap), (1, 2, 1L << 20, 1L << 24))
        def draw(c: Context) = {
          var drawn: List[Float] = Nil
          c.root { implicit scope => drawn = STen.rand(List(4), STenOptions.f).toFloatArray.toList }
          drawn
        }
        a.setSeed(1)
        b.setSeed(1)
        val first = draw(a)
        draw(a)
        assertEquals(draw(b), first, "one's draws do not move the other's sequence")
        b.trim()
        assertEquals(b.cachedBytes, 0L)
      }
    }
  }

  test("AC-15, AC-61 a tensor of one context in the other is an error that names both, or a copy where asked") {
    context() { a =>
      context() { b =>
        val (inA, inB) = (a.free, b.free)
        val t = STen.ones(List(2), STenOptions.d)(inA)
        val u = STen.ones(List(2), STenOptions.d)(inB)
        val error = intercept[DeviceException](t.+(u)(inB))
        assert(error.getMessage.contains(a.toString) && error.getMessage.contains(b.toString), error.getMessage)
        val misplaced = intercept[DeviceException](t.+(t)(inB))
        assert(misplaced.getMessage.contains(a.toString) && misplaced.getMessage.contains(b.toString))
        intercept[DeviceException](u += t)
        val copy = CPU.to(t)(inB)
        assertEquals(copy.context, b)
        u += copy
        assertEquals(u.toDoubleArray.toList, List(2.0, 2.0))
        Scope.root { implicit scope =>
          assertEquals((CPU.to(t) + 1.0).toDoubleArray.toList, List(2.0, 2.0))
          assertEquals(CPU.to(t).context, Context.default)
        }
        assertEquals(t.toDoubleArray.toList, List(1.0, 1.0))
        List(inA, inB).foreach(_.release())
        assertEquals((a.liveBytes, b.liveBytes), (0L, 0L))
      }
    }
  }

  test("AC-61 a closed context makes nothing more; its tensors end with their scopes") {
    val c = Context(threads = 2)
    val scope = c.free
    val t = STen.ones(List(10), STenOptions.d)(scope)
    c.close()
    c.close()
    intercept[IllegalStateException](c.root(_ => ()))
    intercept[IllegalStateException](c.threads)
    intercept[DeviceException](t.+(t)(scope))
    intercept[DeviceException](STen.ones(List(10), STenOptions.d)(scope))
    scope.release()
    intercept[ClosedTensorException](t.shape)
    Context.default.close()
    assert(Context.default.threads > 0, "the default context stays")
  }

  test("AC-61 two contexts in two threads agree") {
    context(threads = 1) { a =>
      context(threads = 2) { b =>
        val sums = new ConcurrentHashMap[Int, Double]
        val threads = List(a, b, a, b).zipWithIndex.map { case (c, i) =>
          val t = new Thread(() =>
            c.root { implicit scope =>
              for (_ <- 1 to 20) { sums.put(i, (big * 2.0).sum.toDoubleArray.head); () }
            }
          )
          t.start()
          t
        }
        threads.foreach(_.join())
        assertEquals(sums.size, 4)
        assertEquals(new java.util.HashSet(sums.values).size, 1)
      }
    }
  }

  /** Counts what it is asked. */
  private class Counting(run: (Int, Runnable) => Unit) extends Scheduler {
    val asked = new AtomicInteger
    @volatile var parts = 0
    def run(n: Int, part: Runnable): Unit = {
      asked.incrementAndGet()
      parts = n
      run.apply(n, part)
    }
  }

  test("AC-03, AC-10 a user's scheduler runs the parts; results are the same, however it behaves") {
    val pool = Executors.newFixedThreadPool(3)
    try
      context(threads = 4) { c =>
        val expected = 2.0 * 4e6 * (4e6 - 1) / 2
        def sum = {
          var out = 0.0
          c.root { implicit scope => out = (big * 2.0).sum.toDoubleArray.head }
          out
        }
        val names = ConcurrentHashMap.newKeySet[String]
        val onPool = new Counting((n, part) =>
          for (_ <- 1 to n) pool.execute { () => names.add(Thread.currentThread.getName); part.run() }
        )
        c.withScheduler(onPool)
        assertEquals(sum, expected)
        assert(onPool.asked.get > 0 && onPool.parts > 1)
        val nothing = new Counting((_, _) => ())
        c.withScheduler(nothing)
        assertEquals(sum, expected)
        assert(nothing.asked.get > 0)
        var late: Runnable = null
        c.withScheduler(new Counting((n, part) => { late = part; (0 to 2 * n).foreach(_ => part.run()) }))
        assertEquals(sum, expected)
        late.run()
        c.withScheduler(Scheduler.SERIAL)
        assertEquals(sum, expected)
        c.withScheduler(new Counting((_, _) => throw new IllegalArgumentException("no threads today")))
        val error = intercept[NativeException](sum)
        assert(error.getMessage.contains("no threads today"), error.getMessage)
        c.withScheduler(null)
        assertEquals(sum, expected)
      }
    finally {
      pool.shutdown()
      pool.awaitTermination(10, TimeUnit.SECONDS)
    }
  }

  test("AC-13, AC-14 hints: static, dynamic, fewer threads a call; the results' bits are the same") {
    context(threads = 4) { c =>
      val counting = new Counting((_, _) => ())
      c.withScheduler(counting)
      c.root { implicit scope =>
        val t = big
        def parts(hints: SchedulerHints): Int = {
          counting.parts = 1
          hints(t * 2.0)
          counting.parts
        }
        assertEquals(parts(SchedulerHints(strategy = SchedulerHints.Static)), 4)
        assertEquals(parts(SchedulerHints(strategy = SchedulerHints.Static, threads = 2)), 2)
        assertEquals(parts(SchedulerHints(strategy = SchedulerHints.Dynamic(100))), 100)
        assertEquals(parts(SchedulerHints(strategy = SchedulerHints.Dynamic(100), threads = 1)), 1)
        assertEquals(parts(SchedulerHints(threads = 64, strategy = SchedulerHints.Static)), 4)
        intercept[ArithmeticException](SchedulerHints(threads = 1)(throw new ArithmeticException))
        assert(parts(SchedulerHints()) > 1, "hints end with their block")
        val sums = for (s <- List(SchedulerHints.Static, SchedulerHints.Dynamic(1000), SchedulerHints.Auto))
          yield SchedulerHints(strategy = s)(t.sin.sum.toDoubleArray.head)
        assertEquals(sums.distinct.size, 1)
      }
    }
  }

  test("AC-13 a filter's window is cut along the dimension that hints name") {
    context(threads = 4) { c =>
      val counting = new Counting((_, _) => ())
      c.withScheduler(counting)
      c.root { implicit scope =>
        val image = STen.rand(Seq(1, 20, 60000), STenOptions.f)
        def run(dim: Int): (Int, STen) = {
          val out = STen.zeros(image.shape, STenOptions.f)
          val kernel = Kernel(Filter.Gaussian3x3, image, Seq(out), BorderMode.Reflect)
          SchedulerHints(dim, SchedulerHints.Dynamic(1000))(KernelRunner.run(kernel))
          (counting.parts, out)
        }
        val all = Seq(-1, 1, 2).map(run)
        assertEquals(all.map(_._1), Seq(20, 20, 1000))
        assert(all.tail.forall(_._2.equalDeep(all.head._2)))
      }
    }
  }

  test("AC-14 threads are bound to the processors that a user names, and let go again") {
    import java.nio.file.{Files, Path, Paths}
    import scala.jdk.CollectionConverters._
    def field(file: Path, name: String): String =
      Files.readAllLines(file).asScala.collectFirst { case s if s.startsWith(name) => s.drop(name.length).trim }.get
    def mine = field(Paths.get("/proc/thread-self/status"), "Cpus_allowed_list:")
    // Where wick's threads of all contexts may run.
    def workers: Seq[String] = {
      val tasks = Files.list(Paths.get("/proc/self/task"))
      try
        tasks.iterator.asScala.map(_.resolve("status")).flatMap { file =>
          // Other threads come and go.
          scala.util.Try(field(file, "Name:") -> field(file, "Cpus_allowed_list:")).toOption
        }.collect { case (name, cores) if name.startsWith("wick-") => cores }.toList
      finally tasks.close()
    }
    assume(Files.exists(Paths.get("/proc/thread-self/status")), "Linux says where threads may run")
    context() { c =>
      val core = mine.split("[,-]").head
      val before = workers.count(_ == core)
      val bound = c.bindThreads(core.toInt)
      assert(bound >= 1, "a pool has a thread")
      assertEquals(workers.count(_ == core), before + bound)
      val allowed = mine
      assertEquals(c.bindThreads(1 << 20, -1), 0)
      assertEquals(workers.count(_ == core), before + bound)
      assertEquals(c.bindThreads(), bound)
      assertEquals(workers.count(_ == allowed) >= bound, true)
      c.root { implicit scope => assertEquals((big * 0.0).sum.toDoubleArray.head, 0.0) }
    }
  }

  test("interaction 8: many threads on one context share its workers") {
    context(threads = 2) { c =>
      val sums = ConcurrentHashMap.newKeySet[Double]
      val threads = (1 to 4).map { _ =>
        val t = new Thread(() =>
          c.root { implicit scope => for (_ <- 1 to 10) { sums.add((big + 1.0).sum.toDoubleArray.head); () } }
        )
        t.start()
        t
      }
      threads.foreach(_.join(60000))
      assert(threads.forall(!_.isAlive))
      assertEquals(sums.size, 1)
    }
  }
}
