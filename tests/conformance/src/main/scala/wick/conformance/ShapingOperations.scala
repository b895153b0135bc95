package wick.conformance

import wick._

import Operations._

/** Views, rearrangements, joins, casts and creation. */
object ShapingOperations {
  val table: Map[String, Op] = Map(
    "arange" -> one(c => implicit s => STen.arange(c.double(0), c.double(1), c.double(2), c.options(3))),
    "arange_l" -> one(c => implicit s => STen.arange_l(c.long(0), c.long(1), c.long(2), c.options(3))),
    "linspace" -> one(c => implicit s => STen.linspace(c.double(0), c.double(1), c.long(2), c.options(3))),
    "eye" -> one(c => implicit s => STen.eye(c.int(0), c.int(1), c.options(2))),
    "cast" -> one(c => implicit s => c.t(0).castToType(c.dtype(1).scalarTypeByte)),
    "cat" -> one(c => implicit s => STen.cat(c.tensors(), c.long(c.last))),
    "stack" -> one(c => implicit s => STen.stack(c.tensors(), c.long(c.last))),
    "clone" -> one(c => implicit s => c.t(0).cloneTensor),
    "diag" -> one(c => implicit s => c.t(0).diag(c.long(1))),
    "diagonal" -> one(c => implicit s => c.t(0).diagonalView(c.int(1), c.int(2), c.int(3))),
    "expand" -> one(c => implicit s => c.t(0).expand(c.longs(1).toList)),
    "flatten" -> one(c => implicit s => c.t(0).flatten(c.long(1), c.long(2))),
    "flip" -> one(c => implicit s => c.t(0).flip(c.ints(1))),
    "movedim" -> one(c => implicit s => c.t(0).movedim(c.int(1), c.int(2))),
    "narrow" -> one(c => implicit s => c.t(0).narrow(c.int(1), c.long(2), c.long(3))),
    "permute" -> one(c => implicit s => c.t(0).permute(c.ints(1))),
    "repeat" -> one(c => implicit s => c.t(0).repeat(c.longs(1).toList)),
    "reshape" -> one(c => implicit s => c.t(0).reshape(c.longs(1): _*)),
    "roll" -> one(c => implicit s => c.t(0).roll(c.longs(1), c.ints(2))),
    "select" -> one(c => implicit s => c.t(0).select(c.long(1), c.long(2))),
    "slice" -> one(c => implicit s => c.t(0).slice(c.int(1), c.long(2), c.long(3), c.long(4))),
    "squeeze" -> one(c => implicit s => c.t(0).squeeze),
    "squeeze.dim" -> one(c => implicit s => c.t(0).squeeze(c.int(1))),
    "t" -> one(c => implicit s => c.t(0).t),
    "trace" -> one(c => implicit s => c.t(0).trace),
    "transpose" -> one(c => implicit s => c.t(0).transpose(c.int(1), c.int(2))),
    "tril" -> one(c => implicit s => c.t(0).tril(c.int(1))),
    "triu" -> one(c => implicit s => c.t(0).triu(c.int(1))),
    "unsqueeze" -> one(c => implicit s => c.t(0).unsqueeze(c.int(1))),
    "view" -> one(c => implicit s => c.t(0).view(c.longs(1): _*))
  )
}
