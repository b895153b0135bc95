package wick

import scala.util.{Failure, Success, Try}

/** Which tensors a value holds, and which types cannot leave a scope (LP-14, LP-16, pain 9). */
class MovableSuite extends munit.FunSuite {
  import MovableSuite._

  /** Names the tensors of `value` by their place among `all`. */
  private def found[A: Movable](value: A, all: STen*): Set[Int] =
    Movable[A].list(value).map(t => all.indexWhere(_ eq t)).toSet

  private def scoped(f: (STen, STen) => Unit): Unit =
    Scope.root { implicit scope => f(Fixtures.doubles(1d, 2d), Fixtures.doubles(3d)) }

  test("LP-16 options, eithers, tries, collections, maps and arrays give their tensors") {
    scoped { (a, b) =>
      assertEquals(found(a, a, b), Set(0))
      assertEquals(found(Option(a), a, b), Set(0))
      assertEquals(found(Some(b), a, b), Set(1))
      assertEquals(found(Option.empty[STen], a, b), Set.empty[Int])
      assertEquals(found(Left(a): Either[STen, STen], a, b), Set(0))
      assertEquals(found(Right(b): Either[Int, STen], a, b), Set(1))
      assertEquals(found(Success(a): Try[STen], a, b), Set(0))
      assertEquals(found(Failure(new Exception("x")): Try[STen], a, b), Set.empty[Int])
      assertEquals(found(Seq(a, b), a, b), Set(0, 1))
      assertEquals(found(Vector(a, b), a, b), Set(0, 1))
      assertEquals(found(List(a, b, a), a, b), Set(0, 1))
      assertEquals(found(Set(a, b), a, b), Set(0, 1))
      assertEquals(found(scala.collection.mutable.ArrayBuffer(b), a, b), Set(1))
      assertEquals(found(Array(a, null, b), a, b), Set(0, 1))
      assertEquals(found(Array(Array(a), Array(b)), a, b), Set(0, 1))
      assertEquals(found(Map("x" -> a, "y" -> b), a, b), Set(0, 1))
      assertEquals(found(Map(a -> b), a, b), Set(0, 1))
      assertEquals(found(scala.collection.mutable.Map(1 -> Option(a)), a, b), Set(0))
      assertEquals(found(List(Option(Vector(a))), a, b), Set(0))
    }
  }

