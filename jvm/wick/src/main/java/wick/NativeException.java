package wick;

/** A fault inside the native library, with its message: always a bug of wick's. */
public class NativeException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Makes one with its message. */
  public NativeException(String message) {
    super(message);
  }
}
