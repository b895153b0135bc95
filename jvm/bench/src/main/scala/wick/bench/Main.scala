package wick.bench

import java.io.File
import java.nio.file.Files

import scala.jdk.CollectionConverters._
import scala.util.{Failure, Success, Try}

import org.openjdk.jmh.runner.Runner
import org.openjdk.jmh.runner.options.{OptionsBuilder, TimeValue}

/** `./sbt bench`: measures every row, or those whose "op size" matches a pattern, and prints each as
  * soon as it is known. The peers of a row are measured one after the other, so that what else the
  * machine does in the meantime strikes them alike.
  */
object Main {

  private val Warmups = 3
  private val Iterations = 5
  private val IterationTime = TimeValue.milliseconds(200)
  private val log = new File("target/bench/jmh.log")

  def main(args: Array[String]): Unit = {
    val pattern = args.mkString(" ").r
    val rows = Row.all.filter(row => pattern.findFirstIn(row.name).nonEmpty)
    if (rows.isEmpty) {
      System.err.println(s"no row matches $pattern; the rows are: ${Row.all.map(_.name).mkString(", ")}")
      sys.exit(2)
    }
    Files.createDirectories(log.toPath.getParent)
    println(Table.header)
    val ratios = for {
      row <- rows
      threads <- row.threads
      (wick, djl) = (measure("wick", row, threads), measure("djl", row, threads))
      loop = if (threads == 1) Some(measure("loop", row, threads)) else None
      line = Table.Line(row, threads, wick, loop, djl)
      _ = println(line.text)
      ratio <- line.ratio
    } yield threads -> ratio
    for (threads <- ratios.map(_._1).distinct.sorted)
      println(Table.mean(s"on $threads thread(s)", ratios.collect { case (`threads`, ratio) => ratio }))
    println(Table.mean("in all", ratios.map(_._2)))
    if (Table.unsteady) println(Table.legend)
  }

  /** Nanoseconds of each iteration, or why there are none. */
  private def measure(peer: String, row: Row, threads: Int): Either[String, Times] = {
    val options = new OptionsBuilder()
      .include(s"^${classOf[Measured].getName}\\.run$$")
      .param("work", s"$peer ${row.op} ${row.n} $threads")
      .forks(1)
      .warmupIterations(Warmups)
      .warmupTime(IterationTime)
      .measurementIterations(Iterations)
      .measurementTime(IterationTime)
      .jvmArgsAppend(
        "-Dslf4j.internal.verbosity=ERROR", // DJL logs through a facade without a logger
        // As in a process that has run for a while: no iteration pays for the heap's first touch.
        "-Xms2g",
        "-Xmx2g",
        "-XX:+AlwaysPreTouch"
      )
      .shouldFailOnError(true)
      .output(log.getPath)
      .build()
    Try(new Runner(options).runSingle()) match {
      case Success(result) =>
        val statistics = result.getPrimaryResult.getStatistics
        Right(Times(statistics.getPercentile(50), statistics.getMin, statistics.getMax))
      case Failure(e) =>
        val causes = Files.readAllLines(log.toPath).asScala.filter(_.contains("Exception"))
        val cause = causes.headOption.getOrElse(e.toString).trim
        System.err.println(s"${row.name} by $peer: $cause")
        Left(cause)
    }
  }
}
