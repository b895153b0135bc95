package wick

/** Functions of the [[STen]] companion: tensors from nothing and from JVM arrays. */
private[wick] trait CreationFunctions {
}
