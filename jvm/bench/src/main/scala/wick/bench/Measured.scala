package wick.bench

import java.util.concurrent.TimeUnit

import org.openjdk.jmh.annotations._

/** The one JMH benchmark: runs whichever work its parameters name. */
@State(Scope.Benchmark)
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
class Measured {

  @Param(Array("wick")) var peer: String = _
  @Param(Array("0")) var row: Int = _
  @Param(Array("1")) var threads: Int = _

  private var work: Work = _

  @Setup def setup(): Unit = work = Work(peer, Families.rows(row), threads)

  @TearDown def close(): Unit = work.close()

  @Benchmark def run(): Any = work.run()
}
