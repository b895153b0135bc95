package wick

/** The iterations of a loop nest: a range of each dimension, outermost first. A value.
  *
  * Kernels say over which window they can be run ([[Kernel.window]]); whoever runs them may cut it and
  * run the parts, in any order and on any threads. A dimension without iterations makes a window without
  * iterations.
  * {{{
  * val rows = Window(10, 20)                   // 0 to 9, 0 to 19
  * val parts = (0 until 3).map(rows.split(0, _, 3))
  * assert(parts.map(_.iterations) == Seq(80L, 60L, 60L))
  * parts.foreach(rows.validateSub)
  * }}}
  */
final case class Window(dims: Vector[Window.Dim]) {
  if (dims.length > Window.MaxDims)
    throw new ShapeException(s"window: ${dims.length} dimensions, at most ${Window.MaxDims} are possible")

  /** The range of a dimension. */
  def apply(dim: Int): Window.Dim = dims(checked(dim))

  /** How many dimensions there are. */
  def rank: Int = dims.length

  /** How many iterations there are in all. */
  def iterations: Long = dims.foldLeft(1L)(_ * _.iterations)

  private def checked(dim: Int): Int = {
    if (dim < 0 || dim >= rank) throw new IndexException(s"window: dimension $dim is outside [0, $rank)")
    dim
  }

  /** With another range for a dimension. */
  def updated(dim: Int, range: Window.Dim): Window = Window(dims.updated(checked(dim), range))

  /** Part `id` of `total` along a dimension. Parts follow each other without gaps, start on a step and
    * differ by at most one iteration; where there are fewer iterations than parts, the last ones are empty.
    */
  def split(dim: Int, id: Int, total: Int): Window = {
    if (id < 0 || id >= total) throw new IndexException(s"window: part $id of $total")
    val whole = dims(checked(dim))
    val n = whole.iterations
    val (share, extra) = (n / total, n % total)
    val first = id * share + math.min(id.toLong, extra)
    val count = share + (if (id < extra) 1 else 0)
    def place(i: Long) = if (i == n) math.max(whole.end, whole.start) else whole.start + i * whole.step
    updated(dim, Window.Dim(place(first), place(first + count), whole.step))
  }

  /** That `sub` is a part of this: in each dimension it starts and ends inside, has the same step, starts
    * on a step, and covers whole steps unless it ends where this does.
    *
    * @throws IndexException
    *   naming the first dimension and what is wrong there
    */
  def validateSub(sub: Window): Unit = broken(sub).foreach(text => throw new IndexException(s"window: $text"))

  /** Whether [[validateSub]] has nothing to say. */
  def contains(sub: Window): Boolean = broken(sub).isEmpty

  private def broken(sub: Window): Option[String] =
    if (sub.rank != rank) Some(s"${sub.rank} dimensions, the whole has $rank")
    else
      dims.indices.iterator.flatMap { d =>
        val (whole, part) = (dims(d), sub.dims(d))
        val step = math.max(whole.step, 1)
        val what =
          if (part.start < whole.start) "starts outside"
          else if (part.end > math.max(whole.end, whole.start)) "ends outside"
          else if (part.step != whole.step) "has another step than"
          else if (part.iterations > 0 && (part.start - whole.start) % step != 0) "starts between the steps of"
          else if ((part.end - part.start) % step != 0 && part.end != whole.end) "ends between the steps of"
          else ""
        if (what.isEmpty) None else Some(s"dimension $d, $part, $what $whole")
      }.nextOption()

  /** A dimension moved. */
  def shift(dim: Int, by: Long): Window = {
    val d = apply(dim)
    updated(dim, d.copy(start = d.start + by, end = d.end + by))
  }

  /** A dimension with its start or its end moved. */
  def adjust(dim: Int, by: Long, atStart: Boolean): Window = {
    val d = apply(dim)
    updated(dim, if (atStart) d.copy(start = d.start + by) else d.copy(end = d.end + by))
  }

  /** A dimension on a grid `times` as fine over `per` as coarse: the start rounded down, the end up. */
  def scale(dim: Int, times: Long, per: Long): Window = {
    if (times < 1 || per < 1) throw new ShapeException(s"window: scaled by $times over $per")
    val d = apply(dim)
    updated(dim, d.copy(Math.floorDiv(d.start * times, per), -Math.floorDiv(-d.end * times, per)))
  }

  /** Dimensions `first` to `last` as one, where each is the whole of `full`, from 0 and by 1. */
  def collapse(full: Window, first: Int, last: Int): Option[Window] = {
    def whole(d: Int) = dims(d) == full.dims(d) && dims(d) == Window.Dim(0, dims(d).end)
    if (full.rank != rank || first < 0 || first > last || last >= rank || !(first to last).forall(whole)) None
    else {
      val all = dims.slice(first, last + 1).map(_.iterations).product
      Some(Window((dims.take(first) :+ Window.Dim(0, all)) ++ dims.drop(last + 1)))
    }
  }

  /** The window of an operand of this shape that is walked along: where its size is 1 it stays, with a
    * step of 0. Dimensions are aligned at the last one; those that it does not have go away.
    */
  def broadcast(shape: Seq[Long]): Window = {
    if (shape.length > rank) throw new ShapeException(s"window: $rank dimensions for a shape of ${shape.length}")
    Window(dims.takeRight(shape.length).zip(shape).map { case (d, n) => if (n == 1) Window.Dim(0, 1, 0) else d })
  }

  /** Windows of one iteration in all but the last `inner` dimensions, in order. */
  def slices(inner: Int): Iterator[Window] = {
    val outer = math.max(rank - inner, 0)
    if (iterations == 0) Iterator.empty
    else
      (0 until outer).foldLeft(Iterator(this)) { (all, d) =>
        all.flatMap(w => Iterator.tabulate(dims(d).iterations.toInt)(i => w.updated(d, dims(d).only(i.toLong))))
      }
  }

  override def toString: String = dims.mkString("Window(", ", ", ")")
}

/** Makes windows. */
object Window {

  /** The most dimensions of a window. */
  val MaxDims: Int = 6

  /** From 0 by 1 to the given sizes: all of a tensor of this shape. */
  def apply(sizes: Long*): Window = Window(sizes.iterator.map(Dim(0, _)).toVector)

  /** The iterations `start`, `start + step`, … below `end`. Step 0 stands for an operand that has one place
    * there: one iteration.
    */
  final case class Dim(start: Long, end: Long, step: Long = 1) {
    if (step < 0) throw new ShapeException(s"window: $this: the step is negative")
    if (end > start && end - start < 0) throw new ShapeException(s"window: $this: the range is too long")

    /** How many iterations there are. */
    def iterations: Long =
      if (end <= start) 0 else if (step == 0) 1 else (end - start - 1) / step + 1

    private[wick] def only(i: Long): Dim = {
      val from = start + i * step
      Dim(from, math.min(end, from + math.max(step, 1)), step)
    }

    override def toString: String = if (step == 1) s"[$start, $end)" else s"[$start, $end) by $step"
  }
}
