package wick.bench

/** All families in the order of the table. */
object Families {

  val all: Seq[Family] = Seq(
    Small,
    Arithmetic,
    Elementary,
    Reductions,
    Shaping,
    Indexing,
    Sorting,
    Casts,
    JvmArrays,
    Products,
    Neural,
    Decompositions,
    Randoms,
    Halves
  )

  /** By which a worker knows them. */
  val rows: Seq[Row] = all.flatMap(_.rows) ++ Growth.rows

  def index(row: Row): Int = rows.indexWhere(_ eq row)
}
