package wick;

/** A file or buffer is not what its format demands; the message says where. */
public class FormatException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Makes one with its message. */
  public FormatException(String message) {
    super(message);
  }
}
