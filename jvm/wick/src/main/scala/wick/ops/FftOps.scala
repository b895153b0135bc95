package wick

/** Methods of [[STen]]: discrete Fourier transforms along one dimension, of f32 or f64.
  *
  * A complex number is a pair of reals, real part first, in a last dimension of size 2, as libtorch's
  * `view_as_real` shows it; `dim` does not count that dimension. A signal is cut, or filled up with
  * zeros, to `n` elements; `norm` says which direction is divided by their number: `backward`,
  * `forward`, or `ortho` for both, by the square root. Transforms are `rustfft`'s.
  */
private[wick] trait FftOps { self: STen =>

  private def transform[S: Sc](op: Int, n: Option[Long], dim: Int, norm: String): STen =
    STen.own(Native.fft(op, self.handle, n.getOrElse(-1L), dim.toLong, FftCalls.norm(norm)), self)

  /** The spectrum of a complex signal: complex, of the same length. libtorch: `fft_fft`. */
  def fft[S: Sc](n: Option[Long] = None, dim: Int = -1, norm: String = "backward"): STen =
    transform(FftCalls.fft, n, dim, norm)

  /** The complex signal of a complex spectrum. libtorch: `fft_ifft`. */
  def ifft[S: Sc](n: Option[Long] = None, dim: Int = -1, norm: String = "backward"): STen =
    transform(FftCalls.ifft, n, dim, norm)

  /** The first `n / 2 + 1` complex numbers of a real signal's spectrum, which say all of it. Integers
    * become f32. libtorch: `fft_rfft`.
    */
  def rfft[S: Sc](n: Option[Long] = None, dim: Int = -1, norm: String = "backward"): STen =
    transform(FftCalls.rfft, n, dim, norm)

  /** The real signal of such a spectrum; without `n` twice the spectrum's length less one. libtorch:
    * `fft_irfft`.
    */
  def irfft[S: Sc](n: Option[Long] = None, dim: Int = -1, norm: String = "backward"): STen =
    transform(FftCalls.irfft, n, dim, norm)
}

/** Codes of the transforms. */
private[wick] object FftCalls {
  val fft: Int = Native.opCode("fft", "fft")
  val ifft: Int = Native.opCode("fft", "ifft")
  val rfft: Int = Native.opCode("fft", "rfft")
  val irfft: Int = Native.opCode("fft", "irfft")

  private val norms: Map[String, Int] =
    List("backward", "ortho", "forward").map(name => name -> Native.opCode("fft_norm", name)).toMap

  def norm(name: String): Int = norms.getOrElse(
    name,
    throw new IllegalArgumentException(s"fft: norm $name: expected backward, ortho or forward")
  )
}
