package wick.bench

import ai.djl.ndarray.types.{DataType, Shape}
import wick.STen

/** Random numbers. */
object Randoms extends Family {

  private val dims = List(1000000L)
  private val shape = new Shape(1000000L)

  val rows: Seq[Row] = Seq(
    row("rand", "1M", 4e6)()
      .wick { case _ => implicit s => STen.rand(dims, STen.fOptions) }
      .djlNew((manager, _) => () => manager.randomUniform(0f, 1f, shape)),
    row("rand", "1M f64", 8e6)()
      .wick { case _ => implicit s => STen.rand(dims, STen.dOptions) }
      .djlNew((manager, _) => () => manager.randomUniform(0f, 1f, shape, DataType.FLOAT64)),
    row("randn", "1M", 4e6)()
      .wick { case _ => implicit s => STen.randn(dims, STen.fOptions) }
      .djlNew((manager, _) => () => manager.randomNormal(shape)),
    row("randint", "1M", 8e6)()
      .wick { case _ => implicit s => STen.randint(0, 1000, dims, STen.lOptions) }
      .djlNew((manager, _) => () => manager.randomInteger(0, 1000, shape, DataType.INT64)),
    row("randperm", "1M", 8e6)()
      .wick { case _ => implicit s => STen.randperm(1000000L, STen.lOptions) }
      .djlNew((manager, _) => () => manager.randomPermutation(1000000L)),
    row("bernoulli", "1M", 4e6)(floats(1000000)).wickPlain { case Seq(a) => () => a.bernoulli_(0.5) }.torch("a.bernoulli_(0.5)"),
    row("exponential", "1M", 4e6)(floats(1000000)).wickPlain { case Seq(a) => () => a.exponential_() }.torch("a.exponential_()"),
    row("dropout", "1M", 4e6)(floats(1000000))
      .wick { case Seq(a) => implicit s => a.dropout(0.5, true) }
      .torch("F.dropout(a, 0.5, True)")
  ).map(_.onBoth)
}
