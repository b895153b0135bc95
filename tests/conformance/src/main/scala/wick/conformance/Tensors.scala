package wick.conformance

import java.nio.ByteBuffer

import wick._

/** Elements as plain numbers: integers and bool exactly, floats as doubles. */
sealed trait Numbers {
  def size: Int
  def show(i: Int): String
}
final case class Exact(values: Array[Long]) extends Numbers {
  def size: Int = values.length
  def show(i: Int): String = values(i).toString
}
final case class Approximate(values: Array[Double]) extends Numbers {
  def size: Int = values.length
  def show(i: Int): String = values(i).toString
}

/** Between stored bytes, tensors and plain numbers. */
object Tensors {

  /** All elements of a stored tensor as a 1-D tensor. */
  def load[S: Sc](stored: Stored): STen = {
    val b = stored.bytes.duplicate().order(stored.bytes.order)
    val n = count(stored)
    val dim = Seq(n.toLong)
    stored.dtype match {
      case "f64" => STen.fromDoubleArray(fill(new Array[Double](n))(b.asDoubleBuffer.get(_)), dim, CPU, DoublePrecision)
      case "f32" => STen.fromFloatArray(fill(new Array[Float](n))(b.asFloatBuffer.get(_)), dim, CPU)
      case "f16" => STen.fromHalfBits(shorts(b, n), dim, HalfPrecision)
      case "bf16" => STen.fromHalfBits(shorts(b, n), dim, BFloat16Precision)
      case "i64"  => STen.fromLongArray(fill(new Array[Long](n))(b.asLongBuffer.get(_)), dim, CPU)
      case "i32"  => STen.fromIntArray(fill(new Array[Int](n))(b.asIntBuffer.get(_)), dim, CPU)
      case "i16"  => STen.fromShortArray(shorts(b, n), dim, CPU)
      case "i8"   => STen.fromByteArray(bytes(b, n), dim, CPU)
      case "u8"   => STen.fromUnsignedByteArray(bytes(b, n), dim)
      case "bool" => STen.fromBooleanArray(bytes(b, n).map(_ != 0), dim, CPU)
    }
  }

  /** All elements of a stored tensor. */
  def numbers(stored: Stored): Numbers = Scope.root(implicit scope => numbers(load(stored)))

  /** All elements in row-major order. */
  def numbers(t: STen): Numbers = Scope.root { implicit scope =>
    if (t.isFloatingPoint) Approximate(t.castToDouble.toDoubleArray)
    else Exact(t.castToLong.toLongArray)
  }

  private def size(dtype: String): Int = dtype match {
    case "f64" | "i64"          => 8
    case "f32" | "i32"          => 4
    case "f16" | "bf16" | "i16" => 2
    case _                      => 1
  }

  private def count(stored: Stored): Int = stored.bytes.remaining / size(stored.dtype)

  private def fill[A](array: A)(get: A => Any): A = {
    get(array)
    array
  }

  private def shorts(b: ByteBuffer, n: Int): Array[Short] = fill(new Array[Short](n))(b.asShortBuffer.get(_))
  private def bytes(b: ByteBuffer, n: Int): Array[Byte] = fill(new Array[Byte](n))(b.get(_))
}
