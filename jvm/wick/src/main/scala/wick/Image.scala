package wick

/** Pictures in files. */
object Image {

  /** The pixels of a PNG, PGM or PPM file as u8 `[channels, height, width]`: 1 channel of grey, 2 with
    * opacity, 3 of red, green and blue, 4 with opacity. Palettes are resolved, 16 bits cut to the upper 8;
    * other greatest values than 255 are spread over 0 to 255.
    *
    * @throws FormatException
    *   where the file cannot be read, is damaged or cut off, or claims more pixels than it can hold
    */
  def read[S: Sc](path: String): STen = STen.place(Native.imageRead(path), CPU)

  /** Writes u8 pixels `[height, width]` or `[channels, height, width]`; the path's ending (png, pgm, ppm, pnm)
    * says how. PNG takes 1 to 4 channels, PGM one, PPM three.
    */
  def write(path: String, pixels: STen): Unit = Native.imageWrite(path, pixels.handle)

  /** NV12 as [[STen.rgbToNv12]] makes it, as `[3, height, width]` of red, green and blue; each chroma serves the
    * four pixels that it was the mean of.
    */
  def nv12ToRgb(luma: STen, chroma: STen, standard: String = "bt709")(implicit scope: Scope): STen = {
    val sizes = luma.shape
    if (sizes.length != 2 || chroma.shape != List(sizes(0) / 2, sizes(1) / 2, 2L) || sizes.exists(_ % 2 != 0))
      throw new ShapeException(
        s"nv12ToRgb: ${luma.dtype} ${luma.shapeText} and ${chroma.dtype} ${chroma.shapeText}: expected [height, width] " +
          "of even sizes and [height / 2, width / 2, 2]"
      )
    Scope { implicit scope =>
      val wide = chroma.permute(Seq(2, 0, 1)).resize(sizes(0), sizes(1), "nearest")
      STen.cat(Seq(luma.unsqueeze(0), wide), 0).yuvToRgb(standard)
    }
  }
}
