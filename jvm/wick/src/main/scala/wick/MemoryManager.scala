package wick

import scala.concurrent.duration._

/** Memory for intermediates of work that is done again and again, planned by hand: what a [[Pipeline]]
  * does of itself.
  *
  * {{{
  * val memory = new MemoryManager()
  * val group = memory.group()
  * val (a, b) = (group.manage(Seq(64, 64)), group.manage(Seq(64, 64)))
  * a.endLifetime()
  * val c = group.manage(Seq(64, 64))                     // may lie where a lay
  * Seq(b, c).foreach(_.endLifetime())
  * memory.populate(pools = 2)                            // two runs may be under way at once
  * group.acquired { lease => STen.add(lease(b), lease(c), 1.0)… }
  * }}}
  *
  * Lives are recorded by one thread at a time, in the order of a run. Groups share pools: two of them
  * never run in one at once. What does not fit a manager's state (managing after `populate`, populating
  * with lives that have not ended, clearing while a run is under way) is an `IllegalStateException`
  * and changes nothing.
  */
final class MemoryManager(planner: Pipeline.Planner = Pipeline.Offsets, wipe: Boolean = false)
    extends AutoCloseable {

  private[wick] val raw: Long = Native.manager(planner.code, wipe)

  /** A new group: the intermediates of one kind of run. */
  def group(): MemoryGroup = new MemoryGroup(this, Native.managerGroup(raw))

  /** Plans the groups, and makes so many pools. */
  def populate(pools: Int = 1): Unit = Native.managerPopulate(raw, pools)

  /** The blocks of a pool, the largest first; none before `populate`. */
  def blocks: Seq[MemoryManager.Block] =
    Native.managerBlocks(raw).grouped(3).map(b => MemoryManager.Block(b(0), b(1), b(2).toInt)).toSeq

  /** Frees the pools, none of which may be in use. */
  def clear(): Unit = Native.managerClear(raw)

  /** Frees the pools and the plan. Later calls do nothing. */
  def close(): Unit = Native.managerClose(raw)
}

object MemoryManager {

  /** A manager holds no tensor of a scope. */
  implicit val emptyMovable: EmptyMovable[MemoryManager] = EmptyMovable.make

  /** Bytes that belong together, their alignment, and how many intermediates lie in them. */
  final case class Block(bytes: Long, align: Long, owners: Int)
}

/** Intermediates of one kind of run. */
final class MemoryGroup private[wick] (manager: MemoryManager, number: Int) {

  /** Begins the life of an intermediate; it ends with `endLifetime`. `align` is in bytes, a power of
    * two of at most 64; 0 asks for none.
    */
  def manage(shape: Seq[Long], options: STenOptions = STen.fOptions, align: Long = 64L): Managed = {
    val bytes = shape.foldLeft(options.dtype.size.toLong)(Math.multiplyExact(_, _))
    val index = Native.managerManage(manager.raw, number, bytes, align)
    new Managed(manager, number, index, shape.toArray, options.dtype)
  }

  /** Runs `f` with a pool of its own, which is waited for, and releases it. What `f` returns holds no
    * tensor: one that lies in the pool is to be copied first. A thread that holds a pool gets no second
    * one: that, and no free pool within `timeout`, is an `IllegalStateException`.
    */
  def acquired[A: EmptyMovable](f: Lease => A): A = acquired(1.minute)(f)

  /** As `acquired`, with a limit on the wait. */
  def acquired[A: EmptyMovable](timeout: FiniteDuration)(f: Lease => A): A = {
    val raw = Native.lease(manager.raw, timeout.toNanos)
    try Scope.root(scope => f(new Lease(manager, raw, scope)))
    finally Native.leaseRelease(raw)
  }
}

/** An intermediate of a group. */
final class Managed private[wick] (
    private[wick] val manager: MemoryManager,
    private[wick] val group: Int,
    private[wick] val index: Int,
    private[wick] val shape: Array[Long],
    private[wick] val dtype: DType
) {

  /** Ends its life: those that begin later may lie in its place. */
  def endLifetime(): Unit = Native.managerEnd(manager.raw, group, index)
}

/** A pool, for the time of a run. Its scope ends with it: `implicit val scope = lease.scope`.
  *
  * An operation that another thread has begun on one of its tensors ends on the memory that it began on:
  * what tensors of an ended lease still see goes to no later run, which gets fresh memory in its place.
  * With `wipe` such an operation may see zeros.
  */
final class Lease private[wick] (manager: MemoryManager, raw: Long, val scope: Scope) {

  /** The tensor of an intermediate. Its elements are those that were written at its place last, or any
    * where a tensor of an ended lease has kept the memory. After
    * the lease it is closed, and views of it in other scopes throw `IllegalStateException`.
    */
  def apply(managed: Managed): STen = {
    if (managed.manager ne manager)
      throw new IllegalArgumentException("lease: the intermediate belongs to another memory manager")
    val t = Native.leaseTensor(
      manager.raw,
      raw,
      managed.group,
      managed.index,
      managed.dtype.number,
      managed.shape
    )
    STen.own(t, managed.shape)(scope)
  }

  /** Clears the pool now. */
  def wipe(): Unit = Native.leaseWipe(raw)
}
