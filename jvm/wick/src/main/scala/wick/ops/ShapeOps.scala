package wick

import ShapeOps._

/** Methods of [[STen]]: views and rearrangements.
  *
  * A view shares its elements with the tensor that it was taken of: writes to either show in both. It
  * keeps the memory alive on its own. Dimensions may be counted from the end (-1 is the last).
  */
private[wick] trait ShapeOps { self: STen =>

  // Four numbers, result's shape known here: one native call, no array.
  @inline private def view4(op: Int, p: Long, q: Long, r: Long, s: Long): Long =
    Native.view(op, handle, p, q, r, s)

  private def viewList[S: Sc](op: Int, list: Array[Long]): STen =
    STen.own(Native.viewList(op, handle, list), this)

  // The handle first, so that a closed tensor says so whatever else is wrong.
  private def viewInts[S: Sc](op: Int, numbers: Seq[Int]): STen = {
    val from = handle
    STen.own(Native.viewList(op, from, longs(numbers)), this)
  }

  /** `length` indices of a dimension from `start` on, as a view. */
  def narrow[S: Sc](dim: Int, start: Long, length: Long): STen = {
    val raw = view4(Op.narrow, dim.toLong, start, length, 0)
    STen.own(raw, resized(dims, dim, length), framed(dim, if (start < 0) start + sizeOf(dim) else start, length, 1))
  }

  /** As the other `narrow`, with the start in an integer tensor of one element. */
  def narrow[S: Sc](dim: Int, start: STen, length: Long): STen = {
    handle
    if (!start.dtype.isIntegral)
      throw new DTypeException(s"narrow: start ${start.dtype} ${start.shapeText}: expected an integer")
    narrow(dim, start.toLong, length)
  }

  /** The indices `start`, `start + step`, … before `end` of a dimension, as a view. Bounds beyond the
    * dimension are cut, negative ones count from its end.
    */
  def slice[S: Sc](dim: Int, start: Long, end: Long, step: Long): STen = {
    val raw = view4(Op.slice, dim.toLong, start, end, step)
    val size = dims(wrap(dim, dims.length))
    val (first, last) = (bounded(start, size), bounded(end, size))
    val n = if (last <= first) 0L else (last - first - 1) / step + 1
    STen.own(raw, resized(dims, dim, n), framed(dim, first, n, step))
  }

  private def framed(dim: Int, start: Long, n: Long, step: Long): Frame =
    if (frame eq null) null else frame.slice(dims, wrap(dim, dims.length), start, n, step)

  /** As the other `slice`. */
  def slice[S: Sc](dim: Long, start: Long, end: Long, step: Long): STen =
    slice(small(dim), start, end, step)

  /** One index of a dimension, as a view without it. */
  def select[S: Sc](dim: Long, index: Long): STen = {
    val raw = view4(Op.select, dim, index, 0, 0)
    val d = wrap(dim.toInt, dims.length)
    val kept = if (frame eq null) null else frame.select(dims, d, if (index < 0) index + dims(d) else index)
    STen.own(raw, removed(dims, d), kept)
  }

  /** The view that indices take; see [[Index]]. */
  def apply[S: Sc](indices: Index*): STen = {
    val from = handle
    STen.own(Native.viewList(Op.index, from, Index.encode(indices)), this)
  }

  /** `t(i) = value`: the elements of `t(i)` take those of `value`, cast and broadcast. */
  def update(i: Index, value: STen): Unit = assign(value, i)

  /** `t(i, j) = value`. */
  def update(i: Index, j: Index, value: STen): Unit = assign(value, i, j)

  /** `t(i, j, k) = value`. */
  def update(i: Index, j: Index, k: Index, value: STen): Unit = assign(value, i, j, k)

  /** `t(i, j, k, l) = value`. */
  def update(i: Index, j: Index, k: Index, l: Index, value: STen): Unit = assign(value, i, j, k, l)

  /** `t(i) = value`: all elements of `t(i)` take one value. */
  def update(i: Index, value: Double): Unit = assign(value, i)

  /** `t(i, j) = value`. */
  def update(i: Index, j: Index, value: Double): Unit = assign(value, i, j)

  /** `t(i, j, k) = value`. */
  def update(i: Index, j: Index, k: Index, value: Double): Unit = assign(value, i, j, k)

  /** `t(i, j, k, l) = value`. */
  def update(i: Index, j: Index, k: Index, l: Index, value: Double): Unit = assign(value, i, j, k, l)

  /** `t(i) = value`, exact for integers of any size. */
  def update(i: Index, value: Long): Unit = assign(value, i)

  /** `t(i, j) = value`. */
  def update(i: Index, j: Index, value: Long): Unit = assign(value, i, j)

  /** `t(i, j, k) = value`. */
  def update(i: Index, j: Index, k: Index, value: Long): Unit = assign(value, i, j, k)

  /** `t(i, j, k, l) = value`. */
  def update(i: Index, j: Index, k: Index, l: Index, value: Long): Unit = assign(value, i, j, k, l)

  private def assign(value: STen, indices: Index*): Unit = {
    val from = value.handle
    within(indices)(part => Native.copy(part, from))
  }

  private def assign(value: Double, indices: Index*): Unit =
    within(indices)(part => Native.fill(part, Native.FLOAT, Codes.bits(value)))

  private def assign(value: Long, indices: Index*): Unit =
    within(indices)(part => Native.fill(part, Native.INT, value))

  private def within(indices: Seq[Index])(write: Long => Unit): Unit =
    passing(Native.viewList(Op.index, handle, Index.encode(indices)))(write)

  /** Two dimensions exchanged, as a view. */
  def transpose[S: Sc](dim1: Int, dim2: Int): STen = {
    val raw = view4(Op.transpose, dim1.toLong, dim2.toLong, 0, 0)
    val n = dims.length
    val kept = if (frame eq null) null else frame.transpose(n, wrap(dim1, n), wrap(dim2, n))
    STen.own(raw, swapped(dims, dim1, dim2), kept)
  }

  /** The same as [[transpose]]: NumPy's name. */
  def swapaxes[S: Sc](dim1: Int, dim2: Int): STen = transpose(dim1, dim2)

  /** A matrix transposed, as a view; a vector or single value as it is. */
  def t[S: Sc]: STen = {
    val raw = view4(Op.t, 0, 0, 0, 0)
    STen.own(raw, if (dims.length < 2) dims else swapped(dims, 0, 1))
  }

  /** The last two dimensions exchanged, as a view: each matrix of a batch transposed. */
  def mT[S: Sc]: STen = transpose(-2, -1)

  /** Dimension `i` of the result is dimension `dims(i)` of this, as a view. */
  def permute[S: Sc](dims: Seq[Int]): STen = viewInts(Op.permute, dims)

  /** One dimension moved to another place, the others in their order, as a view. */
  def movedim[S: Sc](from: Int, to: Int): STen =
    STen.own(view4(Op.movedim, from.toLong, to.toLong, 0, 0), this)

  /** Dimensions moved to other places, the rest in their order, as a view. */
  def movedim[S: Sc](from: Seq[Int], to: Seq[Int]): STen = {
    if (from.length != to.length)
      throw new ShapeException(s"movedim: $dtype $shapeText: ${from.length} dimensions to ${to.length} places")
    viewInts(Op.movedimList, from.length +: (from ++ to))
  }

  /** Dimensions of size 1 stretched and new ones put in front, as a view whose elements share their
    * place; -1 keeps a size. In-place operations on such a view are errors.
    */
  def expand(shape: List[Long])(implicit scope: Scope): STen =
    viewList(Op.expand, shape.toArray)

  /** This expanded to the shape of another tensor. */
  def expandAs[S: Sc](other: STen): STen = expand(other.shape)

  /** Undoes a broadcast, as gradients need it: sums over the dimensions that `sizes`, aligned at the
    * right, has as 1 or not at all. This tensor itself where it has these sizes, a view where nothing
    * is summed.
    */
  def unbroadcast[S: Sc](sizes: Seq[Long]): STen = {
    val rank = dim
    val wanted = Seq.fill(rank - sizes.length)(1L) ++ sizes
    val stretched = if (wanted.length > rank) Nil else (0 until rank).filter(d => wanted(d) == 1 && dims(d) != 1)
    if (shape == sizes.toList) self
    else if (stretched.isEmpty) view(sizes: _*)
    else {
      val summed = sum(stretched, keepDim = true)
      if (summed.shape == sizes.toList) summed
      else
        try summed.view(sizes: _*)
        finally summed.close()
    }
  }

  /** The elements in another shape, as a view; one size may be -1. Where the strides do not allow it
    * this is a [[ShapeException]], and [[reshape]] copies.
    */
  def view[S: Sc](dims: Long*): STen = reshaped(Op.view, dims)

  /** The elements in the shape of another tensor, as a view. */
  def viewAs[S: Sc](other: STen): STen = reshaped(Op.view, other.shape)

  /** The elements in another shape: a view where the strides allow it, else a copy; one size may be -1. */
  def reshape[S: Sc](dims: Long*): STen = reshaped(Op.reshape, dims)

  /** The elements in the shape of another tensor: a view where the strides allow it, else a copy. */
  def reshapeAs[S: Sc](other: STen): STen = reshaped(Op.reshape, other.shape)

  private def reshaped[S: Sc](op: Int, shape: Seq[Long]): STen = {
    val sizes = shape.toArray
    val raw = Native.viewList(op, handle, sizes)
    if (sizes.contains(-1L)) STen.own(raw, this) else STen.own(raw, sizes)
  }

  /** Dimensions `startDim` to `endDim` merged: a view where the strides allow it, else a copy. */
  def flatten[S: Sc](startDim: Long, endDim: Long): STen =
    STen.own(view4(Op.flatten, startDim, endDim, 0, 0), this)

  /** All dimensions merged into one. */
  def flatten[S: Sc]: STen = flatten(0, -1)

  /** One dimension cut into several, as a view; one size may be -1. */
  def unflatten[S: Sc](dim: Int, sizes: Seq[Long]): STen =
    viewList(Op.unflatten, dim.toLong +: sizes.toArray)

  /** Without dimension `dim` where its size is 1, as a view. */
  def squeeze[S: Sc](dim: Int): STen = {
    val raw = view4(Op.squeeze, dim.toLong, 0, 0, 0)
    val rank = dims.length
    val gone = rank > 0 && dims(wrap(dim, rank)) == 1
    STen.own(raw, if (gone) removed(dims, wrap(dim, rank)) else dims)
  }

  /** Without those of the dimensions whose size is 1, as a view. */
  def squeeze[S: Sc](dims: Seq[Int]): STen = viewInts(Op.squeezeDims, dims)

  /** Without all dimensions of size 1, as a view. */
  def squeeze[S: Sc]: STen = {
    val raw = view4(Op.squeezeAll, 0, 0, 0, 0)
    STen.own(raw, dims.filter(_ != 1))
  }

  /** With a dimension of size 1 at `dim`, which may be one past the last, as a view. */
  def unsqueeze[S: Sc](dim: Int): STen = {
    val raw = view4(Op.unsqueeze, dim.toLong, 0, 0, 0)
    STen.own(raw, inserted(dims, wrap(dim, dims.length + 1), 1))
  }

  /** The diagonal of two dimensions as a last one, `offset` to its right (negative: below), as a view. */
  def diagonalView[S: Sc](offset: Int = 0, dim1: Int = 0, dim2: Int = 1): STen =
    STen.own(view4(Op.diagonal, offset.toLong, dim1.toLong, dim2.toLong, 0), this)

  /** Windows of `size` along a dimension, `step` apart, as a last dimension: a view whose elements may
    * share their place.
    */
  def unfold[S: Sc](dim: Int, size: Long, step: Long): STen =
    STen.own(view4(Op.unfold, dim.toLong, size, step, 0), this)

  /** Any sizes, strides and offset within this tensor's storage, in elements, as a view. */
  def asStrided[S: Sc](size: Seq[Long], stride: Seq[Long], storageOffset: Long): STen = {
    if (size.length != stride.length)
      throw new ShapeException(s"as_strided: $dtype $shapeText: ${size.length} sizes and ${stride.length} strides")
    viewList(Op.asStrided, ((size.length.toLong +: size) ++ stride :+ storageOffset).toArray)
  }

  /** As the other `asStrided`, at this tensor's own offset. */
  def asStrided[S: Sc](size: Seq[Long], stride: Seq[Long]): STen = asStrided(size, stride, storageOffset)

  /** A second owner of the same elements: libtorch's `detach` and `alias`. */
  def detach[S: Sc]: STen = alias

  /** Views of `size` indices of a dimension each; the last may be shorter. */
  def split[S: Sc](size: Long, dim: Int): Vector[STen] = {
    val whole = sizeOf(dim)
    if (size < 0 || size == 0 && whole > 0)
      throw new ShapeException(s"split: $dtype $shapeText: parts of $size indices")
    if (whole == 0) Vector(narrow(dim, 0, 0))
    else (0L until whole by size).iterator.map(at => narrow(dim, at, math.min(size, whole - at))).toVector
  }

  /** Views of the given numbers of indices of a dimension, which they must use up. */
  def split[S: Sc](sizes: Seq[Long], dim: Int): Vector[STen] = {
    val whole = sizeOf(dim)
    if (sizes.exists(_ < 0) || sizes.sum != whole)
      throw new ShapeException(s"split: $dtype $shapeText: parts ${sizes.mkString("[", ", ", "]")} of $whole indices")
    sizes.iterator.zip(sizes.iterator.scanLeft(0L)(_ + _)).map { case (n, at) => narrow(dim, at, n) }.toVector
  }

  /** At most `chunks` views of equally many indices of a dimension; the last may be shorter. */
  def chunk[S: Sc](chunks: Int, dim: Int): Vector[STen] = {
    val whole = sizeOf(dim)
    if (chunks < 1) throw new ShapeException(s"chunk: $dtype $shapeText: $chunks parts")
    if (whole == 0) Vector.fill(chunks)(narrow(dim, 0, 0))
    else split((whole - 1) / chunks + 1, dim)
  }

  /** Views of each index of a dimension, without it. */
  def unbind[S: Sc](dim: Int): Vector[STen] =
    (0L until sizeOf(dim)).iterator.map(i => select(dim.toLong, i)).toVector

  private def sizeOf(dim: Int): Long = {
    val rank = this.dim
    if (dim < -rank || dim >= rank)
      throw new IndexException(s"$dtype $shapeText: dimension $dim is outside [-$rank, $rank)")
    dims(wrap(dim, rank))
  }

  /** Rows `[start, end)`, as a view. */
  def sliceRows[S: Sc](start: Long, end: Long): STen = narrow(0, from(start, end), end - start)

  /** Columns `[start, end)` of a matrix, as a view. */
  def sliceColumns[S: Sc](start: Long, end: Long): STen = narrow(1, from(start, end), end - start)

  /** A copy of rows `[start, end)`. */
  def copyRows[S: Sc](start: Long, end: Long): STen = copyPart(0, start, end)

  /** A copy of columns `[start, end)` of a matrix. */
  def copyColumns[S: Sc](start: Long, end: Long): STen = copyPart(1, start, end)

  private def copyPart[S: Sc](dim: Long, start: Long, end: Long): STen =
    passing(view4(Op.narrow, dim, from(start, end), end - start, 0)) { part =>
      STen.own(Native.view(Op.cloned, part, 0, 0, 0, 0))
    }

  private def from(start: Long, end: Long): Long = {
    if (start < 0 || end < start)
      throw new IndexException(s"rows or columns [$start, $end) of $dtype $shapeText")
    start
  }

  /** This where its elements lie in row-major order, else a copy in which they do. */
  def contiguous[S: Sc]: STen = STen.own(view4(Op.contiguous, 0, 0, 0, 0), this)

  /** A copy in memory of its own, in row-major order. */
  def cloneTensor[S: Sc]: STen = {
    val raw = view4(Op.cloned, 0, 0, 0, 0)
    if (frame eq null) STen.own(raw, this) else STen.own(raw, dims, frame.copied)
  }

  /** A copy with dimensions in reversed order. */
  def flip[S: Sc](dims: Seq[Int]): STen = viewInts(Op.flip, dims)

  /** A copy with elements moved on by `shift` places in row-major order, the last ones to the front. */
  def roll[S: Sc](shift: Long): STen = STen.own(view4(Op.rollFlat, shift, 0, 0, 0), this)

  /** A copy with elements moved on by `shift` along a dimension, the last ones to the front. */
  def roll[S: Sc](shift: Long, dim: Int): STen = roll(List(shift), List(dim))

  /** A copy with elements moved on by shifts along dimensions, the last ones to the front. */
  def roll[S: Sc](shifts: Seq[Long], dims: Seq[Int]): STen = {
    val from = handle
    if (shifts.length != dims.length)
      throw new ShapeException(s"roll: $dtype $shapeText: ${shifts.length} shifts for ${dims.length} dimensions")
    STen.own(Native.viewList(Op.roll, from, shifts.toArray ++ longs(dims)), this)
  }

  /** Copies beside each other along each dimension; more counts than dimensions make new ones in front. */
  def repeat[S: Sc](dims: List[Long]): STen = viewList(Op.repeat, dims.toArray)

  /** A copy with zeros right of a diagonal of the last two dimensions. */
  def tril[S: Sc](diagonal: Int = 0): STen = STen.own(view4(Op.tril, diagonal.toLong, 0, 0, 0), this)

  /** A copy with zeros left of a diagonal of the last two dimensions. */
  def triu[S: Sc](diagonal: Int = 0): STen = STen.own(view4(Op.triu, diagonal.toLong, 0, 0, 0), this)

  /** Zeroes what lies right of a diagonal of the last two dimensions. */
  def tril_(diagonal: Int = 0): Unit = { view4(Op.trilInPlace, diagonal.toLong, 0, 0, 0); () }

  /** Zeroes what lies left of a diagonal of the last two dimensions. */
  def triu_(diagonal: Int = 0): Unit = { view4(Op.triuInPlace, diagonal.toLong, 0, 0, 0); () }

  /** A vector as a diagonal of a square matrix, or a copy of a matrix's diagonal as a vector. */
  def diag[S: Sc](diagonal: Long): STen = STen.own(view4(Op.diag, diagonal, 0, 0, 0))

  /** The sum of a matrix's diagonal: integers as i64, floats in their own type. */
  def trace[S: Sc]: STen = STen.own(view4(Op.trace, 0, 0, 0, 0))

  /** This tensor after `other` along a dimension; see `STen.cat`. */
  def cat[S: Sc](other: STen, dim: Long): STen = STen.cat(List(self, other), dim)

  /** The elements take those of `source`, cast and broadcast. */
  def copyFrom(source: STen): Unit = Native.copy(handle, source.handle)

  /** The same as the other `copyFrom`: a copy on the processor ends before it returns. */
  def copyFrom(source: STen, nonBlocking: Boolean): Unit = copyFrom(source)

  /** This with the element type and device of options: a second owner of the same elements where it
    * has them already and `copy` is false, else a copy.
    */
  def to[S: Sc](options: STenOptions, nonBlocking: Boolean, copy: Boolean): STen =
    if (copy || options.dtype != dtype || options.isSparse) copyTo(options)
    else copyToDevice(options.device)
}

