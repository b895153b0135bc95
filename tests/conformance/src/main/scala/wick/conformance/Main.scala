package wick.conformance

import java.nio.file.{Files, Paths}

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import wick._

/** `run DIR`: every case of every `*.safetensors` of a folder through the public API; 1 if one fails. */
object Main {

  private sealed trait Outcome
  private case object Passed extends Outcome
  private final case class Failed(why: String) extends Outcome
  private case object NotThereYet extends Outcome

  private final val Shown = 50

  def main(args: Array[String]): Unit = {
    val folder = Paths.get(args.headOption.getOrElse("tests/golden"))
    val files = Files.list(folder).iterator.asScala.filter(_.toString.endsWith(".safetensors")).toSeq.sorted
    if (files.isEmpty) {
      println(s"no .safetensors file in $folder")
      sys.exit(1)
    }
    val table = mutable.LinkedHashMap.empty[String, Array[Int]]
    val missing = mutable.TreeMap.empty[String, Int]
    var failures = 0
    for (file <- files) {
      val group = file.getFileName.toString.stripSuffix(".safetensors")
      val counts = table.getOrElseUpdate(group, new Array[Int](3))
      val tensors = SafeTensors.read(file)
      for (c <- Case.readAll(tensors.metadata("cases"))) run(c, tensors) match {
        case Passed      => counts(0) += 1
        case NotThereYet =>
          counts(2) += 1
          missing(c.op) = missing.getOrElse(c.op, 0) + 1
        case Failed(why) =>
          counts(1) += 1
          failures += 1
          if (failures <= Shown) println(s"FAILED ${c.id} ${c.op}(${c.args.map(show).mkString(", ")}): $why")
      }
    }
    report(table.toSeq, missing.toSeq)
    val live = Wick.memory
    if (live.liveTensors != 0) println(s"leaked: $live")
    sys.exit(if (failures == 0 && live.liveTensors == 0) 0 else 1)
  }

  private def run(c: Case, file: SafeTensors): Outcome = Operations.all.get(c.op) match {
    case None     => NotThereYet
    case Some(op) =>
      try
        Scope.root { implicit scope =>
          val call = new Call(c, file)
          c.expect match {
            case Left(words) =>
              try {
                op(call)
                Failed(s"no exception, expected: $words").asInstanceOf[Outcome]
              } catch {
                case e @ (_: ShapeException | _: DTypeException | _: IndexException | _: DeviceException |
                    _: LinalgException) =>
                  if (call.unchanged(firstToo = true)) Passed
                  else Failed(s"an argument changed although it threw $e")
              }
            case Right(_) =>
              val got = op(call)
              Compare.values(c, file, call, got) match {
                case Some(fault)                                    => Failed(fault)
                case None if !call.unchanged(firstToo = !c.inplace) => Failed("an argument changed")
                case None                                           => Passed
              }
          }
        }
      catch { case e: Throwable => Failed(s"threw $e") }
  }

  private implicit val outcomes: EmptyMovable[Outcome] = EmptyMovable.make

  private def show(arg: Arg): String = arg match {
    case TensorArg(_, shape, view) =>
      s"tensor ${shape.mkString("[", ", ", "]")}" + view.fold("")(v =>
        s" by ${v._1.mkString("[", ", ", "]")} at ${v._2}"
      )
    case ListArg(values) => values.map(show).mkString("[", ", ", "]")
    case other           => other.toString
  }

  private def report(table: Seq[(String, Array[Int])], missing: Seq[(String, Int)]): Unit = {
    if (missing.nonEmpty) {
      println("\nnot there yet:")
      missing.map { case (op, n) => s"$op ($n)" }.grouped(8).foreach(row => println(row.mkString("  ", ", ", "")))
    }
    println(f"%n${"group"}%-12s${"passed"}%8s${"failed"}%8s${"skipped"}%9s")
    table.foreach { case (group, n) => println(f"$group%-12s${n(0)}%8d${n(1)}%8d${n(2)}%9d") }
    if (Decided.counts.nonEmpty)
      println(Decided.counts.map { case (id, n) => s"$id: $n" }.mkString(
        "\ncases with a value decided otherwise than libtorch's: ",
        ", ",
        ""
      ))
    val sums = (0 to 2).map(i => table.map(_._2(i)).sum)
    println(s"\n${sums(0)} passed, ${sums(1)} failed, ${sums(2)} skipped")
  }
}
