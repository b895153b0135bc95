package wick

import java.lang.ref.Cleaner
import java.util.concurrent.TimeUnit

/** What a device does one after another: its operations, or the copies to it. */
final class Queue private[wick] (device: Int, uploads: Boolean) {

  /** An event that is done when everything submitted before is. */
  def event(): SyncEvent = new SyncEvent(Native.queueEvent(device, uploads))

  /** Everything submitted from now on begins after an event, of whichever queue. */
  def waitFor(event: SyncEvent): Unit = event.use(Native.queueWait(device, uploads, _))

  /** Waits for everything submitted before. */
  def sync(): Unit = event().await()
}

/** Done when what was submitted before it is. */
final class SyncEvent private[wick] (handle: Long) {
  SyncEvent.releaseWith(this, handle)

  private[wick] def use[A](f: Long => A): A =
    try f(handle)
    finally java.lang.ref.Reference.reachabilityFence(this)

  /** Whether it is done. */
  def isDone: Boolean = use(Native.eventDone)

  /** Waits until it is done. */
  def await(): Unit = {
    use(Native.eventWait(_, -1L))
    ()
  }

  /** Waits for a limited time; whether it is done. */
  def await(time: Long, unit: TimeUnit): Boolean = use(Native.eventWait(_, unit.toNanos(time).max(0L)))
}

private object SyncEvent {
  private val cleaner = Cleaner.create()

  private def releaseWith(event: SyncEvent, handle: Long): Unit = {
    cleaner.register(event, () => Native.eventRelease(handle))
    ()
  }
}

/** Programs that were built for a device, kept in memory, and in a folder where one is given, so that
  * the next process need not build them. A file that is cut, changed, or of another device or version
  * is built again.
  */
final class KernelCache private[wick] (device: Int) {
  private def state(i: Int): Long = Places.state(device)(i)

  /** How many programs are kept in memory. */
  def size: Long = state(7)

  /** Their bytes. */
  def bytes: Long = state(8)

  /** How many were built. */
  def built: Long = state(9)

  /** How many were read from the folder. */
  def read: Long = state(10)

  /** How many were found in memory. */
  def hits: Long = state(11)

  /** Keeps programs in a folder, too, which is made where it is missing; null: in memory alone. */
  def folder(path: java.nio.file.Path): Unit =
    Native.setKernelFolder(device, if (path == null) null else path.toString)

  /** Forgets the programs in memory; files stay. */
  def clear(): Unit = Native.setContext(device, 5, 0L, 0L)
}
