package wick

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, InputStream}
import java.nio.file.{Files, Path}
import java.nio.{ByteBuffer, ByteOrder}

/** Tensors and shapes written and read. */
class SerialSuite extends CleanSuite {
  import Fixtures._

  private val folder = FunFixture[Path](
    setup = _ => Files.createTempDirectory("wick"),
    teardown = { dir =>
      Files.list(dir).forEach(p => Files.delete(p))
      Files.delete(dir)
    }
  )

  private def bytesOf(t: STen): Array[Byte] = {
    val out = new ByteArrayOutputStream
    STen.write(t, out)
    out.toByteArray
  }

  private def in(bytes: Array[Byte]): InputStream = new ByteArrayInputStream(bytes)

  folder.test("DL-27: every element type and shape comes back from a file and a stream") { dir =>
    clean { implicit scope =>
      val shapes = List(Nil, List(0L), List(3L), List(2L, 0L, 4L), List(2L, 3L, 4L), List(1L, 1L, 1L, 1L, 1L, 2L))
      for (dtype <- DType.values; shape <- shapes) {
        val t = full(dtype, shape, 1)
        if (t.numel > 2) t.view(-1).narrow(0, 1, 2).zero_()
        val path = dir.resolve("t")
        STen.write(t, path)
        for (back <- List(STen.read(path), STen.read(in(bytesOf(t))))) {
          assertEquals((back.dtype, back.shape), (dtype, shape))
          assert(back.equalDeep(t) && back.isContiguous)
        }
      }
      val bits = STen.fromDoubleArray(Array(Double.NaN, -0.0, Double.NegativeInfinity, Double.MinPositiveValue))
      assertEquals(
        STen.read(in(bytesOf(bits))).toDoubleArray.map(java.lang.Double.doubleToRawLongBits).toList,
        bits.toDoubleArray.map(java.lang.Double.doubleToRawLongBits).toList
      )
      val large = STen.rand(List(3, 1000, 700), STenOptions.f) // more than one chunk
      STen.write(large, dir.resolve("large"))
      assert(STen.read(dir.resolve("large")).equalDeep(large))
    }
  }

  test("DL-27: the bytes are little-endian, versioned and checked: they must not change") {
    clean { implicit scope =>
      val bytes = bytesOf(STen.fromFloatArray(Array(1f, -2f), List(2, 1)))
      val expected = ByteBuffer.allocate(52).order(ByteOrder.LITTLE_ENDIAN)
      expected.put("wickSTen".getBytes("US-ASCII")).putInt(1).putInt(6).putInt(2).putLong(2).putLong(1)
      def crc(from: Int, until: Int): Int = {
        val c = new java.util.zip.CRC32
        c.update(expected.array, from, until - from)
        c.getValue.toInt
      }
      expected.putInt(crc(0, 36)).putFloat(1f).putFloat(-2f).putInt(crc(40, 48))
      assertEquals(bytes.toList, expected.array.toList)
    }
  }

  test("2.4.10, DL-12, DL-27: of a strided view its elements are written, and no annotation") {
    clean { implicit scope =>
      val base = STen.arange_l(0, 24, 1).view(4, 6)
      base.annotation = "secret"
      val view = base.t.slice(0, 1, 6, 2)
      val bytes = bytesOf(view)
      val back = STen.read(in(bytes))
      assertEquals((back.shape, back.annotation), (List(3L, 4L), null): (List[Long], Any))
      assert(back.equalDeep(view) && back.isContiguous)
      assert(!new String(bytes, "ISO-8859-1").contains("secret"))
      assertEquals(bytes.length, 8 + 12 + 16 + 4 + 8 * 12 + 4)
    }
  }

  test("DL-27: tensors and shapes follow each other in a stream, which is read no further") {
    clean { implicit scope =>
      val out = new ByteArrayOutputStream
      STen.write(STen.ones(List(2)), out)
      AliasSpec(4, 2).write(out)
      STen.write(STen.zeros(List(0), STenOptions.l), out)
      out.write(99)
      val from = in(out.toByteArray)
      assertEquals(values(STen.read(from)), List(1.0, 1.0))
      assertEquals(AliasSpec.read(from), AliasSpec(4, 2))
      assertEquals(STen.read(from).dtype, DType.I64: DType)
      assertEquals((from.read(), from.read()), (99, -1))
    }
  }

