package wick

import java.net.{URL, URLClassLoader}
import java.nio.file.Paths

/** What [[LoaderSuite]] runs in fresh JVMs: each mode ends with the line `ok`. */
object LoaderProbe {

  /** Computes with tensors: 3 * (1 + n); exceptions too must be this loader's classes. */
  def compute(n: Double): Double = Scope.root { implicit scope =>
    try {
      STen.ones(List(2), STenOptions.d) + STen.ones(List(3), STenOptions.d)
      sys.error("shapes that do not fit were added")
    } catch { case _: ShapeException => () }
    (STen.ones(List(3), STenOptions.d) + n).toDoubleArray.sum
  }

  /** Touches the pool of threads too. */
  def computeMuch(): Double = Scope.root { implicit scope =>
    (STen.ones(List(2000000), STenOptions.d) + 1.0).toDoubleArray.sum
  }

  def main(args: Array[String]): Unit = {
    args.toList match {
      case List("load")           => expect(compute(1) == 6.0); println(s"from ${NativeLoader.loadedFrom}")
      case List("touch", name)    => Class.forName(name); expect(compute(1) == 6.0)
      case "touchEach" :: names   => names.foreach(name => Class.forName(name, true, isolated()))
      case List("loaders")        => loaders()
      case List("reload")         => reload()
      case List("contextLoaders") => contextLoaders()
      case other                  => sys.error(s"no mode $other")
    }
    println("ok")
  }

  private def expect(condition: Boolean): Unit = if (!condition) sys.error("a wrong value")

  private def urls: Array[URL] =
    System.getProperty("java.class.path").split(java.io.File.pathSeparator).map(Paths.get(_).toUri.toURL)

  /** A loader that shares no class of ours with this one. */
  private def isolated(): URLClassLoader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader)

  private def call(loader: ClassLoader, n: Double): Double =
    loader
      .loadClass("wick.LoaderProbe")
      .getMethod("compute", classOf[Double])
      .invoke(null, Double.box(n))
      .asInstanceOf[java.lang.Double]
      .doubleValue

  /** Two isolated loaders and this one, all alive, used in turn and at once. */
  private def loaders(): Unit = {
    val all = List(isolated(), isolated(), getClass.getClassLoader)
    for (round <- 0 until 3; (loader, i) <- all.zipWithIndex) {
      val n = (10 * round + i).toDouble
      expect(call(loader, n) == 3 * (1 + n))
    }
    val failures = new java.util.concurrent.ConcurrentLinkedQueue[Throwable]
    val threads = all.zipWithIndex.map { case (loader, i) =>
      new Thread {
        override def run(): Unit =
          try (0 until 500).foreach(k => expect(call(loader, (k * i).toDouble) == 3.0 * (1 + k * i)))
          catch { case t: Throwable => failures.add(t); () }
      }
    }
    threads.foreach(_.start())
    threads.foreach(_.join())
    expect(failures.isEmpty)
    val paths = all.map(_.loadClass("wick.NativeLoader").getDeclaredField("loadedFrom")).map { field =>
      field.setAccessible(true)
      field.get(null).toString
    }
    println(s"from ${paths.mkString(" ")}")
  }

  /** Loaders come and go, as with `sbt run` and web containers; their threads must not outlive the code. */
  private def reload(): Unit = {
    for (_ <- 0 until 8) {
      val loader = isolated()
      val sum = loader.loadClass("wick.LoaderProbe").getMethod("computeMuch").invoke(null)
      expect(sum.asInstanceOf[java.lang.Double].doubleValue == 4000000.0)
      loader.close()
      System.gc()
    }
    // Unloading follows a collection; sleeping threads of the pool wake up within this time.
    for (_ <- 0 until 5) { System.gc(); Thread.sleep(100) }
  }

  /** The library is found beside the class that needs it, whatever the thread's own loader. */
  private def contextLoaders(): Unit = {
    val child = isolated()
    for (context <- List(null, child.getParent)) {
      Thread.currentThread.setContextClassLoader(context)
      val fresh = isolated()
      expect(call(fresh, 2) == 9.0)
    }
  }
}
