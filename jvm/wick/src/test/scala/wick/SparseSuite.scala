package wick

import java.lang.reflect.{InvocationTargetException, Method}

import scala.reflect.ClassTag

/** Sparse tensors: coordinates, values, what is done with them, and that all else refuses them. */
class SparseSuite extends munit.FunSuite {
  import Fixtures._

  private def clean(body: Scope => Unit): Unit = {
    val before = Wick.memory
    Scope.root(scope => body(scope))
    assertEquals(Wick.memory.liveTensors, before.liveTensors)
    assertEquals(Wick.memory.liveBytes, before.liveBytes)
  }

  private def at(rows: Seq[Long]*)(implicit scope: Scope): STen =
    STen.fromLongArray(rows.flatten.toArray, List(rows.size.toLong, rows.head.size.toLong))

  private def of(dtype: DType, shape: Long*)(values: Double*)(implicit scope: Scope): STen =
    STen.own(Native.cast(STen.own(Native.fromDoubles(values.toArray, shape.toArray)).handle, dtype.number))

  /** [[0, 0, 3], [4, 0, 7]], the 7 in two parts. */
  private def example(dtype: DType = DType.F64)(implicit scope: Scope): STen =
    STen.sparse_coo(at(Seq(1, 0, 1, 1), Seq(2, 2, 0, 2)), of(dtype, 4)(5, 3, 4, 2), List(2, 3), STenOptions(dtype))

  private val exampleDense = List(0.0, 0.0, 3.0, 4.0, 0.0, 7.0)

  private def check(t: STen, shape: Seq[Long], expected: Double*): Unit = {
    assertEquals(t.shape, shape.toList)
    assert(!t.isSparse)
    assertEquals(values(t), expected.toList)
  }

  private def checkSparse(t: STen, shape: Seq[Long], expected: Double*)(implicit scope: Scope): Unit = {
    assert(t.isSparse && t.options.isSparse)
    check(t.toDense, shape, expected: _*)
  }

  private def refused[E <: Throwable](words: String*)(body: Scope => Any)(implicit tag: ClassTag[E]): Unit =
    clean { scope =>
      val message = intercept[E](body(scope)).getMessage
      words.foreach(w => assert(message.contains(w), message))
    }

  test("every dtype: made, asked, coalesced, dense and back") {
    for (dtype <- DType.values) clean { implicit scope =>
      val s = example(dtype)
      val dense = if (dtype == DType.Bool) exampleDense.map(x => if (x != 0) 1.0 else 0.0) else exampleDense
      assert(s.isSparse && s.options == STenOptions(dtype, CPU, Layout.Sparse) && s.dtype == dtype)
      assertEquals((s.shape, s.sizes, s.dim, s.numel), (List(2L, 3L), List(2L, 3L), 2, 6L))
      assertEquals((s.nnz, s.isCoalesced, s.sparseDim, s.denseDim), (4L, false, 2, 0))
      assertEquals(s.numBytes, 4L * 16 + 4 * dtype.size)
      checkSparse(s, List(2, 3), dense: _*)
      val c = s.coalesce
      assertEquals((c.nnz, c.isCoalesced, s.nnz), (3L, true, 4L))
      check(c.indices, List(2, 3), 0, 1, 1, 2, 0, 2)
      check(c.values, List(3), dense.filter(_ != 0): _*)
      assertEquals((c.indices.dtype, c.values.dtype), (DType.I64: DType, dtype))
      val back = s.toDense.toSparse
      assert(back.isCoalesced && back.dtype == dtype && back.nnz == 3)
      checkSparse(back, List(2, 3), dense: _*)
      assertEquals(s.toDense.toDense.dtype, dtype)
    }
  }

  test("BR-175: duplicates are summed by toDense and coalesce, and counted before") {
    clean { implicit scope =>
      val s = STen.sparse_coo(at(Seq(0, 0, 1)), doubles(1, 2, 3), List(3))
      check(s.toDense, List(3), 3, 3, 0)
      assertEquals((s.coalesce.nnz, s.nnz), (2L, 3L))
    }
  }

