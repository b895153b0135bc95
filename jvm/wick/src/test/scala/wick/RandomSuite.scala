package wick

import munit.FunSuite

/** Random tensors and generators. */
class RandomSuite extends FunSuite {

  private val floats = DType.values.filter(_.isFloatingPoint)

  private def values(t: STen): List[Double] = Scope.unsafe { implicit scope =>
    t.copyTo(STenOptions.d).toDoubleArray.toList
  }

  private def mean(v: Seq[Double]): Double = v.sum / v.length
  private def deviation(v: Seq[Double]): Double = {
    val m = mean(v)
    math.sqrt(mean(v.map(x => (x - m) * (x - m))))
  }

  /** Runs `body`, which must throw, and checks that it left no tensor and the generator where it was. */
  private def refused[E <: Throwable](
      body: (Scope, Generator) => Any
  )(implicit tag: reflect.ClassTag[E], loc: munit.Location): E = {
    var thrown: Option[E] = None
    for (generator <- List(Generator.default, Generator(5))) Scope.unsafe { scope =>
      val (before, state) = (Wick.memory.liveTensors, generator.state)
      thrown = Some(intercept[E](body(scope, generator)))
      assertEquals((Wick.memory.liveTensors, generator.state), (before, state))
    }
    thrown.get
  }

  test("LP-09: the first numbers of seed 42, from another implementation of the published algorithm") {
    Scope.root { implicit scope =>
      def g = Generator(42)
      assertEquals(
        values(STen.rand(Seq(4), STenOptions.d, g)),
        List(0.4685865183391049, 0.1262498542224193, 0.5202384233471038, 0.44562593499205727)
      )
      assertEquals(
        values(STen.rand(Seq(2, 2), STenOptions.f, g)),
        List(0.6129598617553711, 0.010058820247650146, 0.39841365814208984, 0.040308356285095215)
      )
      assertEquals(
        STen.randint(0, 100, Seq(10), STenOptions.l, g).toLongArray.toList,
        List[Long](46, 12, 52, 44, 74, 40, 65, 89, 7, 64)
      )
      val normal = values(STen.randn(Seq(3), STenOptions.d, g))
      for ((x, y) <- normal.zip(List(-0.6076510539335191, -0.12409858730465695, -0.4329467085129417)))
        assertEqualsDouble(x, y, 1e-14)
      assertEquals(
        STen.randperm(10, STenOptions.l, g).toLongArray.toList,
        List[Long](8, 0, 6, 5, 2, 7, 3, 9, 1, 4)
      )
      assertEquals(g.split().seed, -7491773017932719356L)
    }
  }

  test("lamp's forms and defaults") {
    Scope.root { implicit scope =>
      val made = List(STen.rand(Seq(2, 3)), STen.randn(Seq(2, 3)), STen.randint(5, Seq(2, 3)))
      assertEquals(made.map(t => (t.dtype: DType, t.shape)), List.fill(3)((DType.F64: DType, List(2L, 3L))))
      assertEquals(STen.randperm(4).dtype, DType.F64: DType)
      assertEquals(STen.normal(1, 2, Seq(3), STenOptions.f).dtype, DType.F32: DType)
      assertEquals(STen.randint(2L, 5L, Seq(3L), STenOptions.i).dtype, DType.I32: DType)
      for (d <- floats) {
        val like = STen.zeros(Seq(3, 4), STenOptions(d))
        for (
          t <- List(STen.randLike(like), STen.randnLike(like), STen.randintLike(like, 4), STen.randintLike(like, 2, 4))
        )
          assertEquals((t.dtype, t.shape), (d, List(3L, 4L)))
        assert(values(STen.randintLike(like, 2, 4)).forall(Set(2.0, 3.0)))
      }
      for (d <- DType.values) {
        val o = STenOptions(d)
        assert(values(STen.randint(0L, 2L, Seq(100L), o)).toSet == Set(0.0, 1.0), d.name)
        assertEquals(values(STen.bernoulli(1, Seq(3), o)), List(1d, 1d, 1d))
      }
    }
  }

