package wick

/** Functions of the [[STen]] companion: random tensors and the generator. */
private[wick] trait RandomFunctions {
}
