package wick

/** Neural operations through the public API: shapes, dtypes, errors, memory. Values are compared with
  * naive references in rust/runtime/tests/neural and with libtorch's in tests/golden.
  */
class NeuralSuite extends CleanSuite {
  import Fixtures._

  private def floats(shape: Long*)(values: Double*)(implicit scope: Scope): STen =
    of(DType.F32, shape: _*)(values: _*)
  private def ones(shape: Long*)(implicit scope: Scope): STen = STen.ones(shape.toList, STen.fOptions)
  private def longs(values: Long*)(implicit scope: Scope): STen =
    STen.own(Native.fromLongs(values.toArray, Array(values.size.toLong)))

  private def check(t: STen, shape: Seq[Long], expected: Double*): Unit = {
    assertEquals(t.shape, shape.toList)
    near(values(t), expected.toList)
  }

  private def near(got: List[Double], want: List[Double], tolerance: Double = 1e-5): Unit = {
    assertEquals(got.length, want.length)
    got.zip(want).foreach { case (g, w) =>
      assert(g == w || math.abs(g - w) <= tolerance * (1 + math.abs(w)), s"$got, expected $want")
    }
  }

  private def message[E <: Throwable](body: => Any)(implicit tag: scala.reflect.ClassTag[E]): String =
    intercept[E](body).getMessage

  test("convolutions of one to three dimensions, with and without a batch") {
    clean { implicit scope =>
      check(STen.conv1d(floats(1, 1, 4)(1, 2, 3, 4), floats(1, 1, 2)(1, -1)), List(1, 1, 3), -1, -1, -1)
      check(STen.conv1d(floats(1, 4)(1, 2, 3, 4), floats(1, 1, 2)(1, -1)), List(1, 3), -1, -1, -1)
      val x = floats(1, 1, 3, 3)(1, 2, 3, 4, 5, 6, 7, 8, 9)
      check(STen.conv2d(x, ones(1, 1, 2, 2), Some(floats(1)(1))), List(1, 1, 2, 2), 13, 17, 25, 29)
      check(STen.conv2d(x, ones(1, 1, 3, 3), None, List(2), List(1)), List(1, 1, 2, 2), 12, 16, 24, 28)
      check(STen.conv2d(x, ones(1, 1, 2, 2), None, List(1), List(0), List(2)), List(1, 1, 1, 1), 20)
      check(STen.conv3d(ones(1, 2, 2, 2, 2), ones(1, 2, 2, 2, 2)), List(1, 1, 1, 1, 1), 16)
      check(
        STen.conv_transpose1d(floats(1, 1, 2)(1, 2), floats(1, 1, 2)(1, 10), None, List(2), List(0), List(1)),
        List(1, 1, 5),
        1,
        10,
        2,
        20,
        0
      )
      assertEquals(STen.conv_transpose2d(x, ones(1, 2, 2, 2)).shape, List(1L, 2L, 4L, 4L))
      assertEquals(STen.conv_transpose3d(ones(1, 1, 2, 2, 2), ones(1, 1, 2, 2, 2)).shape, List(1L, 1L, 3L, 3L, 3L))
      for (d <- List(DType.F16, DType.BF16, DType.F64)) {
        val y = STen.conv2d(x.castToType(d), STen.ones(List(1L, 1L, 2L, 2L), STenOptions(d)))
        assertEquals(y.dtype, d)
        check(y, List(1, 1, 2, 2), 12, 16, 24, 28)
      }
      val (gx, gw, gb) = STen.convolution_backward(
        ones(1, 1, 2, 2),
        x,
        ones(1, 1, 2, 2),
        List(1),
        List(1),
        List(0),
        List(1),
        false,
        List(0),
        1,
        (true, false, true)
      )
      check(gx.get, List(1, 1, 3, 3), 1, 2, 1, 2, 4, 2, 1, 2, 1)
      assertEquals(gw, None)
      check(gb.get, List(1), 4)
    }
  }

