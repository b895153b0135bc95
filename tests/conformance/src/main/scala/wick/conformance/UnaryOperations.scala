package wick.conformance

import wick._

import Operations._

/** One operand. */
object UnaryOperations {
  private def plain(f: STen => Scope => STen): Op = one(c => s => f(c.t(0))(s))

  private val made: Map[String, Op] = Map(
    "abs" -> plain(t => implicit s => t.abs),
    "acos" -> plain(t => implicit s => t.acos),
    "acosh" -> plain(t => implicit s => t.acosh),
    "asin" -> plain(t => implicit s => t.asin),
    "asinh" -> plain(t => implicit s => t.asinh),
    "atan" -> plain(t => implicit s => t.atan),
    "atanh" -> plain(t => implicit s => t.atanh),
    "ceil" -> plain(t => implicit s => t.ceil),
    "cos" -> plain(t => implicit s => t.cos),
    "cosh" -> plain(t => implicit s => t.cosh),
    "digamma" -> plain(t => implicit s => t.digamma),
    "erf" -> plain(t => implicit s => t.erf),
    "erfc" -> plain(t => implicit s => t.erfc),
    "erfinv" -> plain(t => implicit s => t.erfinv),
    "exp" -> plain(t => implicit s => t.exp),
    "exp2" -> plain(t => implicit s => t.exp2),
    "expm1" -> plain(t => implicit s => t.expm1),
    "floor" -> plain(t => implicit s => t.floor),
    "frac" -> plain(t => implicit s => t.frac),
    "gelu" -> plain(t => implicit s => t.gelu),
    "hardswish" -> plain(t => implicit s => t.hardSwish),
    "isfinite" -> plain(t => implicit s => t.isfinite),
    "isinf" -> plain(t => implicit s => t.isinf),
    "isnan" -> plain(t => implicit s => t.isnan),
    "leaky_relu" -> one(c => implicit s => c.t(0).leakyRelu(c.double(1))),
    "lgamma" -> plain(t => implicit s => t.lgamma),
    "log" -> plain(t => implicit s => t.log),
    "log10" -> plain(t => implicit s => t.log10),
    "log1p" -> plain(t => implicit s => t.log1p),
    "log2" -> plain(t => implicit s => t.log2),
    "logical_not" -> plain(t => implicit s => t.logicalNot),
    "nan_to_num" -> plain(t => implicit s => t.nanToNum),
    "neg" -> plain(t => implicit s => t.neg),
    "reciprocal" -> plain(t => implicit s => t.reciprocal),
    "relu" -> plain(t => implicit s => t.relu),
    "relu6" -> plain(t => implicit s => t.relu6),
    "round" -> plain(t => implicit s => t.round),
    "rsqrt" -> plain(t => implicit s => t.rsqrt),
    "sigmoid" -> plain(t => implicit s => t.sigmoid),
    "sign" -> plain(t => implicit s => t.sign),
    "silu" -> plain(t => implicit s => t.silu),
    "sin" -> plain(t => implicit s => t.sin),
    "sinh" -> plain(t => implicit s => t.sinh),
    "softplus" -> one(c => implicit s => c.t(0).softplus(c.double(1), c.double(2))),
    "sqrt" -> plain(t => implicit s => t.sqrt),
    "square" -> plain(t => implicit s => t.square),
    "tan" -> plain(t => implicit s => t.tan),
    "tanh" -> plain(t => implicit s => t.tanh),
    "trunc" -> plain(t => implicit s => t.trunc)
  )

  private val written: Map[String, Op] = Map(
    "abs_" -> inPlace((t, _) => t.abs_()),
    "acos_" -> inPlace((t, _) => t.acos_()),
    "asin_" -> inPlace((t, _) => t.asin_()),
    "atan_" -> inPlace((t, _) => t.atan_()),
    "ceil_" -> inPlace((t, _) => t.ceil_()),
    "cos_" -> inPlace((t, _) => t.cos_()),
    "exp_" -> inPlace((t, _) => t.exp_()),
    "floor_" -> inPlace((t, _) => t.floor_()),
    "leaky_relu_" -> inPlace((t, c) => t.leakyRelu_(c.double(1))),
    "log1p_" -> inPlace((t, _) => t.log1p_()),
    "log_" -> inPlace((t, _) => t.log_()),
    "neg_" -> inPlace((t, _) => t.neg_()),
    "reciprocal_" -> inPlace((t, _) => t.reciprocal_()),
    "relu_" -> inPlace((t, _) => t.relu_()),
    "round_" -> inPlace((t, _) => t.round_()),
    "sigmoid_" -> inPlace((t, _) => t.sigmoid_()),
    "sign_" -> inPlace((t, _) => t.sign_()),
    "sin_" -> inPlace((t, _) => t.sin_()),
    "sqrt_" -> inPlace((t, _) => t.sqrt_()),
    "square_" -> inPlace((t, _) => t.square_()),
    "tan_" -> inPlace((t, _) => t.tan_()),
    "tanh_" -> inPlace((t, _) => t.tanh_())
  )

  val table: Map[String, Op] = made ++ written
}
