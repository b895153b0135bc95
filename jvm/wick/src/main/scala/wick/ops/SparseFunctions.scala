package wick

/** Functions of the companion: sparse tensors. */
private[wick] trait SparseFunctions {

  /** A sparse tensor of shape `dim`: `values(i)` at the coordinate `indices(_, i)`, summed where a
    * coordinate is there several times. libtorch: `sparse_coo_tensor`.
    *
    * `indices`, integers, has a row for each sparse dimension and is copied. `values` is shared; its
    * further dimensions are the dense ones. As in lamp the element type is that of `values`; of the
    * options the device counts.
    * {{{
    * Scope.root { implicit scope =>
    *   val at = STen.fromLongArray(Array(0L, 1L, 1L, 2L, 0L, 0L), List(2, 3))
    *   val s = STen.sparse_coo(at, STen.fromDoubleArray(Array(1d, 2d, 3d)), List(2, 3))
    *   assert(s.toDense.toDoubleArray.toList == List(0d, 0d, 1d, 5d, 0d, 0d))
    * }
    * }}}
    */
  def sparse_coo[S: Sc](
      indices: STen,
      values: STen,
      dim: Seq[Long],
      tensorOptions: STenOptions = STen.dOptions
  ): STen = {
    if (tensorOptions.isCuda) throw new DeviceException("sparse_coo: no CUDA backend is loaded")
    STen.own(Native.sparseCoo(indices.handle, values.handle, dim.toArray))
  }

  /** The gradient of `toDense`: `gradOutput` at the coordinates of a sparse `input`, coalesced; itself
    * where the input is dense. libtorch: `to_dense_backward`.
    */
  def to_dense_backward[S: Sc](gradOutput: STen, input: STen): STen =
    STen.own(Native.sparseMask(gradOutput.handle, input.handle), gradOutput, input)
}
