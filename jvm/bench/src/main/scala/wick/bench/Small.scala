package wick.bench

/** A few elements: what a call costs. */
object Small extends Family {

  override val short: Boolean = true

  // What they move says nothing about such calls.
  private def call(op: String, size: String)(operands: Operand*): Row =
    Row(op, size, operands, Cost(0, 0, 0, double = false))

  private def add(n: Long): Row = call("add", short(n))(floats(n), floats(n))
    .wick { case Seq(a, b) => implicit s => a.add(b) }
    .djl { case Seq(a, b) => () => a.add(b) }
    .loop { case Seq(a: Array[Float], b: Array[Float]) => Loops.binary(a, b)(_ + _) }

  val rows: Seq[Row] = Seq(4L, 10L, 100L, 1000L).map(add) ++ Seq(
    call("chain", "3 on 10")(floats(10), floats(10))
      .wick { case Seq(a, b) => implicit s => a.add(b).mul(b).sub(a) }
      .djl { case Seq(a, b) =>
        () => {
          val first = a.add(b)
          val second = first.mul(b)
          first.close()
          val third = second.sub(a)
          second.close()
          third
        }
      }
      .loop { case Seq(a: Array[Float], b: Array[Float]) => Loops.binary(a, b)((x, y) => (x + y) * y - x) },
    call("view", "2x5")(floats(10))
      .wick { case Seq(a) => implicit s => a.view(2, 5) }
      .djl { case Seq(a) => () => a.reshape(2, 5) },
    call("item", "1")(floats(1))
      .wickPlain { case Seq(a) => () => a.item }
      .djlPlain { case Seq(a) => () => a.getFloat(0) }
      .loop { case Seq(a: Array[Float]) => () => a(0) }
  )
}
