//! Expressions. One travels as numbers: for each step its kind (0 unary, 1 binary, 2 ternary), its
//! operation, its operands, and its parameters: three doubles of a unary one, a scalar of a ternary
//! one. An operand is two numbers: 0 and which tensor, 1 and which step, 2 + kind and bits of a scalar.

use jni::objects::{JClass, JLongArray};
use jni::sys::{jint, jlong};
use jni::{EnvUnowned, NativeMethod, native_method};
use wick_core::kernels::reduce::ReduceOp;
use wick_core::ops::{BinaryOp, TernaryOp, UnaryOp};
use wick_runtime::ops::fuse::{Call, Expression, OP, Source, Step, fuse as evaluate};
use wick_runtime::{Error, Result, Tensor};

use crate::array::{all_longs, got};
use crate::boundary::operation;
use crate::runtime::{no_op, runtime, scalar};

pub const METHODS: &[NativeMethod<'static>] = &[
    native_method! { static raw fn fuse(expression: jlong[], operands: jlong[], finish: jint, out: jlong) -> jlong },
];

struct Numbers<'a>(std::slice::Iter<'a, i64>);

impl Numbers<'_> {
    fn next(&mut self) -> Result<i64> {
        let cut = || Error::internal("an expression is cut short".into());
        self.0.next().copied().ok_or_else(cut)
    }

    fn code(&mut self) -> Result<i32> {
        let number = self.next()?;
        number.try_into().map_err(|_| no_op(-1))
    }

    fn source(&mut self) -> Result<Source> {
        let (tag, value) = (self.code()?, self.next()?);
        Ok(match tag {
            // What is out of range is beyond any expression.
            0 => Source::Tensor(usize::try_from(value).unwrap_or(usize::MAX)),
            1 => Source::Step(usize::try_from(value).unwrap_or(usize::MAX)),
            _ => Source::Number(scalar(tag - 2, value)),
        })
    }

    fn sources(&mut self, n: usize) -> Result<Vec<Source>> {
        (0..n).map(|_| self.source()).collect()
    }

    fn step(&mut self) -> Result<Step> {
        let (kind, op) = (self.code()?, self.code()?);
        Ok(match kind {
            0 => {
                let op = UnaryOp::from_code(op).ok_or_else(|| no_op(op))?;
                let sources = self.sources(1)?;
                let mut p = [0.0; 3];
                for p in &mut p {
                    *p = f64::from_bits(self.next()? as u64);
                }
                Step { call: Call::Unary(op, p), sources }
            }
            1 => {
                let op = BinaryOp::from_code(op).ok_or_else(|| no_op(op))?;
                Step { call: Call::Binary(op), sources: self.sources(2)? }
            }
            _ => {
                let op = TernaryOp::from_code(op).ok_or_else(|| no_op(op))?;
                let sources = self.sources(3)?;
                Step { call: Call::Ternary(op, scalar(self.code()?, self.next()?)), sources }
            }
        })
    }
}

fn parse(numbers: &[i64], operands: usize) -> Result<Expression> {
    let mut numbers = Numbers(numbers.iter());
    let mut steps = Vec::new();
    while !numbers.0.as_slice().is_empty() {
        steps.push(numbers.step()?);
    }
    Expression::new(steps, operands)
}

fn fuse<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    expression: JLongArray<'l>,
    operands: JLongArray<'l>,
    finish: jint,
    out: jlong,
) -> jlong {
    let read = (|| {
        let handles = all_longs(&env, &operands)?;
        Ok((parse(&all_longs(&env, &expression)?, handles.len())?, handles))
    })();
    operation(env, move || {
        let rt = runtime();
        let (expression, handles) = got(&read)?;
        let finish = match finish {
            -1 => None,
            code => Some(ReduceOp::from_code(code).ok_or_else(|| no_op(code))?),
        };
        let pins = rt.pin_all(OP, handles)?;
        let tensors: Vec<&Tensor> = pins.iter().map(|p| &**p).collect();
        let target = rt.pin_some(OP, out)?;
        let result = evaluate(&rt.ctx, expression, &tensors, finish, target.as_deref())?;
        rt.give(result, tensors.first().copied(), None)
    })
}
