package wick

/** Methods of [[STen]]: rows. */
private[wick] trait WindowOps { self: STen =>

  /** The rows: `for (row <- t.rows) …`, where row elements are read and written on the JVM. What a step
    * allocates is what its body allocates; padding is skipped.
    * {{{
    * Scope.root { implicit scope =>
    *   val t = STen.zeros(Seq(2, 3), STenOptions.f)
    *   for (row <- t.rows; i <- 0 until row.length) row(i) = 10.0 * row.index(0) + i
    *   assert(t.toFloatArray.toSeq == Seq(0f, 1f, 2f, 10f, 11f, 12f))
    * }
    * }}}
    */
  def rows: Rows = {
    handle
    new Rows(self)
  }
}

/** Functions of the [[STen]] companion: loops over windows on the JVM.
  *
  * A loop calls its body once for each row of a window, the last dimension, with a row of each tensor at
  * the same place, and writes back the rows that the body changed. Rows are copied in bulk to arrays that
  * are made once, so a step allocates nothing; whatever happens to the tensors meanwhile, nothing reads
  * freed memory. Dimensions are aligned at the last one. A tensor stays where its size is 1; window
  * dimensions that it does not have must have one iteration. A loop may be run again: it starts anew.
  */
private[wick] trait WindowFunctions {

  /** Over rows of one tensor. */
  def windowLoop(window: Window, a: STen)(f: WindowRow => Unit): Unit =
    WindowLoop.run(window, a)(rows => () => f(rows(0)))

  /** Over rows of two tensors. */
  def windowLoop(window: Window, a: STen, b: STen)(f: (WindowRow, WindowRow) => Unit): Unit =
    WindowLoop.run(window, a, b)(rows => () => f(rows(0), rows(1)))

  /** Over rows of three tensors. */
  def windowLoop(window: Window, a: STen, b: STen, c: STen)(f: (WindowRow, WindowRow, WindowRow) => Unit): Unit =
    WindowLoop.run(window, a, b, c)(rows => () => f(rows(0), rows(1), rows(2)))
}

private[wick] object WindowLoop {

  def run(window: Window, tensors: STen*)(body: Array[WindowRow] => () => Unit): Unit = {
    tensors.foreach(check(window, _))
    if (window.iterations > 0) {
      val place = window.dims.iterator.map(_.start).toArray
      val rows = tensors.iterator.map(new WindowRow(_, window, place)).toArray
      val step = body(rows)
      val dims = window.dims.toArray
      var more = true
      while (more) {
        var i = 0
        while (i < rows.length) { rows(i).moveTo(); i += 1 }
        step()
        i = 0
        while (i < rows.length) { rows(i).flush(); i += 1 }
        more = next(dims, place)
      }
    }
  }

  /** Moves on to the next row. */
  private def next(dims: Array[Window.Dim], place: Array[Long]): Boolean = {
    var d = dims.length - 2
    while (d >= 0) {
      place(d) += dims(d).step
      if (place(d) < dims(d).end) return true
      place(d) = dims(d).start
      d -= 1
    }
    false
  }

  private def check(window: Window, t: STen): Unit = {
    val dims = t.shape.toArray
    SparseCalls.dense("windowLoop", t)
    def of = s"windowLoop: ${t.dtype} ${t.shapeText} over $window"
    if (dims.isEmpty || dims.length > window.rank)
      throw new ShapeException(s"$of: expected a tensor of 1 to ${window.rank} dimensions")
    window.dims.zipWithIndex.foreach { case (range, d) =>
      if (range.step < 1) throw new ShapeException(s"$of: dimension $d does not move on: its step is 0")
      val n = range.iterations
      val own = d - (window.rank - dims.length)
      if (own < 0) {
        if (n > 1) throw new ShapeException(s"$of: the tensor has no dimension for $n iterations of dimension $d")
      } else if (n > 0 && dims(own) != 1 || n > 0 && range.end <= 1) {
        val last = range.start + (n - 1) * range.step
        if (range.start < 0 || last >= dims(own))
          throw new IndexException(s"$of: indices ${range.start} to $last of dimension $own")
      }
    }
    if (window.dims.last.iterations > Int.MaxValue - 8)
      throw new ShapeException(s"$of: a row holds at most ${Int.MaxValue - 8} elements")
  }
}