  test("BR-171, BR-173: coordinates outside the shape are refused when they are given") {
    val far = -(1L << 62) - 3
    refused[IndexException](s"index $far", "size 1") { implicit s =>
      STen.sparse_coo(at(Seq(far)), doubles(-16), List(1))
    }
    refused[IndexException]("index 10 at [0, 0]", "dimension 0 of size 1", "[1, 5]") { implicit s =>
      STen.sparse_coo(at(Seq(10), Seq(0)), doubles(1), List(1, 5))
    }
    refused[IndexException]("index -1", "size 3") { implicit s =>
      STen.sparse_coo(at(Seq(-1)), doubles(1), List(3))
    }
  }

  test("wrong ranks, lengths, sizes and types are refused") {
    refused[ShapeException]("matrix")(implicit s => STen.sparse_coo(doubles(0).castToLong, doubles(1), List(1)))
    refused[ShapeException]("2 indices, but 1 values") { implicit s =>
      STen.sparse_coo(at(Seq(0, 1)), doubles(1), List(2))
    }
    refused[ShapeException]("2 sparse")(implicit s => STen.sparse_coo(at(Seq(0), Seq(0)), doubles(1), List(2)))
    refused[ShapeException]("2^63") { implicit s =>
      STen.sparse_coo(at(Seq(0), Seq(0)), doubles(1), List(1L << 32, 1L << 32))
    }
    refused[ShapeException]()(implicit s => STen.sparse_coo(at(Seq(0)), doubles(1), List(-1)))
    refused[ShapeException]()(implicit s => STen.sparse_coo(at(Seq(0)), doubles(1), List.fill(100)(1L)))
    refused[DTypeException]("integers")(implicit s =>
      STen.sparse_coo(full(DType.F32, Seq(1, 1), 0), doubles(1), List(1))
    )
    refused[DeviceException]() { implicit s =>
      STen.sparse_coo(at(Seq(0)), doubles(1), List(1), STenOptions.d.copy(device = CudaDevice(0)))
    }
    refused[ShapeException]("3 sparse dimensions of 2")(implicit s => full(DType.F64, Seq(2, 2), 1).toSparse(3))
    refused[ShapeException]()(implicit s => full(DType.F64, Seq(2, 2), 1).toSparse(-1))
  }

  test("the coordinates are a copy, the values are shared") {
    clean { implicit scope =>
      val (i, v) = (at(Seq(0, 2)), doubles(1, 2))
      val s = STen.sparse_coo(i, v, List(3)).coalesce
      i.fill_(99L)
      s.indices.fill_(99L)
      check(s.indices, List(1, 2), 0, 2)
      s.values += 10.0
      check(v, List(2), 11, 12)
      checkSparse(s, List(3), 11, 0, 12)
    }
  }

  test("values with dense dimensions, no elements, no dimensions") {
    clean { implicit scope =>
      val hybrid = STen.sparse_coo(at(Seq(2, 0, 2)), of(DType.F32, 3, 2)(1, 2, 3, 4, 5, 6), List(3, 2))
      assertEquals((hybrid.sparseDim, hybrid.denseDim), (1, 1))
      checkSparse(hybrid, List(3, 2), 3, 4, 0, 0, 6, 8)
      check(hybrid.coalesce.values, List(2, 2), 3, 4, 6, 8)
      val again = hybrid.toDense.toSparse(1)
      assertEquals((again.nnz, again.denseDim), (2L, 1))
      checkSparse(hybrid + again, List(3, 2), 6, 8, 0, 0, 12, 16)
      val none = STen.sparse_coo(STen.zeros(List(2, 0), STenOptions.l), STen.zeros(List(0), STenOptions.d), List(2, 3))
      assertEquals((none.nnz, none.isCoalesced, none.numBytes), (0L, true, 0L))
      checkSparse(none, List(2, 3), 0, 0, 0, 0, 0, 0)
      checkSparse(none + example(), List(2, 3), exampleDense: _*)
      check(none.mm(full(DType.F64, Seq(3, 1), 1)), List(2, 1), 0, 0)
      check(none.sum, Nil, 0)
      val single = STen.scalarDouble(5, STenOptions.d).toSparse
      assertEquals((single.shape, single.nnz, single.sparseDim), (Nil, 1L, 0))
      checkSparse(single, Nil, 5)
      // A shape far larger than the memory.
      val large = STen.sparse_coo(at(Seq(5, 5), Seq(7, 7)), doubles(1, 2), List(1L << 30, 1L << 30))
      check(large.t.coalesce.values, List(1), 3)
    }
    clean { implicit scope =>
      val s = STen.sparse_coo(at(Seq(5), Seq(7)), doubles(1), List(1L << 21, 1L << 21))
      // munit's intercept lets errors of the machine pass.
      val refused =
        try { s.toDense; false }
        catch { case _: OutOfNativeMemoryError => true }
      assert(refused)
    }
  }

