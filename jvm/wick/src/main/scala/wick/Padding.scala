package wick

/** Room around each plane, the last two dimensions, of a tensor: elements that belong to its storage and
  * not to it. No operation reads or writes them but [[STen.fillBorder_]] and filters that are told to by
  * [[BorderMode.Padding]]. Planes stand one after the other, so only rows and columns are padded.
  */
final case class Padding(top: Long, right: Long, bottom: Long, left: Long) {
  if (top < 0 || right < 0 || bottom < 0 || left < 0)
    throw new ShapeException(s"padding: $this: sizes must not be negative")

  /** As much as either has on each side. */
  def max(other: Padding): Padding =
    Padding(
      math.max(top, other.top),
      math.max(right, other.right),
      math.max(bottom, other.bottom),
      math.max(left, other.left)
    )

  private[wick] def sides: Array[Long] = Array(top, right, bottom, left)
}

/** Makes paddings. */
object Padding {

  /** None. */
  val none: Padding = Padding(0, 0, 0, 0)

  /** The same on all sides. */
  def all(n: Long): Padding = Padding(n, n, n, n)
}

/** How a new tensor's rows and planes are spaced; see [[STenOptions.padding]]. */
sealed trait PaddingPolicy extends Product with Serializable

/** The policies. */
object PaddingPolicy {

  /** Densely. */
  case object None extends PaddingPolicy

  /** With this much room. */
  final case class Exact(padding: Padding) extends PaddingPolicy

  /** With the strides of each dimension, the place of the first element and the size of the storage, in
    * elements. Planes must follow each other at equal distances and hold their rows.
    */
  final case class Manual(strides: Seq[Long], offset: Long, total: Long) extends PaddingPolicy

  /** The Arm Compute Library's default: 4 elements on each side and 32 more on the right; vectors have
    * none above and below, single values none at all.
    */
  case object Auto extends PaddingPolicy

  /** The room that all of these filters need: on each side that of the one that reaches farthest. */
  def forFilters(filters: Filter*): PaddingPolicy =
    Exact(filters.foldLeft(Padding.none)((all, f) => all.max(f.border)))
}

/** What a filter does that was told to read its border from padding that is too narrow. */
sealed trait OnShort extends Product with Serializable

/** The two choices. */
object OnShort {

  /** It is a [[ShapeException]]. */
  case object Error extends OnShort

  /** It computes the pixels that have all their neighbours; the result's valid region says which. */
  case object Shrink extends OnShort
}

/** Makes padded tensors. */
private[wick] object Padded {
  private val auto = Padding(4, 36, 4, 4)

  /** A tensor of the policy's layout, its elements not written yet. */
  def empty(op: String, shape: Array[Long], options: STenOptions)(implicit scope: Scope): STen = {
    val (padding, strides, offset, total) = placed(op, shape, options)
    val raw = Native.padded(Device.code(op, options.padding(PaddingPolicy.None)), shape, strides, offset, total)
    STen.own(raw, shape, Frame.of(null, padding, options.onShort))
  }

  /** A tensor of the policy's layout in the native vector that `memory` makes of a number of elements. */
  def within(op: String, shape: Array[Long], options: STenOptions)(
      memory: Long => Long
  )(implicit scope: Scope): STen = {
    val (padding, strides, offset, total) = placed(op, shape, options)
    ShapeOps.passing(memory(total)) { base =>
      val numbers = (shape.length.toLong +: shape) ++ strides :+ offset
      STen.own(Native.viewList(ShapeOps.Op.asStrided, base, numbers), shape, Frame.of(null, padding, options.onShort))
    }
  }

  private def placed(op: String, shape: Array[Long], options: STenOptions): (Padding, Array[Long], Long, Long) =
    options.paddingPolicy match {
      case PaddingPolicy.None           => layout(op, shape, Padding.none)
      case PaddingPolicy.Exact(padding) => layout(op, shape, padding)
      case PaddingPolicy.Auto           => layout(op, shape, auto)
      case manual: PaddingPolicy.Manual =>
        (measured(op, shape, manual), manual.strides.toArray, manual.offset, manual.total)
    }

  private def fail(op: String, shape: Array[Long], text: String) =
    throw new ShapeException(s"$op: ${shape.mkString("[", ", ", "]")}: $text")

  private def layout(op: String, shape: Array[Long], wanted: Padding): (Padding, Array[Long], Long, Long) =
    try {
      val n = shape.length
      val padding =
        if (n == 0) Padding.none else if (n == 1) wanted.copy(top = 0, bottom = 0) else wanted
      def padded(size: Long, before: Long, after: Long) = Math.addExact(Math.addExact(size, before), after)
      val strides = new Array[Long](n)
      var step = 1L
      for (d <- n - 1 to 0 by -1) {
        strides(d) = step
        val size =
          if (d == n - 1) padded(shape(d), padding.left, padding.right)
          else if (d == n - 2) padded(shape(d), padding.top, padding.bottom)
          else shape(d)
        step = Math.multiplyExact(step, math.max(size, 1L))
      }
      val above = if (n < 2) 0L else Math.multiplyExact(padding.top, strides(n - 2))
      (padding, strides, Math.addExact(above, padding.left), step)
    } catch { case _: ArithmeticException => fail(op, shape, s"with $wanted: more than 2^63 - 1 elements") }

  /** The padding that strides leave. */
  private def measured(op: String, shape: Array[Long], manual: PaddingPolicy.Manual): Padding = {
    val PaddingPolicy.Manual(strides, offset, total) = manual
    val n = shape.length
    def refuse(text: String) = fail(op, shape, s"strides ${strides.mkString("[", ", ", "]")}, offset $offset: $text")
    if (strides.length != n) refuse(s"${strides.length} strides")
    else if (offset < 0 || total < 0 || strides.exists(_ < 0)) refuse("negative numbers")
    else if (n == 0) Padding.none
    else if (strides(n - 1) != 1) refuse("neighbours in a row must stand side by side")
    else if (n == 1) {
      if (offset > total - shape(0)) refuse(s"beyond $total elements")
      Padding(0, total - offset - shape(0), 0, offset)
    } else {
      val row = strides(n - 2)
      val plane = if (n == 2) total else strides(n - 3)
      val planes = shape.take(n - 2).product
      val follow = (0 until n - 3).forall(d => strides(d) == strides(d + 1) * shape(d + 1))
      if (row < 1 || plane % row != 0 && n > 2 || !follow || plane < row)
        refuse("rows or planes overlap or do not follow")
      else {
        val (top, left) = (offset / row, offset % row)
        val (right, bottom) = (row - left - shape(n - 1), plane / row - top - shape(n - 2))
        if (right < 0 || bottom < 0 || planes > 0 && total / planes < plane)
          refuse(s"rows or planes overlap or do not fit $total elements")
        Padding(top, right, bottom, left)
      }
    }
  }
}
