package wick.conformance

import wick._

/** The arguments of a case, ready for use, and what its tensors held before. */
final class Call(c: Case, file: SafeTensors)(implicit val scope: Scope) {

  private var loaded: Vector[(STen, Numbers)] = Vector.empty

  private def load(arg: Arg): Any = arg match {
    case TensorArg(key, shape, view) =>
      val base = Tensors.load(file.tensors(key))
      loaded = loaded :+ ((base, Tensors.numbers(base)))
      view match {
        case None                    => base.view(shape: _*)
        case Some((strides, offset)) => base.asStrided(shape, strides, offset)
      }
    case ListArg(values) => values.map(load)
    case other           => other
  }

  private val values: IndexedSeq[Any] = c.args.map(load).toIndexedSeq

  /** Whether all arguments but the first still hold what they held (the first too, unless it is to be written). */
  def unchanged(firstToo: Boolean): Boolean =
    loaded.drop(if (firstToo) 0 else 1).forall { case (base, before) =>
      Compare.close(Tensors.numbers(base), before, 0.0, 0.0).isEmpty
    }

  def size: Int = values.size

  /** The i-th argument as a tensor. */
  def t(i: Int): STen = values(i).asInstanceOf[STen]

  /** The tensors from the i-th argument on, up to the first that is none. */
  def tensors(from: Int = 0): Seq[STen] =
    values.drop(from).flatMap {
      case s: Seq[_] => s.map(_.asInstanceOf[STen])
      case t: STen   => Seq(t)
      case _         => Nil
    }

  def option(i: Int): Option[STen] = values(i) match {
    case t: STen => Some(t)
    case _       => None
  }
  def long(i: Int): Long = values(i) match {
    case IntArg(v)   => v
    case FloatArg(v) => v.toLong
    case other       => sys.error(s"no integer: $other")
  }
  def int(i: Int): Int = math.toIntExact(long(i))
  def double(i: Int): Double = values(i) match {
    case FloatArg(v) => v
    case IntArg(v)   => v.toDouble
    case other       => sys.error(s"no float: $other")
  }
  def isFloat(i: Int): Boolean = values(i).isInstanceOf[FloatArg]
  def bool(i: Int): Boolean = values(i).asInstanceOf[BoolArg].value
  def str(i: Int): String = values(i).asInstanceOf[StrArg].value
  def longs(i: Int): Seq[Long] = values(i).asInstanceOf[IntsArg].values
  def ints(i: Int): Seq[Int] = longs(i).map(math.toIntExact)
  def last: Int = values.size - 1
  def dtype(i: Int): DType = Call.dtypes(values(i).asInstanceOf[DTypeArg].name)
  def options(i: Int): STenOptions = STenOptions(dtype(i))
}

object Call {

  /** The element types by the names of the vectors. */
  val dtypes: Map[String, DType] = DType.values.map(d => d.name -> d).toMap
}