  test("sums with sparse and dense tensors, products with numbers and tensors") {
    clean { implicit scope =>
      val (s, dense) = (example(), full(DType.F64, Seq(2, 3), 1))
      checkSparse(s + s.coalesce, List(2, 3), exampleDense.map(_ * 2): _*)
      assert((s.coalesce + s.coalesce).isCoalesced)
      checkSparse(s - s, List(2, 3), List.fill(6)(0.0): _*)
      check(dense + s, List(2, 3), exampleDense.map(_ + 1): _*)
      check(s + dense, List(2, 3), exampleDense.map(_ + 1): _*)
      check(dense - s, List(2, 3), exampleDense.map(1 - _): _*)
      check(s - dense, List(2, 3), exampleDense.map(_ - 1): _*)
      check(dense.add(s, 3.0), List(2, 3), exampleDense.map(_ * 3 + 1): _*)
      checkSparse(s * 2.0, List(2, 3), exampleDense.map(_ * 2): _*)
      checkSparse(s / 2.0, List(2, 3), exampleDense.map(_ / 2): _*)
      checkSparse(s * (dense * 3.0), List(2, 3), exampleDense.map(_ * 3): _*)
      checkSparse((dense * 3.0) * s, List(2, 3), exampleDense.map(_ * 3): _*)
      checkSparse(s * s, List(2, 3), exampleDense.map(x => x * x): _*)
      assertEquals((example(DType.I32) * 2.5).dtype, DType.F32: DType)
      assertEquals((example(DType.I32) + example(DType.F16)).dtype, DType.F16: DType)
      checkSparse(s.neg.abs, List(2, 3), exampleDense: _*)
      checkSparse(s.castToInt, List(2, 3), exampleDense: _*)
      dense += s
      check(dense, List(2, 3), exampleDense.map(_ + 1): _*)
      val copy = s.cloneTensor
      copy *= 2.0
      checkSparse(copy, List(2, 3), exampleDense.map(_ * 2): _*)
      copy += s
      checkSparse(copy, List(2, 3), exampleDense.map(_ * 3): _*)
      checkSparse(s, List(2, 3), exampleDense: _*)
      copy.zero_()
      assertEquals(copy.nnz, 0L)
      val grad = STen.zerosLike(s)
      grad += STen.to_dense_backward(full(DType.F64, Seq(2, 3), 2), s)
      check(grad.values, List(3), 2, 2, 2)
    }
    refused[ShapeException]("[2, 3]", "[3]")(implicit s => example() + full(DType.F64, Seq(3), 1))
    refused[IllegalArgumentException]("add", "toDense")(implicit s => example() + 1.0)
    refused[IllegalArgumentException]("add", "dense") { implicit s =>
      val x = example()
      x += full(DType.F64, Seq(2, 3), 1)
    }
  }

  test("zeros and empty of sparse options have no elements") {
    for (dtype <- DType.values) clean { implicit scope =>
      val options = STenOptions(dtype, CPU, Layout.Sparse)
      for (t <- List(STen.zeros(List(2, 3), options), STen.empty(List(2, 3), options))) {
        assertEquals((t.options, t.nnz, t.isCoalesced, t.sparseDim), (options, 0L, true, 2))
        checkSparse(t, List(2, 3), List.fill(6)(0.0): _*)
        checkSparse(t + example(dtype), List(2, 3), values(example(dtype).toDense): _*)
      }
      assertEquals(STen.zeros(Nil, options).shape, Nil)
      assertEquals(STen.zeros(List(1L << 31, 1L << 31), options).nnz, 0L)
    }
    val options = STenOptions(DType.F32, CPU, Layout.Sparse)
    refused[ShapeException]()(implicit s => STen.zeros(List(-1), options))
    refused[DTypeException]("strided")(implicit s => STen.ones(List(2), options))
  }

