package wick

import java.nio.file.{Files, Path}

/** Images: AC-19, AC-21 to AC-30, AC-32, AC-62, and interaction 11 of section 2.4. */
class ImageSuite extends CleanSuite {
  import BorderMode.{Constant, Reflect, Replicate, Undefined}

  private def message(body: => Any): String = intercept[RuntimeException](body).getMessage

  private def picture(h: Int, w: Int)(implicit scope: Scope): STen =
    Fixtures.of(DType.U8, h.toLong, w.toLong)(Seq.tabulate(h * w)(i => ((i * 7919 + i * i * 31) % 256).toDouble): _*)

  /** The nine around a place, by border; None where one is missing. */
  private def nine(v: Array[Double], h: Int, w: Int, border: BorderMode)(y: Int, x: Int): Option[Seq[Double]] = {
    def place(at: Int, n: Int): Int = border match {
      case Replicate => math.max(0, math.min(at, n - 1))
      case Reflect   => if (n == 1) 0 else if (at < 0) -at else if (at >= n) 2 * (n - 1) - at else at
      case _         => if (at < 0 || at >= n) -1 else at
    }
    val all = for (dy <- -1 to 1; dx <- -1 to 1) yield (place(y + dy, h), place(x + dx, w)) match {
      case (a, b) if a >= 0 && b >= 0 => Some(v(a * w + b))
      case _                          => border match { case Constant(c) => Some(c); case _ => None }
    }
    if (all.contains(None)) None else Some(all.flatten)
  }

  private val smooth = Seq(1, 2, 1, 2, 4, 2, 1, 2, 1)

  test("AC-19, AC-21, AC-22, AC-23: filters by their definitions, for every border") {
    clean { implicit scope =>
      for (
        (h, w) <- List((1, 1), (2, 5), (6, 3), (9, 40)); border <- List(Undefined, Replicate, Constant(77), Reflect)
      ) {
        val t = picture(h, w)
        val v = Fixtures.values(t).toArray
        def expect(f: Seq[Double] => Double) =
          (for (y <- 0 until h; x <- 0 until w) yield nine(v, h, w, border)(y, x).fold(0.0)(f)).toList
        def weighted(ws: Seq[Int])(ps: Seq[Double]) = ws.zip(ps).map { case (a, b) => a * b }.sum
        val where = s"$border $h $w"
        assertEquals(Fixtures.values(t.gaussian3x3(border)), expect(p => math.floor(weighted(smooth)(p) / 16)), where)
        assertEquals(Fixtures.values(t.boxFilter(border)), expect(p => math.floor(p.sum / 9)), where)
        assertEquals(Fixtures.values(t.medianFilter(border)), expect(_.sorted.apply(4)), where)
        val (dx, dy) = t.sobel(border)
        assert(dx.isShort && dy.isShort)
        assertEquals(Fixtures.values(dx), expect(weighted(Seq(-1, 0, 1, -2, 0, 2, -1, 0, 1))), where)
        assertEquals(Fixtures.values(dy), expect(weighted(Seq(-1, -2, -1, 0, 0, 0, 1, 2, 1))), where)
        val f = t.castToFloat
        assertEquals(Fixtures.values(f.gaussian3x3(border)), expect(weighted(smooth)(_) / 16), where)
        assertEquals(Fixtures.values(f.sobel(border)._1), Fixtures.values(dx), where)
      }
      // Batches are planes of their own.
      val planes = STen.stack(Seq(picture(5, 7), picture(5, 7).flip(Seq(0))), 0)
      assert(planes.gaussian5x5().select(0, 1).equalDeep(planes.select(0, 1).gaussian5x5()))
    }
  }

