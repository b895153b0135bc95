package wick.bench

import wick.{Scope, STen}
import Work.{flags, numbers, unknown}

/** The works by wick: a scope each, which frees what was made in it. */
object WickPeer extends Peer {

  def apply(op: String, n: Int): Work = {
    implicit val scope: Scope = Scope.free
    def vector(seed: Int, n: Int): STen = STen.fromFloatArray(numbers(n, seed), List(n.toLong))
    def matrix(seed: Int): STen =
      STen.fromFloatArray(numbers(n * n, seed), List(n.toLong, n.toLong))
    lazy val a = vector(1, n)
    lazy val b = vector(2, n)
    lazy val images = shaped(1, Work.images(n))
    def kernel(size: Long): STen = shaped(2, Work.kernel(size))
    def heads(seed: Int): STen = shaped(seed, Work.heads(n))
    def shaped(seed: Int, shape: Seq[Long]): STen =
      STen.fromFloatArray(numbers(shape.product.toInt, seed), shape)
    lazy val mask = STen.fromBooleanArray(flags(n), List(n.toLong))
    lazy val (x, y) = (matrix(1), matrix(2))

    // Operands are made here, not in the measured loop.
    def unary(a: STen)(f: (STen, Scope) => STen): Work = () =>
      Scope.root { scope => f(a, scope); 0 }
    def binary(a: STen, b: STen)(f: (STen, STen, Scope) => STen): Work = () =>
      Scope.root { scope => f(a, b, scope); 0 }

    op match {
      case "shape" =>
        val t = a
        () => t.shape
      case "add"   => binary(a, b)((p, q, scope) => p.add(q)(scope))
      case "chain" =>
        val (p, q) = (a, b)
        () => Scope.root { implicit scope => p.add(q).mul(q).sub(p); 0 }
      case "exp"     => unary(a)((t, scope) => t.exp(scope))
      case "tanh"    => unary(a)((t, scope) => t.tanh(scope))
      case "log"     => unary(a)((t, scope) => t.log(scope))
      case "sigmoid" => unary(a)((t, scope) => t.sigmoid(scope))
      case "pow"     => unary(a)((t, scope) => t.pow(2.5)(scope))
      case "where"   =>
        val m = mask
        binary(a, b)((p, q, scope) => STen.where(m, p, q)(scope))
      case "masked_select"  => binary(a, mask)((t, m, scope) => t.maskedSelect(m)(scope))
      case "sum"            => unary(a)((t, scope) => t.sum(scope))
      case "argmax"         => unary(a)((t, scope) => t.argmax(scope))
      case "softmax"        => unary(x)((t, scope) => t.softmax(1)(scope))
      case "mm"             => binary(x, y)((p, q, scope) => p.mm(q)(scope))
      case "conv2d"         => binary(images, kernel(3))((p, q, scope) => STen.conv2d(p, q, None, List(1), List(1))(scope))
      case "conv2d_1x1"     => binary(images, kernel(1))((p, q, scope) => STen.conv2d(p, q)(scope))
      case "max_pool2d"     => unary(images)((t, scope) => STen.max_pool2d(t, List(2))(scope))
      case "attention"      =>
        val Seq(p, q, r) = Seq(1, 2, 3).map(heads(_)): @unchecked
        () => Scope.root { implicit scope => STen.scaled_dot_product_attention(p, q, r); 0 }
      case "layer_norm"     =>
        val w = vector(3, n)
        binary(x, w)((t, w, scope) => STen.layer_norm(t, List(n.toLong), Some(w), Some(w))(scope))
      case "batch_norm" =>
        val w = vector(3, Work.Channels)
        binary(images, w)((t, w, scope) => STen.batch_norm(t, Some(w), Some(w), Some(w), Some(w), false, 0.1, 1e-5)(scope))
      case "transpose_copy" => unary(x)((t, scope) => t.t(scope).contiguous(scope))
      case "cat"            =>
        val parts = List.tabulate(Work.Joined)(vector(_, n))
        () => Scope.root { implicit scope => STen.cat(parts, 0); 0 }
      case "copy_in" =>
        val (array, shape) = (numbers(n, 1), List(n.toLong))
        () => Scope.root { implicit scope => STen.fromFloatArray(array, shape); 0 }
      case "copy_out" =>
        val t = a
        () => t.toFloatArray
      case _ => unknown(op)
    }
  }
}
