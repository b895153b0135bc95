package wick

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, StandardCopyOption}
import java.util.concurrent.ConcurrentHashMap

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

/** Finds out by measuring how work is best cut into parts, and remembers it.
  *
  * {{{
  * val tuner = new Tuner(Tuner.Normal, budget = 2.seconds)
  * val y = tuner("first layer", x, w) { (scope, in) => in(0).mm(in(1))(scope) }   // measured, then run
  * tuner.save(path)                                                           // and next time loaded
  * }}}
  *
  * The first time that a kernel's name is met its work runs with each candidate on copies of the inputs,
  * so that nothing of the caller's is written by measuring, even where an output is an input; then once on
  * the inputs themselves. What was fastest, by the median of several runs and strictly faster than no hint,
  * is what later calls run with. Results never depend on it. An empty name is never tuned.
  *
  * @param mode
  *   which candidates are tried
  * @param budget
  *   no candidate is begun after so much time; the best one so far counts
  * @param runs
  *   timings a candidate, of which the median counts
  */
final class Tuner(
    val mode: Tuner.Mode = Tuner.Rapid,
    val budget: FiniteDuration = 1.second,
    val runs: Int = 3
) {
  import Tuner._

  private[this] val table = new ConcurrentHashMap[String, Choice]
  private[this] val locks = new ConcurrentHashMap[String, AnyRef]

  /** Runs `work` on `inputs` as its kernel runs best. */
  def apply[A](kernel: String, inputs: STen*)(work: (Scope, Seq[STen]) => A)(implicit scope: Scope): A = {
    if (mode != Off && kernel.nonEmpty && !table.containsKey(checked(kernel)))
      locks.computeIfAbsent(kernel, _ => new Object).synchronized {
        if (!table.containsKey(kernel)) table.put(kernel, measured(inputs, work))
      }
    choice(kernel).hints(work(scope, inputs))
  }

  /** What a kernel runs with: the table's entry, else no hint. */
  def choice(kernel: String): Choice = table.getOrDefault(kernel, Choice.Default)

  /** Sets a kernel's entry by hand. */
  def put(kernel: String, choice: Choice): Unit = {
    table.put(checked(kernel), choice)
    ()
  }

  /** All entries, by name. */
  def entries: Seq[(String, Choice)] = table.asScala.toSeq.sortBy(_._1)

  private def measured[A](inputs: Seq[STen], work: (Scope, Seq[STen]) => A): Choice = {
    val end = System.nanoTime + budget.toNanos
    def time(choice: Choice): Long = {
      val times = Array.fill(math.max(runs, 1))(once(choice, inputs, work))
      java.util.Arrays.sort(times)
      times(times.length / 2)
    }
    once(Choice.Default, inputs, work) // what is only done at first use is nobody's time
    val start = (Choice.Default, time(Choice.Default))
    candidates(mode, Wick.threads, Granules, 1)
      .takeWhile(_ => System.nanoTime < end)
      .foldLeft(start) { (best, choice) =>
        val nanos = time(choice)
        if (nanos < best._2) (choice, nanos) else best
      }
      ._1
  }

  private def once[A](choice: Choice, inputs: Seq[STen], work: (Scope, Seq[STen]) => A): Long =
    Scope.unsafe { scope =>
      val copies = inputs.map(_.cloneTensor(scope))
      val begin = System.nanoTime
      choice.hints(work(scope, copies))
      System.nanoTime - begin
    }

  /** Writes the table, a line each of name and three numbers under a header that names the machine; a
    * file that is there is replaced as a whole, or not at all.
    */
  def save(path: Path): Unit = {
    val lines = entries.map { case (kernel, Choice(x, y, z)) => s"$kernel;$x;$y;$z" }
    val text = (s"$Header$machine" +: lines :+ s"$End${lines.length}").mkString("", "\n", "\n")
    val whole = path.toAbsolutePath
    val part = Files.createTempFile(whole.getParent, ".tuning", ".part")
    try {
      Files.write(part, text.getBytes(UTF_8))
      Files.move(part, whole, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING)
    } finally Files.deleteIfExists(part): Unit
  }

  /** Reads entries in addition to those that are there, which stay. A file that was written on another
    * machine, is cut off or malformed is a [[FormatException]] and changes nothing. Plain lines of name
    * and three numbers, as the Arm Compute Library writes them, are read too; of two entries of a name the
    * first counts.
    */
  def load(path: Path): Unit = {
    val lines = Files.readAllLines(path, UTF_8).asScala.toList
    def fail(line: Int, why: String) = throw new FormatException(s"tuning file $path, line ${line + 1}: $why")
    val body = lines match {
      case first :: rest if first.startsWith(Header) =>
        val from = first.drop(Header.length)
        if (from != machine) fail(0, s"it was written on $from, this is $machine")
        if (rest.lastOption != Some(s"$End${rest.length - 1}")) fail(lines.length - 1, "it is cut off")
        rest.init.zipWithIndex.map { case (line, i) => (line, i + 1) }
      case plain => plain.zipWithIndex
    }
    val read = body.map { case (line, i) =>
      line.split(";", -1) match {
        case Array(kernel, x, y, z) if kernel.nonEmpty =>
          val numbers = Seq(x, y, z).map(_.trim.toIntOption.filter(_ >= 0))
          numbers match {
            case Seq(Some(x), Some(y), Some(z)) => (kernel, Choice(x, y, z))
            case _                              => fail(i, s"three numbers were expected: $line")
          }
        case _ => fail(i, s"a name and three numbers were expected: $line")
      }
    }
    read.foreach { case (kernel, choice) => table.putIfAbsent(kernel, choice) }
  }
}

