package wick

import java.lang.reflect.{InvocationTargetException, Method}
import scala.util.Random

/** What a closed tensor answers: guarantee 1, pains 3 to 5, BR-214 and BR-220. */
class ClosedSuite extends munit.FunSuite {
  import Fixtures._

  private def messageOf(body: => Any): String = intercept[ClosedTensorException](body).getMessage

  test("pain 5: the exception names element type, shape, scope and cause") {
    val message = Scope.named("step").root { implicit scope =>
      val t = full(DType.F32, List(2, 3), 1)
      t.close()
      messageOf(values(t))
    }
    for (part <- List("f32", "[2, 3]", "\"step\"", "close()")) assert(message.contains(part), message)

    val ended = Scope.named("epoch").unsafe { implicit scope => full(DType.I64, List(4), 1) }
    val message2 = messageOf(values(ended))
    for (part <- List("i64", "[4]", "scope \"epoch\" has ended")) assert(message2.contains(part), message2)
    assert(ended.isClosed)
    intercept[IllegalStateException](ended.shape) // so code that knows nothing of wick can catch it
  }

  test("pain 5: with tracing on it says where the tensor was made and where closed") {
    Wick.tracing = true
    try {
      Scope.root { implicit scope =>
        val t = madeHere()
        closedHere(t)
        val message = messageOf(t.shape)
        val (made, closed) = message.splitAt(message.indexOf("closed at"))
        assert(made.contains("made at") && made.contains("madeHere(ClosedSuite.scala:"), message)
        assert(closed.contains("closedHere(ClosedSuite.scala:"), message)
        assert(!message.contains("wick.Tracing"), message)
        ()
      }
      val lost = endedHere()
      val message = messageOf(lost.numel)
      assert(message.contains("madeHere(ClosedSuite.scala:"), message)
      assert(message.contains("endedHere(ClosedSuite.scala:"), message)
    } finally Wick.tracing = false
  }

  private def madeHere()(implicit scope: Scope): STen = doubles(1, 2)
  private def closedHere(t: STen): Unit = t.close()
  private def endedHere(): STen = {
    val lost = Scope.unsafe { implicit scope => madeHere() }
    lost
  }

  test("guarantee 6: tracing lists live tensors with their birth places") {
    Wick.tracing = true
    try {
      Scope.named("traced").root { implicit scope =>
        val t = full(DType.F32, List(2, 3), 1)
        val u = madeHere()
        val live = Wick.liveTensors
        assertEquals(live.map(_.shape), Seq(List(2L, 3L), List(2L)))
        assertEquals(live.map(_.dtype), Seq[DType](DType.F32, DType.F64))
        assertEquals(live.map(_.scope).distinct, Seq("\"traced\""))
        assertEquals(live.map(_.numBytes), Seq(24L, 16L))
        assert(live(1).bornAt.exists(_.getMethodName == "madeHere"), live(1).toString)
        u.close()
        assertEquals(Wick.liveTensors.size, 1)
        val moved = Scope.named("inner") { implicit scope => doubles(1) }
        assertEquals(Wick.liveTensors.map(_.scope), Seq("\"traced\"", "\"traced\""))
        assert(!moved.isClosed && !t.isClosed)
      }
      assertEquals(Wick.liveTensors, Seq.empty[LiveTensor])
    } finally Wick.tracing = false
    Scope.root { implicit scope =>
      doubles(1)
      assertEquals(Wick.liveTensors, Seq.empty[LiveTensor])
    }
  }

  test("guarantee 2, pain 4: closing twice frees once") {
    Scope.root { implicit scope =>
      val before = Wick.memory.freed
      val t = doubles(1)
      t.close()
      t.close()
      t.release()
      assertEquals(Wick.memory.freed, before + 1)
      assertEquals(scope.live, 0)
    }
  }

  test("BR-220: views outlive the tensor that they were taken of") {
    Scope.root { implicit scope =>
      val base = doubles(0, 1, 2, 3)
      val narrow = STen.own(Native.view(Native.opCode("view", "narrow"), base.handle, 0, 1, 2, 0))
      val bytes = Wick.memory.liveBytes
      base.close()
      assertEquals(values(narrow), List(1.0, 2.0))
      assertEquals(Wick.memory.liveBytes, bytes)
      assertEquals(narrow.toString, "STen([1., 2.], f64, [2])")
      intercept[ClosedTensorException](values(base))
      intercept[ClosedTensorException](base.sharesStorageWith(narrow))
      intercept[ClosedTensorException](narrow.sharesStorageWith(base))
      narrow.close()
      intercept[ClosedTensorException](values(narrow))
      ()
    }
  }

