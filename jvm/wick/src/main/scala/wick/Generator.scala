package wick

/** A sequence of random numbers and the place that was reached in it.
  *
  * The sequence of a seed is Philox4x32-10's. A draw of `n` elements takes `ceil(n / 32)` steps of
  * it, whatever their type, and its element `i` depends on seed, place and `i` alone: not on the
  * number of threads or the processor. Seed and place are all there is to a generator's state, so
  * saving and going on elsewhere are exact:
  * {{{
  * Scope.root { implicit scope =>
  *   val generator = Generator(42)
  *   val a = STen.randn(List(3), STenOptions.f, generator)
  *   val state = generator.state
  *   val b = STen.randn(List(3), STenOptions.f, generator)
  *   generator.restore(state)
  *   val again = STen.randn(List(3), STenOptions.f, generator)
  *   assert(b.toFloatArray.sameElements(again.toFloatArray))
  * }
  * }}}
  * A generator may be used from several threads; each draw then gets a place of its own. For numbers
  * that do not depend on which thread comes first, give each task its own by [[split]].
  */
sealed abstract class Generator {

  /** Seed and place. */
  def state: Generator.State

  /** Goes on from a state. */
  def restore(state: Generator.State): Unit

  /** The seed of the sequence. */
  def seed: Long = state.seed

  /** Starts the sequence of a seed. */
  def manualSeed(seed: Long): Unit = restore(Generator.State(seed, 0L))

  /** A generator with a sequence of its own, which only this one's state decides; takes one step. */
  def split(): Generator = Generator(draw(1)(Native.splitGenerator(_, _, _)))

  /** As many generators with sequences of their own. */
  def split(n: Int): Seq[Generator] = Vector.fill(n)(split())

  /** Runs a native method on the place of the next `n` elements; one that throws takes no steps. */
  private[wick] def draw[A](n: Long)(native: (Boolean, Long, Long) => A): A

  override def toString: String = s"Generator($state)"
}

/** Makes generators. */
object Generator {

  /** All there is to a generator: the seed and how many steps were taken. */
  final case class State(seed: Long, offset: Long)

  /** At the start of a seed's sequence. */
  def apply(seed: Long): Generator = new Own(State(seed, 0L))

  /** At a saved place. */
  def apply(state: State): Generator = new Own(state)

  /** The one that is used where none is given. Its seed is 0 until it is set. */
  val default: Generator = Default

  private def steps(n: Long): Long = n / 32 + (if (n % 32 != 0) 1 else 0)

  private final class Own(private[this] var now: State) extends Generator {
    def state: State = synchronized(now)
    def restore(state: State): Unit = synchronized { now = state }

    private[wick] def draw[A](n: Long)(native: (Boolean, Long, Long) => A): A = {
      val (from, to) = synchronized {
        val from = now
        now = from.copy(offset = from.offset + steps(n))
        (from, now)
      }
      try native(true, from.seed, from.offset)
      catch {
        case t: Throwable =>
          // Unless another thread has drawn meanwhile.
          synchronized { if (now eq to) now = from }
          throw t
      }
    }
  }

  private object Default extends Generator {
    def state: State = {
      val out = new Array[Long](2)
      Native.generatorState(out)
      State(out(0), out(1))
    }

    def restore(state: State): Unit = Native.setGeneratorState(state.seed, state.offset)

    private[wick] def draw[A](n: Long)(native: (Boolean, Long, Long) => A): A = native(false, 0L, 0L)
  }
}
