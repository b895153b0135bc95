package wick

import java.lang.management.ManagementFactory
import javax.management.{InstanceAlreadyExistsException, ObjectName, StandardMBean}

/** What the native side holds.
  *
  * @param liveBytes
  *   bytes of the storages that tensors use now
  * @param peakBytes
  *   the most that `liveBytes` was since the start or the last [[Wick.resetPeak]]
  * @param liveTensors
  *   tensors that are not closed yet, views included
  * @param cachedBytes
  *   bytes kept for the next tensors; [[Wick.trim]] gives them back
  * @param cap
  *   the most that `liveBytes` may become
  * @param made
  *   tensors made since the start
  * @param freed
  *   tensors freed since the start
  */
final case class Memory(
    liveBytes: Long,
    peakBytes: Long,
    liveTensors: Long,
    cachedBytes: Long,
    cap: Long,
    made: Long,
    freed: Long
)

/** The library's switches and gauges.
  * {{{
  * Wick.tracing = true
  * val before = Wick.memory.liveBytes
  * work()
  * if (Wick.memory.liveBytes > before) Wick.liveTensors.foreach(println)
  * }}}
  */
object Wick {

  /** What the native side holds now. */
  def memory: Memory = {
    val m = new Array[Long](7)
    Native.memory(m)
    Memory(m(0), m(1), m(2), m(3), m(4), m(5), m(6))
  }

  /** Starts the peak anew at what is live now. */
  def resetPeak(): Unit = Native.resetPeak()

  /** Gives cached memory back to the system. What another thread keeps for its next small tensors, at most
    * 64 KiB, follows when that thread next makes or frees one.
    */
  def trim(): Unit = Native.trim()

  /** The most bytes that tensors may hold together. */
  def memoryCap: Long = memory.cap

  /** Sets the cap; what would pass it is an [[OutOfNativeMemoryError]]. */
  def memoryCap_=(bytes: Long): Unit = Native.setCap(bytes)

  /** Registers [[memory]] as a bean with the JVM's management server, under the name that it returns:
    * `io.wick:type=Memory`, with the class loader's number where another copy of the library took that
    * first. Later calls change nothing.
    */
  def publishMemory(): ObjectName = MemoryBean.publish()

  /** How many threads an operation may use. */
  def threads: Int = Native.threads()

  /** Sets how many threads an operation may use; results do not depend on it. */
  def threads_=(n: Int): Unit = Native.setThreads(n)

  /** The instructions in use: baseline, avx2 or avx512. */
  def cpuLevel: String = Native.cpuLevel()

  /** Starts all random numbers anew. */
  def setSeed(seed: Long): Unit = Native.seed(seed)

  /** Whether the places where tensors are made and closed are recorded. */
  def tracing: Boolean = Tracing.on

  /** Switches tracing. Tensors made while it is on show both places in errors and [[liveTensors]];
    * switching it off forgets them.
    */
  def tracing_=(on: Boolean): Unit = Tracing.on = on

  /** The live tensors that were made while tracing was on, oldest first. */
  def liveTensors: Seq[LiveTensor] = Tracing.tensors
}

/** [[Wick.memory]] as a bean. */
private object MemoryBean extends NativeMemoryMXBean {
  private var published: ObjectName = null

  def publish(): ObjectName = synchronized {
    if (published == null) {
      val name = "io.wick:type=Memory"
      val own = name + ",loader=" + Integer.toHexString(System.identityHashCode(getClass.getClassLoader))
      published =
        try register(name)
        catch { case _: InstanceAlreadyExistsException => register(own) }
    }
    published
  }

  private def register(name: String): ObjectName = {
    val bean = new StandardMBean(this, classOf[NativeMemoryMXBean], true)
    ManagementFactory.getPlatformMBeanServer.registerMBean(bean, new ObjectName(name)).getObjectName
  }

  def getLiveBytes: Long = Wick.memory.liveBytes
  def getPeakBytes: Long = Wick.memory.peakBytes
  def getLiveTensors: Long = Wick.memory.liveTensors
  def getCachedBytes: Long = Wick.memory.cachedBytes
  def getCap: Long = Wick.memory.cap
  def getMade: Long = Wick.memory.made
  def getFreed: Long = Wick.memory.freed
  def resetPeak(): Unit = Wick.resetPeak()
  def trim(): Unit = Wick.trim()
}
