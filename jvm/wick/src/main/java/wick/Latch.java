package wick;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A lock for a few instructions at a time that threads seldom meet at: one atomic instruction to take
 * it and a plain store to give it back, half of what a monitor costs. Not reentrant; nothing that
 * may block is done under it.
 */
abstract class Latch {
  private static final VarHandle TAKEN;
  private static final int SPINS = 100;

  static {
    try {
      TAKEN = MethodHandles.lookup().findVarHandle(Latch.class, "taken", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private boolean taken;

  final void take() {
    int looks = 0;
    while (!TAKEN.compareAndSet(this, false, true)) {
      if (++looks < SPINS) Thread.onSpinWait();
      else Thread.yield();
    }
  }

  final void give() {
    TAKEN.setRelease(this, false);
  }
}
