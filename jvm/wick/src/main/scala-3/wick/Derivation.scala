package wick

import scala.compiletime.{erasedValue, summonInline}
import scala.deriving.Mirror

/** Instances for case classes, enums and sealed families whose fields all have one; also by `derives`. */
private[wick] trait MovableDerivation {

  /** The derived instance. */
  inline given derived[A](using mirror: Mirror.Of[A]): Movable[A] =
    new DerivedMovable[A] {
      // A field of the type itself finds this one.
      given self: Movable[A] = this
      lazy val parts: Array[Movable[Any]] = MovableDerivation.parts[mirror.MirroredElemTypes].toArray
      def choose(value: A): Int = inline mirror match {
        case sum: Mirror.SumOf[A] => sum.ordinal(value)
        case _                    => -1
      }
    }
}

private[wick] object MovableDerivation {

  /** The instances of a tuple of types. */
  inline def parts[T <: Tuple]: List[Movable[Any]] = inline erasedValue[T] match {
    case _: EmptyTuple => Nil
    case _: (h *: t)   => summonInline[Movable[h]].asInstanceOf[Movable[Any]] :: parts[t]
  }

  /** Compiles where every type of a tuple holds no tensor. */
  inline def allEmpty[T <: Tuple]: Unit = inline erasedValue[T] match {
    case _: EmptyTuple => ()
    case _: (h *: t) =>
      summonInline[EmptyMovable[h]]
      allEmpty[t]
  }
}

/** What derived instances share. */
private[wick] abstract class DerivedMovable[A] extends Movable[A] {

  /** The instances of a product's fields, or of a sum's members. */
  protected def parts: Array[Movable[Any]]

  /** Which member of a sum a value is; negative for products. */
  protected def choose(value: A): Int

  final def foreach(value: A)(f: STen => Unit): Unit = {
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

  /** The derived instance. */
  inline given derived[A](using mirror: Mirror.Of[A]): EmptyMovable[A] = {
    given self: EmptyMovable[A] = EmptyMovable.make[A]
    MovableDerivation.allEmpty[mirror.MirroredElemTypes]
    EmptyMovable.make[A]
  }
}
