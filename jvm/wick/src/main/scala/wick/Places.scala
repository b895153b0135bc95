package wick

import java.util.concurrent.ConcurrentHashMap

/** What stands behind the native numbers of devices and contexts. */
private[wick] object Places {

  /** Whether there is anything but the default context: as long as there is not, tensors need not be
    * asked where they are. Set before the first tensor that is elsewhere is made.
    */
  @volatile private[this] var some = false
  def others: Boolean = some

  private[this] val sims = new ConcurrentHashMap[Int, SimDevice]
  private[this] val contexts = new ConcurrentHashMap[Int, Context]

  /** The number of a simulated device. */
  def sim(index: Int, device: SimDevice): Int = {
    val number = Native.simDevice(index)
    some = true
    sims.putIfAbsent(number, device)
    number
  }

  def enter(context: Context): Unit = {
    some = true
    contexts.put(context.number, context)
    ()
  }

  /** The context of a tensor whose device has this number. */
  def context(number: Int): Context = Option(contexts.get(number)).getOrElse(Context.default)

  private def name(number: Int): String =
    if (number == 0) "the default context" else s"context $number"

  /** The tensor of a new handle that the scope has entered. Of another context's it is freed. */
  def tensor(handle: Long, dims: Array[Long], scope: Scope, slot: Int, frame: Frame): STen = {
    val number = Native.deviceOf(handle)
    val sim = sims.get(number)
    if (sim != null) new PlacedSTen(handle, dims, scope, slot, frame, sim, number)
    else if (number == scope.context.number) {
      if (number == 0) STen.here(handle, dims, scope, slot, frame)
      else new PlacedSTen(handle, dims, scope, slot, frame, CPU, number)
    } else {
      if (scope.leave(slot, handle)) Native.release(handle)
      throw new DeviceException(
        s"a tensor of ${name(number)} in a scope of ${name(scope.context.number)}: copy it with CPU.to"
      )
    }
  }

  /** What `Native.contextState` fills. */
  def state(number: Int): Array[Long] = {
    val out = new Array[Long](12)
    Native.contextState(number, out)
    out
  }
}
