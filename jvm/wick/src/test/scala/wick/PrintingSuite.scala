package wick

import java.util.Locale

/** `toString` (pain 25). Expected texts are what NumPy prints, with its precision set to 6. */
class PrintingSuite extends munit.FunSuite {
  import Fixtures._

  private def shown(dtype: DType, shape: Long*)(xs: Double*)(implicit scope: Scope): String =
    STen.own(Native.cast(of(shape: _*)(xs: _*).handle, dtype.number)).toString

  private def of(shape: Long*)(xs: Double*)(implicit scope: Scope): STen =
    STen.own(Native.fromDoubles(xs.toArray, shape.toArray))

  private def longs(shape: Long*)(xs: Long*)(implicit scope: Scope): STen =
    STen.own(Native.fromLongs(xs.toArray, shape.toArray))

  private def check(name: String)(body: Scope => Unit): Unit = test(name)(Scope.root(body))

  check("whole numbers, columns, trailer") { implicit scope =>
    assertEquals(full(DType.F64, List(2, 3), 1).toString, "STen([[1., 1., 1.],\n      [1., 1., 1.]], f64, [2, 3])")
    assertEquals(doubles(1, 22, 333).toString, "STen([  1.,  22., 333.], f64, [3])")
    assertEquals(doubles(-1.5, 0.25, 3).toString, "STen([-1.5 ,  0.25,  3.  ], f64, [3])")
    assertEquals(doubles(0.1, 1 / 3.0, 2 / 3.0).toString, "STen([0.1     , 0.333333, 0.666667], f64, [3])")
    assertEquals(longs(2, 2)(1, -20, 300, 4).toString, "STen([[  1, -20],\n      [300,   4]], i64, [2, 2])")
  }

  check("0-d and empty tensors") { implicit scope =>
    assertEquals(of()(3.5).toString, "STen(3.5, f64, [])")
    assertEquals(longs()(7).toString, "STen(7, i64, [])")
    assertEquals(of(0)().toString, "STen([], f64, [0])")
    assertEquals(of(2, 0, 3)().toString, "STen([], f64, [2, 0, 3])")
  }

  check("scientific where the range needs it") { implicit scope =>
    assertEquals(doubles(1e-5, 1).toString, "STen([1.e-05, 1.e+00], f64, [2])")
    assertEquals(doubles(1e10).toString, "STen([1.e+10], f64, [1])")
    assertEquals(doubles(0.001, 5.5).toString, "STen([1.0e-03, 5.5e+00], f64, [2])")
    assertEquals(doubles(123456789.0).toString, "STen([1.234568e+08], f64, [1])")
    assertEquals(doubles(-1e300, 0, 1e-300).toString, "STen([-1.e+300,  0.e+000,  1.e-300], f64, [3])")
    assertEquals(doubles(0.001, 1).toString, "STen([0.001, 1.   ], f64, [2])")
    assertEquals(doubles(9.9999999e7).toString, "STen([99999999.], f64, [1])")
    assertEquals(doubles(9.99999999e9, 1).toString, "STen([1.e+10, 1.e+00], f64, [2])")
  }

  check("nan, infinities, signed zero, extremes") { implicit scope =>
    assertEquals(
      doubles(Double.NaN, Double.PositiveInfinity, Double.NegativeInfinity, 1).toString,
      "STen([ nan,  inf, -inf,   1.], f64, [4])"
    )
    assertEquals(doubles(0.0, -0.0).toString, "STen([ 0., -0.], f64, [2])")
    assertEquals(doubles(Double.NaN).toString, "STen([nan], f64, [1])")
    assertEquals(doubles(Double.MinPositiveValue).toString, "STen([5.e-324], f64, [1])")
    assertEquals(doubles(Double.MaxValue).toString, "STen([1.797693e+308], f64, [1])")
    assertEquals(
      longs(2)(Long.MinValue, Long.MaxValue).toString,
      "STen([-9223372036854775808,  9223372036854775807], i64, [2])"
    )
  }

  check("every element type") { implicit scope =>
    assertEquals(shown(DType.F32, 2)(0.1, 2.5), "STen([0.1, 2.5], f32, [2])")
    assertEquals(shown(DType.F32, 2)(1.4e-45, 1), "STen([1.e-45, 1.e+00], f32, [2])")
    assertEquals(shown(DType.F16, 3)(0.1, 65504, 1.5), "STen([1.00e-01, 6.55e+04, 1.50e+00], f16, [3])")
    assertEquals(shown(DType.F16, 2)(0.1, 1.5), "STen([0.1, 1.5], f16, [2])")
    assertEquals(shown(DType.BF16, 3)(0.1, 3.140625, 1), "STen([0.1 , 3.14, 1.  ], bf16, [3])")
    assertEquals(shown(DType.I32, 2)(1, -2), "STen([ 1, -2], i32, [2])")
    assertEquals(shown(DType.I16, 2)(1, -2), "STen([ 1, -2], i16, [2])")
    assertEquals(shown(DType.I8, 2)(127, -128), "STen([ 127, -128], i8, [2])")
    assertEquals(shown(DType.Bool, 2)(1, 0), "STen([ true, false], bool, [2])")
    val bytes = Array[Byte](0, 1, 127, -128, -1)
    val u8 = STen.own(Native.fromBytes(bytes, Array(5L), DType.U8.number))
    assertEquals(u8.toString, "STen([  0,   1, 127, 128, 255], u8, [5])") // unsigned
  }

