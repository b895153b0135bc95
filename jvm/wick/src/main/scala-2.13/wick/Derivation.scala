package wick

import magnolia1.{CaseClass, Magnolia, SealedTrait}
import scala.language.experimental.macros

/** Instances for case classes and sealed families whose fields all have one. */
private[wick] trait MovableDerivation {

  /** What magnolia derives here. */
  type Typeclass[A] = Movable[A]

  /** All fields of a case class. */
  def join[A](ctx: CaseClass[Movable, A]): Movable[A] = new Movable[A] {
    def foreach(value: A)(f: STen => Unit): Unit = {
      val fields = ctx.parameters
      var i = 0
      while (i < fields.length) {
        val field = fields(i)
        val x = field.dereference(value)
        if (x != null) field.typeclass.foreach(x)(f)
        i += 1
      }
    }
  }

  /** The member of a sealed family that a value is. */
  def split[A](ctx: SealedTrait[Movable, A]): Movable[A] = new Movable[A] {
    def foreach(value: A)(f: STen => Unit): Unit =
      ctx.split(value)(sub => sub.typeclass.foreach(sub.cast(value))(f))
  }

  /** The derived instance. */
  implicit def derived[A]: Movable[A] = macro Magnolia.gen[A]
}

/** Instances for case classes and sealed families of which no field can hold a tensor. */
private[wick] trait EmptyDerivation {

  /** What magnolia derives here. */
  type Typeclass[A] = EmptyMovable[A]

  /** A case class whose fields hold no tensor. */
  def join[A](ctx: CaseClass[EmptyMovable, A]): EmptyMovable[A] = EmptyMovable.make

  /** A sealed family whose members hold no tensor. */
  def split[A](ctx: SealedTrait[EmptyMovable, A]): EmptyMovable[A] = EmptyMovable.make

  /** The derived instance. */
  implicit def derived[A]: EmptyMovable[A] = macro Magnolia.gen[A]
}
