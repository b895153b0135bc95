package wick

/** Methods of [[STen]]: reductions, softmax, cumulative operations. */
private[wick] trait ReduceOps { self: STen =>
}
