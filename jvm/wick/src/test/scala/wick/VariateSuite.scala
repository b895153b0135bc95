package wick

import munit.FunSuite

/** Distributions with a parameter for each element, exponentials, and samples by weight. */
class VariateSuite extends FunSuite {

  private val floats = DType.values.filter(_.isFloatingPoint)

  private def values(t: STen): Seq[Double] = Scope.unsafe { implicit scope =>
    t.copyTo(STenOptions.d).toDoubleArray.toSeq
  }

  private def mean(v: Seq[Double]): Double = v.sum / v.length
  private def variance(v: Seq[Double]): Double = {
    val m = mean(v)
    mean(v.map(x => (x - m) * (x - m)))
  }

  /** Whether a sample's mean and variance are within six standard errors of what they should be. */
  private def check(v: Seq[Double], m: Double, s2: Double, kurtosis: Double)(implicit loc: munit.Location): Unit = {
    assertEqualsDouble(mean(v), m, 6 * math.sqrt(s2 / v.length))
    assertEqualsDouble(variance(v), s2, 6 * s2 * math.sqrt((kurtosis - 1) / v.length))
  }

  test("exponential: moments, support, place in the sequence") {
    Scope.root { implicit scope =>
      for (options <- List(STenOptions.d, STenOptions.f)) {
        val v = values(STen.exponential(4.0, Seq(100000), options, Generator(1)))
        check(v, 0.25, 0.0625, 9)
        assert(v.forall(x => x > 0 && x < 10))
      }
      val t = STen.zeros(Seq(3, 4), STenOptions.d).t
      t.exponential_(4.0, Generator(1))
      assertEquals(values(t), values(STen.exponential(4.0, Seq(4, 3), STenOptions.d, Generator(1))))
      for (dtype <- floats)
        assert(values(STen.exponential(1.0, Seq(1000), STenOptions(dtype), Generator(2))).forall(_ >= 0))
      for (rate <- List(0.0, -1.0, Double.NaN, Double.PositiveInfinity))
        intercept[DTypeException](STen.exponential(rate, Seq(2)))
      intercept[DTypeException](STen.exponential(1.0, Seq(2), STenOptions.l))
      ()
    }
  }

  test("poisson: moments for small and large rates, whole numbers, edges") {
    Scope.root { implicit scope =>
      for (rate <- List(0.3, 3.0, 9.99, 10.0, 50.0, 1e4)) {
        val rates = STen.ones(Seq(100000), STenOptions.d) * rate
        val v = values(STen.poisson(rates, Generator(3)))
        check(v, rate, rate, 3 + 1 / rate)
        assert(v.forall(x => x >= 0 && x == math.rint(x)))
      }
      assertEquals(
        values(STen.poisson(STen.fromDoubleArray(Array(0.0, Double.PositiveInfinity), List(2), CPU, DoublePrecision))),
        Seq(0.0, Double.PositiveInfinity)
      )
    }
  }

  test("gamma and Dirichlet: moments, edges") {
    Scope.root { implicit scope =>
      for (shape <- List(0.2, 1.0, 2.5, 40.0)) {
        val v = values(STen.standardGamma(STen.ones(Seq(100000), STenOptions.d) * shape, Generator(4)))
        check(v, shape, shape, 3 + 6 / shape)
        assert(v.forall(_ >= 0))
      }
      assertEquals(values(STen.standardGamma(STen.zeros(Seq(2), STenOptions.d))), Seq(0.0, 0.0))
      val d = STen.dirichlet(STen.ones(Seq(1000, 3), STenOptions.d), Generator(5))
      assert(values(d.sum(-1, keepDim = false)).forall(x => math.abs(x - 1) < 1e-12))
    }
  }

  test("element i depends on seed, place and i alone: not on threads, layout or neighbours") {
    val before = Wick.threads
    Scope.root { implicit scope =>
      val shapes = STen.rand(Seq(50, 100), STenOptions.d, Generator(6)) * 5.0
      def both = values(STen.standardGamma(shapes, Generator(7))) ++ values(STen.poisson(shapes, Generator(7)))
      val one =
        try { Wick.threads = 1; both }
        finally Wick.threads = before
      assertEquals(both, one)
      val turned = shapes.t.contiguous.t
      assertEquals(values(STen.standardGamma(turned, Generator(7))), one.take(5000))
      assertEquals(values(STen.standardGamma(shapes.slice(0, 0, 1, 1), Generator(7))), one.take(100))
      // The next draw does not overlap this one.
      val g = Generator(7)
      STen.poisson(shapes, g)
      assertEquals(g.state.offset, 157L)
      for (dtype <- floats) {
        val t = STen.poisson(STen.ones(Seq(4), STenOptions(dtype)))
        assertEquals(t.dtype, dtype)
      }
    }
  }

