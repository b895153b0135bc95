package wick;

/** Shapes, sizes or dimensions that an operation cannot take; the message names them. */
public class ShapeException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  /** Makes one with its message. */
  public ShapeException(String message) {
    super(message);
  }
}
