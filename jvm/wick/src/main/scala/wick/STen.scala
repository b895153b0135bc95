package wick

/** An off-heap N-dimensional array: lamp's tensor, computed by wick's native core.
  *
  * A tensor is made by a factory or an operation and belongs to the [[Scope]] given to that call,
  * which frees it. Views share elements with the tensor that they were taken of and keep the memory
  * alive on their own, so either may be closed first.
  * {{{
  * import wick._
  *
  * Scope.root { implicit scope =>
  *   val x = STen.fromDoubleArray(Array(1d, 2d, 3d, 4d), List(2, 2), CPU, DoublePrecision)
  *   val y = (x + 1.0).exp.sum(0, keepDim = false)
  *   println(y)                       // STen([ 61.987206, 168.498696], f64, [2])
  *   assert(y.shape == List(2L) && y.isDouble)
  * }
  * }}}
  *
  * Element type, shape and device live beside the handle: asking costs no native call. Whatever is
  * asked of a closed tensor, or an operation given one, is a [[ClosedTensorException]]; only
  * `toString` and `close` never throw. Equality is identity; `equalDeep` compares elements.
  */
sealed class STen private[wick] (
    private[wick] val rawHandle: Long,
    private[wick] val dims: Array[Long],
    owner0: Scope,
    slot0: Int
) extends AutoCloseable
    with ArrayOps
    with CreationOps
    with RandomOps
    with ElementwiseOps
    with BinaryOps
    with ArithmeticOps
    with ReduceOps
    with ShapeOps
    with MatmulOps
    with FftOps
    with LinalgOps
    with NormOps
    with IndexOps
    with DropoutOps
    with SortOps
    with SearchOps
    with SparseOps
    with StorageOps
    with ImageOps
    with WindowOps
    with DeviceOps {

  // The scope that owns this tensor and the place it has there; a negative place: closed. Written
  // under the lock and read without: a thread that has not seen the end yet is told by the handle.
  private[this] var owner: Scope = owner0
  private[this] var slot: Int = slot0
  private[this] var shapeList: List[Long] = null
  private[this] val birth: Tracing.Record =
    if (Tracing.on) Tracing.born(rawHandle, dims, owner0) else null

  /** The native handle of a tensor that is open: every operation passes here. */
  private[wick] def handle: Long = {
    if (isClosed) throw closedError
    rawHandle
  }

  /** Whether the tensor was closed, by its own `close` or with its scope. */
  def isClosed: Boolean = slot < 0 || owner.isClosed

  /** Frees the tensor before its scope ends. Later and concurrent calls do nothing. */
  def close(): Unit = {
    val mine = synchronized {
      val open = slot >= 0 && owner.leave(slot, rawHandle)
      if (slot >= 0) slot = STen.ClosedItself
      open
    }
    if (mine) {
      if (birth != null) Tracing.died(rawHandle)
      Native.release(rawHandle)
    }
  }

  /** The same as [[close]]. */
  def release(): Unit = close()

  /** Makes `to` the owner, whichever scope is it now. */
  private[wick] def moveTo(to: Scope): Unit = synchronized {
    if (isClosed) throw closedError
    if (owner ne to) move(owner, to)
  }

  /** Makes `to` the owner where `from` is it; tensors of other scopes and closed ones stay. */
  private[wick] def moveOut(from: Scope, to: Scope): Unit = synchronized {
    if ((owner eq from) && slot >= 0 && (from ne to)) move(from, to)
  }

  private def move(from: Scope, to: Scope): Unit =
    if (from.leave(slot, rawHandle)) {
      try slot = to.enter(rawHandle)
      catch {
        case t: Throwable =>
          slot = STen.ClosedByMove
          if (birth != null) Tracing.died(rawHandle)
          throw t
      }
      owner = to
      if (birth != null) birth.scope = to.describe
    }

  /** The scope that owns this tensor now. */
  private[wick] def currentOwner: Scope = synchronized {
    if (isClosed) throw closedError
    owner
  }

  private def closedError: ClosedTensorException = {
    val cause = slot match {
      case STen.ClosedByMove => "it was freed on its way to a scope that had ended"
      case s if s < 0        => "it was freed by its own close()"
      case _                 => s"its scope ${owner.describe} has ended"
    }
    val sites =
      if (birth != null) birth.sites
      else if (Tracing.on) "\n(it was made before tracing was switched on)"
      else "\n(Wick.tracing = true records where tensors are made and closed)"
    new ClosedTensorException(
      s"tensor ${dtypeUnchecked.name} ${shapeText} in scope ${owner.describe} is closed: $cause$sites"
    )
  }

  private[wick] def dtypeUnchecked: DType = DType.ofHandle(rawHandle)
  private[wick] def shapeText: String = dims.mkString("[", ", ", "]")
  @inline private def check(): Unit = if (isClosed) throw closedError

  /** The length of each dimension, outermost first; empty for a single value. */
  def shape: List[Long] = {
    check()
    if (shapeList == null) shapeList = dims.toList
    shapeList
  }

  /** The same as [[shape]]. */
  def sizes: List[Long] = shape

  /** How many dimensions there are. */
  def dim: Int = {
    check()
    dims.length
  }

  /** How many elements there are. */
  def numel: Long = {
    check()
    STen.product(dims)
  }

  /** Bytes of one element. */
  def elementSize: Long = dtype.size.toLong

  /** Bytes of all elements. */
  def numBytes: Long = numel * elementSize

  /** The element type. */
  def dtype: DType = {
    check()
    DType.ofHandle(rawHandle)
  }

  /** libtorch's number of the element type: 1 i8, 2 i16, 3 i32, 4 i64, 5 f16, 6 f32, 7 f64, … */
  def scalarTypeByte: Byte = dtype.scalarTypeByte

  /** The device that operations on this tensor run on. */
  def device: Device = {
    check()
    CPU
  }

  /** The device's native number. */
  private[wick] def deviceNumber: Int = 0

  /** The native code of the element type, for a new tensor on this device. */
  private[wick] def likeCode: Int = (handle & Native.DTYPE_MASK).toInt | deviceNumber << 8

  /** The device's number among those of its kind, -1 on the processor. */
  def deviceIndex: Int = device match {
    case CudaDevice(i) => i
    case SimDevice(i)  => i
    case CPU           => -1
  }

  /** Element type, device and layout. */
  def options[S: Sc]: STenOptions = STenOptions(dtype, device)

  /** Whether elements are f64. */
  def isDouble: Boolean = dtype == DType.F64

  /** Whether elements are f32. */
  def isFloat: Boolean = dtype == DType.F32

  /** Whether elements are i64. */
  def isLong: Boolean = dtype == DType.I64

  /** Whether elements are i32. */
  def isInt: Boolean = dtype == DType.I32

  /** Whether elements are i16. */
  def isShort: Boolean = dtype == DType.I16

  /** Whether elements are i8. */
  def isByte: Boolean = dtype == DType.I8

  /** Whether elements are f16. */
  def isHalf: Boolean = dtype == DType.F16

  /** Whether elements are bf16. */
  def isBF16: Boolean = dtype == DType.BF16

  /** Whether elements are truth values. */
  def isBool: Boolean = dtype == DType.Bool

  /** Whether elements are f64, f32, f16 or bf16. */
  def isFloatingPoint: Boolean = dtype.isFloatingPoint

  /** Whether the processor holds the elements. */
  def isCPU: Boolean = device == CPU

  /** Whether a CUDA device holds the elements. */
  def isCuda: Boolean = device.isInstanceOf[CudaDevice]

  /** Whether the layout is sparse. */
  def isSparse: Boolean = {
    check()
    false
  }

  /** Whether the elements lie in page-locked memory. */
  def isPinned: Boolean = {
    check()
    false
  }

  /** This tensor in page-locked memory; without a CUDA device the tensor itself, as in lamp. */
  def pin[S: Sc]: STen = {
    check()
    this
  }

  /** Steps between neighbours along each dimension, in elements. */
  def strides: List[Long] = Native.strides(handle).toList

  /** Whether the elements lie densely in row-major order. */
  def isContiguous: Boolean = Native.isContiguous(handle)

  /** Where the first element lies in the storage, in elements. */
  def storageOffset: Long = Native.storageOffset(handle)

  /** Whether both tensors are views of one storage, so that writes to one may show in the other. */
  def sharesStorageWith(other: STen): Boolean = Native.sharesStorage(handle, other.handle)

  /** A second owner of the same elements. */
  private[wick] def alias[S: Sc]: STen =
    if (frame eq null) STen.own(Native.alias(handle), this) else STen.own(Native.alias(handle), dims, frame)

  /** What there is beside the elements: null for all but a few tensors. */
  private[wick] def frame: Frame = null

  /** The elements as NumPy prints them, with element type and shape; long dimensions are cut. */
  override def toString: String = Printing.show(this)
}

