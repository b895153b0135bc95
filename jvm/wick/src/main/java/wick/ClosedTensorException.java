package wick;

/** A tensor or scope was used after its release; the message says which. */
public class ClosedTensorException extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  /** Makes one with its message. */
  public ClosedTensorException(String message) {
    super(message);
  }
}