  test("AC-21: without a border the valid region shrinks, and a kernel's window is no larger") {
    clean { implicit scope =>
      val t = picture(6, 8)
      val small = t.gaussian3x3(Undefined)
      assertEquals(small.validRegion, ValidRegion(List(1, 1), List(4, 6)))
      assertEquals(small.gaussian5x5(Undefined).validRegion, ValidRegion(List(3, 3), List(0, 2)))
      assertEquals(t.gaussian3x3(Replicate).validRegion, ValidRegion.all(List(6, 8)))
      val out = STen.full(Seq(6, 8), 9, STenOptions.u8)
      val kernel = Kernel(Filter.Gaussian3x3, t, Seq(out), Undefined)
      assertEquals(kernel.window, Window(Vector(Window.Dim(0, 1), Window.Dim(1, 5), Window.Dim(1, 7))))
      assertEquals(kernel.border, Filter.Gaussian3x3.border)
      assertEquals(kernel.validRegion, t.gaussian3x3(Undefined).validRegion)
      KernelRunner.run(kernel)
      assertEquals(Fixtures.values(out).count(_ == 9.0) >= 24, true)
      assertEquals(Fixtures.values(out.select(0, 0)), List.fill(8)(9.0))
      assert(message(KernelRunner.run(kernel, Window(1, 6, 8))).contains("starts outside"))
      for (f <- Seq(Filter.Gaussian5x5, Filter.Median3x3, Filter.Box3x3, Filter.Sobel3x3)) {
        val outs = Seq.fill(f.results)(STen.zeros(Seq(6, 8), if (f.results == 2) STenOptions.sh else STenOptions.u8))
        assertEquals(Kernel(f, t, outs, Replicate).border, f.border)
      }
    }
  }

  test("AC-22: the nearest valid pixel, where only a part is valid") {
    clean { implicit scope =>
      val t = picture(8, 9)
      val part = t.narrow(0, 2, 4).narrow(1, 3, 5)
      val seen = t.withValidRegion(ValidRegion(List(2, 3), List(4, 5)))
      for (border <- List(Replicate, Reflect, Constant(3), Undefined)) {
        val (whole, alone) = (seen.gaussian5x5(border), part.gaussian5x5(border))
        assert(whole.narrow(0, 2, 4).narrow(1, 3, 5).equalDeep(alone), border.toString)
        assertEquals(whole.validRegion.shape, alone.validRegion.shape)
      }
    }
  }

  test("AC-23: the border's number must be one of the pixels'") {
    clean { implicit scope =>
      intercept[DTypeException](picture(3, 3).boxFilter(Constant(256)))
      intercept[DTypeException](picture(3, 3).boxFilter(Constant(-1)))
      assertEquals(Fixtures.values(STen.zeros(Seq(1, 1), STenOptions.f).boxFilter(Constant(-9))), List(-8.0))
      intercept[DTypeException](picture(3, 3).castToDouble.boxFilter())
      intercept[ShapeException](STen.zeros(Seq(3), STenOptions.u8).boxFilter())
      intercept[DTypeException](picture(3, 3).castToFloat.equalizeHist)
      ()
    }
  }

  test("AC-24: padding holds a border's neighbours; no other operation reads or writes it") {
    clean { implicit scope =>
      for (dtype <- List(DType.U8, DType.F32); border <- List(Replicate, Reflect, Constant(5))) {
        val plain = STen.stack(Seq(picture(6, 7), picture(6, 7).flip(Seq(1))), 0).castToType(dtype)
        val t = plain.copyTo(STenOptions(dtype).padding(PaddingPolicy.forFilters(Filter.Gaussian5x5, Filter.Box3x3)))
        val all = t.asStrided(Seq(2, 10, 11), Seq(110, 11, 1), 0)
        all.fill_(99)
        t.copyFrom(plain)
        def padding = Fixtures.values(all).zipWithIndex.collect {
          case (v, i) if i / 11 % 10 < 2 || i / 11 % 10 >= 8 || i % 11 < 2 || i % 11 >= 9 => v
        }
        assert(padding.forall(_ == 99.0))
        t += 1L
        t -= 1L
        t.slice(2, 0, 7, 2) *= 1L
        STen.addOut(t, plain, STen.zeros(Seq(1), STenOptions(dtype)))
        KernelRunner.run(Kernel(Filter.Box3x3, plain, Seq(t), Replicate))
        t.copyFrom(plain)
        assert(padding.forall(_ == 99.0), padding.toString)
        assertEquals(t.sum.item, plain.sum.item)
        t.fillBorder_(border)
        assert(t.equalDeep(plain))
        for (f <- List(Filter.Gaussian5x5, Filter.Median3x3))
          assert(t.filter(f, BorderMode.Padding).head.equalDeep(plain.filter(f, border).head), s"$f $border")
      }
    }
  }

