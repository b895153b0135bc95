package wick

/** Functions of the [[STen]] companion: reductions into a given tensor. */
private[wick] trait ReduceFunctions {
}
