package wick

/** Methods of [[STen]]: matrix products. */
private[wick] trait MatmulOps { self: STen =>
}
