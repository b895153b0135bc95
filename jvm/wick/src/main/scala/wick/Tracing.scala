package wick

import java.util.concurrent.ConcurrentHashMap
import scala.jdk.CollectionConverters._

/** A live tensor as tracing saw it born.
  *
  * @param bornAt
  *   the program's stack at birth, innermost first; wick's own frames are left out
  * @param ageMillis
  *   how long it has lived
  */
final case class LiveTensor(
    dtype: DType,
    shape: List[Long],
    scope: String,
    bornAt: List[StackTraceElement],
    ageMillis: Long
) {

  /** Bytes of its elements, were it not a view. */
  def numBytes: Long = shape.product * dtype.size

  override def toString: String =
    s"${dtype.name} ${shape.mkString("[", ", ", "]")} in scope $scope, $ageMillis ms old, made at" +
      Tracing.text(bornAt)
}

/** Records where tensors are made and closed, while it is on. */
private[wick] object Tracing {

  /** What is known of one tensor. The tensor itself refers to it, so it outlives the native one. */
  final class Record(
      val dtype: DType,
      val dims: Array[Long],
      @volatile var scope: String,
      val born: List[StackTraceElement]
  ) {
    val birth: Long = System.nanoTime
    @volatile var closed: List[StackTraceElement] = null

    /** Both places, for the message of an error. */
    def sites: String = {
      val end = if (closed == null) "" else "\nclosed at" + text(closed)
      "\nmade at" + text(born) + end
    }
  }

  @volatile private[this] var enabled = false
  private[this] val live = new ConcurrentHashMap[java.lang.Long, Record]()

  def on: Boolean = enabled

  /** What was recorded is forgotten when tracing is switched off. */
  def on_=(value: Boolean): Unit = {
    enabled = value
    if (!value) live.clear()
  }

  def born(handle: Long, dims: Array[Long], scope: Scope): Record = {
    val record = new Record(DType.ofHandle(handle), dims, scope.describe, stack())
    live.put(handle, record)
    record
  }

  def died(handle: Long): Unit = {
    val record = live.remove(handle)
    if (record != null) record.closed = stack()
  }

  def died(handles: Array[Long], count: Int): Unit = {
    val here = stack()
    var i = 0
    while (i < count) {
      val record = live.remove(handles(i))
      if (record != null) record.closed = here
      i += 1
    }
  }

  def tensors: Seq[LiveTensor] = {
    val now = System.nanoTime
    live.values.asScala.toVector
      .sortBy(_.birth)
      .map(r => LiveTensor(r.dtype, r.dims.toList, r.scope, r.born, (now - r.birth) / 1000000L))
  }

  def text(stack: List[StackTraceElement]): String =
    if (stack.isEmpty) " (unknown)" else stack.map(f => s"\n    $f").mkString

  private val Depth = 16L

  // Classes whose frames say nothing about the program that uses the library.
  private val Inside =
    Set("STen", "Scope", "Tracing", "Printing", "Device", "LeftOps", "Native", "Movable", "Wick", "package")

  private def isInside(className: String): Boolean =
    className.startsWith("wick.ops.") || className.startsWith("scala.util.") ||
      (className.startsWith("wick.") && {
        val simple = className.substring(5)
        val end = simple.indexWhere(c => c == '$' || c == '.')
        Inside(if (end < 0) simple else simple.substring(0, end))
      })

  private def stack(): List[StackTraceElement] =
    StackWalker.getInstance.walk[List[StackTraceElement]] { frames =>
      frames
        .dropWhile(f => isInside(f.getClassName))
        .limit(Depth)
        .map[StackTraceElement](f => f.toStackTraceElement)
        .iterator
        .asScala
        .toList
    }
}
