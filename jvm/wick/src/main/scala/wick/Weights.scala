package wick

import java.util.concurrent.ConcurrentHashMap

/** Something that is made of a weight once and used many times: a transposed, packed or cast copy.
  *
  * @param id
  *   tells transforms apart: two of one id give the same result for the same weight
  */
abstract class WeightTransform(val id: String) {

  /** The transformed weight, a new tensor. */
  def apply(weight: STen)(implicit scope: Scope): STen

  /** This transform, then another one; what lies between them is freed as soon as it is used. */
  final def andThen(next: WeightTransform): WeightTransform = new WeightTransform.Chain(this, next)
}

object WeightTransform {

  /** A transform by a function. */
  def apply(id: String)(f: Scope => STen => STen): WeightTransform = new WeightTransform(id) {
    def apply(weight: STen)(implicit scope: Scope): STen = f(scope)(weight)
  }

  private[wick] final class Chain(val first: WeightTransform, val second: WeightTransform)
      extends WeightTransform(s"${first.id} > ${second.id}") {
    def apply(weight: STen)(implicit scope: Scope): STen =
      Scope(implicit scope => second(first(weight)))
  }
}

/** Transformed weights, shared by all who need them: each transform runs once for a weight, however many
  * threads ask, and again only after the weight was written, through whichever alias of it.
  *
  * {{{
  * val weights = new WeightsManager
  * weights.manage(w)
  * val packed = weights.acquire(w, transpose)   // belongs to the scope at hand
  * weights.release(w, transpose)                // the last release frees the manager's own
  * }}}
  *
  * A weight that is not managed, and a release without an acquire, are `IllegalStateException`s. The
  * manager holds no weight; what it made of one that is closed goes with `trim` or `close`.
  */
final class WeightsManager extends AutoCloseable {
  import WeightsManager._

  private[this] val managed = ConcurrentHashMap.newKeySet[Place]()
  private[this] val entries = new ConcurrentHashMap[(Place, String), Entry]
  private[this] val scope = Scope.named("weights").free

  /** Makes the manager know a weight; again does nothing. */
  def manage(weight: STen): Unit = {
    managed.add(placeOf(weight)._1)
    ()
  }

  /** The transformed weight. The transform runs where it did not yet, or where the weight was written
    * since; the manager keeps its result until it was released as often as acquired.
    */
  def acquire(weight: STen, transform: WeightTransform)(implicit scope: Scope): STen =
    entry(weight, transform).use(weight, transform)

  /** As `acquire`, without a reference of its own: the result's next user may find it gone. */
  def run(weight: STen, transform: WeightTransform)(implicit scope: Scope): STen = {
    val shared = entry(weight, transform)
    try shared.use(weight, transform)
    finally drop(weight, transform, shared)
  }

  /** Gives a reference back; with the last one the manager's result is freed. */
  def release(weight: STen, transform: WeightTransform): Unit = {
    val shared = entries.get((placeOf(weight)._1, transform.id))
    if (shared == null) throw state(s"release: ${transform.id} was not acquired for this weight")
    drop(weight, transform, shared)
  }

  /** How many references there are to a result; 0 where there is none. */
  def references(weight: STen, transform: WeightTransform): Int = {
    val shared = entries.get((placeOf(weight)._1, transform.id))
    if (shared == null) 0 else shared.count
  }

  /** Frees all results; a later acquire transforms anew. */
  def trim(): Unit = entries.values.forEach(_.clear())

  /** Frees everything. Later calls do nothing; other calls are `IllegalStateException`s. */
  def close(): Unit = scope.release()

  private def drop(weight: STen, transform: WeightTransform, shared: Entry): Unit =
    if (shared.release()) {
      entries.remove((placeOf(weight)._1, transform.id), shared)
      ()
    }

  private def entry(weight: STen, transform: WeightTransform): Entry = {
    val place = placeOf(weight)._1
    if (scope.isClosed) throw state("the weights manager is closed")
    if (!managed.contains(place)) throw state(s"acquire: ${transform.id} of a weight that is not managed")
    entries.computeIfAbsent((place, transform.id), _ => new Entry(scope))
  }
}

private[wick] object WeightsManager {

  private def state(text: String) = new IllegalStateException(text)

  /** A storage and a view of it: aliases of one weight are the same place. */
  final case class Place(
      storage: Long,
      offset: Long,
      shape: Seq[Long],
      strides: Seq[Long],
      dtype: DType
  )

  /** The place, and how often its storage was written. */
  private def placeOf(t: STen): (Place, Long) = {
    val watch = new Array[Long](2)
    Native.storageWatch(t.handle, watch)
    (Place(watch(0), t.storageOffset, t.shape, t.strides, t.dtype), watch(1))
  }

  /** One result, made by whoever comes first. */
  final class Entry(owner: Scope) {
    private[this] var result: STen = null
    private[this] var writes = -1L
    private[this] var references = 0

    def use(weight: STen, transform: WeightTransform)(implicit scope: Scope): STen = synchronized {
      val now = placeOf(weight)._2
      if (result == null || writes != now) {
        val made = transform(weight)(owner)
        clear()
        result = made
        writes = now
      }
      references += 1
      result.alias
    }

    def count: Int = synchronized(references)

    /** True where that was the last reference. */
    def release(): Boolean = synchronized {
      if (references == 0) throw state("release: everything was released before")
      references -= 1
      if (references == 0) clear()
      references == 0
    }

    def clear(): Unit = synchronized {
      if (result != null) result.close()
      result = null
    }
  }
}
