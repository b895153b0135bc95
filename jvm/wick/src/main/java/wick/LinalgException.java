package wick;

/** A matrix that an operation cannot use: singular, not positive-definite, not finite. */
public class LinalgException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  /** Makes one with its message. */
  public LinalgException(String message) {
    super(message);
  }
}