  folder.test("DL-27: whatever is cut, changed or of another version is an exception, and nothing is lost") { dir =>
    clean { implicit scope =>
      val good = bytesOf(STen.arange_l(0, 40, 1).castToInt.view(5, 8))
      def refused(bytes: Array[Byte]): String = {
        val (live, memory) = (scope.live, Wick.memory.liveBytes)
        val message = intercept[FormatException](STen.read(in(bytes))).getMessage
        val path = dir.resolve("bad")
        Files.write(path, bytes)
        assert(intercept[FormatException](STen.read(path)).getMessage.contains(path.toString))
        assertEquals((scope.live, Wick.memory.liveBytes), (live, memory))
        message
      }
      for (n <- good.indices) assert(refused(good.take(n)).contains("end"), s"$n")
      for (i <- good.indices; bit <- List(1, 0x80)) {
        val bad = good.clone()
        bad(i) = (bad(i) ^ bit).toByte
        refused(bad)
      }
      def changed(at: Int, to: Int): Array[Byte] =
        ByteBuffer.wrap(good.clone()).order(ByteOrder.LITTLE_ENDIAN).putInt(at, to).array
      assert(refused(changed(8, 2)).contains("version 2: expected 1"))
      assert(refused(changed(good.length - 4, 0)).contains("checksum"))
      assert(refused(changed(20, 6)).contains("checksum"))
      assert(refused(changed(16, 1 << 30)).contains("dimensions"))
      assert(refused("PK..........................".getBytes).contains("neither"))
      val spec = new ByteArrayOutputStream
      AliasSpec(2).write(spec)
      assert(refused(spec.toByteArray).contains("expected a tensor"))
      assert(intercept[FormatException](AliasSpec.read(in(good))).getMessage.contains("expected a shape"))

      val path = dir.resolve("longer")
      Files.write(path, good :+ 0.toByte)
      assert(intercept[FormatException](STen.read(path)).getMessage.contains("behind the end"))
      intercept[FormatException](STen.read(dir.resolve("absent")))
      intercept[FormatException](STen.write(STen.ones(List(1)), dir.resolve("no/such/folder")))
      ()
    }
  }

  folder.test("DL-27: a write that fails leaves the file as it was, and no other beside it") { dir =>
    clean { implicit scope =>
      val path = dir.resolve("t")
      STen.write(STen.ones(List(3)), path)
      val closed = STen.ones(List(3))
      closed.close()
      intercept[ClosedTensorException](STen.write(closed, path))
      intercept[IllegalArgumentException](STen.write(STen.eye(2).toSparse, path))
      assertEquals(values(STen.read(path)), List(1.0, 1.0, 1.0))
      assertEquals(Files.list(dir).count, 1L)
      STen.write(STen.zeros(List(1)), path)
      assertEquals(values(STen.read(path)), List(0.0))
    }
  }

  /** An integer as dlib writes it: its length, the sign in the highest bit, then its magnitude. */
  private def dlib(value: Long): Array[Byte] = {
    val bytes = Iterator.iterate(math.abs(value))(_ >>> 8).takeWhile(_ != 0).map(_.toByte).toArray
    val magnitude = if (bytes.isEmpty) Array(0.toByte) else bytes
    (magnitude.length | (if (value < 0) 0x80 else 0)).toByte +: magnitude
  }

  private def dlibTensor(version: Long, sizes: Seq[Long], elements: Seq[Float]): Array[Byte] = {
    val data = ByteBuffer.allocate(4 * elements.length).order(ByteOrder.LITTLE_ENDIAN)
    elements.foreach(data.putFloat)
    dlib(version) ++ sizes.flatMap(dlib) ++ data.array
  }

  test("DL-27: dlib's tensors of version 2 are read") {
    clean { implicit scope =>
      assertEquals(dlib(300).toList, List[Byte](2, 0x2c, 1))
      val elements = (0 until 300).map(_ * 0.5f - 7)
      val from = in(dlibTensor(2, List(300, 1, 1, 1), elements) ++ dlibTensor(2, List(1, 2, 3, 1), elements.take(6)))
      val first = STen.read(from)
      assertEquals((first.shape, first.dtype), (List(300L, 1L, 1L, 1L), DType.F32: DType))
      assertEquals(first.toFloatArray.toSeq, elements)
      assertEquals(STen.read(from).nchw, Nchw(1, 2, 3, 1))
      assertEquals(STen.read(in(dlibTensor(2, List(0, 0, 0, 0), Nil))).numel, 0L)

      val good = dlibTensor(2, List(2, 1, 1, 1), List(1f, 2f))
      for (n <- 1 until good.length) intercept[FormatException](STen.read(in(good.take(n))))
      assert(intercept[FormatException](STen.read(in(dlibTensor(
        3,
        List(1, 1, 1, 1),
        List(1f)
      )))).getMessage.contains("version 3"))
      intercept[FormatException](STen.read(in(dlibTensor(2, List(-1, 1, 1, 1), List(1f)))))
      intercept[FormatException](STen.read(in(dlibTensor(2, List(1L << 40, 1L << 40, 1, 1), List(1f)))))
      intercept[FormatException](STen.read(in(dlib(2) ++ Array[Byte](9, 1, 1, 1, 1, 1, 1, 1, 1, 1))))
      ()
    }
  }

  folder.test("DL-33: of an alias nothing but its shape is written; dlib's version 1 is read") { dir =>
    for (spec <- List(AliasSpec(), AliasSpec(2, 3), AliasSpec(Nil), AliasSpec(1, 0, 1L << 40))) {
      val path = dir.resolve("spec")
      spec.write(path)
      assertEquals(AliasSpec.read(path), spec)
      assertEquals(Files.size(path), 24L + 8 * spec.shape.length)
    }
    assertEquals(AliasSpec.read(in(dlibTensor(1, List(4, 3, 2, 1), Nil))), AliasSpec(4, 3, 2, 1))
    intercept[FormatException](AliasSpec.read(in(dlibTensor(2, List(4, 3, 2, 1), Nil))))
    intercept[FormatException](AliasSpec.read(in(dlibTensor(1, List(4, 3, -2, 1), Nil))))
    intercept[FormatException](AliasSpec.read(in(Array[Byte]())))
    ()
  }
}
