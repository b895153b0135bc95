package wick.bench

/** How the time of an operation grows with its operands, from 10 elements to 100 million. */
object Growth extends Family {

  /** A step of ten in size may cost this much, apart from leaving a cache. */
  private val Bound = 13

  private val sizes = Seq.iterate(10L, 8)(_ * 10)

  private val operations: Seq[(String, Long => Row)] = Seq(
    "add" -> (n => row("growth add", short(n), 4.0 * n)(floats(n), floats(n)).wick { case Seq(a, b) => implicit s => a.add(b) }),
    "exp" -> (n => row("growth exp", short(n), 4.0 * n)(floats(n)).wick { case Seq(a) => implicit s => a.exp }),
    "sum" -> (n => row("growth sum", short(n), 4)(floats(n)).wick { case Seq(a) => implicit s => a.sum }),
    "sort" -> (n => row("growth sort", short(n), 12.0 * n)(floats(n)).wick { case Seq(a) => implicit s => a.sort(0, false) })
  )

  private val grown = operations.map { case (op, row) => op -> sizes.map(row) }

  val rows: Seq[Row] = grown.flatMap(_._2)

  def print(peers: Peers): Unit = {
    println("ns an element, one thread; ! where ten times the elements cost more than 13 times as much")
    println("elements".padTo(10, ' ') + sizes.map(n => f"${short(n)}%10s").mkString)
    for ((op, rows) <- grown) {
      val times = rows.map(row => peers.measure("wick", Families.index(row), 1, "usual").map(_.median))
      val steps = times.zip(times.drop(1)).map { case (a, b) => for (x <- a; y <- b) yield y / x }
      val cells = times.zip(sizes).zip(Right(1.0) +: steps).map { case ((time, n), step) =>
        time.fold(_ => "failed ", t => Table.format(t / n) + (if (step.exists(_ > Bound)) "!" else " "))
      }
      println(op.padTo(10, ' ') + cells.map(c => f"$c%10s").mkString)
    }
  }
}
