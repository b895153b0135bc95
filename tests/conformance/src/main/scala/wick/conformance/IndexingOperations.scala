package wick.conformance

import wick._

import Operations._

/** Selecting and writing by index and mask. */
object IndexingOperations {
  private def pair(p: (STen, STen)): Seq[Any] = Seq(p._1, p._2)
  private def triple(p: (STen, STen, STen)): Seq[Any] = Seq(p._1, p._2, p._3)

  private def sparse(c: Call)(implicit scope: Scope): STen =
    STen.sparse_coo(c.t(0), c.t(1), c.longs(2), c.t(1).options)

  val table: Map[String, Op] = Map(
    "index_select" -> one(c => implicit s => c.t(0).indexSelect(c.long(1), c.t(2))),
    "gather" -> one(c => implicit s => c.t(0).gather(c.long(1), c.t(2))),
    "masked_select" -> one(c => implicit s => c.t(0).maskedSelect(c.t(1))),
    "masked_fill" -> one(c =>
      implicit s =>
        if (c.isFloat(2)) c.t(0).maskFill(c.t(1), c.double(2)) else c.t(0).maskFill(c.t(1), c.long(2))
    ),
    "index_add" -> one(c => implicit s => c.t(0).indexAdd(c.long(1), c.t(2), c.t(3))),
    "scatter_add" -> one(c => implicit s => c.t(0).scatterAdd(c.long(1), c.t(2), c.t(3))),
    "take" -> one(c => implicit s => c.t(0).take(c.t(1))),
    "put" -> one(c => implicit s => c.t(0).put(c.t(1), c.t(2), c.bool(3))),
    "index_copy" -> one(c => implicit s => c.t(0).indexCopy(c.int(1), c.t(2), c.t(3))),
    "index_fill" -> one(c =>
      implicit s =>
        if (c.isFloat(3)) c.t(0).indexFill(c.long(1), c.t(2), c.double(3))
        else c.t(0).indexFill(c.long(1), c.t(2), c.long(3))
    ),
    "scatter.src" -> one(c => implicit s => c.t(0).scatter(c.long(1), c.t(2), c.t(3))),
    "scatter.value" -> one(c =>
      implicit s =>
        if (c.isFloat(3)) c.t(0).scatter(c.long(1), c.t(2), c.double(3))
        else c.t(0).scatter(c.long(1), c.t(2), c.long(3))
    ),
    "masked_scatter" -> one(c => implicit s => c.t(0).maskedScatter(c.t(1), c.t(2))),
    "index" -> one(c => implicit s => c.t(0).index(c.tensors(1): _*)),
    "index_put" -> one(c =>
      implicit s =>
        c.t(0).indexPut(c.tensors(1).init.toList, c.tensors(1).last, c.bool(c.last))
    ),
    "nonzero" -> (c => c.t(0).where(c.scope)),
    "narrow.Tensor" -> one(c => implicit s => c.t(0).narrow(c.int(1), c.t(2), c.long(3))),
    "equal" -> (c => Seq(c.t(0).equalDeep(c.t(1)))),
    "one_hot" -> one(c => implicit s => c.t(0).oneHot(c.int(1))),
    "sort" -> (c => pair(c.t(0).sort(c.int(1), c.bool(2))(c.scope))),
    "argsort" -> one(c => implicit s => c.t(0).argsort(c.bool(3), c.int(1), c.bool(2))),
    "topk" -> (c => pair(c.t(0).topk(c.int(1), c.int(2), c.bool(3), c.bool(4))(c.scope))),
    "unique" -> (c => triple(c.t(0).unique(true, c.bool(1), c.bool(2))(c.scope))),
    "unique_dim" -> (c => triple(c.t(0).unique(c.int(1), true, c.bool(2), c.bool(3))(c.scope))),
    "unique_consecutive" -> (c => triple(c.t(0).uniqueConsecutive(c.int(1), c.bool(2), c.bool(3))(c.scope))),
    "bincount" -> one(c => implicit s => c.t(0).bincount(c.option(1), c.int(2))),
    "repeat_interleave.Tensor" -> one(c => implicit s => c.t(0).repeatInterleave(c.t(1), c.int(2))),
    "repeat_interleave.int" -> one(c => implicit s => c.t(0).repeatInterleave(c.long(1), c.int(2))),
    "repeat_interleave.counts" -> one(c => implicit s => c.t(0).repeatInterleave),
    "sparse_to_dense" -> one(c => implicit s => sparse(c).toDense),
    "sparse_coalesce" -> (c => {
      implicit val scope: Scope = c.scope
      val coalesced = sparse(c).coalesce
      Seq(coalesced.indices, coalesced.values)
    }),
    "sparse_mm" -> one(c => implicit s => sparse(c).mm(c.t(3))),
    "cartesian_prod" -> one(c => implicit s => STen.cartesianProduct(c.tensors().toList))
  )
}
