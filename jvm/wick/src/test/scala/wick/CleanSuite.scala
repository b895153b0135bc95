package wick

/** Suites whose bodies must leave neither tensors nor bytes. */
abstract class CleanSuite extends munit.FunSuite {

  /** Runs a body in a scope and checks that nothing outlives it. */
  protected def clean(body: Scope => Unit): Unit = {
    val before = Wick.memory
    Scope.root(scope => body(scope))
    assertEquals(Wick.memory.liveTensors, before.liveTensors)
    assertEquals(Wick.memory.liveBytes, before.liveBytes)
  }
}
