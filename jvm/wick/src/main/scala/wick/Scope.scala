package wick

import scala.concurrent.{ExecutionContext, Future}
import scala.util.{Failure, Success}
import scala.util.control.NonFatal

/** A zone that owns tensors and frees them, all in one native call, the moment it ends.
  *
  * Every operation that makes a tensor takes a scope, and that scope, never the thread's nor an
  * operand's, owns the tensor. The garbage collector plays no part. A scope may be used from any
  * threads, virtual ones included, and may end on another thread than it began on.
  *
  * {{{
  * import wick._
  *
  * val largest: Double = Scope.root { implicit scope =>        // nothing but plain values leaves a root
  *   val weights = STen.ones(List(3, 3), STenOptions.d)
  *   val step = Scope { implicit scope =>                      // the same name, so that it shadows
  *     val scaled = weights * 2.0                              // freed when this block ends
  *     scaled + weights                                        // moved to the outer scope
  *   }
  *   step.toDoubleArray.max
  * }                                                           // `weights` and `step` are freed here
  * }}}
  *
  * What a block returns is searched for tensors by [[Movable]], by identity: those of the ending
  * scope move to its parent, those of other scopes stay where they are. A block that throws, or
  * returns null, leaves nothing behind; the exception arrives as it was, with anything that went
  * wrong while freeing suppressed into it. A loop that opens a scope per iteration holds what one
  * iteration makes.
  *
  * A tensor that escapes all the same (by a `var`, a closure, a collection) is closed with its scope
  * and answers with [[ClosedTensorException]].
  *
  * Effect systems build on [[Scope.open]], which splits a block into its begin and its end.
  */
