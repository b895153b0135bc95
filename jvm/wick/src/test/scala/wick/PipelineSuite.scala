package wick

import java.util.concurrent.{Callable, Executors, TimeUnit}

/** Recorded operations in planned memory. */
class PipelineSuite extends CleanSuite {

  private def numbers(n: Int, seed: Int): Array[Float] =
    Array.tabulate(n)(i => ((i * 37 + seed * 101) % 97 - 48) / 50f)

  private def matrix(rows: Int, columns: Int, seed: Int)(implicit scope: Scope): STen =
    STen.fromFloatArray(numbers(rows * columns, seed), Seq(rows.toLong, columns.toLong))

  private def bits(t: STen): Seq[Int] = t.toFloatArray.toSeq.map(java.lang.Float.floatToRawIntBits)

  /** A small network, convolution and all: views, in-place operations, several results, scratch. */
  private def network(x: STen, kernel: STen, w: STen)(implicit scope: Scope): STen = {
    val c = Scope { implicit scope =>
      val image = x.view(-1, 1, 8, 8)
      val y = STen.convolution(image, kernel, None, Seq(1, 1), Seq(1, 1), Seq(1, 1), false, Seq(0, 0), 1)
      y.relu_()
      val (pooled, _) = STen.max_pool2d_with_indices(y, Seq(2, 2), Seq(2, 2), Seq(0, 0), Seq(1, 1), false)
      pooled.view(x.shape.head, -1)
    }
    val logits = c.mm(w)
    val (values, _) = logits.sort(1, descending = true)
    (values + logits.sum(0, keepDim = true) * 0.5).logSoftMax(1)
  }

  private def weights(implicit scope: Scope): (STen, STen) =
    (STen.fromFloatArray(numbers(36, 3), Seq(4, 1, 3, 3)), matrix(64, 10, 4))

  test("AC-42, AC-54: a run gives the eager run's bits and asks the allocator for nothing") {
    clean { implicit scope =>
      val (kernel, w) = weights
      for (planner <- Seq(Pipeline.Offsets, Pipeline.Blobs)) {
        val pipeline = Pipeline.of(matrix(20, 64, 1), planner = planner) { implicit scope => x =>
          network(x, kernel, w)
        }
        val out = STen.zeros(Seq(20, 10), STen.fOptions)
        for (seed <- 2 to 5) Scope.root { implicit scope =>
          val x = matrix(20, 64, seed)
          val eager = network(x, kernel, w)
          val before = Wick.memory
          Wick.resetPeak()
          pipeline.into(out)(x)
          assertEquals(Wick.memory.peakBytes, before.liveBytes)
          assertEquals(Wick.memory.made, before.made)
          assertEquals(bits(out), bits(eager))
          assertEquals(bits(pipeline.one(x)), bits(eager))
        }
        val report = pipeline.report
        assertEquals((report.runs, report.astray), (8L, 0L))
        assert(report.poolBytes >= report.peakBytes && report.poolBytes < report.intermediateBytes)
        assert(report.places.forall(p => p.offset + p.bytes <= report.poolBytes))
        pipeline.close()
      }
    }
  }

  test("AC-12: one operation, prepared for its shapes, is done again and again") {
    clean { implicit scope =>
      val a = matrix(3, 5, 1)
      val prepared = Pipeline.record(Seq(a, a)) { implicit scope => in => Seq(in(0).mm(in(1).t)) }
      for (seed <- 1 to 3) {
        val (x, y) = (matrix(3, 5, seed), matrix(3, 5, seed + 1))
        assertEquals(bits(prepared.one(x, y)), bits(x.mm(y.t)))
      }
      assert(prepared.report.operations >= 1)
      prepared.close()
    }
  }

