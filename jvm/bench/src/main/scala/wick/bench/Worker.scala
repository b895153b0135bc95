package wick.bench

import java.io.File
import java.lang.management.ManagementFactory

import scala.io.StdIn
import scala.jdk.CollectionConverters._
import scala.util.{Failure, Success, Try}

import org.openjdk.jmh.profile.GCProfiler
import org.openjdk.jmh.runner.Runner
import org.openjdk.jmh.runner.options.{OptionsBuilder, TimeValue}

/** The JVM in which one peer is measured: a request a line, an answer a line. JMH would start a JVM for
  * each row, which takes longer than to measure it; it runs in this one instead.
  */
object Worker {

  def main(args: Array[String]): Unit = {
    val (peer, log) = (args(0), args(1))
    val answers = System.out
    System.setOut(System.err) // for all others that print
    Iterator.continually(StdIn.readLine()).takeWhile(_ != null).foreach { request =>
      val words = request.split(' ')
      val answer = Try(measure(peer, words(0), words(1), Plan(words(2)), log)) match {
        case Success(times) => times.line
        case Failure(e)     => s"! ${cause(e)}"
      }
      answers.println(answer)
      answers.flush()
    }
  }

  /** How long a row is measured. */
  private final case class Plan(warmups: Int, iterations: Int, millis: Long, heap: Boolean)

  private object Plan {
    def apply(name: String): Plan = (name: @unchecked) match {
      case "short" => Plan(6, 7, 150, heap = true)
      case "usual" => Plan(2, 7, 60, heap = false)
    }
  }

  private def measure(peer: String, row: String, threads: String, plan: Plan, log: String): Times = {
    val time = TimeValue.milliseconds(plan.millis)
    val options = new OptionsBuilder()
      .include(s"^${classOf[Measured].getName}\\.run$$")
      .param("peer", peer)
      .param("row", row)
      .param("threads", threads)
      .forks(0)
      .warmupIterations(plan.warmups)
      .warmupTime(time)
      .measurementIterations(plan.iterations)
      .measurementTime(time)
      .shouldFailOnError(true)
      .output(log)
    val result = new Runner((if (plan.heap) options.addProfiler(classOf[GCProfiler]) else options).build()).runSingle()
    val times = result.getPrimaryResult.getStatistics
    val heap = result.getSecondaryResults.asScala.collectFirst {
      case (name, r) if name.endsWith("gc.alloc.rate.norm") => r.getScore
    }
    Times(times.getPercentile(50), times.getMin, times.getMax, heap)
  }

  private def cause(e: Throwable): String = {
    val first = Iterator.iterate(e)(_.getCause).takeWhile(_ != null).toSeq.last
    val suppressed = first.getSuppressed.headOption.flatMap(s => Option(s.getCause).orElse(Some(s)))
    suppressed.getOrElse(first).toString.linesIterator.next()
  }

  /** The arguments of a JVM for `peer`: those of this one, but with a heap that is touched beforehand, as
    * in a process that has run for a while, so that no iteration pays for that.
    */
  def command(peer: String, log: File): Seq[String] = {
    val inherited = ManagementFactory.getRuntimeMXBean.getInputArguments.asScala
      .filterNot(a => a.startsWith("-Xm") || a.startsWith("-agentlib"))
    val program = new File(sys.props("java.home"), "bin/java").getPath
    Seq(program) ++ inherited ++ Seq(
      "-Dslf4j.internal.verbosity=ERROR", // DJL logs through a facade without a logger
      "-Xms2g",
      "-Xmx2g",
      "-XX:+AlwaysPreTouch",
      "-cp",
      sys.props("java.class.path"),
      "wick.bench.Worker",
      peer,
      log.getPath
    )
  }
}
