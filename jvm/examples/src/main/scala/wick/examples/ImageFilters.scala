package wick.examples

import java.nio.file.{Files, Path, Paths}

import scala.concurrent.duration.Duration
import scala.concurrent.{Await, ExecutionContext, Future}

import wick._

/** Filters a photograph, each filter on two threads over half of the rows each, and writes the results as
  * PNGs and one sheet of all of them.
  *
  * {{{./sbt "examples/runMain wick.examples.ImageFilters [folder] [sheet.png]"}}}
  */
object ImageFilters {
  private implicit val threads: ExecutionContext = ExecutionContext.global

  private val Picture = "jvm/examples/data/chelsea.png"
  private val Gap = 4L
  private val Columns = 3

  /** The results of a filter of an image; each thread runs it over its part of the rows. */
  private def onTwoThreads[S: Sc](filter: Filter, image: STen, border: BorderMode): Seq[STen] = {
    val slopes = filter == Filter.Sobel3x3
    val out = Seq.fill(if (slopes) 2 else 1) {
      STen.empty(image.shape, if (slopes) STenOptions.sh else STenOptions.u8)
    }
    val kernel = Kernel(filter, image, out, border)
    val parts = (0 until 2).map(kernel.window.split(1, _, 2))
    Await.result(Future.sequence(parts.map(part => Future(KernelRunner.run(kernel, part)))), Duration.Inf)
    out
  }

  private def repeated[S: Sc](times: Int, filter: Filter, image: STen): STen =
    (0 until times).foldLeft(image)((t, _) => onTwoThreads(filter, t, BorderMode.Reflect).head)

  /** Grains of black and white on one pixel in ten. */
  private def noisy[S: Sc](image: STen): STen = {
    val grain = STen.rand(image.shape.drop(1), STenOptions.f, Generator(1))
    image.maskedFill(grain.lt(0.05), 0.0).maskedFill(grain.gt(0.95), 255.0)
  }

  /** How steep the image is: the length of the two slopes, cut at 255. */
  private def edges[S: Sc](gray: STen): STen = {
    val slopes = onTwoThreads(Filter.Sobel3x3, gray, BorderMode.Replicate).map(_.castToFloat)
    slopes(0).hypot(slopes(1)).clamp(0.0, 255.0).castToUnsignedByte
  }

  /** Darker towards the corners, by a loop over the rows of the image on the JVM. */
  private def vignette[S: Sc](image: STen): STen = {
    val out = image.cloneTensor
    val (height, width) = (image.shape(1), image.shape(2))
    for (row <- out.rows) {
      val y = 2.0 * row.index(1) / height - 1
      var i = 0
      while (i < row.length) {
        val x = 2.0 * i / width - 1
        row(i) = row(i) * (1 - 0.45 * math.min(1.0, x * x + y * y))
        i += 1
      }
    }
    out
  }

  private def sheet[S: Sc](tiles: Seq[STen]): STen = {
    val (h, w) = (tiles.head.shape(1), tiles.head.shape(2))
    val lines = (tiles.size + Columns - 1) / Columns
    val out =
      STen.full(Seq(3L, lines * (h + Gap) - Gap, Columns * (w + Gap) - Gap), 255, STenOptions.u8)
    for ((tile, i) <- tiles.zipWithIndex) {
      val (y, x) = (i / Columns * (h + Gap), i % Columns * (w + Gap))
      // Gray tiles stretch to the three colours.
      out.narrow(1, y, h).narrow(2, x, w).copyFrom(tile)
    }
    out
  }

  def main(args: Array[String]): Unit = {
    val folder = Paths.get(args.headOption.getOrElse("target/images"))
    Files.createDirectories(folder)
    val same = Scope.root { implicit scope =>
      val image = Image.read(Picture)
      println(s"$Picture: ${image.shape(2)} by ${image.shape(1)}")
      val gray = image.rgbToGray()
      val spoiled = noisy(image)
      val results = Seq[(String, () => STen)](
        "original" -> (() => image),
        "gaussian5x5" -> (() => repeated(6, Filter.Gaussian5x5, image)),
        "vignette" -> (() => vignette(image)),
        "noise" -> (() => spoiled),
        "median" -> (() => repeated(1, Filter.Median3x3, spoiled)),
        "box" -> (() => repeated(1, Filter.Box3x3, spoiled)),
        "edges" -> (() => edges(gray)),
        "equalized" -> (() => gray.equalizeHist),
        "binarized" -> (() => repeated(2, Filter.Gaussian3x3, gray).binarize(gray.castToFloat.mean.item))
      ).map { case (name, filter) =>
        val started = System.nanoTime
        val result = filter()
        println(f"$name%-12s ${(System.nanoTime - started) / 1e6}%7.2f ms")
        Image.write(folder.resolve(name + ".png").toString, result)
        result
      }
      val all = sheet(results.map(_.resize(80, 120, "area")))
      val paths: Seq[Path] = folder.resolve("sheet.png") +: args.drop(1).toSeq.map(Paths.get(_))
      paths.foreach(path => Image.write(path.toString, all))
      println(s"written to $folder")
      // Halves on two threads give what the whole gives.
      val border = BorderMode.Reflect
      Seq(
        repeated(1, Filter.Gaussian5x5, image) -> image.gaussian5x5(border),
        repeated(1, Filter.Median3x3, spoiled) -> spoiled.medianFilter(border),
        repeated(1, Filter.Box3x3, spoiled) -> spoiled.boxFilter(border)
      ).forall { case (halves, whole) => halves.equalDeep(whole) }
    }
    println(s"same bits    $same")
    val live = Wick.memory.liveBytes
    println(s"live after   $live bytes")
    if (!same || live != 0) sys.exit(1)
  }
}
