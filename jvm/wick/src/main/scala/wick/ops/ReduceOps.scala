package wick
package ops

/** Methods of [[STen]]: reductions, softmax, cumulative operations. */
private[wick] trait ReduceOps { self: STen =>
}