  test("the native table refuses a freed handle, too") {
    Scope.root { implicit scope =>
      val t = doubles(1, 2)
      val handle = t.handle
      t.close()
      assert(!Native.isLive(handle))
      intercept[ClosedTensorException](Native.shape(handle))
      intercept[ClosedTensorException](Native.toDoubles(handle, new Array[Double](2)))
      ()
    }
  }

  test("pain 3: random orders of closing and using never read freed memory") {
    val random = new Random(42)
    val before = Wick.memory
    for (_ <- 0 until 300) {
      val scopes = Array.fill(3)(Scope.free)
      val tensors = Array.fill(8) {
        val of = scopes(random.nextInt(3))
        (of, random.nextInt(100).toDouble)
      }.map { case (s, x) => (full(DType.F64, List(16), x)(s), x) }
      for (_ <- 0 until 40) {
        val (t, x) = tensors(random.nextInt(8))
        random.nextInt(5) match {
          case 0                           => t.close()
          case 1 if random.nextInt(6) == 0 => scopes(random.nextInt(3)).release()
          case 2                           =>
            try scopes(random.nextInt(3))(t)
            catch { case _: IllegalStateException => () }
          case _ =>
            try assertEquals(values(t), List.fill(16)(x))
            catch { case _: ClosedTensorException => assert(t.isClosed) }
        }
        t.toString
      }
      scopes.foreach(_.release())
      assert(tensors.forall(_._1.isClosed))
    }
    assertEquals(Wick.memory.liveTensors, before.liveTensors)
    assertEquals(Wick.memory.liveBytes, before.liveBytes)
  }

  import PublicApi._

  /** What is wrong with the method's answer; None where it says that a tensor is closed. */
  private def refuses(method: Method, receiver: AnyRef, tensor: STen, scope: Scope): Option[String] = {
    def call(word: String, number: AnyRef): Either[Throwable, AnyRef] = {
      val args = arguments(method, tensor, number, word, scope)
      if (args.contains(null)) Left(new Exception("unknown parameter types: teach ClosedSuite.arguments"))
      else
        try Right(method.invoke(receiver, args: _*))
        catch { case e: InvocationTargetException => Left(e.getCause) }
    }
    // What a sequence holds is erased (on Scala 3, tensors too), and which words a method knows is its
    // own affair: the first that fits.
    val fits = for {
      word <- words.iterator
      number <- Iterator[AnyRef](Long.box(0), Int.box(0), tensor)
      answer = call(word, number)
      if !answer.left.exists(_.isInstanceOf[ClassCastException])
    } yield answer
    val answers = fits.take(if (method.getParameterTypes.contains(classOf[String])) 30 else 1).toList
    val closed = answers.find(_.left.exists(_.isInstanceOf[ClosedTensorException]))
    val answer = closed.getOrElse(answers.headOption.getOrElse(call("L", tensor)))
    answer match {
      case Left(_: ClosedTensorException) => None
      case Left(e)                        => Some(s"$method threw $e")
      case Right(result)                  => Some(s"$method returned $result")
    }
  }

  private def closedAndOpen(body: (STen, STen, Scope) => Unit): Unit =
    Scope.root { implicit scope =>
      val closed = doubles(1)
      closed.close()
      body(closed, doubles(1), scope)
    }

  test("BR-214, pain 3: every public method of a closed tensor throws") {
    closedAndOpen { (closed, open, scope) =>
      val methods = publicMethods(classOf[STen])
      assert(methods.size > 25)
      val wrong = methods.flatMap(refuses(_, closed, open, scope))
      assert(wrong.isEmpty, wrong.mkString("\n"))
    }
  }

  test("BR-214, pain 3: every public method throws for a closed operand") {
    closedAndOpen { (closed, open, scope) =>
      val methods = publicMethods(classOf[STen]).filter(takesTensors)
      assert(methods.nonEmpty)
      val wrong = methods.flatMap(refuses(_, open, closed, scope))
      assert(wrong.isEmpty, wrong.mkString("\n"))
    }
  }

  test("BR-214, pain 3: every function of the companion throws for a closed operand") {
    closedAndOpen { (closed, _, scope) =>
      val wrong = publicMethods(STen.getClass).filter(takesTensors).flatMap(refuses(_, STen, closed, scope))
      assert(wrong.isEmpty, wrong.mkString("\n"))
    }
  }
}
