package wick

import java.util.concurrent.{CountDownLatch, TimeUnit}
import scala.concurrent.{Await, ExecutionContext, Future, Promise}
import scala.concurrent.duration._
import scala.util.{Failure, Success, Try}

/** Who owns tensors and when they are freed: guarantees 3 and 4 of the design, LP-11 to LP-17. */
class ScopeSuite extends munit.FunSuite {
  import Fixtures._

  private implicit val ec: ExecutionContext = ExecutionContext.global

  /** Runs `body` and checks that it left no tensor behind. */
  private def clean[A](body: => A): A = {
    val before = Wick.memory.liveTensors
    val result = body
    assertEquals(Wick.memory.liveTensors, before, "tensors were left behind")
    result
  }

  private final class Stop extends RuntimeException("stop")

  test("LP-11, LP-13: a root scope frees all that was made in it") {
    clean {
      val sum = Scope.root { implicit scope =>
        val a = doubles(1, 2)
        val b = add(a, a)
        assertEquals(scope.live, 2)
        values(b).sum
      }
      assertEquals(sum, 6.0)
    }
  }

  test("LP-15: ones and an identity, added in a scope of their own, come out as an array") {
    clean {
      val sums = Scope.root { implicit scope =>
        val sum = Scope { implicit scope => STen.eye(3, STenOptions.d) + STen.ones(List(3, 3), STenOptions.d) }
        assertEquals((sum.shape, scope.live), (List(3L, 3L), 1))
        sum.toDoubleArray.toList
      }
      assertEquals(sums, List(2.0, 1, 1, 1, 2, 1, 1, 1, 2))
    }
  }

  test("LP-14: the result moves to the parent and the rest is freed") {
    clean {
      Scope.root { implicit scope =>
        val outer = doubles(1, 2)
        val (kept, temporary) = {
          var escaped: STen = null
          val result = Scope { implicit scope =>
            escaped = add(outer, outer)
            add(escaped, escaped)
          }
          (result, escaped)
        }
        assertEquals(values(kept), List(4.0, 8.0))
        assert(temporary.isClosed)
        intercept[ClosedTensorException](values(temporary))
        assertEquals(scope.live, 2)
      }
    }
  }

  test("LP-14: a tensor of an outer scope in the result stays where it is") {
    clean {
      Scope.root { implicit scope =>
        val outer = doubles(1, 2)
        val again = Scope { implicit scope =>
          Scope { implicit scope => List(outer, add(outer, outer), outer) }
        }
        assert(again.head eq outer)
        assertEquals(scope.live, 2)
        assertEquals(values(again(1)), List(2.0, 4.0))
      }
    }
  }

  test("LP-14: moving is by identity, twice the same is once") {
    clean {
      Scope.root { implicit scope =>
        val (a, b) = Scope { implicit scope =>
          val t = doubles(5)
          (t, t)
        }
        assert(a eq b)
        assertEquals(scope.live, 1)
      }
    }
  }

  test("LP-14: a null result frees everything") {
    clean {
      Scope.root { implicit scope =>
        val none = Scope { implicit scope =>
          doubles(1)
          null: STen
        }
        assert(none == null)
        assertEquals(scope.live, 0)
      }
    }
  }

  test("LP-14, pain 7: an exception frees everything and arrives itself") {
    val stop = new Stop
    clean {
      val caught = intercept[Stop] {
        Scope.root { implicit scope =>
          doubles(1)
          Scope { implicit scope =>
            doubles(2)
            Scope { implicit scope => doubles(3); throw stop }
            ()
          }
        }
      }
      assert(caught eq stop)
      assertEquals(caught.getSuppressed.length, 0)
    }
  }

  test("guarantee 3: a failed search of the result frees everything") {
    val stop = new Stop
    final class Bad(val t: STen)
    implicit val movable: Movable[Bad] = new Movable[Bad] {
      def foreach(value: Bad)(f: STen => Unit): Unit = throw stop
    }
    clean {
      val caught = intercept[Stop] {
        Scope.root { implicit scope =>
          Scope { implicit scope => new Bad(doubles(1)) }
          ()
        }
      }
      assert(caught eq stop)
    }
  }

