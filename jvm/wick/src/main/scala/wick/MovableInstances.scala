package wick

import scala.util.{Success, Try}

/** Tensors themselves: tried first. */
private[wick] trait MovableInstances extends MovableContainers {

  /** A tensor holds itself. */
  implicit val sten: Movable[STen] = new Movable[STen] {
    def foreach(value: STen)(f: STen => Unit): Unit = f(value)
  }
}

/** What holds no tensor moves none; tried after containers and before derivation. */
private[wick] trait MovableFromEmpty extends MovableDerivation {

  /** An empty instance is one. */
  implicit def fromEmpty[A](implicit empty: EmptyMovable[A]): Movable[A] = empty
}

/** Containers of what may hold tensors. */
private[wick] trait MovableContainers extends TupleMovables {

  /** Options, and `Some` alone. */
  implicit def option[O[x] <: Option[x], A](implicit m: Movable[A]): Movable[O[A]] =
    new Movable[O[A]] {
      def foreach(value: O[A])(f: STen => Unit): Unit = if (value.isDefined) m.foreach(value.get)(f)
    }

  /** Either side. */
  implicit def either[A, B](implicit a: Movable[A], b: Movable[B]): Movable[Either[A, B]] =
    new Movable[Either[A, B]] {
      def foreach(value: Either[A, B])(f: STen => Unit): Unit = value match {
        case Left(x)  => a.foreach(x)(f)
        case Right(x) => b.foreach(x)(f)
      }
    }

  /** A success; an exception is taken to hold no tensor. */
  implicit def tried[A](implicit m: Movable[A]): Movable[Try[A]] = new Movable[Try[A]] {
    def foreach(value: Try[A])(f: STen => Unit): Unit = value match {
      case Success(x) => m.foreach(x)(f)
      case _          => ()
    }
  }

  /** Arrays. */
  implicit def array[A](implicit m: Movable[A]): Movable[Array[A]] =
    if (m.isEmpty) EmptyMovable.make
    else
      new Movable[Array[A]] {
        def foreach(value: Array[A])(f: STen => Unit): Unit = {
          var i = 0
          while (i < value.length) { moveOne(m, value(i), f); i += 1 }
        }
      }

  /** Lists, vectors, buffers and other sequences; a lazy one is evaluated, unless it cannot hold any. */
  implicit def seq[C[x] <: scala.collection.Seq[x], A](implicit m: Movable[A]): Movable[C[A]] =
    if (m.isEmpty) EmptyMovable.make
    else
      new Movable[C[A]] {
        def foreach(value: C[A])(f: STen => Unit): Unit = value.foreach(moveOne(m, _, f))
      }

  /** Sets. */
  implicit def set[C[x] <: scala.collection.Set[x], A](implicit m: Movable[A]): Movable[C[A]] =
    if (m.isEmpty) EmptyMovable.make
    else
      new Movable[C[A]] {
        def foreach(value: C[A])(f: STen => Unit): Unit = value.foreach(moveOne(m, _, f))
      }

  /** Maps: keys and values. */
  implicit def map[C[k, v] <: scala.collection.Map[k, v], K, V](implicit
      k: Movable[K],
      v: Movable[V]
  ): Movable[C[K, V]] =
    if (k.isEmpty && v.isEmpty) EmptyMovable.make
    else
      new Movable[C[K, V]] {
        def foreach(value: C[K, V])(f: STen => Unit): Unit = value.foreachEntry { (x, y) =>
          moveOne(k, x, f)
          moveOne(v, y, f)
        }
      }

  private def moveOne[A](m: Movable[A], value: A, f: STen => Unit): Unit =
    if (value != null) m.foreach(value)(f)
}
