package wick.bench

import wick.DType

/** Every dtype to every other one. */
object Casts extends Family {

  private val count = 1000000L

  private def operand(dtype: DType): Operand =
    if (dtype == DType.Bool) coins(count)
    else if (dtype.isFloatingPoint) Operand(Seq(count), dtype, Fill.Uniform(0, 100))
    else Operand(Seq(count), dtype, Fill.Below(100))

  val rows: Seq[Row] = for {
    from <- DType.values
    to <- DType.values
    if from != to
  } yield {
    val cast = row(s"cast $from to $to", "1M", to.size.toDouble * count)(operand(from)).wick { case Seq(a) =>
      implicit s => a.castToType(to)
    }
    if (Operand.beyondDjl(from) || Operand.beyondDjl(to)) cast.torch(s"a.to(torch.${Operand.torchName(to)})")
    else
      cast.djl { case Seq(a) =>
        val type_ = Work.djlType(to)
        () => a.toType(type_, false)
      }
  }
}
