import sbt._
import sbt.util.{FileFunction, FilesInfo}
import scala.sys.process.{Process, ProcessLogger}

/** Builds the native library with cargo when a Rust source changed, and puts it into the jar. */
object NativeBuild {

  /** The jar's folder for the machine that builds, named as `wick.NativeLoader` names it. */
  lazy val platform: String = {
    val os = sys.props("os.name").toLowerCase match {
      case s if s.startsWith("linux")   => "linux"
      case s if s.startsWith("mac")     => "macos"
      case s if s.startsWith("windows") => "windows"
      case s                            => sys.error(s"wick has no native build for $s")
    }
    val arch = sys.props("os.arch") match {
      case "amd64" | "x86_64"  => "x86_64"
      case "aarch64" | "arm64" => "aarch64"
      case s                   => sys.error(s"wick has no native build for $s")
    }
    s"$os-$arch"
  }

  /** The version that Cargo.toml gives to the whole workspace: the only place where it is written. */
  def version(root: File): String =
    IO.readLines(root / "Cargo.toml")
      .dropWhile(_.trim != "[workspace.package]")
      .collectFirst { case s if s.startsWith("version") => s.split('"')(1) }
      .getOrElse(sys.error("Cargo.toml has no version in [workspace.package]"))

  /** The library, stripped; cargo runs only where the content of a source differs from last time. */
  def library(root: File, log: Logger): File = {
    val sources = (root / "rust" ** AllPassFilter).get.filter(_.isFile) ++
      Seq("Cargo.toml", "Cargo.lock", ".cargo/config.toml").map(root / _).filter(_.exists)
    val name = System.mapLibraryName("wick")
    val stripped = root / "target" / "native" / platform / name
    val build = FileFunction.cached(root / "target" / "native" / "cache", FilesInfo.hash, FilesInfo.hash) { _ =>
      val command = Seq(tool("cargo"), "build", "--release", "-p", "wick-jni", "--target-dir", s"$root/target")
      log.info("building the native library: cargo build --release -p wick-jni")
      run(command, root, log) match {
        case 0 => strip(root / "target" / "release" / name, stripped, log)
        case n => throw new MessageOnlyException(s"cargo build failed with exit code $n; its messages are above")
      }
      Set(stripped)
    }
    build(sources.toSet)
    stripped
  }

  private def strip(from: File, to: File, log: Logger): Unit = {
    IO.createDirectory(to.getParentFile)
    val flag = if (platform.startsWith("macos")) "-x" else "--strip-unneeded"
    val done =
      try run(Seq("strip", flag, "-o", to.getPath, from.getPath), from.getParentFile, log) == 0
      catch { case _: java.io.IOException => false }
    if (!done) IO.copyFile(from, to)
  }

  private def run(command: Seq[String], folder: File, log: Logger): Int = {
    val progress = "\\s*(Compiling|Finished|Building|Blocking|Downloading|Downloaded|Updating|Locking|Adding) .*"
    def show(line: String): Unit =
      if (line.matches(progress)) log.info(line) else if (line.nonEmpty) log.warn(line)
    Process(command, folder).!(ProcessLogger(show(_)))
  }

  /** An IDE's sbt often lacks rustup's folder in its path. */
  private def tool(name: String): String = {
    val own = file(sys.props("user.home")) / ".cargo" / "bin" / name
    val inPath =
      sys.env.getOrElse("PATH", "").split(java.io.File.pathSeparator).map(file(_) / name).exists(_.canExecute)
    if (inPath || !own.canExecute) name else own.getPath
  }
}
