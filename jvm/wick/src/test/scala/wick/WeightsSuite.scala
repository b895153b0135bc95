package wick

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{Callable, CyclicBarrier, Executors, TimeUnit}

/** Transformed weights. */
class WeightsSuite extends CleanSuite {

  private final class Counted(id: String, f: Scope => STen => STen) {
    val runs = new AtomicInteger
    val transform: WeightTransform = WeightTransform(id) { scope => w =>
      runs.incrementAndGet()
      f(scope)(w)
    }
  }

  private def doubled = new Counted("doubled", scope => w => w.mul(2.0)(scope))

  private def manager(body: WeightsManager => Unit): Unit = {
    val weights = new WeightsManager
    try body(weights)
    finally weights.close()
  }

  test("AC-59: a transform runs once for all users; the last release frees its result") {
    clean { implicit scope =>
      manager { weights =>
        val (w, two) = (Fixtures.doubles(1, 2, 3), doubled)
        weights.manage(w)
        weights.manage(w)
        val live = Wick.memory.liveTensors
        Scope.root { implicit scope =>
          for (_ <- 1 to 3) assertEquals(Fixtures.values(weights.acquire(w, two.transform)), List(2d, 4d, 6d))
        }
        assertEquals((two.runs.get, weights.references(w, two.transform)), (1, 3))
        assertEquals(Wick.memory.liveTensors, live + 1)
        for (_ <- 1 to 3) weights.release(w, two.transform)
        assertEquals((weights.references(w, two.transform), Wick.memory.liveTensors), (0, live))
        intercept[IllegalStateException](weights.release(w, two.transform))
        val other = Fixtures.doubles(1)
        val message = intercept[IllegalStateException](weights.acquire(other, two.transform)).getMessage
        assert(message.contains("not managed"), message)
      }
    }
  }

  test("AC-59: many threads ask at once, and the transform runs once") {
    clean { implicit scope =>
      manager { weights =>
        val w = STen.ones(Seq(1000), STen.dOptions)
        val slow = new Counted("slow", scope => w => { Thread.sleep(5); w.mul(3.0)(scope) })
        weights.manage(w)
        val (all, threads) = (new CyclicBarrier(8), Executors.newFixedThreadPool(8))
        try {
          val asked = (1 to 8).map(_ =>
            threads.submit(new Callable[Boolean] {
              def call(): Boolean = Scope.root { implicit scope =>
                all.await(60, TimeUnit.SECONDS)
                Fixtures.values(weights.acquire(w, slow.transform)).forall(_ == 3.0)
              }
            })
          )
          assert(asked.forall(_.get(60, TimeUnit.SECONDS)))
        } finally threads.shutdown()
        assertEquals((slow.runs.get, weights.references(w, slow.transform)), (1, 8))
      }
    }
  }

  test("AC-59, interaction 5: a write through an alias of the weight's parent has it transformed anew") {
    clean { implicit scope =>
      manager { weights =>
        val parent = Fixtures.of(DType.F64, 2, 3)(1, 2, 3, 4, 5, 6)
        val (w, two) = (parent.select(0, 1), doubled)
        weights.manage(w)
        assertEquals(Fixtures.values(weights.run(w, two.transform)), List(8d, 10d, 12d))
        val kept = weights.acquire(w, two.transform)
        assertEquals(Fixtures.values(weights.acquire(parent.select(0, 1), two.transform)), List(8d, 10d, 12d))
        assertEquals(two.runs.get, 2) // run leaves nothing behind
        for (
          (write, want) <- Seq[(() => Unit, List[Double])](
            (() => parent.view(6).slice(0, 4, 5, 1) += 1.0, List(8d, 12d, 12d)),
            (() => parent.fill_(1.0), List(2d, 2d, 2d)),
            (() => STen.addOut(parent, parent, parent, 1.0), List(4d, 4d, 4d)),
            (() => parent.copyFrom(STen.zeros(Seq(2, 3), STen.dOptions)), List(0d, 0d, 0d))
          )
        ) {
          write()
          assertEquals(Fixtures.values(weights.acquire(w, two.transform)), want)
        }
        assertEquals(two.runs.get, 6)
        // What was handed out before stays as it was.
        assertEquals(Fixtures.values(kept), List(8d, 10d, 12d))
        // Reading changes nothing.
        Fixtures.values(parent.sum)
        weights.acquire(w, two.transform)
        assertEquals(two.runs.get, 6)
      }
    }
  }

  test("AC-60: transforms by id, one after the other, and one that fails") {
    clean { implicit scope =>
      manager { weights =>
        val w = Fixtures.of(DType.F64, 2, 2)(1, 2, 3, 4)
        val (two, turned) = (doubled, new Counted("turned", scope => w => w.t(scope).contiguous(scope)))
        weights.manage(w)
        val live = Wick.memory.liveBytes
        val both = two.transform.andThen(turned.transform)
        assertEquals(both.id, "doubled > turned")
        assertEquals(Fixtures.values(weights.acquire(w, both)), List(2d, 6d, 4d, 8d))
        // The one between is gone: the result alone stays.
        assert(Wick.memory.liveBytes - live <= 64)
        assertEquals((two.runs.get, turned.runs.get), (1, 1))
        val same = WeightTransform("doubled > turned")(_ => fail("it is there already"))
        assertEquals(Fixtures.values(weights.acquire(w, same)), List(2d, 6d, 4d, 8d))
        val bad = WeightTransform("bad")(_ => _ => throw new RuntimeException("mine"))
        assertEquals(intercept[RuntimeException](weights.acquire(w, bad)).getMessage, "mine")
        assertEquals(weights.references(w, bad), 0)
        weights.trim()
        weights.acquire(w, both)
        assertEquals(two.runs.get, 2)
        weights.close()
        intercept[IllegalStateException](weights.acquire(w, both))
      }
    }
  }
}
