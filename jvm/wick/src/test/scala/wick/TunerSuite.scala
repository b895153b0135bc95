package wick

import java.nio.file.{Files, Path}
import java.util.concurrent.atomic.AtomicInteger

import scala.concurrent.duration._
import Tuner.Choice

/** Measured hints and their file. */
class TunerSuite extends CleanSuite {

  private def file(lines: String*): Path = {
    val path = Files.createTempFile("tuning", ".txt")
    Files.write(path, lines.mkString("\n").getBytes("UTF-8"))
    path
  }

  test("AC-55: the first call measures on copies, later ones use what was best; no name, no tuning") {
    clean { implicit scope =>
      val (tuner, calls) = (new Tuner(Tuner.Rapid, runs = 1), new AtomicInteger)
      val x = STen.ones(Seq(100), STen.dOptions)
      def work(scope: Scope, in: Seq[STen]): Double = {
        calls.incrementAndGet()
        in.head += 1.0 // its output is its input (interaction 6)
        in.head.sum(scope).toDoubleArray(0)
      }
      assertEquals(tuner("grow", x)(work), 200.0)
      assertEquals(Fixtures.values(x).toSet, Set(2.0))
      val first = calls.get
      assert(first > 3, first.toString)
      assertEquals(tuner("grow", x)(work), 300.0)
      assertEquals(calls.get, first + 1)
      assertEquals(tuner.entries.map(_._1), Seq("grow"))
      tuner("", x)(work)
      assertEquals(calls.get, first + 2)
      assertEquals(tuner.entries.size, 1)
      intercept[IllegalArgumentException](tuner("a;b", x)(work))
      val mine = new RuntimeException("mine")
      assertEquals(intercept[RuntimeException](tuner("bad", x)((_, _) => throw mine)), mine)
      assertEquals(tuner.choice("bad"), Choice.Default)
    }
  }

  test("AC-55: the time budget ends the search, and the fastest candidate wins") {
    clean { implicit scope =>
      val x = STen.ones(Seq(4), STen.dOptions)
      val none = new Tuner(Tuner.Exhaustive, budget = 0.seconds, runs = 1)
      val calls = new AtomicInteger
      none("k", x)((_, _) => calls.incrementAndGet())
      assertEquals((calls.get, none.choice("k")), (3, Choice.Default))
      // Slow unless it runs with the hints of (1, 2, 1).
      val tuner = new Tuner(Tuner.Rapid, budget = 1.minute, runs = 1)
      tuner("k", x) { (_, _) =>
        val hints = new Array[Long](4)
        Native.setHints(0, 0, 0, 0, hints)
        Native.setHints(hints(0).toInt, hints(1).toInt, hints(2).toInt, hints(3).toInt, null)
        if (!(hints(3) == 1 && hints(2) == 2)) Thread.sleep(20)
      }
      assertEquals(tuner.choice("k"), Choice(1, 2, 1))
    }
  }

  test("AC-56: the candidates of each mode") {
    def numbers(mode: Tuner.Mode, n: Int) = Tuner.candidates(mode, n, 1, 1).map(_.x)
    assertEquals(numbers(Tuner.Exhaustive, 5), Seq(1, 2, 3, 4, 5))
    assertEquals(numbers(Tuner.Exhaustive, 1000).last, 64)
    assertEquals(numbers(Tuner.Normal, 12), Seq(1, 2, 3, 4, 6, 8, 12))
    assertEquals(numbers(Tuner.Rapid, 12), Seq(1, 2, 8))
    assertEquals(numbers(Tuner.Rapid, 4), Seq(1, 2))
    assertEquals(numbers(Tuner.Off, 4), Nil)
    assertEquals(Tuner.candidates(Tuner.Rapid, 8, 9, 9).size, 12)
    assertEquals(Tuner.candidates(Tuner.Exhaustive, 100, 100, 100).size, 64 * 32 * 32)
  }

  test("AC-57: a table is saved whole and read again; other files are refused and change nothing") {
    val tuner = new Tuner
    tuner.put("first layer", Choice(2, 4, 1))
    tuner.put("second", Choice.Default)
    val path = file()
    tuner.save(path)
    val again = new Tuner
    again.load(path)
    assertEquals(again.entries, tuner.entries)
    val text = Files.readAllLines(path)
    assertEquals(text.get(1), "first layer;2;4;1")
    def refused(what: String)(lines: String*): Unit = {
      val fresh = new Tuner
      fresh.put("mine", Choice(1, 1, 1))
      val message = intercept[FormatException](fresh.load(file(lines: _*))).getMessage
      assert(message.contains(what), message)
      assertEquals(fresh.entries.map(_._1), Seq("mine"))
    }
    refused("cut off")(text.get(0), text.get(1))
    refused("cut off")(text.get(0), text.get(1), text.get(3))
    refused("it was written on a toaster")("# wick tuning 1; a toaster", "# end 0")
    refused("line 2")("a;1;1;1", "b;1;1")
    refused("three numbers")("a;1;x;1")
    refused("three numbers")("a;1;-1;1")
    refused("a name")(";1;1;1")
    intercept[java.io.IOException](again.load(path.resolveSibling("nothing here")))
    // The Arm Compute Library's lines; the first of a name counts.
    val plain = new Tuner
    plain.load(file("gemm_mm_f32_0_1;4;2;1", "gemm_mm_f32_0_1;8;8;8", "k;0;0;0"))
    assertEquals(plain.entries, Seq("gemm_mm_f32_0_1" -> Choice(4, 2, 1), "k" -> Choice.Default))
  }

  test("AC-58: off, loaded entries count and nothing is measured") {
    clean { implicit scope =>
      val (tuner, calls) = (new Tuner(Tuner.Off), new AtomicInteger)
      tuner.load(file("k;1;2;1"))
      val x = STen.ones(Seq(4), STen.dOptions)
      def threads(kernel: String): Long = tuner(kernel, x) { (_, _) =>
        calls.incrementAndGet()
        val hints = new Array[Long](4)
        Native.setHints(0, 0, 0, 0, hints)
        Native.setHints(hints(0).toInt, hints(1).toInt, hints(2).toInt, hints(3).toInt, null)
        hints(3)
      }
      assertEquals((threads("k"), threads("unknown"), calls.get), (1L, 0L, 2))
      assertEquals(tuner.entries.map(_._1), Seq("k"))
    }
  }
}
