package wick

import wick.{IndexCalls => Calls}

/** Methods of [[STen]]: selecting and writing by index and mask.
  *
  * Indices are i64 (where libtorch takes i32, that as well). All of them are checked before anything
  * is written: a bad one is an [[IndexException]] that names it and its place. Masks are bool.
  */
private[wick] trait IndexOps { self: STen =>

  /** Slices of dimension `dim` in the order of the vector `index`. libtorch: `index_select`. */
  def indexSelect[S: Sc](dim: Long, index: STen): STen = Calls.read(Calls.select, self, dim, index)

  /** For each place of `index` the element that it names along `dim`; `index` has as many dimensions
    * as this tensor and is no longer in the others. libtorch: `gather`.
    */
  def gather[S: Sc](dim: Long, index: STen): STen = Calls.read(Calls.gather, self, dim, index)

  /** Elements of the flattened tensor; negative indices count from the end. libtorch: `take`. */
  def take[S: Sc](index: STen): STen = Calls.read(Calls.take, self, 0L, index)

  /** The elements where the mask holds, as a vector, in row-major order; shapes broadcast. libtorch:
    * `masked_select`.
    */
  def maskedSelect[S: Sc](mask: STen): STen = Calls.read(Calls.maskedSelect, self, 0L, mask)

  /** Advanced indexing: the index tensors, one a dimension, broadcast together; dimensions without one
    * stay whole. Negative indices count from the end; a mask stands for the places where it holds.
    * libtorch: `index`.
    */
  def index[S: Sc](indices: STen*): STen =
    STen.own(Native.indexList(self.handle, Calls.handles(indices)), self)

  /** `fill` where the mask holds, the elements of this tensor elsewhere; the dtype stays. libtorch:
    * `masked_fill`.
    */
  def maskedFill[S: Sc](mask: STen, fill: Double): STen =
    Calls.fill(self, mask, Native.FLOAT, Codes.bits(fill))

  /** As `maskedFill`, exact for whole numbers. */
  def maskedFill[S: Sc](mask: STen, fill: Long): STen = Calls.fill(self, mask, Native.INT, fill)

  /** The same as `maskedFill`. */
  def maskFill[S: Sc](mask: STen, fill: Double): STen = maskedFill(mask, fill)

  /** The same as `maskedFill`. */
  def maskFill[S: Sc](mask: STen, fill: Long): STen = maskedFill(mask, fill)

  /** Sets the elements where the mask, which broadcasts to this shape, holds. */
  def maskedFill_(mask: STen, fill: Double): Unit =
    Calls.fillInto(self, mask, Native.FLOAT, Codes.bits(fill))

  /** As `maskedFill_`, exact for whole numbers. */
  def maskedFill_(mask: STen, fill: Long): Unit = Calls.fillInto(self, mask, Native.INT, fill)

  /** The elements of `src`, in order, where the mask holds, those of this tensor elsewhere. libtorch:
    * `masked_scatter`.
    */
  def maskedScatter[S: Sc](mask: STen, src: STen): STen =
    Calls.write(Calls.maskedScatter, self, 0L, mask, src)

  /** `maskedScatter` in place. */
  def maskedScatter_(mask: STen, src: STen): Unit =
    Calls.writeInto(Calls.maskedScatter, self, 0L, mask, src)

  /** A copy in which each element of `source` stands at the place along `dim` that `index` says; of
    * several for one place the last counts. libtorch: `scatter`.
    */
  def scatter[S: Sc](dim: Long, index: STen, source: STen): STen =
    Calls.write(Calls.scatter, self, dim, index, source)

  /** A copy in which the elements that `index` names along `dim` are `source`. libtorch: `scatter`. */
  def scatter[S: Sc](dim: Long, index: STen, source: Double): STen =
    Calls.write(Calls.scatter, self, dim, index, Native.FLOAT, Codes.bits(source))

  /** As `scatter`, exact for whole numbers. */
  def scatter[S: Sc](dim: Long, index: STen, source: Long): STen =
    Calls.write(Calls.scatter, self, dim, index, Native.INT, source)

  /** `scatter` in place. */
  def scatter_(dim: Long, index: STen, source: STen): Unit =
    Calls.writeInto(Calls.scatter, self, dim, index, source)

  /** `scatter` in place. */
  def scatter_(dim: Long, index: STen, source: Double): Unit =
    Calls.writeInto(Calls.scatter, self, dim, index, Native.FLOAT, Codes.bits(source))

  /** `scatter` in place, exact for whole numbers. */
  def scatter_(dim: Long, index: STen, source: Long): Unit =
    Calls.writeInto(Calls.scatter, self, dim, index, Native.INT, source)

  /** A copy to which each element of `source` is added at the place along `dim` that `index` says. The
    * sums do not depend on the number of threads. libtorch: `scatter_add`.
    */
  def scatterAdd[S: Sc](dim: Long, index: STen, source: STen): STen =
    Calls.write(Calls.scatterAdd, self, dim, index, source)

  /** `scatterAdd` in place. */
  def scatterAdd_(dim: Long, index: STen, source: STen): Unit =
    Calls.writeInto(Calls.scatterAdd, self, dim, index, source)

  /** A copy to whose slices of dimension `dim` those of `source` are added, each where the vector
    * `index` says. libtorch: `index_add`.
    */
  def indexAdd[S: Sc](dim: Long, index: STen, source: STen): STen =
    Calls.write(Calls.add, self, dim, index, source)

  /** `indexAdd` in place. */
  def indexAdd_(dim: Long, index: STen, source: STen): Unit =
    Calls.writeInto(Calls.add, self, dim, index, source)

  /** A copy in which the slices of dimension `dim` that the vector `index` names are those of
    * `source`. libtorch: `index_copy`.
    */
  def indexCopy[S: Sc](dim: Int, index: STen, source: STen): STen =
    Calls.write(Calls.copy, self, dim.toLong, index, source)

  /** `indexCopy` in place. */
  def indexCopy_(dim: Int, index: STen, source: STen): Unit =
    Calls.writeInto(Calls.copy, self, dim.toLong, index, source)

  /** A copy in which all elements of the named slices are the one element of `source`. libtorch:
    * `index_fill`.
    */
  def indexFill[S: Sc](dim: Long, index: STen, source: STen): STen = {
    self.handle
    val (kind, bits) = number(source)
    Calls.write(Calls.fill, self, dim, index, kind, bits)
  }

  /** A copy in which all elements of the named slices are `source`. libtorch: `index_fill`. */
  def indexFill[S: Sc](dim: Long, index: STen, source: Double): STen =
    Calls.write(Calls.fill, self, dim, index, Native.FLOAT, Codes.bits(source))

  /** As `indexFill`, exact for whole numbers. */
  def indexFill[S: Sc](dim: Long, index: STen, source: Long): STen =
    Calls.write(Calls.fill, self, dim, index, Native.INT, source)

  /** `indexFill` in place. */
  def indexFill_(dim: Long, index: STen, source: Double): Unit =
    Calls.writeInto(Calls.fill, self, dim, index, Native.FLOAT, Codes.bits(source))

  /** `indexFill` in place, exact for whole numbers. */
  def indexFill_(dim: Long, index: STen, source: Long): Unit =
    Calls.writeInto(Calls.fill, self, dim, index, Native.INT, source)

  private def number(t: STen): (Int, Long) = {
    if (t.dim != 0)
      throw new ShapeException(s"index_fill: ${t.dtypeUnchecked.name} ${t.shapeText}: the value must be 0-d")
    if (t.isFloatingPoint) (Native.FLOAT, Codes.bits(Native.itemDouble(t.handle)))
    else (Native.INT, Native.itemLong(t.handle))
  }

  /** A copy in which elements of the flattened tensor are set, or grown where `accumulate`, to the
    * elements of `values`. libtorch: `put`.
    */
  def put[S: Sc](index: STen, values: STen, accumulate: Boolean): STen =
    Calls.write(if (accumulate) Calls.putAccumulate else Calls.put, self, 0L, index, values)

  /** `put` in place. */
  def put_(index: STen, values: STen, accumulate: Boolean): Unit =
    Calls.writeInto(if (accumulate) Calls.putAccumulate else Calls.put, self, 0L, index, values)

  /** A copy in which what [[index]] would select is set to `values`, which broadcast, or grown by them
    * where `accumulate`. libtorch: `index_put`.
    */
  def indexPut[S: Sc](indices: List[STen], values: STen, accumulate: Boolean): STen =
    STen.own(Native.indexPutList(self.handle, Calls.handles(indices), values.handle, accumulate, false), self)

  /** `indexPut` in place. */
  def indexPut_(indices: List[STen], values: STen, accumulate: Boolean): Unit = {
    Native.indexPutList(self.handle, Calls.handles(indices), values.handle, accumulate, true)
    ()
  }

  /** A new last dimension of `numClasses` elements: 1 at the place that a value says, else 0. -1: one
    * class more than the greatest value. libtorch: `one_hot`.
    */
  def oneHot[S: Sc](numClasses: Int): STen = STen.own(Native.oneHot(self.handle, numClasses.toLong))

  /** The index tuples of what is not zero, one a row. libtorch: `nonzero`. */
  def nonzero[S: Sc]: STen = STen.own(Native.nonzero(self.handle))

  /** The places of what is not zero: for each dimension a vector of indices. libtorch: `where`. */
  def where[S: Sc]: List[STen] = {
    val results = new Array[Long](math.max(1, self.dim))
    Native.nonzeroEach(self.handle, results)
    STen.ownAll(results).toList
  }

  /** Whether both tensors have the same shape and equal elements; NaN equals nothing, and another
    * dtype is an error. Either may be sparse: elements that are not there are 0. libtorch: `equal`.
    */
  def equalDeep(input2: STen): Boolean = Native.equal(self.handle, input2.handle)
}
