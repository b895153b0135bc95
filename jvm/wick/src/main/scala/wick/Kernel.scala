package wick

/** An operation configured on its operands and targets, to be run over windows that the caller chooses.
  *
  * Its dtypes and shapes are checked when it is made; it owns nothing, so a tensor that was closed since
  * is found out by the run. Parts of the window may be run on any threads at once: each writes the
  * elements of its own places and no others.
  * {{{
  * val kernel = Kernel(Filter.Gaussian3x3, image, Seq(blurred), BorderMode.Replicate)
  * val parts = (0 until 2).map(kernel.window.split(1, _, 2))
  * parts.foreach(KernelRunner.run(kernel, _))
  * }}}
  */
final class Kernel private (
    /** The operation's name. */
    val id: String,
    kind: Int,
    op: Int,
    operands: Seq[STen],
    edges: Array[Long],
    value: Double,
    /** The part of the targets that a run over the whole window makes valid. */
    val validRegion: ValidRegion
) {

  private val info: Array[Long] = {
    val out = new Array[Long](6 + 3 * Window.MaxDims)
    Native.kernelInfo(kind, op, handles, edges, value, out)
    out
  }

  private def handles: Array[Long] = operands.iterator.map(_.handle).toArray

  /** All that it can be run over: of filters planes, rows and columns, without the rows and columns that
    * have no valid neighbours; of elementwise operations the target's dimensions.
    */
  val window: Window = Window(Vector.tabulate(info(0).toInt) { d =>
    Window.Dim(info(6 + 3 * d), info(7 + 3 * d), info(8 + 3 * d))
  })

  /** How far around a place it reads. */
  val border: Padding = Padding(info(1), info(2), info(3), info(4))

  /** Bytes of scratch that each thread running a part is given. */
  val scratchBytes: Long = info(5)

  private[wick] def run(part: Array[Long]): Unit = Native.kernelRun(kind, op, handles, edges, value, part)

  override def toString: String = s"Kernel($id over $window)"
}

/** Makes kernels. */
object Kernel {
  private final val Stencil = 0
  private final val Unary = 1
  private final val Binary = 2

  /** A filter of the image `from` into targets of its shape, which must not overlap it. Neighbours beyond
    * the image, or beyond its [[STen.validRegion]], are what `border` says.
    */
  def apply(filter: Filter, from: STen, to: Seq[STen], border: BorderMode): Kernel = {
    val edges = Edges(filter, from, border)
    new Kernel(filter.id, Stencil, filter.code, from +: to, edges.numbers, edges.value, edges.region)
  }

  /** An elementwise operation of one operand, by libtorch's name, into a target. */
  def unary(name: String, a: STen, out: STen): Kernel =
    elementwise(name, Unary, Native.opCode("unary", name), Seq(a), out)

  /** An elementwise operation of two operands that broadcast to the target's shape, by libtorch's name. */
  def binary(name: String, a: STen, b: STen, out: STen): Kernel =
    elementwise(name, Binary, Native.opCode("binary", name), Seq(a, b), out)

  private def elementwise(name: String, kind: Int, op: Int, operands: Seq[STen], out: STen): Kernel =
    new Kernel(name, kind, op, operands :+ out, Array.emptyLongArray, 0, ValidRegion.all(out.shape))
}

/** Runs kernels. */
object KernelRunner {

  /** The whole window, on as many threads as it is worth. */
  def run(kernel: Kernel): Unit = kernel.run(null)

  /** A part of the window, on the calling thread alone. Nothing outside the part is written.
    *
    * @throws IndexException
    *   where it is no part of the kernel's window: see [[Window.validateSub]]
    */
  def run(kernel: Kernel, window: Window): Unit =
    kernel.run(window.dims.iterator.flatMap(d => Iterator(d.start, d.end, d.step)).toArray)
}