/** Makes tensors. */
object STen
    extends CreationFunctions
    with FileFunctions
    with RandomFunctions
    with ElementwiseFunctions
    with BinaryFunctions
    with FuseFunctions
    with ArithmeticFunctions
    with ReduceFunctions
    with ShapeFunctions
    with MatmulFunctions
    with LinalgFunctions
    with IndexFunctions
    with BackwardFunctions
    with LossFunctions
    with EmbeddingFunctions
    with ConvFunctions
    with PoolFunctions
    with NormFunctions
    with AttentionFunctions
    with ResampleFunctions
    with DropoutFunctions
    with SortFunctions
    with SparseFunctions
    with StorageFunctions
    with WindowFunctions {

  private final val ClosedItself = -1
  private final val ClosedByMove = -2

  /** f64 on the processor. */
  val dOptions: STenOptions = STenOptions(DType.F64)

  /** f32 on the processor. */
  val fOptions: STenOptions = STenOptions(DType.F32)

  /** i64 on the processor. */
  val lOptions: STenOptions = STenOptions(DType.I64)

  /** i32 on the processor. */
  val iOptions: STenOptions = STenOptions(DType.I32)

  /** i16 on the processor. */
  val shOptions: STenOptions = STenOptions(DType.I16)

  /** i8 on the processor. */
  val bOptions: STenOptions = STenOptions(DType.I8)

  /** u8 on the processor. */
  val u8Options: STenOptions = STenOptions(DType.U8)

  /** bf16 on the processor. */
  val bf16Options: STenOptions = STenOptions(DType.BF16)

  /** f16 on the processor. */
  val f16Options: STenOptions = STenOptions(DType.F16)

  /** Truth values on the processor. */
  val boolOptions: STenOptions = STenOptions(DType.Bool)

  /** Owns the handle that a native method returned. The scope takes it before anything else can
    * fail; a scope that has ended frees it and throws.
    */
  private[wick] def own(raw: Long)(implicit scope: Scope): STen = {
    val handle = raw & Native.HANDLE_MASK
    val slot = scope.enter(handle)
    made(raw, Native.shape(handle), scope, slot)
  }

  /** As `own(raw)` for a result whose shape is known; nobody writes to `dims` afterwards. */
  private[wick] def own(raw: Long, dims: Array[Long])(implicit scope: Scope): STen = {
    val handle = raw & Native.HANDLE_MASK
    val slot = scope.enter(handle)
    made(raw, dims, scope, slot)
  }

  /** As the other `own`, with what there is beside the elements, if anything. */
  private[wick] def own(raw: Long, dims: Array[Long], frame: Frame)(implicit scope: Scope): STen =
    if (frame eq null) own(raw, dims)
    else {
      val handle = raw & Native.HANDLE_MASK
      dense(handle, dims, scope, scope.enter(handle), frame)
    }

  private def made(raw: Long, dims: Array[Long], scope: Scope, slot: Int): STen =
    if (raw >>> Native.HINT_SHIFT == 3L) new SparseSTen(raw & Native.HANDLE_MASK, dims, scope, slot)
    else dense(raw & Native.HANDLE_MASK, dims, scope, slot)

  private def dense(handle: Long, dims: Array[Long], scope: Scope, slot: Int, frame: Frame = null): STen =
    if (Places.others) Places.tensor(handle, dims, scope, slot, frame)
    else here(handle, dims, scope, slot, frame)

  /** On the processor, in the default context. */
  private[wick] def here(handle: Long, dims: Array[Long], scope: Scope, slot: Int, frame: Frame): STen =
    if (frame eq null) new STen(handle, dims, scope, slot)
    else new FramedSTen(handle, dims, scope, slot, frame)

  /** As `own(raw)`, where the result's shape may be that of `a`. */
  private[wick] def own(raw: Long, a: STen)(implicit scope: Scope): STen = {
    val handle = raw & Native.HANDLE_MASK
    val slot = scope.enter(handle)
    if (raw >>> Native.HINT_SHIFT == 1L) dense(handle, a.dims, scope, slot)
    else made(raw, Native.shape(handle), scope, slot)
  }

  /** As `own(raw)`, where the result's shape may be that of `a` or `b`. */
  private[wick] def own(raw: Long, a: STen, b: STen)(implicit scope: Scope): STen = {
    val handle = raw & Native.HANDLE_MASK
    val slot = scope.enter(handle)
    (raw >>> Native.HINT_SHIFT).toInt match {
      case 1 => dense(handle, a.dims, scope, slot)
      case 2 => dense(handle, b.dims, scope, slot)
      case _ => made(raw, Native.shape(handle), scope, slot)
    }
  }

  /** Owns the several results of one native method: either all become tensors or all are freed. */
  private[wick] def ownAll(raw: Array[Long])(implicit scope: Scope): Array[STen] = ownAll(raw, null)

  /** As the other `ownAll`, with what there is beside the elements of each, if anything. */
  private[wick] def ownAll(raw: Array[Long], frame: Frame)(implicit scope: Scope): Array[STen] = {
    val handles = raw.map(_ & Native.HANDLE_MASK)
    val slots = new Array[Int](raw.length)
    scope.enterAll(handles, slots)
    Array.tabulate(raw.length)(i => dense(handles(i), Native.shape(handles(i)), scope, slots(i), frame))
  }

  private def product(dims: Array[Long]): Long = {
    var n = 1L
    var i = 0
    while (i < dims.length) { n *= dims(i); i += 1 }
    n
  }
}