  test("guarantee 3: an exception survives whatever happens while freeing") {
    val stop = new Stop
    val caught = intercept[Stop] {
      Scope.root { scope =>
        scope.enter(12345L) // no such tensor
        throw stop
      }
    }
    assert(caught eq stop)
  }

  test("guarantee 3: a tensor made in a scope that has ended is an error and leaks nothing") {
    clean {
      val ended = Scope.named("old").free
      ended.release()
      val e = intercept[IllegalStateException](doubles(1, 2)(ended))
      assert(e.getMessage.contains("\"old\""), e.getMessage)
      val two = intercept[IllegalStateException] {
        val raw = Array(
          Native.fromDoubles(Array(1.0), Array(1L)),
          Native.fromDoubles(Array(2.0), Array(1L))
        )
        STen.ownAll(raw)(ended)
      }
      assert(two.getMessage.contains("\"old\""), two.getMessage)
    }
  }

  test("guarantee 3: a parent that has ended refuses the result and nothing leaks") {
    clean {
      val parent = Scope.named("gone").free
      val e = intercept[IllegalStateException] {
        Scope { implicit scope =>
          val t = doubles(1)
          parent.release()
          (t, doubles(2))
        }(implicitly, parent)
      }
      assert(e.getMessage.contains("\"gone\""), e.getMessage)
    }
  }

  test("guarantee 2: releasing a scope twice does nothing the second time") {
    clean {
      val scope = Scope.free
      doubles(1)(scope)
      scope.release()
      scope.release()
      scope.close()
      assert(scope.isClosed)
      assertEquals(scope.live, 0)
    }
  }

  test("LP-17: free scopes live until released; unsafe returns closed tensors") {
    clean {
      val scope = Scope.free
      val t = doubles(1, 2)(scope)
      assertEquals(values(t), List(1.0, 2.0))
      scope.release()
      assert(t.isClosed)
      val escaped = Scope.unsafe { implicit scope => doubles(3) }
      assert(escaped.isClosed)
    }
  }

  test("a tensor may be closed early, and its place in the scope is used again") {
    clean {
      Scope.root { implicit scope =>
        val kept = Vector.fill(5)(doubles(1))
        for (i <- 0 until 1000) {
          val t = doubles(i.toDouble)
          val u = doubles(i.toDouble)
          t.close()
          assertEquals(values(u), List(i.toDouble))
          u.close()
        }
        kept(1).close()
        kept(3).close()
        assertEquals(scope.live, 3)
        val more = Vector.fill(4)(doubles(7))
        assertEquals(scope.live, 7)
        assert(more.forall(t => values(t) == List(7.0)))
        kept(4).close()
        more(3).close()
        kept.foreach(_.close())
        assertEquals(scope.live, 3)
      }
    }
  }

  test("BR-210: a tensor moved to another scope lives as long as that one") {
    clean {
      val (s1, s2) = (Scope.named("first").free, Scope.named("second").free)
      val t = full(DType.F32, List(3), 1)(s1)
      assert(s2(t) eq t)
      assertEquals((s1.live, s2.live), (0, 1))
      s1.release()
      assertEquals(values(add(t, t)(s2)), List(2.0, 2.0, 2.0))
      s2.release()
      val e = intercept[ClosedTensorException](values(t))
      assert(e.getMessage.contains("\"second\""), e.getMessage)
      intercept[ClosedTensorException](Scope.root { implicit scope => scope(t); () })
      val late = doubles(1)(Scope.free)
      intercept[IllegalStateException](s2(late))
      assert(late.isClosed) // freed on the way: a refused move leaks nothing
    }
  }

  test("pain 8: the owner is the scope of the call, from any thread, whatever owns the operands") {
    clean {
      Scope.root { implicit scope =>
        val a = doubles(1, 2)
        val other = Scope.free
        val sum = onThread(add(a, a)(other))
        assertEquals(other.live, 1)
        assertEquals(scope.live, 1)
        assertEquals(values(sum), List(2.0, 4.0))
        onThread(other.release())
        assert(sum.isClosed)
      }
    }
  }

