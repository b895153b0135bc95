package wick

import java.lang.reflect.Modifier
import java.nio.file.{Files, Path, Paths}
import java.util.concurrent.TimeUnit
import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

/** The native library is found, or refused with a reason, in fresh JVMs under good and bad conditions. */
class LoaderSuite extends munit.FunSuite {

  override val munitTimeout: Duration = 3.minutes

  private case class Ran(code: Int, output: String) {
    def ok: Boolean = code == 0 && output.linesIterator.toList.lastOption.contains("ok")
    def from: List[String] =
      output.linesIterator.filter(_.startsWith("from ")).flatMap(_.stripPrefix("from ").split(' ')).toList
  }

  private val folder = FunFixture[Path](
    _ => Files.createTempDirectory("wick-loader-suite"),
    temp => List(temp, cacheOf(temp)).filter(Files.exists(_)).foreach(delete)
  )

  /** Each test has a cache folder of its own, so that none is saved by another's copy. */
  private def cacheOf(temp: Path): Path = temp.resolveSibling(s"${temp.getFileName}-cache")

  private def delete(path: Path): Unit = {
    if (Files.isDirectory(path) && !Files.isSymbolicLink(path)) list(path).foreach(delete)
    Files.deleteIfExists(path)
    ()
  }

  private def list(path: Path): List[Path] = {
    val stream = Files.list(path)
    try stream.iterator.asScala.toList
    finally stream.close()
  }

  private def bytes: Array[Byte] = {
    val in = getClass.getResourceAsStream(s"/native/${NativeLoader.platform()}/${System.mapLibraryName("wick")}")
    try in.readAllBytes()
    finally in.close()
  }

  private val jdk = Runtime.version.feature

  private def start(temp: Path, options: Seq[String], args: Seq[String], cache: Option[Path] = None): Process = {
    val java = Paths.get(System.getProperty("java.home"), "bin", "java").toString
    val access =
      (if (jdk >= 17) Seq("--enable-native-access=ALL-UNNAMED") else Nil) ++
        (if (jdk >= 24) Seq("--illegal-native-access=deny") else Nil)
    val flags = Seq("-Xmx256m", "-Xcheck:jni", "-XX:TieredStopAtLevel=1", "-XX:-CreateCoredumpOnCrash")
    val command = (java +: flags) ++ access ++ Seq(s"-Djava.io.tmpdir=$temp") ++ options ++
      Seq("-cp", System.getProperty("java.class.path"), "wick.LoaderProbe") ++ args
    val builder = new ProcessBuilder(command.asJava).redirectErrorStream(true)
    builder.environment.put("XDG_CACHE_HOME", cache.getOrElse(cacheOf(temp)).toString)
    builder.start()
  }

  private def end(process: Process): Ran = {
    val output = new String(process.getInputStream.readAllBytes())
    if (!process.waitFor(100, TimeUnit.SECONDS)) process.destroyForcibly()
    Ran(process.waitFor(), output)
  }

  private def probe(temp: Path, options: String*)(args: String*): Ran = end(start(temp, options, args))

  private def assertOk(ran: Ran): Unit = {
    assert(ran.ok, ran.output)
    // Newer JVMs warn about a setting that some tests get wrong on purpose.
    val own = ran.output.replace("WARNING: java.io.tmpdir directory does not exist", "")
    assert(!own.toLowerCase.contains("warning"), ran.output)
  }

  private def assertRefused(ran: Ran, words: String*): Unit = {
    assertNotEquals(ran.code, 0, ran.output)
    assert(ran.output.contains("UnsatisfiedLinkError"), ran.output)
    words.foreach(word => assert(ran.output.contains(word), s"'$word' is missing in: ${ran.output}"))
  }

  /** Runs `op` on a file system of its own; skipped where this process may not mount one. */
  private def mounted(at: Path, options: String)(op: => Unit): Unit = {
    Files.createDirectories(at)
    def run(command: String*) =
      try new ProcessBuilder(command: _*).redirectErrorStream(true).start().waitFor() == 0
      catch { case _: java.io.IOException => false }
    assume(run("mount", "-t", "tmpfs", "-o", options, "tmpfs", at.toString), "needs the right to mount a file system")
    try op
    finally assert(run("umount", "-l", at.toString))
  }