final class Scope private (private val label: String, private[wick] val context: Context)
    extends Latch
    with AutoCloseable {

  // Handles by slot. A slot that was given up holds ~next, the next free one, so that closing
  // tensors early in a long-lived scope does not make it grow.
  private[this] var handles: Array[Long] = null
  private[this] var used = 0
  private[this] var freeSlot = Scope.None
  private[this] var count = 0
  private[this] var closed = false // written under the lock; who reads without may see it late

  /** The name that [[Scope.named]] gave, for errors and traces. */
  def name: Option[String] = Option(label)

  /** Whether the scope has ended. */
  def isClosed: Boolean = closed

  /** How many tensors the scope holds now. */
  def live: Int = {
    take()
    val n = count
    give()
    n
  }

  /** Moves every tensor in `value` here, from whichever scopes own them, and returns `value`.
    *
    * A closed tensor in `value` is a [[ClosedTensorException]].
    */
  def apply[A](value: A)(implicit movable: Movable[A]): A = {
    movable.foreach(value)(t => t.moveTo(this))
    value
  }

  /** Ends the scope: frees what it holds. Later and concurrent calls do nothing. */
  def release(): Unit = {
    var ending: Array[Long] = null
    var n = 0
    take()
    if (!closed) {
      closed = true
      ending = handles
      n = used
      if (count < used) n = Scope.compact(ending, used)
      handles = null
      count = 0
    }
    give()
    if (n > 0) {
      if (Tracing.on) Tracing.died(ending, n)
      if (n > 4) Native.releaseAll(ending, n)
      else {
        def at(i: Int): Long = if (i < n) ending(i) else 0L
        Native.releaseFew(ending(0), at(1), at(2), at(3))
      }
    }
  }

  /** The same as [[release]]. */
  def close(): Unit = release()

  override def toString: String =
    s"Scope(${describe}, ${if (closed) "closed" else s"$live tensors"})"

  /** How errors call this scope. */
  private[wick] def describe: String = if (label == null) "unnamed" else "\"" + label + "\""

  /** Takes ownership of a new handle and says in which slot. Where the scope has ended the handle is
    * freed and the call throws, so that nothing leaks.
    */
  private[wick] def enter(handle: Long): Int = {
    val slot = tryEnter(handle)
    if (slot < 0) {
      Native.release(handle)
      throw endedError
    }
    slot
  }

  /** As [[enter]] for several handles at once: either all enter or all are freed. */
  private[wick] def enterAll(raw: Array[Long], slots: Array[Int]): Unit = {
    var i = 0
    while (i < raw.length) {
      slots(i) = tryEnter(raw(i))
      if (slots(i) < 0) {
        // Those that entered before were freed with the scope.
        while (i < raw.length) { Native.release(raw(i)); i += 1 }
        throw endedError
      }
      i += 1
    }
  }

  private def tryEnter(handle: Long): Int = {
    take()
    try {
      if (closed) -1
      else {
        var slot = freeSlot
        if (slot != Scope.None) freeSlot = (~handles(slot)).toInt
        else {
          if (handles == null) handles = new Array[Long](Scope.FirstSlots)
          else if (used == handles.length) handles = java.util.Arrays.copyOf(handles, Scope.grown(used))
          slot = used
          used += 1
        }
        handles(slot) = handle
        count += 1
        slot
      }
    } finally give()
  }

  /** Gives up a handle; false where the scope does not hold it (any more). */
  private[wick] def leave(slot: Int, handle: Long): Boolean = {
    take()
    val held = !closed && slot < used && handles(slot) == handle
    if (held) {
      count -= 1
      if (slot == used - 1) used = slot
      else {
        handles(slot) = ~freeSlot.toLong
        freeSlot = slot
      }
    }
    give()
    held
  }

  private[wick] def endedError: IllegalStateException =
    new IllegalStateException(s"scope $describe has ended: no tensor can be made in it or moved to it")

  /** Ends the scope after `error`; what goes wrong on the way is suppressed into it. */
  private[wick] def releaseAfter(error: Throwable): Unit =
    try release()
    catch { case t: Throwable => if (t ne error) error.addSuppressed(t) }

  /** Moves the tensors of `result` to `parent`, frees the rest, and returns `result`. */
  private[wick] def finish[A](result: A, parent: Scope)(implicit movable: Movable[A]): A = {
    if (result != null && parent != null)
      try movable.foreach(result)(t => t.moveOut(this, parent))
      catch { case t: Throwable => releaseAfter(t); throw t }
    release()
    result
  }

  private def run[A: Movable](parent: Scope, op: Scope => A): A = {
    val result =
      try op(this)
      catch { case t: Throwable => releaseAfter(t); throw t }
    finish(result, parent)
  }

  private def runAlone[A](op: Scope => A): A = {
    val result =
      try op(this)
      catch { case t: Throwable => releaseAfter(t); throw t }
    release()
    result
  }

  private def runAsync[A: Movable](parent: Scope, op: Scope => Future[A]): Future[A] = {
    val running =
      try op(this)
      catch {
        case NonFatal(t)  => Future.failed(t)
        case t: Throwable => releaseAfter(t); throw t
      }
    if (running == null) {
      release()
      running
    } else
      running.transform {
        case Success(result) => scala.util.Try(finish(result, parent))
        case Failure(t)      => releaseAfter(t); Failure(t)
      }(ExecutionContext.parasitic)
  }
}

/** Opens scopes. */
object Scope {

  // No free slot: ~None is no handle, since handles are positive.
  private final val None = Int.MaxValue
  private final val FirstSlots = 4

  private def grown(length: Int): Int =
    if (length > Int.MaxValue / 2) throw new OutOfMemoryError(s"a scope that holds $length tensors is full")
    else length * 2

  /** Shifts the handles to the front, over slots that were given up. */
  private def compact(handles: Array[Long], used: Int): Int = {
    var n = 0
    var i = 0
    while (i < used) {
      if (handles(i) >= 0) { handles(n) = handles(i); n += 1 }
      i += 1
    }
    n
  }

  /** Runs `op` in a new scope; the tensors of its result move to `parent`, the rest is freed. */
  def apply[A: Movable](op: Scope => A)(implicit parent: Scope): A =
    new Scope(null, parent.context).run(parent, op)

