package wick

import wick.{SortCalls => Calls}

/** Methods of [[STen]]: sorting, selection, quantiles, different elements.
  *
  * NaN counts as the greatest value, both zeros are equal, and elements that are equal keep their
  * order, always. Of two results the first are values, the second the places that they have along
  * the dimension, as i64.
  */
private[wick] trait SortOps { self: STen =>

  /** The elements along a dimension in order, and the places they had. libtorch: `sort`. */
  def sort[S: Sc](dim: Int, descending: Boolean): (STen, STen) =
    Calls.two(Native.sort(self.handle, dim.toLong, descending, _))

  /** As `sort`, which is stable in any case. */
  def sort[S: Sc](stable: Boolean, dim: Int, descending: Boolean): (STen, STen) = sort(dim, descending)

  /** The places along a dimension of the elements in order; stable in any case. libtorch: `argsort`. */
  def argsort[S: Sc](stable: Boolean, dim: Int, descending: Boolean): STen =
    STen.own(Native.argsort(self.handle, dim.toLong, descending), self)

  /** As `argsort`, which is stable in any case. */
  def argsort[S: Sc](dim: Int, descending: Boolean): STen = argsort(true, dim, descending)

  /** The elements along the first dimension in ascending order. libtorch: `msort`. */
  def msort[S: Sc]: STen = STen.own(Native.sortValues(self.handle, 0L, false), self)

  /** The `k` greatest (least where not `largest`) elements along a dimension; of equal ones the first.
    * They come in order where `sorted`. libtorch: `topk`.
    */
  def topk[S: Sc](k: Int, dim: Int, largest: Boolean, sorted: Boolean): (STen, STen) =
    Calls.two(Native.topk(self.handle, k.toLong, dim.toLong, largest, sorted, 0L, 0L, _))

  /** The `k`-th least elements along a dimension, `k` from 1. libtorch: `kthvalue`. */
  def kthvalue[S: Sc](k: Int, dim: Int, keepDim: Boolean): (STen, STen) =
    Calls.pick(Calls.kthvalue, self, k, dim, keepDim)

  /** The median of all elements: the lower of the two in the middle, NaN where there is one. Of no
    * floats it is NaN, of no integers an [[IndexException]]. libtorch: `median`.
    */
  def median[S: Sc]: STen = STen.own(Native.median(self.handle, false))

  /** The medians along a dimension. libtorch: `median`. */
  def median[S: Sc](dim: Int, keepDim: Boolean): (STen, STen) =
    Calls.pick(Calls.median, self, 0, dim, keepDim)

  /** The median of all elements that are not NaN. libtorch: `nanmedian`. */
  def nanmedian[S: Sc]: STen = STen.own(Native.median(self.handle, true))

  /** The medians along a dimension of the elements that are not NaN. libtorch: `nanmedian`. */
  def nanmedian[S: Sc](dim: Int, keepDim: Boolean): (STen, STen) =
    Calls.pick(Calls.nanmedian, self, 0, dim, keepDim)

  /** The most frequent elements along a dimension (of several the least) and the last place of each.
    * libtorch: `mode`.
    */
  def mode[S: Sc](dim: Int, keepDim: Boolean): (STen, STen) = Calls.pick(Calls.mode, self, 0, dim, keepDim)

  /** The least and the greatest element; a NaN is both. libtorch: `aminmax`. */
  def aminmax[S: Sc]: (STen, STen) = (self.min, self.max)

  /** The least and the greatest elements along a dimension. libtorch: `aminmax`. */
  def aminmax[S: Sc](dim: Int, keepDim: Boolean): (STen, STen) =
    (self.amin(List(dim), keepDim), self.amax(List(dim), keepDim))

  /** The greatest elements so far along a dimension and their last places; a NaN stays. libtorch:
    * `cummax`.
    */
  def cummax[S: Sc](dim: Int): (STen, STen) = Calls.running(Calls.cummax, self, dim)

  /** The least elements so far along a dimension and their last places; a NaN stays. libtorch: `cummin`. */
  def cummin[S: Sc](dim: Int): (STen, STen) = Calls.running(Calls.cummin, self, dim)

  /** What lies at the fraction `q` of the way through all elements in order, between two of them in
    * proportion; NaN where there is one. libtorch: `quantile`.
    */
  def quantile[S: Sc](q: Double): STen = Calls.quantile(self, q, null, None, false, "linear", false)

  /** As `quantile`, for each of a vector of fractions. */
  def quantile[S: Sc](q: STen): STen = Calls.quantile(self, 0, q, None, false, "linear", false)

  /** Quantiles along a dimension. */
  def quantile[S: Sc](q: Double, dim: Int, keepDim: Boolean): STen =
    Calls.quantile(self, q, null, Some(dim), keepDim, "linear", false)

  /** Quantiles along a dimension; `interpolation` is linear, lower, higher, midpoint or nearest. */
  def quantile[S: Sc](q: Double, dim: Int, keepDim: Boolean, interpolation: String): STen =
    Calls.quantile(self, q, null, Some(dim), keepDim, interpolation, false)

  /** Quantiles along a dimension for each of a vector of fractions, as a new first dimension. */
  def quantile[S: Sc](q: STen, dim: Int, keepDim: Boolean, interpolation: String): STen =
    Calls.quantile(self, 0, q, Some(dim), keepDim, interpolation, false)

  /** As `quantile`, of the elements that are not NaN. libtorch: `nanquantile`. */
  def nanquantile[S: Sc](q: Double): STen = Calls.quantile(self, q, null, None, false, "linear", true)

  /** As `nanquantile`, for each of a vector of fractions. */
  def nanquantile[S: Sc](q: STen): STen = Calls.quantile(self, 0, q, None, false, "linear", true)

  /** Quantiles along a dimension of the elements that are not NaN. */
  def nanquantile[S: Sc](q: Double, dim: Int, keepDim: Boolean): STen =
    Calls.quantile(self, q, null, Some(dim), keepDim, "linear", true)

  /** Quantiles along a dimension of the elements that are not NaN; `interpolation` as in `quantile`. */
  def nanquantile[S: Sc](q: Double, dim: Int, keepDim: Boolean, interpolation: String): STen =
    Calls.quantile(self, q, null, Some(dim), keepDim, interpolation, true)

  /** As `nanquantile` for each of a vector of fractions, as a new first dimension. */
  def nanquantile[S: Sc](q: STen, dim: Int, keepDim: Boolean, interpolation: String): STen =
    Calls.quantile(self, 0, q, Some(dim), keepDim, interpolation, true)

  /** The different elements, in order whether `sorted` or not, and the number of each element among
    * them (no elements unless `returnInverse`). Each NaN is an element of its own. libtorch: `_unique`.
    */
  def unique[S: Sc](sorted: Boolean, returnInverse: Boolean): (STen, STen) = {
    val (values, inverse, counts) = Calls.unique(self, None, false, returnInverse, false)
    counts.close()
    (values, inverse)
  }

  /** As `unique`, with how often each is there (no elements unless `returnCounts`). libtorch: `_unique2`. */
  def unique[S: Sc](sorted: Boolean, returnInverse: Boolean, returnCounts: Boolean): (STen, STen, STen) =
    Calls.unique(self, None, false, returnInverse, returnCounts)

  /** The different slices of a dimension, in order of their elements. libtorch: `unique_dim`. */
  def unique[S: Sc](
      dim: Int,
      sorted: Boolean,
      returnInverse: Boolean,
      returnCounts: Boolean
  ): (STen, STen, STen) = Calls.unique(self, Some(dim), false, returnInverse, returnCounts)

  /** The slices of a dimension that differ from the one before. libtorch: `unique_consecutive`. */
  def uniqueConsecutive[S: Sc](
      dim: Int,
      returnInverse: Boolean = false,
      returnCounts: Boolean = false
  ): (STen, STen, STen) = Calls.unique(self, Some(dim), true, returnInverse, returnCounts)

  /** The elements that differ from the one before, in row-major order. libtorch: `unique_consecutive`. */
  def uniqueConsecutive[S: Sc](returnInverse: Boolean, returnCounts: Boolean): (STen, STen, STen) =
    Calls.unique(self, None, true, returnInverse, returnCounts)
}
