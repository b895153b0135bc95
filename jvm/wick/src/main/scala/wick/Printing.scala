package wick

import java.lang.Double.{doubleToRawLongBits, longBitsToDouble}
import java.math.{BigDecimal => Decimal, MathContext, RoundingMode}
import scala.util.control.NonFatal

/** Shows tensors as NumPy prints arrays: aligned columns, long dimensions cut in the middle.
  *
  * Only the elements that are shown are read, so that a tensor of any size prints as fast as a small
  * one; nothing depends on the locale; nothing throws.
  */
private[wick] object Printing {

  private val Threshold = 1000L // more elements than these are summarised
  private val Most = 5000L // what a summary may show, at any rank
  private val Width = 75
  private val Prefix = "STen("
  // An object, which like a lazy val waits for its first use, without Scala 3.3's use of Unsafe.
  private object Codes { val narrow: Int = Native.opCode("view", "narrow") }

  /** The elements, then element type and shape. */
  def show(t: STen): String = shown(t, Prefix)(s"$Prefix${elements(t)}, ")

  /** Coordinates and values, how many there are, then element type and shape. */
  def showSparse(t: STen): String = shown(t, "STen(sparse, ") {
    implicit val scope: Scope = Scope.free
    try {
      val coalesced = t.isCoalesced
      val raw = new Array[Long](2)
      Native.sparseParts(t.handle, raw)
      val parts = STen.ownAll(raw)
      val (indices, values) = (parts(0), parts(1))
      val pad = " " * Prefix.length
      val order = if (coalesced) "" else ", uncoalesced"
      s"STen(sparse,\n${pad}indices = ${elements(indices, 10)},\n" +
        s"${pad}values = ${elements(values, 9)},\n${pad}nnz = ${indices.dims(1)}$order, "
    } finally scope.release()
  }

  /** `text` and what is known of any tensor, also of one that is closed or unreadable. */
  private def shown(t: STen, prefix: String)(text: => String): String = {
    val trailer = s"${t.dtypeUnchecked.name}, ${t.shapeText})"
    if (t.isClosed) s"${prefix}closed, $trailer"
    else
      try text + trailer
      catch {
        case _: ClosedTensorException => s"${prefix}closed, $trailer" // by another thread, just now
        case NonFatal(e)              => s"${prefix}unreadable: ${e.getMessage}, $trailer"
      }
  }

  /** The elements, after so many characters of a line beyond the prefix. */
  private def elements(t: STen, before: Int = 0): String = {
    val plan = new Plan(t.dims)
    render(plan, Cells.format(fetch(t, plan), t.dtypeUnchecked), Prefix.length + before)
  }

  /** Which elements are shown: of a dimension that is cut, `edge` at either end. */
  private final class Plan(val dims: Array[Long]) {
    val rank: Int = dims.length
    private val total = dims.foldLeft(1.0)(_ * _.toDouble)
    val edge: Int =
      if (total <= Threshold) Int.MaxValue
      else List(3, 2, 1).find(e => dims.foldLeft(1.0)((n, d) => n * math.min(d, 2L * e)) <= Most).getOrElse(1)
    def isCut(d: Int): Boolean = edge != Int.MaxValue && dims(d) > 2L * edge
    val shown: Array[Int] = Array.tabulate(rank)(d => if (isCut(d)) 2 * edge else dims(d).toInt)
    val count: Int = if (dims.contains(0L)) 0 else shown.product
  }

  /** The shown elements in row-major order: longs, or the bits of doubles. */
  private def fetch(t: STen, plan: Plan): Array[Long] = {
    val all = new Array[Long](plan.count)
    val cut = (0 until plan.rank).filter(plan.isCut)
    if (plan.count == 0) all
    else if (cut.isEmpty) read(t.handle, t.dtypeUnchecked, plan.count)
    else {
      // One piece for each choice of an end in every dimension that is cut.
      val views = Scope.free
      try {
        for (choice <- 0 until (1 << cut.length)) {
          val start = new Array[Int](plan.rank)
          val length = plan.shown.clone()
          var piece = t.handle
          for ((d, k) <- cut.zipWithIndex) {
            val last = (choice >> k & 1) == 1
            start(d) = if (last) plan.edge else 0
            length(d) = plan.edge
            val from = if (last) plan.dims(d) - plan.edge else 0L
            val raw = Native.view(Codes.narrow, piece, d.toLong, from, plan.edge.toLong, 0L)
            piece = raw & Native.HANDLE_MASK
            views.enter(piece)
          }
          place(read(piece, t.dtypeUnchecked, length.product), length, all, plan.shown, start)
        }
      } finally views.release()
      all
    }
  }

  private def read(handle: Long, dtype: DType, n: Int): Array[Long] =
    if (dtype.isFloatingPoint)
      as(handle, dtype, DType.F64) { h =>
        val xs = new Array[Double](n)
        Native.toDoubles(h, xs)
        xs.map(doubleToRawLongBits)
      }
    else
      as(handle, dtype, DType.I64) { h =>
        val xs = new Array[Long](n)
        Native.toLongs(h, xs)
        xs
      }

  /** Runs `f` on the tensor as elements of type `to`. */
  private def as[A](handle: Long, from: DType, to: DType)(f: Long => A): A =
    if (from == to) f(handle)
    else {
      val cast = Native.cast(handle, to.number) & Native.HANDLE_MASK
      try f(cast)
      finally Native.release(cast)
    }

  /** Puts a dense piece of shape `length` at `start` of a dense array of shape `shape`. */
  private def place(
      piece: Array[Long],
      length: Array[Int],
      into: Array[Long],
      shape: Array[Int],
      start: Array[Int]
  ): Unit =
    for (i <- piece.indices) {
      var rest = i
      var at = 0
      var step = 1
      for (d <- shape.indices.reverse) {
        at += (rest % length(d) + start(d)) * step
        rest /= length(d)
        step *= shape(d)
      }
      into(at) = piece(i)
    }

  private def render(plan: Plan, cells: Array[String], before: Int): String =
    if (plan.rank == 0) cells(0).trim
    else if (plan.count == 0) "[]"
    else {
      val out = new StringBuilder
      var next = 0
      def cell(): String = { next += 1; cells(next - 1) }

      def row(d: Int): Unit = {
        val indent = " " * (before + d + 1)
        var line = indent.length
        out += '['
        def item(text: String, end: String): Unit = {
          if (line > indent.length) {
            if (line + 1 + text.length + end.length > Width) {
              out += '\n'
              out ++= indent
              line = indent.length
            } else {
              out += ' '
              line += 1
            }
          }
          out ++= text
          out ++= end
          line += text.length + end.length
        }
        val n = plan.shown(d)
        for (i <- 0 until n) {
          if (plan.isCut(d) && i == plan.edge) item("...", ",")
          item(cell(), if (i == n - 1) "" else ",")
        }
        out += ']'
      }

      def block(d: Int): Unit =
        if (d == plan.rank - 1) row(d)
        else {
          val between = "\n" * (plan.rank - 1 - d) + " " * (before + d + 1)
          out += '['
          for (i <- 0 until plan.shown(d)) {
            if (i > 0) {
              out += ','
              out ++= between
            }
            if (plan.isCut(d) && i == plan.edge) {
              out ++= "...,"
              out ++= between
            }
            block(d + 1)
          }
          out += ']'
        }
      block(0)
      out.result()
    }

  /** Elements as texts of one width. */
  private object Cells {
    private val Precision = 6
    private val MinNormal32 = java.lang.Float.MIN_NORMAL.toDouble
    private val MinNormal64 = java.lang.Double.MIN_NORMAL

    def format(bits: Array[Long], dtype: DType): Array[String] =
      if (dtype.isFloatingPoint) floats(bits.map(longBitsToDouble), dtype)
      else if (dtype == DType.Bool) right(bits.map(b => if (b != 0) "true" else "false"))
      else right(bits.map(_.toString))

    private def right(texts: Array[String]): Array[String] = {
      val width = texts.foldLeft(0)((w, s) => math.max(w, s.length))
      texts.map(s => " " * (width - s.length) + s)
    }

    private def floats(xs: Array[Double], dtype: DType): Array[String] = {
      val sizes = xs.collect { case x if !x.isNaN && !x.isInfinite && x != 0 => math.abs(x) }
      val scientific = sizes.nonEmpty && {
        val (least, most) = (sizes.min, sizes.max)
        most >= 1e8 || least < 1e-4 || most / least > 1000
      }
      val digits = xs.map(x => if (x.isNaN || x.isInfinite) null else decimal(x, dtype))
      val texts = if (scientific) exponential(xs, digits) else positional(xs, digits)
      right(xs.zip(texts).map { case (x, s) =>
        if (x.isNaN) "nan"
        else if (x.isInfinite) { if (x > 0) "inf" else "-inf" }
        else s
      })
    }

    private def sign(x: Double): String = if (doubleToRawLongBits(x) < 0) "-" else ""

    private def positional(xs: Array[Double], digits: Array[Decimal]): Array[String] = {
      val texts = xs.zip(digits).map {
        case (_, null) => ""
        case (x, d)    =>
          val text = trimZeros(d.abs.setScale(Precision, RoundingMode.HALF_EVEN).toPlainString)
          sign(x) + text
      }
      val fraction = texts.foldLeft(0)((n, s) => math.max(n, s.length - s.indexOf('.') - 1))
      texts.map(s => if (s.isEmpty) s else s + " " * (fraction - (s.length - s.indexOf('.') - 1)))
    }

    private def exponential(xs: Array[Double], digits: Array[Decimal]): Array[String] = {
      val rounded = digits.map(d => if (d == null) null else d.abs.round(new MathContext(Precision + 1)))
      val fraction = rounded.foldLeft(0) { (n, d) =>
        if (d == null || d.signum == 0) n else math.max(n, d.stripTrailingZeros.precision - 1)
      }
      val powers = rounded.map(d => if (d == null || d.signum == 0) 0 else d.precision - d.scale - 1)
      val digitsOfPower = powers.foldLeft(2)((n, p) => math.max(n, math.abs(p).toString.length))
      Array.tabulate(xs.length) { i =>
        if (rounded(i) == null) ""
        else {
          val mantissa =
            rounded(i).movePointLeft(powers(i)).setScale(fraction, RoundingMode.HALF_EVEN).toPlainString
          val power = math.abs(powers(i)).toString
          sign(xs(i)) + (if (fraction == 0) mantissa + "." else mantissa) + "e" +
            (if (powers(i) < 0) "-" else "+") + "0" * (digitsOfPower - power.length) + power
        }
      }
    }

    private def trimZeros(s: String): String = {
      var end = s.length
      while (s.charAt(end - 1) == '0') end -= 1
      s.substring(0, end)
    }

    /** The shortest decimal that reads back as `x` in its element type. */
    private def decimal(x: Double, dtype: DType): Decimal = dtype match {
      case DType.F16  => shortest(x, 11, -14)
      case DType.BF16 => shortest(x, 8, -126)
      // Java's texts are the shortest or close to it, except for denormals before JDK 19.
      case DType.F32 => if (math.abs(x) < MinNormal32) shortest(x, 24, -126) else new Decimal(x.toFloat.toString)
      case _         => if (math.abs(x) < MinNormal64) shortest(x, 53, -1022) else new Decimal(x.toString)
    }

    /** As [[decimal]] for a format of `bits` significant bits and least normal exponent `least`. */
    private def shortest(x: Double, bits: Int, least: Int): Decimal = {
      val exact = new Decimal(x)
      if (x == 0) exact
      else {
        val step = math.scalb(1.0, math.max(math.getExponent(x), least) - bits + 1)
        // Below a power of two the neighbours lie half as far apart, but for denormals.
        val exponent = math.getExponent(x)
        val power = exponent > least && math.abs(x) == math.scalb(1.0, exponent)
        val reach = new Decimal(step).multiply(new Decimal(if (power) 0.25 else 0.5))
        Iterator
          .from(1)
          .map(n => exact.round(new MathContext(n)))
          .find(d => d.subtract(exact).abs.compareTo(reach) < 0)
          .get
      }
    }
  }
}
