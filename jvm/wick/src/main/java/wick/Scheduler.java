package wick;

/**
 * Lends threads to the operations of a {@link Context}.
 *
 * <p>Whatever a scheduler does, results are the same: the thread that called the operation runs the
 * parts that are left when {@link #run} returns, and waits for those that others have begun.
 */
public interface Scheduler {
  /**
   * Has {@code part.run()} called on any threads, {@code parts} times in all; each call runs one part.
   * Calls beyond the last part do nothing, at whatever time. It may return before they have run. What
   * it throws ends the operation with a {@link NativeException}, after the parts have ended.
   */
  void run(int parts, Runnable part);

  /** Everything on the thread that calls the operation. */
  Scheduler SERIAL = (parts, part) -> {};
}
