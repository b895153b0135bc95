package wick

/** Functions of the [[STen]] companion: joining tensors. */
private[wick] trait ShapeFunctions {
}
