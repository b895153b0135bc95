import wick._

/** `sbt run run`: two class loaders of one JVM, for nothing here forks. */
object Main {
  def main(args: Array[String]): Unit = {
    val sum = Scope.root { implicit scope =>
      (STen.ones(List(2, 3), STenOptions.d) + 1.5).toDoubleArray.sum
    }
    if (sum != 15.0) throw new AssertionError(s"15 expected, got $sum")
    println(s"sum $sum")
  }
}
