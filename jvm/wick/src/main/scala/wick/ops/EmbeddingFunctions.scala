package wick

import EmbeddingFunctions._
import NeuralCalls.one

/** Functions of the [[STen]] companion: rows of a table by index. */
private[wick] trait EmbeddingFunctions {

  /** The row of `weight` that each index names: the shape of the indices, then a row's. `paddingIdx`
    * names the row that takes no gradient and changes nothing here.
    */
  def embedding[S: Sc](weight: STen, indices: STen, paddingIdx: Long = -1L): STen =
    one(lookup, Array(weight.handle, indices.handle), Array(paddingIdx))

  /** Gradient of [[embedding]] for its `numWeights` rows, summed in the order of the indices. The row
    * `paddingIdx` takes none; `scaleGradByFreq` divides each row's by how often it was named.
    */
  def embedding_dense_backward[S: Sc](
      gradOutput: STen,
      indices: STen,
      numWeights: Long,
      paddingIdx: Long,
      scaleGradByFreq: Boolean
  ): STen =
    one(
      lookupBackward,
      Array(gradOutput.handle, indices.handle),
      Array(numWeights, paddingIdx, NeuralCalls.flag(scaleGradByFreq))
    )
}

/** Codes of the embedding. */
private[wick] object EmbeddingFunctions {
  val lookup: Int = NeuralCalls.code("embedding")
  val lookupBackward: Int = NeuralCalls.code("embedding_dense_backward")
}
