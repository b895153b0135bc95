package wick
package ops

/** Methods of [[STen]]: matrix products. */
private[wick] trait MatmulOps { self: STen =>
}
