package wick

/** What Scala 3 adds to deriving: `derives`, enums (LP-16). */
class DerivesSuite extends munit.FunSuite {
  import DerivesSuite.*

  test("LP-16 derives and enums give their tensors") {
    Scope.root { implicit scope =>
      val (a, b) = (Fixtures.doubles(1), Fixtures.doubles(2))
      assertEquals(Movable[Layer].list(Layer(a, List(b))), List(a, b))
      assertEquals(Movable[Node].list(Node.Leaf(a)), List(a))
      assertEquals(Movable[Node].list(Node.Fork(Node.Leaf(a), Node.Leaf(b))), List(a, b))
      assertEquals(Movable[Node].list(Node.Nothing), Nil)
      val moved = Scope { implicit scope => Node.Fork(Node.Leaf(Fixtures.doubles(3)), Node.Nothing) }
      assertEquals(scope.live, 3)
      assertEquals(Movable[Node].list(moved).map(Fixtures.values(_)), List(List(3.0)))
    }
  }

  test("LP-13 enums without tensors leave a root scope") {
    assertEquals(Scope.root(_ => Color.Red), Color.Red)
    assertEquals(Scope.root(_ => Settings(Color.Mixed(3), Some("x"))), Settings(Color.Mixed(3), Some("x")))
    assert(compileErrors("Scope.root { implicit s => (DerivesSuite.Node.Nothing: DerivesSuite.Node) }").nonEmpty)
  }
}

object DerivesSuite {
  final case class Layer(weight: STen, rest: List[STen]) derives Movable
  final case class Settings(color: Color, name: Option[String]) derives EmptyMovable

  enum Node derives Movable {
    case Leaf(value: STen)
    case Fork(left: Node, right: Node)
    case Nothing
  }

  enum Color {
    case Red, Green
    case Mixed(n: Int)
  }
}