  check("three dimensions") { implicit scope =>
    assertEquals(
      longs(2, 2, 2)(1, 2, 3, 4, 5, 6, 7, 8).toString,
      """STen([[[1, 2],
        |       [3, 4]],
        |
        |      [[5, 6],
        |       [7, 8]]], i64, [2, 2, 2])""".stripMargin
    )
  }

  check("long rows go on in the next line") { implicit scope =>
    val text = longs(30)((0L until 30L): _*).toString
    assertEquals(
      text,
      """STen([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16,
        |      17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29], i64, [30])""".stripMargin
    )
    assert(text.linesIterator.forall(_.length <= 75 + ", i64, [30])".length))
  }

  check("more than 1000 elements are cut to three at either end") { implicit scope =>
    assertEquals(
      longs(1001)((0L until 1001L): _*).toString,
      "STen([   0,    1,    2, ...,  998,  999, 1000], i64, [1001])"
    )
    assert(!longs(1000)((0L until 1000L): _*).toString.contains("..."))
    assertEquals(
      longs(100, 100)((0L until 10000L): _*).toString,
      """STen([[   0,    1,    2, ...,   97,   98,   99],
        |      [ 100,  101,  102, ...,  197,  198,  199],
        |      [ 200,  201,  202, ...,  297,  298,  299],
        |      ...,
        |      [9700, 9701, 9702, ..., 9797, 9798, 9799],
        |      [9800, 9801, 9802, ..., 9897, 9898, 9899],
        |      [9900, 9901, 9902, ..., 9997, 9998, 9999]], i64, [100, 100])""".stripMargin
    )
    assertEquals(
      longs(300, 2, 2)((0L until 1200L): _*).toString.linesIterator.slice(3, 11).mkString("\n"),
      """      [[   4,    5],
        |       [   6,    7]],
        |
        |      [[   8,    9],
        |       [  10,   11]],
        |
        |      ...,
        |""".stripMargin
    )
  }

  check("views print their own elements") { implicit scope =>
    val t = longs(3, 4)((0L until 12L): _*)
    val narrow = STen.own(Native.view(Native.opCode("view", "narrow"), t.handle, 1, 1, 2, 0))
    assertEquals(narrow.toString, "STen([[ 1,  2],\n      [ 5,  6],\n      [ 9, 10]], i64, [3, 2])")
  }

  check("closed tensors print, too") { implicit scope =>
    val t = full(DType.F32, List(2, 3), 1)
    t.close()
    assertEquals(t.toString, "STen(closed, f32, [2, 3])")
    val u = Scope.unsafe { implicit scope => full(DType.I8, Nil, 1) }
    assertEquals(u.toString, "STen(closed, i8, [])")
  }

  check("nothing depends on the locale") { implicit scope =>
    val before = Locale.getDefault
    try {
      for (tag <- List("de-DE", "ar-EG-u-nu-arab", "hi-IN-u-nu-deva", "tr-TR")) {
        Locale.setDefault(Locale.forLanguageTag(tag))
        assertEquals(doubles(1.5, 1234.25).toString, "STen([   1.5 , 1234.25], f64, [2])")
        assertEquals(longs(2)(-1234567, 1).toString, "STen([-1234567,        1], i64, [2])")
        assertEquals(doubles(1.5e-10).toString, "STen([1.5e-10], f64, [1])")
      }
    } finally Locale.setDefault(before)
  }

  check("printing leaves nothing behind") { implicit scope =>
    val t = longs(40, 40)((0L until 1600L): _*)
    val before = Wick.memory
    t.toString
    assertEquals(Wick.memory.liveTensors, before.liveTensors)
    assertEquals(Wick.memory.liveBytes, before.liveBytes)
    assertEquals(scope.live, 1)
  }

  check("a hundred million elements print about as fast as ten thousand") { implicit scope =>
    def fastest(t: STen): Long = List.fill(20) {
      val start = System.nanoTime
      t.toString
      System.nanoTime - start
    }.min
    val small = fastest(full(DType.I8, List(100, 100), 1))
    val big = full(DType.I8, List(10000, 10000), 1)
    assert(big.toString.contains("..."))
    // Reading all of it would take a thousand times as long; the floor allows for a busy machine.
    assert(fastest(big) < math.max(50 * small, 20000000L))
  }

  check("high ranks stay short") { implicit scope =>
    val t = full(DType.F32, List.fill(7)(9L), 1)
    assert(t.toString.length < 60000)
  }
}
