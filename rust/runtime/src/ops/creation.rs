//! Tensors from nothing: filled, counted, spaced.

use wick_core::DType;
use wick_core::kernels::elementwise::Scalar;
use wick_core::kernels::fill::Fill;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::tensor::Tensor;

/// All elements one value, cast to the dtype.
pub fn full(ctx: &Context, dtype: DType, shape: &[i64], value: Scalar) -> Result<Tensor> {
    let out = Tensor::empty(ctx, "full", dtype, shape)?;
    fill_values(ctx, &out, value);
    Ok(out)
}

/// Sets all elements. Allowed on elements that share a place: they all get the one value.
pub fn fill(ctx: &Context, a: &Tensor, value: Scalar) -> Result<()> {
    if let (Scalar::Int(v), false) = (value, a.dtype().is_float()) {
        let fits = wick_core::with_dtype!(a.dtype(), T => {
            a.dtype() == DType::Bool || {
                let stored = <T as wick_core::Element>::store(v);
                wick_core::Number::to_i64(wick_core::Element::load(stored)) == v
            }
        });
        if !fits {
            return Err(Error::dtype(
                "fill_",
                &[a],
                format!("the value {v} does not fit {}", a.dtype()),
            ));
        }
    }
    fill_values(ctx, a, value);
    Ok(())
}

pub(crate) fn fill_values(ctx: &Context, a: &Tensor, value: Scalar) {
    ctx.run(&Fill::new(a.view_mut(), value));
}
