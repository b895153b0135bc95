package wick.bench

import ai.djl.Device
import ai.djl.ndarray.types.{DataType, Shape}
import ai.djl.ndarray.{NDArray, NDManager}
import ai.djl.pytorch.jni.JniUtils
import wick.{DType, STen, Scope, Wick}

/** What is measured: makes a fresh result and frees it. */
final class Work(body: () => Any, release: () => Unit) {
  def run(): Any = body()
  def close(): Unit = release()
}

/** Makes works; called in the thread that measures. */
object Work {

  def apply(peer: String, row: Row, threads: Int): Work = (peer: @unchecked) match {
    case "wick" => byWick(row, threads)
    case "djl"  => byDjl(row, threads)
    case "loop" => new Work(row.loopBody.get(row.operands.zipWithIndex.map { case (o, i) => o.array(i) }), () => ())
  }

  private def byWick(row: Row, threads: Int): Work = {
    Wick.threads = threads
    implicit val scope: Scope = Scope.free
    val operands = row.operands.zipWithIndex.map { case (operand, seed) =>
      val made = (operand.array(seed): @unchecked) match {
        case a: Array[Float]   => STen.fromFloatArray(a, operand.shape)
        case a: Array[Long]    => STen.fromLongArray(a, operand.shape)
        case a: Array[Boolean] => STen.fromBooleanArray(a, operand.shape)
      }
      made.castToType(operand.dtype)
    }
    new Work(row.wickBody.get(operands), () => { scope.release(); Wick.trim() })
  }

  private def byDjl(row: Row, threads: Int): Work = {
    val manager = NDManager.newBaseManager(Device.cpu())
    JniUtils.setNumThreads(threads)
    val operands: Seq[NDArray] = row.operands.zipWithIndex.map { case (operand, seed) =>
      val shape = new Shape(operand.shape: _*)
      val made = (operand.array(seed): @unchecked) match {
        case a: Array[Float]   => manager.create(a, shape)
        case a: Array[Long]    => manager.create(a, shape)
        case a: Array[Boolean] => manager.create(a, shape)
      }
      made.toType(djlType(operand.dtype), false)
    }
    new Work(row.djlBody.get(manager, operands), () => manager.close())
  }

  def djlType(dtype: DType): DataType = dtype match {
    case DType.U8   => DataType.UINT8
    case DType.I8   => DataType.INT8
    case DType.I16  => DataType.INT16
    case DType.I32  => DataType.INT32
    case DType.I64  => DataType.INT64
    case DType.F16  => DataType.FLOAT16
    case DType.F32  => DataType.FLOAT32
    case DType.F64  => DataType.FLOAT64
    case DType.Bool => DataType.BOOLEAN
    case DType.BF16 => DataType.BFLOAT16
  }
}