  test("AC-25: exact padding is the greatest need of each side, and the layout is final from birth") {
    clean { implicit scope =>
      assertEquals(
        PaddingPolicy.forFilters(Filter.Box3x3, Filter.Gaussian5x5),
        PaddingPolicy.Exact(Padding.all(2)): PaddingPolicy
      )
      assertEquals(Padding(1, 2, 3, 4).max(Padding(4, 3, 2, 1)), Padding(4, 3, 3, 4))
      val t = STen.zeros(Seq(3, 4, 5), STenOptions.f.padding(PaddingPolicy.Exact(Padding(1, 2, 3, 4))))
      assertEquals(t.padding, Padding(1, 2, 3, 4))
      assertEquals((t.strides, t.storageOffset), (List(88L, 11L, 1L), 15L))
      t.gaussian3x3()
      t.fillBorder_(Replicate)
      assertEquals((t.strides, t.storageOffset), (List(88L, 11L, 1L), 15L))
      intercept[ShapeException](Padding(-1, 0, 0, 0))
      intercept[ShapeException](STen.zeros(
        Seq(3, 4),
        STenOptions.f.padding(PaddingPolicy.Exact(Padding.all(Long.MaxValue / 2)))
      ))
      ()
    }
  }

  test("AC-26: too little padding is an error that names it; shrinking is asked for") {
    clean { implicit scope =>
      val plain = picture(6, 7)
      def padded(onShort: OnShort) =
        plain.copyTo(STenOptions.u8.padding(PaddingPolicy.Exact(Padding(1, 2, 1, 1)), onShort))
      val strict = padded(OnShort.Error)
      strict.fillBorder_(Replicate)
      assert(strict.gaussian3x3(BorderMode.Padding).equalDeep(plain.gaussian3x3()))
      val text = message(strict.gaussian5x5(BorderMode.Padding))
      for (part <- List("gaussian5x5", "u8 [6, 7]", "2 pixels", "Padding(1,2,1,1)")) assert(text.contains(part), text)
      assert(message(plain.gaussian3x3(BorderMode.Padding)).contains("Padding(0,0,0,0)"))
      val loose = padded(OnShort.Shrink)
      loose.fillBorder_(Replicate)
      val small = loose.gaussian5x5(BorderMode.Padding)
      assertEquals(small.validRegion, ValidRegion(List(1, 1), List(4, 6)))
      val region = (t: STen) => t.narrow(0, 1, 4).narrow(1, 1, 6)
      assert(region(small).equalDeep(region(plain.gaussian5x5())))
    }
  }

  test("AC-27: manual strides, offset and size are checked against each other") {
    clean { implicit scope =>
      def manual(strides: Seq[Long], offset: Long, total: Long)(shape: Long*) =
        STen.ones(shape, STenOptions.f.padding(PaddingPolicy.Manual(strides, offset, total)))
      val t = manual(Seq(60, 10, 1), 23, 120)(2, 3, 4)
      assertEquals((t.strides, t.storageOffset, t.padding), (List(60L, 10L, 1L), 23L, Padding(2, 3, 1, 3)))
      assertEquals(t.sum.item, 24.0)
      assertEquals(manual(Seq(1), 3, 10)(5).padding, Padding(0, 2, 0, 3))
      for {
        (strides, offset, total) <- List(
          (Seq(60L, 10L, 1L), 23L, 119L), // the second plane does not fit
          (Seq(20L, 10L, 1L), 0L, 120L), // planes overlap
          (Seq(60L, 3L, 1L), 0L, 120L), // rows overlap
          (Seq(60L, 10L, 2L), 0L, 120L), // neighbours apart
          (Seq(60L, 10L), 0L, 120L),
          (Seq(60L, 10L, 1L), -1L, 120L),
          (Seq(60L, 10L, 1L), 37L, 120L), // rows wrap around
          (Seq(65L, 10L, 1L), 0L, 130L),
          (Seq(Long.MaxValue, 10L, 1L), 0L, Long.MaxValue)
        )
      } intercept[RuntimeException] {
        val bad = manual(strides, offset, total)(2, 3, 4)
        throw new AssertionError(s"$strides $offset $total made ${bad.padding}")
      }
    }
  }

  test("AC-28: the Arm Compute Library's numbers for 10 by 10 bytes: strides 1, 50, 900, offset 204") {
    clean { implicit scope =>
      val auto = STenOptions.u8.padding(PaddingPolicy.Auto)
      val t = STen.zeros(Seq(2, 10, 10), auto)
      assertEquals(t.strides.reverse.map(_ * t.elementSize), List(1L, 50L, 900L))
      assertEquals(t.storageOffset * t.elementSize, 204L)
      assertEquals(t.padding, Padding(4, 36, 4, 4))
      val f = STen.empty(Seq(10, 10), STenOptions.f.padding(PaddingPolicy.Auto))
      assertEquals((f.strides, f.storageOffset), (List(50L, 1L), 204L))
      val line = STen.zeros(Seq(10), auto)
      assertEquals((line.padding, line.storageOffset), (Padding(0, 36, 0, 4), 4L)) // rank 1: only along it
      val one = STen.zeros(Nil, auto)
      assertEquals((one.padding, one.storageOffset), (Padding.none, 0L))
    }
  }