private object ShapeOps {

  /** Codes of the native operations. */
  object Op {
    private def code(name: String): Int = Native.opCode("view", name)
    val narrow: Int = code("narrow")
    val slice: Int = code("slice")
    val select: Int = code("select")
    val index: Int = code("index")
    val transpose: Int = code("transpose")
    val t: Int = code("t")
    val permute: Int = code("permute")
    val movedim: Int = code("movedim")
    val movedimList: Int = code("movedim_list")
    val expand: Int = code("expand")
    val view: Int = code("view")
    val reshape: Int = code("reshape")
    val flatten: Int = code("flatten")
    val unflatten: Int = code("unflatten")
    val squeeze: Int = code("squeeze")
    val squeezeDims: Int = code("squeeze_dims")
    val squeezeAll: Int = code("squeeze_all")
    val unsqueeze: Int = code("unsqueeze")
    val diagonal: Int = code("diagonal")
    val unfold: Int = code("unfold")
    val asStrided: Int = code("as_strided")
    val contiguous: Int = code("contiguous")
    val cloned: Int = code("clone")
    val flip: Int = code("flip")
    val rollFlat: Int = code("roll_flat")
    val roll: Int = code("roll")
    val repeat: Int = code("repeat")
    val tril: Int = code("tril")
    val triu: Int = code("triu")
    val trilInPlace: Int = code("tril_")
    val triuInPlace: Int = code("triu_")
    val diag: Int = code("diag")
    val trace: Int = code("trace")
  }

