package wick

/** Methods of [[STen]]: between tensors and JVM arrays. */
private[wick] trait ArrayOps { self: STen =>
}
