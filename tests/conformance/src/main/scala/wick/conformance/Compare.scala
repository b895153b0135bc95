package wick.conformance

import wick._

/** Whether a result is the expected one; what differs otherwise. */
object Compare {

  /** Element by element: `abs(a - b) <= atol + rtol * abs(b)`, NaN equal to NaN. */
  def close(got: Numbers, want: Numbers, rtol: Double, atol: Double): Option[String] = {
    val same: Int => Boolean = (got, want) match {
      case (Exact(a), Exact(b)) if rtol == 0 && atol == 0 => i => a(i) == b(i)
      case (a, b)                                         => i => near(double(a, i), double(b, i), rtol, atol)
    }
    if (got.size != want.size) Some(s"${got.size} elements, expected ${want.size}")
    else
      (0 until got.size).find(i => !same(i)).map { i =>
        s"element $i is ${got.show(i)}, expected ${want.show(i)}"
      }
  }

  def near(a: Double, b: Double, rtol: Double, atol: Double): Boolean =
    a == b || (a.isNaN && b.isNaN) ||
      (!b.isInfinite && math.abs(a - b) <= atol + rtol * math.abs(b))

  private def double(n: Numbers, i: Int): Double = n match {
    case Exact(v)       => v(i).toDouble
    case Approximate(v) => v(i)
  }

  private def meta(t: STen, want: ExpectedTensor): Option[String] =
    if (t.dtype.name != want.dtype) Some(s"dtype ${t.dtype.name}, expected ${want.dtype}")
    else if (t.shape != want.shape) Some(s"shape ${t.shape}, expected ${want.shape}")
    else None

  /** The values of a call against the expected ones. */
  def values(c: Case, file: SafeTensors, call: Call, got: Seq[Any]): Option[String] = {
    val want = c.expect.getOrElse(Nil)
    if (got.size != want.size) Some(s"${got.size} values, expected ${want.size}")
    else {
      val firsts = got.zip(want).iterator.map {
        case (t: STen, w: ExpectedTensor)  => meta(t, w)
        case (v: Long, ExpectedInt(w))     => if (v == w) None else Some(s"$v, expected $w")
        case (v: Boolean, ExpectedBool(w)) => if (v == w) None else Some(s"$v, expected $w")
        case (v: Double, ExpectedFloat(w)) => if (near(v, w, c.rtol, c.atol)) None else Some(s"$v, expected $w")
        case (other, w)                    => Some(s"$other, expected $w")
      }
      firsts.collectFirst { case Some(fault) => fault }.orElse(c.check match {
        case None                   => elementwise(c, call, file, got, want)
        case Some("index_of_value") => Checks.indexOfValue(c, file, call, got, want)
        case Some("argextreme")     => Checks.argExtreme(c, file, call, got, want)
        case Some("svd")            => MatrixChecks.svd(c, file, call, got, want)
        case Some("eigh")           => MatrixChecks.eigh(c, file, call, got, want)
        case Some("qr")             => MatrixChecks.qr(c, call, got)
        case Some(other)            => Some(s"the check $other is not there yet")
      })
    }
  }

  private def elementwise(
      c: Case,
      call: Call,
      file: SafeTensors,
      got: Seq[Any],
      want: Seq[Expected]
  ): Option[String] =
    got.zip(want).iterator.zipWithIndex
      .map {
        case ((t: STen, w: ExpectedTensor), i) =>
          val expected = Decided(c, call, w, Tensors.numbers(file.tensors(w.key)))
          close(Tensors.numbers(t), expected, c.rtol, c.atol).map(s => s"value $i: $s")
        case _ => None
      }
      .collectFirst { case Some(fault) => fault }
}
