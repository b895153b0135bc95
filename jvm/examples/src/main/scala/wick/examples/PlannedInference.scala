package wick.examples

import java.lang.management.ManagementFactory
import java.nio.file.Paths
import java.util.concurrent.{Callable, Executors}

import wick._

/** Trains a small convolutional network on the digits, operation by operation, then plans its inference
  * and compares the two: time a batch, memory, bits, and what several threads get done on two pools.
  */
object PlannedInference {

  private final val Epochs = 20
  private final val Batch = 64L
  private final val HeldOut = 360L
  private final val Rate = 0.15
  private final val One = Seq(1L, 1L)
  private final val Zero = Seq(0L, 0L)
  private final val Two = Seq(2L, 2L)

  /** 8×8 → 8 maps, halved → 16 maps → 16 maps → 10 classes. */
  private final case class Net(first: Layer, second: Layer, third: Layer, last: Layer) {
    def all: Seq[STen] = Seq(first, second, third, last).flatMap(l => Seq(l.weight, l.bias))
  }
  private final case class Layer(weight: STen, bias: STen)

  private def net[S: Sc]: Net = {
    def layer(in: Int, shape: Long*) = Layer(
      STen.randn(shape, STen.fOptions) * math.sqrt(2.0 / in),
      STen.zeros(Seq(if (shape.length == 2) shape(1) else shape.head), STen.fOptions)
    )
    Net(layer(9, 8, 1, 3, 3), layer(72, 16, 8, 3, 3), layer(144, 16, 16, 3, 3), layer(256, 256, 10))
  }

  private def conv[S: Sc](x: STen, layer: Layer): STen =
    STen.convolution(x, layer.weight, Some(layer.bias), One, One, One, false, Zero, 1L)

  /** Gradients of a convolution's input (the first one needs none), weight and bias. */
  private def convBack[S: Sc](g: STen, x: STen, layer: Layer, first: Boolean = false): (Option[STen], Seq[STen]) = {
    val (gx, gw, gb) = STen.convolution_backward(
      g,
      x,
      layer.weight,
      Seq(layer.weight.shape.head),
      One,
      One,
      One,
      false,
      Zero,
      1L,
      (!first, true, true)
    )
    (gx, Seq(gw, gb).flatten)
  }

  /** Class scores of images of shape [n, 1, 8, 8]. */
  private def scores[S: Sc](x: STen, net: Net): STen = {
    val halved = STen.max_pool2d(conv(x, net.first).relu, Two, Two)
    val maps = conv(conv(halved, net.second).relu, net.third).relu
    maps.view(x.shape.head, -1L).mm(net.last.weight) + net.last.bias
  }

  /** One step of gradient descent, its gradients written out; gives the batch's mean loss. */
  private def step[S: Sc](x: STen, targets: STen, net: Net): Double = {
    def through(g: STen, relu: STen): STen = g * relu.gt(0.0).castToFloat
    val first = conv(x, net.first).relu
    val (halved, places) = STen.max_pool2d_with_indices(first, Two, Two)
    val second = conv(halved, net.second).relu
    val third = conv(second, net.third).relu
    val flat = third.view(x.shape.head, -1L)
    val logs = (flat.mm(net.last.weight) + net.last.bias).logSoftMax(1)
    val n = x.shape.head
    val loss = -(logs * targets).sum.item / n
    val gScores = (logs.exp - targets) / n
    val gThird = through(gScores.mm(net.last.weight.t).view(third.shape: _*), third)
    val (gSecond, ofThird) = convBack(gThird, second, net.third)
    val (gHalved, ofSecond) = convBack(through(gSecond.get, second), halved, net.second)
    val gFirst =
      STen.max_pool2d_with_indices_backward(gHalved.get, first, Two, Two, Zero, One, false, places)
    val (_, ofFirst) = convBack(through(gFirst, first), x, net.first, first = true)
    val ofLast = Seq(flat.t.mm(gScores), gScores.sum(0, keepDim = false))
    net.all.zip(ofFirst ++ ofSecond ++ ofThird ++ ofLast).foreach { case (w, g) => w.sub_(g, Rate) }
    loss
  }

  /** The median of the times that `f` takes, in microseconds. */
  private def micros(f: => Unit): Double = {
    (1 to 200).foreach(_ => f)
    val times = Array.fill(300) {
      val begin = System.nanoTime
      f
      System.nanoTime - begin
    }.sorted
    times(150) / 1e3
  }

  private val threadsBean =
    ManagementFactory.getThreadMXBean.asInstanceOf[com.sun.management.ThreadMXBean]

  /** Bytes of the Java heap that a call of `f` takes. */
  private def heap(f: => Unit): Double = {
    val id = Thread.currentThread.getId
    def measured: Long = {
      val begin = threadsBean.getThreadAllocatedBytes(id)
      var i = 0
      while (i < 1000) { f; i += 1 }
      threadsBean.getThreadAllocatedBytes(id) - begin
    }
    measured
    measured / 1000.0
  }

