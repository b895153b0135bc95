package wick;

/** Off-heap memory is exhausted; the message gives the bytes asked for, the live bytes and the cap. */
public class OutOfNativeMemoryError extends OutOfMemoryError {
  private static final long serialVersionUID = 1L;

  /** Makes one with its message. */
  public OutOfNativeMemoryError(String message) {
    super(message);
  }
}
