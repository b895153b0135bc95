package wick.bench

import java.util.Locale

/** The table that is printed. */
object Table {

  private val Name = 34

  val header: String =
    f"${"op, size"}%-34s${"threads"}%8s${"wick ns"}%15s${"moves"}%10s${"limit"}%7s${"peer ns"}%15s${"peer"}%6s${"ratio"}%8s${"loop ns"}%15s${"heap B"}%8s"

  val legend: String = "~ the slowest and the fastest iteration differ by more than half"

  def format(value: Double): String = {
    val digits = if (value < 10) 2 else if (value < 100) 1 else 0
    String.format(Locale.ROOT, s"%,.${digits}f", Double.box(value))
  }

  /** A row on so many threads; a peer that does not know the operation has no times. */
  final case class Line(
      row: Row,
      threads: Int,
      wick: Either[String, Times],
      peer: String,
      other: Option[Either[String, Times]],
      loop: Option[Either[String, Times]],
      least: Option[Double]
  ) {

    def name: String = if (threads == 1) row.name else s"${row.name} on $threads"

    /** How many times faster wick is. */
    def ratio: Option[Double] =
      for (w <- wick.toOption; o <- other.flatMap(_.toOption)) yield o.median / w.median

    /** The part of the machine's limit that is reached. */
    def reached: Option[Double] = for (w <- wick.toOption; l <- least) yield l / w.median

    def unsteady: Boolean = (Seq(wick) ++ other ++ loop).exists(_.exists(_.unsteady))

    private def cell(times: Option[Either[String, Times]]): String = times match {
      case None           => "- "
      case Some(Left(_))  => "failed "
      case Some(Right(t)) => format(t.median) + (if (t.unsteady) "~" else " ")
    }

    private def moves: String = {
      val bytes = row.cost.read + row.cost.written
      if (row.cost.flops > bytes) scaled(row.cost.flops) + "F" else if (bytes > 0) scaled(bytes) + "B" else "-"
    }

    private def scaled(value: Double): String = {
      val (factor, unit) = if (value >= 1e9) (1e9, "G") else if (value >= 1e6) (1e6, "M") else (1e3, "k")
      s"${format(value / factor)} $unit"
    }

    def text: String = {
      val part = reached.fold("-")(p => f"${100 * p}%.0f%%")
      val heap = wick.toOption.flatMap(_.heap).fold("-")(b => f"$b%.0f")
      f"${row.name.padTo(Name, ' ')}$threads%8d${cell(Some(wick))}%15s$moves%10s$part%7s" +
        f"${cell(other)}%15s$peer%6s${ratio.fold("-")(format)}%8s${cell(loop)}%15s$heap%8s"
    }
  }

  /** The last lines. */
  def summary(lines: Seq[Line]): Seq[String] = {
    val ratios = for (line <- lines; ratio <- line.ratio) yield line -> ratio
    def named(rows: Seq[(Line, Double)]) = rows.map { case (line, ratio) =>
      s"  ${line.name.padTo(Name + 6, ' ')}${format(ratio)}${line.reached.fold("")(p => f", ${100 * p}%.0f%% of the limit")}"
    }
    val slower = ratios.filter(_._2 < 1)
    val short = ratios.filter { case (line, ratio) => ratio >= 1 && ratio < 3 && !line.reached.exists(_ >= 0.75) }
    val means = lines.map(_.threads).distinct.sorted.map { threads =>
      mean(s"on $threads thread(s)", ratios.collect { case (line, ratio) if line.threads == threads => ratio })
    }
    (if (lines.exists(_.unsteady)) Seq(legend) else Nil) ++
      (s"${short.length} rows from 1.0 to 3.0 that do not come within 25 % of the limit:" +: named(short)) ++
      (s"${slower.length} rows under 1.0:" +: named(slower)) ++
      (means :+ mean("in all", ratios.map(_._2)))
  }

  private def mean(of: String, ratios: Seq[Double]): String =
    if (ratios.isEmpty) s"no row $of has both times"
    else s"geometric mean of ${ratios.length} ratios $of: ${format(math.exp(ratios.map(math.log).sum / ratios.length))}"
}
