package wick

import wick.Codes.bits

/** Methods of [[STen]]: random elements. Those in place give element `i` in row-major order what a
  * new tensor would have there, whatever the strides.
  */
private[wick] trait RandomOps { self: STen =>

  /** 1 with the probability that stands in the same place of this tensor, else 0. */
  def bernoulli[S: Sc]: STen = bernoulli(Generator.default)

  /** 1 with the probability that stands in the same place of this tensor, else 0. */
  def bernoulli[S: Sc](generator: Generator): STen = {
    val open = handle
    STen.own(generator.draw(numel)(Native.bernoulliOf(open, _, _, _)), this)
  }

  /** Sets each element to 1 with probability `p`, else to 0. */
  def bernoulli_(p: Double, generator: Generator = Generator.default): Unit =
    RandomCalls.inPlace(RandomCalls.bernoulli, this, bits(p), 0L, generator)

  /** Sets all elements to numbers that are uniform on [low, high). */
  def uniform_(low: Double = 0.0, high: Double = 1.0, generator: Generator = Generator.default): Unit =
    RandomCalls.inPlace(RandomCalls.uniform, this, bits(low), bits(high), generator)

  /** Sets all elements to normal numbers. */
  def normal_(mean: Double = 0.0, std: Double = 1.0, generator: Generator = Generator.default): Unit =
    RandomCalls.inPlace(RandomCalls.normal, this, bits(mean), bits(std), generator)

  /** Sets all elements to exponential numbers of a rate, which must be positive. */
  def exponential_(rate: Double = 1.0, generator: Generator = Generator.default): Unit =
    RandomCalls.inPlace(RandomCalls.exponential, this, bits(rate), 0L, generator)

  /** Sets all elements to integers from `low` up to, not including, `high`. */
  def random_(low: Long, high: Long, generator: Generator = Generator.default): Unit =
    RandomCalls.inPlace(RandomCalls.randint, this, low, high, generator)
}
