import wick._

class ConsumerSuite extends munit.FunSuite {

  test("tensors are made, added and read in a scope") {
    val sums = Scope.root { implicit scope =>
      val a = STen.fromDoubleArray(Array(1d, 2d, 3d, 4d), List(2, 2), CPU, DoublePrecision)
      val b = STen.ones(List(2, 2), STenOptions.d)
      val c = a + b
      assertEquals(c.shape, List(2L, 2L))
      assert(c.isDouble)
      c.toDoubleArray.toList
    }
    assertEquals(sums, List(2d, 3d, 4d, 5d))
  }

  test("a tensor moves out of an inner scope, the rest is freed") {
    Scope.root { implicit scope =>
      var inner: STen = null
      val moved = Scope { implicit scope =>
        inner = STen.ones(List(3), STenOptions.f)
        inner + 1.0
      }
      assertEquals(moved.toFloatArray.toList, List(2f, 2f, 2f))
      assert(inner.isClosed)
    }
  }

  test("a closed tensor throws and says so") {
    val closed = Scope.unsafe { implicit scope => STen.ones(List(2), STenOptions.d) }
    val error = intercept[ClosedTensorException](closed.toDoubleArray)
    assert(error.getMessage.contains("[2]"), error.getMessage)
    assert(error.isInstanceOf[IllegalStateException])
  }

  test("shapes that do not fit throw, and the process lives on") {
    Scope.root { implicit scope =>
      intercept[ShapeException](STen.ones(List(2), STenOptions.d) + STen.ones(List(3), STenOptions.d))
      ()
    }
    Scope.root { implicit scope => assertEquals(STen.ones(List(2), STenOptions.d).numel, 2L) }
  }

  test("nothing is left behind") {
    val before = Wick.memory.liveBytes
    Scope.root { implicit scope => STen.ones(List(1000), STenOptions.d).exp.close() }
    assertEquals(Wick.memory.liveBytes, before)
  }
}