  test("AC-29: without padding a tensor is dense, filters need none, and factories do not pass padding over") {
    clean { implicit scope =>
      val t = STen.ones(Seq(3, 4), STenOptions.f.padding(PaddingPolicy.None))
      assert(t.isContiguous && t.padding == Padding.none)
      assert(t.gaussian5x5().equalDeep(t))
      val auto = STenOptions.f.padding(PaddingPolicy.Auto)
      intercept[IllegalArgumentException](STen.rand(Seq(2, 2), auto))
      intercept[IllegalArgumentException](STen.eye(3, auto))
      intercept[IllegalArgumentException](STen.randperm(3, auto))
      assert(STen.eye(3, STenOptions.f).copyTo(auto).equalDeep(STen.eye(3, STenOptions.f)))
      assert(STen.full(Seq(2, 2), 7, auto).equalDeep(STen.full(Seq(2, 2), 7, STenOptions.f)))
      intercept[DTypeException](STen.full(Seq(2, 2), 1e300, STenOptions.f16.padding(PaddingPolicy.Auto)))
      ()
    }
  }

  test("AC-30, interaction 11: the valid region goes through views, copies and filters, and never beyond an input's") {
    clean { implicit scope =>
      val t = STen.stack(Seq.fill(3)(picture(10, 12)), 0).gaussian5x5(Undefined)
      assertEquals(t.validRegion, ValidRegion(List(0, 2, 2), List(3, 6, 8)))
      assertEquals(t.narrow(1, 1, 4).validRegion, ValidRegion(List(0, 1, 2), List(3, 3, 8)))
      assertEquals(t.narrow(1, 8, 2).validRegion.isEmpty, true)
      assertEquals(t.slice(2, 1, 12, 3).validRegion, ValidRegion(List(0, 2, 1), List(3, 6, 2)))
      assertEquals(t.select(0, 1).validRegion, ValidRegion(List(2, 2), List(6, 8)))
      assertEquals(t.select(1, 3).validRegion, ValidRegion(List(0, 2), List(3, 8)))
      assertEquals(t.select(1, -1).validRegion.isEmpty, true)
      assertEquals(t.transpose(1, 2).validRegion, ValidRegion(List(0, 2, 2), List(3, 8, 6)))
      assertEquals(t.subTensor(Seq(2, 5, 4), Seq(1, 1, 8)).validRegion, ValidRegion(List(0, 1, 0), List(2, 4, 2)))
      assertEquals(t.readOnly.validRegion, t.validRegion)
      assertEquals(t.cloneTensor.validRegion, t.validRegion)
      assertEquals(t.copyTo(STenOptions.f).validRegion, t.validRegion)
      val padded = t.copyTo(STenOptions.u8.padding(PaddingPolicy.Auto))
      assertEquals((padded.validRegion, padded.padding), (t.validRegion, Padding(4, 36, 4, 4)))
      assertEquals(padded.narrow(1, 0, 4).padding, Padding(4, 36, 0, 4))
      assertEquals(padded.narrow(2, 1, 11).padding, Padding(4, 36, 4, 0))
      assertEquals(padded.select(0, 2).padding, padded.padding)
      val again = t.narrow(1, 0, 9).medianFilter(Undefined)
      assert(t.narrow(1, 0, 9).validRegion.contains(again.validRegion))
      assertEquals(again.validRegion, ValidRegion(List(0, 3, 3), List(3, 4, 6)))
      assertEquals(t.boxFilter(Replicate).validRegion, t.validRegion)
      // Greatest anchor, least end: not the least size.
      val (a, b) = (ValidRegion(List(0, 4), List(6, 6)), ValidRegion(List(3, 0), List(9, 6)))
      assertEquals(a.intersect(b), ValidRegion(List(3, 4), List(3, 2)))
      assert(a.contains(a.intersect(b)) && b.contains(a.intersect(b)))
      assertEquals(a.intersect(ValidRegion(List(7, 0), List(1, 1))).isEmpty, true)
      intercept[ShapeException](t.withValidRegion(ValidRegion(List(0, 0, 0), List(3, 10, 13))))
      intercept[ShapeException](ValidRegion(List(0), List(-1)))
      // A result that leaves its scope keeps what is beside its elements.
      val moved = Scope { implicit scope => t.gaussian3x3(Undefined) }
      assertEquals(moved.validRegion, ValidRegion(List(0, 3, 3), List(3, 4, 6)))
    }
  }