  /** Runs `op` in a new scope without a parent, so that its result cannot hold tensors. */
  @scala.annotation.nowarn
  def root[A: EmptyMovable](op: Scope => A): A = new Scope(null, Context.default).runAlone(op)

  /** Runs `op` in a new scope and returns whatever it returns; tensors in it are closed. */
  def unsafe[A](op: Scope => A): A = new Scope(null, Context.default).runAlone(op)

  /** A scope that ends when its `release` is called, and leaks where it never is. */
  def free: Scope = new Scope(null, Context.default)

  /** Runs `op` in a scope that ends when the future completes, on whichever thread.
    *
    * The tensors of the future's value move to `parent`; a failed future frees everything and keeps
    * its exception. A parent that has ended by then fails the future and frees everything too.
    */
  def async[A: Movable](op: Scope => Future[A])(implicit parent: Scope): Future[A] =
    new Scope(null, parent.context).runAsync(parent, op)

  /** As [[async]] without a parent, so that the value cannot hold tensors. */
  def rootAsync[A](op: Scope => Future[A])(implicit empty: EmptyMovable[A]): Future[A] =
    new Scope(null, Context.default).runAsync(null, op)(empty)

  /** Opens a scope whose name errors and traces show: `Scope.named("epoch") { implicit scope => … }`. */
  def named(name: String): Named = new Named(name)

  /** Opens a scope whose end is not that of a block: what effect systems build their own form on.
    *
    * With cats-effect, say, `Scope.bracket` is
    * {{{
    * IO(Scope.open(Some(parent))).bracketCase(o => use(o.scope).map(o.close(_))) {
    *   case (o, Outcome.Errored(e)) => IO(o.fail(e))
    *   case (o, _)                  => IO(o.cancel())   // does nothing after close
    * }
    * }}}
    */
  def open(parent: Option[Scope]): Opened = new Opened(new Scope(null, contextOf(parent)), parent.orNull)

  private def contextOf(parent: Option[Scope]): Context = parent.fold(Context.default)(_.context)

  /** Scopes of a context; those opened in them are of the same. */
  private[wick] def in[A](context: Context)(op: Scope => A): A = new Scope(null, context).runAlone(op)
  private[wick] def freeIn(context: Context): Scope = new Scope(null, context)

  /** A scope between its begin and its end; whichever of the three ends comes first counts. */
  final class Opened private[Scope] (val scope: Scope, parent: Scope) {

    /** The good end: tensors of `result` move to the parent, the rest is freed. */
    def close[A: Movable](result: A): A = scope.finish(result, parent)

    /** The bad end: everything is freed; what goes wrong meanwhile is suppressed into `error`. */
    def fail(error: Throwable): Unit = scope.releaseAfter(error)

    /** The end without a result: everything is freed. */
    def cancel(): Unit = scope.release()
  }

  /** The ways to open a scope, under a name. */
  final class Named private[Scope] (name: String) {

    /** As [[Scope.apply]]. */
    def apply[A: Movable](op: Scope => A)(implicit parent: Scope): A =
      new Scope(name, parent.context).run(parent, op)

    /** As [[Scope.root]]. */
    @scala.annotation.nowarn
    def root[A: EmptyMovable](op: Scope => A): A = new Scope(name, Context.default).runAlone(op)

    /** As [[Scope.unsafe]]. */
    def unsafe[A](op: Scope => A): A = new Scope(name, Context.default).runAlone(op)

    /** As [[Scope.free]]. */
    def free: Scope = new Scope(name, Context.default)

    /** As [[Scope.async]]. */
    def async[A: Movable](op: Scope => Future[A])(implicit parent: Scope): Future[A] =
      new Scope(name, parent.context).runAsync(parent, op)

    /** As [[Scope.open]]. */
    def open(parent: Option[Scope]): Opened = new Opened(new Scope(name, contextOf(parent)), parent.orNull)
  }
}
