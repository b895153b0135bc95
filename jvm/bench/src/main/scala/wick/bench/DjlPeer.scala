package wick.bench

import ai.djl.Device
import ai.djl.ndarray.types.Shape
import ai.djl.ndarray.{NDArray, NDArrays, NDList, NDManager}
import ai.djl.nn.Activation
import ai.djl.nn.convolutional.Conv2d
import ai.djl.nn.norm.{BatchNorm, LayerNorm}
import ai.djl.nn.pooling.Pool
import Work.{flags, numbers, unknown}

/** The works by DJL with its PyTorch engine; each result is closed, its fastest way to be freed. */
object DjlPeer extends Peer {

  def apply(op: String, n: Int): Work = {
    val manager = NDManager.newBaseManager(Device.cpu())
    def vector(seed: Int, n: Int): NDArray = manager.create(numbers(n, seed), new Shape(n.toLong))
    def matrix(seed: Int): NDArray =
      manager.create(numbers(n * n, seed), new Shape(n.toLong, n.toLong))
    lazy val a = vector(1, n)
    lazy val b = vector(2, n)
    lazy val images = shaped(1, Work.images(n))
    def kernel(size: Long): NDArray = shaped(2, Work.kernel(size))
    def heads(seed: Int): NDArray = shaped(seed, Work.heads(n))
    def shaped(seed: Int, shape: Seq[Long]): NDArray =
      manager.create(numbers(shape.product.toInt, seed), new Shape(shape: _*))
    lazy val mask = manager.create(flags(n), new Shape(n.toLong))
    lazy val (x, y) = (matrix(1), matrix(2))

    def unary(a: NDArray)(f: NDArray => NDArray): Work = () => { f(a).close(); 0 }
    def binary(a: NDArray, b: NDArray)(f: (NDArray, NDArray) => NDArray): Work =
      () => { f(a, b).close(); 0 }

    op match {
      case "shape" =>
        val t = a
        () => t.getShape
      case "add"   => binary(a, b)(_.add(_))
      case "chain" =>
        val (p, q) = (a, b)
        () => {
          val first = p.add(q)
          val second = first.mul(q)
          second.sub(p).close()
          second.close()
          first.close()
          0
        }
      case "exp"     => unary(a)(_.exp)
      case "tanh"    => unary(a)(_.tanh)
      case "log"     => unary(a)(_.log)
      case "sigmoid" => unary(a)(Activation.sigmoid(_))
      case "pow"     => unary(a)(_.pow(2.5f))
      case "where"   =>
        val m = mask
        binary(a, b)(NDArrays.where(m, _, _))
      case "masked_select"  => binary(a, mask)(_.booleanMask(_, 0))
      case "sum"            => unary(a)(_.sum())
      case "argmax"         => unary(a)(_.argMax())
      case "softmax"        => unary(x)(_.softmax(1))
      case "mm"             => binary(x, y)(_.matMul(_))
      case "conv2d" =>
        binary(images, kernel(3))(Conv2d.conv2d(_, _, null, new Shape(1, 1), new Shape(1, 1)).singletonOrThrow)
      case "conv2d_1x1" =>
        binary(images, kernel(1))(Conv2d.conv2d(_, _).singletonOrThrow)
      case "max_pool2d" => unary(images)(Pool.maxPool2d(_, new Shape(2, 2), new Shape(2, 2), new Shape(0, 0), false))
      case "attention"  =>
        // DJL has no call for it: the products and the softmax.
        val Seq(p, q, r) = Seq(1, 2, 3).map(heads(_)): @unchecked
        () => {
          val turned = q.swapAxes(1, 2)
          val scores = p.matMul(turned)
          val scaled = scores.mul(0.125f)
          val weights = scaled.softmax(2)
          weights.matMul(r).close()
          Seq(turned, scores, scaled, weights).foreach(_.close())
          0
        }
      case "layer_norm" =>
        val w = vector(3, n)
        binary(x, w)((t, w) => LayerNorm.layerNorm(t, new Shape(n.toLong), w, w, 1e-5f).singletonOrThrow)
      case "batch_norm" =>
        val w = vector(3, Work.Channels)
        binary(images, w)((t, w) =>
          BatchNorm.batchNorm(t, w, w, w, w, 1, 0.1f, 1e-5f, false).singletonOrThrow
        )
      case "transpose_copy" =>
        val t = x
        // A flat shape cannot be a view of transposed elements: it is copied.
        val flat = new Shape(n.toLong * n)
        () => {
          val turned = t.transpose()
          turned.reshape(flat).close()
          turned.close()
          0
        }
      case "cat" =>
        val parts = new NDList(Seq.tabulate(Work.Joined)(vector(_, n)): _*)
        () => { NDArrays.concat(parts, 0).close(); 0 }
      case "copy_in" =>
        val (array, shape) = (numbers(n, 1), new Shape(n.toLong))
        () => { manager.create(array, shape).close(); 0 }
      case "copy_out" =>
        val t = a
        () => t.toFloatArray
      case _ => unknown(op)
    }
  }
}
