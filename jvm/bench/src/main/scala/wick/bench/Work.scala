package wick.bench

import java.util.Random

/** What is measured: makes a fresh result and frees it. */
trait Work {
  def run(): Any
}

/** Makes works; called in the JVM that measures. */
trait Peer {
  def apply(op: String, n: Int): Work
}

object Work {

  /** How many tensors `cat` joins. */
  val Joined = 100

  /** Channels of images and of kernels. */
  val Channels = 64

  /** A batch of images. */
  def images(n: Int): Seq[Long] = Seq(n.toLong, Channels.toLong, 28L, 28L)

  /** Kernels for [[images]]. */
  def kernel(size: Long): Seq[Long] = Seq(Channels.toLong, Channels.toLong, size, size)

  /** Queries, keys or values of 8 heads. */
  def heads(n: Int): Seq[Long] = Seq(8L, n.toLong, 64L)

  /** A work from "peer op n threads". */
  def of(text: String): Work = text.split(' ') match {
    case Array("wick", op, n, threads) =>
      wick.Wick.threads = threads.toInt
      WickPeer(op, n.toInt)
    case Array("djl", op, n, threads) =>
      // Read when the engine loads, which is at its first use.
      System.setProperty("ai.djl.pytorch.num_threads", threads)
      DjlPeer(op, n.toInt)
    case Array("loop", op, n, _) => LoopPeer(op, n.toInt)
    case _                       => throw new IllegalArgumentException(text)
  }

  /** Numbers in [0.1, 1.1), the same for the same seed. */
  def numbers(n: Int, seed: Int): Array[Float] = {
    val random = new Random(seed.toLong)
    Array.fill(n)(0.1f + random.nextFloat())
  }

  /** True half of the time. */
  def flags(n: Int): Array[Boolean] = {
    val random = new Random(3)
    Array.fill(n)(random.nextBoolean())
  }

  def unknown(op: String): Nothing = throw new IllegalArgumentException(s"no work for $op")
}
