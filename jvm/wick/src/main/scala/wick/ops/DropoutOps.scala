package wick

/** Methods of [[STen]]: dropout. Which elements stay depends on the generator's state and the element's
  * place alone.
  */
private[wick] trait DropoutOps { self: STen =>

  /** In training sets each element to 0 with probability `p` and divides the others by `1 - p`; else
    * changes nothing.
    */
  def dropout_(p: Double, training: Boolean): Unit = dropout_(p, training, Generator.default)

  /** As `dropout_(p, training)`, by a generator. */
  def dropout_(p: Double, training: Boolean, generator: Generator): Unit = {
    Dropout.check(this, p)
    if (training && p > 0.0) Scope.root { implicit scope =>
      val mask = Dropout.mask(this, p, generator)
      Native.pair(BackwardFunctions.dropout, handle, mask.handle, Dropout.scale(p), 0.0, 0.0, handle)
      ()
    }
    else {
      handle
      ()
    }
  }

  /** In training a copy where each element is 0 with probability `p` and the others are divided by
    * `1 - p`; else a plain copy.
    */
  def dropout[S: Sc](p: Double, training: Boolean): STen = dropout(p, training, Generator.default)

  /** As `dropout(p, training)`, by a generator. */
  def dropout[S: Sc](p: Double, training: Boolean, generator: Generator): STen = {
    Dropout.check(this, p)
    if (!training || p == 0.0) cloneTensor
    else {
      val (out, mask) = STen.native_dropout(this, p, training, generator)
      mask.close()
      out
    }
  }
}

/** Functions of the [[STen]] companion: dropout with its mask. */
private[wick] trait DropoutFunctions {

  /** Dropout and the bool mask of the elements that stayed. libtorch: `native_dropout`. */
  def native_dropout[S: Sc](
      input: STen,
      p: Double,
      train: Boolean,
      generator: Generator = Generator.default
  ): (STen, STen) = {
    Dropout.check(input, p)
    val mask = Dropout.mask(input, if (train) p else 0.0, generator)
    val scale = if (train) Dropout.scale(p) else 1.0
    (BackwardFunctions.pair(BackwardFunctions.dropout, input, mask, scale), mask)
  }

  /** Gradient of [[native_dropout]], `scale` being `1 / (1 - p)`. */
  def native_dropout_backward[S: Sc](gradOutput: STen, mask: STen, scale: Double): STen =
    BackwardFunctions.pair(BackwardFunctions.dropout, gradOutput, mask, scale)
}

/** What dropout is made of. */
private[wick] object Dropout {
  def check(t: STen, p: Double): Unit = {
    if (!(p >= 0.0 && p <= 1.0))
      throw new IllegalArgumentException(s"dropout: probability $p: expected 0 to 1")
    if (!t.isFloatingPoint)
      throw new DTypeException(s"dropout: ${t.dtype.name} ${t.shapeText}: expected a float dtype")
  }

  def scale(p: Double): Double = if (p == 1.0) 0.0 else 1.0 / (1.0 - p)

  /** True where an element stays. */
  def mask(t: STen, p: Double, generator: Generator)(implicit scope: Scope): STen =
    RandomCalls.like(
      RandomCalls.bernoulli,
      DType.Bool.number,
      t.shape.toArray,
      Codes.bits(1.0 - p),
      0L,
      generator
    )
}
