package wick.bench

/** Nanoseconds an operation, and bytes of Java heap where they were counted. */
final case class Times(median: Double, min: Double, max: Double, heap: Option[Double]) {

  /** Whether iterations differ by more than half. */
  def unsteady: Boolean = max > 1.5 * min

  /** As a worker writes it. */
  def line: String = "= " + (Seq(median, min, max) ++ heap).mkString(" ")
}

object Times {

  /** From a worker's answer; or its reason why there are none. */
  def parse(line: String): Either[String, Times] = line.split(' ').toList match {
    case "=" :: median :: min :: max :: heap =>
      Right(Times(median.toDouble, min.toDouble, max.toDouble, heap.headOption.map(_.toDouble)))
    case _ => Left(line.stripPrefix("! "))
  }
}
