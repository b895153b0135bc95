package wick

/** Fused expressions: the bits of one operation after the other, without tensors in between. */
class FuseSuite extends CleanSuite {

  private def numbers(shape: Seq[Long], seed: Int)(implicit scope: Scope): STen =
    STen.fromFloatArray(
      Array.tabulate(shape.product.toInt)(i => ((i * 37 + seed * 101) % 97 - 48) / 20f),
      shape
    )

  private def same(got: STen, want: STen): Unit = {
    assertEquals((got.dtype, got.shape), (want.dtype, want.shape))
    assert(got.equalDeep(want), s"$got is not $want")
  }

  test("an expression has the values of its operations") {
    clean { implicit scope =>
      val (a, b, c) = (numbers(Seq(300, 200), 1), numbers(Seq(300, 200), 2), numbers(Seq(300, 200), 3))
      same(STen.fuse(a, b, c)((a, b, c) => a * b + c.exp), a * b + c.exp)
      same(STen.fuse(a)(a => 2.0 * a - 1L), 2.0 * a - 1L)
      same(STen.fuse(a)(a => 1L / (1 + (-a).exp)), 1L / (1 + (-a).exp))
      same(STen.fuse(a, b)((a, b) => (3f - a) / b.abs.add(1.0)), (3f - a) / b.abs.add(1.0))
      same(STen.fuse(a, b)((a, b) => Expr.where(a gt b, a, b.clamp(-1, 1))), STen.where(a.gt(b), a, b.clamp(-1.0, 1.0)))
      same(STen.fuse(a, b, c, a, b)((a, b, c, d, e) => a + b + c + d + e), a + b + c + a + b)
      same(STen.fuse(List(a, b))(_.reduce[Expr](_ maximum _)), a.maximum(b))
      same(STen.fuse(a)(a => a.leakyRelu(0.1)), a.leakyRelu(0.1))
      same(STen.fuse(a)(a => a), a)
    }
  }

  test("operands broadcast, dtypes promote as they do one by one") {
    clean { implicit scope =>
      val (a, bias, column) = (numbers(Seq(300, 200), 1), numbers(Seq(200), 2), numbers(Seq(300, 1), 3))
      same(STen.fuse(a, bias, column)((a, b, c) => (a + b) * c), (a + bias) * column)
      same(STen.fuse(a.t, column.t)((a, c) => a * c), a.t * column.t)
      val (half, whole, nought) = (a.castToHalf, a.castToLong, STen.scalarDouble(3, STenOptions.d))
      same(STen.fuse(half, whole)((h, w) => h * w + 0.1), half * whole + 0.1)
      same(STen.fuse(whole, nought)((w, n) => w * n), whole * nought)
      same(STen.fuse(whole)(w => w.gt(1L)), whole.gt(1L))
    }
  }

  test("a sum, mean, greatest and least element have the bits of those of the result") {
    clean { implicit scope =>
      for (n <- Seq(10L, 400000L)) {
        val (a, b) = (numbers(Seq(n), 1), numbers(Seq(n), 2))
        same(STen.fuse(a, b)((a, b) => ((a - b) * (a - b)).sum), { val d = a - b; (d * d).sum })
        same(STen.fuse(a, b)((a, b) => (a * b).mean), (a * b).mean)
        same(STen.fuse(a, b)((a, b) => (a * b).max), (a * b).max)
        same(STen.fuse(a, b)((a, b) => (a * b).min), (a * b).min)
        same(STen.fuse(a)(a => a.sum), a.sum)
      }
    }
  }

  test("no tensors in between: the peak is the result's and a few blocks'") {
    clean { implicit scope =>
      val a = numbers(Seq(2000000), 1)
      Scope { implicit scope =>
        val before = Wick.memory.liveBytes
        Wick.resetPeak()
        STen.fuse(a)(a => ((a * 2.0 + 1.0).exp + a).sqrt)
        val extra = Wick.memory.peakBytes - before
        assert(extra < 12000000, s"$extra bytes")
        Wick.resetPeak()
        STen.fuse(a)(a => (a * 2.0).sum)
        assert(Wick.memory.peakBytes - before < 12000000)
      }
    }
  }

  test("fuseOut writes into a tensor, an operand too; a failure changes nothing") {
    clean { implicit scope =>
      val (a, b) = (numbers(Seq(300, 200), 1), numbers(Seq(300, 200), 2))
      val want = a * 0.9 + b * 0.1
      STen.fuseOut(a, a, b)((a, b) => a * 0.9 + b * 0.1)
      same(a, want)
      val whole = STen.arange_l(0, 50000, 1)
      val divisor = STen.ones(Seq(50000), STenOptions.l)
      divisor.select(0, 49000).fill_(0L)
      val before = whole.cloneTensor
      intercept[DTypeException](STen.fuseOut(whole, whole, divisor)((w, d) => w.floorDivide(d)))
      same(whole, before)
      intercept[DTypeException](STen.fuseOut(whole, numbers(Seq(50000), 1))(a => a.exp))
      intercept[ShapeException](STen.fuseOut(whole, b)(b => b.exp))
    }
  }

  test("errors are those of the operations") {
    clean { implicit scope =>
      val (a, b) = (numbers(Seq(3, 4), 1), numbers(Seq(5), 2))
      val fused = intercept[ShapeException](STen.fuse(a, b)((a, b) => (a + 1.0) * b))
      val eager = intercept[ShapeException]((a + 1.0) * b)
      assertEquals(fused.getMessage, eager.getMessage)
      val wrong = intercept[DTypeException](STen.fuse(a)(a => (a + 1.0).bitwiseAnd(1L)))
      assertEquals(wrong.getMessage, intercept[DTypeException]((a + 1.0).bitwiseAnd(1L)).getMessage)
      var foreign: Expr = null
      STen.fuse(a) { a => foreign = a; a.exp }
      intercept[IllegalArgumentException](STen.fuse(b)(b => b + foreign))
      val closed = numbers(Seq(2), 1)
      closed.close()
      intercept[ClosedTensorException](STen.fuse(closed)(_.exp))
    }
  }

  test("a long expression, and one whose parts are used again and again") {
    clean { implicit scope =>
      val a = numbers(Seq(10), 1)
      same(
        STen.fuse(a)(a => (1 to 20000).foldLeft(a: Expr)((e, _) => e + 1L)),
        (1 to 20000).foldLeft(a)((t, _) => t + 1L)
      )
      same(STen.fuse(a)(a => (1 to 60).foldLeft(a: Expr)((e, _) => (e + e) * 0.5)), a)
    }
  }

  test("part of a pipeline") {
    clean { implicit scope =>
      val w = numbers(Seq(64), 9)
      def body(x: STen)(implicit scope: Scope): STen = STen.fuse(x, w)((x, w) => (x * w).tanh + 1.0)
      val pipeline = Pipeline.of(numbers(Seq(500, 64), 1)) { implicit scope => x => body(x) }
      for (seed <- 2 to 4) Scope { implicit scope =>
        val x = numbers(Seq(500, 64), seed)
        same(pipeline.one(x), body(x))
      }
      assertEquals(pipeline.report.astray, 0L)
      pipeline.close()
    }
  }
}