  test("the version is Cargo's") {
    val cargo = Iterator.iterate(Paths.get("").toAbsolutePath)(_.getParent).takeWhile(_ != null)
      .map(_.resolve("Cargo.toml")).find(Files.exists(_))
    assert(cargo.exists(Files.readAllLines(_).contains(s"""version = "${NativeLoader.VERSION}"""")), cargo)
  }

  test("PAIN-13: a library of another version is refused, naming both") {
    val init = classOf[NativeLoader].getClassLoader.loadClass("wick.Native").getDeclaredMethod("init", classOf[String])
    init.setAccessible(true)
    val error = intercept[java.lang.reflect.InvocationTargetException](init.invoke(null, "9.9.9")).getCause
    List("9.9.9", NativeLoader.VERSION).foreach(v => assert(error.getMessage.contains(v), error))
  }

  folder.test("PAIN-13: the jar's copy is unpacked once, verified and reused") { temp =>
    val first = probe(temp)("load")
    assertOk(first)
    val file = Paths.get(first.from.head)
    assert(file.startsWith(temp), file)
    assert(Files.readAllBytes(file).sameElements(bytes))
    val stamp = Files.getLastModifiedTime(file)
    val again = probe(temp)("load")
    assertOk(again)
    assertEquals(again.from, first.from)
    assertEquals(Files.getLastModifiedTime(file), stamp)
    assertEquals(list(file.getParent), List(file))
  }

  folder.test("PAIN-13: a damaged copy is replaced") { temp =>
    val file = Paths.get(probe(temp)("load").from.head)
    val damages = List[Array[Byte] => Array[Byte]](_ => Array.emptyByteArray, _.take(1000), _.reverse)
    damages.foreach { damage =>
      Files.write(file, damage(bytes))
      assertOk(probe(temp)("load"))
      assert(Files.readAllBytes(file).sameElements(bytes))
    }
    // A link to somebody's file is replaced by a file; what it pointed to is not written to.
    val other = Files.write(temp.resolve("other"), Array[Byte](1))
    Files.delete(file)
    Files.createSymbolicLink(file, other)
    assertOk(probe(temp)("load"))
    assertEquals(Files.size(other), 1L)
    assert(!Files.isSymbolicLink(file))
  }

  folder.test("PAIN-13: many JVMs at once unpack one copy") { temp =>
    val running = List.fill(8)(start(temp, Nil, Seq("load")))
    val ran = running.map(end)
    ran.foreach(assertOk)
    val file = Paths.get(ran.head.from.head)
    assertEquals(list(file.getParent), List(file))
  }

  folder.test("PAIN-13: the property names a file or its folder, and comes first") { temp =>
    val own = Files.createDirectories(temp.resolve("a folder"))
    val file = Files.write(own.resolve(System.mapLibraryName("wick")), bytes)
    List(own, file).foreach { path =>
      val ran = probe(temp, s"-Dwick.library.path=$path", "-Djava.library.path=/nowhere")("load")
      assertOk(ran)
      assert(ran.output.contains(s"from $file"), ran.output)
    }
    // Two class loaders of one JVM may name the same file.
    assertOk(probe(temp, s"-Dwick.library.path=$file")("loaders"))
  }

  folder.test("PAIN-13: java.library.path comes before the jar; a broken file there is passed over") { temp =>
    val own = Files.createDirectories(temp.resolve("own"))
    val file = Files.write(own.resolve(System.mapLibraryName("wick")), bytes)
    val ran = probe(temp, s"-Djava.library.path=$own")("load")
    assertOk(ran)
    assertEquals(ran.from, List("java.library.path"))
    assertOk(probe(temp, s"-Djava.library.path=$own")("loaders"))
    Files.write(file, "no library".getBytes)
    val passed = probe(temp, s"-Djava.library.path=$own")("load")
    assert(passed.ok, passed.output) // the JVM itself warns about such a file
    assert(passed.from.head.startsWith(temp.resolve(s"wick-${System.getProperty("user.name")}").toString), passed.from)
  }

  folder.test("PAIN-13: missing, garbage, foreign and wrong-architecture files are refused with the reason") { temp =>
    val file = temp.resolve(System.mapLibraryName("wick"))
    def load() = probe(temp, s"-Dwick.library.path=$file")("load")
    assertRefused(load(), file.toString, "no such file", "-Dwick.library.path")
    Files.write(file, "no library".getBytes)
    assertRefused(load(), file.toString, "file too short", "-Dwick.library.path")
    val elf = bytes
    elf(18) = 0x16 // the header's machine: s390
    elf(19) = 0
    Files.write(file, elf)
    assertRefused(load(), file.toString, "-Dwick.library.path", "Linux")
    // Loads well, but has none of our symbols.
    val foreign = Files.readAllLines(Paths.get("/proc/self/maps")).asScala
      .map(_.split(' ').last).find(_.matches(".*/libm[.-].*so.*")).get
    Files.copy(Paths.get(foreign), file, java.nio.file.StandardCopyOption.REPLACE_EXISTING)
    assertRefused(load(), file.toString, "is not wick's native library", "-Dwick.library.path")
  }

  folder.test("PAIN-13: an unsupported system or processor is named before anything is loaded") { temp =>
    assertRefused(probe(temp, "-Dos.arch=sparcv9")("load"), "sparcv9", "no build", "-Dwick.library.path")
    assertRefused(probe(temp, "-Dos.name=Plan 9")("load"), "Plan 9", "no build", "-Dwick.library.path")
    assertRefused(
      probe(temp, "-Dos.arch=aarch64")("load"),
      "linux-aarch64",
      "/native/linux-aarch64/",
      "-Dwick.library.path"
    )
    assert(list(temp).isEmpty)
  }

  folder.test("PAIN-13: where temp cannot be written to, the cache folder serves") { temp =>
    val blocked = Files.write(temp.resolve("file"), Array[Byte](1))
    val cache = temp.resolve("cache")
    for (bad <- List(blocked, Paths.get("/proc/self"), temp.resolve("file/below"))) {
      val ran = end(start(bad, Nil, Seq("load"), Some(cache)))
      assertOk(ran)
      assert(Paths.get(ran.from.head).startsWith(cache), ran.from)
    }
    assertOk(end(start(blocked, Nil, Seq("loaders"), Some(cache))))
    val refused = end(start(blocked, Nil, Seq("load"), Some(blocked)))
    assertRefused(
      refused,
      s"$blocked/wick-",
      s"$blocked/wick/",
      "cannot be written",
      "-Dwick.library.path",
      "java.io.tmpdir"
    )
  }

  folder.test("PAIN-13: a folder that others may write to is not trusted") { temp =>
    val file = Paths.get(probe(temp)("load").from.head)
    val all = java.nio.file.attribute.PosixFilePermissions.fromString("rwxrwxrwx")
    Files.setPosixFilePermissions(file.getParent, all)
    val cache = temp.resolve("cache")
    val ran = end(start(temp, Nil, Seq("load"), Some(cache)))
    assertOk(ran)
    assert(Paths.get(ran.from.head).startsWith(cache), ran.from)
  }

  folder.test("PAIN-13: a noexec temp folder falls back to the cache folder") { temp =>
    val noexec = temp.resolve("noexec")
    mounted(noexec, "noexec") {
      val cache = temp.resolve("cache")
      val ran = end(start(noexec, Nil, Seq("load"), Some(cache)))
      assertOk(ran)
      assert(Paths.get(ran.from.head).startsWith(cache), ran.from)
      val refused = end(start(noexec, Nil, Seq("load"), Some(noexec.resolve("cache"))))
      assertRefused(refused, noexec.toString, "mounted noexec?", "-Dwick.library.path")
    }
  }

  folder.test("PAIN-13: read-only and full temp folders fall back to the cache folder") { temp =>
    val cache = temp.resolve("cache")
    for (options <- List("ro", "size=16k")) {
      val at = temp.resolve(options.takeWhile(_.isLetter))
      mounted(at, options) {
        val ran = end(start(at, Nil, Seq("load"), Some(cache)))
        assertOk(ran)
        assert(Paths.get(ran.from.head).startsWith(cache), ran.from)
        assertRefused(
          end(start(at, Nil, Seq("load"), Some(at))),
          at.toString,
          "cannot be written",
          "-Dwick.library.path"
        )
      }
    }
  }

  folder.test("PAIN-12 BR-225: class loaders of one JVM each have their own copy") { temp =>
    val ran = probe(temp)("loaders")
    assertOk(ran)
    // Only the shared copy stays behind.
    assertEquals(list(temp).flatMap(list).size, 1)
  }

  folder.test("PAIN-12: class loaders that are collected take nothing with them") { temp =>
    assertOk(probe(temp)("reload"))
  }

  folder.test("BR-229: the library is found through its own class's loader") { temp =>
    assertOk(probe(temp)("contextLoaders"))
  }

  folder.test("BR-227: any public class may be the first to be touched") { temp =>
    val root = Paths.get(classOf[STen].getProtectionDomain.getCodeSource.getLocation.toURI)
    val names = list(root.resolve("wick")).map(_.getFileName.toString).filter(_.endsWith(".class"))
      .map(name => s"wick.${name.stripSuffix(".class")}").sorted
    val loader = getClass.getClassLoader
    val public = names.filter(name => Modifier.isPublic(Class.forName(name, false, loader).getModifiers))
    assert(public.contains("wick.STen$") && public.size > 20, public)
    // Every one in a class loader of its own, the entries in a JVM of their own and then used.
    assertOk(probe(temp)("touchEach" +: public: _*))
    val entries =
      List("DType$F32$", "Device$", "CPU$", "Scope$", "Scope", "STen$", "STen", "STenOptions$", "Wick$", "Movable$")
        .map("wick." + _).filter(public.contains)
    entries.grouped(2).foreach { group =>
      group.map(name => start(temp, Nil, Seq("touch", name))).map(end).foreach(assertOk)
    }
  }

  folder.test("PAIN-19: a JVM that denies native access says which flag allows it") { temp =>
    assume(jdk >= 24, "older JVMs deny nothing")
    val ran = probe(temp, "--enable-native-access=java.base")("load")
    // The flag given last adds to the first, so the access that the suite allows must be left out.
    val process = new ProcessBuilder(
      Paths.get(System.getProperty("java.home"), "bin", "java").toString,
      "--illegal-native-access=deny",
      s"-Djava.io.tmpdir=$temp",
      "-cp",
      System.getProperty("java.class.path"),
      "wick.LoaderProbe",
      "load"
    ).redirectErrorStream(true).start()
    assertOk(ran)
    assertRefused(end(process), "--enable-native-access=ALL-UNNAMED")
  }
}
