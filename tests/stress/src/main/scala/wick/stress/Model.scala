package wick.stress

/** What a tensor should hold: small whole numbers in row-major order, exact in every element type. */
final class Model(val shape: List[Long], val data: Array[Double]) {
  private val sizes = shape.map(_.toInt).toArray

  def rank: Int = sizes.length
  def numel: Int = data.length
  def size(d: Int): Int = sizes(d)

  def apply(at: Array[Int]): Double = {
    var place = 0
    var d = 0
    while (d < sizes.length) { place = place * sizes(d) + at(d); d += 1 }
    data(place)
  }

  def map(f: Double => Double): Model = new Model(shape, data.map(f))

  /** Element by element, shapes broadcast. */
  def zip(other: Model)(f: (Double, Double) => Double): Option[Model] =
    Model.broadcast(shape, other.shape).map { to =>
      Model.tabulate(to)(at => f(this(back(at)), other(other.back(at))))
    }

  /** The place here that a place of a shape this one broadcasts to stands for. */
  private def back(at: Array[Int]): Array[Int] = {
    val skip = at.length - rank
    Array.tabulate(rank)(d => if (sizes(d) == 1) 0 else at(d + skip))
  }

  def expand(to: List[Long]): Model = Model.tabulate(to)(at => this(back(at)))

  def transpose(a: Int, b: Int): Model = {
    val to = shape.toArray
    to(a) = shape(b)
    to(b) = shape(a)
    Model.tabulate(to.toList) { at =>
      val from = at.clone
      from(a) = at(b)
      from(b) = at(a)
      this(from)
    }
  }

  /** The slices of a dimension that `places` names. */
  def slices(d: Int, places: Seq[Int]): Model =
    Model.tabulate(shape.updated(d, places.size.toLong))(at => this(at.updated(d, places(at(d)))))

  def select(d: Int, index: Int): Model =
    Model.tabulate(shape.patch(d, Nil, 1))(at => this(at.patch(d, Array(index), 0)))

  def sum(d: Int): Model =
    Model.tabulate(shape.patch(d, Nil, 1)) { at =>
      var total = 0.0
      var i = 0
      while (i < sizes(d)) { total += this(at.patch(d, Array(i), 0)); i += 1 }
      total
    }

  def mm(other: Model): Model =
    Model.tabulate(List(shape.head, other.shape(1))) { at =>
      var total = 0.0
      var k = 0
      while (k < size(1)) { total += this(Array(at(0), k)) * other(Array(k, at(1))); k += 1 }
      total
    }

  def sameAs(values: Array[Double]): Boolean = java.util.Arrays.equals(data.map(_ + 0.0), values.map(_ + 0.0))

  /** Whether products and sums of all values stay exact in f32. */
  def isSmall: Boolean = {
    val most = data.foldLeft(0.0)((m, x) => math.max(m, math.abs(x)))
    most <= 1000 && most * data.length <= 8e6
  }

  override def toString: String = s"${shape.mkString("[", ", ", "]")} ${data.take(12).mkString(" ")}"
}

object Model {
  def tabulate(shape: List[Long])(f: Array[Int] => Double): Model = {
    val sizes = shape.map(_.toInt).toArray
    val data = new Array[Double](sizes.product)
    val at = new Array[Int](sizes.length)
    var k = 0
    while (k < data.length) {
      data(k) = f(at)
      var d = sizes.length - 1
      while (d >= 0) {
        at(d) += 1
        if (at(d) < sizes(d) || d == 0) d = -1
        else { at(d) = 0; d -= 1 }
      }
      k += 1
    }
    new Model(shape, data)
  }

  def broadcast(a: List[Long], b: List[Long]): Option[List[Long]] = {
    val rank = math.max(a.size, b.size)
    val pairs = a.reverse.padTo(rank, 1L).zip(b.reverse.padTo(rank, 1L)).reverse
    if (pairs.exists { case (x, y) => x != y && x != 1 && y != 1 }) None
    else Some(pairs.map { case (x, y) => if (x == 1) y else x })
  }
}
