package wick

/** The elements of one row of a tensor during a [[STen.windowLoop]], copied to the JVM when they are first
  * touched and back after the step if they were changed. One object and one array serve all rows of a loop:
  * neither is to be kept beyond a step.
  */
final class WindowRow private[wick] (tensor: STen, window: Window, place: Array[Long]) {
  private val rank = tensor.dims.length
  private val skip = place.length - rank
  private val stays = Array.tabulate(rank)(d => tensor.dims(d) == 1 && window.dims(skip + d).end > 1)
  private val at = new Array[Long](rank)
  private val range = window.dims.last
  private val single = stays(rank - 1)
  private val count = if (single) 1 else range.iterations.toInt
  private val step = math.max(range.step, 1L)
  private var loaded = false
  private var dirty = false

  // One of these, by the tensor's element type; halves are computed with as floats.
  private val kind = tensor.dtype match {
    case DType.F64                          => WindowRow.Doubles
    case DType.F32 | DType.F16 | DType.BF16 => WindowRow.Floats
    case DType.I64                          => WindowRow.Longs
    case DType.I32                          => WindowRow.Ints
    case DType.I16                          => WindowRow.Shorts
    case _                                  => WindowRow.Bytes
  }
  private val unsigned = tensor.dtype == DType.U8
  private def make[A](k: Int, a: Int => A): A = if (k == kind) a(count) else null.asInstanceOf[A]
  private val ofDouble: Array[Double] = make(WindowRow.Doubles, new Array[Double](_))
  private val ofFloat: Array[Float] = make(WindowRow.Floats, new Array[Float](_))
  private val ofLong: Array[Long] = make(WindowRow.Longs, new Array[Long](_))
  private val ofInt: Array[Int] = make(WindowRow.Ints, new Array[Int](_))
  private val ofShort: Array[Short] = make(WindowRow.Shorts, new Array[Short](_))
  private val ofByte: Array[Byte] = make(WindowRow.Bytes, new Array[Byte](_))

  /** How many elements it has: iterations of the window's last dimension. */
  val length: Int = range.iterations.toInt

  /** Where it starts in the window: the index of a dimension. */
  def index(dim: Int): Long = place(dim)

  private def load(): Unit = if (!loaded) {
    val h = tensor.handle
    kind match {
      case WindowRow.Doubles => Native.rowDoubles(h, at, step, count, ofDouble)
      case WindowRow.Floats  => Native.rowFloats(h, at, step, count, ofFloat)
      case WindowRow.Longs   => Native.rowLongs(h, at, step, count, ofLong)
      case WindowRow.Ints    => Native.rowInts(h, at, step, count, ofInt)
      case WindowRow.Shorts  => Native.rowShorts(h, at, step, count, ofShort)
      case _                 => Native.rowBytes(h, at, step, count, ofByte)
    }
    loaded = true
  }

  private[wick] def moveTo(): Unit = {
    var d = 0
    while (d < rank) {
      at(d) = if (stays(d)) 0L else place(skip + d)
      d += 1
    }
    loaded = false
    dirty = false
  }

  private[wick] def flush(): Unit = if (dirty) {
    val h = tensor.handle
    kind match {
      case WindowRow.Doubles => Native.setRowDoubles(h, at, step, count, ofDouble)
      case WindowRow.Floats  => Native.setRowFloats(h, at, step, count, ofFloat)
      case WindowRow.Longs   => Native.setRowLongs(h, at, step, count, ofLong)
      case WindowRow.Ints    => Native.setRowInts(h, at, step, count, ofInt)
      case WindowRow.Shorts  => Native.setRowShorts(h, at, step, count, ofShort)
      case _                 => Native.setRowBytes(h, at, step, count, ofByte)
    }
  }

  private def spot(i: Int): Int = {
    if (i < 0 || i >= length) throw new IndexException(s"row: element $i of $length")
    if (single) 0 else i
  }

  /** An element; truth values are 0 and 1. */
  def apply(i: Int): Double = {
    load()
    val k = spot(i)
    kind match {
      case WindowRow.Doubles => ofDouble(k)
      case WindowRow.Floats  => ofFloat(k).toDouble
      case WindowRow.Longs   => ofLong(k).toDouble
      case WindowRow.Ints    => ofInt(k).toDouble
      case WindowRow.Shorts  => ofShort(k).toDouble
      case _                 => (if (unsigned) ofByte(k) & 0xff else ofByte(k).toInt).toDouble
    }
  }

  /** Changes an element: `row(i) = v`. Integers cut off a fraction. */
  def update(i: Int, value: Double): Unit = {
    load()
    val k = spot(i)
    kind match {
      case WindowRow.Doubles => ofDouble(k) = value
      case WindowRow.Floats  => ofFloat(k) = value.toFloat
      case WindowRow.Longs   => ofLong(k) = value.toLong
      case WindowRow.Ints    => ofInt(k) = value.toInt
      case WindowRow.Shorts  => ofShort(k) = value.toInt.toShort
      case _                 => ofByte(k) = value.toInt.toByte
    }
    dirty = true
  }

  private def array[A <: AnyRef](a: A, what: String): A = {
    if (a eq null) throw new DTypeException(s"row: ${tensor.dtype} ${tensor.shapeText}: its rows hold no $what")
    load()
    a
  }

  /** The elements of an f64 row. Whoever writes them calls [[changed]]. */
  def doubles: Array[Double] = array(ofDouble, "doubles")

  /** The elements of an f32, f16 or bf16 row. */
  def floats: Array[Float] = array(ofFloat, "floats")

  /** The elements of an i64 row. */
  def longs: Array[Long] = array(ofLong, "longs")

  /** The elements of an i32 row. */
  def ints: Array[Int] = array(ofInt, "ints")

  /** The elements of an i16 row. */
  def shorts: Array[Short] = array(ofShort, "shorts")

  /** The elements of an i8 or bool row; of a u8 row their bits. */
  def bytes: Array[Byte] = array(ofByte, "bytes")

  /** Says that the array was written to. */
  def changed(): Unit = {
    load()
    dirty = true
  }
}

private[wick] object WindowRow {
  final val Doubles = 0
  final val Floats = 1
  final val Longs = 2
  final val Ints = 3
  final val Shorts = 4
  final val Bytes = 5
}

/** The rows of a tensor. Each `foreach` walks all of them anew. */
final class Rows private[wick] (tensor: STen) {

  /** Calls `f` with each row in order, the indices of outer dimensions moving slowest. */
  def foreach(f: WindowRow => Unit): Unit =
    STen.windowLoop(Window(tensor.shape: _*), tensor)(f)
}