  test("equalDeep compares elements, those that are not there too") {
    clean { implicit scope =>
      val s = example()
      assert(s.equalDeep(s.coalesce) && s.equalDeep(s.toDense) && s.toDense.equalDeep(s))
      assert(!s.equalDeep(s * 2.0) && !s.equalDeep(s.t) && !(s.toDense * 2.0).equalDeep(s))
      // Zeros that are there, in another order, and a NaN.
      val padded = STen.sparse_coo(at(Seq(1, 1, 0, 0), Seq(2, 1, 2, 0)), doubles(7, 0, 3, 0), List(2, 3))
      assert(!s.equalDeep(padded))
      val four = STen.sparse_coo(at(Seq(1), Seq(0)), doubles(4), List(2, 3))
      assert(s.equalDeep(padded + four) && (padded + four).equalDeep(s))
      val nan = STen.sparse_coo(at(Seq(0)), doubles(Double.NaN), List(1))
      assert(!nan.equalDeep(nan))
      val inf = STen.sparse_coo(at(Seq(0)), doubles(Double.PositiveInfinity), List(1))
      assert(inf.equalDeep(inf))
      val hybrid = STen.sparse_coo(at(Seq(0, 2)), of(DType.F64, 2, 2)(1, 0, 0, 0), List(3, 2))
      assert(hybrid.equalDeep(of(DType.F64, 3, 2)(1, 0, 0, 0, 0, 0)))
      val none = STen.zeros(List(3, 2), STenOptions(DType.F64, CPU, Layout.Sparse))
      assert(none.equalDeep(hybrid.toDense.toSparse * 0.0))
    }
    refused[IllegalArgumentException]("equal", "f32")(implicit s => example().equalDeep(example(DType.F32)))
    refused[IllegalArgumentException]("sparse dimensions") { implicit s =>
      example().equalDeep(full(DType.F64, Seq(2, 3), 1).toSparse(1))
    }
  }

  test("products, transposition, sums over dimensions") {
    clean { implicit scope =>
      val s = example()
      val b = of(DType.F64, 3, 2)(1, 2, 3, 4, 5, 6)
      check(s.mm(b), List(2, 2), 15, 18, 39, 50)
      check(s.matmul(b), List(2, 2), 15, 18, 39, 50)
      check(s.mv(doubles(1, 1, 2)), List(2), 6, 18)
      check(b.t.mm(s.t), List(2, 2), 15, 39, 18, 50)
      checkSparse(s.mm(b.toSparse), List(2, 2), 15, 18, 39, 50)
      check(doubles(1, 1).addmm(s, b, 2.0, 1.0), List(2, 2), 17, 20, 41, 52)
      checkSparse(s.t, List(3, 2), 0, 4, 0, 0, 3, 7)
      checkSparse(s.transpose(0, -1), List(3, 2), 0, 4, 0, 0, 3, 7)
      check(s.sum, Nil, 14)
      checkSparse(s.sum(0, keepDim = false), List(3), 4, 0, 10)
      checkSparse(s.sum(1, keepDim = true), List(2, 1), 3, 11)
      check(s.sum(Seq(0, 1), keepDim = true), List(1, 1), 14)
      assertEquals(example(DType.I8).sum.dtype, DType.I64: DType)
    }
    refused[ShapeException]("mm", "inner sizes 3 and 2")(implicit s => example().mm(full(DType.F64, Seq(2, 2), 1)))
    refused[DTypeException]("cast")(implicit s => example().mm(full(DType.F32, Seq(3, 2), 1)))
    refused[IndexException]("dimension 2")(implicit s => example().transpose(0, 2))
  }

  test("what is asked of uncoalesced and of dense tensors") {
    refused[IllegalArgumentException]("indices", "coalesce first")(implicit s => example().indices)
    refused[IllegalArgumentException]("values", "coalesce first")(implicit s => example().values)
    for (f <- List[Scope => STen => Any](s => _.coalesce(s), s => _.indices(s), s => _.values(s), _ => _.nnz))
      refused[IllegalArgumentException]("f64 [1]", "toSparse")(s => f(s)(doubles(1)(s)))
  }

