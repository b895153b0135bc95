package wick.conformance

import wick._

import Operations._

/** Matrix products and linear algebra. */
object LinalgOperations {

  private def pair(f: Call => Scope => (STen, STen)): Op = { c =>
    val (a, b) = f(c)(c.scope)
    Seq(a, b)
  }

  private def triple(f: Call => Scope => (STen, STen, STen)): Op = { c =>
    val (a, b, d) = f(c)(c.scope)
    Seq(a, b, d)
  }

  private val products: Map[String, Op] = Map(
    "mm" -> one(c => implicit s => c.t(0).mm(c.t(1))),
    "bmm" -> one(c => implicit s => c.t(0).bmm(c.t(1))),
    "matmul" -> one(c => implicit s => c.t(0).matmul(c.t(1))),
    "dot" -> one(c => implicit s => c.t(0).dot(c.t(1))),
    "outer" -> one(c => implicit s => c.t(0).outer(c.t(1))),
    "inner" -> one(c => implicit s => c.t(0).inner(c.t(1))),
    "addmm" -> one(c => implicit s => c.t(0).addmm(c.t(1), c.t(2), c.double(3), c.double(4))),
    "baddbmm" -> one(c => implicit s => c.t(0).baddbmm(c.t(1), c.t(2), c.double(3), c.double(4))),
    "tensordot" -> one(c => implicit s => c.t(0).tensordot(c.t(1), c.ints(2).toList, c.ints(3).toList)),
    "cross" -> one(c => implicit s => c.t(0).cross(c.t(1), c.int(2)))
  )

  private val systems: Map[String, Op] = Map(
    "linalg_det" -> one(c => implicit s => c.t(0).det),
    "linalg_slogdet" -> pair(c => implicit s => c.t(0).slogdet),
    "linalg_inv" -> one(c => implicit s => c.t(0).inv),
    "linalg_solve" -> one(c => implicit s => c.t(0).solve(c.t(1))),
    "linalg_cholesky" -> one(c => implicit s => c.t(0).cholesky(c.bool(1))),
    "cholesky_inverse" -> one(c => implicit s => c.t(0).choleskyInverse(c.bool(1))),
    "cholesky_solve" -> one(c => implicit s => c.t(0).choleskySolve(c.t(1), c.bool(2))),
    "triangular_solve" -> one(c =>
      implicit s => STen.triangularSolve(c.t(0), c.t(1), c.bool(2), c.bool(3), c.bool(4))
    ),
    "matrix_power" -> one(c => implicit s => c.t(0).matrixPower(c.int(1))),
    "linalg_tensorinv" -> one(c => implicit s => c.t(0).tensorinv(c.int(1))),
    "linalg_tensorsolve" -> one(c => implicit s => c.t(0).tensorsolve(c.t(1)))
  )

  private val decompositions: Map[String, Op] = Map(
    "linalg_eigvalsh" -> one(c => implicit s => c.t(0).eigvalsh(c.str(1))),
    "linalg_eigh" -> pair(c => implicit s => c.t(0).eigh(c.str(1))),
    "linalg_svd" -> triple(c => implicit s => c.t(0).svd(c.bool(1))),
    "linalg_qr" -> pair(c => implicit s => c.t(0).qr(c.str(1))),
    "linalg_cond" -> one(c => implicit s => c.t(0).cond(c.str(1))),
    "pinverse" -> one(c => implicit s => c.t(0).pinverse(c.double(1))),
    "linalg_matrix_rank" -> one(c => implicit s => c.t(0).matrixRank(hermitian = false)),
    "linalg_lstsq" -> one(c => implicit s => STen.lstsq(c.t(0), c.t(1))._1)
  )

  val table: Map[String, Op] = products ++ systems ++ decompositions
}
