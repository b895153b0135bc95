package wick.bench

import ai.djl.ndarray.NDArray
import wick.{DType, Scope, STen}

/** The elementary and special functions and the activations. */
object Elementary extends Family {

  /** A function, its domain, and how each peer says it. */
  private final case class Function(
      name: String,
      wick: (STen, Scope) => STen,
      torch: String,
      djl: Option[NDArray => NDArray] = None,
      loop: Option[Double => Double] = None,
      low: Double = 0.1,
      high: Double = 0.9
  ) {
    def by(f: NDArray => NDArray): Function = copy(djl = Some(f))
    def loop(f: Double => Double): Function = copy(loop = Some(f))
    def from(low: Double, high: Double): Function = copy(low = low, high = high)
  }

  private def f(name: String, torch: String)(wick: (STen, Scope) => STen): Function = Function(name, wick, torch)

  private val functions: Seq[Function] = Seq(
    f("exp", "a.exp()")(_.exp(_)).by(_.exp).loop(math.exp),
    f("exp2", "a.exp2()")(_.exp2(_)),
    f("expm1", "a.expm1()")(_.expm1(_)),
    f("log", "a.log()")(_.log(_)).by(_.log).loop(math.log),
    f("log2", "a.log2()")(_.log2(_)).by(_.log2),
    f("log10", "a.log10()")(_.log10(_)).by(_.log10),
    f("log1p", "a.log1p()")(_.log1p(_)),
    f("sin", "a.sin()")(_.sin(_)).by(_.sin).loop(math.sin).from(-10, 10),
    f("cos", "a.cos()")(_.cos(_)).by(_.cos).from(-10, 10),
    f("tan", "a.tan()")(_.tan(_)).by(_.tan).from(-10, 10),
    f("asin", "a.asin()")(_.asin(_)).by(_.asin),
    f("acos", "a.acos()")(_.acos(_)).by(_.acos),
    f("atan", "a.atan()")(_.atan(_)).by(_.atan),
    f("sinh", "a.sinh()")(_.sinh(_)).by(_.sinh),
    f("cosh", "a.cosh()")(_.cosh(_)).by(_.cosh),
    f("tanh", "a.tanh()")(_.tanh(_)).by(_.tanh).loop(math.tanh).from(-3, 3),
    f("asinh", "a.asinh()")(_.asinh(_)),
    f("acosh", "a.acosh()")(_.acosh(_)).from(1, 10),
    f("atanh", "a.atanh()")(_.atanh(_)),
    f("sqrt", "a.sqrt()")(_.sqrt(_)).by(_.sqrt).loop(math.sqrt),
    f("rsqrt", "a.rsqrt()")(_.rsqrt(_)),
    f("reciprocal", "a.reciprocal()")(_.reciprocal(_)),
    f("pow 2.5", "a.pow(2.5)")(_.pow(2.5)(_)).by(_.pow(2.5f)).loop(math.pow(_, 2.5)),
    f("sigmoid", "a.sigmoid()")(_.sigmoid(_)).by(_.getNDArrayInternal.sigmoid).loop(x => 1 / (1 + math.exp(-x))).from(-3, 3),
    f("erf", "a.erf()")(_.erf(_)).by(_.erf).from(-3, 3),
    f("erfc", "a.erfc()")(_.erfc(_)).from(-3, 3),
    f("erfinv", "a.erfinv()")(_.erfinv(_)).by(_.erfinv),
    f("lgamma", "a.lgamma()")(_.lgamma(_)).by(_.gammaln).from(0.1, 10),
    f("digamma", "a.digamma()")(_.digamma(_)).from(0.1, 10),
    f("gelu", "F.gelu(a)")(_.gelu(_)).by(_.getNDArrayInternal.gelu).from(-3, 3),
    f("gelu tanh", "F.gelu(a, approximate='tanh')")(_.geluTanh(_)).from(-3, 3),
    f("silu", "F.silu(a)")(_.silu(_)).from(-3, 3),
    f("mish", "F.mish(a)")(_.mish(_)).from(-3, 3),
    f("hardswish", "F.hardswish(a)")(_.hardSwish(_)).from(-3, 3),
    f("hardsigmoid", "F.hardsigmoid(a)")(_.hardSigmoid(_)).from(-3, 3),
    f("leaky relu", "F.leaky_relu(a)")(_.leakyRelu(0.01)(_)).by(_.getNDArrayInternal.leakyRelu(0.01f)).from(-3, 3),
    f("elu", "F.elu(a)")(_.elu(1.0)(_)).by(_.getNDArrayInternal.elu(1f)).from(-3, 3),
    f("softplus", "F.softplus(a)")(_.softplus(1.0, 20.0)(_)).by(_.getNDArrayInternal.softPlus).from(-3, 3),
    f("logsigmoid", "F.logsigmoid(a)")(_.logSigmoid(_)).from(-3, 3),
    f("neg", "-a")(_.neg(_)).by(_.neg),
    f("abs", "a.abs()")(_.abs(_)).by(_.abs).from(-3, 3),
    f("square", "a.square()")(_.square(_)).by(_.square),
    f("relu", "a.relu()")(_.relu(_)).by(_.getNDArrayInternal.relu).from(-3, 3),
    f("relu6", "F.relu6(a)")(_.relu6(_)).from(-3, 9),
    f("ceil", "a.ceil()")(_.ceil(_)).by(_.ceil).from(-3, 3),
    f("floor", "a.floor()")(_.floor(_)).by(_.floor).from(-3, 3),
    f("round", "a.round()")(_.round(_)).by(_.round).from(-3, 3),
    f("trunc", "a.trunc()")(_.trunc(_)).by(_.trunc).from(-3, 3),
    f("frac", "a.frac()")(_.frac(_)).from(-3, 3),
    f("sign", "a.sign()")(_.sign(_)).by(_.sign).from(-3, 3)
  )

