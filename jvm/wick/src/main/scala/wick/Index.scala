package wick

import scala.language.implicitConversions

/** What one place of `t(…)` takes of a dimension; the result is always a view.
  *
  *   - an Int or Long: one index, whose dimension goes away; negative ones count from the end
  *   - a Range: its indices, cut at the end of the dimension as in Python; a range of negative
  *     numbers counts from the end
  *   - `::`: the whole dimension
  *   - [[Slice]]: Python's `start:end:step`, each of which may be left out
  *   - `---`: as many whole dimensions as the other places leave
  *   - [[NewAxis]]: a new dimension of size 1
  *
  * {{{
  * Scope.root { implicit scope =>
  *   val t = STen.zeros(List(3, 4, 5), STenOptions.d)
  *   assert(t(1, ::, 2 until 5).shape == List(4L, 3L))
  *   assert(t(-1).shape == List(4L, 5L))
  *   assert(t(---, 0).shape == List(3L, 4L))
  *   assert(t(::, NewAxis, 0 until 4 by 2).shape == List(3L, 1L, 2L, 5L))
  *   t(0, ::, 1) = 7.0
  *   assert(t(0, 2, 1).toDouble == 7.0)
  * }
  * }}}
  */
sealed abstract class Index private[wick] {

  /** Writes the four numbers that the native operation reads. */
  private[wick] def encode(to: Array[Long], at: Int): Unit
}

/** The indices `start`, `start + step`, … before `end` of a dimension: bounds beyond it are cut,
  * negative ones count from the end.
  */
final case class Slice(start: Long = 0, end: Long = Long.MaxValue, step: Long = 1) extends Index {
  private[wick] def encode(to: Array[Long], at: Int): Unit =
    Index.put(to, at, Index.Kind.slice, start, end, step)
}

/** As many whole dimensions as the other places leave. */
case object --- extends Index {
  private[wick] def encode(to: Array[Long], at: Int): Unit = Index.put(to, at, Index.Kind.rest, 0, 0, 0)
}

/** A new dimension of size 1. */
case object NewAxis extends Index {
  private[wick] def encode(to: Array[Long], at: Int): Unit = Index.put(to, at, Index.Kind.fresh, 0, 0, 0)
}

/** Turns numbers, ranges and `::` into indices. */
object Index {

  private final case class At(index: Long) extends Index {
    private[wick] def encode(to: Array[Long], at: Int): Unit = put(to, at, Kind.at, index, 0, 0)
  }

  private case object All extends Index {
    private[wick] def encode(to: Array[Long], at: Int): Unit = put(to, at, Kind.all, 0, 0, 0)
  }

  private[wick] object Kind {
    private def code(name: String): Long = Native.opCode("index_kind", name).toLong
    val at: Long = code("at")
    val all: Long = code("all")
    val slice: Long = code("slice")
    val rest: Long = code("rest")
    val fresh: Long = code("new")
  }

  private[wick] def put(to: Array[Long], at: Int, kind: Long, p: Long, q: Long, r: Long): Unit = {
    to(at) = kind
    to(at + 1) = p
    to(at + 2) = q
    to(at + 3) = r
  }

  private[wick] def encode(indices: Seq[Index]): Array[Long] = {
    val out = new Array[Long](4 * indices.length)
    var at = 0
    indices.foreach { i => i.encode(out, at); at += 4 }
    out
  }

  /** One index of a dimension. */
  def at(index: Long): Index = At(index)

  /** The whole dimension. */
  def all: Index = All

  /** One index of a dimension. */
  implicit def fromInt(index: Int): Index = At(index.toLong)

  /** One index of a dimension. */
  implicit def fromLong(index: Long): Index = At(index)

  /** The whole dimension: `::`. */
  implicit def fromColons(colons: ::.type): Index = All

  /** The indices of a range, in order. */
  implicit def fromRange(range: Range): Index =
    if (range.isEmpty) Slice(0, 0, 1)
    else if (range.step < 1 && range.length > 1)
      throw new IndexException(s"index: $range descends: views have positive steps, flip reverses")
    else if (range.start < 0 && range.last >= 0)
      throw new IndexException(s"index: $range runs from the end over to the start")
    else {
      val end = if (range.last == -1) Long.MaxValue else range.last + 1L
      Slice(range.start.toLong, end, math.max(1L, range.step.toLong))
    }
}
