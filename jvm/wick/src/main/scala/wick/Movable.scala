package wick

import scala.annotation.implicitNotFound

/** Finds the tensors in a value, so that [[Scope]] can move them to the parent when a block ends.
  *
  * There are instances for plain values, tensors, tuples, `Option`, `Either`, `Try`, arrays, strict
  * collections and maps of such, and for case classes and sealed families whose fields have one. A type
  * that may hide a tensor from the search (a function, `Any`, an iterator, a class that is no case
  * class) has none, and returning it from a scope does not compile; write one by [[Movable.by]]:
  * {{{
  * final class Layer(val weight: STen, val bias: STen)
  * implicit val layer: Movable[Layer] = Movable.by(l => (l.weight, l.bias))
  * }}}
  */
@implicitNotFound(
  "A value of type ${A} cannot leave a Scope: it may hide tensors that would be closed with it. " +
    "Return tensors, tuples, collections or case classes of them, or give an implicit wick.Movable[${A}]."
)
trait Movable[A] {

  /** Calls `f` with every tensor that `value` holds; the same one twice does no harm. */
  def foreach(value: A)(f: STen => Unit): Unit

  /** Whether no value of the type holds a tensor. */
  def isEmpty: Boolean = false

  /** The tensors that `value` holds. */
  final def list(value: A): List[STen] = {
    val found = List.newBuilder[STen]
    foreach(value)(t => { found += t; () })
    found.result()
  }
}

/** Instances and ways to make them. */
object Movable extends MovableInstances {

  /** The instance of `A`. */
  def apply[A](implicit movable: Movable[A]): Movable[A] = movable

  /** For blocks that always throw; before all others, since their type leaves the choice open. */
  implicit def nothing: Movable[Nothing] = EmptyMovable.nothing

  /** An instance for a type that holds no tensor, by the caller's word. */
  def empty[A]: EmptyMovable[A] = EmptyMovable.make[A]

  /** An instance from the list of a value's tensors. */
  def nonEmpty[A](extract: A => List[STen]): Movable[A] = new Movable[A] {
    def foreach(value: A)(f: STen => Unit): Unit = extract(value).foreach(f)
  }

  /** An instance by way of a type that has one. */
  def by[A, K](convert: A => K)(implicit movable: Movable[K]): Movable[A] = new Movable[A] {
    def foreach(value: A)(f: STen => Unit): Unit = movable.foreach(convert(value))(f)
  }

  /** Lets any movable value list its tensors. */
  implicit final class MovableSyntax[A](private val value: A) extends AnyVal {

    /** The tensors that the value holds. */
    def tensors(implicit movable: Movable[A]): List[STen] = movable.list(value)
  }
}
