package wick

/** Memory, threads, random numbers and queues of their own: a second runtime in one process.
  *
  * A scope belongs to a context, and so do the scopes in it and the tensors made in them; signatures
  * stay as they are. Two contexts share nothing: neither bytes, caps and counters nor workers nor
  * random numbers. A tensor of one used in a scope or an operation of the other is a
  * [[DeviceException]] that names both; `CPU.to(t)` copies it to the context of the scope it is called
  * with.
  * {{{
  * val small = Context(threads = 1, memoryCap = 64L << 20)
  * small.root { implicit scope =>
  *   val x = STen.ones(List(1000), STenOptions.f)     // in that context's memory, on one thread
  *   println(x.sum.toFloatArray.head)
  * }
  * small.close()
  * }}}
  */
final class Context private[wick] (private[wick] val number: Int) extends AutoCloseable {
  @volatile private[this] var closed = false

  private[wick] def open: Int = {
    if (closed) throw new IllegalStateException(s"$this is closed")
    number
  }

  /** Runs `op` in a scope of this context; nothing but plain values leaves it. */
  @scala.annotation.nowarn
  def root[A: EmptyMovable](op: Scope => A): A = {
    open
    Scope.in(this)(op)
  }

  /** A scope of this context that ends when its `release` is called. */
  def free: Scope = {
    open
    Scope.freeIn(this)
  }

  /** How many threads an operation may use. */
  def threads: Int = state(4).toInt

  /** Sets how many threads an operation may use. */
  def threads_=(n: Int): Unit = Native.setContext(open, 0, n.toLong, 0L)

  /** Bytes that its tensors hold now. */
  def liveBytes: Long = state(0)

  /** The most that its tensors ever held. */
  def peakBytes: Long = state(1)

  /** Bytes kept for its next tensors. */
  def cachedBytes: Long = state(2)

  /** The most bytes that its tensors may hold. */
  def memoryCap: Long = state(3)

  /** Sets the cap; what would pass it is an [[OutOfNativeMemoryError]]. */
  def memoryCap_=(bytes: Long): Unit = Native.setContext(open, 1, bytes, 0L)

  /** Gives kept bytes back to the system. */
  def trim(): Unit = Native.setContext(open, 3, 0L, 0L)

  /** Starts its random numbers anew. */
  def setSeed(seed: Long): Unit = Native.setContext(open, 2, seed, 0L)

  private def state: Array[Long] = Places.state(open)

  /** Has another scheduler lend the threads of its operations; null: its own pool again. Returns this
    * context.
    */
  def withScheduler(scheduler: Scheduler): Context = {
    Native.setScheduler(open, if (scheduler == null) null else new SchedulerBridge(scheduler))
    this
  }

  /** Binds the threads of its own pool to processors, the `i`-th to `cores(i % cores.length)`; without
    * any they run where the caller may. Callers, and the threads of other schedulers, stay as they are.
    * How many threads were bound: the system refuses processors that are not there or not the process's,
    * and some systems know nothing of the kind.
    */
  def bindThreads(cores: Int*): Int = Native.bindThreads(open, cores.iterator.map(_.toLong).toArray)

  /** The queue of a device's operations, or of copies to it. Where the processor computes, a call's
    * work ends with the call, and its queue is always empty.
    */
  def queue(device: Device, uploads: Boolean = false): Queue = new Queue(device.number(this), uploads)

  /** An event that is done when everything submitted to a device so far is. */
  def event(device: Device = CPU): SyncEvent = queue(device).event()

  /** Waits for everything submitted to a device so far. */
  def sync(device: Device = CPU): Unit = {
    queue(device).sync()
    queue(device, uploads = true).sync()
  }

  /** Programs built for a device. The processor's are compiled into the library: none are kept. */
  def kernelCache(device: Device = CPU): KernelCache = new KernelCache(device.number(this))

  /** Ends the context: its threads end, and operations on its tensors are errors; their memory is
    * freed with their scopes. The default context is never closed.
    */
  def close(): Unit = synchronized {
    if (number != 0 && !closed) {
      closed = true
      Native.closeContext(number)
    }
  }

  override def toString: String = if (number == 0) "default context" else s"context $number"
}

/** Makes contexts. */
object Context {

  /** The context of scopes that name none; [[Wick]] has its settings. */
  val default: Context = new Context(0)

  /** A new context.
    *
    * @param threads
    *   how many threads an operation may use; 0: as many as the machine has processors
    * @param memoryCap
    *   the most bytes that its tensors may hold; 0: the machine's memory
    */
  def apply(threads: Int = 0, memoryCap: Long = 0L): Context = {
    val context = new Context(Native.newContext(threads, memoryCap))
    Places.enter(context)
    context
  }

  /** The context of the scope at hand. */
  private[wick] def of[S](implicit scope: Sc[S]): Context = scope.context
}

/** Into how many parts operations are cut, and by how many threads.
  *
  * @param splitDim
  *   the dimension along which [[KernelRunner]] cuts a filter's window: planes, rows, columns; -1: the
  *   kernel's choice. Elementwise kernels see their elements as one sequence and are cut along that.
  * @param strategy
  *   see [[SchedulerHints.Strategy]]
  * @param threads
  *   at most so many, where the context allows more; 0: the context's number
  */
final case class SchedulerHints(
    splitDim: Int = -1,
    strategy: SchedulerHints.Strategy = SchedulerHints.Auto,
    threads: Int = 0
) {

  /** Runs `f`, whose operations on this thread follow these hints. Results do not depend on them.
    * Operations too small to be worth a second thread stay whole.
    */
  def apply[A](f: => A): A = {
    val before = new Array[Long](4)
    Native.setHints(splitDim, strategy.code, strategy.granules, threads, before)
    try f
    finally Native.setHints(before(0).toInt, before(1).toInt, before(2).toInt, before(3).toInt, null)
  }
}

/** The ways to cut. */
object SchedulerHints {

  /** How work is cut. */
  sealed abstract class Strategy(private[wick] val code: Int, private[wick] val granules: Int)
      extends Product
      with Serializable

  /** By its cost. */
  case object Auto extends Strategy(0, 0)

  /** One part a thread. */
  case object Static extends Strategy(1, 0)

  /** So many parts, each taken by whichever thread is free: for work that is uneven. */
  final case class Dynamic(parts: Int) extends Strategy(2, parts)
}
