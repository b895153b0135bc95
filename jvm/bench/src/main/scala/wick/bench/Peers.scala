package wick.bench

import java.io.{BufferedReader, File, InputStreamReader, PrintWriter}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, StandardCopyOption}

import scala.util.Try

/** A process that answers each line by one. */
private final class Talk(command: Seq[String], errors: File) {
  private val process = new ProcessBuilder(command: _*).redirectError(errors).start()
  private val requests = new PrintWriter(process.getOutputStream, true, UTF_8)
  private val answers = new BufferedReader(new InputStreamReader(process.getInputStream, UTF_8))

  def ask(request: String): Either[String, String] = {
    requests.println(request)
    Option(answers.readLine()).toRight(s"its process ended, see $errors")
  }

  def close(): Unit = {
    requests.close()
    process.waitFor()
  }
}

/** The processes that measure, each started when it is first needed. The peers of a row are measured one
  * after the other, so that what else the machine does in the meantime strikes them alike.
  */
final class Peers(folder: File) {
  private var workers = Map.empty[String, Talk]

  /** Python with PyTorch, if there is one: WICK_BENCH_PYTHON, or python3. */
  private lazy val python: Either[String, Talk] = {
    val script = new File(folder, "torch_peer.py")
    Files.copy(getClass.getResourceAsStream("/torch_peer.py"), script.toPath, StandardCopyOption.REPLACE_EXISTING)
    val program = sys.env.getOrElse("WICK_BENCH_PYTHON", "python3")
    val talk = Try(new Talk(Seq(program, script.getPath), new File(folder, "torch.log"))).toEither.left.map(_.toString)
    talk.flatMap(t => t.ask("").map { version => torchVersion = Some(version); t })
  }
  private var torchVersion = Option.empty[String]

  /** Of the PyTorch that stood in for DJL, if it was asked. */
  def torch: Option[String] = torchVersion

  def measure(peer: String, row: Int, threads: Int, plan: String): Either[String, Times] = {
    if (!workers.contains(peer)) {
      val command = Worker.command(peer, new File(folder, s"$peer.jmh.log"))
      workers += peer -> new Talk(command, new File(folder, s"$peer.log"))
    }
    val answer = workers(peer).ask(s"$row $threads $plan")
    if (answer.isLeft) workers -= peer // a fault of the peer, not of the rows to come
    answer.flatMap(Times.parse)
  }

  def measureTorch(row: Row, threads: Int): Either[String, Times] = {
    val operands = row.operands.map(_.python).zip('a' to 'z').map { case (made, name) => s"$name = $made" }
    python.flatMap(_.ask(s"$threads\t${operands.mkString("; ")}\t${row.torchBody.get}")).flatMap(Times.parse)
  }

  /** Ends the JVMs. */
  def renew(): Unit = {
    workers.values.foreach(_.close())
    workers = Map.empty
  }

  def close(): Unit = {
    renew()
    if (torchVersion.nonEmpty) python.foreach(_.close())
  }
}
