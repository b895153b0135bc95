package wick
package ops

/** Functions of the [[STen]] companion: joining tensors. */
private[wick] trait ShapeFunctions {
}
