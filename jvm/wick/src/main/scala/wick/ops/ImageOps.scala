package wick

import ImageCalls._

/** Methods of [[STen]]: images.
  *
  * An image is a plane in the last two dimensions, height and width; what stands before them are more
  * planes, each filtered by itself. Pixels are u8 or f32. What filters compute is said at [[Filter]], what
  * they find beyond the edge at [[BorderMode]]. Results have a dense layout and the image's valid region,
  * smaller by the filter's reach where the border is undefined; pixels outside it are 0. Other operations
  * than filters, copies and the views `narrow`, `slice`, `select` and `transpose` make tensors without a
  * valid region of their own.
  */
private[wick] trait ImageOps { self: STen =>

  /** The results of a filter, each of the image's shape. */
  def filter[S: Sc](filter: Filter, border: BorderMode = BorderMode.Replicate): Vector[STen] = {
    val from = handle
    val edges = Edges(filter, self, border)
    val results = new Array[Long](filter.results)
    Native.image(filter.code, from, edges.numbers, Array(edges.value), results)
    STen.ownAll(results, Frame.of(edges.region, dims)).toVector
  }

  /** Smoothed by weights 1 2 1 by 1 2 1 over 16. */
  def gaussian3x3[S: Sc](border: BorderMode = BorderMode.Replicate): STen =
    filter(Filter.Gaussian3x3, border).head

  /** Smoothed by weights 1 4 6 4 1 by 1 4 6 4 1 over 256. */
  def gaussian5x5[S: Sc](border: BorderMode = BorderMode.Replicate): STen =
    filter(Filter.Gaussian5x5, border).head

  /** The median of each pixel and its eight neighbours. */
  def medianFilter[S: Sc](border: BorderMode = BorderMode.Replicate): STen =
    filter(Filter.Median3x3, border).head

  /** The mean of each pixel and its eight neighbours. */
  def boxFilter[S: Sc](border: BorderMode = BorderMode.Replicate): STen = filter(Filter.Box3x3, border).head

  /** Slopes along rows and along columns: i16 of u8 pixels, f32 of f32 pixels. */
  def sobel[S: Sc](border: BorderMode = BorderMode.Replicate): (STen, STen) = {
    val both = filter(Filter.Sobel3x3, border)
    (both(0), both(1))
  }

  /** How many pixels of each plane fall into each of `bins` equal parts of `[from, from + range)`, in i64
    * `[…, bins]`. Pixels outside, and NaN, are not counted.
    */
  def histogram[S: Sc](bins: Long = 256, from: Double = 0, range: Double = 256): STen =
    one(counts, Array(bins), Array(from, range))

  /** Each u8 plane with its values spread over 0 to 255: `255 * (cdf(v) - cdf(least)) / (pixels -
    * cdf(least))`, rounded to the nearest, halves up. A plane of one value stays as it is.
    */
  def equalizeHist[S: Sc]: STen = one(equalize)

  /** In another size.
    *
    * @param mode
    *   "nearest" and "bilinear" as [[STen.interpolate]], or "area": the mean of what a pixel covers. u8 pixels
    *   are computed in f32 and rounded to the nearest.
    */
  def resize[S: Sc](height: Long, width: Long, mode: String = "bilinear"): STen = {
    handle
    one(ImageCalls.resize(mode), Array(height, width))
  }

  /** `[…, 3, height, width]` of red, green and blue as luma, `[…, 1, height, width]`. u8 results are rounded
    * to the nearest.
    *
    * @param standard
    *   the weights of the colours: "bt709" (0.2126 0.7152 0.0722) or "bt601" (0.299 0.587 0.114)
    */
  def rgbToGray[S: Sc](standard: String = "bt709"): STen = colours(gray, standard)

  /** `[…, 3, height, width]` of red, green and blue as luma and two chromas of full range, whose zero is 128
    * in u8 and 0 in f32.
    */
  def rgbToYuv[S: Sc](standard: String = "bt709"): STen = colours(yuv, standard)

  /** Undoes [[rgbToYuv]]. u8 results outside 0 to 255 become those. */
  def yuvToRgb[S: Sc](standard: String = "bt709"): STen = colours(rgb, standard)

  /** `[3, height, width]` of even sizes as NV12: luma `[height, width]`, and chromas of half the sizes side by
    * side, `[height / 2, width / 2, 2]`.
    */
  def rgbToNv12(standard: String = "bt709")(implicit scope: Scope): (STen, STen) = {
    handle
    if (dims.length != 3 || dims(1) % 2 != 0 || dims(2) % 2 != 0)
      throw new ShapeException(s"rgbToNv12: $dtype $shapeText: expected [3, height, width] of even sizes")
    Scope { implicit scope =>
      val all = rgbToYuv(standard)
      val chroma = all.narrow(0, 1, 2).resize(dims(1) / 2, dims(2) / 2, "area")
      (all.select(0, 0).cloneTensor, chroma.permute(Seq(1, 2, 0)).contiguous)
    }
  }

  private def colours[S: Sc](op: Int, standard: String): STen = {
    handle
    one(op, Array(ImageCalls.standard(standard)))
  }

  private def one[S: Sc](
      op: Int,
      numbers: Array[Long] = Array.emptyLongArray,
      factors: Array[Double] = Array.emptyDoubleArray
  ): STen = {
    val results = new Array[Long](1)
    Native.image(op, handle, numbers, factors, results)
    STen.own(results(0))
  }

  /** Where greater than `bound` one value, else another, in this tensor's element type. */
  def binarize(bound: Double, above: Double = 255, below: Double = 0)(implicit scope: Scope): STen = {
    val to = STenOptions(dtype, device)
    Scope { implicit scope => STen.full(dims.toSeq, below, to).maskedFill(self.gt(bound), above) }
  }

  /** The part whose elements mean something; all of it for most tensors. */
  def validRegion: ValidRegion = {
    handle
    if ((frame ne null) && (frame.region ne null)) frame.region else ValidRegion.all(dims.toSeq)
  }

  /** The same elements, of which those of a part are valid. */
  def withValidRegion[S: Sc](region: ValidRegion): STen = {
    val whole = ValidRegion.all(shape)
    if (region.anchor.length != dims.length || !whole.contains(region))
      throw new ShapeException(s"valid region: $dtype $shapeText: $region reaches beyond it")
    val old = frame
    val next =
      if (old eq null) Frame.of(region, dims)
      else Frame(if (region == whole) null else region, old.padding, old.onShort)
    STen.own(Native.alias(handle), dims, next)
  }

  /** The room around its planes. */
  def padding: Padding = {
    handle
    if (frame ne null) frame.padding else Padding.none
  }

  /** Writes what `border` puts beyond the edge of each plane into the padding, all of it. */
  def fillBorder_(border: BorderMode): Unit = {
    val to = handle
    Native.fillBorder(to, padding.sides, BorderMode.code(border), BorderMode.value(border))
  }
}