object Tuner {

  private final val Header = "# wick tuning 1; "
  private final val End = "# end "
  private final val Granules = 32

  /** The machine, as far as timings depend on it. */
  private[wick] def machine: String =
    s"${System.getProperty("os.arch")} ${Wick.cpuLevel} ${Runtime.getRuntime.availableProcessors} processors"

  private def checked(kernel: String): String = {
    if (kernel.exists(c => c == ';' || c == '\n' || c == '\r') || kernel.startsWith("#"))
      throw new IllegalArgumentException(s"tuner: a kernel's name is a line without ';' or '#': $kernel")
    kernel
  }

  /** How work is cut: `x` threads, `y` parts a thread, and along dimension `z - 1` where a window is run by
    * hand; 0 leaves each to the runtime.
    */
  final case class Choice(x: Int, y: Int, z: Int) {
    private[wick] def hints: SchedulerHints =
      if (this == Choice.Default) Choice.none
      else {
        val strategy = if (y <= 1) SchedulerHints.Static else SchedulerHints.Dynamic(math.max(x, 1) * y)
        SchedulerHints(z - 1, strategy, x)
      }
  }

  object Choice {

    /** The runtime decides. */
    val Default: Choice = Choice(0, 0, 0)
    private val none = SchedulerHints()
  }

  /** Which candidates are tried. */
  sealed abstract class Mode extends Product with Serializable

  /** Every number, up to 64, 32 and 32. */
  case object Exhaustive extends Mode

  /** 1, powers of two, and what divides the whole. */
  case object Normal extends Mode

  /** 1, 2 and 8 threads; 1 and 2 of the rest. */
  case object Rapid extends Mode

  /** None: the table's entries count, and nothing is measured. */
  case object Off extends Mode

  /** The candidates of a mode for so many threads, parts a thread and dimensions, in a fixed order; what
    * exceeds these is left out.
    */
  def candidates(mode: Mode, threads: Int, parts: Int, dims: Int): Seq[Choice] = {
    def numbers(whole: Int, most: Int, rapid: Seq[Int]): Seq[Int] = {
      val upto = 1 to math.min(whole, most)
      mode match {
        case Exhaustive => upto
        case Normal     => upto.filter(n => (n & (n - 1)) == 0 || whole % n == 0)
        case Rapid      => rapid.filter(_ <= whole)
        case Off        => Nil
      }
    }
    for {
      z <- numbers(dims, 32, Seq(1, 2))
      y <- numbers(parts, 32, Seq(1, 2))
      x <- numbers(threads, 64, Seq(1, 2, 8))
    } yield Choice(x, y, z)
  }
}
