package wick

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, Path}
import java.nio.{ByteBuffer, ByteOrder}

/** LP-18: `.npy` and safetensors files. */
class FormatFileSuite extends munit.FunSuite {
  import Fixtures._

  private def withFile[A](bytes: Array[Byte])(f: String => A): A = {
    val path: Path = Files.createTempFile("wick", ".bin")
    try f(Files.write(path, bytes).toString)
    finally Files.delete(path)
  }

  private def clean[A](body: Scope => Unit): Unit = {
    val before = Wick.memory
    Scope.root(scope => body(scope))
    assertEquals(Wick.memory.liveBytes, before.liveBytes)
    assertEquals(Wick.memory.liveTensors, before.liveTensors)
  }

  private def little(n: Int)(f: ByteBuffer => Any): Array[Byte] = {
    val b = ByteBuffer.allocate(n).order(ByteOrder.LITTLE_ENDIAN)
    f(b)
    b.array
  }

  private def floatBytes(values: Float*): Array[Byte] = little(4 * values.size)(b => values.foreach(b.putFloat))

  private def npy(header: String, data: Array[Byte], version: Int = 1): Array[Byte] = {
    val text = (header + "\n").getBytes(ISO_8859_1)
    val start = "\u0093NUMPY".getBytes(ISO_8859_1) ++ Array(version.toByte, 0.toByte)
    val length =
      if (version == 1) little(2)(_.putShort(text.length.toShort)) else little(4)(_.putInt(text.length))
    start ++ length ++ text ++ data
  }

  private def header(descr: String, shape: String, columns: String = "False"): String =
    s"{'descr': '$descr', 'fortran_order': $columns, 'shape': $shape, }"

  private def read(bytes: Array[Byte], dtype: DType, shape: Seq[Long], expected: Double*): Unit = clean {
    implicit scope =>
      val t = withFile(bytes)(STen.fromNpy(_))
      assertEquals((t.dtype, t.shape), (dtype, shape.toList))
      assertEquals(values(t), expected.toList)
  }

  private def refused(bytes: Array[Byte], words: String*): Unit = clean { implicit scope =>
    val message = withFile(bytes)(path => intercept[FormatException](STen.fromNpy(path)).getMessage)
    words.foreach(w => assert(message.contains(w), message))
  }

  private val six = floatBytes(0, 1, 2, 3, 4, 5)

  test("BR-183: what is no .npy file is an error") {
    refused("012345".getBytes ++ six)
    refused(npy(header("<f4", "(6,)"), six).updated(6, 9.toByte), "version 9")
    for (n <- List(0, 5, 9, 20)) refused(npy(header("<f4", "(6,)"), six).take(n))
  }

  test("BR-185: both orders give the right elements") {
    read(npy(header("<f4", "(2, 3)"), six), DType.F32, List(2, 3), 0, 1, 2, 3, 4, 5)
    read(npy(header("<f4", "(2, 3)", "True"), six, 2), DType.F32, List(2, 3), 0, 2, 4, 1, 3, 5)
    read(npy(header("<f4", "()"), six, 3), DType.F32, Nil, 0)
    read(npy(header("<f4", "(2, 0)", "True"), six), DType.F32, List(2, 0))
  }

  test("BR-187: element types by all their names") {
    val three = Array[Byte](5, -2, 7)
    read(npy(header("|i1", "(3,)"), three), DType.I8, List(3), 5, -2, 7)
    read(npy(header("<i1", "(3,)"), three), DType.I8, List(3), 5, -2, 7)
    read(npy(header("|u1", "(3,)"), three), DType.U8, List(3), 5, 254, 7)
    read(npy(header("|b1", "(3,)"), Array[Byte](1, 0, 2)), DType.Bool, List(3), 1, 0, 1)
    read(npy(header("=f4", "(6,)"), six), DType.F32, List(6), 0, 1, 2, 3, 4, 5)
    read(npy(header("<f8", "(1,)"), little(8)(_.putDouble(0.1))), DType.F64, List(1), 0.1)
    read(npy(header("<i8", "(1,)"), little(8)(_.putLong(-7))), DType.I64, List(1), -7)
    read(npy(header("<i4", "(1,)"), little(4)(_.putInt(-7))), DType.I32, List(1), -7)
    read(npy(header("<i2", "(1,)"), little(2)(_.putShort(-7))), DType.I16, List(1), -7)
  }

  test("BR-189, BR-191: sizes that are none are an error") {
    for (shape <- List("(-1,)", "(2, -3)", "(0, -1)", "(np.int64(2), np.int64(3))", "(2", "2", "(2.0,)", "(2 3)"))
      refused(npy(header("<f4", shape), six), "header")
    refused(npy(header("<f4", "(99999999999999999999,)"), six), "size")
  }

  test("BR-193: headers as others write them") {
    val halves = little(154)(b => (0 until 77).foreach(_ => b.putShort(0x3e00.toShort)))
    read(npy(header("<f2", "(77,)"), halves), DType.F16, List(77), List.fill(77)(1.5): _*)
    for (
      text <- List(
        "{'shape': (6,), 'descr': '<f4', 'fortran_order': False}",
        "{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (6,)}",
        "  { 'descr' :'<f4' ,'fortran_order':  False , 'shape' : ( 6 , ) , }   "
      )
    ) read(npy(text, six), DType.F32, List(6), 0, 1, 2, 3, 4, 5)
  }

