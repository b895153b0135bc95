package wick

import scala.concurrent.duration._

/** Operations that were recorded once and run again and again in memory that is planned ahead.
  *
  * {{{
  * val layer = Pipeline.of(x) { implicit scope => x => (x.mm(w) + b).relu }
  * Scope.root { implicit scope => layer(batch).toFloatArray }   // as often as you like
  * layer.close()
  * }}}
  *
  * A run does what the recorded function did, operation by operation and to the same bits, but neither
  * the JVM nor the allocator takes part: intermediates lie at places that were found by their
  * lifetimes, in a pool that the run has to itself. As many runs are under way at once, from any
  * threads, as there are pools; others wait.
  *
  * Tensors that the function uses and that are not its inputs (weights) are those themselves, as they
  * are at each run. The context's random numbers go on from run to run; a [[Generator]] of one's own gives
  * each run the numbers that the recording drew. What passes between elements and the JVM, a file or
  * another device (arrays, rows, buffers, items, seeds) is refused with an `IllegalStateException` that
  * names the operation, except for arrays that tensors are made of: those are the same in each run. An
  * operation whose result has another shape than when recorded ends the run with a [[ShapeException]].
  */
final class Pipeline private (raw: Long, inputs: Int, outputs: Int, timeout: FiniteDuration)
    extends AutoCloseable {

  /** Runs on inputs of the recorded shapes and dtypes; the outputs are new tensors.
    *
    * A [[ShapeException]] where inputs do not fit, an `IllegalStateException` where the pipeline is
    * closed or no pool was free within its time.
    */
  def apply(inputs: STen*)(implicit scope: Scope): Seq[STen] = {
    val results = new Array[Long](outputs)
    Native.pipelineRun(raw, handles(inputs), null, timeout.toNanos, results)
    STen.ownAll(results).toSeq
  }

  /** As `apply`, for the first output. */
  def one(inputs: STen*)(implicit scope: Scope): STen = apply(inputs: _*).head

  /** Runs into `outputs`, which may be any tensors of the recorded shapes and dtypes, imported ones
    * too: nothing is allocated. No two of them, and no output and input, may share elements.
    */
  def into(outputs: STen*)(inputs: STen*): Unit =
    Native.pipelineRun(raw, handles(inputs), handles(outputs), timeout.toNanos, Pipeline.none)

  private def handles(tensors: Seq[STen]): Array[Long] = {
    val out = new Array[Long](tensors.length)
    var i = 0
    while (i < out.length) { out(i) = tensors(i).handle; i += 1 }
    out
  }

  /** What was planned, and what ran. */
  def report: Pipeline.Report = {
    val n = new Array[Long](9)
    Native.pipelineReport(raw, n)
    val places = Native.pipelinePlaces(raw).grouped(3).map(p => Pipeline.Place(p(0).toInt, p(1), p(2)))
    Pipeline.Report(n(0).toInt, n(2), n(3), n(4), n(5).toInt, n(6).toInt, n(7), n(8), places.toVector)
  }

  /** Ends the pipeline: its pools are freed when the runs that are under way have ended. Later calls do
    * nothing; later runs are `IllegalStateException`s.
    */
  def close(): Unit = Native.pipelineClose(raw)

  override def toString: String = s"Pipeline($inputs inputs, $outputs outputs)"
}

/** Records pipelines. */
object Pipeline {

  private val none = new Array[Long](0)

  /** A pipeline holds no tensor of a scope. */
  implicit val emptyMovable: EmptyMovable[Pipeline] = EmptyMovable.make

  /** How intermediates share memory. */
  sealed abstract class Planner(private[wick] val code: Int)

  /** Each lies in a block, which the next one takes over. */
  case object Blobs extends Planner(0)

  /** All lie side by side in one block, at offsets that change hands. */
  case object Offsets extends Planner(1)

  /** Where an intermediate lies. */
  final case class Place(block: Int, offset: Long, bytes: Long)

  /** @param operations
    *   steps of a run
    * @param intermediateBytes
    *   of all intermediates together, as an eager run allocates them
    * @param peakBytes
    *   the most that live at once: no plan needs less
    * @param poolBytes
    *   of one pool
    * @param pools
    *   how many there are
    * @param freePools
    *   how many are free now
    * @param runs
    *   since it was recorded
    * @param astray
    *   runs that asked for other memory than was planned, and got their own
    * @param places
    *   the owners of the pool's bytes, in the order in which they begin
    */
  final case class Report(
      operations: Int,
      intermediateBytes: Long,
      peakBytes: Long,
      poolBytes: Long,
      pools: Int,
      freePools: Int,
      runs: Long,
      astray: Long,
      places: Vector[Place]
  )

  /** Records `f` on inputs shaped as `examples`, whose elements it sees, and may not change.
    *
    * @param pools
    *   how many runs may be under way at once, at least 1
    * @param planner
    *   how intermediates share memory
    * @param wipe
    *   whether a pool is cleared when a run is over
    * @param timeout
    *   how long a run waits for a free pool
    */
  def record(
      examples: Seq[STen],
      pools: Int = 1,
      planner: Planner = Offsets,
      wipe: Boolean = false,
      timeout: FiniteDuration = 1.minute
  )(f: Scope => Seq[STen] => Seq[STen]): Pipeline = {
    val scope = Scope.free
    try {
      val inputs = examples.map(_.cloneTensor(scope))
      Native.pipelineRecord(inputs.map(_.handle).toArray)
      try {
        val outputs = f(scope)(inputs)
        val raw = Native.pipelineFinish(outputs.map(_.handle).toArray, planner.code, pools, wipe)
        new Pipeline(raw, inputs.length, outputs.length, timeout)
      } finally Native.pipelineAbandon()
    } finally scope.release()
  }

  /** As [[record]] for one input and one output. */
  def of(
      example: STen,
      pools: Int = 1,
      planner: Planner = Offsets,
      wipe: Boolean = false,
      timeout: FiniteDuration = 1.minute
  )(f: Scope => STen => STen): Pipeline =
    record(Seq(example), pools, planner, wipe, timeout)(scope => in => Seq(f(scope)(in.head)))
}