  test("a convolution that does not fit says which operand and size") {
    clean { implicit scope =>
      val (x, w) = (ones(2, 4, 5, 5), ones(6, 4, 3, 3))
      def bad(words: String)(body: => Any): Unit = {
        val text = message[ShapeException](body)
        assert(text.contains(words), text)
      }
      bad("kernel of [3, 3] with dilation [3] does not fit [5, 5]")(
        STen.conv2d(x, w, None, List(1), List(0), List(3))
      )
      bad("stride [0]")(STen.conv2d(x, w, None, List(0)))
      bad("padding [-1]")(STen.conv2d(x, w, None, List(1), List(-1)))
      bad("dilation [0]")(STen.conv2d(x, w, None, List(1), List(0), List(0)))
      bad("groups 4")(STen.conv2d(x, w, None, List(1), List(0), List(1), 4))
      bad("groups 0")(STen.conv2d(x, w, None, List(1), List(0), List(1), 0))
      bad("12 channels, not 4")(STen.conv2d(x, w, None, List(1), List(0), List(1), 3))
      bad("bias must have shape [6]")(STen.conv2d(x, w, Some(ones(4))))
      bad("expected 3 dimensions")(STen.conv1d(x, w))
      bad("output padding")(STen.conv_transpose2d(x, ones(4, 6, 3, 3), None, List(1), List(0), List(1)))
      bad("or the sizes overflow")(
        STen.conv_transpose2d(x, ones(4, 6, 3, 3), None, List(Long.MaxValue), List(0))
      )
      intercept[DTypeException](STen.conv2d(x, w.castToType(DType.F64)))
      intercept[DTypeException](STen.conv2d(x.castToType(DType.I64), w.castToType(DType.I64)))
    }
  }

  test("pooling: values, places, NaN, errors") {
    clean { implicit scope =>
      val x = floats(1, 1, 2, 4)(1, 5, 2, 0, 3, 4, 7, Double.NaN)
      val (y, places) = STen.max_pool2d_with_indices(x, List(2))
      assertEquals(y.shape, List(1L, 1L, 1L, 2L))
      assert(values(y)(0) == 5.0 && values(y)(1).isNaN)
      assertEquals(values(places), List(1.0, 7.0))
      assertEquals(places.dtype, DType.I64: DType)
      check(
        STen.max_pool2d_with_indices_backward(ones(1, 1, 1, 2), x, List(2), Nil, List(0), List(1), false, places),
        List(1, 1, 2, 4),
        0,
        1,
        0,
        0,
        0,
        0,
        0,
        1
      )
      check(STen.max_pool1d(floats(1, 5)(1, 3, 2, 5, 4), List(2), Nil, List(0), List(1), true), List(1, 3), 3, 5, 4)
      check(STen.avg_pool1d(floats(1, 3)(3, 6, 9), List(2), List(1), List(1)), List(1, 4), 1.5, 4.5, 7.5, 4.5)
      check(
        STen.avg_pool1d(floats(1, 3)(3, 6, 9), List(2), List(1), List(1), false, false),
        List(1, 4),
        3,
        4.5,
        7.5,
        9
      )
      check(
        STen.avg_pool1d(floats(1, 2)(3, 6), List(2), Nil, List(0), false, true, Some(3)),
        List(1, 1),
        3
      )
      check(STen.adaptive_avg_pool1d(floats(1, 5)(1, 2, 3, 4, 5), List(2)), List(1, 2), 2, 4)
      check(STen.adaptive_max_pool1d(floats(1, 5)(1, 2, 3, 4, 5), List(2))._1, List(1, 2), 3, 5)
      assertEquals(STen.max_pool3d(ones(1, 2, 4, 4, 4), List(2)).shape, List(1L, 2L, 2L, 2L, 2L))
      assertEquals(STen.adaptive_avg_pool3d(ones(1, 2, 4, 4, 4), List(1, 2, 3)).shape, List(1L, 2L, 1L, 2L, 3L))
      intercept[ShapeException](STen.max_pool2d(x, List(3)))
      intercept[ShapeException](STen.max_pool2d(x, List(2), List(0)))
      intercept[ShapeException](STen.avg_pool2d(x, List(2), Nil, List(2)))
      intercept[ShapeException](STen.adaptive_avg_pool2d(x, List(1)))
      val outside = longs(0, 8).view(1, 1, 1, 2)
      val text = message[IndexException](
        STen.max_pool2d_with_indices_backward(ones(1, 1, 1, 2), x, List(2), Nil, List(0), List(1), false, outside)
      )
      assert(text.contains("index 8"), text)
    }
  }