  test("names show in scopes and errors") {
    Scope.named("epoch").root { implicit scope =>
      assertEquals(scope.name, Option("epoch"))
      doubles(1)
      assertEquals(scope.toString, "Scope(\"epoch\", 1 tensors)")
    }
    Scope.root { implicit scope =>
      val t = Scope.named("inner") { implicit scope => doubles(1) }
      assertEquals(scope.live, 1)
      assert(!t.isClosed)
      assertEquals(Scope.named("x").unsafe(_.name), Option("x"))
      assertEquals(scope.name, Option.empty[String])
    }
  }

  test("LP-17: an async scope ends with its future and moves the value to the parent") {
    clean {
      Scope.root { implicit scope =>
        val go = Promise[Unit]()
        val running = Scope.async { implicit scope =>
          val t = doubles(1, 2)
          go.future.map(_ => add(t, t))
        }
        assertEquals(scope.live, 0)
        go.success(())
        val t = Await.result(running, 10.seconds)
        assertEquals(values(t), List(2.0, 4.0))
        assertEquals(scope.live, 1)
        val n = Await.result(Scope.rootAsync(implicit scope => Future(values(doubles(3)).head)), 10.seconds)
        assertEquals(n, 3.0)
      }
    }
  }

  test("pain 7: a failed future frees everything and keeps its exception") {
    val stop = new Stop
    clean {
      Scope.root { implicit scope =>
        val failed = Scope.async[STen] { implicit scope =>
          doubles(1)
          Future { doubles(2); throw stop }
        }
        assert(Try(Await.result(failed, 10.seconds)) == Failure(stop))
        val thrown = Scope.async[STen] { implicit scope => doubles(1); throw stop }
        assert(Try(Await.result(thrown, 10.seconds)) == Failure(stop))
        assertEquals(scope.live, 0)
      }
    }
  }

  test("pain 7: a future that outlives its parent fails and frees everything") {
    clean {
      val go = Promise[Unit]()
      val parent = Scope.named("short").free
      val running = Scope.async { implicit scope =>
        val t = doubles(1)
        go.future.map(_ => t)
      }(implicitly, parent)
      parent.release()
      go.success(())
      val e = intercept[IllegalStateException](Await.result(running, 10.seconds))
      assert(e.getMessage.contains("\"short\""), e.getMessage)
    }
  }

  test("LP-17: an opened scope ends well, with an error, or without a result, once") {
    val stop = new Stop
    clean {
      Scope.root { implicit scope =>
        val good = Scope.open(Some(scope))
        val t = doubles(1)(good.scope)
        doubles(2)(good.scope)
        assert(good.close(t) eq t)
        good.cancel()
        good.fail(stop)
        assertEquals(values(t), List(1.0))
        assertEquals(scope.live, 1)

        val bad = Scope.open(Some(scope))
        val lost = doubles(1)(bad.scope)
        bad.fail(stop)
        assert(lost.isClosed)
        assert(bad.close(lost).isClosed)

        val cancelled = Scope.named("c").open(None)
        doubles(1)(cancelled.scope)
        cancelled.cancel()
        assert(cancelled.scope.isClosed)
        assertEquals(scope.live, 1)
      }
    }
  }

  test("pain 7: an interrupted thread leaves nothing behind") {
    clean {
      val inside = new CountDownLatch(1)
      var outcome: Try[Unit] = Success(())
      val thread = new Thread(() =>
        outcome = Try {
          Scope.root { implicit scope =>
            doubles(1)
            inside.countDown()
            Thread.sleep(60000)
          }
        } match {
          case f => f
        }
      )
      // Try lets an interruption through.
      thread.setUncaughtExceptionHandler((_, e) => outcome = Failure(e))
      thread.start()
      assert(inside.await(10, TimeUnit.SECONDS))
      thread.interrupt()
      thread.join(10000)
      assert(outcome.failed.toOption.exists(_.isInstanceOf[InterruptedException]), outcome.toString)
    }
  }

  test("LP-12: sc and scope give the scope in force") {
    Scope.root { implicit s =>
      assert(scope eq s)
      made
      assertEquals(s.live, 1)
    }
  }

  private def made[S: Sc]: STen = doubles(1)

  private def onThread[A](body: => A): A = {
    var result: Try[A] = null
    val thread = new Thread(() => result = Try(body))
    thread.start()
    thread.join(10000)
    result.get
  }
}
