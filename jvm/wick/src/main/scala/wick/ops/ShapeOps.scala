package wick
package ops

/** Methods of [[STen]]: views and rearrangements. */
private[wick] trait ShapeOps { self: STen =>
}
