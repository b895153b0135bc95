package wick

/** Where a tensor's elements live and its operations run: [[CPU]], a [[CudaDevice]] or, for tests and
  * for learning, a [[SimDevice]]. A device that is not there is a [[DeviceException]] when it is named.
  */
sealed trait Device {

  /** The native number; the processor stands for that of a context. */
  private[wick] def number(context: Context): Int

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

  /** The processor. */
  val CPU: wick.CPU.type = wick.CPU

  /** Simulated devices. */
  val Sim: SimDevice.type = SimDevice

  /** CUDA devices. */
  val Cuda: CudaDevice.type = CudaDevice

  /** How many simulated devices there can be. */
  def simDevices: Int = 8

  /** How many CUDA devices this process can use. */
  def cudaDevices: Int = 0

  /** The device that options name. */
  def fromOptions(options: STenOptions): Device = options.device

  /** The native code of a dense tensor to be made: its element type and its device. */
  private[wick] def code[S: Sc](op: String, options: STenOptions): Int = {
    if (options.isSparse)
      throw new DTypeException(s"$op: ${options.dtype} sparse: expected the strided layout")
    if (options.isCuda) throw new DeviceException(s"$op: no CUDA backend is loaded")
    options.unpadded(op)
    options.dtype.number | options.device.number(Context.of[S]) << 8
  }

  /** `t` on the device of a number: itself again, or a copy. */
  private[wick] def move[S: Sc](t: STen, number: Int): STen =
    if (t.deviceNumber == number) t.alias
    else {
      val frame = if (t.frame eq null) null else t.frame.copied
      STen.own(Native.copyToDevice(t.handle, number), t.dims, frame)
    }

  private[wick] def time[A](f: => A): (A, Long) = {
    val start = System.nanoTime
    val result = f
    (result, System.nanoTime - start)
  }
}

/** The processor that the program runs on. */
case object CPU extends Device {
  private[wick] def number(context: Context): Int = context.number
  def to[S: Sc](t: STen): STen = if (t.isSparse) t.alias else Device.move(t, number(Context.of[S]))
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

  private[wick] def number(context: Context): Int = throw unsupported
  def to[S: Sc](t: STen): STen = throw unsupported
  def to[S: Sc](options: STenOptions): STenOptions = options.cudaIndex(i.toShort)
  def options[S: Sc](precision: FloatingPointPrecision): STenOptions =
    precision.convertOption(to(STenOptions.d))
  def setSeed(seed: Long): Unit = Native.seed(seed)
  def measureTime[A](f: => A): (A, Long) = Device.time(f)

  private def unsupported = new DeviceException(s"copy to cuda:$i: no CUDA backend is loaded")
}

/** The `i`-th simulated device: memory of its own, a queue of operations, a queue of copies to it, all
  * on the processor. It computes what the processor computes, and lets tests, and whoever wants to see
  * how tensors move, choose what is slow and what fails.
  * {{{
  * Scope.root { implicit scope =>
  *   val sim = Device.Sim(0)
  *   val x = STen.ones(List(2), STenOptions.f.withDevice(sim))
  *   assert((x + 1.0).device == sim)
  *   sim.delay(SimDevice.Upload, 1000000L)          // every copy to it begins 1 ms later
  *   val y = STen.ones(List(2), STenOptions.f)
  *   y.asyncCopyToDevice(sim)                       // returns at once
  *   assert((y.onDevice(sim) + x).toFloatArray.sameElements(Array(2f, 2f)))
  *   sim.reset()
  * }
  * }}}
  */
final case class SimDevice(i: Int) extends Device {
  private val native: Int = Places.sim(i, this)
  private[wick] def number(context: Context): Int = native

  def to[S: Sc](t: STen): STen = Device.move(t, native)
  def to[S: Sc](options: STenOptions): STenOptions = options.withDevice(this)
  def options[S: Sc](precision: FloatingPointPrecision): STenOptions =
    precision.convertOption(to(STenOptions.d))
  def setSeed(seed: Long): Unit = Native.setContext(native, 2, seed, 0L)
  def measureTime[A](f: => A): (A, Long) = Device.time(f)

  /** Each piece of such work begins so many nanoseconds later. */
  def delay(work: SimDevice.Work, nanos: Long): Unit = Native.simulate(i, 0, work.code, nanos)

  /** The next `count` pieces of such work fail: a [[DeviceException]] where the result is waited for. */
  def fail(work: SimDevice.Work, count: Int): Unit = Native.simulate(i, 1, work.code, count.toLong)

  /** Such work does not begin until [[release]]. */
  def hold(work: SimDevice.Work): Unit = Native.simulate(i, 2, work.code, 1L)

  /** Lets such work go on. */
  def release(work: SimDevice.Work): Unit = Native.simulate(i, 2, work.code, 0L)

  /** No delays, no failures, nothing held. */
  def reset(): Unit = Native.simulate(i, 3, 0, 0L)

  /** How many pieces of such work were done. */
  def done(work: SimDevice.Work): Long = Native.simulated(i, work.code)

  /** Bytes of its memory that tensors hold. */
  def liveBytes: Long = Places.state(native)(0)
}

/** What a simulated device does. */
object SimDevice {

  /** A kind of work. */
  sealed abstract class Work(private[wick] val code: Int) extends Product with Serializable

  /** Operations. */
  case object Compute extends Work(0)

  /** Copies to the device. */
  case object Upload extends Work(1)

  /** Copies from the device. */
  case object Download extends Work(2)
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