  test("AC-32: only rows and columns are padded; planes follow each other densely") {
    clean { implicit scope =>
      val t = STen.zeros(Seq(2, 3, 4, 5), STenOptions.f.padding(PaddingPolicy.Exact(Padding.all(1))))
      assertEquals(t.strides, List(3L * 42, 42L, 7L, 1L))
      assert(t.view(6, 4, 5).sharesStorageWith(t)) // the planes are one dimension
    }
  }

  test("AC-19: histogram, equalizeHist, resize, colours, binarize") {
    clean { implicit scope =>
      val t = picture(7, 9)
      val v = Fixtures.values(t)
      val counts = t.histogram()
      assertEquals(Fixtures.values(counts), (0 until 256).map(i => v.count(_ == i).toDouble).toList)
      assertEquals(
        Fixtures.values(t.histogram(4, 0, 256)),
        v.groupBy(x => (x / 64).toInt).toList.sortBy(_._1).map(_._2.size.toDouble)
      )
      assertEquals(STen.stack(Seq(t, t), 0).histogram(10).shape, List(2L, 10L))
      val e = Fixtures.values(t.equalizeHist)
      assertEquals((e.min, e.max), (0.0, 255.0))
      assert(v.zip(e).sortBy(_._1).map(_._2).sliding(2).forall(p => p(0) <= p(1)))
      assert(STen.full(Seq(3, 3), 7, STenOptions.u8).equalizeHist.equalDeep(STen.full(Seq(3, 3), 7, STenOptions.u8)))
      for (mode <- List("nearest", "bilinear", "area")) {
        assertEquals(t.resize(4, 5, mode).shape, List(4L, 5L))
        assert(t.resize(7, 9, mode).equalDeep(t), mode)
      }
      assert(message(t.resize(4, 5, "cubic")).contains("expected nearest, bilinear or area"))
      intercept[ShapeException](t.resize(0, 5))
      intercept[ShapeException](t.histogram(0))
      val grey = STen.stack(Seq(t, t, t), 0)
      assert(grey.rgbToGray().equalDeep(t.unsqueeze(0)) && grey.rgbToGray("bt601").equalDeep(t.unsqueeze(0)))
      assert(grey.rgbToYuv().narrow(0, 1, 2).equalDeep(STen.full(Seq(2, 7, 9), 128, STenOptions.u8)))
      assert(grey.rgbToYuv().yuvToRgb().equalDeep(grey))
      val red = STen.cat(Seq(STen.full(Seq(1, 2, 2), 255, STenOptions.u8), STen.zeros(Seq(2, 2, 2), STenOptions.u8)), 0)
      assertEquals(Fixtures.values(red.rgbToYuv("bt601").select(1, 0).select(1, 0)), List(76.0, 85.0, 255.0))
      val (luma, chroma) = red.rgbToNv12()
      assertEquals((luma.shape, chroma.shape), (List(2L, 2L), List(1L, 1L, 2L)))
      val back = Image.nv12ToRgb(luma, chroma)
      assert((back.castToDouble - red.castToDouble).abs.max.item <= 3)
      intercept[ShapeException](grey.rgbToNv12())
      intercept[ShapeException](t.rgbToGray())
      intercept[IllegalArgumentException](grey.rgbToGray("bt2020"))
      assertEquals(Fixtures.values(t.binarize(100, 1, 0)).sum, v.count(_ > 100).toDouble)
    }
  }

  private val folder = FunFixture[Path](
    setup = _ => Files.createTempDirectory("wick-images"),
    teardown = dir => { dir.toFile.listFiles.foreach(_.delete()); Files.delete(dir) }
  )

