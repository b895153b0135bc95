package wick.stress

import scala.collection.mutable.ArrayBuffer
import scala.reflect.ClassTag
import scala.util.Random

import wick._

/** One thread's moves. Its own tensors nobody else closes, so that there a refusal is a failure;
  * those of the world may be closed at any moment by anyone.
  */
final class Player(world: World, tally: Tally, random: Random, cap: Long) {
  private var own = Scope.free
  private val mine = ArrayBuffer.empty[Item]

  def play(end: Long): Unit =
    try {
      while (System.nanoTime < end) {
        if (mine.size < 4) makeOwn()
        else move()
        if (mine.size > 16 || random.nextInt(200) == 0) renew()
      }
    } catch {
      case t: Throwable => tally.failure("a thread ended", Some(t))
    } finally own.release()

  private def renew(): Unit = {
    own.release()
    mine.clear()
    own = Scope.free
  }

  // What may come of a call

  /** A call that must succeed, unless memory runs out or, where `closable`, something was closed. */
  private def good(name: String, closable: Boolean)(body: => Unit): Unit = {
    tally.calls.increment()
    try {
      body
      tally.passed.increment()
    } catch {
      case e: Throwable => judge(name, closable, e)
    }
  }

  private def judge(name: String, closable: Boolean, e: Throwable): Unit = e match {
    case e: OutOfNativeMemoryError                        => tally.refusal(e)
    case e: ClosedTensorException if closable             => tally.refusal(e)
    case e: IllegalStateException if closable && ended(e) => tally.refusal(e)
    case e                                                => tally.failure(name, Some(e))
  }

  private def ended(e: Throwable) =
    e.getMessage != null && Seq(
      "has ended",
      "it is closed",
      "pools are gone",
      "no pool in use"
    ).exists(e.getMessage.contains)

  /** A call that must be refused with an `E`. */
  private def refused[E <: Throwable](name: String, closable: Boolean)(body: => Any)(implicit
      tag: ClassTag[E]
  ): Unit = {
    tally.calls.increment()
    try {
      body
      tally.failure(s"$name: should have thrown a ${tag.runtimeClass.getSimpleName}")
    } catch {
      case e: E =>
        tally.refusal(e)
        if (e.getMessage == null || e.getMessage.isEmpty) tally.failure(s"$name: no message", Some(e))
        else tally.passed.increment()
      case e: Throwable => judge(name, closable, e)
    }
  }

  private def check(name: String, tensor: STen, model: Model): Unit = {
    tally.calls.increment()
    val values = Scope.root(implicit scope => tensor.castToDouble.toDoubleArray)
    if (tensor.shape != model.shape || !model.sameAs(values))
      throw new Wrong(s"$name: expected $model, got ${tensor.shape} ${values.take(12).mkString(" ")}")
  }

  // What calls are made on

  private def shape(): List[Long] =
    if (random.nextInt(60) == 0) List(200L + random.nextInt(100), 100L + random.nextInt(200))
    else List.fill(random.nextInt(4))(random.nextInt(5).toLong)

  private def dtype(): DType = random.nextInt(4) match {
    case 0 => DType.F64
    case 1 => DType.F32
    case 2 => DType.I64
    case _ => DType.I32
  }

  private def model(shape: List[Long]): Model = {
    val n = shape.product.toInt
    new Model(shape, Array.fill(n)((random.nextInt(17) - 8).toDouble))
  }

  private def tensor(m: Model, dtype: DType)(implicit scope: Scope): STen =
    if (dtype == DType.I64) STen.fromLongArray(m.data.map(_.toLong), m.shape, CPU)
    else if (dtype == DType.F64) STen.fromDoubleArray(m.data, m.shape, CPU, DoublePrecision)
    else if (dtype == DType.I32) STen.fromIntArray(m.data.map(_.toInt), m.shape, CPU)
    else STen.fromFloatArray(m.data.map(_.toFloat), m.shape, CPU)

  private def makeOwn(): Unit = good("make", closable = false) {
    val m = model(shape())
    val t = tensor(m, dtype())(own)
    mine += Item(t, m, shared = false)
  }

