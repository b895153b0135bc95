package wick

import wick.Codes.bits

/** Functions of the [[STen]] companion: random tensors and the default generator.
  *
  * Where no generator is given, [[Generator.default]] is used. Numbers depend on the generator's seed
  * and place alone, not on threads or processor.
  */
private[wick] trait RandomFunctions {

  /** Starts the default generator anew. */
  def manualSeed(seed: Long): Unit = Generator.default.manualSeed(seed)

  /** Uniform on [0, 1): multiples of 2^-53^ in f64, of 2^-24^ in f32, 2^-11^ in f16, 2^-8^ in bf16. */
  def rand[S: Sc](
      size: Seq[Long],
      tensorOptions: STenOptions = STen.dOptions,
      generator: Generator = Generator.default
  ): STen = RandomCalls.make(RandomCalls.rand, "rand", size, 0L, 0L, tensorOptions, generator)

  /** Normal with mean 0 and standard deviation 1. */
  def randn[S: Sc](
      size: Seq[Long],
      tensorOptions: STenOptions = STen.dOptions,
      generator: Generator = Generator.default
  ): STen = RandomCalls.make(RandomCalls.randn, "randn", size, 0L, 0L, tensorOptions, generator)

  /** Normal with a mean and a standard deviation, which must not be negative. */
  def normal[S: Sc](
      mean: Double,
      std: Double,
      size: Seq[Long],
      options: STenOptions,
      generator: Generator = Generator.default
  ): STen =
    RandomCalls.make(RandomCalls.normal, "normal", size, bits(mean), bits(std), options, generator)

  /** Uniform on [low, high). */
  def uniform[S: Sc](
      low: Double,
      high: Double,
      size: Seq[Long],
      tensorOptions: STenOptions = STen.dOptions,
      generator: Generator = Generator.default
  ): STen =
    RandomCalls.make(RandomCalls.uniform, "uniform", size, bits(low), bits(high), tensorOptions, generator)

  /** 1 with probability `p`, else 0. */
  def bernoulli[S: Sc](
      p: Double,
      size: Seq[Long],
      tensorOptions: STenOptions = STen.dOptions,
      generator: Generator = Generator.default
  ): STen =
    RandomCalls.make(RandomCalls.bernoulli, "bernoulli", size, bits(p), 0L, tensorOptions, generator)

  /** Integers from 0 up to, not including, `high`. */
  def randint[S: Sc](high: Long, size: Seq[Long], tensorOptions: STenOptions = STen.dOptions): STen =
    randint(0L, high, size, tensorOptions, Generator.default)

  /** Integers from `low` up to, not including, `high`. */
  def randint[S: Sc](low: Long, high: Long, size: Seq[Long], tensorOptions: STenOptions): STen =
    randint(low, high, size, tensorOptions, Generator.default)

  /** Integers from `low` up to, not including, `high`, all equally likely to within 2^-64^ of their
    * number. Floating types that lack some of the integers give the nearest inside the bounds.
    */
  def randint[S: Sc](
      low: Long,
      high: Long,
      size: Seq[Long],
      tensorOptions: STenOptions,
      generator: Generator
  ): STen = RandomCalls.make(RandomCalls.randint, "randint", size, low, high, tensorOptions, generator)

  /** The numbers 0 to `n` - 1 in random order. */
  def randperm[S: Sc](
      n: Long,
      tensorOptions: STenOptions = STen.dOptions,
      generator: Generator = Generator.default
  ): STen = {
    if (tensorOptions.isSparse)
      throw new DTypeException(s"randperm: ${tensorOptions.dtype} sparse: expected the strided layout")
    if (tensorOptions.isCuda) throw new DeviceException("randperm: no CUDA backend is loaded")
    val dtype = tensorOptions.dtype.number
    STen.own(generator.draw(n)((seeded, seed, offset) => Native.randperm(dtype, n, seeded, seed, offset)))
  }

  private def like[S: Sc](op: Int, t: STen, p: Long, q: Long, generator: Generator): STen =
    RandomCalls.like(op, (t.handle & Native.DTYPE_MASK).toInt, t.dims, p, q, generator)

  /** As [[rand]], of the shape and element type of `tensor`. */
  def randLike[S: Sc](tensor: STen, generator: Generator = Generator.default): STen =
    like(RandomCalls.rand, tensor, 0L, 0L, generator)

  /** As [[randn]], of the shape and element type of `tensor`. */
  def randnLike[S: Sc](tensor: STen, generator: Generator = Generator.default): STen =
    like(RandomCalls.randn, tensor, 0L, 0L, generator)

  /** As [[randint]], of the shape and element type of `tensor`. */
  def randintLike[S: Sc](tensor: STen, high: Long): STen = randintLike(tensor, 0L, high)

  /** As [[randint]], of the shape and element type of `tensor`. */
  def randintLike[S: Sc](
      tensor: STen,
      low: Long,
      high: Long,
      generator: Generator = Generator.default
  ): STen = like(RandomCalls.randint, tensor, low, high, generator)
}
