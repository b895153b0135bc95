package wick.conformance

import wick._

/** The named comparisons of the vectors' README: where more than one answer is right. */
object Checks {

  private def numbers(file: SafeTensors, e: Expected): Numbers = e match {
    case ExpectedTensor(key, _, _) => Tensors.numbers(file.tensors(key))
    case other                     => sys.error(s"no tensor: $other")
  }

  private def longs(n: Numbers): Array[Long] = n match {
    case Exact(v)       => v
    case Approximate(v) => v.map(_.toLong)
  }

  /** The dimension of a case that selects along one. */
  private def dim(c: Case, rank: Int): Int = {
    val at = if (c.op == "topk") 2 else 1
    val d = c.args.lift(at).collect { case IntArg(v) => v.toInt }.getOrElse(0)
    if (d < 0) d + math.max(rank, 1) else d
  }

  /** The input's elements at indices along a dimension; a missing dimension counts as kept. */
  private def gather(input: STen, d: Int, indices: Numbers, shape: Seq[Long]): Numbers = {
    val all = Tensors.numbers(input)
    val index = longs(indices)
    val full = if (shape.size < input.shape.size) shape.take(d) ++ Seq(1L) ++ shape.drop(d) else shape
    val strides = input.shape.scanRight(1L)(_ * _).tail
    val places = index.indices.map { k =>
      var left = k.toLong
      var at = 0L
      for (axis <- full.indices.reverse) {
        val i = left % full(axis)
        left /= full(axis)
        at += (if (axis == d) index(k) else i) * strides(axis)
      }
      if (full.isEmpty) 0 else at.toInt
    }
    all match {
      case Exact(v)       => Exact(places.map(v(_)).toArray)
      case Approximate(v) => Approximate(places.map(v(_)).toArray)
    }
  }

  /** Values as usual; the indices must lead to the values, whichever of several equal ones. */
  def indexOfValue(c: Case, file: SafeTensors, call: Call, got: Seq[Any], want: Seq[Expected]): Option[String] = {
    val Seq(values: STen, indices: STen) = got: @unchecked
    val expected = numbers(file, want.head)
    Compare.close(Tensors.numbers(values), expected, c.rtol, c.atol).orElse {
      val input = call.t(0)
      val led = gather(input, dim(c, input.shape.size), Tensors.numbers(indices), indices.shape)
      Compare.close(led, expected, c.rtol, c.atol).map(s => s"at the indices: $s")
    }
  }

  /** An index whose element equals that at the expected index. */
  def argExtreme(c: Case, file: SafeTensors, call: Call, got: Seq[Any], want: Seq[Expected]): Option[String] = {
    val index = got.head.asInstanceOf[STen]
    val input = call.t(0)
    val d = dim(c, input.shape.size)
    val at = (n: Numbers) => gather(input, d, n, index.shape)
    Compare.close(at(Tensors.numbers(index)), at(numbers(file, want.head)), 0.0, 0.0)
  }
}
