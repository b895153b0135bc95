package wick.conformance

/** An argument of a case; README of the vectors' folder. */
sealed trait Arg
final case class TensorArg(key: String, shape: Seq[Long], view: Option[(Seq[Long], Long)]) extends Arg
final case class IntArg(value: Long) extends Arg
final case class FloatArg(value: Double) extends Arg
final case class BoolArg(value: Boolean) extends Arg
final case class StrArg(value: String) extends Arg
final case class DTypeArg(name: String) extends Arg
final case class IntsArg(values: Seq[Long]) extends Arg
final case class ListArg(values: Seq[Arg]) extends Arg
case object NoneArg extends Arg

/** A value that libtorch gave. */
sealed trait Expected
final case class ExpectedTensor(key: String, shape: Seq[Long], dtype: String) extends Expected
final case class ExpectedInt(value: Long) extends Expected
final case class ExpectedFloat(value: Double) extends Expected
final case class ExpectedBool(value: Boolean) extends Expected

/** One call and its answer: values, or an error (libtorch's words). */
final case class Case(
    id: String,
    op: String,
    args: Seq[Arg],
    inplace: Boolean,
    expect: Either[String, Seq[Expected]],
    rtol: Double,
    atol: Double,
    check: Option[String]
)

object Case {

  /** The cases that a file's metadata lists. */
  def readAll(json: String): Seq[Case] = ujson.read(json).arr.map(read).toSeq

  private def read(v: ujson.Value): Case = {
    val tol = v.obj.get("tol").map(_.arr.map(_.num).toSeq).getOrElse(Seq(0.0, 0.0))
    Case(
      v("id").str,
      v("op").str,
      v("args").arr.map(arg).toSeq,
      v.obj.get("inplace").exists(_.bool),
      v("expect").obj.get("error") match {
        case Some(words) => Left(words.str)
        case None        => Right(v("expect")("values").arr.map(expected).toSeq)
      },
      tol(0),
      tol(1),
      v.obj.get("check").map(_.str)
    )
  }

  private def longs(v: ujson.Value): Seq[Long] = v.arr.map(integer).toSeq
  private def integer(v: ujson.Value): Long = v match {
    case ujson.Num(n) => n.toLong
    case other        => other.str.toLong
  }

  private def float(text: String): Double = text match {
    case "nan"  => Double.NaN
    case "inf"  => Double.PositiveInfinity
    case "-inf" => Double.NegativeInfinity
    case number => number.toDouble
  }

  private def arg(v: ujson.Value): Arg = {
    val o = v.obj
    o.keysIterator.next() match {
      case "tensor" =>
        val view = o.get("strides").map(s => (longs(s), integer(o("offset"))))
        TensorArg(o("tensor").str, longs(o("shape")), view)
      case "int"   => IntArg(integer(o("int")))
      case "float" => FloatArg(float(o("float").str))
      case "bool"  => BoolArg(o("bool").bool)
      case "str"   => StrArg(o("str").str)
      case "dtype" => DTypeArg(o("dtype").str)
      case "ints"  => IntsArg(longs(o("ints")))
      case "list"  => ListArg(o("list").arr.map(arg).toSeq)
      case "none"  => NoneArg
      case other   => sys.error(s"argument of kind $other")
    }
  }

  private def expected(v: ujson.Value): Expected = {
    val o = v.obj
    if (o.contains("tensor")) ExpectedTensor(o("tensor").str, longs(o("shape")), o("dtype").str)
    else if (o.contains("int")) ExpectedInt(integer(o("int")))
    else if (o.contains("bool")) ExpectedBool(o("bool").bool)
    else ExpectedFloat(float(o("float").str))
  }
}
