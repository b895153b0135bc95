package wick.bench

import java.util.Arrays
import java.util.concurrent.{CountDownLatch, CyclicBarrier}

/** What the machine can do, by plain loops that the JVM vectorises: bytes a nanosecond that are read, and
  * that are copied, by the size of the data, and arithmetic operations a nanosecond.
  */
final case class Machine(reads: Seq[(Double, Double)], copies: Seq[(Double, Double)], single: Double, double: Double) {

  private def at(curve: Seq[(Double, Double)], bytes: Double): Double =
    curve.minBy { case (size, _) => math.abs(math.log(size / bytes)) }._2

  /** The least nanoseconds for `cost`. A copy reads half of its bytes; the rest of its time is writing. */
  def least(cost: Cost): Option[Double] = {
    val bytes = cost.read + cost.written
    val moved = if (bytes == 0) 0.0
    else {
      val (read, copy) = (at(reads, bytes), at(copies, bytes))
      val write = 1 / math.max(2 / copy - 1 / read, 0.5 / copy)
      cost.read / read + cost.written / write
    }
    val computed = cost.flops / (if (cost.double) double else single)
    Some(math.max(moved, computed)).filter(_ > 0)
  }

  def lines(threads: Int): Seq[String] = {
    def curve(c: Seq[(Double, Double)]) = c.map { case (bytes, speed) => f"${bytes / 1048576}%.4g MiB $speed%.1f" }.mkString(", ")
    Seq(
      s"limits of the machine on $threads thread(s):",
      s"  GB/s read    ${curve(reads)}",
      s"  GB/s copied  ${curve(copies)} (bytes read and written)",
      f"  GF/s         f32 $single%.0f, f64 $double%.0f"
    )
  }
}

object Machine {
  private val Kib = 1024

  /** Bytes of the data, in both caches and memory. */
  private val sizes = Seq(256 * Kib, 1024 * Kib, 4096 * Kib, 16 * 1024 * Kib, 64 * 1024 * Kib, 256 * 1024 * Kib)

  def measure(threads: Int): Machine = {
    val reads = sizes.map(bytes => bytes.toDouble -> speed(threads, bytes.toDouble)(read(bytes / threads)))
    val copies = sizes.map(bytes => bytes.toDouble -> speed(threads, bytes.toDouble)(copy(bytes / threads)))
    val count = 4096
    val flops = 2.0 * Chain * count * threads
    Machine(reads, copies, speed(threads, flops)(singles(count)), speed(threads, flops)(doubles(count)))
  }

  /** The best of several rounds, each of a few milliseconds, on all threads at once. */
  private def speed(threads: Int, work: Double)(make: => () => Any): Double = {
    val bodies = Seq.fill(threads)(make)
    val repeats = math.max(1, (8e6 / (work / (40 * threads))).toInt)
    val rounds = 12
    val barrier = new CyclicBarrier(threads)
    val done = new CountDownLatch(threads)
    val best = Array.fill(rounds)(0.0)
    bodies.zipWithIndex.foreach { case (body, i) =>
      val thread = new Thread(() => {
        for (round <- 0 until rounds) {
          barrier.await()
          val start = System.nanoTime()
          var j = 0
          while (j < repeats) { sink = body(); j += 1 }
          barrier.await()
          if (i == 0) best(round) = work * repeats / (System.nanoTime() - start)
        }
        done.countDown()
      })
      thread.setDaemon(true)
      thread.start()
    }
    done.await()
    best.max
  }

  /** Keeps the loops from being taken out. */
  @volatile var sink: Any = _

  /** Comparing equal arrays reads both to their ends. */
  private def read(bytes: Int): () => Any = {
    val (a, b) = (new Array[Long](bytes / 16), new Array[Long](bytes / 16))
    () => Arrays.equals(a, b)
  }

  private def copy(bytes: Int): () => Any = {
    val (a, b) = (new Array[Long](bytes / 16), new Array[Long](bytes / 16))
    () => { System.arraycopy(a, 0, b, 0, a.length); b }
  }

  /** Multiply-adds on each element of the loops below, enough to hide its load and store. */
  private val Chain = 16

  private def singles(n: Int): () => Any = {
    val a = Array.fill(n)(0.5f)
    () => {
      var i = 0
      while (i < a.length) {
        var x = a(i)
        x = Math.fma(x, 0.5f, 0.25f); x = Math.fma(x, 0.5f, 0.25f); x = Math.fma(x, 0.5f, 0.25f)
        x = Math.fma(x, 0.5f, 0.25f); x = Math.fma(x, 0.5f, 0.25f); x = Math.fma(x, 0.5f, 0.25f)
        x = Math.fma(x, 0.5f, 0.25f); x = Math.fma(x, 0.5f, 0.25f); x = Math.fma(x, 0.5f, 0.25f)
        x = Math.fma(x, 0.5f, 0.25f); x = Math.fma(x, 0.5f, 0.25f); x = Math.fma(x, 0.5f, 0.25f)
        x = Math.fma(x, 0.5f, 0.25f); x = Math.fma(x, 0.5f, 0.25f); x = Math.fma(x, 0.5f, 0.25f)
        x = Math.fma(x, 0.5f, 0.25f)
        a(i) = x
        i += 1
      }
      a
    }
  }

  private def doubles(n: Int): () => Any = {
    val a = Array.fill(n)(0.5)
    () => {
      var i = 0
      while (i < a.length) {
        var x = a(i)
        x = Math.fma(x, 0.5, 0.25); x = Math.fma(x, 0.5, 0.25); x = Math.fma(x, 0.5, 0.25)
        x = Math.fma(x, 0.5, 0.25); x = Math.fma(x, 0.5, 0.25); x = Math.fma(x, 0.5, 0.25)
        x = Math.fma(x, 0.5, 0.25); x = Math.fma(x, 0.5, 0.25); x = Math.fma(x, 0.5, 0.25)
        x = Math.fma(x, 0.5, 0.25); x = Math.fma(x, 0.5, 0.25); x = Math.fma(x, 0.5, 0.25)
        x = Math.fma(x, 0.5, 0.25); x = Math.fma(x, 0.5, 0.25); x = Math.fma(x, 0.5, 0.25)
        x = Math.fma(x, 0.5, 0.25)
        a(i) = x
        i += 1
      }
      a
    }
  }
}
