package wick

import java.lang.reflect.{Method, Modifier, Type}

/** The public methods, and some argument for each of their parameters. */
object PublicApi {

  // The methods that answer for closed tensors, and those that are not the user's.
  private val answers = Set(
    "toString",
    "close",
    "release",
    "isClosed",
    "hashCode",
    "equals",
    "getClass",
    "notify",
    "notifyAll",
    "wait",
    "rawHandle",
    "dims",
    "dtypeUnchecked",
    "deviceNumber",
    "shapeText",
    "frame",
    "moveOut",
    "own",
    "ownAll"
  )

  def publicMethods(c: Class[_]): List[Method] =
    c.getMethods.toList
      .filter(m => !Modifier.isStatic(m.getModifiers) && !m.getName.contains("$"))
      .filter(m => !answers(m.getName))

  private val tensor = "wick\\.STen\\b".r
  def holds(t: Type): Boolean = tensor.findFirstIn(t.toString).isDefined
  def takesTensors(m: Method): Boolean =
    m.getParameterTypes.zip(m.getGenericParameterTypes).exists { case (c, g) => c != classOf[_ => _] && holds(g) }

  /** Some value for each parameter; null where a method wants something that is not known here. */
  def arguments(
      method: Method,
      tensor: STen,
      number: AnyRef,
      word: String,
      scope: Scope
  ): Array[AnyRef] =
    method.getParameterTypes.zip(method.getGenericParameterTypes).map[AnyRef] {
      case (c, _) if fuses(method) && c.getName.startsWith("scala.Function") => expression(c)
      case (c, _) if c == classOf[Scope]                                     => scope
      case (c, _) if c == classOf[STen]                                      => tensor
      case (c, _) if c == classOf[Long]                                      => Long.box(0)
      case (c, _) if c == classOf[Int]                                       => Int.box(0)
      case (c, _) if c == classOf[Byte]                                      => Byte.box(6)
      case (c, _) if c == classOf[Short]                                     => Short.box(0)
      case (c, _) if c == classOf[Double]                                    => Double.box(0)
      case (c, _) if c == classOf[Float]                                     => Float.box(0)
      case (c, _) if c == classOf[Boolean]                                   => Boolean.box(false)
      case (c, _) if c == classOf[String]                                    => word
      case (c, _) if c == classOf[STenOptions]                               => STenOptions.d
      case (c, _) if c == classOf[DType]                                     => DType.F64
      case (c, _) if c == classOf[Generator]                                 => Generator(1)
      case (c, _) if c == classOf[Device]                                    => CPU
      case (c, _) if c == classOf[FloatingPointPrecision]                    => DoublePrecision
      case (c, g) if c == classOf[Option[_]]                                 => if (holds(g)) Some(tensor) else None
      case (c, _) if c == classOf[Index]                                     => Index.at(0)
      case (c, g) if c.isAssignableFrom(classOf[List[_]])                    => List(if (holds(g)) tensor else number)
      case (c, _) if c == classOf[(_, _)]                                    => (true, true)
      case (c, _) if c == classOf[(_, _, _)]                                 => (true, true, true)
      case (c, _) if c == classOf[Array[Long]]                               => Array(0L)
      case (c, _) if c == classOf[Array[Int]]                                => Array(0)
      case (c, _) if c == classOf[Array[Short]]                              => Array(0.toShort)
      case (c, _) if c == classOf[Array[Byte]]                               => Array(0.toByte)
      case (c, _) if c == classOf[Array[Float]]                              => Array(0f)
      case (c, _) if c == classOf[Array[Double]]                             => Array(0.0)
      case (c, _) if c == classOf[Array[Boolean]]                            => Array(false)
      case (c, _) if c == classOf[BorderMode]                                => BorderMode.Replicate
      case (c, _) if c == classOf[Filter]                                    => Filter.Box3x3
      case (c, _) if c == classOf[Window]                                    => Window(1)
      case (c, _) if c == classOf[ValidRegion]                               => ValidRegion.all(Seq(1))
      case (c, _) if c == classOf[_ => _]                                    => (_: Any) => ()
      case (c, _) if c == classOf[(_, _) => _]                               => (_: Any, _: Any) => ()
      case (c, _) if c == classOf[(_, _, _) => _]                            => (_: Any, _: Any, _: Any) => ()
      case (c, _) if c == classOf[java.nio.file.Path]                        => scratch
      case (c, _) if c == classOf[java.io.OutputStream]                      => java.io.OutputStream.nullOutputStream
      case (c, _) if c == classOf[java.nio.ByteBuffer]                       =>
        java.nio.ByteBuffer.allocateDirect(64).order(java.nio.ByteOrder.nativeOrder)
      case (c, _) if c == classOf[Format] => Format.U8
      case _                              => null
    }

  private def fuses(method: Method): Boolean = method.getName.startsWith("fuse")

  /** The exponential of the first operand, as a function of so many. */
  private def expression(function: Class[_]): AnyRef = {
    def exp(first: Any): Expr = first match {
      case x: Expr => x.exp
      case all     => all.asInstanceOf[Seq[Expr]].head.exp
    }
    if (function == classOf[_ => _]) (a: Any) => exp(a)
    else if (function == classOf[(_, _) => _]) (a: Any, _: Any) => exp(a)
    else if (function == classOf[(_, _, _) => _]) (a: Any, _: Any, _: Any) => exp(a)
    else if (function == classOf[(_, _, _, _) => _]) (a: Any, _: Any, _: Any, _: Any) => exp(a)
    else (a: Any, _: Any, _: Any, _: Any, _: Any) => exp(a)
  }

  /** A file that methods may write. */
  private val scratch: java.nio.file.Path = {
    val file = java.nio.file.Files.createTempFile("wick", ".api")
    file.toFile.deleteOnExit()
    file
  }

  /** Words that methods with a parameter of strings know. */
  val words: List[String] =
    List("L", "ij", "none", "reduced", "linear", "fro", "ij,jk->ik", "mean", "constant", "nearest", "ortho", "bt709")
}