  def longs(numbers: Seq[Int]): Array[Long] = {
    val out = new Array[Long](numbers.length)
    var i = 0
    numbers.foreach { n => out(i) = n.toLong; i += 1 }
    out
  }

  /** Uses a native view that no tensor owns, and frees it. */
  def passing[A](raw: Long)(use: Long => A): A = {
    val handle = raw & Native.HANDLE_MASK
    try use(handle)
    finally Native.release(handle)
  }

  // Shapes of results, once the native operation has accepted its arguments.

  def wrap(dim: Int, rank: Int): Int = if (dim < 0) dim + rank else dim

  /** A dimension as an Int; no tensor has one beyond, so that the native operation refuses it. */
  def small(dim: Long): Int = math.max(Int.MinValue.toLong, math.min(Int.MaxValue.toLong, dim)).toInt

  def bounded(bound: Long, size: Long): Long =
    if (bound < 0) math.max(0L, bound + size) else math.min(bound, size)

  def resized(dims: Array[Long], dim: Int, size: Long): Array[Long] = {
    val out = dims.clone()
    out(wrap(dim, dims.length)) = size
    out
  }

  def removed(dims: Array[Long], d: Int): Array[Long] = {
    val out = new Array[Long](dims.length - 1)
    System.arraycopy(dims, 0, out, 0, d)
    System.arraycopy(dims, d + 1, out, d, out.length - d)
    out
  }

  def inserted(dims: Array[Long], d: Int, size: Long): Array[Long] = {
    val out = new Array[Long](dims.length + 1)
    System.arraycopy(dims, 0, out, 0, d)
    out(d) = size
    System.arraycopy(dims, d, out, d + 1, dims.length - d)
    out
  }

  def swapped(dims: Array[Long], dim1: Int, dim2: Int): Array[Long] =
    if (dims.length < 2) dims
    else {
      val (a, b) = (wrap(dim1, dims.length), wrap(dim2, dims.length))
      val out = dims.clone()
      out(a) = dims(b)
      out(b) = dims(a)
      out
    }
}