  private def anyScope(): Scope = world.scopes.get(random.nextInt(world.scopes.length))
  private def anyMine(): Item = mine(random.nextInt(mine.size))
  private def anyShared(): Option[Item] = Option(world.items.get(random.nextInt(world.items.length)))
  private def any(): Item = if (random.nextBoolean()) anyShared().getOrElse(anyMine()) else anyMine()

  /** Keeps a result of one's own for later moves. */
  private def keep(t: STen, m: Model): Unit = if (m.isSmall) mine += Item(t, m, shared = false)

  // The moves

  private def move(): Unit = random.nextInt(33) match {
    case 0 | 1     => share()
    case 2         => closeShared()
    case 3         => closeScope()
    case 4         => moveShared()
    case 5 | 6     => read()
    case 7 | 8 | 9 => binary()
    case 10 | 11   => unary()
    case 12 | 13   => view()
    case 14        => viewOfClosed()
    case 15        => nested()
    case 16        => afterClose()
    case 17        => wrongShapes()
    case 18        => wrongDTypes()
    case 19        => badIndices()
    case 20        => memory()
    case 21        => inPlace()
    case 22 | 23   => indexing()
    case 24        => masks()
    case 25        => product()
    case 26        => reduce()
    case 27        => throwing()
    case 28        => join()
    case 29        => device()
    case 30 | 31   => pipeline()
    case _         => gauges()
  }

  /** On the processor and on a simulated device at once, and copied there. */
  private def device(): Unit = {
    val item = any()
    good("device", item.shared) {
      Scope.root { implicit scope =>
        val (sim, m) = (Device.Sim(random.nextInt(2)), item.model)
        val here = item.tensor.copyTo(STenOptions.d)
        if (random.nextBoolean()) here.asyncCopyToDevice(sim)
        val there = here.onDevice(sim)
        if (random.nextBoolean()) check("on a device", there * 2.0, m.map(_ * 2.0))
        there += 1.0
        check("mirrored", here, m.map(_ + 1.0))
        if (random.nextInt(20) == 0) here.asyncCopyToDevice(sim)
        here *= 2.0
        check("mirrored", there, m.map(x => (x + 1.0) * 2.0))
        check("copied", item.tensor.to(sim), m)
        refused[DeviceException]("mixed devices", item.shared)(item.tensor + there)
      }
    }
  }

  /** Runs a pipeline that all threads share, which any of them may close and replace. */
  private def pipeline(): Unit = {
    val i = random.nextInt(world.pipelines.length)
    if (world.pipelines.get(i) == null || random.nextInt(50) == 0)
      good("record", closable = true) {
        val fresh = Scope.root { implicit scope =>
          Pipeline.of(STen.zeros(Seq(3, 4)), pools = 1 + random.nextInt(2)) { implicit scope => x =>
            Scope(implicit scope => (x * 2.0 + 1.0).t) * 3.0
          }
        }
        val old = world.pipelines.getAndSet(i, fresh)
        if (old != null) old.close()
      }
    val shared = world.pipelines.get(i)
    if (shared != null) {
      val m = model(List(3, 4))
      good("pipeline", closable = true) {
        Scope.root { implicit scope =>
          val (x, want) = (tensor(m, DType.F64), m.map(v => (v * 2 + 1) * 3).transpose(0, 1))
          check("pipeline", shared.one(x), want)
          val out = STen.zeros(Seq(4, 3))
          shared.into(out)(x)
          check("pipeline", out, want)
        }
      }
      refused[RuntimeException]("pipeline", closable = true) {
        Scope.root { implicit scope => shared(STen.zeros(Seq(4, 3))); () }
      }
    }
  }

  private def share(): Unit = good("share", closable = true) {
    val m = model(shape())
    val t = tensor(m, dtype())(anyScope())
    world.items.set(random.nextInt(world.items.length), Item(t, m, shared = true))
  }

  private def closeShared(): Unit = anyShared().foreach { item =>
    good("close", closable = false) {
      item.tensor.close()
      if (random.nextBoolean()) item.tensor.close()
      if (!item.tensor.isClosed) throw new Wrong("a closed tensor says that it is open")
    }
  }