  test("Inputs, captured tensors and elements from the JVM are those of each run") {
    clean { implicit scope =>
      val w = STen.ones(Seq(3), STen.dOptions)
      val p = Pipeline.of(STen.zeros(Seq(3), STen.dOptions)) { implicit scope => x =>
        val fixed = STen.fromDoubleArray(Array(1d, 2d, 3d), Seq(3))
        fixed += x
        x += 1.0
        fixed * w
      }
      val x = STen.zeros(Seq(3), STen.dOptions)
      assertEquals(Fixtures.values(p.one(x)), List(1d, 2d, 3d))
      assertEquals(Fixtures.values(x), List(1d, 1d, 1d))
      w *= 10.0
      assertEquals(Fixtures.values(p.one(x)), List(20d, 30d, 40d))
      p.close()
    }
  }

  test("Random numbers go on from run to run as they do eagerly") {
    clean { implicit scope =>
      val p =
        Pipeline.of(STen.zeros(Seq(4), STen.dOptions))(implicit scope => x => x + STen.rand(Seq(4), STen.dOptions))
      val x = STen.zeros(Seq(4), STen.dOptions)
      Wick.setSeed(7)
      val eager = Seq.fill(2)(Fixtures.values(x + STen.rand(Seq(4), STen.dOptions)))
      Wick.setSeed(7)
      assertEquals(Seq.fill(2)(Fixtures.values(p.one(x))), eager)
      p.close()
    }
  }

  test("AC-20: an output has one writer, and is no input") {
    clean { implicit scope =>
      val x = matrix(2, 2, 1)
      val p = Pipeline.record(Seq(x))(implicit scope => in => Seq(in.head.exp, in.head.neg))
      val out = STen.zeros(Seq(4, 2), STen.fOptions)
      val second = intercept[ShapeException](p.into(out.slice(0, 0, 2, 1), out.slice(0, 1, 3, 1))(x))
      assert(second.getMessage.contains("second writer"), second.getMessage)
      val input = intercept[ShapeException](p.into(x, out.slice(0, 0, 2, 1))(x))
      assert(input.getMessage.contains("read as an input"), input.getMessage)
      p.into(out.slice(0, 0, 2, 1), out.slice(0, 2, 4, 1))(x)
      assertEquals(bits(out.slice(0, 2, 4, 1)), bits(x.neg))
      p.close()
    }
  }

  test("AC-50: imported memory as input and output of runs") {
    clean { implicit scope =>
      def floats = java.nio.ByteBuffer.allocateDirect(16).order(java.nio.ByteOrder.nativeOrder)
      val (from, to) = (floats, floats)
      val (x, out) = (STen.importBuffer(from, Seq(4), STen.fOptions), STen.importBuffer(to, Seq(4), STen.fOptions))
      val p = Pipeline.of(x)(implicit scope => x => x * 2.0 + 1.0)
      for (i <- 0 until 4) from.putFloat(4 * i, i.toFloat)
      p.into(out)(x)
      assertEquals((0 until 4).map(i => to.getFloat(4 * i)), Seq(1f, 3f, 5f, 7f))
      p.close()
    }
  }

  test("AC-51, AC-52: threads share the pools, their runs equal the serial ones (interaction 8)") {
    clean { implicit scope =>
      val (kernel, w) = weights
      val inputs = (0 until 8).map(matrix(20, 64, _))
      val eager = inputs.map(x => bits(network(x, kernel, w)))
      for (pools <- Seq(1, 2)) {
        val p = Pipeline.of(inputs.head, pools = pools)(implicit scope => x => network(x, kernel, w))
        val threads = Executors.newFixedThreadPool(4)
        try {
          val work = (0 until 40).map(i =>
            threads.submit(new Callable[Boolean] {
              def call(): Boolean = Scope.root { implicit scope => bits(p.one(inputs(i % 8))) == eager(i % 8) }
            })
          )
          assert(work.forall(_.get(60, TimeUnit.SECONDS)))
        } finally threads.shutdown()
        assertEquals((p.report.freePools, p.report.runs, p.report.astray), (pools, 40L, 0L))
        p.close()
      }
    }
  }

