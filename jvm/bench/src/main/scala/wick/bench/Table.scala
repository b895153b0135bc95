package wick.bench

import java.util.Locale

/** Nanoseconds an operation. */
final case class Times(median: Double, min: Double, max: Double) {

  /** Whether iterations differ by more than half. */
  def unsteady: Boolean = max > 1.5 * min
}

/** The table that is printed. */
object Table {
  private var marked = false

  /** Whether a mark was printed. */
  def unsteady: Boolean = marked

  val header: String =
    f"${"op"}%-15s${"size"}%-11s${"threads"}%8s${"wick ns"}%15s${"loop ns"}%15s${"DJL ns"}%15s${"DJL/wick"}%10s"

  val legend: String = "~ the slowest and the fastest iteration differ by more than half"

  def mean(of: String, ratios: Seq[Double]): String =
    if (ratios.isEmpty) "no row has both times"
    else {
      val mean = math.exp(ratios.map(math.log).sum / ratios.length)
      f"${s"geometric mean of ${ratios.length} ratios $of"}%-79s${format(mean)}%10s"
    }

  private def format(value: Double): String = {
    val digits = if (value < 100) 1 else 0
    String.format(Locale.ROOT, s"%,.${if (value < 10) 2 else digits}f", Double.box(value))
  }

  final case class Line(
      row: Row,
      threads: Int,
      wick: Either[String, Times],
      loop: Option[Either[String, Times]],
      djl: Either[String, Times]
  ) {

    /** How many times faster wick is. */
    def ratio: Option[Double] = for (w <- wick.toOption; d <- djl.toOption) yield d.median / w.median

    private def cell(times: Either[String, Times]): String = times match {
      case Left(_)  => "failed "
      case Right(t) =>
        marked |= t.unsteady
        format(t.median) + (if (t.unsteady) "~" else " ")
    }

    def text: String = {
      val cells = Seq(cell(wick), loop.fold("")(cell), cell(djl))
      val numbers = cells.map(c => f"$c%15s").mkString
      f"${row.op}%-15s${row.size}%-11s$threads%8d$numbers${ratio.fold("")(format)}%10s"
    }
  }
}
