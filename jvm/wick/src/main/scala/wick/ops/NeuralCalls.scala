package wick

/** The ways to call neural operations, which name their codes once in the objects of their families. */
private[wick] object NeuralCalls {
  def code(name: String): Int = Native.opCode("neural", name)

  private final val NoNumbers = Array.emptyLongArray
  private final val NoFactors = Array.emptyDoubleArray

  /** Handles of operands, 0 for those that are missing. */
  def operands(all: Option[STen]*): Array[Long] = all.iterator.map(_.fold(0L)(_.handle)).toArray

  /** The one result. */
  def one(op: Int, operands: Array[Long], numbers: Array[Long] = NoNumbers, factors: Array[Double] = NoFactors)(
      implicit scope: Scope
  ): STen = {
    val results = new Array[Long](1)
    Native.neural(op, operands, numbers, factors, results)
    STen.own(results(0))
  }

  /** All results, each of which is there. */
  def all(
      op: Int,
      count: Int,
      operands: Array[Long],
      numbers: Array[Long] = NoNumbers,
      factors: Array[Double] = NoFactors
  )(implicit scope: Scope): Array[STen] = {
    val results = new Array[Long](count)
    Native.neural(op, operands, numbers, factors, results)
    STen.ownAll(results)
  }

  /** Results of which some were not asked for. */
  def some(
      op: Int,
      count: Int,
      operands: Array[Long],
      numbers: Array[Long] = NoNumbers,
      factors: Array[Double] = NoFactors
  )(implicit scope: Scope): Array[Option[STen]] = {
    val results = new Array[Long](count)
    Native.neural(op, operands, numbers, factors, results)
    val made = STen.ownAll(results.filter(_ != 0L)).iterator
    results.map(raw => if (raw == 0L) None else Some(made.next()))
  }

  /** A list of numbers behind its length. */
  def list(values: Seq[Long]): Array[Long] = values.length.toLong +: values.toArray

  /** A truth value as a number. */
  def flag(v: Boolean): Long = if (v) 1L else 0L
}
