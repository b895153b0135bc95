package wick.bench

/** Plain loops over arrays, one thread, as a Scala programmer would write them. */
object Loops {

  def unary(a: Array[Float])(f: Float => Float): () => Any = () => {
    val out = new Array[Float](a.length)
    var i = 0
    while (i < a.length) { out(i) = f(a(i)); i += 1 }
    out
  }

  def binary(a: Array[Float], b: Array[Float])(f: (Float, Float) => Float): () => Any = () => {
    val out = new Array[Float](a.length)
    var i = 0
    while (i < a.length) { out(i) = f(a(i), b(i)); i += 1 }
    out
  }

  def where(mask: Array[Boolean], a: Array[Float], b: Array[Float]): () => Any = () => {
    val out = new Array[Float](a.length)
    var i = 0
    while (i < a.length) { out(i) = if (mask(i)) a(i) else b(i); i += 1 }
    out
  }

  def select(a: Array[Float], mask: Array[Boolean]): () => Any = () => {
    val found = new Array[Float](a.length)
    var (i, count) = (0, 0)
    while (i < a.length) {
      if (mask(i)) { found(count) = a(i); count += 1 }
      i += 1
    }
    java.util.Arrays.copyOf(found, count)
  }

  def pick(a: Array[Float], index: Array[Long]): () => Any = () => {
    val out = new Array[Float](index.length)
    var i = 0
    while (i < index.length) { out(i) = a(index(i).toInt); i += 1 }
    out
  }

  def sum(a: Array[Float]): () => Any = () => {
    var (i, total) = (0, 0f)
    while (i < a.length) { total += a(i); i += 1 }
    total
  }

  def max(a: Array[Float]): () => Any = () => {
    var (i, greatest) = (1, a(0))
    while (i < a.length) { greatest = math.max(greatest, a(i)); i += 1 }
    greatest
  }

  def argmax(a: Array[Float]): () => Any = () => {
    var (i, best) = (1, 0)
    while (i < a.length) {
      if (a(i) > a(best)) best = i
      i += 1
    }
    best
  }

  def cumsum(a: Array[Float]): () => Any = () => {
    val out = new Array[Float](a.length)
    var (i, total) = (0, 0f)
    while (i < a.length) { total += a(i); out(i) = total; i += 1 }
    out
  }

  def softmax(x: Array[Float], n: Int): () => Any = () => {
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

  def product(x: Array[Float], y: Array[Float], n: Int): () => Any = () => {
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

  def transpose(x: Array[Float], n: Int): () => Any = () => {
    val out = new Array[Float](n * n)
    var i = 0
    while (i < n) {
      var j = 0
      while (j < n) { out(i * n + j) = x(j * n + i); j += 1 }
      i += 1
    }
    out
  }

  def join(parts: Seq[Array[Float]]): () => Any = () => {
    val out = new Array[Float](parts.map(_.length).sum)
    var at = 0
    for (part <- parts) {
      System.arraycopy(part, 0, out, at, part.length)
      at += part.length
    }
    out
  }

  def sorted(a: Array[Float]): () => Any = () => {
    val out = a.clone
    java.util.Arrays.sort(out)
    out
  }
}