  test("normalisation: results, running values, masks of gradients") {
    clean { implicit scope =>
      val x = floats(2, 2)(1, 10, 3, 30)
      val (mean, v) = (floats(2)(0, 0), floats(2)(1, 1))
      val (y, m, r) = STen.native_batch_norm(x, None, None, Some(mean), Some(v), true, 0.1, 0.0)
      check(y, List(2, 2), -1, -1, 1, 1)
      check(m, List(2), 2, 20)
      check(r, List(2), 1, 0.1)
      check(mean, List(2), 0.2, 2)
      check(v, List(2), 0.9 + 0.2, 0.9 + 20)
      val (_, none, _) = STen.native_batch_norm(x, None, None, Some(mean), Some(v), false, 0.1, 0.0)
      assertEquals(none.shape, List(0L))
      val (dx, dw, db) = STen.native_batch_norm_backward(
        ones(2, 2),
        x,
        None,
        None,
        None,
        Some(m),
        Some(r),
        true,
        0.0,
        (true, true, false)
      )
      check(dx.get, List(2, 2), 0, 0, 0, 0)
      check(dw.get, List(2), 0, 0)
      assertEquals(db, None)
      check(STen.layer_norm(x, List(2), Some(floats(2)(1, 2)), Some(floats(2)(0, 1)), 0.0), List(2, 2), -1, 3, -1, 3)
      check(STen.rms_norm(floats(1, 2)(3, 4), List(2), None, 0.0), List(1, 2), 3 / math.sqrt(12.5), 4 / math.sqrt(12.5))
      check(STen.group_norm(floats(1, 4)(1, 3, 5, 9), 2, None, None, 0.0), List(1, 4), -1, 1, -1, 1)
      intercept[ShapeException](STen.layer_norm(x, List(3)))
      intercept[ShapeException](STen.group_norm(x, 3))
      intercept[ShapeException](STen.native_group_norm(x, None, None, 2, 3, 1, 1, 0.0))
      intercept[DTypeException](STen.layer_norm(longs(1, 2), List(2)))
    }
  }

  test("losses: reductions, broadcasting, errors") {
    clean { implicit scope =>
      val (x, t) = (floats(3)(1, 2, 4), floats(3)(0, 2, 1))
      check(STen.mse_loss(x, t, 0), List(3), 1, 0, 9)
      check(STen.mse_loss(x, t, 1), Nil, 10.0 / 3)
      check(STen.mse_loss(x, t, 2), Nil, 10)
      check(STen.l1_loss(x, t, 2), Nil, 4)
      check(STen.huber_loss(x, t, 2, 1.0), Nil, 3)
      check(STen.smooth_l1_loss(x, t, 2, 0.5), Nil, 0.75 + 2.75)
      check(STen.mse_loss(ones(2, 3), floats(1)(3), 0), List(2, 3), 4, 4, 4, 4, 4, 4)
      check(STen.kl_div(x, floats(3)(0, 1, 0), 0, false), List(3), 0, -2, 0)
      val p = floats(2)(1, 0.5)
      check(STen.binary_cross_entropy(p, floats(2)(0, 1), None, 0), List(2), 100, math.log(2))
      val text = message[DTypeException](STen.binary_cross_entropy(x, t, None, 0))
      assert(text.contains("[0, 1]"), text)
      check(
        STen.binary_cross_entropy_with_logits(floats(2)(200, -200), floats(2)(0, 0), None, None, 0),
        List(2),
        200,
        0
      )
      val logits = floats(2, 2)(0, 0, 0, math.log(3))
      check(STen.cross_entropy_loss(logits, longs(0, 1), None, 0, -100, 0.0), List(2), math.log(2), math.log(4.0 / 3))
      val (loss, total) = STen.nll_loss_forward(logits, longs(1, -100), Some(floats(2)(1, 2)), 1, -100)
      check(loss, Nil, 0)
      check(total, Nil, 2)
      // No class that counts: a mean of none.
      assert(values(STen.nll_loss(logits, longs(-100, -100), None, 1, -100)).head.isNaN)
      val bad = message[IndexException](STen.nll_loss(logits, longs(0, 2), None, 1, -100))
      assert(bad.contains("class 2 at place 1"), bad)
      intercept[ShapeException](STen.mse_loss(x, t, 3))
      intercept[ShapeException](STen.mse_loss(x, ones(4), 0))
      intercept[DTypeException](STen.mse_loss(longs(1), longs(2), 0))
    }
  }

