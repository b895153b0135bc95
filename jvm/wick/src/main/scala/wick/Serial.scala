package wick

import java.io.{InputStream, IOException, OutputStream}
import java.nio.file.{AtomicMoveNotSupportedException, Files, Path, StandardCopyOption, StandardOpenOption}
import java.nio.{ByteBuffer, ByteOrder}
import java.util.zip.CRC32

/** Tensors and shapes as bytes.
  *
  * Little-endian: magic (8 bytes), version, element type (libtorch's number; -1: a shape alone) and
  * number of dimensions as 32-bit integers, sizes as 64-bit ones, the CRC-32 of all that; then the
  * elements in row-major order and their CRC-32.
  *
  * dlib's tensors and shapes are read, too. Its integers are a byte that holds their length and, in the
  * highest bit, their sign, and then their magnitude, little-endian. Version (2: a tensor, 1: a shape)
  * and four sizes are such integers; a tensor's elements are f32.
  */
private[wick] object Serial {

  private val magic: Array[Byte] = "wickSTen".getBytes("US-ASCII")
  private final val Version = 1
  private final val ShapeAlone = -1
  private final val MaxRank = 16
  private final val Chunk = 1 << 20

  private def fail(text: String) = throw new FormatException(s"read: $text")

  /** Writes a tensor. */
  def write(t: STen, to: OutputStream): Unit =
    ShapeOps.passing(Native.view(ShapeOps.Op.contiguous, t.handle, 0, 0, 0, 0)) { dense =>
      writeHeader(t.dtype.number, t.shape, to)
      val (buffer, check) = (new Array[Byte](math.min(t.numBytes, Chunk.toLong).toInt), new CRC32)
      chunks(t.numBytes) { (at, n) =>
        Native.readBytes(dense, at, buffer, n)
        check.update(buffer, 0, n)
        to.write(buffer, 0, n)
      }
      to.write(sum(check))
    }

  /** Writes a shape. */
  def writeShape(shape: Seq[Long], to: OutputStream): Unit = writeHeader(ShapeAlone, shape, to)

  private def writeHeader(dtype: Int, shape: Seq[Long], to: OutputStream): Unit = {
    val bytes = littleEndian(magic.length + 12 + 8 * shape.length)
    bytes.put(magic).putInt(Version).putInt(dtype).putInt(shape.length)
    shape.foreach(bytes.putLong(_))
    val check = new CRC32
    check.update(bytes.array)
    to.write(bytes.array)
    to.write(sum(check))
  }

  private def chunks(bytes: Long)(use: (Long, Int) => Unit): Unit = {
    var at = 0L
    while (at < bytes) {
      val n = math.min(bytes - at, Chunk.toLong).toInt
      use(at, n)
      at += n
    }
  }

  private def littleEndian(bytes: Int): ByteBuffer = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN)

  private def sum(check: CRC32): Array[Byte] = littleEndian(4).putInt(check.getValue.toInt).array

  /** Reads a tensor; there are at most `limit` bytes. */
  def read[S: Sc](from: InputStream, limit: Long): STen = {
    val source = new Source(from, limit)
    val Header(kind, shape, checked) = readHeader(source)
    val dtype = kind.getOrElse(fail("a shape, expected a tensor"))
    val bytes = size(shape, dtype)
    if (bytes > source.left)
      fail(s"$dtype ${shape.mkString("[", ", ", "]")}: $bytes bytes expected, ${source.left} left")
    val dims = shape.toArray
    val raw = Native.empty(dtype.number, dims)
    try {
      val (handle, check) = (raw & Native.HANDLE_MASK, new CRC32)
      val buffer = new Array[Byte](math.min(bytes, Chunk.toLong).toInt)
      chunks(bytes) { (at, n) =>
        source.read(buffer, n)
        check.update(buffer, 0, n)
        Native.writeBytes(handle, at, buffer, n)
      }
      if (checked) source.expect(check, "the elements'")
    } catch {
      case t: Throwable =>
        Native.release(raw & Native.HANDLE_MASK)
        throw t
    }
    STen.own(raw, dims)
  }

  /** Reads a shape. */
  def readShape(from: InputStream, limit: Long): List[Long] = {
    val header = readHeader(new Source(from, limit))
    if (header.dtype.isDefined) fail("a tensor, expected a shape")
    header.shape
  }

  /** What comes before elements: no element type where there are none; `checked`: a checksum follows. */
  private final case class Header(dtype: Option[DType], shape: List[Long], checked: Boolean)

  private def known(number: Int): Option[DType] =
    if (number == ShapeAlone) None
    else Some(DType.values.find(_.number == number).getOrElse(fail(s"there is no element type $number")))

  private def size(shape: List[Long], dtype: DType): Long = {
    def times(a: Long, b: Long): Long = {
      if (Math.multiplyHigh(a, b) != 0 || a * b < 0)
        fail(s"${shape.mkString("[", ", ", "]")}: more than 2^63 - 1 bytes")
      a * b
    }
    shape.find(_ < 0).foreach(size => fail(s"${shape.mkString("[", ", ", "]")}: size $size is negative"))
    if (shape.contains(0L)) 0L else shape.foldLeft(dtype.size.toLong)(times)
  }

  private def readHeader(source: Source): Header = {
    val first = source.bytes(1)(0)
    if (first == 1) {
      val version = source.bytes(1)(0).toInt
      if (version != 1 && version != 2) fail(s"dlib's version $version: expected 2, a tensor, or 1, a shape")
      val dtype = if (version == 2) Some(DType.F32) else None
      Header(dtype, List.fill(4)(source.dlibInteger()), checked = false)
    } else {
      val check = new CRC32
      def next(n: Int): ByteBuffer = {
        val bytes = source.bytes(n)
        check.update(bytes)
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)
      }
      check.update(first.toInt)
      val rest = next(magic.length - 1).array
      if (!java.util.Arrays.equals(first +: rest, magic)) fail("neither wick's nor dlib's")
      val version = next(4).getInt
      if (version != Version) fail(s"version $version: expected $Version")
      val head = next(8)
      val (dtype, rank) = (head.getInt, head.getInt)
      if (rank < 0 || rank > MaxRank) fail(s"$rank dimensions: at most $MaxRank are possible")
      val sizes = next(8 * rank)
      val shape = List.fill(rank)(sizes.getLong)
      source.expect(check, "the header's")
      Header(known(dtype), shape, checked = true)
    }
  }

  /** Bytes of which a known number may be left. */
  private final class Source(in: InputStream, limit: Long) {
    var left: Long = limit

    def read(to: Array[Byte], n: Int): Unit = {
      val got = in.readNBytes(to, 0, n)
      if (got < n) fail(s"the end after $got of $n bytes")
      left -= n
    }

    def bytes(n: Int): Array[Byte] = {
      val out = new Array[Byte](n)
      read(out, n)
      out
    }

    def expect(check: CRC32, whose: String): Unit = {
      val found = ByteBuffer.wrap(bytes(4)).order(ByteOrder.LITTLE_ENDIAN).getInt
      if (found != check.getValue.toInt)
        fail(f"$whose checksum is $found%08x, expected ${check.getValue.toInt}%08x")
    }

    def dlibInteger(): Long = {
      val control = bytes(1)(0) & 0x8f
      val length = control & 0xf
      if (length < 1 || length > 8) fail(s"an integer of $length bytes")
      val magnitude = bytes(length).foldRight(0L)((byte, number) => number << 8 | byte & 0xff)
      if (control > 0xf) -magnitude else magnitude
    }
  }

  /** Reads the whole of a file, passing its size on. */
  def fromFile[A](path: Path)(read: (InputStream, Long) => A): A = named("read", path) {
    val in = new java.io.BufferedInputStream(Files.newInputStream(path))
    try {
      val out = read(in, Files.size(path))
      if (in.read() >= 0) {
        out match { case t: STen => t.close(); case _ => }
        fail("bytes behind the end")
      }
      out
    } finally in.close()
  }

  /** Writes a file beside the path and then moves it there. */
  def toFile(path: Path)(write: OutputStream => Unit): Unit = named("write", path) {
    val beside = path.toAbsolutePath.resolveSibling(s".${path.getFileName}.${java.util.UUID.randomUUID}")
    try {
      val out = Files.newOutputStream(beside, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)
      try {
        val buffered = new java.io.BufferedOutputStream(out)
        write(buffered)
        buffered.flush()
      } finally out.close()
      try Files.move(beside, path, StandardCopyOption.ATOMIC_MOVE)
      catch { case _: AtomicMoveNotSupportedException => Files.move(beside, path, StandardCopyOption.REPLACE_EXISTING) }
      ()
    } finally { Files.deleteIfExists(beside); () }
  }

  private def named[A](op: String, path: Path)(body: => A): A =
    try body
    catch {
      case e: FormatException => throw named(s"$op: $path: ${e.getMessage.stripPrefix("read: ")}", e)
      case e: IOException     => throw named(s"$op: $path: $e", e)
    }

  private def named(text: String, cause: Throwable): FormatException = {
    val out = new FormatException(text)
    out.initCause(cause)
    out
  }
}
