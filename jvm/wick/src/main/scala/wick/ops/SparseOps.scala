package wick

import SparseCalls.info

/** Methods of [[STen]]: sparse tensors, as coordinates and values of what is not zero.
  *
  * A coordinate may be there several times, and the element is the sum; `coalesce` makes it one. The
  * leading dimensions have coordinates, further ones may be dense: then a value is a slice.
  *
  * Sparse tensors add to sparse and to dense ones (which gives a dense one), multiply by numbers and
  * element by element, and are factors of `mm`, `matmul`, `mv` and `addmm`; `t`, `transpose`, `sum`,
  * `cloneTensor`, casts and the functions that are 0 at 0 know them. Every other operation throws an
  * `IllegalArgumentException` that says to call `toDense` first.
  */
private[wick] trait SparseOps { self: STen =>

  /** Each coordinate once and in order, with the sum of its values: integers wrap, truth values are
    * joined by "or". libtorch: `coalesce`.
    */
  def coalesce[S: Sc]: STen = STen.own(Native.sparse(SparseCalls.coalesce, handle, -1L), self)

  /** A copy of the coordinates of a coalesced tensor: i64, a row a sparse dimension. libtorch:
    * `indices`.
    */
  def indices[S: Sc]: STen = STen.own(Native.sparse(SparseCalls.indices, handle, -1L))

  /** The values of a coalesced tensor, in the order of the coordinates: a view, so that writes show in
    * the tensor. libtorch: `values`.
    */
  def values[S: Sc]: STen = STen.own(Native.sparse(SparseCalls.values, handle, -1L))

  /** All elements, zeros too; a dense tensor as it is. libtorch: `to_dense`. */
  def toDense[S: Sc]: STen = STen.own(Native.sparse(SparseCalls.toDense, handle, -1L), self)

  /** The elements that are not zero, coalesced; a sparse tensor as it is. libtorch: `to_sparse`. */
  def toSparse[S: Sc]: STen = STen.own(Native.sparse(SparseCalls.toSparse, handle, -1L), self)

  /** The slices over the first `sparseDim` dimensions that are not zero everywhere. libtorch:
    * `to_sparse`.
    */
  def toSparse[S: Sc](sparseDim: Int): STen =
    // -1 is the native's word for all of them.
    STen.own(Native.sparse(SparseCalls.toSparse, handle, if (sparseDim == -1) -2L else sparseDim.toLong), self)

  /** Whether the coordinates of a sparse tensor are in order and each is there once. */
  def isCoalesced: Boolean = info(self)(1) == 1L

  /** How many coordinates a sparse tensor has, each time one is there. libtorch: `_nnz`. */
  def nnz: Long = info(self)(0)

  /** How many leading dimensions of a sparse tensor have coordinates. libtorch: `sparse_dim`. */
  def sparseDim: Int = info(self)(2).toInt

  /** How many dimensions of a sparse tensor are those of its values. libtorch: `dense_dim`. */
  def denseDim: Int = dim - sparseDim
}