  test("moments") {
    Scope.root { implicit scope =>
      for (d <- floats) {
        val o = STenOptions(d)
        val g = Generator(7)
        val u = values(STen.rand(Seq(20000), o, g))
        assert(u.forall(x => x >= 0 && x < 1), d.name)
        assertEqualsDouble(mean(u), 0.5, 0.01)
        assertEqualsDouble(deviation(u), math.sqrt(1.0 / 12), 0.01)
        val z = values(STen.normal(3, 0.5, Seq(20000), o, g))
        assertEqualsDouble(mean(z), 3.0, 0.015)
        assertEqualsDouble(deviation(z), 0.5, 0.015)
        val w = values(STen.uniform(-2, 6, Seq(20000), o, g))
        assert(w.forall(x => x >= -2 && x < 6), d.name)
        assertEqualsDouble(mean(w), 2.0, 0.1)
        val b = values(STen.bernoulli(0.25, Seq(20000), o, g))
        assertEqualsDouble(mean(b), 0.25, 0.015)
      }
    }
  }

  test("the same seed gives the same numbers, whatever the number of threads") {
    val threads = Wick.threads
    try
      Scope.root { implicit scope =>
        val runs = for (n <- List(1, 2, 7)) yield {
          Wick.threads = n
          val g = Generator(1)
          STen.manualSeed(9)
          List(
            STen.rand(Seq(300000), STenOptions.f, g),
            STen.randn(Seq(300000), STenOptions.d, g),
            STen.randn(Seq(300000), STenOptions.f16),
            STen.randint(1000, Seq(300000), STenOptions.i)
          ).map(t => values(t).hashCode)
        }
        assertEquals(runs.toSet.size, 1)
      }
    finally Wick.threads = threads
  }

  test("a generator is saved, restored, split and seeded anew") {
    Scope.root { implicit scope =>
      for (g <- List(Generator(3), Generator.default)) {
        g.manualSeed(3)
        val first = values(STen.randn(Seq(100), STenOptions.f, g))
        val state = g.state
        assertEquals(state, Generator.State(3, 4))
        val second = values(STen.randn(Seq(33), STenOptions.f, g))
        assertNotEquals(second, first.take(33))
        assertEquals(values(STen.randn(Seq(33), STenOptions.f, Generator(state))), second)
        g.restore(state)
        assertEquals(values(STen.randn(Seq(33), STenOptions.f, g)), second)
        g.manualSeed(3)
        assertEquals(values(STen.randn(Seq(100), STenOptions.f, g)), first)

        g.restore(state)
        val children = g.split(3)
        assertEquals(children.map(_.state.offset).toList, List(0L, 0L, 0L))
        assertEquals((children.map(_.seed) :+ g.seed).toSet.size, 4)
        assertEquals(g.state.offset, state.offset + 3)
        val drawn = children.map(c => values(STen.rand(Seq(5), STenOptions.d, c)))
        assertEquals(drawn.toSet.size, 3)
        g.restore(state)
        assertEquals(g.split().seed, children.head.seed)
      }
    }
  }

  test("setSeed of Wick and of the device seed the default generator") {
    Scope.root { implicit scope =>
      val drawn = List[Long => Unit](STen.manualSeed, Wick.setSeed, CPU.setSeed, Generator.default.manualSeed).map {
        seed =>
          seed(123)
          values(STen.rand(Seq(5)))
      }
      assertEquals(drawn.toSet, Set(values(STen.rand(Seq(5), STenOptions.d, Generator(123)))))
    }
  }

  test("draws of several threads from one generator do not overlap") {
    val g = Generator(77)
    val seen = java.util.concurrent.ConcurrentHashMap.newKeySet[Double]()
    val workers = List.fill(4)(new Thread(() => {
      for (_ <- 0 until 50) Scope.root { implicit scope =>
        STen.rand(Seq(40), STenOptions.d, g).toDoubleArray.foreach(x => seen.add(x))
      }
    }))
    workers.foreach(_.start())
    workers.foreach(_.join())
    assertEquals(seen.size, 4 * 50 * 40)
    assertEquals(g.state.offset, 4L * 50 * 2)
  }

  test("BR-169: permutations") {
    Scope.root { implicit scope =>
      val p = STen.randperm(100000, STenOptions.l).toLongArray
      assert(p.sorted.sameElements(Array.tabulate(100000)(_.toLong)))
      assert(!p.take(100).sameElements(Array.tabulate(100)(_.toLong)))
      assertEquals(STen.randperm(0, STenOptions.l).shape, List(0L))
      assertEquals(values(STen.randperm(256, STenOptions.u8)).sorted, List.tabulate(256)(_.toDouble))
    }
    refused[DTypeException]((s, g) => STen.randperm(257, STenOptions.u8, g)(s))
    refused[DTypeException]((s, g) => STen.randperm(3000, STenOptions.f16, g)(s))
    refused[DTypeException]((s, g) => STen.randperm(1, STenOptions.bool, g)(s))
    refused[ShapeException]((s, g) => STen.randperm(-1, STenOptions.l, g)(s))
    ()
  }

