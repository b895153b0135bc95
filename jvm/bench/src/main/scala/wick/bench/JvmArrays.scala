package wick.bench

import ai.djl.ndarray.NDManager
import ai.djl.ndarray.types.Shape
import wick.{DType, Scope, STen}

/** From JVM arrays and back. */
object JvmArrays extends Family {

  private val count = 1000000
  private val dims = List(count.toLong)
  private val shape = new Shape(count.toLong)

  private def in(of: String, bytes: Int)(make: Scope => Any)(djl: NDManager => AutoCloseable): Row =
    row(s"from $of[]", "1M", bytes.toDouble * count)()
      .reading(bytes.toDouble * count)
      .wick { case _ => make }
      .djlNew((manager, _) => () => djl(manager))

  private lazy val doubles = Array.tabulate(count)(_.toDouble)
  private lazy val singles = doubles.map(_.toFloat)
  private lazy val longs = doubles.map(_.toLong)
  private lazy val ints = doubles.map(_.toInt)
  private lazy val bytes = doubles.map(_.toByte)
  private lazy val flags = bytes.map(_ % 2 == 0)

  private def out(of: String, dtype: DType, operand: Operand): Row =
    row(s"to $of[]", "1M", dtype.size.toDouble * count)(operand)

  val rows: Seq[Row] = Seq(
    in("float", 4)(implicit s => STen.fromFloatArray(singles, dims))(_.create(singles, shape))
      .loop { case _ => () => singles.clone },
    in("double", 8)(implicit s => STen.fromDoubleArray(doubles, dims))(_.create(doubles, shape)),
    in("long", 8)(implicit s => STen.fromLongArray(longs, dims))(_.create(longs, shape)),
    in("int", 4)(implicit s => STen.fromIntArray(ints, dims))(_.create(ints, shape)),
    in("byte", 1)(implicit s => STen.fromByteArray(bytes, dims))(_.create(bytes, shape)),
    in("boolean", 1)(implicit s => STen.fromBooleanArray(flags, dims))(_.create(flags, shape)),
    out("float", F32, floats(count.toLong))
      .wickPlain { case Seq(a) => () => a.toFloatArray }
      .djlPlain { case Seq(a) => () => a.toFloatArray }
      .loop { case Seq(a: Array[Float]) => () => a.clone },
    out("double", F64, numbers(F64, count.toLong))
      .wickPlain { case Seq(a) => () => a.toDoubleArray }
      .djlPlain { case Seq(a) => () => a.toDoubleArray },
    out("long", I64, below(100, count.toLong))
      .wickPlain { case Seq(a) => () => a.toLongArray }
      .djlPlain { case Seq(a) => () => a.toLongArray },
    out("int", DType.I32, Operand(Seq(count.toLong), DType.I32, Fill.Below(100)))
      .wickPlain { case Seq(a) => () => a.toIntArray }
      .djlPlain { case Seq(a) => () => a.toIntArray },
    out("byte", DType.I8, Operand(Seq(count.toLong), DType.I8, Fill.Below(100)))
      .wickPlain { case Seq(a) => () => a.toByteArray }
      .djlPlain { case Seq(a) => () => a.toByteArray },
    out("boolean", DType.Bool, coins(count.toLong))
      .wickPlain { case Seq(a) => () => a.toBooleanArray }
      .djlPlain { case Seq(a) => () => a.toBooleanArray }
  )
}
