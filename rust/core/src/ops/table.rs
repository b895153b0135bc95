//! THE TABLE. A row: class, variant, libtorch name, Scala name, Scala parameters (at most three,
//! doubles, reaching the expression as `p`), CPU expression, CUDA expression, doc.
//!
//! Classes: `float` computes in floats, integers and bool become f32; `strict` takes floats only;
//! `same` keeps the type, no bool; `same_bool` keeps it, bool too; `int` takes integers and bool;
//! `test` gives bool; `power` is `same`, in floats by [`Real`](crate::scalar::Real).

/// Unary rows.
#[macro_export]
macro_rules! unary_table {
    ($callback:ident) => { $callback! {
        float Exp "exp" "exp" [] (x, p) { x.exp() } "exp(x)" "e to the power of each element.";
        float Exp2 "exp2" "exp2" [] (x, p) { x.exp2() } "exp2(x)" "2 to the power of each element.";
        float Expm1 "expm1" "expm1" [] (x, p) { x.expm1() } "expm1(x)" "e^x - 1, exact near 0.";
        float Log "log" "log" [] (x, p) { x.ln() } "log(x)" "Natural logarithm.";
        float Log2 "log2" "log2" [] (x, p) { x.log2() } "log2(x)" "Logarithm to base 2.";
        float Log10 "log10" "log10" [] (x, p) { x.log10() } "log10(x)" "Logarithm to base 10.";
        float Log1p "log1p" "log1p" [] (x, p) { x.log1p() } "log1p(x)" "log(1 + x), exact near 0.";
        float PowScalar "pow_scalar" "" [exponent] (x, p) { x.pow(p[0]) } "pow(x, p0)" "x to the power of a number.";
        float Sin "sin" "sin" [] (x, p) { x.sin() } "sin(x)" "Sine of radians.";
        float Cos "cos" "cos" [] (x, p) { x.cos() } "cos(x)" "Cosine of radians.";
        float Tan "tan" "tan" [] (x, p) { x.tan() } "tan(x)" "Tangent of radians.";
        float Asin "asin" "asin" [] (x, p) { x.asin() } "asin(x)" "Arc sine; NaN outside [-1, 1].";
        float Acos "acos" "acos" [] (x, p) { x.acos() } "acos(x)" "Arc cosine; NaN outside [-1, 1].";
        float Atan "atan" "atan" [] (x, p) { x.atan() } "atan(x)" "Arc tangent.";
        float Sinh "sinh" "sinh" [] (x, p) { x.sinh() } "sinh(x)" "Hyperbolic sine.";
        float Cosh "cosh" "cosh" [] (x, p) { x.cosh() } "cosh(x)" "Hyperbolic cosine.";
        float Tanh "tanh" "tanh" [] (x, p) { x.tanh() } "tanh(x)" "Hyperbolic tangent.";
        float Asinh "asinh" "asinh" [] (x, p) { x.asinh() } "asinh(x)" "Inverse hyperbolic sine.";
        float Acosh "acosh" "acosh" [] (x, p) { x.acosh() } "acosh(x)" "Inverse hyperbolic cosine; NaN below 1.";
        float Atanh "atanh" "atanh" [] (x, p) { x.atanh() } "atanh(x)" "Inverse hyperbolic tangent; NaN outside [-1, 1].";
        float Sqrt "sqrt" "sqrt" [] (x, p) { x.sqrt() } "sqrt(x)" "Square root; NaN below 0.";
        float Rsqrt "rsqrt" "rsqrt" [] (x, p) { T::ONE / x.sqrt() } "T(1) / sqrt(x)" "1 / sqrt(x).";
        float Reciprocal "reciprocal" "reciprocal" [] (x, p) { T::ONE / x } "T(1) / x" "1 / x.";
        float Sigmoid "sigmoid" "sigmoid" [] (x, p) { x.sigmoid() } "T(1) / (T(1) + exp(-x))" "1 / (1 + e^-x).";
        float Erf "erf" "erf" [] (x, p) { x.erf() } "erf(x)" "Error function.";
        float Erfc "erfc" "erfc" [] (x, p) { x.erfc() } "erfc(x)" "1 - erf(x) without cancellation.";
        float Erfinv "erfinv" "erfinv" [] (x, p) { x.erfinv() } "erfinv(x)" "Inverse error function; infinite at -1 and 1, NaN outside.";
        float Lgamma "lgamma" "lgamma" [] (x, p) { x.lgamma() } "lgamma(x)" "Logarithm of the absolute value of the gamma function.";
        float Digamma "digamma" "digamma" [] (x, p) { x.digamma() } "digamma(x)" "Derivative of lgamma.";
        strict Gelu "gelu" "gelu" [] (x, p) { T::gelu(x) } "T(0.5) * x * erfc(x * T(-0.70710678118654752))" "x times the normal distribution function at x.";
        strict GeluTanh "gelu_tanh" "geluTanh" [] (x, p) { T::gelu_tanh(x) } "T(0.5) * x * (T(1) + tanh(T(0.79788456080286536) * (x + T(0.044715) * x * x * x)))" "The tanh approximation of gelu.";
        strict Silu "silu" "silu" [] (x, p) { x * x.sigmoid() } "x / (T(1) + exp(-x))" "x times sigmoid(x); also called swish.";
        strict Mish "mish" "mish" [] (x, p) { x * T::softplus(x, T::ONE, T::INFINITY).tanh() } "x * tanh(log1p(exp(x)))" "x * tanh(softplus(x)).";
        strict Hardswish "hardswish" "hardSwish" [] (x, p) { x * T::unit(x) } "x * min(max(x + T(3), T(0)), T(6)) / T(6)" "x * relu6(x + 3) / 6.";
        strict Hardsigmoid "hardsigmoid" "hardSigmoid" [] (x, p) { T::unit(x) } "min(max(x + T(3), T(0)), T(6)) / T(6)" "relu6(x + 3) / 6.";
        strict LeakyRelu "leaky_relu" "leakyRelu" [negativeSlope] (x, p) { if x <= T::ZERO { x * p[0] } else { x } } "x <= T(0) ? x * p0 : x" "x above 0, negativeSlope * x below.";
        strict Elu "elu" "elu" [alpha] (x, p) { if x <= T::ZERO { p[0] * x.expm1() } else { x } } "x <= T(0) ? p0 * expm1(x) : x" "x above 0, alpha * (e^x - 1) below.";
        strict Softplus "softplus" "softplus" [beta, threshold] (x, p) { T::softplus(x, p[0], p[1]) } "x * p0 > p1 ? x : log1p(exp(x * p0)) / p0" "log(1 + e^(beta x)) / beta; x itself where beta * x exceeds threshold.";
        strict LogSigmoid "log_sigmoid" "logSigmoid" [] (x, p) { -T::softplus(-x, T::ONE, T::INFINITY) } "-log1p(exp(-x))" "log(sigmoid(x)).";
        strict Frac "frac" "frac" [] (x, p) { x - x.trunc() } "x - trunc(x)" "Fractional part, with the sign of x.";
        same Neg "neg" "neg" [] (x, p) { x.neg() } "-x" "-x; the least integer stays.";
        same Abs "abs" "abs" [] (x, p) { x.abs() } "abs(x)" "Absolute value; the least integer stays.";
        same Square "square" "square" [] (x, p) { x.mul(x) } "x * x" "x * x.";
        same Relu "relu" "relu" [] (x, p) { x.maximum(T::ZERO) } "x < T(0) ? T(0) : x" "max(x, 0); NaN stays.";
        same Relu6 "relu6" "relu6" [] (x, p) { x.maximum(T::ZERO).minimum(T::from_i64(6)) } "min(max(x, T(0)), T(6))" "min(max(x, 0), 6); NaN stays.";
        same Ceil "ceil" "ceil" [] (x, p) { x.ceil() } "ceil(x)" "Least whole number not below; integers stay.";
        same Floor "floor" "floor" [] (x, p) { x.floor() } "floor(x)" "Greatest whole number not above; integers stay.";
        same Round "round" "round" [] (x, p) { x.round() } "rint(x)" "Nearest whole number, halves to even.";
        same Trunc "trunc" "trunc" [] (x, p) { x.trunc() } "trunc(x)" "Whole part; integers stay.";
        same_bool Sign "sign" "sign" [] (x, p) { x.sign() } "(x > T(0)) - (x < T(0))" "-1, 0 or 1; 0 for NaN.";
        same_bool NanToNum "nan_to_num" "nanToNum" [nan, posInf, negInf] (x, p) { if x.is_nan() { p[0] } else if x.is_infinite() { if x > T::ZERO { p[1] } else { p[2] } } else { x } } "isnan(x) ? p0 : isinf(x) ? (x > T(0) ? p1 : p2) : x" "Replaces NaN, infinity and negative infinity.";
        test Isnan "isnan" "isnan" [] (x, p) { x.is_nan() } "isnan(x)" "Where an element is NaN.";
        test Isinf "isinf" "isinf" [] (x, p) { x.is_infinite() } "isinf(x)" "Where an element is infinite.";
        test Isposinf "isposinf" "isposinf" [] (x, p) { x.is_infinite() && x > T::ZERO } "isinf(x) && x > T(0)" "Where an element is positive infinity.";
        test Isneginf "isneginf" "isneginf" [] (x, p) { x.is_infinite() && x < T::ZERO } "isinf(x) && x < T(0)" "Where an element is negative infinity.";
        test Isfinite "isfinite" "isfinite" [] (x, p) { !x.is_nan() && !x.is_infinite() } "isfinite(x)" "Where an element is neither NaN nor infinite.";
        test LogicalNot "logical_not" "logicalNot" [] (x, p) { !x.is_true() } "!x" "Where an element is 0 or false.";
    } };
}

