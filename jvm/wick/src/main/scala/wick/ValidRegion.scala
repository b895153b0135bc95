package wick

/** The part of a tensor whose elements mean something: where it begins and how large it is, a number a
  * dimension. Filters with [[BorderMode.Undefined]] make results of which the outermost pixels do not.
  */
final case class ValidRegion(anchor: List[Long], shape: List[Long]) {
  if (anchor.length != shape.length || anchor.exists(_ < 0) || shape.exists(_ < 0))
    throw new ShapeException(s"valid region: ${shape.mkString("[", ", ", "]")} at ${anchor.mkString("[", ", ", "]")}")

  /** One past the last index of each dimension. */
  def end: List[Long] = anchor.zip(shape).map { case (at, n) => at + n }

  /** Whether there is nothing in it. */
  def isEmpty: Boolean = shape.contains(0L)

  /** What lies in both, in every dimension: it never reaches beyond either. */
  def intersect(other: ValidRegion): ValidRegion = {
    if (anchor.length != other.anchor.length)
      throw new ShapeException(s"valid region: ${anchor.length} and ${other.anchor.length} dimensions")
    val from = anchor.zip(other.anchor).map { case (a, b) => math.max(a, b) }
    val to = end.zip(other.end).map { case (a, b) => math.min(a, b) }
    ValidRegion.between(from, to)
  }

  /** Whether `other` lies in this. */
  def contains(other: ValidRegion): Boolean = intersect(other) == other

  /** One dimension, as indices `start`, `start + step`, … see it; `n` of them. */
  private[wick] def along(dim: Int, start: Long, n: Long, step: Long): ValidRegion = {
    def first(at: Long) = if (at <= start) 0L else math.min((at - start - 1) / step + 1, n)
    val (from, to) = (first(anchor(dim)), first(end(dim)))
    ValidRegion.between(anchor.updated(dim, from), end.updated(dim, to))
  }

  private[wick] def without(dim: Int): ValidRegion =
    ValidRegion(anchor.patch(dim, Nil, 1), shape.patch(dim, Nil, 1))

  private[wick] def swapped(a: Int, b: Int): ValidRegion = {
    def swap(l: List[Long]) = l.updated(a, l(b)).updated(b, l(a))
    ValidRegion(swap(anchor), swap(shape))
  }
}

/** Makes regions. */
object ValidRegion {

  /** All of a tensor of this shape. */
  def all(shape: Seq[Long]): ValidRegion = ValidRegion(List.fill(shape.length)(0L), shape.toList)

  private[wick] def between(from: List[Long], to: List[Long]): ValidRegion =
    ValidRegion(from, from.zip(to).map { case (a, b) => math.max(b - a, 0) })
}

/** What a tensor has beside its elements: a valid region (null: all is valid), room around its planes, and
  * what filters do where that is too narrow. Tensors that have none of these have no frame at all.
  */
private[wick] final case class Frame(region: ValidRegion, padding: Padding, onShort: OnShort) {

  /** Without the padding on those sides of a dimension that were cut off. */
  private def cut(rank: Int, dim: Int, low: Boolean, high: Boolean): Padding =
    if (dim == rank - 2)
      padding.copy(top = if (low) 0 else padding.top, bottom = if (high) 0 else padding.bottom)
    else if (dim == rank - 1)
      padding.copy(left = if (low) 0 else padding.left, right = if (high) 0 else padding.right)
    else padding

  /** The frame of the view that takes indices `start`, `start + step`, … of a dimension; `n` of them. */
  def slice(dims: Array[Long], dim: Int, start: Long, n: Long, step: Long): Frame = {
    val last = start + (n - 1) * step == dims(dim) - 1
    val kept = cut(dims.length, dim, start != 0 || step != 1, !last || step != 1)
    Frame.of(if (region eq null) null else region.along(dim, start, n, step), kept, onShort)
  }

  /** The frame of one index of a dimension. */
  def select(dims: Array[Long], dim: Int, index: Long): Frame = {
    val plane = dim >= dims.length - 2
    val left =
      if (region eq null) null
      else {
        val rest = region.without(dim)
        // An index that is not valid itself leaves nothing that is.
        if (region.along(dim, index, 1, 1).isEmpty) rest.copy(shape = rest.shape.map(_ => 0L)) else rest
      }
    Frame.of(left, if (plane) Padding.none else padding, onShort)
  }

  /** The frame after two dimensions were exchanged. */
  def transpose(rank: Int, a: Int, b: Int): Frame = {
    val planes = a >= rank - 2 || b >= rank - 2
    Frame.of(if (region eq null) null else region.swapped(a, b), if (planes) Padding.none else padding, onShort)
  }

  /** The frame of a copy, which has no padding. */
  def copied: Frame = Frame.of(region, Padding.none, onShort)
}

private[wick] object Frame {

  /** Null where there is nothing to say. */
  def of(region: ValidRegion, padding: Padding, onShort: OnShort): Frame =
    if ((region eq null) && padding == Padding.none) null else Frame(region, padding, onShort)

  /** As `of`, where the region may be all of a tensor. */
  def of(region: ValidRegion, dims: Array[Long]): Frame =
    if (region == ValidRegion.all(dims.toSeq)) null else Frame(region, Padding.none, OnShort.Error)
}