  folder.test("AC-62: PNG, PGM and PPM come back as they were written, from any layout") { dir =>
    clean { implicit scope =>
      val grey = picture(5, 7)
      val colours = STen.stack(Seq(grey, grey.flip(Seq(0)), grey.flip(Seq(1))), 0)
      val opaque = STen.cat(Seq(colours, grey.unsqueeze(0)), 0)
      def both(name: String, t: STen) = {
        val path = dir.resolve(name).toString
        Image.write(path, t)
        val back = Image.read(path)
        assert(back.isContiguous && back.dtype == DType.U8)
        assert(back.equalDeep(if (t.dim == 2) t.unsqueeze(0) else t), name)
      }
      both("a.png", grey)
      both("b.png", colours)
      both("c.png", opaque)
      both("d.png", colours.narrow(0, 0, 2))
      both("e.PGM", grey)
      both("f.ppm", colours)
      both("g.pnm", colours.transpose(1, 2))
      both("h.png", colours.slice(2, 1, 7, 2))
      def refused[E <: Throwable](name: String, t: STen) = message(Image.write(dir.resolve(name).toString, t))
      assert(refused("i.jpg", grey).contains("png"))
      assert(refused("i.pgm", colours).contains("PGM"))
      assert(refused("i.png", grey.castToFloat).contains("u8"))
      assert(refused("i.png", STen.zeros(Seq(5, 2, 2), STenOptions.u8)).contains("channels"))
      assert(refused("i.png", STen.zeros(Seq(0, 2), STenOptions.u8)).contains("height"))
      intercept[FormatException](Image.write(dir.resolve("none/i.png").toString, grey))
      assert(!Files.exists(dir.resolve("i.png")))
    }
  }

  folder.test("AC-62: other forms of the same pictures, and files that lie, are cut off or damaged") { dir =>
    clean { implicit scope =>
      def file(bytes: Array[Byte]): String = {
        val path = dir.resolve("x.bin")
        Files.write(path, bytes)
        path.toString
      }
      def text(s: String) = file(s.getBytes("ISO-8859-1"))
      assertEquals(
        Fixtures.values(Image.read(text("P2 # grey\n2 # wide\n2\n10\n0 5\n10 1\n"))),
        List(0.0, 128, 255, 26)
      )
      assertEquals(Fixtures.values(Image.read(text("P3\n1 1\n255\n1 2 3"))), List(1.0, 2, 3))
      assertEquals(Fixtures.values(Image.read(text("P5\n2 1\n65535\n\u00ff\u00ff\u0080\u0000"))), List(255.0, 128))
      assertEquals(Fixtures.values(Image.read(text("P5 2 1 15\n\u000f\u0003"))), List(255.0, 51))
      def refused(path: String): String = intercept[FormatException](Image.read(path)).getMessage
      assert(refused(text("P5\n100000 100000\n255\n12")).contains("100000 by 100000 pixels in a file of"))
      assert(refused(text("P5\n4294967296 4294967296\n255\n12")).contains("pixels in a file of"))
      assert(refused(text("P2\n9 9\n255\n1 2 3")).contains("pixels in a file of"))
      assert(refused(text("P5\n2 2\n255\n12")).nonEmpty)
      assert(refused(text("P5\n2 0\n255\n")).contains("2 by 0"))
      assert(refused(text("P5\n2 2\n70000\n1234")).contains("70000"))
      assert(refused(text("P5\n-2 2\n255\n1234")).contains("where a number should be"))
      assert(refused(text("P2 1 1 9\n10 ")).contains("greatest is 9"))
      assert(refused(text("P5")).contains("too early"))
      assert(refused(text("P7\n1 1")).contains("neither"))
      assert(refused(text("")).contains("neither"))
      refused(dir.resolve("absent.png").toString)
      refused(dir.toString)
      val png = dir.resolve("a.png")
      Image.write(png.toString, picture(40, 50))
      val good = Files.readAllBytes(png)
      for (n <- 0 until good.length - 1 by 37) refused(file(good.take(n)))
      val random = new scala.util.Random(1)
      for (_ <- 0 until 300) {
        val bad = good.clone()
        for (_ <- 0 to random.nextInt(3)) bad(random.nextInt(bad.length)) = random.nextInt(256).toByte
        try Image.read(file(bad))
        catch { case _: FormatException => () } // nothing else
      }
      // A header that claims 10^10 pixels, its checksum right.
      val huge = good.clone()
      java.nio.ByteBuffer.wrap(huge).putInt(16, 100000).putInt(20, 100000)
      val crc = new java.util.zip.CRC32
      crc.update(huge, 12, 17)
      java.nio.ByteBuffer.wrap(huge).putInt(29, crc.getValue.toInt)
      assert(refused(file(huge)).contains("100000 by 100000 pixels in a file"))
    }
  }
}
