package wick.stress

/** Guarantees 1 to 3 and pains 3, 4, 6, 7, 22, 23: five seconds of random calls. */
class StressSuite extends munit.FunSuite {
  override val munitTimeout = scala.concurrent.duration.Duration(120, "s")

  test("random calls from many threads: only documented exceptions, right values, nothing left") {
    val seed = System.nanoTime % 1000000007L
    println(s"stress seed $seed")
    val report = Stress.run(Settings(seconds = 5, threads = 8, seed = seed))
    assert(report.failures.isEmpty, report.failures.mkString(s"seed $seed\n", "\n", ""))
    assertEquals((report.failed, report.liveBytes, report.liveTensors), (0L, 0L, 0L))
    assert(report.passed > 1000, report.toString)
    assert(report.refusals.getOrElse("ClosedTensorException", 0L) > 0, report.toString)
    assert(report.refusals.getOrElse("OutOfNativeMemoryError", 0L) > 0, report.toString)
  }

  test("the model says what tensors do") {
    val m = Model.tabulate(List(2, 3))(at => at(0) * 3.0 + at(1))
    assertEquals(m.data.toList, List(0.0, 1, 2, 3, 4, 5))
    assertEquals(m.transpose(0, 1).data.toList, List(0.0, 3, 1, 4, 2, 5))
    assertEquals(m.sum(1).data.toList, List(3.0, 12))
    assertEquals(m.slices(1, Seq(2, 0)).data.toList, List(2.0, 0, 5, 3))
    assertEquals(m.select(0, 1).data.toList, List(3.0, 4, 5))
    assertEquals(m.zip(new Model(List(2, 1), Array(10.0, 20)))(_ + _).get.data.toList, List(10.0, 11, 12, 23, 24, 25))
    assertEquals(m.mm(m.transpose(0, 1)).data.toList, List(5.0, 14, 14, 50))
    assertEquals(Model.broadcast(List(2), List(3)), None)
    assertEquals(Model.tabulate(List(0, 2))(_ => 1).numel, 0)
    assertEquals(Model.tabulate(Nil)(_ => 7).data.toList, List(7.0))
  }
}
