package wick

/** Functions of the [[STen]] companion: tensors from nothing and from JVM arrays.
  *
  * Arrays are read in row-major order; `dim` is the shape, whose product must be the array's length.
  * Whatever has `tensorOptions` makes its elements of that type, on that device.
  */
private[wick] trait CreationFunctions {

  private def of(dim: Seq[Long], count: Long): Array[Long] =
    if (dim == null) Array(count) else dim.toArray

  /** On the device asked for: `raw` is in the default context, and freed where that is elsewhere. */
  private[wick] def place[S: Sc](raw: Long, device: Device): STen = {
    val number =
      try device.number(Context.of[S])
      catch { case t: Throwable => Native.release(raw & Native.HANDLE_MASK); throw t }
    if (number == 0) STen.own(raw)
    else {
      val first = raw & Native.HANDLE_MASK
      val there =
        try Native.copyToDevice(first, number)
        finally Native.release(first)
      STen.own(there)
    }
  }

  /** In another element type than the array's, the first tensor being freed at once. */
  private def convert[S: Sc](raw: Long, from: DType, to: DType, device: Device): STen =
    if (from == to) place(raw, device)
    else {
      val first = raw & Native.HANDLE_MASK
      val cast =
        try Native.cast(first, to.number)
        finally Native.release(first)
      place(cast, device)
    }

  /** The code of a dense tensor's element type, with its device. */
  private[wick] def dense[S: Sc](op: String, options: STenOptions): Int = Device.code(op, options)

  private def filled[S: Sc](size: Seq[Long], kind: Int, bits: Long, options: STenOptions): STen = {
    val dims = size.toArray
    if (options.isPadded) {
      dense("full", options.padding(PaddingPolicy.None))
      val out = Padded.empty("full", dims, options)
      try Native.fill(out.handle, kind, bits)
      catch { case t: Throwable => out.close(); throw t }
      out
    } else STen.own(Native.full(dense("full", options), dims, kind, bits), dims)
  }

  /** A vector of f64. */
  def fromDoubleArray[S: Sc](ar: Array[Double]): STen =
    place(Native.fromDoubles(ar, of(null, ar.length.toLong)), CPU)

  /** A tensor of f64. */
  def fromDoubleArray[S: Sc](ar: Array[Double], dim: Seq[Long]): STen =
    place(Native.fromDoubles(ar, dim.toArray), CPU)

  /** A tensor of floating point elements of a precision. */
  def fromDoubleArray[S: Sc](
      ar: Array[Double],
      dim: Seq[Long],
      device: Device,
      precision: FloatingPointPrecision
  ): STen =
    convert(Native.fromDoubles(ar, dim.toArray), DType.F64, precision.dtype, device)

  /** A vector of f32. */
  def fromFloatArray[S: Sc](ar: Array[Float]): STen =
    place(Native.fromFloats(ar, of(null, ar.length.toLong)), CPU)

  /** A tensor of f32. */
  def fromFloatArray[S: Sc](ar: Array[Float], dim: Seq[Long]): STen =
    place(Native.fromFloats(ar, dim.toArray), CPU)

  /** A tensor of f32. */
  def fromFloatArray[S: Sc](ar: Array[Float], dim: Seq[Long], device: Device): STen =
    place(Native.fromFloats(ar, dim.toArray), device)

  /** A tensor of floating point elements of a precision: f16 and bf16 round to nearest, ties to even. */
  def fromFloatArray[S: Sc](
      ar: Array[Float],
      dim: Seq[Long],
      device: Device,
      precision: FloatingPointPrecision
  ): STen =
    convert(Native.fromFloats(ar, dim.toArray), DType.F32, precision.dtype, device)

  /** A vector of i64. */
  def fromLongArray[S: Sc](ar: Array[Long]): STen =
    place(Native.fromLongs(ar, of(null, ar.length.toLong)), CPU)

  /** A tensor of i64. */
  def fromLongArray[S: Sc](ar: Array[Long], dim: Seq[Long]): STen =
    place(Native.fromLongs(ar, dim.toArray), CPU)

  /** A tensor of i64. */
  def fromLongArray[S: Sc](ar: Array[Long], dim: Seq[Long], device: Device): STen =
    place(Native.fromLongs(ar, dim.toArray), device)

  /** A tensor of i64 from the arrays' elements one after another. Where there are none it is
    * filled with zeros, as in lamp.
    */
  def fromLongArrayOfArrays[S: Sc](ar: Array[Array[Long]], dim: Seq[Long], device: Device): STen = {
    val count = ar.foldLeft(0L)(_ + _.length)
    if (count == 0) zeros(dim, STenOptions(DType.I64, device))
    else if (count > Int.MaxValue - 8)
      throw new ShapeException(s"from array: $count elements: at most ${Int.MaxValue - 8} are possible")
    else {
      val all = new Array[Long](count.toInt)
      ar.foldLeft(0) { (at, part) =>
        System.arraycopy(part, 0, all, at, part.length)
        at + part.length
      }
      fromLongArray(all, dim, device)
    }
  }

  /** A vector of i32. */
  def fromIntArray[S: Sc](ar: Array[Int]): STen =
    place(Native.fromInts(ar, of(null, ar.length.toLong)), CPU)

  /** A tensor of i32. */
  def fromIntArray[S: Sc](ar: Array[Int], dim: Seq[Long]): STen =
    place(Native.fromInts(ar, dim.toArray), CPU)

  /** A tensor of i32. */
  def fromIntArray[S: Sc](ar: Array[Int], dim: Seq[Long], device: Device): STen =
    place(Native.fromInts(ar, dim.toArray), device)

  /** A vector of i16. */
  def fromShortArray[S: Sc](ar: Array[Short]): STen =
    place(Native.fromShorts(ar, of(null, ar.length.toLong)), CPU)

  /** A tensor of i16. */
  def fromShortArray[S: Sc](ar: Array[Short], dim: Seq[Long]): STen =
    place(Native.fromShorts(ar, dim.toArray), CPU)

  /** A tensor of i16. */
  def fromShortArray[S: Sc](ar: Array[Short], dim: Seq[Long], device: Device): STen =
    place(Native.fromShorts(ar, dim.toArray), device)

  /** A vector of i8. */
  def fromByteArray[S: Sc](ar: Array[Byte]): STen =
    place(Native.fromBytes(ar, of(null, ar.length.toLong), DType.I8.number), CPU)

  /** A tensor of i8. */
  def fromByteArray[S: Sc](ar: Array[Byte], dim: Seq[Long]): STen =
    fromByteArray(ar, dim, CPU)

  /** A tensor of i8. */
  def fromByteArray[S: Sc](ar: Array[Byte], dim: Seq[Long], device: Device): STen =
    place(Native.fromBytes(ar, dim.toArray, DType.I8.number), device)

  /** A tensor of u8: the byte -1 is 255. */
  def fromUnsignedByteArray[S: Sc](ar: Array[Byte], dim: Seq[Long], device: Device = CPU): STen =
    place(Native.fromBytes(ar, dim.toArray, DType.U8.number), device)

  /** A vector of truth values. */
  def fromBooleanArray[S: Sc](ar: Array[Boolean]): STen =
    place(Native.fromBooleans(ar, of(null, ar.length.toLong)), CPU)

  /** A tensor of truth values. */
  def fromBooleanArray[S: Sc](ar: Array[Boolean], dim: Seq[Long]): STen =
    place(Native.fromBooleans(ar, dim.toArray), CPU)

  /** A tensor of truth values. */
  def fromBooleanArray[S: Sc](ar: Array[Boolean], dim: Seq[Long], device: Device): STen =
    place(Native.fromBooleans(ar, dim.toArray), device)

  /** A tensor of f16 or bf16 from the 16 bits of each element. */
  def fromHalfBits[S: Sc](
      ar: Array[Short],
      dim: Seq[Long],
      precision: FloatingPointPrecision,
      device: Device = CPU
  ): STen = {
    if (precision.dtype.size != 2)
      throw new DTypeException(
        s"from array: ${precision.dtype} ${dim.mkString("[", ", ", "]")}: 16 bits make f16 or bf16"
      )
    place(Native.fromHalfBits(ar, dim.toArray, precision.dtype.number), device)
  }

  /** A vector of f64: `STen(1.0, 2.0)`. */
  def apply[S: Sc](first: Double, rest: Double*): STen = fromDoubleArray((first +: rest).toArray)

  /** A vector of i64: `STen(1, 2)`. */
  def apply[S: Sc](first: Long, rest: Long*): STen = fromLongArray((first +: rest).toArray)

  /** One number without dimensions. */
  def scalarLong(value: Long, options: STenOptions)(implicit scope: Scope): STen =
    full_l(Nil, value, options)

  /** One number without dimensions. */
  def scalarDouble[S: Sc](value: Double, options: STenOptions): STen = full(Nil, value, options)

  /** One number everywhere. One that the element type cannot hold is a [[DTypeException]]; integer
    * types cut off a fraction.
    */
  def full[S: Sc](size: Seq[Long], value: Double, tensorOptions: STenOptions = STen.dOptions): STen =
    filled(size, Native.FLOAT, Codes.bits(value), tensorOptions)

  /** As [[full]] with a whole number of all 64 bits. */
  def full_l[S: Sc](size: Seq[Long], value: Long, tensorOptions: STenOptions = STen.lOptions): STen =
    filled(size, Native.INT, value, tensorOptions)

  /** Ones. */
  def ones[S: Sc](size: Seq[Long], tensorOptions: STenOptions = STen.dOptions): STen =
    full_l(size, 1L, tensorOptions)

  /** Zeros. With sparse options a sparse tensor without elements, all of its dimensions sparse. */
  def zeros[S: Sc](size: Seq[Long], tensorOptions: STenOptions = STen.dOptions): STen =
    if (tensorOptions.isSparse) nothing(size, tensorOptions) else full_l(size, 0L, tensorOptions)

  private def nothing[S: Sc](size: Seq[Long], options: STenOptions): STen = {
    val strided = options.copy(layout = Layout.Strided)
    val indices = zeros(List(size.length.toLong, 0L), strided.copy(dtype = DType.I64))
    try {
      val values = zeros(List(0L), strided)
      try STen.sparse_coo(indices, values, size, options)
      finally values.close()
    } finally indices.close()
  }

  /** Elements of any value, to be written before they are read. With sparse options as [[zeros]]. */
  def empty[S: Sc](size: Seq[Long], tensorOptions: STenOptions = STen.dOptions): STen = {
    val dims = size.toArray
    if (tensorOptions.isSparse) nothing(size, tensorOptions)
    else if (tensorOptions.isPadded) {
      dense("empty", tensorOptions.padding(PaddingPolicy.None))
      Padded.empty("empty", dims, tensorOptions)
    } else STen.own(Native.empty(dense("empty", tensorOptions), dims), dims)
  }

  private def fullLike[S: Sc](tensor: STen, kind: Int, bits: Long): STen = {
    SparseCalls.dense("full_like", tensor)
    STen.own(Native.full(tensor.likeCode, tensor.dims, kind, bits), tensor.dims)
  }

  /** Ones, of the shape and element type of `tensor`. */
  def onesLike[S: Sc](tensor: STen): STen = fullLike(tensor, Native.INT, 1L)

  /** Zeros, of the shape and element type of `tensor`; of a sparse one a sparse tensor. */
  def zerosLike[S: Sc](tensor: STen): STen =
    if (tensor.isSparse) STen.own(Native.sparse(SparseCalls.zerosLike, tensor.handle, -1L))
    else fullLike(tensor, Native.INT, 0L)

  /** One number everywhere, of the shape and element type of `tensor`. */
  def fullLike[S: Sc](tensor: STen, value: Double): STen =
    fullLike(tensor, Native.FLOAT, Codes.bits(value))

  /** As [[fullLike]] with a whole number of all 64 bits. */
  def fullLike[S: Sc](tensor: STen, value: Long): STen = fullLike(tensor, Native.INT, value)

  /** Elements of any value, of the shape and element type of `tensor`. */
  def emptyLike[S: Sc](tensor: STen): STen = {
    SparseCalls.dense("empty_like", tensor)
    STen.own(Native.empty(tensor.likeCode, tensor.dims), tensor.dims)
  }

  /** The `n` by `n` matrix with ones on the main diagonal and zeros elsewhere. */
  def eye[S: Sc](n: Int, tensorOptions: STenOptions = STen.dOptions): STen = eye(n, n, tensorOptions)

  /** The `n` by `m` matrix with ones on the main diagonal and zeros elsewhere. */
  def eye[S: Sc](n: Int, m: Int, tensorOptions: STenOptions): STen =
    STen.own(Native.eye(dense("eye", tensorOptions), n.toLong, m.toLong))

  /** `start`, `start + step`, … up to `end`, which is left out: as many as fit by libtorch's count,
    * the quotient rounded up. Element `i` is `start + i * step` in f64, rounded once.
    */
  def arange[S: Sc](
      start: Double,
      end: Double,
      step: Double,
      tensorOptions: STenOptions = STen.dOptions
  ): STen = {
    val dtype = dense("arange", tensorOptions)
    STen.own(
      Native.arange(dtype, Native.FLOAT, Codes.bits(start), Codes.bits(end), Codes.bits(step))
    )
  }

  /** As [[arange]] with whole numbers, exact over all 64 bits. */
  def arange_l[S: Sc](
      start: Long,
      end: Long,
      step: Long,
      tensorOptions: STenOptions = STen.lOptions
  ): STen =
    STen.own(Native.arange(dense("arange", tensorOptions), Native.INT, start, end, step))

  /** `steps` numbers at equal distances, the first `start`, the last `end`. */
  def linspace[S: Sc](
      start: Double,
      end: Double,
      steps: Long,
      tensorOptions: STenOptions = STen.dOptions
  ): STen =
    STen.own(Native.linspace(dense("linspace", tensorOptions), start, end, steps))
}