/** What a filter is told of edges: the native's numbers, and the valid region of its results. */
private[wick] final case class Edges(numbers: Array[Long], value: Double, region: ValidRegion)

private[wick] object Edges {
  def apply(filter: Filter, image: STen, border: BorderMode): Edges = {
    val all = image.validRegion
    val n = all.anchor.length
    // Whatever is wrong with other images, the native says.
    if (n < 2) Edges(Array(BorderMode.code(border).toLong), BorderMode.value(border), all)
    else {
      val (frame, radius) = (image.frame, filter.radius.toLong)
      def cut(region: ValidRegion, dim: Int, from: Long, to: Long) =
        region.intersect(ValidRegion.between(
          List.tabulate(n)(d => if (d == dim) math.max(from, 0) else 0L),
          List.tabulate(n)(d => if (d == dim) to else image.dims(d))
        ))

      /** The pixels of a dimension that may be read: the valid ones, and the padding next to them. */
      def readable(dim: Int): (Long, Long) = {
        val (from, to) = (all.anchor(dim), all.end(dim))
        if (border != BorderMode.Padding || to == from) (from, to)
        else {
          val padding = image.padding
          val (before, after) =
            if (dim == n - 2) (padding.top, padding.bottom) else (padding.left, padding.right)
          val low = if (from == 0) -math.min(before, radius) else from
          val high = if (to == image.dims(dim)) to + math.min(after, radius) else to
          (low, high)
        }
      }
      val ((top, bottom), (left, right)) = (readable(n - 2), readable(n - 1))
      val region =
        if (BorderMode.code(border) != 0) all
        else cut(cut(all, n - 2, top + radius, bottom - radius), n - 1, left + radius, right - radius)
      val short = (frame eq null) || frame.onShort == OnShort.Error
      if (
        border == BorderMode.Padding && region != ValidRegion.all(image.dims.toSeq) && !image.dims.contains(0L) && short
      )
        throw new ShapeException(
          s"${filter.id}: ${image.dtype} ${image.shapeText}: its border reaches ${filter.radius} pixels, and there is " +
            s"${image.padding} around the valid ${all.shape.mkString("[", ", ", "]")}: more padding, another " +
            "border mode, or OnShort.Shrink"
        )
      Edges(Array(BorderMode.code(border).toLong, top, left, bottom, right), BorderMode.value(border), region)
    }
  }
}

/** Codes of image operations. */
private[wick] object ImageCalls {
  private def code(name: String) = Native.opCode("image", name)

  val counts: Int = code("histogram")
  val equalize: Int = code("equalize_hist")
  val gray: Int = code("rgb_to_gray")
  val yuv: Int = code("rgb_to_yuv")
  val rgb: Int = code("yuv_to_rgb")

  private val nearest = code("resize_nearest")
  private val bilinear = code("resize_bilinear")
  private val area = code("resize_area")

  def resize(mode: String): Int = mode match {
    case "nearest"  => nearest
    case "bilinear" => bilinear
    case "area"     => area
    case other      =>
      throw new IllegalArgumentException(s"resize: mode \"$other\": expected nearest, bilinear or area")
  }

  def standard(name: String): Long = name match {
    case "bt709" => 709
    case "bt601" => 601
    case other   => throw new IllegalArgumentException(s"colours: standard \"$other\": expected bt709 or bt601")
  }
}
