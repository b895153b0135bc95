package wick

import java.nio.{ByteBuffer, ByteOrder}
import java.util.Objects.requireNonNull

/** Methods of [[STen]]: devices, and the copies that a storage has on two of them.
  *
  * A storage may be on the processor and on a device at once. Each side is brought up to date when it
  * is used and the other has been written since; nothing has to be mapped, and nothing is copied that
  * is right already or will be overwritten as a whole. Reads may come from any threads. Writes of one
  * thread on the processor and of another on the device are put in order; where they wait for each
  * other too long, one is a [[DeviceException]].
  */
private[wick] trait DeviceOps { self: STen =>

  /** On a device: a copy where it lives elsewhere, else a second owner of the same elements. */
  def to[S: Sc](device: Device): STen = device.to(this)

  /** The context whose memory and threads this tensor uses; its scope's. */
  def context: Context = {
    handle
    Places.context(deviceNumber)
  }

  /** The same elements, computed on another device: what is written through one of the two tensors
    * shows in the other. The storage is given memory there and filled at its first use. A storage can
    * be on the processor and on one device; a second device is a [[DeviceException]].
    */
  def onDevice[S: Sc](device: Device): STen =
    STen.own(Native.onDevice(handle, device.number(Context.of[S])), this)

  /** Begins to copy the elements to a device, in its queue, and returns at once. A later use there
    * waits for the copy; if it fails, that use is a [[DeviceException]] and the next tries again. A
    * write meanwhile is neither lost nor does it wait: the copy is given up.
    */
  def asyncCopyToDevice(device: Device): Unit = {
    Native.prefetch(handle, device.number(context))
  }

  /** Whether the device beside the processor could use the elements without waiting. */
  def deviceReady: Boolean = Native.isReady(handle, -1)

  /** Whether the processor could use the elements without waiting. */
  def hostReady: Boolean = Native.isReady(handle, -2)

  private def bytes: Int = {
    val n = numBytes
    if (n > Int.MaxValue - 8)
      throw new ShapeException(s"host access: $dtype ${shapeText}: a buffer holds at most 2 GB")
    n.toInt
  }

  private def buffer(array: Array[Byte]): ByteBuffer = ByteBuffer.wrap(array).order(ByteOrder.nativeOrder)

  /** Calls `f` with the elements' bytes in row-major order, the machine's byte order, not to be
    * written. The buffer holds a copy of its own: kept beyond the call, it is merely out of date.
    */
  def hostRead[A](f: ByteBuffer => A): A = {
    val array = new Array[Byte](bytes)
    Native.hostRead(handle, array)
    f(buffer(array).asReadOnlyBuffer.order(ByteOrder.nativeOrder))
  }

  /** As [[hostRead]], to be changed: the elements take the buffer's bytes when `f` returns. Where it
    * throws they stay as they were.
    */
  def hostUpdate[A](f: ByteBuffer => A): A = {
    val array = new Array[Byte](bytes)
    Native.hostRead(handle, array)
    val result = f(buffer(array))
    Native.hostWrite(handle, array)
    result
  }

  /** As [[hostUpdate]] with a buffer of zeros: the elements are not read, so nothing is copied from a
    * device. Where `f` throws, elements that are the whole of their storage are undefined: reading them
    * is an `IllegalStateException` until all have been written. Through a view of a part the rest of
    * the storage keeps its elements, and the part is as it was.
    */
  def hostOverwrite[A](f: ByteBuffer => A): A = {
    val array = new Array[Byte](bytes)
    requireNonNull(f)
    Native.discard(handle)
    val result = f(buffer(array))
    Native.hostWrite(handle, array)
    result
  }

  /** Calls `f` with the elements on a device, to be written without having been copied there: `f` fills
    * or copies into all of them. What it does not write as a whole stays undefined; see
    * [[hostOverwrite]].
    */
  def deviceOverwrite[A](device: Device)(f: STen => A): A = Scope.in(context) { implicit scope =>
    val there = onDevice(device)
    requireNonNull(f)
    Native.discard(there.handle)
    f(there)
  }
}
