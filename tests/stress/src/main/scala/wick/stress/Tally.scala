package wick.stress

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.LongAdder

import scala.jdk.CollectionConverters._

import wick._

/** Counts of a run, by all threads, and the first failures in words. */
final class Tally {
  val calls = new LongAdder
  val passed = new LongAdder
  val failed = new LongAdder
  private val documented = new ConcurrentHashMap[String, LongAdder]
  private val words = new java.util.concurrent.ConcurrentLinkedQueue[String]

  def refusal(e: Throwable): Unit =
    documented.computeIfAbsent(e.getClass.getSimpleName, _ => new LongAdder).increment()

  def failure(what: String, cause: Option[Throwable] = None): Unit = {
    failed.increment()
    if (failed.sum <= 20) {
      val trace = cause.map { e =>
        val out = new java.io.StringWriter
        e.printStackTrace(new java.io.PrintWriter(out))
        "\n" + out.toString.linesIterator.take(25).mkString("\n")
      }
      words.add(what + trace.getOrElse(""))
    }
    ()
  }

  def failures: Seq[String] = words.asScala.toSeq
  def refusals: Map[String, Long] = documented.asScala.map { case (k, v) => k -> v.sum }.toMap
}

/** A result that is not what it should be. */
final class Wrong(message: String) extends RuntimeException(message)

/** A tensor and what it should hold. Shared ones may be closed by any thread at any time. */
final case class Item(tensor: STen, model: Model, shared: Boolean)
