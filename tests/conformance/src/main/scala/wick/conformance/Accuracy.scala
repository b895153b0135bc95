package wick.conformance

import java.nio.file.{Files, Paths}
import java.nio.{ByteBuffer, ByteOrder}

import wick._

/** `./sbt accuracy`: the largest error of each elementary function in units of the last place.
  *
  * f64 is compared with the records of `rust/core/tests/golden_scalar.bin`, which were computed with many
  * digits: arguments of every exponent, denormals, huge ones. f32 with f64 on arguments of every
  * exponent, f16 and bf16 on all they have.
  */
object Accuracy {

  private type Function = (STen, STen, Scope) => STen

  private def one(f: STen => Scope => STen): Function = (x, _, scope) => f(x)(scope)
  private def two(f: (STen, STen) => Scope => STen): Function = (x, y, scope) => f(x, y)(scope)

  private val functions: List[(String, Function)] = List(
    "sqrt" -> one(x => implicit s => x.sqrt),
    "rsqrt" -> one(x => implicit s => x.rsqrt),
    "exp" -> one(x => implicit s => x.exp),
    "exp2" -> one(x => implicit s => x.exp2),
    "expm1" -> one(x => implicit s => x.expm1),
    "ln" -> one(x => implicit s => x.log),
    "log2" -> one(x => implicit s => x.log2),
    "log10" -> one(x => implicit s => x.log10),
    "log1p" -> one(x => implicit s => x.log1p),
    "sin" -> one(x => implicit s => x.sin),
    "cos" -> one(x => implicit s => x.cos),
    "tan" -> one(x => implicit s => x.tan),
    "asin" -> one(x => implicit s => x.asin),
    "acos" -> one(x => implicit s => x.acos),
    "atan" -> one(x => implicit s => x.atan),
    "sinh" -> one(x => implicit s => x.sinh),
    "cosh" -> one(x => implicit s => x.cosh),
    "tanh" -> one(x => implicit s => x.tanh),
    "asinh" -> one(x => implicit s => x.asinh),
    "acosh" -> one(x => implicit s => x.acosh),
    "atanh" -> one(x => implicit s => x.atanh),
    "sigmoid" -> one(x => implicit s => x.sigmoid),
    "erf" -> one(x => implicit s => x.erf),
    "erfc" -> one(x => implicit s => x.erfc),
    "erfinv" -> one(x => implicit s => x.erfinv),
    "lgamma" -> one(x => implicit s => x.lgamma),
    "digamma" -> one(x => implicit s => x.digamma),
    "pow" -> two((x, y) => implicit s => x.pow(y)),
    "atan2" -> two((x, y) => implicit s => STen.atan2(x, y)),
    "hypot" -> two((x, y) => implicit s => x.hypot(y)),
    "fmod" -> two((x, y) => implicit s => x.fmod(y))
  )

  private val binary = Set("pow", "atan2", "hypot", "fmod")

  /** Units in the last place that a function may be wrong by. */
  private def limit(name: String): Double = name match {
    case "lgamma" | "digamma" | "erfinv" => 4
    case _                               => 2
  }

  /** Near their zeros these are measured by the terms that cancel there. */
  private def least(name: String, x: Double): Double = name match {
    case "lgamma"  => 1
    case "digamma" => 1 + math.log(1 + math.max(-x, 0))
    case _         => 0
  }

  /** Digits, least exponent and greatest number of a type. */
  private final case class Format(digits: Int, leastExponent: Int, greatest: Double) {

    def unit(x: Double): Double = {
      val exponent = math.max(if (x == 0) leastExponent else math.getExponent(x), leastExponent)
      math.scalb(1.0, exponent - digits + 1)
    }

    private def beyond: Double = greatest + unit(greatest)

    /** The error of `got` against `want` + `rest` units. */
    def error(got: Double, want: Double, rest: Double, least: Double): Double =
      if (want.isNaN || got.isNaN) { if (want.isNaN && got.isNaN) 0 else Double.PositiveInfinity }
      else if (got == want) math.abs(rest)
      else {
        // Beyond the greatest number infinity stands for the next power of two.
        def held(x: Double) = math.max(-beyond, math.min(beyond, x))
        val unit = this.unit(math.min(math.abs(want), greatest))
        val difference =
          if (digits == 53 && got.isInfinite != want.isInfinite) Double.PositiveInfinity
          else if (digits == 53) got - want
          else held(got) - held(want)
        math.abs(difference / unit - rest) * (unit / this.unit(math.max(math.abs(want), least)))
      }
  }

  private val formats: Map[DType, Format] = Map(
    DType.F64 -> Format(53, -1022, Double.MaxValue),
    DType.F32 -> Format(24, -126, Float.MaxValue.toDouble),
    DType.F16 -> Format(11, -14, 65504),
    DType.BF16 -> Format(8, -126, math.scalb(255.0, 120))
  )

