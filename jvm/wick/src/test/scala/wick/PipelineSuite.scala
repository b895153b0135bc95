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
      assert(message(implicit scope => x => x + x.to(Device.Sim(0)).to(CPU)).contains("to cannot be part"))
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

  test("Kernels, filters, borders, memcpy and sparse factors are done again in every run") {
    clean { implicit scope =>
      val image = matrix(9, 11, 1)
      val weights = STen.eye(11, STen.fOptions).toSparse
      def work(x: STen)(implicit scope: Scope): Seq[STen] = {
        val (sums, blurred) = (STen.zeros(x.shape, STen.fOptions), STen.zeros(x.shape, STen.fOptions))
        KernelRunner.run(Kernel.binary("add", x, x, sums))
        val filter = Kernel(Filter.Gaussian3x3, x, Seq(blurred), BorderMode.Replicate)
        (0 until 2).foreach(i => KernelRunner.run(filter, filter.window.split(1, i, 2)))
        val turned = STen.zeros(Seq(11, 9), STen.fOptions)
        STen.memcpy(turned, x)
        Seq(sums, blurred, turned, x.medianFilter(BorderMode.Reflect), x.mm(weights.toDense), weights.mm(x.t))
      }
      val p = Pipeline.record(Seq(image))(implicit scope => in => work(in.head))
      for (seed <- 2 to 4) {
        val x = matrix(9, 11, seed)
        assertEquals(p(x).map(bits), work(x).map(bits))
      }
      assertEquals(p.report.astray, 0L)
      p.close()
    }
  }

  test("What passes between elements and the JVM, a file or a device is refused, and says so") {
    clean { implicit scope =>
      val x = matrix(2, 3, 1)
      val captured = STen.zeros(Seq(2, 3), STen.fOptions)
      val native = java.nio.ByteBuffer.allocateDirect(16).order(java.nio.ByteOrder.nativeOrder)
      def refused(f: Scope => STen => Any): String =
        intercept[IllegalStateException](Pipeline.of(x)(scope => in => { f(scope)(in); in })).getMessage
      val all = Seq[(String, Scope => STen => Any)](
        "host_read" -> (_ => x => x.hostUpdate(_.putFloat(0, 1f))),
        "host_read" -> (_ => x => x.hostRead(_.getFloat)),
        "overwrite" -> (_ => _ => captured.hostOverwrite(_.putFloat(1f))),
        "row" -> (_ => x => x.rows.foreach(row => row(0))),
        "set row" -> (_ => _ => Native.setRowFloats(captured.handle, Array(0L, 0L), 1, 1, Array(1f))),
        "elements" -> (_ => x => x.iterator.next()),
        "to array" -> (_ => x => x.toFloatArray),
        "item" -> (implicit scope => x => x.sum.item),
        "equal" -> (_ => x => x.equalDeep(x)),
        "dot_double" -> (_ => x => x.dotDouble(x)),
        "to" -> (implicit scope => x => x.to(Device.Sim(0))),
        "on_device" -> (implicit scope => x => x.onDevice(Device.Sim(0))),
        "seed" -> (_ => _ => Wick.setSeed(1)),
        "split generator" -> (_ => _ => Generator.default.split()),
        "import" -> (implicit scope =>
          _ => STen.importBuffer(native, Seq(4), STen.fOptions)
        )
      )
      for ((op, f) <- all) {
        val text = refused(f)
        assert(text.contains(s"$op cannot be part of a pipeline"), text)
      }
      assertEquals(Fixtures.values(captured), List.fill(6)(0.0))
    }
  }

  // What is the process's own, ends tensors, or leaves elements as they come.
  private val others = Set(
    "close",
    "release",
    "free",
    "isClosed",
    "handle",
    "moveTo",
    "unsafeHandle",
    "storageRefCount",
    "currentOwner",
    "empty",
    "emptyLike"
  )

  /** What a method gave, tensors apart. */
  private def parts(result: Any): (Seq[STen], Any) = result match {
    case t: STen        => (Seq(t), "tensor")
    case a: Array[_]    => parts(a.toList)
    case s: Iterable[_] =>
      val all = s.toList.map(parts)
      (all.flatMap(_._1), all.map(_._2))
    case v @ (_: Device | _: DType | _: STenOptions) => (Nil, v.toString)
    case p: Product                                  =>
      val all = p.productIterator.toList.map(parts)
      (all.flatMap(_._1), all.map(_._2))
    case d: Double                                => (Nil, d.toString)
    case f: Float                                 => (Nil, f.toString)
    case v @ (_: Number | _: Boolean | _: String) => (Nil, v)
    case _                                        => (Nil, ())
  }

  private def contents(t: STen): Any =
    Scope.root(implicit scope => (t.dtype, t.shape, t.castToDouble.toDoubleArray.toList.map(_.toString)))

  test("Every method of tensors is done again with other elements, or refused: none is left out") {
    clean { _ =>
      // The first of each kind to record with, the second for the run.
      def operand(kind: Int, which: Int)(implicit scope: Scope): STen = kind match {
        case 0 => STen.rand(Seq(3, 3), STenOptions.d, Generator(which)) + STen.eye(3, STenOptions.d) * 3.0
        case 1 => STen.rand(Seq(2, 2, 4, 4), STenOptions.f, Generator(which))
        case _ => if (which == 1) STen.arange_l(0, 4, 1) else STen.arange_l(0, 4, 1).flip(Seq(0))
      }
      def call(m: java.lang.reflect.Method, of: Option[STen], x: STen, number: AnyRef, word: String)(scope: Scope) =
        try m.invoke(of.getOrElse(STen), PublicApi.arguments(m, x, number, word, scope): _*)
        catch { case e: java.lang.reflect.InvocationTargetException => throw e.getCause }

      def verdict(m: java.lang.reflect.Method, own: Boolean, i: Int, number: AnyRef, word: String): Option[String] =
        Scope.unsafe { implicit scope =>
          val (first, second) = (operand(i, 1), operand(i, 2))
          Wick.setSeed(7)
          var said: Any = ()
          scala.util.Try(Pipeline.record(Seq(first)) { scope => in =>
            val (tensors, rest) = parts(call(m, if (own) Some(in.head) else None, in.head, number, word)(scope))
            said = rest
            val dense = tensors.filterNot(_.isSparse)
            if (dense.length < tensors.length) throw new IllegalStateException("cannot be part of a pipeline")
            dense :+ in.head
          }) match {
            case scala.util.Failure(_) => None
            case scala.util.Success(p) =>
              Wick.setSeed(7)
              val eager = scala.util.Try {
                val (tensors, rest) = parts(call(m, if (own) Some(second) else None, second, number, word)(scope))
                ((tensors :+ second).map(contents), rest)
              }
              val again = operand(i, 2)
              Wick.setSeed(7)
              val run = scala.util.Try(p(again).map(contents))
              p.close()
              (eager, run) match {
                case (scala.util.Success((a, rest)), scala.util.Success(b)) =>
                  if (a == b && rest == said) Some("") else Some(s"$m: eager $a $rest, run $b $said")
                case (_, scala.util.Failure(e: ShapeException)) if e.getMessage.contains("depends on values") =>
                  Some("")
                case (scala.util.Failure(e), scala.util.Failure(f)) if e.getClass == f.getClass => Some("")
                case (a, b) => Some(s"$m: eager $a, run $b")
              }
          }
        }

      val results = for {
        (c, own) <- List((classOf[STen]: Class[_], true), (STen.getClass: Class[_], false))
        m <- PublicApi.publicMethods(c) if !others(m.getName)
        i <- 0 until 3
        number <- List[AnyRef](Long.box(0), Int.box(0))
        word <- if (m.getParameterTypes.contains(classOf[String])) PublicApi.words else List("L")
        said <- verdict(m, own, i, number, word)
      } yield said
      val wrong = results.filter(_.nonEmpty).distinct
      assert(wrong.isEmpty, s"${wrong.size}\n" + wrong.map(_.take(400)).take(40).mkString("\n"))
      assert(results.size > 500, results.size.toString)
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
