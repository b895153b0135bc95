package wick;

/** What native code calls of a {@link Scheduler}. */
final class SchedulerBridge {
  private final Scheduler scheduler;

  SchedulerBridge(Scheduler scheduler) {
    this.scheduler = scheduler;
  }

  /** Called by native code. {@code work} stands for the parts until the operation has ended. */
  void run(int parts, long work) {
    scheduler.run(parts, () -> Native.runPart(work));
  }
}