  /** Bytes that a call of `f` takes from the allocator, and tensors that it makes. */
  private def native(f: => Unit): (Long, Long) = {
    val before = Wick.memory
    Wick.resetPeak()
    f
    (Wick.memory.peakBytes - before.liveBytes, Wick.memory.made - before.made)
  }

  /** Nanoseconds that an operation of a plan takes which has next to nothing to compute. */
  private def perOperation(implicit scope: Scope): Double = {
    val (x, out) = (STen.ones(Seq(10), STen.fOptions), STen.zeros(Seq(10), STen.fOptions))
    val sums = Pipeline.of(x)(implicit scope => x => Iterator.iterate(x)(_ + x).drop(64).next())
    try micros(sums.into(out)(x)) * 1e3 / 64
    finally sums.close()
  }

  private def throughput(threads: Int, runs: Int)(f: => Unit): Double = {
    val pool = Executors.newFixedThreadPool(threads)
    try {
      val begin = System.nanoTime
      val work: Callable[Unit] = () => (1 to runs / threads).foreach(_ => f)
      (1 to threads).map(_ => pool.submit(work)).foreach(_.get)
      runs / threads * threads * Batch / ((System.nanoTime - begin) / 1e9)
    } finally pool.shutdown()
  }

  def main(args: Array[String]): Unit = {
    val data = Paths.get("jvm/examples/data")
    val right = Scope.root { implicit scope =>
      STen.manualSeed(3L)
      val images = Npy.readBytes(data.resolve("digits_images.npy"))
      val pixels = images.castToFloat.view(-1L, 1L, 8L, 8L) / 16.0
      val labels = Npy.readBytes(data.resolve("digits_labels.npy")).castToLong
      val n = pixels.shape.head - HeldOut
      val (trainX, testX) = (pixels.narrow(0, HeldOut, n), pixels.narrow(0, 0L, HeldOut))
      val targets = labels.narrow(0, HeldOut, n).oneHot(10).castToFloat
      val model = net
      for (epoch <- 1 to Epochs) {
        val loss = Scope.root { implicit scope =>
          val order = STen.randperm(n, STen.lOptions)
          val losses = (0L until n by Batch).map { start =>
            Scope.root { implicit scope =>
              val rows = order.narrow(0, start, math.min(Batch, n - start))
              step(trainX.indexSelect(0, rows), targets.indexSelect(0, rows), model)
            }
          }
          losses.sum / losses.size
        }
        if (epoch % 5 == 0) println(f"epoch $epoch%2d of $Epochs  loss $loss%.4f")
      }
      val accuracy = Scope.root { implicit scope =>
        val read = scores(testX, model).argmax(1, keepDim = false)
        read.equ(labels.narrow(0, 0L, HeldOut)).castToDouble.mean.item
      }
      println(f"held-out accuracy  $accuracy%.4f")

      val x = testX.narrow(0, 0L, Batch).contiguous
      val out = STen.zeros(Seq(Batch, 10L), STen.fOptions)
      // Each caller computes on its own thread.
      Wick.threads = 1
      val plan = Pipeline.of(x, pools = 2)(implicit scope => x => scores(x, model))
      def eager(): Unit = Scope.root { implicit scope => scores(x, model); () }
      def planned(): Unit = plan.into(out)(x)

      planned()
      val same = Scope.root(implicit scope => out.equalDeep(scores(x, model)))
      val (eagerTime, plannedTime) = (micros(eager()), micros(planned()))
      val ((eagerBytes, eagerTensors), (plannedBytes, plannedTensors)) = (native(eager()), native(planned()))
      val report = plan.report
      println(f"a batch of $Batch       eager $eagerTime%.1f µs, planned $plannedTime%.1f µs")
      println(s"same bits          $same")
      println(
        s"allocated a run    eager $eagerBytes bytes in $eagerTensors tensors, planned $plannedBytes bytes in $plannedTensors"
      )
      println(f"Java heap a run    eager ${heap(eager())}%.0f bytes, planned ${heap(planned())}%.0f bytes")
      println(
        s"a pool             ${report.poolBytes} bytes for ${report.intermediateBytes} bytes of intermediates" +
          f" (${100.0 * report.poolBytes / report.intermediateBytes}%.0f %%), at least ${report.peakBytes}"
      )
      println(f"an operation       ${perOperation}%.0f ns planned (64 additions of 10 numbers)")
      for (threads <- Seq(1, 2, 4))
        println(f"$threads callers, 2 pools ${throughput(threads, 4000)(callAlone(plan, x))}%.0f images/s")
      println(s"runs ${plan.report.runs}, astray ${plan.report.astray}")
      val right = accuracy >= 0.95 && same && plannedBytes == 0 && plan.report.astray == 0 &&
        2 * report.poolBytes <= report.intermediateBytes
      plan.close()
      right
    }
    println(s"live after         ${Wick.memory.liveBytes} bytes")
    if (!right || Wick.memory.liveBytes != 0) sys.exit(1)
  }

  /** A run with a result of its own, as callers on several threads need it. */
  private def callAlone(plan: Pipeline, x: STen): Unit = Scope.root { implicit scope => plan(x); () }
}
