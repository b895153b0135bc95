package wick

/** What one pixel of an image is: how many channels, and of which element type.
  *
  * Names are those of OpenVX and the Arm Compute Library. Channels lie side by side: an image of more
  * than one is a tensor of rows, columns, channels; of one, of rows and columns. See `STen.image`.
  */
sealed abstract class Format(val channels: Int, val dtype: DType) extends Product with Serializable {

  /** The shape of an image of this format. */
  def shape(width: Long, height: Long): List[Long] =
    if (channels == 1) List(height, width) else List(height, width, channels.toLong)
}

/** The formats. */
object Format {

  /** Gray, 0 to 255. */
  case object U8 extends Format(1, DType.U8)

  /** One signed 16-bit channel. */
  case object S16 extends Format(1, DType.I16)

  /** One signed 32-bit channel. */
  case object S32 extends Format(1, DType.I32)

  /** One channel of half precision. */
  case object F16 extends Format(1, DType.F16)

  /** One channel of single precision. */
  case object F32 extends Format(1, DType.F32)

  /** Two colour differences, as the second plane of NV12 has them. */
  case object UV88 extends Format(2, DType.U8)

  /** Red, green, blue. */
  case object RGB888 extends Format(3, DType.U8)

  /** Red, green, blue, opacity. */
  case object RGBA8888 extends Format(4, DType.U8)

  /** All of them. */
  val values: List[Format] = List(U8, S16, S32, F16, F32, UV88, RGB888, RGBA8888)
}
