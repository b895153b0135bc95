package wick

import ShapeOps._

/** Methods of [[STen]]: the memory behind it, its elements in order, and boxes and planes of it. */
private[wick] trait StorageOps { self: STen =>

  /** How many open tensors share the memory, this one included: for tests and for finding leaks. */
  def storageRefCount: Long = Native.storageRefCount(handle)

  /** Whether the memory is someone else's: see `STen.importBuffer`. */
  def isImported: Boolean = Native.isImported(handle)

  /** The same elements, as a view through which nothing is written: whatever would write into it, or
    * into a view of it, is an `UnsupportedOperationException`. Writes to this tensor show in it.
    */
  def readOnly[S: Sc]: STen = STen.own(Native.readOnly(handle), dims, frame)

  /** Whether operations refuse to write into it. */
  def isReadOnly: Boolean = Native.isReadOnly(handle)

  /** A value beside the elements, of any type; null where there is none. All views of one tensor share
    * it, `cloneTensor` copies it, and what is written to a file has none.
    */
  def annotation: Any = Native.annotation(handle)

  /** Puts a value beside the elements; null takes it away. */
  def annotation_=(value: Any): Unit = Native.annotate(handle, value.asInstanceOf[AnyRef])

  /** The number of the device that holds the elements: 0 on the processor, too. It never changes. */
  def deviceId: Int = math.max(deviceIndex, 0)

  /** The shape as samples, channels, rows, columns; missing dimensions are 1, more than four a
    * [[ShapeException]].
    */
  def nchw: Nchw = Nchw.of(shape)

  /** Whether at most one dimension has another size than 1, or there are no elements. */
  def isVector: Boolean = {
    val n = numel
    n <= 1 || dims.contains(n)
  }

  /** Whether both have the same sizes, missing last dimensions counting as 1. */
  def sameDimensions(other: STen): Boolean = {
    val sizes = shape.zipAll(other.shape, 1L, 1L)
    sizes.forall { case (a, b) => a == b }
  }

  /** The elements in row-major order, read some hundred at a time as doubles: writes meanwhile may
    * show. Integers beyond 2^53 are rounded.
    */
  def iterator: Iterator[Double] = {
    val total = numel
    new Iterator[Double] {
      private[this] var chunk: Array[Double] = Array.emptyDoubleArray
      private[this] var first = 0L
      private[this] var at = 0
      def hasNext: Boolean = at < chunk.length || first + at < total
      def next(): Double = {
        if (!hasNext) throw new NoSuchElementException(s"iterator: the end")
        if (at == chunk.length) {
          first += at
          at = 0
          chunk = self.block(first, total, chunk)
        }
        at += 1
        chunk(at - 1)
      }
    }
  }

  /** Calls `f` with the elements as [[iterator]] gives them. */
  def foreach(f: Double => Unit): Unit = {
    val count = numel
    var first = 0L
    var chunk = Array.emptyDoubleArray
    while (first < count) {
      chunk = self.block(first, count, chunk)
      var i = 0
      while (i < chunk.length) { f(chunk(i)); i += 1 }
      first += chunk.length
    }
  }

  private def block(first: Long, count: Long, last: Array[Double]): Array[Double] = {
    val n = math.min(count - first, StorageOps.Chunk).toInt
    val out = if (last.length == n) last else new Array[Double](n)
    Native.readElements(handle, first, out)
    out
  }

  /** The sum of products of elements, each product in f64; as many elements, in any shape. */
  def dotDouble(other: STen): Double = Native.dotDouble(handle, other.handle)

  /** A matrix of one row for each index of the first dimension, as a view; without dimensions one of
    * one element. Where strides do not allow it this is a [[ShapeException]].
    */
  def asMatrix[S: Sc]: STen = asMatrix(shape.headOption.getOrElse(1L), shape.drop(1).product)

  /** The elements as a matrix of `rows * columns == numel`, as a view. */
  def asMatrix[S: Sc](rows: Long, columns: Long): STen =
    STen.own(Native.viewList(Op.view, handle, Array(rows, columns)), Array(rows, columns))

  /** Channel `channel` of sample `sample` as a matrix, as a view; see [[nchw]]. */
  def imagePlane[S: Sc](sample: Long, channel: Long): STen = {
    val sizes = nchw
    def inside(what: String, index: Long, size: Long): Unit =
      if (index < 0 || index >= size)
        throw new IndexException(s"image_plane: $dtype $shapeText: $what $index is outside [0, $size)")
    inside("sample", sample, sizes.numSamples)
    inside("channel", channel, sizes.k)
    val steps = strides.padTo(4, 0L)
    val first = storageOffset + sample * steps(0) + channel * steps(1)
    asStrided(List(sizes.nr, sizes.nc), List(steps(2), steps(3)), first)
  }

  /** Sample `i` takes the elements of `item`, cast: as many as a sample has, in any shape. */
  def setSample(i: Long, item: STen): Unit = sample(i, item)((to, from) => to.copyFrom(from))

  /** Adds the elements of `item` to sample `i`: as many as a sample has, in any shape. */
  def addToSample(i: Long, item: STen): Unit = sample(i, item)((to, from) => to += from)

  private def sample(i: Long, item: STen)(use: (STen, STen) => Unit): Unit = {
    val count = item.numel
    val wanted = shape.drop(1).product
    if (i < 0 || dims.length == 0 || i >= dims(0))
      throw new IndexException(s"sample: $dtype $shapeText: there is no sample $i")
    if (count != wanted)
      throw new ShapeException(
        s"sample: $dtype $shapeText and ${item.dtype} ${item.shapeText}: expected $wanted elements"
      )
    Scope.unsafe { implicit scope =>
      val to = select(0, i)
      use(to, item.reshape(to.shape: _*))
    }
  }

  /** The box of `shape` with its first corner at `coords`, outermost first, as a view. A box that does
    * not lie inside is an [[IndexException]].
    */
  def subTensor[S: Sc](shape: Seq[Long], coords: Seq[Long]): STen = {
    val from = handle
    StorageOps.checkInside("sub_tensor", this, Slot(shape, coords))
    val slices = shape.zip(coords).map { case (size, at) => Slice(at, at + size) }
    val kept = shape.indices.foldLeft(frame) { (f, d) =>
      if (f eq null) null else f.slice(dims, d, coords(d), shape(d), 1)
    }
    STen.own(Native.viewList(Op.index, from, Index.encode(slices)), shape.toArray, kept)
  }

  /** How many bytes from the start of the storage the element at `coords` lies, a coordinate for each
    * dimension, outermost first.
    */
  def offsetBytes(coords: Long*): Long = {
    val steps = strides
    if (coords.length != dims.length)
      throw new IndexException(s"offset_bytes: $dtype $shapeText: ${coords.length} coordinates")
    coords.zip(dims).foreach { case (at, size) =>
      if (at < 0 || at >= size)
        throw new IndexException(s"offset_bytes: $dtype $shapeText: ${coords.mkString("[", ", ", "]")} is outside")
    }
    (storageOffset + coords.zip(steps).map { case (at, step) => at * step }.sum) * elementSize
  }
}

private[wick] object StorageOps {

  /** Elements that an iterator reads at once. */
  final val Chunk = 512L

  /** Refuses a box that does not lie inside a tensor. */
  def checkInside(op: String, t: STen, slot: Slot): Unit = {
    val Slot(shape, coords) = slot
    def fail(text: String) =
      throw new IndexException(
        s"$op: ${t.dtype} ${t.shapeText}: box ${shape.mkString("[", ", ", "]")} at " +
          s"${coords.mkString("[", ", ", "]")}: $text"
      )
    if (shape.length != t.dims.length || coords.length != t.dims.length)
      fail(s"expected ${t.dims.length} sizes and coordinates")
    for (i <- shape.indices)
      if (shape(i) < 0 || coords(i) < 0 || shape(i) > t.dims(i) || coords(i) > t.dims(i) - shape(i))
        fail(s"it leaves dimension $i")
  }
}
