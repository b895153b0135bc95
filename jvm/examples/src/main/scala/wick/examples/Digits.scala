package wick.examples

import java.nio.file.Paths

import wick._

/** Trains a two-layer network on 8×8 images of digits with gradients written by hand, every step in
  * a scope of its own, and says how well it reads the images that it has not seen.
  */
object Digits {

  private final val Hidden = 128L
  private final val Epochs = 60
  private final val Batch = 64L
  private final val HeldOut = 360L
  private final val LearningRate = 0.1
  private final val Momentum = 0.9
  private final val WeightDecay = 1e-4

  /** Weights and their velocities. */
  private final case class Layer(weight: STen, bias: STen, weightStep: STen, biasStep: STen)

  private def layer[S: Sc](in: Long, out: Long): Layer = Layer(
    STen.randn(Seq(in, out), STen.fOptions) * math.sqrt(2.0 / in),
    STen.zeros(Seq(1L, out), STen.fOptions),
    STen.zeros(Seq(in, out), STen.fOptions),
    STen.zeros(Seq(1L, out), STen.fOptions)
  )

  private def forward[S: Sc](x: STen, first: Layer, second: Layer): (STen, STen) = {
    val hidden = (x.mm(first.weight) + first.bias).relu
    (hidden, hidden.mm(second.weight) + second.bias)
  }

  /** Gradient descent with momentum and weight decay. */
  private def descend[S: Sc](l: Layer, weightGradient: STen, biasGradient: STen, rate: Double): Unit = {
    l.weightStep *= Momentum
    l.weightStep += weightGradient.add(l.weight, WeightDecay)
    l.biasStep *= Momentum
    l.biasStep += biasGradient
    l.weight.sub_(l.weightStep, rate)
    l.bias.sub_(l.biasStep, rate)
  }

  /** One step; gives the batch's mean loss. */
  private def step[S: Sc](x: STen, target: STen, first: Layer, second: Layer, rate: Double): Double = {
    val (hidden, scores) = forward(x, first, second)
    val logs = scores.logSoftMax(1)
    val n = x.shape.head
    val loss = -(logs * target).sum.item / n
    val scoreGradient = (logs.exp - target) / n
    val hiddenGradient = scoreGradient.mm(second.weight.t) * hidden.gt(0.0).castToFloat
    descend(second, hidden.t.mm(scoreGradient), scoreGradient.sum(0, keepDim = true), rate)
    descend(first, x.t.mm(hiddenGradient), hiddenGradient.sum(0, keepDim = true), rate)
    loss
  }

  private def accuracy(x: STen, labels: STen, first: Layer, second: Layer): Double =
    Scope.root { implicit scope =>
      val (_, scores) = forward(x, first, second)
      scores.argmax(1, keepDim = false).equ(labels).castToDouble.mean.item
    }

  def main(args: Array[String]): Unit = {
    val data = Paths.get("jvm/examples/data")
    val started = System.nanoTime
    Wick.resetPeak()
    val heldOut = Scope.root { implicit scope =>
      STen.manualSeed(2L)
      val images = Npy.readBytes(data.resolve("digits_images.npy"))
      val count = images.shape.head
      val pixels = images.castToFloat.view(count, -1L) / 16.0
      val labels = Npy.readBytes(data.resolve("digits_labels.npy")).castToLong
      val order = STen.randperm(count, STen.lOptions)
      val (trainRows, testRows) = (order.narrow(0, HeldOut, count - HeldOut), order.narrow(0, 0L, HeldOut))
      val (trainX, testX) = (pixels.indexSelect(0, trainRows), pixels.indexSelect(0, testRows))
      val (trainY, testY) = (labels.indexSelect(0, trainRows), labels.indexSelect(0, testRows))
      val targets = trainY.oneHot(10).castToFloat
      val (first, second) = (layer(64L, Hidden), layer(Hidden, 10L))
      val n = trainX.shape.head
      println(s"digits: $n images to learn from, $HeldOut held out, ${pixels.shape(1)} → $Hidden → 10")

      for (epoch <- 1 to Epochs) {
        val rate = LearningRate * (1 + math.cos(math.Pi * (epoch - 1) / Epochs)) / 2
        val loss = Scope.root { implicit scope =>
          val shuffled = STen.randperm(n, STen.lOptions)
          (0L until n by Batch).map { start =>
            // What a step makes is freed when it ends; the layers live in the outer scope.
            Scope.root { implicit scope =>
              val rows = shuffled.narrow(0, start, math.min(Batch, n - start))
              step(trainX.indexSelect(0, rows), targets.indexSelect(0, rows), first, second, rate)
            }
          }.sum / math.ceil(n.toDouble / Batch)
        }
        if (epoch % 10 == 0 || epoch == 1)
          println(
            f"epoch $epoch%3d of $Epochs  loss $loss%.4f  held-out accuracy ${accuracy(testX, testY, first, second)}%.4f"
          )
      }
      accuracy(testX, testY, first, second)
    }
    val seconds = (System.nanoTime - started) / 1e9
    val memory = Wick.memory
    println(f"held-out accuracy $heldOut%.4f")
    println(f"seconds           $seconds%.2f")
    println(s"peak off-heap     ${memory.peakBytes} bytes")
    println(s"live after        ${memory.liveBytes} bytes")
    if (heldOut < 0.96 || memory.liveBytes != 0) sys.exit(1)
  }
}
