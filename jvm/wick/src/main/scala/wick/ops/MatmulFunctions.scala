package wick

/** Functions of the [[STen]] companion: matrix products into a given tensor. */
private[wick] trait MatmulFunctions {
}
