package wick

import scala.annotation.implicitNotFound
import scala.util.Try

/** Says that values of a type hold no tensor at all: only such values leave a root scope. */
@implicitNotFound(
  "A value of type ${A} cannot leave a root Scope: it holds tensors, or may hide some, and a root has no " +
    "parent to own them. Return plain values (say toDoubleArray), or use Scope { } inside the root."
)
sealed class EmptyMovable[A] private[wick] () extends Movable[A] {
  final def foreach(value: A)(f: STen => Unit): Unit = ()
  override final def isEmpty: Boolean = true
}

/** Instances for what holds no tensor. */
object EmptyMovable extends EmptyValues {
  private[this] val shared = new EmptyMovable[Any]

  /** An instance by the caller's word. */
  def make[A]: EmptyMovable[A] = shared.asInstanceOf[EmptyMovable[A]]

  /** For blocks that always throw; before all others, since their type leaves the choice open. */
  implicit def nothing: EmptyMovable[Nothing] = make
}

/** Plain values. */
private[wick] trait EmptyValues extends EmptyContainers {
  import EmptyMovable.make

  implicit def unit: EmptyMovable[Unit] = make
  implicit def string: EmptyMovable[String] = make
  implicit def boolean: EmptyMovable[Boolean] = make
  implicit def byte: EmptyMovable[Byte] = make
  implicit def short: EmptyMovable[Short] = make
  implicit def int: EmptyMovable[Int] = make
  implicit def long: EmptyMovable[Long] = make
  implicit def float: EmptyMovable[Float] = make
  implicit def double: EmptyMovable[Double] = make
  implicit def char: EmptyMovable[Char] = make
  implicit def bigInt: EmptyMovable[BigInt] = make
  implicit def bigDecimal: EmptyMovable[BigDecimal] = make
  implicit def symbol: EmptyMovable[Symbol] = make
  implicit def range: EmptyMovable[Range] = make
  implicit def nil: EmptyMovable[Nil.type] = make
  implicit def none: EmptyMovable[None.type] = make
  implicit def uuid: EmptyMovable[java.util.UUID] = make
  implicit def path: EmptyMovable[java.nio.file.Path] = make
  implicit def instant: EmptyMovable[java.time.Instant] = make
  implicit def javaDuration: EmptyMovable[java.time.Duration] = make
  implicit def duration: EmptyMovable[scala.concurrent.duration.FiniteDuration] = make
  implicit def javaEnum[E <: java.lang.Enum[E]]: EmptyMovable[E] = make
  implicit def enumeration[E <: Enumeration#Value]: EmptyMovable[E] = make
  implicit def dtype[D <: DType]: EmptyMovable[D] = make
  implicit def device[D <: Device]: EmptyMovable[D] = make
  implicit def options: EmptyMovable[STenOptions] = make
  implicit def memory: EmptyMovable[Memory] = make
}

/** Containers of what holds no tensor. */
@scala.annotation.nowarn
private[wick] trait EmptyContainers extends EmptyTuples {
  implicit def option[O[x] <: Option[x], A](implicit a: EmptyMovable[A]): EmptyMovable[O[A]] =
    EmptyMovable.make
  implicit def either[A, B](implicit
      a: EmptyMovable[A],
      b: EmptyMovable[B]
  ): EmptyMovable[Either[A, B]] = EmptyMovable.make
  implicit def tried[A](implicit a: EmptyMovable[A]): EmptyMovable[Try[A]] = EmptyMovable.make
  implicit def array[A](implicit a: EmptyMovable[A]): EmptyMovable[Array[A]] = EmptyMovable.make
  implicit def seq[C[x] <: scala.collection.Seq[x], A](implicit
      a: EmptyMovable[A]
  ): EmptyMovable[C[A]] = EmptyMovable.make
  implicit def set[C[x] <: scala.collection.Set[x], A](implicit
      a: EmptyMovable[A]
  ): EmptyMovable[C[A]] = EmptyMovable.make
  implicit def map[C[k, v] <: scala.collection.Map[k, v], K, V](implicit
      k: EmptyMovable[K],
      v: EmptyMovable[V]
  ): EmptyMovable[C[K, V]] = EmptyMovable.make
}
