package wick

/** Functions of the [[STen]] companion: indexing into a given tensor, masks and where. */
private[wick] trait IndexFunctions {
}