  test("in place, and with a tensor of probabilities") {
    Scope.root { implicit scope =>
      for (d <- floats) {
        val o = STenOptions(d)
        val t = STen.zeros(Seq(50, 3), o)
        t.normal_(1, 2, Generator(4))
        assertEquals(values(t), values(STen.normal(1, 2, Seq(50, 3), o, Generator(4))))
        t.uniform_(2, 3, Generator(4))
        assertEquals(values(t), values(STen.uniform(2, 3, Seq(50, 3), o, Generator(4))))
        t.random_(0, 2, Generator(4))
        assertEquals(values(t), values(STen.randint(0, 2, Seq(50, 3), o, Generator(4))))
        val drawn = t.bernoulli
        assertEquals((drawn.dtype, drawn.shape, values(drawn)), (d, t.shape, values(t)))
        t.bernoulli_(0.5, Generator(4))
        assertEquals(values(t), values(STen.full(Seq(50, 3), 0.5, o).bernoulli(Generator(4))))
        t.uniform_()
        t.normal_()
      }
      val i = STen.zeros(Seq(20), STenOptions.i)
      i.random_(-3, 3)
      assert(values(i).forall(x => x >= -3 && x < 3))
      i.bernoulli_(0.5)
      val before = values(i)
      intercept[DTypeException](i.normal_())
      intercept[DTypeException](i.uniform_())
      intercept[DTypeException](i.bernoulli)
      intercept[DTypeException](i.random_(3, 3))
      assertEquals(values(i), before)
      intercept[DTypeException](STen.full(Seq(2), 1.5).bernoulli)
      i.close()
      intercept[ClosedTensorException](i.normal_())
      intercept[ClosedTensorException](i.bernoulli)
      intercept[ClosedTensorException](STen.randLike(i))
      ()
    }
  }

  test("BR-155: empty shapes, and one number") {
    Scope.root { implicit scope =>
      for (d <- floats; o = STenOptions(d)) {
        for (t <- List(STen.rand(Seq(1, 0, 3), o), STen.randn(Seq(1, 0, 3), o), STen.randint(3, Seq(1, 0, 3), o)))
          assertEquals((t.shape, values(t)), (List(1L, 0L, 3L), Nil))
        assertEquals(STen.randn(Nil, o).shape, Nil)
      }
    }
  }

  test("refusals change nothing, the generator neither") {
    for (d <- DType.values if !d.isFloatingPoint; o = STenOptions(d)) {
      refused[DTypeException]((s, g) => STen.rand(Seq(2), o, g)(s))
      refused[DTypeException]((s, g) => STen.randn(Seq(2), o, g)(s))
      refused[DTypeException]((s, g) => STen.normal(0, 1, Seq(2), o, g)(s))
      refused[DTypeException]((s, g) => STen.uniform(0, 1, Seq(2), o, g)(s))
    }
    val f = STenOptions.f
    val e = refused[DTypeException]((s, g) => STen.normal(0, -1, Seq(2, 3), f, g)(s))
    assertEquals(e.getMessage, "normal: f32 [2, 3]: the deviation must not be negative: -1")
    refused[DTypeException]((s, g) => STen.uniform(1, 0, Seq(2), f, g)(s))
    refused[DTypeException]((s, g) => STen.bernoulli(-0.1, Seq(2), f, g)(s))
    val low = refused[DTypeException]((s, g) => STen.randint(3, 3, Seq(2), f, g)(s))
    assertEquals(low.getMessage, "randint: f32 [2]: low 3 must be less than high 3")
    refused[DTypeException]((s, g) => STen.randint(0, 0, Seq(2), f, g)(s))
    refused[DTypeException]((s, g) => STen.randint(0, 300, Seq(2), STenOptions.u8, g)(s))
    refused[ShapeException]((s, g) => STen.rand(Seq(-1), f, g)(s))
    refused[ShapeException]((s, g) => STen.randn(Seq(1L << 62, 8), f, g)(s))
    refused[ShapeException]((s, g) => STen.randn(Seq.fill(64)(2L), f, g)(s))
    val sparse = f.copy(layout = Layout.Sparse)
    refused[DTypeException]((s, g) => STen.rand(Seq(2), sparse, g)(s))
    refused[DTypeException]((s, g) => STen.randperm(2, sparse, g)(s))
    ()
  }
}