/// Binary rows; `p` is the scalar `alpha`.
#[macro_export]
macro_rules! binary_table {
    ($callback:ident) => { $callback! {
        same_bool Add "add" "add" (x, y, p) { x.add(y) } "x + y" "Sum.";
        same_bool AddScaled "add_scaled" "" (x, y, p) { x.add(y.mul(p)) } "x + y * p" "x + alpha * y; with -alpha, subtraction.";
        same Sub "sub" "sub" (x, y, p) { x.sub(y) } "x - y" "Difference.";
        same_bool Mul "mul" "mul" (x, y, p) { x.mul(y) } "x * y" "Product.";
        float Div "div" "div" (x, y, p) { x / y } "x / y" "Quotient; integers divide as floats.";
        same DivTrunc "div_trunc" "divTrunc" (x, y, p) { x.div_trunc(y) } "trunc(x / y)" "Quotient rounded toward 0; an integer divisor 0 is an error.";
        same FloorDivide "floor_divide" "floorDivide" (x, y, p) { x.div_floor(y) } "floor(x / y)" "Quotient rounded down; an integer divisor 0 is an error.";
        same Remainder "remainder" "remainder" (x, y, p) { x.remainder(y) } "remainder(x, y)" "Remainder with the divisor's sign; an integer divisor 0 is an error.";
        same Fmod "fmod" "fmod" (x, y, p) { x.fmod(y) } "fmod(x, y)" "Remainder with the dividend's sign; an integer divisor 0 is an error.";
        power Pow "pow" "pow" (x, y, p) { x.pow(y) } "pow(x, y)" "x to the power y.";
        same_bool Maximum "maximum" "maximum" (x, y, p) { x.maximum(y) } "x > y || isnan(x) ? x : y" "The greater; NaN wins.";
        same_bool Minimum "minimum" "minimum" (x, y, p) { x.minimum(y) } "x < y || isnan(x) ? x : y" "The lesser; NaN wins.";
        float Atan2 "atan2" "atan2" (x, y, p) { x.atan2(y) } "atan2(x, y)" "Angle of the point (y, x), the first operand being the ordinate.";
        float Hypot "hypot" "hypot" (x, y, p) { x.hypot(y) } "hypot(x, y)" "sqrt(x^2 + y^2) without overflow.";
        float Copysign "copysign" "copysign" (x, y, p) { x.copysign(y) } "copysign(x, y)" "Magnitude of x with the sign of y.";
        float Logaddexp "logaddexp" "logaddexp" (x, y, p) { T::log_add(x, y) } "x == y ? x + T(0.69314718055994531) : max(x, y) + log1p(exp(-abs(x - y)))" "log(e^x + e^y) without overflow.";
        float Xlogy "xlogy" "xlogy" (x, y, p) { if (x == T::ZERO) & !y.is_nan() { T::ZERO } else { x * y.ln() } } "x == T(0) && !isnan(y) ? T(0) : x * log(y)" "x * log(y); 0 where x is 0, unless y is NaN.";
        int BitwiseAnd "bitwise_and" "bitwiseAnd" (x, y, p) { x & y } "x & y" "Bitwise and.";
        int BitwiseOr "bitwise_or" "bitwiseOr" (x, y, p) { x | y } "x | y" "Bitwise or.";
        int BitwiseXor "bitwise_xor" "bitwiseXor" (x, y, p) { x ^ y } "x ^ y" "Bitwise exclusive or.";
        test Eq "eq" "equ" (x, y, p) { x == y } "x == y" "Where equal.";
        test Ne "ne" "ne" (x, y, p) { x != y } "x != y" "Where different.";
        test Lt "lt" "lt" (x, y, p) { x < y } "x < y" "Where x is less.";
        test Le "le" "le" (x, y, p) { x <= y } "x <= y" "Where x is less or equal.";
        test Gt "gt" "gt" (x, y, p) { x > y } "x > y" "Where x is greater.";
        test Ge "ge" "ge" (x, y, p) { x >= y } "x >= y" "Where x is greater or equal.";
        test LogicalAnd "logical_and" "logicalAnd" (x, y, p) { x.is_true() & y.is_true() } "x && y" "Where both are non-zero.";
        test LogicalOr "logical_or" "logicalOr" (x, y, p) { x.is_true() | y.is_true() } "x || y" "Where either is non-zero.";
        test LogicalXor "logical_xor" "logicalXor" (x, y, p) { x.is_true() != y.is_true() } "!x != !y" "Where exactly one is non-zero.";
    } };
}

/// Ternary rows; `p` is the scalar value or weight.
#[macro_export]
macro_rules! ternary_table {
    ($callback:ident) => { $callback! {
        same_bool Where "where" "where" (x, y, z, p) { if x.is_true() { y } else { z } } "x ? y : z" "The second operand where the condition holds, else the third.";
        same Addcmul "addcmul" "addcmul" (x, y, z, p) { x.add(p.mul(y.mul(z))) } "x + p * y * z" "x + value * y * z.";
        strict Addcdiv "addcdiv" "addcdiv" (x, y, z, p) { x + p * (y / z) } "x + p * (y / z)" "x + value * y / z.";
        strict LerpScalar "lerp_scalar" "lerp" (x, y, z, p) { T::lerp(x, y, p) } "lerp(x, y, p)" "x + weight * (y - x), exact at both ends.";
        strict Lerp "lerp" "lerp" (x, y, z, p) { T::lerp(x, y, z) } "lerp(x, y, z)" "x + weight * (y - x), exact at both ends.";
        same Clamp "clamp" "clamp" (x, y, z, p) { x.maximum(y).minimum(z) } "min(max(x, y), z)" "x held between y and z; NaN wins.";
    } };
}
