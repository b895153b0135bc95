package wick

/** Where a tensor's elements live and its operations run: [[CPU]] or a [[CudaDevice]]. */
sealed trait Device {

  /** `t` on this device: a copy where it lives elsewhere, else a second owner of the same elements. */
  def to[S: Sc](t: STen): STen

  /** The same options on this device. */
  def to[S: Sc](options: STenOptions): STenOptions

  /** Options for floating point tensors of a precision on this device. */
  def options[S: Sc](precision: FloatingPointPrecision): STenOptions

  /** Starts this device's random numbers anew. */
  def setSeed(seed: Long): Unit

  /** Runs `f` and gives its result with the nanoseconds it took, the device's work included. */
  def measureTime[A](f: => A): (A, Long)
}

/** Finds devices. */
object Device {

  /** How many CUDA devices this process can use. */
  def cudaDevices: Int = 0

  /** The device that options name. */
  def fromOptions(options: STenOptions): Device = options.device

  private[wick] def time[A](f: => A): (A, Long) = {
    val start = System.nanoTime
    val result = f
    (result, System.nanoTime - start)
  }
}

/** The processor that the program runs on. */
case object CPU extends Device {
  def to[S: Sc](t: STen): STen = t.alias
  def to[S: Sc](options: STenOptions): STenOptions = options.cpu
  def options[S: Sc](precision: FloatingPointPrecision): STenOptions =
    precision.convertOption(STenOptions.d)
  def setSeed(seed: Long): Unit = Native.seed(seed)
  def measureTime[A](f: => A): (A, Long) = Device.time(f)
}

/** The `i`-th CUDA device. Naming one that is not there is a [[DeviceException]] at once. */
case class CudaDevice(i: Int) extends Device {
  if (i < 0 || i >= Device.cudaDevices)
    throw new DeviceException(
      s"cuda:$i is not there: this process can use ${Device.cudaDevices} CUDA devices"
    )

  def to[S: Sc](t: STen): STen = throw unsupported
  def to[S: Sc](options: STenOptions): STenOptions = options.cudaIndex(i.toShort)
  def options[S: Sc](precision: FloatingPointPrecision): STenOptions =
    precision.convertOption(to(STenOptions.d))
  def setSeed(seed: Long): Unit = Native.seed(seed)
  def measureTime[A](f: => A): (A, Long) = Device.time(f)

  private def unsupported = new DeviceException(s"copy to cuda:$i: no CUDA backend is loaded")
}

/** A floating point element type as lamp's models ask for it. */
sealed trait FloatingPointPrecision {

  /** The element type. */
  def dtype: DType

  /** Its libtorch number. */
  def scalarTypeByte: Byte = dtype.scalarTypeByte

  /** `t` with elements of this precision, always a new tensor. */
  def convertTensor[S: Sc](t: STen): STen = STen.own(Native.cast(t.handle, dtype.number), t)

  /** The same options with this element type. */
  def convertOption[S: Sc](options: STenOptions): STenOptions = options.copy(dtype = dtype)
}

/** f64. */
case object DoublePrecision extends FloatingPointPrecision { val dtype: DType = DType.F64 }

/** f32. */
case object SinglePrecision extends FloatingPointPrecision { val dtype: DType = DType.F32 }

/** f16. */
case object HalfPrecision extends FloatingPointPrecision { val dtype: DType = DType.F16 }

/** bf16. */
case object BFloat16Precision extends FloatingPointPrecision { val dtype: DType = DType.BF16 }