  private def closeScope(): Unit = good("close a scope", closable = false) {
    val i = random.nextInt(world.scopes.length)
    // Some stay in place when closed, so that others meet them.
    val old = if (random.nextBoolean()) world.scopes.get(i) else world.scopes.getAndSet(i, Scope.free)
    old.release()
    if (random.nextBoolean()) old.close()
    if (!old.isClosed) throw new Wrong("a closed scope says that it is open")
    if (old.live != 0) throw new Wrong(s"a closed scope holds ${old.live} tensors")
  }

  private def moveShared(): Unit = anyShared().foreach { item =>
    good("move", closable = true) {
      val to = anyScope()
      to(item.tensor)
      ()
    }
  }

  private def read(): Unit = {
    val item = any()
    good("read", item.shared)(check("read", item.tensor, item.model))
    good("toString", closable = false) {
      if (item.tensor.toString.isEmpty) throw new Wrong("toString: empty")
    }
  }

  private def binary(): Unit = {
    val (a, b) = (any(), any())
    val into = if (random.nextInt(3) == 0) anyScope() else own
    val closable = a.shared || b.shared || (into ne own)
    val (f, run) = random.nextInt(3) match {
      case 0 => ((x: Double, y: Double) => x + y, () => a.tensor.+(b.tensor)(into))
      case 1 => ((x: Double, y: Double) => x - y, () => a.tensor.-(b.tensor)(into))
      case _ => ((x: Double, y: Double) => x * y, () => a.tensor.*(b.tensor)(into))
    }
    a.model.zip(b.model)(f) match {
      case None           => refused[ShapeException]("binary", closable)(run())
      case Some(expected) =>
        good("binary", closable) {
          val t = run()
          check("binary", t, expected)
          if (into eq own) keep(t, expected)
        }
    }
  }

  private def unary(): Unit = {
    val a = any()
    val (expected, run) = random.nextInt(5) match {
      case 0 => (a.model.map(x => -x), (s: Scope) => a.tensor.neg(s))
      case 1 => (a.model.map(math.abs), (s: Scope) => a.tensor.abs(s))
      case 2 => (a.model.map(math.max(_, 0.0)), (s: Scope) => a.tensor.relu(s))
      case 3 => (a.model.map(_ + 3), (s: Scope) => a.tensor.+(3L)(s))
      case _ => (a.model.map(x => if (x > 1) 1.0 else 0.0), (s: Scope) => a.tensor.gt(1.0)(s))
    }
    good("unary", a.shared) {
      val t = run(own)
      check("unary", t, expected)
      if (!t.isBool) keep(t, expected)
    }
  }

  /** Some view of a tensor and what it should show. */
  private def someView(a: Item)(implicit scope: Scope): (STen, Model) = {
    val m = a.model
    val dims = (0 until m.rank).filter(d => m.size(d) > 0)
    if (dims.isEmpty) (a.tensor.expand(2L :: m.shape), m.expand(2L :: m.shape))
    else {
      val d = dims(random.nextInt(dims.size))
      random.nextInt(5) match {
        case 0 =>
          val start = random.nextInt(m.size(d))
          val length = 1 + random.nextInt(m.size(d) - start)
          (a.tensor.narrow(d, start.toLong, length.toLong), m.slices(d, start until start + length))
        case 1 =>
          val i = random.nextInt(m.size(d))
          (a.tensor.select(d.toLong, i.toLong), m.select(d, i))
        case 2 =>
          val e = random.nextInt(m.rank)
          (a.tensor.transpose(d, e), m.transpose(d, e))
        case 3 =>
          val step = 1 + random.nextInt(3)
          (a.tensor.slice(d, 0, m.size(d).toLong, step.toLong), m.slices(d, 0 until m.size(d) by step))
        case _ =>
          (a.tensor.view(m.numel.toLong), new Model(List(m.numel.toLong), m.data))
      }
    }
  }

  private def view(): Unit = {
    val a = any()
    // Only contiguous tensors can be seen as a vector without a copy.
    good("view", a.shared) {
      val base = Item(a.tensor.reshape(a.model.shape: _*)(own).cloneTensor(own), a.model, shared = false)
      val (v, expected) = someView(base)(own)
      check("view", v, expected)
      if (!v.sharesStorageWith(base.tensor)) throw new Wrong("a view has a storage of its own")
    }
  }