  test("embedding: rows, padding, indices outside") {
    clean { implicit scope =>
      val table = floats(3, 2)(1, 2, 3, 4, 5, 6)
      check(STen.embedding(table, longs(2, 0)), List(2, 2), 5, 6, 1, 2)
      check(STen.embedding(table, longs(1).castToType(DType.I32)), List(1, 2), 3, 4)
      check(STen.embedding_dense_backward(ones(3, 2), longs(2, 0, 2), 3, 0, false), List(3, 2), 0, 0, 0, 0, 2, 2)
      check(STen.embedding_dense_backward(ones(3, 2), longs(2, 0, 2), 3, -1, true), List(3, 2), 1, 1, 0, 0, 1, 1)
      val text = message[IndexException](STen.embedding(table, longs(0, 3)))
      assert(text.contains("index 3"), text)
      intercept[IndexException](STen.embedding(table, longs(-1)))
    }
  }

  test("BR-061 slopes at the infinities are limits, BR-053 the gradient of a steep softmax") {
    clean { implicit scope =>
      val inf = Double.PositiveInfinity
      for (n <- List(2, 40)) {
        val x = floats(n.toLong)(List.tabulate(n)(i => if (i % 2 == 0) inf else -inf): _*)
        val want = List.tabulate(n)(i => if (i % 2 == 0) 1.0 else 0.0)
        assertEquals(values(STen.gelu_backward(ones(n.toLong), x)), want)
        assertEquals(values(STen.gelu_backward(ones(n.toLong), x, "tanh")), want)
        assertEquals(values(STen.silu_backward(ones(n.toLong), x)), want)
      }
      val y = floats(2)(1e8, 1e8).logSoftMax(0)
      check(STen._log_softmax_backward_data(floats(2)(1, 0), y, 0, DType.F32), List(2), 0.5, -0.5)
      intercept[IllegalArgumentException](STen.gelu_backward(ones(1), ones(1), "fast"))
    }
  }

  test("attention: lamp's results, masks, rows without keys") {
    clean { implicit scope =>
      val (q, k, v) = (ones(1, 2, 2), ones(1, 2, 2), floats(1, 2, 1)(1, 3))
      val (out, log, cumQ, cumK, maxQ, maxK, _, _) = STen.scaledDotProductAttention(q, k, v, None, true)
      check(out, List(1, 2, 1), 1, 2)
      val root = math.sqrt(2)
      check(log, List(1, 2), root, root + math.log(2))
      assertEquals((cumQ.numel, cumK.numel, maxQ, maxK), (0L, 0L, 2L, 2L))
      val mask = of(DType.Bool, 2, 2)(1, 1, 0, 0)
      check(STen.scaled_dot_product_attention(q, k, v, Some(mask)), List(1, 2, 1), 2, 0)
      val bias = floats(2)(0, math.log(3))
      check(STen.scaled_dot_product_attention(q, k, v, Some(bias)), List(1, 2, 1), 2.5, 2.5)
      val (dq, dk, dv) =
        STen.scaled_dot_product_attention_backward(ones(1, 2, 1), q, k, v, out, log, None, true)
      check(dv, List(1, 2, 1), 1.5, 0.5)
      assertEquals((dq.shape, dk.shape), (q.shape, k.shape))
      val (_, _, _, db) =
        STen.scaled_dot_product_attention_backward_with_bias(ones(1, 2, 1), q, k, v, out, log, floats(2)(0, 0), true)
      check(db, List(2), -0.5, 0.5)
      intercept[DTypeException](
        STen.scaled_dot_product_attention_backward_with_bias(ones(1, 2, 1), q, k, v, out, log, mask)
      )
      intercept[ShapeException](STen.scaled_dot_product_attention(q, ones(1, 2, 3), v))
      intercept[ShapeException](STen.scaled_dot_product_attention(q, k, v, Some(ones(3, 2))))
    }
  }

