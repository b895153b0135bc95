package wick

import java.lang.reflect.Method

import scala.util.Try

import munit.FunSuite
import PublicApi._

/** Every public operation, with arguments that it takes and that it refuses, leaves nothing behind. */
class LeakSuite extends FunSuite {

  // Not operations: they set or show what is the process's own, or make what the caller has to free.
  // An overwrite that is given up would leave the operands of all later calls undefined.
  private val overwrites = Set("hostOverwrite", "deviceOverwrite")
  private val others = Set("close", "release", "manualSeed", "free", "isClosed", "handle", "moveTo") ++ overwrites

  private def operations(c: Class[_]): List[Method] = publicMethods(c).filterNot(m => others(m.getName))

  /** Operands of several shapes and dtypes, and one that is closed. */
  private def operands(implicit scope: Scope): List[STen] = {
    val closed = STen.ones(Seq(2), STenOptions.d)
    closed.close()
    List(
      STen.rand(Seq(3, 3), STenOptions.d) + STen.eye(3, STenOptions.d) * 3.0,
      STen.rand(Seq(2, 3, 4), STenOptions.f).transpose(0, 2),
      STen.arange_l(0, 4, 1),
      STen.ones(Seq(2, 2), STenOptions(DType.Bool)),
      STen.zeros(Seq(0, 3), STenOptions.d),
      STen.scalarDouble(1.5, STenOptions.d),
      STen.ones(Seq(1, 2, 4, 4), STenOptions.bf16),
      STen.eye(3, STenOptions.d).toSparse,
      closed
    )
  }

  /** Calls a method in scopes of their own; how many calls returned, and what they left, if anything. */
  private def leaves(method: Method, receiver: AnyRef, tensor: STen): (Int, Option[String]) = {
    val before = Wick.memory
    val strings = method.getParameterTypes.contains(classOf[String])
    val outcomes = for {
      word <- if (strings) words else words.take(1)
      number <- List[AnyRef](Long.box(0), Int.box(0), tensor)
    } yield Scope.unsafe { scope =>
      Try(method.invoke(receiver, arguments(method, tensor, number, word, scope): _*)).isSuccess
    }
    val after = Wick.memory
    val (bytes, tensors) = (after.liveBytes - before.liveBytes, after.liveTensors - before.liveTensors)
    val text = s"$method with $tensor: $bytes bytes, $tensors tensors"
    (outcomes.count(identity), if (bytes == 0 && tensors == 0) None else Some(text))
  }

  test("every method leaves neither bytes nor tensors when its scope ends, also where it throws") {
    Scope.root { implicit scope =>
      val all = operands
      val results = for {
        method <- operations(classOf[STen])
        receiver <- all
        tensor <- if (takesTensors(method)) all else List(receiver)
      } yield leaves(method, receiver, tensor)
      val wrong = results.flatMap(_._2)
      assert(wrong.isEmpty, wrong.take(20).mkString("\n"))
      assert(results.map(_._1).sum > 1000, results.map(_._1).sum.toString)
    }
  }

  test("every function of the companion leaves neither bytes nor tensors") {
    Scope.root { implicit scope =>
      val results = for {
        method <- operations(STen.getClass)
        tensor <- operands
      } yield leaves(method, STen, tensor)
      val wrong = results.flatMap(_._2)
      assert(wrong.isEmpty, wrong.take(20).mkString("\n"))
      assert(results.map(_._1).sum > 300, results.map(_._1).sum.toString)
    }
  }
}
