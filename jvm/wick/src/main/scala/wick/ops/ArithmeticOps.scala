package wick
package ops

/** Methods of [[STen]]: operators and elementwise operations with more than one operand. */
private[wick] trait ArithmeticOps { self: STen =>
}
