package wick.bench

import ai.djl.ndarray.{NDArray, NDManager}
import wick.{STen, Scope}

/** What an operation must at least move or compute; zero where the machine sets no limit worth a word. */
final case class Cost(read: Double, written: Double, flops: Double, double: Boolean)

/** One line of the table: an operation on given operands, and how each peer does it. Its methods are
  * the words in which families tell it; a body is given the operands once and returns what is measured.
  */
final case class Row(
    op: String,
    size: String,
    operands: Seq[Operand],
    cost: Cost,
    threads: Seq[Int] = Seq(1),
    wickBody: Option[Seq[STen] => () => Any] = None,
    djlBody: Option[(NDManager, Seq[NDArray]) => () => Any] = None,
    loopBody: Option[Seq[Any] => () => Any] = None,
    torchBody: Option[String] = None
) {

  /** What a pattern is looked for in. */
  def name: String = s"$op $size"

  /** Whether DJL is compared with; its library ends the process on dtypes that it does not know. */
  def byDjl: Boolean = djlBody.nonEmpty && !operands.exists(o => Operand.beyondDjl(o.dtype))

  def onBoth: Row = copy(threads = Seq(1, 2))

  /** Bytes read, where they are not the operands'. */
  def reading(bytes: Double): Row = copy(cost = cost.copy(read = bytes))

  def flops(count: Double): Row = copy(cost = cost.copy(flops = count))

  /** In a scope for each call, which frees what was made in it. */
  def wick(f: PartialFunction[Seq[STen], Scope => Any]): Row = wickPlain { case operands =>
    val body = f(operands)
    () => Scope.root { scope => body(scope); 0 }
  }

  /** For calls that make no tensor. */
  def wickPlain(f: PartialFunction[Seq[STen], () => Any]): Row = copy(wickBody = Some(f))

  /** Results are closed, which is DJL's fastest way to free them. */
  def djl(f: PartialFunction[Seq[NDArray], () => AutoCloseable]): Row = djlNew((_, operands) => f(operands))

  def djlNew(f: (NDManager, Seq[NDArray]) => () => AutoCloseable): Row = copy(djlBody = Some { (manager, operands) =>
    val body = f(manager, operands)
    () => { body().close(); 0 }
  })

  def djlPlain(f: PartialFunction[Seq[NDArray], () => Any]): Row = copy(djlBody = Some((_, operands) => f(operands)))

  /** As a Scala programmer would write it over the operands' arrays. */
  def loop(f: PartialFunction[Seq[Any], () => Any]): Row = copy(loopBody = Some(f))

  /** A Python statement over the operands a, b, c, …: for what DJL's API or dtypes lack, or what takes it a detour. */
  def torch(statement: String): Row = copy(torchBody = Some(statement))
}

/** Rows that belong together, measured in one JVM a peer. */
trait Family {

  def rows: Seq[Row]

  /** Whether times are so short that what the compiler has seen of other rows would show in them: each
    * row is then measured in a JVM of its own, for longer.
    */
  def short: Boolean = false

  protected val F32: wick.DType = wick.DType.F32
  protected val F64: wick.DType = wick.DType.F64
  protected val I64: wick.DType = wick.DType.I64

  /** A row that reads its operands once and writes `out` bytes. */
  protected def row(op: String, size: String, out: Double)(operands: Operand*): Row =
    Row(op, size, operands, Cost(operands.map(_.bytes).sum, out, 0, operands.exists(_.dtype == wick.DType.F64)))

  /** Numbers in [0.1, 1.1). */
  protected def numbers(dtype: wick.DType, shape: Long*): Operand = Operand(shape, dtype, Fill.Uniform(0.1, 1.1))

  protected def floats(shape: Long*): Operand = numbers(F32, shape: _*)

  protected def below(bound: Long, shape: Long*): Operand = Operand(shape, I64, Fill.Below(bound))

  protected def coins(shape: Long*): Operand = Operand(shape, wick.DType.Bool, Fill.Coin)

  /** 1000000 as "1M". */
  protected def short(n: Long): String =
    if (n % 1000000 == 0) s"${n / 1000000}M" else if (n % 1000 == 0) s"${n / 1000}k" else n.toString
}