  test("LP-16 tuples up to 22") {
    scoped { (a, b) =>
      assertEquals(found((a, 1), a, b), Set(0))
      assertEquals(found((a, (1, b)), a, b), Set(0, 1))
      assertEquals(found((1, 2, 3, 4, 5, 6, a), a, b), Set(0))
      val t22 = (a, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, b)
      assertEquals(found(t22, a, b), Set(0, 1))
      val plain = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, "x")
      assertEquals(Scope.root(_ => plain)._22, "x")
    }
  }

  test("LP-16 case classes and sealed families are derived") {
    scoped { (a, b) =>
      assertEquals(found(Layer(a, Some(b), "l"), a, b), Set(0, 1))
      assertEquals(found(Net(List(Layer(a, None, "l")), Map("k" -> Layer(b, None, "m"))), a, b), Set(0, 1))
      assertEquals(found(Dense(a): Shape, a, b), Set(0))
      assertEquals(found(Sparse(a, b): Shape, a, b), Set(0, 1))
      assertEquals(found(Empty: Shape, a, b), Set.empty[Int])
      assertEquals(found(List[Shape](Dense(a), Empty, Dense(b)), a, b), Set(0, 1))
      assertEquals(found(Pair(a, List(b)), a, b), Set(0, 1))
      assertEquals(found(Layer(a, null, "l"), a, b), Set(0))
    }
  }

  test("LP-16 recursive case classes are derived") {
    scoped { (a, b) =>
      assertEquals(found(Tree(a, List(Tree(b, Nil))), a, b), Set(0, 1))
      assertEquals(found(Chain(a, Some(Chain(b, None))), a, b), Set(0, 1))
    }
  }

  test("LP-16 Movable.by, empty and nonEmpty serve classes of one's own") {
    scoped { (a, b) =>
      assertEquals(found(new Own(a, b), a, b), Set(0, 1))
      assertEquals(found(new Own2(a), a, b), Set(0))
      assertEquals(found(List(new Marked), a, b), Set.empty[Int])
      assertEquals(Scope.root(_ => List(new Marked)).size, 1)
    }
  }

  test("LP-13 plain values, and case classes of them, leave a root scope") {
    assertEquals(Scope.root(_ => 1), 1)
    assertEquals(Scope.root(_ => Option(List(1.5, 2.5))), Option(List(1.5, 2.5)))
    assertEquals(Scope.root(_ => Point(1, "x", List(2d))), Point(1, "x", List(2d)))
    assertEquals(Scope.root(_ => (1, Point(2, "y", Nil))), (1, Point(2, "y", Nil)))
    assertEquals(Scope.root[Flag](_ => On(3)), On(3))
    assertEquals(Scope.root(_ => DType.F32: DType), DType.F32: DType)
    val map = Scope.root(_ => Map("a" -> Array(1L)))
    assertEquals(map("a").toList, List(1L))
    assertEquals(Scope.root(_ => Nested(Some(Nested(None)))), Nested(Some(Nested(None))))
  }

  test("pain 9: what may hide a tensor does not leave a scope") {
    assert(compileErrors("Scope.root { implicit s => Scope { implicit s => (x: Int) => x }; () }").nonEmpty)
    assert(compileErrors("Scope.root { implicit s => Scope { implicit s => (1: Any) }; () }").nonEmpty)
    assert(compileErrors("Scope.root { implicit s => Scope { implicit s => Iterator(1) }; () }").nonEmpty)
    assert(compileErrors("Scope.root { implicit s => Scope { implicit s => new Plain }; () }").nonEmpty)
    assert(compileErrors("Scope.root { implicit s => Scope { implicit s => List(1: Any) }; () }").nonEmpty)
    assert(compileErrors("Scope.root { implicit s => Scope { implicit s => Hides(1, () => 2) }; () }").nonEmpty)
    assert(compileErrors("Scope.root { implicit s => Scope { implicit s => List(1).view }; () }").nonEmpty)
    assert(compileErrors("Scope.root { implicit s => Scope { implicit s => (1, new Plain) }; () }").nonEmpty)
    assert(compileErrors("def f[A](a: A)(implicit s: Scope) = Scope { implicit s => a }").nonEmpty)
    assert(compileErrors("Scope.root { implicit s => Scope { implicit s => s }; () }").nonEmpty)
    // The same lines with movable values compile.
    assertEquals(compileErrors("Scope.root { implicit s => Scope { implicit s => List(1) }; () }"), "")
    assertEquals(compileErrors("Scope.root { implicit s => Scope { implicit s => Point(1, \"\", Nil) }; () }"), "")
  }

  test("LP-13: nothing that holds tensors leaves a root scope") {
    assert(compileErrors("Scope.root { implicit s => Fixtures.doubles(1d) }").nonEmpty)
    assert(compileErrors("Scope.root { implicit s => List(Fixtures.doubles(1d)) }").nonEmpty)
    assert(compileErrors("Scope.root { implicit s => (1, Fixtures.doubles(1d)) }").nonEmpty)
    assert(compileErrors("Scope.root { implicit s => Dense(Fixtures.doubles(1d)) }").nonEmpty)
    assert(compileErrors("Scope.root { implicit s => (Empty: Shape) }").nonEmpty)
    assert(compileErrors("Scope.root { implicit s => Tree(Fixtures.doubles(1d), Nil) }").nonEmpty)
    assert(compileErrors("Scope.root { implicit s => () => 1 }").nonEmpty)
    assert(compileErrors("Scope.root { implicit s => s }").nonEmpty)
    assertEquals(compileErrors("Scope.root { implicit s => Fixtures.doubles(1d).numel }"), "")
  }

  test("the compiler says why a value cannot leave") {
    val any = compileErrors("Scope.root { implicit s => Scope { implicit s => (1: Any) }; () }")
    assert(any.contains("cannot leave a Scope"), any)
    val tensor = compileErrors("Scope.root { implicit s => Fixtures.doubles(1d) }")
    assert(tensor.contains("cannot leave a root Scope"), tensor)
  }

  test("LP-05, LP-12: a tensor cannot be made without a scope") {
    assert(compileErrors("Fixtures.doubles(1d)").nonEmpty)
    assert(compileErrors("def f(t: STen): STen = 2.0 * t").nonEmpty)
    assertEquals(compileErrors("def f[S: Sc](t: STen): STen = 2.0 * t"), "")
  }
}

object MovableSuite {
  final case class Layer(weight: STen, bias: Option[STen], name: String)
  final case class Net(layers: List[Layer], named: Map[String, Layer])
  final case class Pair[A, B](a: A, b: B)

  sealed trait Shape
  final case class Dense(values: STen) extends Shape
  final case class Sparse(indices: STen, values: STen) extends Shape
  case object Empty extends Shape

  final case class Tree(value: STen, children: List[Tree])
  final case class Chain(value: STen, next: Option[Chain])

  final case class Point(x: Int, name: String, values: List[Double])
  final case class Nested(inner: Option[Nested])
  sealed trait Flag
  final case class On(level: Int) extends Flag
  case object Off extends Flag

  final case class Hides(x: Int, f: () => Int)
  final class Plain

  final class Own(val a: STen, val b: STen)
  object Own {
    implicit val movable: Movable[Own] = Movable.by((o: Own) => (o.a, o.b))
  }
  final class Marked
  object Marked {
    implicit val movable: EmptyMovable[Marked] = Movable.empty
  }
  final class Own2(val a: STen)
  object Own2 {
    implicit val movable: Movable[Own2] = Movable.nonEmpty((o: Own2) => List(o.a))
  }
}