  test("closed, moved, printed") {
    clean { implicit scope =>
      val s = Scope { implicit scope => example() }
      checkSparse(s, List(2, 3), exampleDense: _*)
      assertEquals(
        s.coalesce.toString,
        """STen(sparse,
          |     indices = [[0, 1, 1],
          |                [2, 0, 2]],
          |     values = [3., 4., 7.],
          |     nnz = 3, f64, [2, 3])""".stripMargin
      )
      assert(s.toString.contains("nnz = 4, uncoalesced, f64, [2, 3])"), s.toString)
      s.close()
      assertEquals(s.toString, "STen(sparse, closed, f64, [2, 3])")
      for (f <- List[STen => Any](_.toDense, _.isSparse, _.nnz, _.isCoalesced, _.coalesce, _.t, _ + s, _.numBytes))
        assert(intercept[ClosedTensorException](f(s)).getMessage.contains("f64 [2, 3]"))
    }
  }

  // What a sparse tensor answers itself.
  private val known = Set(
    "add",
    "cloneTensor",
    "coalesce",
    "denseDim",
    "device",
    "deviceIndex",
    "dim",
    "div",
    "dtype",
    "elementSize",
    "equalDeep",
    "handle",
    "indices",
    "isBF16",
    "isBool",
    "isByte",
    "isCPU",
    "isCoalesced",
    "isCuda",
    "isDouble",
    "isFloat",
    "isFloatingPoint",
    "isHalf",
    "isInt",
    "isLong",
    "isPinned",
    "isShort",
    "isSparse",
    "matmul",
    "mm",
    "moveTo",
    "mul",
    "nnz",
    "numBytes",
    "numel",
    "options",
    "pin",
    "scalarTypeByte",
    "shape",
    "sizes",
    "sparseDim",
    "sub",
    "sum",
    "t",
    "toDense",
    "toSparse",
    "transpose",
    "swapaxes",
    "mT",
    "values",
    "add_l",
    "sub_l",
    "multiply",
    "detach",
    "alias",
    "dropout",
    "fill",
    "abs",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "ceil",
    "erf",
    "expm1",
    "floor",
    "frac",
    "log1p",
    "neg",
    "relu",
    "round",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "trunc",
    "zero_",
    "colSum",
    "rowSum",
    "castToType",
    "copyTo",
    "copyToDevice",
    "to",
    // They ask for the shape, the device, the owner alone.
    "context",
    "currentOwner",
    "deviceId",
    "isVector",
    "iterator",
    "likeCode",
    "nchw",
    "padding",
    "rows",
    "sameDimensions",
    "validRegion"
  )

  private def isKnown(m: Method): Boolean = {
    val name = m.getName.stripSuffix("_").stripSuffix("Out")
    known(name) || known(m.getName) || m.getName.startsWith("castTo") || m.getName.contains("$")
  }

  test("every other operation refuses a sparse tensor, and none crashes") {
    def outcome(m: Method, receiver: AnyRef, tensor: STen): Option[String] = Scope.unsafe { scope =>
      val attempts = for {
        word <- if (m.getParameterTypes.contains(classOf[String])) PublicApi.words else List("L")
        number <- List[AnyRef](Long.box(0), Int.box(0), tensor)
      } yield try Right(m.invoke(receiver, PublicApi.arguments(m, tensor, number, word, scope): _*))
      catch { case e: InvocationTargetException => Left(e.getCause) }
      val bad = attempts.collectFirst {
        case Left(e: NativeException)                                                  => s"$m threw $e"
        case Left(e) if e.isInstanceOf[Error] && !e.isInstanceOf[NoClassDefFoundError] => s"$m threw $e"
      }
      val refuses = attempts.exists(_.left.exists(_.isInstanceOf[RuntimeException]))
      bad.orElse(if (refuses) None else Some(s"$m returned ${attempts.head}"))
    }
    clean { implicit scope =>
      val s = example().coalesce
      val before = s.toString
      val methods = PublicApi.publicMethods(classOf[STen]).filterNot(isKnown)
      val functions = PublicApi.publicMethods(STen.getClass).filter(PublicApi.takesTensors)
        .filterNot(m => isKnown(m) || Set("zerosLike", "to_dense_backward")(m.getName))
      val dense = full(DType.F64, Seq(2, 3), 1)
      // These ask the other for its shape alone.
      val operands = methods
        .filter(PublicApi.takesTensors)
        .filterNot(m => Set("expandAs", "viewAs", "reshapeAs")(m.getName))
      val wrong = methods.flatMap(outcome(_, s, s)) ++ functions.flatMap(outcome(_, STen, s)) ++
        operands.flatMap(outcome(_, dense, s))
      assert(wrong.isEmpty, wrong.mkString("\n"))
      assertEquals(s.toString, before)
    }
  }
}
