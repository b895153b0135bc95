package wick

import munit.FunSuite

/** Fourier transforms. */
class FftSuite extends FunSuite {

  private def values(t: STen): Seq[Double] = Scope.unsafe { implicit scope =>
    t.copyTo(STenOptions.d).toDoubleArray.toSeq
  }

  private def close(got: STen, want: Seq[Double], within: Double = 1e-9)(implicit loc: munit.Location): Unit = {
    val v = values(got)
    assertEquals(v.length, want.length)
    for ((x, y) <- v.zip(want)) assertEqualsDouble(x, y, within)
  }

  /** The transform from its definition, of pairs. */
  private def slow(x: Seq[(Double, Double)], sign: Double): Seq[Double] = {
    val n = x.length
    (0 until n).flatMap { k =>
      val terms = x.zipWithIndex.map { case ((re, im), j) =>
        val angle = sign * 2 * math.Pi * ((j.toLong * k) % n) / n
        (re * math.cos(angle) - im * math.sin(angle), re * math.sin(angle) + im * math.cos(angle))
      }
      List(terms.map(_._1).sum, terms.map(_._2).sum)
    }
  }

  private def pairs(v: Seq[Double]): Seq[(Double, Double)] = v.grouped(2).map(p => (p(0), p(1))).toSeq

  test("fft, ifft: the definition, for lengths of all kinds") {
    Scope.root { implicit scope =>
      for (n <- List(1, 2, 3, 4, 5, 7, 8, 12, 17, 64, 100, 101)) {
        val x = STen.randn(Seq(n.toLong, 2), STenOptions.d, Generator(n.toLong))
        close(x.fft(), slow(pairs(values(x)), -1))
        close(x.ifft(), slow(pairs(values(x)), 1).map(_ / n))
        close(x.fft().ifft(), values(x))
        close(x.fft(norm = "ortho").ifft(norm = "ortho"), values(x))
        close(x.fft(norm = "forward"), slow(pairs(values(x)), -1).map(_ / n))
        close(x.copyTo(STenOptions.f).fft(), slow(pairs(values(x)), -1), 1e-4)
      }
    }
  }

  test("rfft, irfft: half of the spectrum and back") {
    Scope.root { implicit scope =>
      for (n <- List(1, 2, 3, 6, 9, 64, 77)) {
        val x = STen.randn(Seq(3, n.toLong), STenOptions.d, Generator(n.toLong))
        val s = x.rfft()
        assertEquals(s.shape, List(3L, n / 2 + 1L, 2L))
        val whole = STen.stack(Seq(x, STen.zerosLike(x)), -1).fft().slice(1, 0, n / 2 + 1L, 1)
        close(s, values(whole))
        close(s.irfft(Some(n.toLong)), values(x))
      }
      // libtorch's default length is even.
      assertEquals(STen.ones(Seq(9), STenOptions.d).rfft().irfft().shape, List(8L))
      assertEquals(STen.ones(Seq(4), STenOptions.l).rfft().dtype, DType.F32: DType)
      // The imaginary parts that a real signal cannot have are not looked at.
      val odd = STen.fromDoubleArray(Array(4.0, 9.0, 0, 0, 0, 5.0), List(3, 2), CPU, DoublePrecision)
      close(odd.irfft(), Seq(1, 1, 1, 1))
    }
  }

  test("any dimension and layout; cut and filled up") {
    Scope.root { implicit scope =>
      val x = STen.randn(Seq(4, 6, 2), STenOptions.d, Generator(1))
      val turned = x.transpose(0, 1)
      close(x.fft(dim = 0), values(turned.fft(dim = 1).transpose(0, 1)))
      close(turned.fft(dim = -1), values(x.fft(dim = 0).transpose(0, 1)))
      close(x.fft(Some(3), dim = 1), values(x.slice(1, 0, 3, 1).fft(dim = 1)))
      val zeros = STen.zeros(Seq(4, 2, 2), STenOptions.d)
      close(x.fft(Some(8), dim = 1), values(STen.cat(Seq(x, zeros), 1).fft(dim = 1)))
      val before = values(x)
      x.ifft()
      close(x, before)
      assertEquals(STen.zeros(Seq(0, 5), STenOptions.f).rfft().shape, List(0L, 3L, 2L))
    }
  }

  test("bad input is refused") {
    Scope.root { implicit scope =>
      intercept[ShapeException](STen.ones(Seq(4, 3)).fft())
      intercept[ShapeException](STen.ones(Seq(2)).fft())
      intercept[ShapeException](STen.ones(Seq(4, 2)).fft(Some(0)))
      intercept[ShapeException](STen.zeros(Seq(0, 2)).fft())
      intercept[ShapeException](STen.ones(Seq(4)).rfft(Some(-3)))
      intercept[IndexException](STen.ones(Seq(4, 2)).fft(dim = 1))
      intercept[DTypeException](STen.ones(Seq(4), STenOptions.f16).rfft())
      intercept[IllegalArgumentException](STen.ones(Seq(4)).rfft(norm = "other"))
      // A fatal error to Scala, so munit's intercept lets it through.
      val huge =
        try STen.ones(Seq(4)).rfft(Some(1L << 50)).toString
        catch { case e: OutOfNativeMemoryError => e.getMessage }
      assert(huge.contains("bytes asked"), huge)
    }
  }
}