  /** Arguments, the right values, and what rounding those took away. */
  private final case class Points(x: Array[Double], y: Array[Double], want: Array[Double], rest: Array[Double])

  private def golden(path: String): Map[String, Points] = {
    val bytes = ByteBuffer.wrap(Files.readAllBytes(Paths.get(path))).order(ByteOrder.LITTLE_ENDIAN)
    Iterator
      .continually(bytes)
      .takeWhile(_.hasRemaining)
      .map { _ =>
        val name = new Array[Byte](8)
        bytes.get(name)
        val (arity, n) = (bytes.getInt(), bytes.getInt())
        val points = Points(new Array(n), new Array(n), new Array(n), new Array(n))
        for (i <- 0 until n) {
          points.x(i) = bytes.getDouble()
          if (arity == 2) points.y(i) = bytes.getDouble()
          points.want(i) = bytes.getDouble()
          points.rest(i) = bytes.get() / 254.0
        }
        new String(name, "US-ASCII").takeWhile(_ != '\u0000') -> points
      }
      .toMap
  }

  /** Numbers that an f32 can have: of each exponent some, with the neighbours of powers of two. */
  private val floats: Array[Float] = {
    val spread = (0 until 0x7f800000 by 20011).iterator
    val edges =
      for (e <- (0 until 255).iterator; f <- List(0, 1, 2, 0x2aaaaa, 0x3504f3, 0x7ffffe, 0x7fffff)) yield e << 23 | f
    val ones = (0 until 4000).iterator.map(0x3f800000 - 2000 + _)
    (spread ++ edges ++ ones)
      .flatMap(bits => List(bits, bits | 0x80000000))
      .map(java.lang.Float.intBitsToFloat)
      .toArray
  }

  /** All finite numbers of a half type. */
  private def halves(dtype: DType)(implicit scope: Scope): STen = {
    val exponent = if (dtype == DType.F16) 0x7c00 else 0x7f80
    val bits = (0 until 0x10000).filter(b => (b & exponent) != exponent).map(_.toShort).toArray
    STen.fromHalfBits(bits, List(bits.length.toLong), if (dtype == DType.F16) HalfPrecision else BFloat16Precision)
  }

  private final case class Worst(ulp: Double, x: Double, y: Double, got: Double, want: Double)

  private def worst(name: String, dtype: DType, points: Points, got: Array[Double]): Worst =
    got.indices.iterator
      .map { i =>
        val (x, want) = (points.x(i), points.want(i))
        Worst(formats(dtype).error(got(i), want, points.rest(i), least(name, x)), x, points.y(i), got(i), want)
      }
      .maxBy(_.ulp)

  private def report(name: String, dtype: DType, w: Worst): Boolean = {
    val good = w.ulp <= limit(name)
    val at = if (binary(name)) s"${w.x}, ${w.y}" else w.x.toString
    println(f"${dtype.name}%-5s $name%-8s ${w.ulp}%9.3f ulp at $at (got ${w.got}, want ${w.want})${if (good) ""
      else "  TOO MUCH"}")
    good
  }

  private def doubles(t: STen)(implicit scope: Scope): Array[Double] = t.copyTo(STenOptions.d).toDoubleArray

  /** The function of a narrower type against that of f64. */
  private def narrow(name: String, f: Function, dtype: DType)(implicit scope: Scope): Worst = {
    val all = if (dtype == DType.F32) STen.fromFloatArray(floats) else halves(dtype)
    // Pairs meet by a shift that is prime to the counts.
    val (x, y) =
      if (binary(name)) {
        val shift = all.numel / 3 + 1
        (all, STen.cat(Seq(all.slice(0, shift, Long.MaxValue, 1), all.slice(0, 0, shift, 1)), 0))
      } else (all, all)
    val got = doubles(f(x, y, scope))
    val (x64, y64) = (x.copyTo(STenOptions.d), y.copyTo(STenOptions.d))
    val want = doubles(f(x64, y64, scope))
    worst(name, dtype, Points(doubles(x64), doubles(y64), want, new Array(want.length)), got)
  }

  def main(args: Array[String]): Unit = {
    val points = golden(args.headOption.getOrElse("rust/core/tests/golden_scalar.bin"))
    val results = for ((name, f) <- functions) yield Scope.root { implicit scope =>
      val f64 = points.get(name).map { p =>
        val (x, y) = (STen.fromDoubleArray(p.x), STen.fromDoubleArray(p.y))
        report(name, DType.F64, worst(name, DType.F64, p, doubles(f(x, y, scope))))
      }
      val others = List[DType](DType.F32, DType.F16, DType.BF16).map(d => report(name, d, narrow(name, f, d)))
      f64.toList ++ others
    }
    val all = results.flatten
    println(s"${all.count(identity)} passed, ${all.count(!_)} failed")
    if (all.contains(false)) sys.exit(1)
  }
}