  private def viewOfClosed(): Unit = good("view of a closed parent", closable = true) {
    val scope = Scope.free
    try {
      val m = model(shape())
      val parent = Item(tensor(m, dtype())(scope), m, shared = false)
      val (v, expected) = someView(parent)(own)
      if (random.nextBoolean()) parent.tensor.close() else scope.release()
      try check("view of a closed parent", v, expected)
      catch { case e: ClosedTensorException => throw new Wrong(s"a view died with its parent: $e") }
      keep(v, expected)
    } finally scope.release()
  }

  private def nested(): Unit = {
    val (a, b) = (anyMine(), anyMine())
    good("nested scope", closable = false) {
      implicit val scope: Scope = own
      val before = own.live
      val (x, list) = Scope { implicit scope =>
        val dropped = a.tensor + 1L
        (dropped + 1L, List(b.tensor.neg, b.tensor.abs))
      }
      if (own.live != before + 3) throw new Wrong(s"${own.live - before} tensors came out of a scope instead of 3")
      check("nested scope", x, a.model.map(_ + 2))
      check("nested scope", list(0), b.model.map(y => -y))
      check("nested scope", list(1), b.model.map(math.abs))
      keep(x, a.model.map(_ + 2))
    }
  }

  private object Stop extends RuntimeException("stop", null, false, false)

  private def throwing(): Unit = {
    val a = anyMine()
    good("a scope left by an exception", closable = false) {
      implicit val scope: Scope = own
      val before = own.live
      val caught =
        try Scope { implicit scope =>
            val t = a.tensor + 1L; if (t.isClosed) t else throw Stop
          }
        catch { case Stop => null }
      if (caught != null || own.live != before) throw new Wrong("an exception left something behind")
    }
  }

  private def afterClose(): Unit = good("prepare", closable = false) {
    val m = model(List(2, 2))
    val open = tensor(m, DType.F32)(own)
    val t = tensor(m, DType.F32)(own)
    if (random.nextBoolean()) { t.close(); t.close() }
    else { val s = Scope.free; s(t); s.release(); t.close() }
    implicit val scope: Scope = own
    val index = STen.fromLongArray(Array(0L), List(1), CPU)
    random.nextInt(10) match {
      case 0 => refused[ClosedTensorException]("closed + open", closable = false)(t + open)
      case 1 => refused[ClosedTensorException]("open + closed", closable = false)(open + t)
      case 2 => refused[ClosedTensorException]("closed.shape", closable = false)(t.shape)
      case 3 => refused[ClosedTensorException]("closed.toFloatArray", closable = false)(t.toFloatArray)
      case 4 => refused[ClosedTensorException]("closed.sum", closable = false)(t.sum)
      case 5 => refused[ClosedTensorException]("closed.view", closable = false)(t.transpose(0, 1))
      case 6 => refused[ClosedTensorException]("closed.indexSelect", closable = false)(t.indexSelect(0, index))
      case 7 => refused[ClosedTensorException]("open.mm(closed)", closable = false)(open.mm(t))
      case 8 => refused[ClosedTensorException]("open += closed", closable = false)(open += t)
      case _ => refused[ClosedTensorException]("closed += open", closable = false)(t += open)
    }
    if (t.toString.isEmpty) throw new Wrong("toString of a closed tensor is empty")
    check("an operand of refused calls", open, m)
  }

  private def wrongShapes(): Unit = {
    val a = any()
    implicit val scope: Scope = own
    good("prepare", closable = a.shared) {
      val odd = STen.ones(7L +: List.fill(a.model.rank)(11L), STenOptions(DType.F32))
      random.nextInt(5) match {
        case 0 => refused[ShapeException]("reshape", a.shared)(a.tensor.reshape(a.model.numel + 1L))
        case 1 =>
          refused[ShapeException]("mm", a.shared)(a.tensor.mm(STen.ones(List(97, 3), STenOptions(a.tensor.dtype))))
        case 2 =>
          refused[ShapeException]("expand", a.shared)(a.tensor.expand(List.fill(a.model.rank)(97L) ++ List(-5L)))
        case 3 => refused[ShapeException]("in place", a.shared) { val c = a.tensor.cloneTensor; c += odd }
        case _ => refused[ShapeException](
            "from array",
            closable = false
          )(STen.fromDoubleArray(Array(1.0), List(2), CPU, DoublePrecision))
      }
      check("an operand of refused calls", a.tensor, a.model)
    }
  }

