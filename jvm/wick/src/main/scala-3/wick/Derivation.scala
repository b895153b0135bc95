package wick

import scala.compiletime.{erasedValue, summonInline}
import scala.deriving.Mirror

/** Instances for case classes, enums and sealed families whose fields all have one; also by `derives`. */
private[wick] trait MovableDerivation {

  /** The derived instance. */
  inline given derived[A](using mirror: Mirror.Of[A]): Movable[A] = {
    val made = new DerivedMovable[A](mirror)
    given self: Movable[A] = made // what a field of the type itself finds
    made.parts = MovableDerivation.parts[mirror.MirroredElemTypes].toArray
    made
  }
}

/** The parts of derivation that are expanded where it is used. */
object MovableDerivation {

  /** The instances of a tuple of types. */
  inline def parts[T <: Tuple]: List[Movable[Any]] = inline erasedValue[T] match {
    case _: EmptyTuple => Nil
    case _: (h *: t)   => summonInline[Movable[h]].asInstanceOf[Movable[Any]] :: parts[t]
  }
}

/** A derived instance, public because derivation is expanded where it is used. */
final class DerivedMovable[A](mirror: Mirror) extends Movable[A] {

  /** The instances of a product's fields, or of a sum's members. */
  var parts: Array[Movable[Any]] = null

  // Which member of a sum a value is; negative for products.
  private def choose(value: A): Int = mirror match {
    case sum: Mirror.Sum => sum.ordinal(value.asInstanceOf[sum.MirroredMonoType])
    case _               => -1
  }

  def foreach(value: A)(f: STen => Unit): Unit = {
    val which = choose(value)
    if (which >= 0) parts(which).foreach(value)(f)
    else {
      val fields = value.asInstanceOf[Product]
      var i = 0
      while (i < parts.length) {
        val x = fields.productElement(i)
        if (x != null) parts(i).foreach(x)(f)
        i += 1
      }
    }
  }
}

/** Instances for case classes, enums and sealed families of which no field can hold a tensor. */
private[wick] trait EmptyDerivation {

  /** The derived instance. The proof is by name, so that a type may hold itself. */
  given derived[A](using
      mirror: Mirror.Of[A]
  )(using
      parts: => AllEmpty[mirror.MirroredElemTypes]
  ): EmptyMovable[A] = EmptyMovable.make[A]
}

/** A proof that no type of a tuple of types holds tensors. */
sealed trait AllEmpty[T <: Tuple]

/** Proofs, part by part. */
object AllEmpty {
  private[this] val proof = new AllEmpty[EmptyTuple] {}

  given none: AllEmpty[EmptyTuple] = proof

  given one[H, T <: Tuple](using h: EmptyMovable[H], t: AllEmpty[T]): AllEmpty[H *: T] =
    proof.asInstanceOf[AllEmpty[H *: T]]
}
