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

  /** Exponential with a rate, which must be positive. libtorch: `exponential_`. */
  def exponential[S: Sc](
      rate: Double,
      size: Seq[Long],
      tensorOptions: STenOptions = STen.dOptions,
      generator: Generator = Generator.default
  ): STen =
    RandomCalls.make(RandomCalls.exponential, "exponential", size, bits(rate), 0L, tensorOptions, generator)

  /** For each rate a number of events that is Poisson distributed; rates of a float type, not negative. */
  def poisson[S: Sc](rates: STen, generator: Generator = Generator.default): STen =
    RandomCalls.variate(RandomCalls.poisson, rates, generator)

  /** For each shape parameter a gamma variate of scale 1; of a float type, not negative. libtorch:
    * `_standard_gamma`. Marsaglia & Tsang (2000).
    */
  def standardGamma[S: Sc](shapes: STen, generator: Generator = Generator.default): STen =
    RandomCalls.variate(RandomCalls.gamma, shapes, generator)

  /** Points of the simplex, Dirichlet distributed with the concentrations in the last dimension. */
  def dirichlet(concentrations: STen, generator: Generator = Generator.default)(implicit
      scope: Scope
  ): STen =
    Scope { implicit scope =>
      val parts = standardGamma(concentrations, generator)
      parts / parts.sum(-1, keepDim = true)
    }

  /** Indices into each row of weights, drawn as often as these say, as i64 of shape `[numSamples]` or
    * `[rows, numSamples]`.
    *
    * Weights need not sum to 1. One of 0 is never drawn; negative, infinite and NaN weights are refused,
    * as are rows with fewer positive weights than samples where nothing is put back.
    *
    * @param probs
    *   one or two dimensions of a float type
    */
  def multinomial[S: Sc](
      probs: STen,
      numSamples: Int,
      replacement: Boolean,
      generator: Generator = Generator.default
  ): STen = {
    val open = probs.handle
    val rows = if (probs.dim == 2) probs.dims(0) else 1L
    val n = if (replacement) rows * numSamples else probs.numel
    STen.own(generator.draw(n)(Native.multinomial(open, numSamples.toLong, replacement, _, _, _)))
  }

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
    val dtype = Device.code("randperm", tensorOptions)
    STen.own(generator.draw(n)((seeded, seed, offset) => Native.randperm(dtype, n, seeded, seed, offset)))
  }

  private def like[S: Sc](op: Int, t: STen, p: Long, q: Long, generator: Generator): STen = {
    SparseCalls.dense("rand_like", t)
    RandomCalls.like(op, t.likeCode, t.dims, p, q, generator)
  }

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
