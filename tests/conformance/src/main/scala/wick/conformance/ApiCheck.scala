package wick.conformance

import java.lang.reflect.{Method, Modifier}
import java.nio.file.{Files, Paths}

import scala.jdk.CollectionConverters._
import scala.reflect.NameTransformer

import wick._

/** `./sbt apiCheck`: whether every member of lamp's `STen` is here, by name, parameter types and order,
  * defaults and result, as `tests/golden/lamp-sten.tsv` lists them.
  *
  * Left out are members that take libtorch's own classes, and the collectives.
  */
object ApiCheck {

  /** A line of the table: a member as lamp declares it. */
  private final case class Member(owner: String, text: String) {

    private val declared = """([^\[(:]+)(?:\[S: Sc\])?((?:\([^)]*(?:\([^)]*\)[^)]*)*\))*)(?::\s*(.+))?""".r

    private val declared(rawName, lists, rawResult) = text: @unchecked

    val name: String = rawName.trim

    /** Lists of parameters; a scope is passed last. */
    val parameters: List[String] = {
      val scoped = text.contains("[S: Sc]") || lists.contains("implicit")
      val plain = "\\(implicit[^)]*\\)".r.replaceAllIn(lists, "")
      split(plain.stripPrefix("(").stripSuffix(")")) ++ (if (scoped) List("scope: Scope") else Nil)
    }

    val result: Option[String] = Option(rawResult).map(_.trim)

    def types: List[String] = parameters.map(p => p.drop(p.indexOf(':') + 1).takeWhile(_ != '=').trim)

    def defaults: List[Int] = parameters.indices.filter(parameters(_).contains("=")).map(_ + 1).toList

    def taken: Boolean =
      // `owned` is an extension of libtorch's own classes.
      name != "owned" && !text.toLowerCase.contains("nccl") && !owner.startsWith("Nccl") &&
        !types.exists(t => t.contains("Tensor") || t.contains("aten."))
  }

  /** Parameters, at the commas outside brackets. */
  private def split(list: String): List[String] = {
    var depth = 0
    val parts = List.newBuilder[String]
    val part = new StringBuilder
    list.foreach { c =>
      if (c == '[' || c == '(') depth += 1
      if (c == ']' || c == ')') depth -= 1
      if (c == ',' && depth == 0) { parts += part.toString.trim; part.clear() }
      else part += c
    }
    parts += part.toString.trim
    parts.result().filter(_.nonEmpty)
  }

  private val classes: Map[String, Class[_]] = Map(
    "STen" -> classOf[STen],
    "STenOptions" -> classOf[STenOptions],
    "Scope" -> classOf[Scope],
    "Device" -> classOf[Device],
    "FloatingPointPrecision" -> classOf[FloatingPointPrecision],
    "Long" -> classOf[Long],
    "Int" -> classOf[Int],
    "Short" -> classOf[Short],
    "Byte" -> classOf[Byte],
    "Double" -> classOf[Double],
    "Float" -> classOf[Float],
    "Boolean" -> classOf[Boolean],
    "Unit" -> classOf[Unit],
    "String" -> classOf[String],
    "Option" -> classOf[Option[_]],
    "Seq" -> classOf[scala.collection.immutable.Seq[_]],
    "List" -> classOf[List[_]],
    "Vector" -> classOf[Vector[_]]
  )

  private def erased(name: String): Class[_] = name match {
    case s if s.endsWith("*")        => classOf[scala.collection.immutable.Seq[_]]
    case s if s.startsWith("Array[") =>
      java.lang.reflect.Array.newInstance(erased(s.stripPrefix("Array[").stripSuffix("]")), 0).getClass
    case s =>
      val simple = s.takeWhile(_ != '[')
      classes.getOrElse(simple, sys.error(s"the table names an unknown type: $name"))
  }

  private def methods(owner: String): List[Method] = {
    val c: Class[_] = owner match {
      case "STen#"        => classOf[STen]
      case "STen"         => STen.getClass
      case "STenOptions#" => classOf[STenOptions]
      case "STenOptions"  => STenOptions.getClass
    }
    c.getMethods.toList.filter(m => !Modifier.isStatic(m.getModifiers))
  }

  /** What is missing of a member; none where it is here. */
  private def missing(member: Member): Option[String] = {
    val encoded = NameTransformer.encode(member.name)
    val all = methods(member.owner)
    val named = all.filter(_.getName == encoded)
    val wanted = member.types.map(erased)
    // A parameter of our own may follow lamp's where it has a default.
    def fits(m: Method): Boolean = {
      val (first, last) =
        if (wanted.lastOption.contains(classOf[Scope])) wanted.splitAt(wanted.size - 1) else (wanted, Nil)
      val has = m.getParameterTypes.toList
      has.startsWith(first) && has.endsWith(last) && (wanted.size + 1 to has.size).forall { n =>
        all.exists(_.getName == encoded + "$default$" + (n - last.size))
      }
    }
    named.filter(fits) match {
      case Nil if named.isEmpty => Some("no member of that name")
      case Nil                  =>
        Some(named.map(_.getParameterTypes.map(_.getSimpleName).mkString("only (", ", ", ")")).mkString("; "))
      case found =>
        val absent = member.defaults.filterNot(n => all.exists(_.getName == encoded + "$default$" + n))
        val results = member.result.map(erased).toList.filterNot(r => found.exists(_.getReturnType == r))
        if (absent.nonEmpty) Some(s"no default for parameter ${absent.mkString(", ")}")
        else results.headOption.map(r => s"gives ${found.head.getReturnType.getSimpleName}, not ${r.getSimpleName}")
    }
  }

  def main(args: Array[String]): Unit = {
    val table = Paths.get(args.headOption.getOrElse("tests/golden/lamp-sten.tsv"))
    val members = Files.readAllLines(table).asScala.toList.drop(1).filter(_.nonEmpty).map { line =>
      val columns = line.split('\t')
      Member(columns(0), columns(1))
    }
    val checked = members.filter(_.taken)
    val wrong = for (member <- checked; why <- missing(member)) yield s"${member.owner} ${member.text}: $why"
    wrong.foreach(println)
    println(s"${members.size - checked.size} members that take libtorch's classes or are collectives left out")
    println(s"${checked.size - wrong.size} passed, ${wrong.size} failed")
    if (wrong.nonEmpty) sys.exit(1)
  }
}
