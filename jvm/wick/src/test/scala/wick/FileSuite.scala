package wick

import java.io.RandomAccessFile
import java.nio.file.{Files, Path}
import java.nio.{ByteBuffer, ByteOrder}

/** LP-18: tensors from files. */
class FileSuite extends munit.FunSuite {

  private val page = 4096

  /** A file of 4096 bytes of something else, then doubles 0 to 99, then 8 bytes 1 to 8, then ints -1 and 7. */
  private val file = FunFixture[Path](
    setup = { _ =>
      val bytes = ByteBuffer.allocate(page + 800 + 16).order(ByteOrder.LITTLE_ENDIAN)
      bytes.position(page)
      (0 until 100).foreach(i => bytes.putDouble(i.toDouble))
      (1 to 8).foreach(i => bytes.put(i.toByte))
      bytes.putInt(-1).putInt(7)
      Files.write(Files.createTempFile("wick", ".bin"), bytes.array)
    },
    teardown = Files.delete
  )

  file.test("LP-18: fromFile reads a range as a vector") { path =>
    val before = Wick.memory
    Scope.root { implicit scope =>
      val t = STen.fromFile(path.toString, page.toLong, 800, 7, pin = false)
      assert(t.isDouble && t.shape == List(100L))
      assertEquals(t.toDoubleArray.toSeq, (0 until 100).map(_.toDouble))
      val none = STen.fromFile(path.toString, page.toLong, 0, 6, pin = true)
      assertEquals(none.shape, List(0L))
    }
    assertEquals(Wick.memory.liveBytes, before.liveBytes)
  }

  file.test("LP-18: tensorsFromFile gives several types in one storage") { path =>
    Scope.root { implicit scope =>
      val parts = List((7.toByte, 8L, 16L), (1.toByte, 800L, 8L), (3.toByte, 808L, 8L), (4.toByte, 0L, 0L))
      val ts = STen.tensorsFromFile(path.toString, page.toLong, 816, pin = false, parts)
      assertEquals(ts.map(_.dtype), Vector[DType](DType.F64, DType.I8, DType.I32, DType.I64))
      assertEquals(ts(0).toDoubleArray.toSeq, Seq(1.0, 2.0))
      assertEquals(ts(1).toByteArray.toSeq, (1 to 8).map(_.toByte))
      assertEquals(ts(2).toIntArray.toSeq, Seq(-1, 7))
      assertEquals(ts(3).shape, List(0L))
      assert(ts(0).sharesStorageWith(ts(2)))
      // Views outlive one another.
      ts(0).close()
      assertEquals((ts(2) + 1L).toIntArray.toSeq, Seq(0, 8))
    }
  }

  file.test("LP-18: a file that shrinks afterwards changes nothing") { path =>
    Scope.root { implicit scope =>
      val t = STen.fromFile(path.toString, page.toLong, 800, 7, pin = false)
      val cut = new RandomAccessFile(path.toFile, "rw")
      try cut.setLength(0)
      finally cut.close()
      assertEquals(t.sum.toDoubleArray.toSeq, Seq(4950.0))
    }
  }

  test("LP-18: a file that shrinks while it is read is an error or was read whole") {
    val path = Files.createTempFile("wick", ".bin")
    val length = 48L << 20
    val handle = new RandomAccessFile(path.toFile, "rw")
    @volatile var ended = false
    val cutting = new Thread(() =>
      while (!ended) {
        handle.setLength(length)
        Thread.`yield`()
        handle.setLength(page.toLong)
      }
    )
    val before = Wick.memory
    try {
      cutting.start()
      val messages = (1 to 40).flatMap { _ =>
        try Scope.root { implicit scope =>
            val t = STen.fromFile(path.toString, 0, length, 4, pin = false)
            assertEquals(t.sum.toLongArray.toSeq, Seq(0L))
            None
          }
        catch { case e: FormatException => Some(e.getMessage) }
      }
      assert(messages.forall(m => m.contains("shortened") || m.contains("of a file of")), messages)
    } finally {
      ended = true
      cutting.join()
      handle.close()
      Files.delete(path)
    }
    assertEquals(Wick.memory.liveBytes, before.liveBytes)
  }

  file.test("LP-18, BR-207, BR-209: offsets and lengths are checked before anything is read") { path =>
    Scope.root { implicit scope =>
      def refused(offset: Long, length: Long, dtype: Byte = 7, parts: List[(Byte, Long, Long)] = Nil): String = {
        val live = scope.live
        val e = intercept[FormatException] {
          if (parts.isEmpty) STen.fromFile(path.toString, offset, length, dtype, pin = false)
          else STen.tensorsFromFile(path.toString, offset, length, pin = false, parts)
        }
        assertEquals(scope.live, live)
        e.getMessage
      }
      assert(refused(8, 8).contains("offset 8 is no multiple of 4096"))
      assert(refused(-page.toLong, 8).contains("4096"))
      assert(refused(page.toLong, 8000).contains(s"bytes $page to 12096 of a file of 4912"))
      assert(refused(page.toLong, Long.MaxValue).contains("no such range"))
      assert(refused(0, -8).contains("no such range"))
      assert(refused(0, 12).contains("whole elements of f64"))
      assert(refused(0, 64, parts = List((6.toByte, 4L, 4L))).contains("multiple of 8"))
      assert(refused(0, 64, parts = List((6.toByte, 0L, 4L), (6.toByte, 64L, 4L))).contains("tensor 1"))
      assert(refused(0, 64, parts = List((6.toByte, Long.MaxValue - 7, 16L))).contains("tensor 0"))
      intercept[DTypeException](STen.fromFile(path.toString, 0, 8, 99, pin = false))
      intercept[FormatException](STen.fromFile(path.toString + ".none", 0, 8, 7, pin = false))
      intercept[FormatException](STen.fromFile(path.getParent.toString, 0, 8, 7, pin = false))
      ()
    }
  }
}