  test("dropout: seeded, in place, its mask") {
    clean { implicit scope =>
      val x = ones(1000)
      def run(seed: Long) = values(x.dropout(0.25, true, Generator(seed)))
      assertEquals(run(1), run(1))
      assertNotEquals(run(1), run(2))
      assertEquals(run(1).toSet, Set(0.0, (1.0 / 0.75f).toFloat.toDouble))
      val before = Wick.threads
      try {
        Wick.threads = 1
        val one = values(ones(300000).dropout(0.5, true, Generator(3)))
        Wick.threads = 7
        assertEquals(values(ones(300000).dropout(0.5, true, Generator(3))), one)
      } finally Wick.threads = before
      val (y, mask) = STen.native_dropout(x, 0.25, true, Generator(1))
      assertEquals(values(y), run(1))
      assertEquals(mask.dtype, DType.Bool: DType)
      assertEquals(values(STen.native_dropout_backward(ones(1000), mask, 1.0 / 0.75)), run(1))
      val z = x.cloneTensor
      z.dropout_(0.5, false)
      assertEquals(values(z), values(x))
      z.dropout_(1.0, true)
      assertEquals(values(z).toSet, Set(0.0))
      intercept[IllegalArgumentException](x.dropout(1.5, true))
      intercept[DTypeException](longs(1).dropout_(0.5, true))
    }
  }

  test("padding, patches, interpolation") {
    clean { implicit scope =>
      val x = floats(1, 1, 3)(1, 2, 3)
      check(STen.pad(x, List(1, 1), "reflect"), List(1, 1, 5), 2, 1, 2, 3, 2)
      check(STen.pad(x, List(1, 1), "replicate"), List(1, 1, 5), 1, 1, 2, 3, 3)
      check(STen.pad(x, List(1, 1), "circular"), List(1, 1, 5), 3, 1, 2, 3, 1)
      check(STen.pad(x, List(1, -1), "constant", 7), List(1, 1, 3), 7, 1, 2)
      check(STen.pad_backward(ones(1, 1, 5), x, List(1, 1), "reflect"), List(1, 1, 3), 1, 3, 1)
      check(STen.pad_backward(floats(1, 1, 3)(1, 2, 3), x, List(1, -1)), List(1, 1, 3), 2, 3, 0)
      intercept[ShapeException](STen.pad(x, List(3, 0), "reflect"))
      intercept[IllegalArgumentException](STen.pad(x, List(1, 1), "mirror"))
      val image = floats(1, 1, 2, 3)(1, 2, 3, 4, 5, 6)
      val columns = STen.im2col(image, List(2, 2), List(1), List(0), List(1))
      check(columns, List(1, 4, 2), 1, 2, 2, 3, 4, 5, 5, 6)
      check(
        STen.col2im(columns, List(2, 3), List(2, 2), List(1), List(0), List(1)),
        List(1, 1, 2, 3),
        1,
        4,
        3,
        4,
        10,
        6
      )
      check(STen.interpolate(x, List(6)), List(1, 1, 6), 1, 1, 2, 2, 3, 3)
      check(STen.interpolate(x, List(5), "linear", alignCorners = true), List(1, 1, 5), 1, 1.5, 2, 2.5, 3)
      check(STen.interpolate_backward(ones(1, 1, 6), List(1, 1, 3)), List(1, 1, 3), 2, 2, 2)
      assertEquals(STen.interpolate(image, List(4, 6), "bilinear").shape, List(1L, 1L, 4L, 6L))
      intercept[ShapeException](STen.interpolate(x, List(2, 2), "linear"))
      intercept[IllegalArgumentException](STen.interpolate(x, List(2), "cubic"))
    }
  }

  test("closed operands are named, and nothing is left behind") {
    clean { implicit scope =>
      val x = ones(1, 1, 4, 4)
      val gone = ones(1, 1, 2, 2)
      gone.close()
      intercept[ClosedTensorException](STen.conv2d(x, gone))
      intercept[ClosedTensorException](STen.mse_loss(gone, x, 0))
      intercept[ClosedTensorException](STen.max_pool2d(gone, List(2)))
      intercept[ClosedTensorException](gone.dropout(0.5, true))
    }
  }
}
