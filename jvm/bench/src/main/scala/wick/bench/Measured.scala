package wick.bench

import java.util.concurrent.TimeUnit

import org.openjdk.jmh.annotations._

/** The one JMH benchmark: runs whichever work its parameter names, in a JVM of its own. */
@State(Scope.Benchmark)
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
class Measured {

  @Param(Array("")) var work: String = _

  private var body: Work = _

  @Setup def setup(): Unit = body = Work.of(work)

  @Benchmark def run(): Any = body.run()
}