  private def wrongDTypes(): Unit = {
    implicit val scope: Scope = own
    good("prepare", closable = false) {
      val m = model(List(3))
      val (f, i) = (tensor(m, DType.F32), tensor(m, DType.I64))
      random.nextInt(5) match {
        case 0 => refused[DTypeException]("index", closable = false)(f.indexSelect(0, f))
        case 1 => refused[DTypeException]("mask", closable = false)(f.maskedSelect(i))
        case 2 => refused[DTypeException]("float into int", closable = false)(i += f)
        case 3 => refused[DTypeException](
            "scatter",
            closable = false
          )(f.scatterAdd(0, STen.fromLongArray(Array(0L), List(1), CPU), i))
        case _ => refused[DTypeException]("bitwise", closable = false)(f.equalDeep(i))
      }
      check("an operand of refused calls", f, m)
      check("an operand of refused calls", i, m)
    }
  }

  private def badIndices(): Unit = {
    implicit val scope: Scope = own
    good("prepare", closable = false) {
      val m = model(List(4, 3))
      val t = tensor(m, dtype())
      val bad = random.nextInt(4) match {
        case 0 => 4L
        case 1 => -5L
        case 2 => Long.MaxValue
        case _ => Long.MinValue
      }
      val index = STen.fromLongArray(Array(0L, bad), List(2), CPU)
      random.nextInt(6) match {
        case 0 => refused[IndexException]("index_select", closable = false)(t.indexSelect(0, index))
        case 1 => refused[IndexException]("select", closable = false)(t.select(0, bad))
        case 2 => refused[IndexException]("dimension", closable = false)(t.sum(7, false))
        case 3 => refused[IndexException](
            "index_add",
            closable = false
          )(t.indexAdd_(0, index, tensor(model(List(2, 3)), t.dtype)))
        case 4 => refused[IndexException]("index_fill", closable = false)(t.indexFill_(0, index, 1L))
        case _ => refused[IndexException]("one_hot", closable = false)(index.oneHot(2))
      }
      check("an operand of refused calls", t, m)
    }
  }

  private def memory(): Unit = {
    implicit val scope: Scope = own
    if (random.nextBoolean())
      refused[OutOfNativeMemoryError]("more than the cap", closable = false)(
        STen.zeros(List(cap / 4 + 1000), STenOptions(DType.F32))
      )
    else {
      // Much at once: others run out of memory meanwhile.
      val n = cap / 16 / 3
      good("much memory", closable = false) {
        val big = STen.ones(List(n), STenOptions(DType.F32))
        val sum = (big + big).sum.castToDouble.toDoubleArray.head
        if (sum != 2.0 * n) throw new Wrong(s"the sum of $n twos is $sum")
      }
      renew()
    }
  }

  private def inPlace(): Unit = {
    val a = anyMine()
    implicit val scope: Scope = own
    good("in place", closable = false) {
      val copy = Item(a.tensor.cloneTensor, a.model, shared = false)
      copy.tensor += 2L
      check("in place", copy.tensor, a.model.map(_ + 2))
      copy.tensor *= copy.tensor
      check("in place", copy.tensor, a.model.map(x => (x + 2) * (x + 2)))
      if (a.model.rank > 0 && a.model.size(0) > 0) {
        copy.tensor.narrow(0, 0, 1).zero_()
        val expected = a.model.slices(0, Seq(0))
        check("a view written in place", copy.tensor.select(0, 0), expected.select(0, 0).map(_ => 0))
        if (a.model.size(0) > 1)
          check("beside a view", copy.tensor.select(0, 1), a.model.select(0, 1).map(x => (x + 2) * (x + 2)))
      }
      check("the source of a clone", a.tensor, a.model)
      if (a.model.numel > 0) {
        val wide = copy.tensor.expand(3L :: a.model.shape)
        refused[ShapeException]("in place on an expanded tensor", closable = false)(wide += 1L)
      }
    }
  }

