package wick.bench

import Work.{flags, numbers, unknown}

/** The works as a Scala programmer would write them over arrays, one thread. */
object LoopPeer extends Peer {

  private def map(a: Array[Float])(f: Float => Float): Work = () => {
    val out = new Array[Float](a.length)
    var i = 0
    while (i < a.length) { out(i) = f(a(i)); i += 1 }
    out
  }

  def apply(op: String, n: Int): Work = {
    lazy val a = numbers(n, 1)
    lazy val b = numbers(n, 2)
    lazy val mask = flags(n)
    lazy val (x, y) = (numbers(n * n, 1), numbers(n * n, 2))
    op match {
      case "shape" =>
        val t = a
        () => t.length
      case "add"                  => add(a, b)
      case "chain"                => chain(a, b)
      case "exp"                  => map(a)(v => math.exp(v.toDouble).toFloat)
      case "tanh"                 => map(a)(v => math.tanh(v.toDouble).toFloat)
      case "log"                  => map(a)(v => math.log(v.toDouble).toFloat)
      case "sigmoid"              => map(a)(v => (1 / (1 + math.exp(-v.toDouble))).toFloat)
      case "pow"                  => map(a)(v => math.pow(v.toDouble, 2.5).toFloat)
      case "where"                => where(mask, a, b)
      case "masked_select"        => select(a, mask)
      case "sum"                  => sum(a)
      case "argmax"               => argmax(a)
      case "softmax"              => softmax(x, n)
      case "mm"                   => product(x, y, n)
      case "transpose_copy"       => transpose(x, n)
      case "cat"                  => join(Array.tabulate(Work.Joined)(numbers(n, _)))
      case "copy_in" | "copy_out" =>
        val array = a
        () => array.clone
      case _ => unknown(op)
    }
  }

  private def add(a: Array[Float], b: Array[Float]): Work = () => {
    val out = new Array[Float](a.length)
    var i = 0
    while (i < a.length) { out(i) = a(i) + b(i); i += 1 }
    out
  }

  private def chain(a: Array[Float], b: Array[Float]): Work = () => {
    val out = new Array[Float](a.length)
    var i = 0
    while (i < a.length) { out(i) = (a(i) + b(i)) * b(i) - a(i); i += 1 }
    out
  }

  private def where(mask: Array[Boolean], a: Array[Float], b: Array[Float]): Work = () => {
    val out = new Array[Float](a.length)
    var i = 0
    while (i < a.length) { out(i) = if (mask(i)) a(i) else b(i); i += 1 }
    out
  }

  private def select(a: Array[Float], mask: Array[Boolean]): Work = () => {
    val found = new Array[Float](a.length)
    var (i, count) = (0, 0)
    while (i < a.length) {
      if (mask(i)) { found(count) = a(i); count += 1 }
      i += 1
    }
    java.util.Arrays.copyOf(found, count)
  }

  private def sum(a: Array[Float]): Work = () => {
    var (i, total) = (0, 0f)
    while (i < a.length) { total += a(i); i += 1 }
    total
  }

  private def argmax(a: Array[Float]): Work = () => {
    var (i, best) = (1, 0)
    while (i < a.length) {
      if (a(i) > a(best)) best = i
      i += 1
    }
    best
  }

  private def softmax(x: Array[Float], n: Int): Work = () => {
    val out = new Array[Float](x.length)
    var row = 0
    while (row < x.length) {
      var (j, greatest, total) = (row, Float.NegativeInfinity, 0f)
      while (j < row + n) { greatest = math.max(greatest, x(j)); j += 1 }
      j = row
      while (j < row + n) {
        out(j) = math.exp((x(j) - greatest).toDouble).toFloat
        total += out(j)
        j += 1
      }
      j = row
      while (j < row + n) { out(j) /= total; j += 1 }
      row += n
    }
    out
  }

  private def product(x: Array[Float], y: Array[Float], n: Int): Work = () => {
    val out = new Array[Float](n * n)
    var i = 0
    while (i < n) {
      var k = 0
      while (k < n) {
        val factor = x(i * n + k)
        var j = 0
        while (j < n) { out(i * n + j) += factor * y(k * n + j); j += 1 }
        k += 1
      }
      i += 1
    }
    out
  }

  private def transpose(x: Array[Float], n: Int): Work = () => {
    val out = new Array[Float](n * n)
    var i = 0
    while (i < n) {
      var j = 0
      while (j < n) { out(i * n + j) = x(j * n + i); j += 1 }
      i += 1
    }
    out
  }

  private def join(parts: Array[Array[Float]]): Work = () => {
    val out = new Array[Float](parts.map(_.length).sum)
    var at = 0
    for (part <- parts) {
      System.arraycopy(part, 0, out, at, part.length)
      at += part.length
    }
    out
  }
}
