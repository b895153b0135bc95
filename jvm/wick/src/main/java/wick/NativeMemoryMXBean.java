package wick;

/** What {@code Wick.memory} says, for monitoring by JMX; {@code Wick.publishMemory} registers it. */
public interface NativeMemoryMXBean {
  /** Bytes of the storages that tensors use now. */
  long getLiveBytes();

  /** The most that the live bytes were since the start or the last reset. */
  long getPeakBytes();

  /** Tensors that are not closed yet, views included. */
  long getLiveTensors();

  /** Bytes kept for the next tensors. */
  long getCachedBytes();

  /** The most that the live bytes may become. */
  long getCap();

  /** Tensors made since the start. */
  long getMade();

  /** Tensors freed since the start. */
  long getFreed();

  /** Starts the peak anew. */
  void resetPeak();

  /** Gives cached memory back to the system. */
  void trim();
}
