package wick
package ops

/** Functions of the [[STen]] companion: elementwise operations into a given tensor. */
private[wick] trait ArithmeticFunctions {
}