  private val pairs: Seq[Row] = for {
    dtype <- Seq(F32, F64)
    (n, many) <- Seq(100000L -> false, 1000000L -> (dtype == F32))
    pair <- Seq(
      row("pow of two", s"${short(n)} $dtype", dtype.size.toDouble * n)(numbers(dtype, n), numbers(dtype, n))
        .wick { case Seq(a, b) => implicit s => a.pow(b) }
        .djl { case Seq(a, b) => () => a.pow(b) },
      row("atan2", s"${short(n)} $dtype", dtype.size.toDouble * n)(numbers(dtype, n), numbers(dtype, n))
        .wick { case Seq(a, b) => implicit s => a.atan2(b) }
        .djl { case Seq(a, b) => () => a.atan2(b) },
      row("hypot", s"${short(n)} $dtype", dtype.size.toDouble * n)(numbers(dtype, n), numbers(dtype, n))
        .wick { case Seq(a, b) => implicit s => a.hypot(b) }
        .torch("torch.hypot(a, b)")
    )
  } yield if (many) pair.onBoth else pair

  private def measured(function: Function, n: Long, dtype: DType): Row = {
    val operand = Operand(Seq(n), dtype, Fill.Uniform(function.low, function.high))
    val plain = row(function.name, s"${short(n)} $dtype", dtype.size.toDouble * n)(operand)
      .wick { case Seq(a) => scope => function.wick(a, scope) }
    val peer = function.djl.fold(plain.torch(function.torch))(f => plain.djl { case Seq(a) => () => f(a) })
    function.loop.filter(_ => dtype == F32).fold(peer)(f =>
      peer.loop { case Seq(a: Array[Float]) => Loops.unary(a)(x => f(x.toDouble).toFloat) }
    )
  }

  val rows: Seq[Row] = functions.flatMap { function =>
    Seq(
      measured(function, 100000, F32),
      measured(function, 1000000, F32).onBoth,
      measured(function, 100000, F64),
      measured(function, 1000000, F64)
    )
  } ++ pairs
}