/** A dense tensor of another device or context than the default one. */
private[wick] final class PlacedSTen(
    rawHandle: Long,
    dims: Array[Long],
    owner: Scope,
    slot: Int,
    override private[wick] val frame: Frame,
    place: Device,
    override private[wick] val deviceNumber: Int
) extends STen(rawHandle, dims, owner, slot) {

  override def device: Device = {
    handle
    place
  }
}

/** A sparse tensor. Its handle stands for one in the native table, where every operation that does
  * not know sparse tensors finds it out: nothing here but what it says of itself differs.
  */
private[wick] final class SparseSTen(rawHandle: Long, dims: Array[Long], owner: Scope, slot: Int)
    extends STen(rawHandle, dims, owner, slot) {

  override def options[S: Sc]: STenOptions = STenOptions(dtype, device, Layout.Sparse)
  override def isSparse: Boolean = {
    handle
    true
  }
  override def numBytes: Long = SparseCalls.info(this)(3)
  override def toString: String = Printing.showSparse(this)
}

/** A tensor with a valid region or with room around its planes: others do not pay for either. */
private[wick] final class FramedSTen(
    rawHandle: Long,
    dims: Array[Long],
    owner: Scope,
    slot: Int,
    override private[wick] val frame: Frame
) extends STen(rawHandle, dims, owner, slot)
