package wick;

/** Element types that an operation cannot take or promote; the message names them. */
public class DTypeException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  /** Makes one with its message. */
  public DTypeException(String message) {
    super(message);
  }
}
