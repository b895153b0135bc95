package wick

/** The codes of sorting and selection, and the ways to call them. */
private[wick] object SortCalls {
  val kthvalue: Int = Native.opCode("pick", "kthvalue")
  val median: Int = Native.opCode("pick", "median")
  val nanmedian: Int = Native.opCode("pick", "nanmedian")
  val mode: Int = Native.opCode("pick", "mode")

  val cummax: Int = Native.opCode("running", "cummax")
  val cummin: Int = Native.opCode("running", "cummin")

  private val interpolations: Map[String, Int] =
    List("linear", "lower", "higher", "midpoint", "nearest").map(n => n -> Native.opCode("interpolation", n)).toMap

  /** The code of an interpolation by libtorch's name. */
  def interpolation(name: String): Int = interpolations.getOrElse(
    name,
    throw new IllegalArgumentException(
      s"quantile: no interpolation $name: expected linear, lower, higher, midpoint or nearest"
    )
  )

  /** The two results that a native method writes. */
  def two(call: Array[Long] => Unit)(implicit scope: Scope): (STen, STen) = {
    val results = new Array[Long](2)
    call(results)
    val both = STen.ownAll(results)
    (both(0), both(1))
  }

  def pick(op: Int, a: STen, k: Int, dim: Int, keepDim: Boolean)(implicit scope: Scope): (STen, STen) =
    two(Native.pick(op, a.handle, k.toLong, dim.toLong, keepDim, _))

  def running(op: Int, a: STen, dim: Int)(implicit scope: Scope): (STen, STen) =
    two(Native.running(op, a.handle, dim.toLong, _))

  /** `each`: null for the one fraction `q`; `dim`: none for all elements. */
  def quantile(
      a: STen,
      q: Double,
      each: STen,
      dim: Option[Int],
      keepDim: Boolean,
      interpolation: String,
      skipNan: Boolean
  )(implicit scope: Scope): STen =
    STen.own(
      Native.quantile(
        a.handle,
        q,
        if (each == null) 0L else each.handle,
        dim.isEmpty,
        dim.getOrElse(0).toLong,
        keepDim,
        SortCalls.interpolation(interpolation),
        skipNan
      )
    )

  /** The different elements or slices, the number of each one, how often each is there. */
  def unique(a: STen, dim: Option[Int], consecutive: Boolean, inverse: Boolean, counts: Boolean)(implicit
      scope: Scope
  ): (STen, STen, STen) = {
    val results = new Array[Long](3)
    Native.unique(a.handle, dim.isEmpty, dim.getOrElse(0).toLong, consecutive, inverse, counts, results)
    val all = STen.ownAll(results)
    (all(0), all(1), all(2))
  }

  def search(
      bucketize: Boolean,
      sequence: STen,
      values: STen,
      right: Boolean,
      outInt32: Boolean,
      sorter: Option[STen]
  )(implicit scope: Scope): STen =
    STen.own(
      Native.searchsorted(bucketize, sequence.handle, values.handle, some(sorter), right, outInt32),
      values
    )

  def nanReduce(mean: Boolean, a: STen, dims: Array[Long], keepDim: Boolean)(implicit scope: Scope): STen =
    STen.own(Native.nanReduce(mean, a.handle, dims, keepDim, -1))

  /** A tensor's handle, 0 for none. */
  def some(t: Option[STen]): Long = t match {
    case Some(t) => t.handle
    case None    => 0L
  }
}
