package wick.examples

import java.nio.charset.StandardCharsets.US_ASCII
import java.nio.file.{Files, Path}

import wick._

/** Reads the `.npy` files of `jvm/examples/data`: version 1, `|u1`, row-major. */
object Npy {

  /** The array as a u8 tensor. */
  def readBytes[S: Sc](path: Path): STen = {
    val bytes = Files.readAllBytes(path)
    require(bytes.length > 10 && new String(bytes, 1, 5, US_ASCII) == "NUMPY", s"$path is no .npy file")
    val length = (bytes(8) & 0xff) | (bytes(9) & 0xff) << 8
    val header = new String(bytes, 10, length, US_ASCII)
    require(header.contains("'|u1'") && header.contains("'fortran_order': False"), s"$path: $header")
    val sizes = header.split("'shape': \\(")(1).takeWhile(_ != ')')
    val shape = sizes.split(',').map(_.trim).filter(_.nonEmpty).map(_.toLong).toSeq
    STen.fromUnsignedByteArray(bytes.drop(10 + length), shape)
  }
}
