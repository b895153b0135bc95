package wick

import wick.{SortCalls => Calls}

/** Methods of [[STen]]: places among sorted values, counts of values, repeats, differences, sums
  * without NaN.
  */
private[wick] trait SearchOps { self: STen =>

  /** Where in this sorted sequence (along its last dimension) values belong: before equal ones, after
    * them where `right`. The sequence is a vector, or has a line for each line of values. libtorch:
    * `searchsorted`.
    */
  def searchSorted[S: Sc](values: STen, right: Boolean): STen =
    Calls.search(false, self, values, right, false, None)

  /** As `searchSorted`, with places as i32 where asked, and the order of a sequence that is not sorted. */
  def searchSorted[S: Sc](values: STen, right: Boolean, outInt32: Boolean, sorter: Option[STen]): STen =
    Calls.search(false, self, values, right, outInt32, sorter)

  /** For each element the number of the bucket between sorted boundaries that it falls into; with
    * `right` a boundary belongs to the bucket above it. libtorch: `bucketize`.
    */
  def bucketize[S: Sc](boundaries: STen, right: Boolean): STen =
    Calls.search(true, boundaries, self, right, false, None)

  /** As `bucketize`, as i32 where asked. */
  def bucketize[S: Sc](boundaries: STen, right: Boolean, outInt32: Boolean): STen =
    Calls.search(true, boundaries, self, right, outInt32, None)

  /** How many elements lie in each of `bins` equal parts of `[min, max]`, which stands for their own
    * range where both are 0. libtorch: `histc`.
    */
  def histc[S: Sc](bins: Int, min: Double, max: Double): STen =
    STen.own(Native.histc(self.handle, bins.toLong, min, max))

  /** How often each of 0, 1, … is there, or the sum of the weights that stand beside it; no fewer than
    * `minLength` results. libtorch: `bincount`.
    */
  def bincount[S: Sc](weights: Option[STen], minLength: Int = 0): STen =
    STen.own(Native.bincount(self.handle, Calls.some(weights), minLength.toLong))

  /** Slices of a dimension, each as often as the vector says (one number stands for all), in place.
    * libtorch: `repeat_interleave`.
    */
  def repeatInterleave[S: Sc](repeats: STen, dim: Int): STen =
    STen.own(Native.repeatInterleave(self.handle, repeats.handle, 0L, false, dim.toLong))

  /** Slices of a dimension, each `repeats` times, in place. libtorch: `repeat_interleave`. */
  def repeatInterleave[S: Sc](repeats: Long, dim: Int): STen =
    STen.own(Native.repeatInterleave(self.handle, 0L, repeats, false, dim.toLong))

  /** Of a vector of counts: each place as often as its count says. libtorch: `repeat_interleave`. */
  def repeatInterleave[S: Sc]: STen = STen.own(Native.repeatPlaces(self.handle))

  /** All subsets of `r` elements of a vector, one a row, in the order of places; where
    * `withReplacement` an element may be taken again. libtorch: `combinations`.
    */
  def combinations[S: Sc](r: Int, withReplacement: Boolean): STen =
    STen.own(Native.combinations(self.handle, r.toLong, withReplacement))

  /** Differences of neighbours along a dimension, `n` times over. libtorch: `diff`. */
  def diff[S: Sc](n: Int, dim: Int): STen = diff(n, dim, None, None)

  /** As `diff`, with tensors that stand before and after this one along the dimension. */
  def diff[S: Sc](n: Int, dim: Int, prepend: Option[STen], append: Option[STen]): STen =
    STen.own(Native.diff(self.handle, n.toLong, dim.toLong, Calls.some(prepend), Calls.some(append)))

  /** The sum of all elements that are not NaN. libtorch: `nansum`. */
  def nansum[S: Sc]: STen = Calls.nanReduce(false, self, null, false)

  /** Sums over dimensions of the elements that are not NaN. */
  def nansum[S: Sc](dim: Seq[Int], keepDim: Boolean): STen =
    Calls.nanReduce(false, self, Reductions.longs(dim), keepDim)

  /** The mean of all elements that are not NaN. libtorch: `nanmean`. */
  def nanmean[S: Sc]: STen = Calls.nanReduce(true, self, null, false)

  /** Means over dimensions of the elements that are not NaN. */
  def nanmean[S: Sc](dim: Seq[Int], keepDim: Boolean): STen =
    Calls.nanReduce(true, self, Reductions.longs(dim), keepDim)
}
