package wick;

/** An index or a dimension outside its range; the message names both. */
public class IndexException extends IndexOutOfBoundsException {
  private static final long serialVersionUID = 1L;

  /** Makes one with its message. */
  public IndexException(String message) {
    super(message);
  }
}
