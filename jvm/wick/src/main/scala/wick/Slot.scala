package wick

/** A box inside a tensor: its shape, and where its first corner lies, both outermost first. See
  * `STen.catInto`.
  */
final case class Slot(shape: Seq[Long], coords: Seq[Long]) {

  /** Whether some element belongs to both; both lie in one tensor. */
  private[wick] def overlaps(other: Slot): Boolean = {
    def crosses(i: Int): Boolean =
      coords(i) < other.coords(i) + other.shape(i) && other.coords(i) < coords(i) + shape(i)
    !shape.contains(0L) && !other.shape.contains(0L) && shape.indices.forall(crosses)
  }
}
