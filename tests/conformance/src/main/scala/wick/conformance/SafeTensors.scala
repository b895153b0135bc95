package wick.conformance

import java.nio.{ByteBuffer, ByteOrder}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

/** A tensor as it lies in a file: element type by name and little-endian bytes. */
final case class Stored(dtype: String, shape: Seq[Long], bytes: ByteBuffer)

/** A safetensors file: tensors by name, and the metadata. */
final case class SafeTensors(tensors: Map[String, Stored], metadata: Map[String, String])

object SafeTensors {

  /** Reads a whole file: 8 bytes of header length, the JSON header, the data. */
  def read(path: Path): SafeTensors = {
    val all = ByteBuffer.wrap(Files.readAllBytes(path)).order(ByteOrder.LITTLE_ENDIAN)
    val headerLength = all.getLong(0).toInt
    val header = ujson.read(new String(all.array, 8, headerLength, UTF_8)).obj
    val data = 8 + headerLength
    val tensors = header.iterator.filter(_._1 != "__metadata__").map { case (name, entry) =>
      val Seq(from, to) = entry("data_offsets").arr.map(_.num.toInt).toSeq: @unchecked
      val bytes = all.duplicate().order(ByteOrder.LITTLE_ENDIAN)
      bytes.position(data + from).limit(data + to)
      name -> Stored(
        entry("dtype").str.toLowerCase,
        entry("shape").arr.map(_.num.toLong).toSeq,
        bytes.slice().order(ByteOrder.LITTLE_ENDIAN)
      )
    }
    val metadata = header.get("__metadata__").iterator.flatMap(_.obj.iterator.map { case (k, v) => k -> v.str })
    SafeTensors(tensors.toMap, metadata.toMap)
  }
}
