package wick
package ops

/** Methods of [[STen]]: unary elementwise operations. */
private[wick] trait ElementwiseOps { self: STen =>
}
