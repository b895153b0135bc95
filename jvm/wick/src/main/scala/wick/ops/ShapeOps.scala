package wick

/** Methods of [[STen]]: views and rearrangements. */
private[wick] trait ShapeOps { self: STen =>
}