  test("parameters are checked, the generator stays") {
    Scope.root { implicit scope =>
      val g = Generator(8)
      val wrong = STen.fromDoubleArray(Array(1.0, -1.0, Double.NaN), List(3), CPU, DoublePrecision)
      assert(intercept[DTypeException](STen.poisson(wrong, g)).getMessage.contains("element 1"))
      intercept[DTypeException](STen.standardGamma(wrong, g))
      intercept[DTypeException](STen.poisson(STen.ones(Seq(2), STenOptions.l), g))
      assertEquals(g.state.offset, 0L)
    }
  }

  private def weights(rows: Seq[Double]*)(implicit scope: Scope): STen =
    STen.fromDoubleArray(rows.flatten.toArray, List(rows.size.toLong, rows.head.size.toLong), CPU, DoublePrecision)

  test("multinomial: frequencies with replacement, in every row") {
    Scope.root { implicit scope =>
      val w = weights(Seq(1, 0, 3), Seq(0, 5, 5))
      val t = STen.multinomial(w, 40000, replacement = true, Generator(9))
      assertEquals((t.dtype, t.shape), (DType.I64: DType, List(2L, 40000L)))
      val (first, second) = t.toLongArray.splitAt(40000)
      def share(a: Array[Long], i: Long) = a.count(_ == i) / 40000.0
      assertEqualsDouble(share(first, 2), 0.75, 0.015)
      assertEquals(share(first, 1), 0.0)
      assertEqualsDouble(share(second, 1), 0.5, 0.015)
      assertEquals(share(second, 0), 0.0)
      // Sums beyond the largest number.
      val huge = weights(Seq(Double.MaxValue, Double.MaxValue)).select(0, 0)
      assert(STen.multinomial(huge, 100, replacement = true).toLongArray.toSet == Set(0L, 1L))
    }
  }

  test("multinomial without replacement: no repeats, the first sample by weight") {
    Scope.root { implicit scope =>
      val rows = 20000
      val w = weights(Seq(1, 2, 0, 1)).expand(List(rows.toLong, 4L))
      val t = STen.multinomial(w, 3, replacement = false, Generator(10)).toLongArray.grouped(3).toList
      assert(t.forall(_.toSet == Set(0L, 1L, 3L)))
      assertEqualsDouble(t.count(_.head == 1L).toDouble / rows, 0.5, 0.02)
    }
  }

  test("BR-165, BR-166: too few positive weights are refused, never repeated or filled up") {
    Scope.root { implicit scope =>
      val g = Generator(11)
      def refused(w: Seq[Double], n: Int): String =
        intercept[IllegalArgumentException](STen.multinomial(
          weights(w).select(0, 0),
          n,
          replacement = false,
          g
        )).getMessage
      assert(refused(Seq(0, 0, 2, 0, 0), 4).contains("fewer than 4 positive weights"))
      assert(refused(Seq(5, 0, 0, 1, 0), 4).contains("fewer than 4"))
      assert(refused(Seq(5, 0, 0, 1, 0), 6).contains("fewer than 6"))
      assert(refused(Seq(5, 0, 0, 1, 0), 0).contains("got 0"))
      assert(refused(Seq(1, -1), 1).contains("element 1"))
      assert(refused(Seq(1, Double.PositiveInfinity), 1).contains("element 1"))
      intercept[DTypeException](STen.multinomial(weights(Seq(1, 1), Seq(0, 0)), 1, replacement = true, g))
      intercept[ShapeException](STen.multinomial(STen.ones(Seq(1, 1, 1)), 1, replacement = true, g))
      intercept[DTypeException](STen.multinomial(STen.ones(Seq(2), STenOptions.l), 1, replacement = true, g))
      assertEquals(g.state.offset, 0L)
    }
  }

  test("BR-167: an index of weight 0 is never drawn") {
    Scope.root { implicit scope =>
      val w = weights(Seq(0, 1, 0)).copyTo(STenOptions.f).expand(List(50000L, 3L))
      for (i <- 0 until 20) {
        val t = STen.multinomial(w, 1, replacement = i % 2 == 0)
        assert(t.toLongArray.forall(_ == 1L))
      }
      for (row <- List(Seq(1.0, 0.0), Seq(0.5, 0.0, 0.5))) {
        val t = STen.multinomial(weights(row).expand(List(50000L, row.size.toLong)), 4, replacement = true)
        assert(!t.toLongArray.contains(1L))
      }
    }
  }
}
