package wick

/** The calls behind random operations. */
private[wick] object RandomCalls {
  val rand: Int = Native.opCode("random", "rand")
  val randn: Int = Native.opCode("random", "randn")
  val uniform: Int = Native.opCode("random", "uniform")
  val normal: Int = Native.opCode("random", "normal")
  val randint: Int = Native.opCode("random", "randint")
  val bernoulli: Int = Native.opCode("random", "bernoulli")
  val exponential: Int = Native.opCode("random", "exponential")
  val poisson: Int = Native.opCode("variate", "poisson")
  val gamma: Int = Native.opCode("variate", "_standard_gamma")

  /** Elements of a shape, which may not exist. */
  private def count(dims: Array[Long]): Long =
    if (dims.exists(_ <= 0)) 0L
    else dims.foldLeft(1L)((n, d) => if (n > Long.MaxValue / d) Long.MaxValue else n * d)

  def make[S: Sc](
      op: Int,
      name: String,
      size: Seq[Long],
      p: Long,
      q: Long,
      options: STenOptions,
      generator: Generator
  ): STen = {
    val code = Device.code(name, options)
    val dims = size.toArray
    like(op, code, dims, p, q, generator)
  }

  def like[S: Sc](op: Int, dtype: Int, dims: Array[Long], p: Long, q: Long, generator: Generator): STen = {
    val raw = generator.draw(count(dims)) { (seeded, seed, offset) =>
      Native.random(op, dtype, dims, p, q, seeded, seed, offset)
    }
    STen.own(raw, dims)
  }

  /** A random element for each parameter. */
  def variate[S: Sc](op: Int, parameters: STen, generator: Generator): STen = {
    val open = parameters.handle
    STen.own(generator.draw(parameters.numel)(Native.variate(op, open, _, _, _)), parameters)
  }

  def inPlace(op: Int, t: STen, p: Long, q: Long, generator: Generator): Unit = {
    val handle = t.handle
    generator.draw(t.numel) { (seeded, seed, offset) =>
      Native.randomInPlace(op, handle, p, q, seeded, seed, offset)
    }
  }
}
