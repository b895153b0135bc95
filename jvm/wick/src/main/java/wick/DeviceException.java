package wick;

/** A device that is missing, or operands that live on different devices. */
public class DeviceException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  /** Makes one with its message. */
  public DeviceException(String message) {
    super(message);
  }
}
