package wick.stress

import java.lang.management.ManagementFactory

import scala.jdk.CollectionConverters._

/** `--seconds 60 --threads 16 --seed N --cap BYTES`: plays in a JVM of its own, so that a crash is
  * counted instead of ending the report, and exits with 1 where anything failed.
  */
object Main {
  private val usage = "usage: [--seconds N] [--threads N] [--seed N] [--cap BYTES]"

  def main(args: Array[String]): Unit = {
    val options = args.sliding(2, 2).map {
      case Array(k, v) if Set("--seconds", "--threads", "--seed", "--cap")(k) && v.toDoubleOption.isDefined => k -> v
      case other                                                                                            =>
        Console.err.println(s"${other.mkString(" ")}: $usage")
        sys.exit(2)
    }.toMap
    val settings = Settings(
      seconds = options.get("--seconds").fold(60.0)(_.toDouble),
      threads = options.get("--threads").fold(16)(_.toInt),
      seed = options.get("--seed").fold(System.nanoTime % 1000000007L)(_.toLong),
      cap = options.get("--cap").fold(64L << 20)(_.toLong)
    )
    if (System.getProperty("wick.stress.child") != null) play(settings)
    else {
      println(
        s"stress: ${settings.threads} threads, ${settings.seconds} s, seed ${settings.seed}, cap ${settings.cap} bytes"
      )
      val code = child(settings)
      val crashed = code != 0 && code != 1
      if (crashed) println(s"the JVM ended with code $code")
      println(s"crashes: ${if (crashed) 1 else 0}")
      if (crashed) println("0 passed, 1 failed")
      else java.nio.file.Files.readAllLines(summary).asScala.foreach(println)
      java.nio.file.Files.deleteIfExists(summary)
      sys.exit(if (code == 0) 0 else 1)
    }
  }

  private lazy val summary = java.nio.file.Paths.get(
    Option(System.getProperty("wick.stress.child")).getOrElse(
      java.nio.file.Files.createTempFile("wick-stress", ".txt").toString
    )
  )

  private def child(s: Settings): Int = {
    val java = java_home("bin", "java")
    val flags = ManagementFactory.getRuntimeMXBean.getInputArguments.asScala.toSeq.filterNot(_.startsWith("-agentlib"))
    val command = (java +: flags) ++ Seq(
      s"-Dwick.stress.child=$summary",
      "-cp",
      System.getProperty("java.class.path"),
      "wick.stress.Main",
      "--seconds",
      s.seconds.toString,
      "--threads",
      s.threads.toString,
      "--seed",
      s.seed.toString,
      "--cap",
      s.cap.toString
    )
    new ProcessBuilder(command: _*).inheritIO().start().waitFor()
  }

  private def java_home(parts: String*): String =
    java.nio.file.Paths.get(System.getProperty("java.home"), parts: _*).toString

  private def play(settings: Settings): Unit = {
    val report = Stress.run(settings)
    report.failures.foreach(f => println(s"FAILED $f"))
    val lines = Seq(
      s"calls: ${report.calls}",
      s"documented refusals: ${report.refusals.toSeq.sorted.map { case (k, n) => s"$k $n" }.mkString(", ")}",
      s"live bytes: ${report.liveBytes}",
      s"live tensors: ${report.liveTensors}",
      s"${report.passed} passed, ${report.failed} failed"
    )
    java.nio.file.Files.write(summary, lines.asJava)
    sys.exit(if (report.failed == 0) 0 else 1)
  }
}