  private def indexing(): Unit = {
    val a = any()
    implicit val scope: Scope = own
    val dims = (0 until a.model.rank).filter(d => a.model.size(d) > 0)
    if (dims.nonEmpty) {
      val d = dims(random.nextInt(dims.size))
      val places = Seq.fill(random.nextInt(6))(random.nextInt(a.model.size(d)))
      good("indexing", a.shared) {
        val index = STen.fromLongArray(places.map(_.toLong).toArray, List(places.size.toLong), CPU)
        val picked = a.tensor.indexSelect(d.toLong, index)
        val expected = a.model.slices(d, places)
        check("index_select", picked, expected)
        val added = a.tensor.indexAdd(d.toLong, index, picked)
        val sums = Model.tabulate(a.model.shape)(at => a.model(at) * (1 + places.count(_ == at(d))))
        check("index_add", added, sums)
        val filled = a.tensor.indexFill(d.toLong, index, 5L)
        check("index_fill", filled, Model.tabulate(a.model.shape)(at => if (places.contains(at(d))) 5 else a.model(at)))
      }
    }
  }

  private def masks(): Unit = {
    val a = any()
    implicit val scope: Scope = own
    good("masks", a.shared) {
      val mask = a.tensor.gt(0.0)
      val picked = a.tensor.maskedSelect(mask)
      val positive = a.model.data.filter(_ > 0)
      check("masked_select", picked, new Model(List(positive.length.toLong), positive))
      check("masked_fill", a.tensor.maskedFill(mask, 9L), a.model.map(x => if (x > 0) 9 else x))
      check("where", STen.where(mask, a.tensor, -1L), a.model.map(x => if (x > 0) x else -1))
      val expected = if (a.model.rank == 0) 1 else a.model.rank
      if (mask.where.size != expected) throw new Wrong("where: one tensor a dimension")
    }
  }

  private def product(): Unit = {
    implicit val scope: Scope = own
    good("mm", closable = false) {
      val (n, k, m) = (random.nextInt(6), random.nextInt(6), random.nextInt(6))
      val (a, b) = (model(List(n.toLong, k.toLong)), model(List(k.toLong, m.toLong)))
      val float = if (random.nextBoolean()) DType.F32 else DType.F64
      check("mm", tensor(a, float).mm(tensor(b, float)), a.mm(b))
      check("mm of a transposed view", tensor(b, float).t.mm(tensor(a, float).t), a.mm(b).transpose(0, 1))
    }
  }

  private def reduce(): Unit = {
    val a = any()
    implicit val scope: Scope = own
    good("sum", a.shared) {
      check("sum", a.tensor.sum, new Model(Nil, Array(a.model.data.sum)))
      if (a.model.rank > 0) {
        val d = random.nextInt(a.model.rank)
        val t = a.tensor.sum(d, false)
        check("sum of a dimension", t, a.model.sum(d))
        keep(t, a.model.sum(d))
      }
    }
  }

  private def join(): Unit = {
    val a = any()
    implicit val scope: Scope = own
    if (a.model.rank > 0)
      good("cat", a.shared) {
        val d = random.nextInt(a.model.rank)
        val n = a.model.size(d)
        check("cat", STen.cat(List(a.tensor, a.tensor), d.toLong), a.model.slices(d, (0 until n) ++ (0 until n)))
      }
  }

  private def gauges(): Unit = {
    val item = any()
    good("getters", item.shared) {
      val m = Wick.memory
      if (m.made < m.freed || m.liveBytes < 0) throw new Wrong(s"impossible gauges: $m")
      if (item.tensor.shape != item.model.shape) throw new Wrong("the shape changed")
      if (item.tensor.strides.size != item.model.rank) throw new Wrong("strides of another rank")
      if (item.tensor.numel != item.model.numel.toLong) throw new Wrong("numel changed")
      item.tensor.isContiguous
      ()
    }
    if (random.nextInt(50) == 0) Wick.trim()
  }
}