  test("BR-195: a header that lacks or adds something, and a file that ends early") {
    refused(npy("{'descr': '<f4', 'shape': (6,)}", six), "fortran_order")
    refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (6,), 'x': 1}", six), "\"x\"")
    refused(npy(header("<f4", "(6,)", "1"), six), "True or False")
    for (descr <- List("|O", ">f4", "<u4", "<c8", "<U3")) refused(npy(header(descr, "(6,)"), six), descr)
    refused(npy(header("<f4", "(6,)"), six.take(20)), "20 bytes")
    read(npy(header("<f4", "(5,)"), six), DType.F32, List(5), 0, 1, 2, 3, 4)
  }

  private def safe(header: String, data: Array[Byte] = Array.emptyByteArray): Array[Byte] = {
    val text = header.getBytes("UTF-8")
    little(8)(_.putLong(text.length.toLong)) ++ text ++ data
  }

  private def entry(name: String, dtype: String, shape: String, offsets: String): String =
    s"""{"$name":{"dtype":"$dtype","shape":$shape,"data_offsets":$offsets}}"""

  private def refusedSafe(bytes: Array[Byte], words: String*): Unit = clean { implicit scope =>
    val message = withFile(bytes)(path => intercept[FormatException](STen.fromSafetensors(path)).getMessage)
    words.foreach(w => assert(message.contains(w), message))
  }

  test("BR-196: header sizes that cannot be") {
    for (n <- List(-1L, Long.MaxValue, 100000001L, 50L, 0L)) refusedSafe(little(10)(_.putLong(n)))
    refusedSafe(Array.emptyByteArray)
    refusedSafe(new Array[Byte](7))
  }

  test("BR-198, BR-200: offsets that cannot be") {
    val data = new Array[Byte](16)
    for (
      offsets <- List("[]", "[0]", "[0,16,32]", "[16,0]", "[-16,0]", "[0.5,16]", s"[${1L << 40},${(1L << 40) + 16}]")
    )
      refusedSafe(safe(entry("a", "F32", "[4]", offsets), data))
    refusedSafe(safe("""{"a":{"dtype":"F32","shape":[4]}}""", data), "data_offsets")
  }

  test("BR-202: element types that are none, or that no tensor has, are named") {
    refusedSafe(safe(entry("a", "Q9", "[4]", "[7,99999]"), new Array[Byte](16)), "Q9")
    refusedSafe(safe(entry("a", "f32", "[4]", "[0,16]"), new Array[Byte](16)), "f32")
    refusedSafe(safe(entry("a", "F8_E4M3", "[4]", "[0,4]"), new Array[Byte](4)), "F8_E4M3")
  }

  test("BR-204: metadata, no tensors, no dimensions, no elements") {
    clean { implicit scope =>
      def load(bytes: Array[Byte]) = withFile(bytes)(STen.fromSafetensors(_))
      assertEquals(
        load(safe("""{"__metadata__":{"k":"v","ä":""}}""")),
        (Map.empty[String, STen], Map("k" -> "v", "ä" -> ""))
      )
      assertEquals(load(safe("{}")), (Map.empty[String, STen], Map.empty[String, String]))
      val (one, _) = load(safe(entry("a", "F32", "[]", "[0,4]"), floatBytes(2.5f)))
      assertEquals((one("a").shape, values(one("a"))), (Nil, List(2.5)))
      assertEquals(load(safe(entry("a", "I64", "[0,3]", "[0,0]")))._1("a").shape, List(0L, 3L))
    }
    refusedSafe(safe("""{"__metadata__":{"k":12}}"""))
  }

  test("BR-206: a shape that needs more than is there") {
    refused(npy(header("<f4", "(1000,)"), floatBytes(1, 2, 3, 4)), "16 bytes")
    refused(npy(header("<f4", s"(${1L << 62}, 4)"), floatBytes(1, 2, 3, 4)))
    read(npy(header("<f4", "()"), floatBytes(1)), DType.F32, Nil, 1)
    refused(npy(header("<f4", "()"), Array.emptyByteArray))
    for (shape <- List("[1000]", s"[${1L << 62},4]", "[]"))
      refusedSafe(safe(entry("a", "F32", shape, "[0,16]"), new Array[Byte](16)))
  }

  test("LP-18: safetensors of several types, aligned or not, share the file's memory") {
    clean { implicit scope =>
      val text =
        """{"b":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]},""" +
          """"f":{"dtype":"F32","shape":[2,1],"data_offsets":[3,11]},""" +
          """"i":{"dtype":"I8","shape":[2],"data_offsets":[11,13]},""" +
          """"u":{"dtype":"U8","shape":[1],"data_offsets":[13,14]}}"""
      val data = Array[Byte](1, 0, 2) ++ floatBytes(1.5f, -2) ++ Array[Byte](3, -4, -1)
      // Any number of blanks before the data: each alignment occurs.
      for (blanks <- 0 until 8) {
        val (all, metadata) = withFile(safe(text + " " * blanks, data))(STen.fromSafetensors(_))
        assertEquals(metadata, Map.empty[String, String])
        assertEquals(all.keySet, Set("b", "f", "i", "u"))
        assertEquals((all("f").shape, values(all("f"))), (List(2L, 1L), List(1.5, -2.0)))
        assertEquals(
          List("b", "i", "u").map(n => values(all(n))),
          List(List(1.0, 0.0, 1.0), List(3.0, -4.0), List(255.0))
        )
        assert(all("i").sharesStorageWith(all("u")))
      }
    }
  }
}