  test("AC-53: after a run with wipe nothing is left in the pool (interaction 9)") {
    clean { implicit scope =>
      val secret = STen.full(Seq(64), 7.0, STen.dOptions)
      // The pool's bytes, seen by a run that makes a tensor and does not write it.
      for (wipe <- Seq(false, true)) {
        val p = Pipeline.record(Seq(secret), wipe = wipe) { implicit scope => in =>
          val unwritten = STen.empty(Seq(64), STen.dOptions)
          val before = unwritten.cloneTensor
          unwritten.copyFrom(in.head)
          Seq(before)
        }
        p(secret)
        val seen = Fixtures.values(p.one(secret))
        assertEquals(seen.forall(_ == 7.0), !wipe)
        if (wipe) assert(seen.forall(_ == 0.0))
        p.close()
      }
    }
  }

  test("What a pipeline refuses, and that nothing of it stays") {
    clean { implicit scope =>
      val x = matrix(2, 3, 1)
      def message(f: Scope => STen => STen): String =
        intercept[IllegalStateException](Pipeline.of(x)(f)).getMessage
      assert(message(implicit scope => x => { x.sum.toDoubleArray; x }).contains("to array"))
      assert(message(_ => x => { Pipeline.of(x)(implicit scope => y => y.exp); x }).contains("already"))
      assert(message(_ => _ => x).contains("was not made by it"))
      assert(message(implicit scope => x => x + x.to(Device.Sim(0)).to(CPU)).contains("copies a tensor"))
      val why = new RuntimeException("mine")
      assertEquals(intercept[RuntimeException](Pipeline.of(x)(_ => _ => throw why)), why)
      assert(intercept[IllegalStateException](Pipeline.of(
        x,
        pools = 0
      )(implicit scope => x => x.exp)).getMessage.contains("at least 1"))
      // The thread is free again.
      val p = Pipeline.of(x)(implicit scope => x => x.exp)
      assertEquals(bits(p.one(x)), bits(x.exp))
      intercept[ShapeException](p(x, x))
      intercept[ShapeException](p(matrix(3, 2, 1)))
      intercept[ShapeException](p.into(matrix(3, 2, 1))(x))
      intercept[ShapeException](p(x.castToDouble))
      val closed = matrix(2, 3, 2)
      closed.close()
      intercept[ClosedTensorException](p(closed))
      assertEquals(bits(p.one(x)), bits(x.exp))
      p.close()
      p.close()
      assert(intercept[IllegalStateException](p(x)).getMessage.contains("closed"))
    }
  }

  test("A captured tensor that is closed ends the run, and so does a result of another shape") {
    clean { implicit scope =>
      val x = STen.fromDoubleArray(Array(1d, 0d, 2d), Seq(3))
      val w = STen.ones(Seq(3), STen.dOptions)
      val sum = Pipeline.of(x)(implicit scope => x => x + w)
      val chosen = Pipeline.of(x)(implicit scope => x => x.maskedSelect(x.gt(0.0)))
      assertEquals(Fixtures.values(chosen.one(x)), List(1d, 2d))
      val other = STen.fromDoubleArray(Array(1d, 0d, 0d), Seq(3))
      assert(intercept[ShapeException](chosen(other)).getMessage.contains("depends on values"))
      assertEquals(Fixtures.values(chosen.one(x)), List(1d, 2d))
      w.close()
      intercept[ClosedTensorException](sum(x))
      Seq(sum, chosen).foreach(_.close())
    }
  }

  test("AC-46, AC-49: pools are made when recorded and freed by close") {
    clean { implicit scope =>
      val x = STen.ones(Seq(1 << 16), STen.dOptions)
      val before = Wick.memory.liveBytes
      val p = Pipeline.of(x, pools = 3)(implicit scope => x => x.exp.log)
      val pool = p.report.poolBytes
      assert(pool >= x.numBytes)
      assert(Wick.memory.liveBytes - before >= 3 * pool)
      p.close()
      assertEquals(Wick.memory.liveBytes, before)
    }
  }
}
