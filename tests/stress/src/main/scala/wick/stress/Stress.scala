package wick.stress

import java.util.concurrent.atomic.AtomicReferenceArray

import wick._

/** What a run does.
  *
  * @param cap
  *   bytes that tensors may hold together while it runs
  */
final case class Settings(seconds: Double, threads: Int, seed: Long, cap: Long = 64L << 20)

/** How a run ended. */
final case class Report(
    calls: Long,
    passed: Long,
    failed: Long,
    refusals: Map[String, Long],
    failures: Seq[String],
    liveBytes: Long,
    liveTensors: Long
)

/** Scopes, tensors and pipelines that all threads use, close and replace. */
final class World {
  val scopes = new AtomicReferenceArray[Scope](Array.fill(8)(Scope.free))
  val items = new AtomicReferenceArray[Item](64)
  val pipelines = new AtomicReferenceArray[Pipeline](4)

  def close(): Unit = {
    for (i <- 0 until scopes.length) scopes.get(i).release()
    for (i <- 0 until pipelines.length) Option(pipelines.get(i)).foreach(_.close())
    // Copies that are under way hold what they copy.
    for (i <- 0 to 1) Context.default.sync(Device.Sim(i))
  }
}

/** Random calls from many threads. */
object Stress {

  /** Runs until the time is over; afterwards nothing is live that was not before. */
  def run(settings: Settings): Report = {
    val (capBefore, threadsBefore) = (Wick.memoryCap, Wick.threads)
    val before = Wick.memory
    val tally = new Tally
    val world = new World
    Wick.memoryCap = before.liveBytes + settings.cap
    Wick.threads = 4
    try {
      val end = System.nanoTime + (settings.seconds * 1e9).toLong
      val threads = List.tabulate(settings.threads) { id =>
        val player = new Player(world, tally, new scala.util.Random(settings.seed + 1000003L * id), settings.cap)
        val thread = new Thread(() => player.play(end), s"stress-$id")
        thread.setDaemon(true)
        thread.start()
        thread
      }
      threads.foreach { t =>
        t.join((settings.seconds * 1000).toLong + 60000)
        if (t.isAlive) tally.failure(s"${t.getName} hangs:\n${t.getStackTrace.mkString("\n")}")
      }
      world.close()
    } finally {
      Wick.memoryCap = capBefore
      Wick.threads = threadsBefore
    }
    val after = Wick.memory
    val (bytes, tensors) = (after.liveBytes - before.liveBytes, after.liveTensors - before.liveTensors)
    if (bytes != 0 || tensors != 0) tally.failure(s"$bytes bytes in $tensors tensors are left")
    Report(
      tally.calls.sum,
      tally.passed.sum,
      tally.failed.sum,
      tally.refusals,
      tally.failures,
      bytes,
      tensors
    )
  }
}
