package wick

/** Methods of [[STen]]: selecting and writing by index and mask. */
private[wick] trait IndexOps { self: STen =>
}
