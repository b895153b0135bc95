package wick

/** Functions of the [[STen]] companion: selection into given tensors, products of vectors, grids. */
private[wick] trait SortFunctions {

  /** As `self.topk`, into tensors of the results' shape and dtypes. */
  def topkOut(
      values: STen,
      indices: STen,
      self: STen,
      k: Int,
      dim: Int,
      largest: Boolean,
      sorted: Boolean
  ): Unit =
    Native.topk(self.handle, k.toLong, dim.toLong, largest, sorted, values.handle, indices.handle, null)

  /** All tuples with an element of each vector, one a row, the last varying fastest; of one vector that
    * vector. libtorch: `cartesian_prod`.
    */
  def cartesianProduct[S: Sc](list: List[STen]): STen =
    STen.own(Native.cartesianProduct(IndexCalls.handles(list)))

  /** Vectors stretched, as views, to the grid that they span: the i-th varies along dimension i.
    * libtorch: `meshgrid` with indexing `ij`.
    */
  def meshgrid[S: Sc](vectors: Seq[STen]): List[STen] = meshgrid(vectors, "ij")

  /** As `meshgrid`; with `indexing` `xy` the first two dimensions change places. */
  def meshgrid[S: Sc](vectors: Seq[STen], indexing: String): List[STen] = {
    val xy = indexing match {
      case "ij" => false
      case "xy" => true
      case _    =>
        throw new IllegalArgumentException(s"meshgrid: no indexing $indexing: expected ij or xy")
    }
    val results = new Array[Long](vectors.size)
    Native.meshgrid(IndexCalls.handles(vectors), xy, results)
    STen.ownAll(results).toList
  }

  /** The rows and the columns of the places on and below the diagonal `offset` of a matrix. libtorch:
    * `tril_indices`.
    */
  def trilIndices[S: Sc](rows: Long, columns: Long, offset: Long): STen =
    STen.own(Native.trianglePlaces(rows, columns, offset, false))

  /** The rows and the columns of the places on and above the diagonal `offset` of a matrix. libtorch:
    * `triu_indices`.
    */
  def triuIndices[S: Sc](rows: Long, columns: Long, offset: Long): STen =
    STen.own(Native.trianglePlaces(rows, columns, offset, true))
}
