package wick

/** How elements are laid out: densely by strides, or as coordinates and values. */
sealed trait Layout extends Product with Serializable

/** The two layouts. */
object Layout {

  /** Dense elements addressed by strides. */
  case object Strided extends Layout

  /** Coordinates and values of the elements that are not zero. */
  case object Sparse extends Layout
}

/** What a new tensor shall be: element type, device and layout.
  *
  * An immutable value: it holds nothing native, so it needs no scope. The methods that take one take
  * it because lamp's do.
  * {{{
  * Scope.root { implicit scope =>
  *   val f32 = STenOptions.f
  *   assert(f32.isFloat && f32.isCPU)
  *   assert(f32.toDouble == STenOptions.d)
  * }
  * }}}
  */
final case class STenOptions(
    dtype: DType,
    device: Device = CPU,
    layout: Layout = Layout.Strided,
    paddingPolicy: PaddingPolicy = PaddingPolicy.None,
    onShort: OnShort = OnShort.Error
) {

  /** The same with room around planes, for `empty`, `zeros`, `ones`, `full`, `copyTo` and imported memory; other
    * factories refuse it. `onShort`: what filters do that read more of it than there is.
    */
  def padding(policy: PaddingPolicy, onShort: OnShort = OnShort.Error): STenOptions =
    copy(paddingPolicy = policy, onShort = onShort)

  private[wick] def isPadded: Boolean = paddingPolicy ne PaddingPolicy.None

  /** Refuses padding that would be passed over. */
  private[wick] def unpadded(op: String): Unit =
    if (isPadded)
      throw new IllegalArgumentException(s"$op: it makes no padded tensors: copyTo(options) pads what it made")

  /** The same with another element type. */
  def withDType(dtype: DType): STenOptions = if (dtype == this.dtype) this else copy(dtype = dtype)

  /** The same on another device. */
  def withDevice(device: Device): STenOptions = copy(device = device)

  /** The same with i16 elements. */
  def toShort[S: Sc]: STenOptions = withDType(DType.I16)

  /** The same with i32 elements. */
  def toInt[S: Sc]: STenOptions = withDType(DType.I32)

  /** The same with i64 elements. */
  def toLong[S: Sc]: STenOptions = withDType(DType.I64)

  /** The same with f64 elements. */
  def toDouble[S: Sc]: STenOptions = withDType(DType.F64)

  /** The same with f32 elements. */
  def toFloat[S: Sc]: STenOptions = withDType(DType.F32)

  /** The same with f16 elements. */
  def toHalf[S: Sc]: STenOptions = withDType(DType.F16)

  /** The same with i8 elements. */
  def toByte[S: Sc]: STenOptions = withDType(DType.I8)

  /** The same with bf16 elements. */
  def toBF16[S: Sc]: STenOptions = withDType(DType.BF16)

  /** The same with truth values. */
  def toBool[S: Sc]: STenOptions = withDType(DType.Bool)

  /** The same on the processor. */
  def cpu[S: Sc]: STenOptions = withDevice(CPU)

  /** The same on a CUDA device; one that is not there is a [[DeviceException]]. */
  def cudaIndex[S: Sc](index: Short): STenOptions = withDevice(CudaDevice(index.toInt))

  /** The same on the first CUDA device; a [[DeviceException]] where there is none. */
  def cuda[S: Sc]: STenOptions = cudaIndex(0)

  /** Always a [[DeviceException]]: Apple's device is not offered. */
  def mps[S: Sc]: STenOptions =
    throw new DeviceException("mps is not offered: the devices are CPU and CudaDevice(i)")

  /** Whether elements are f64. */
  def isDouble: Boolean = dtype == DType.F64

  /** Whether elements are i32. */
  def isInt: Boolean = dtype == DType.I32

  /** Whether elements are i16. */
  def isShort: Boolean = dtype == DType.I16

  /** Whether elements are f32. */
  def isFloat: Boolean = dtype == DType.F32

  /** Whether elements are i8. */
  def isByte: Boolean = dtype == DType.I8

  /** Whether elements are i64. */
  def isLong: Boolean = dtype == DType.I64

  /** Whether tensors live on the processor. */
  def isCPU: Boolean = device == CPU

  /** Whether tensors live on a CUDA device. */
  def isCuda: Boolean = device.isInstanceOf[CudaDevice]

  /** Whether tensors are sparse. */
  def isSparse: Boolean = layout == Layout.Sparse

  /** The device's number among those of its kind; -1 on the processor, as in libtorch. */
  def deviceIndex: Int = device match {
    case CudaDevice(i) => i
    case SimDevice(i)  => i
    case CPU           => -1
  }

  /** libtorch's number of the element type. */
  def scalarTypeByte: Byte = dtype.scalarTypeByte
}

/** lamp's names for common options, all on the processor. */
object STenOptions {

  /** f64. */
  def d: STenOptions = STen.dOptions

  /** f32. */
  def f: STenOptions = STen.fOptions

  /** i32. */
  def i: STenOptions = STen.iOptions

  /** i16. */
  def sh: STenOptions = STen.shOptions

  /** i64. */
  def l: STenOptions = STen.lOptions

  /** i8. */
  def b: STenOptions = STen.bOptions

  /** bf16. */
  def bf16: STenOptions = STen.bf16Options

  /** f16. */
  def f16: STenOptions = STen.f16Options

  /** u8. */
  def u8: STenOptions = STen.u8Options

  /** Truth values. */
  def bool: STenOptions = STen.boolOptions

  /** libtorch's number of the processor. */
  val deviceTypeCpu: Byte = 0

  /** libtorch's number of CUDA devices. */
  val deviceTypeCuda: Byte = 1

  /** libtorch's number of Apple's devices, which are not offered. */
  val deviceTypeMps: Byte = 13

  /** Options on the processor with the element type of a libtorch number. */
  def fromScalarType[S: Sc](b: Byte): STenOptions = STenOptions(DType.fromNumber(b.toInt))
}
