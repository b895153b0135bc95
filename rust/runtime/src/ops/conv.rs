//! Convolutions of one to three spatial dimensions, transposed ones, and their gradients.

mod compute;
mod direct;

use wick_core::DType;
use wick_core::kernels::conv::Geometry;
use wick_core::kernels::elementwise::Scalar;
use wick_core::kernels::reduce::ReduceOp;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::backward::{back, dense, floats, made};
use crate::ops::creation::full;
use crate::ops::elementwise::Out;
use crate::ops::reduce::{Over, reduce};
use crate::tensor::Tensor;

use compute::{Conv, forward, spread, weigh};

/// How the kernel moves; each list has a number a spatial dimension, or one for all.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Moves<'a> {
    pub stride: &'a [i64],
    pub padding: &'a [i64],
    pub dilation: &'a [i64],
    pub transposed: bool,
    /// What a transposed convolution adds to its output's sizes.
    pub output_padding: &'a [i64],
    pub groups: i64,
}

/// A checked convolution.
struct Checked {
    conv: Conv,
    /// Shape of the result.
    shape: Vec<i64>,
    transposed: bool,
}

/// A number a spatial dimension, the last ones of three; missing dimensions get `fill`.
pub(crate) fn spread_list(
    op: &'static str,
    what: &str,
    list: &[i64],
    dims: usize,
    least: i64,
    fill: i64,
) -> Result<[i64; 3]> {
    let bad = |text: String| Err(Error::shape(op, &[], text));
    if list.len() != dims && list.len() != 1 {
        return bad(format!("{what} {list:?}: expected {dims} numbers or one"));
    }
    if let Some(v) = list.iter().find(|v| **v < least) {
        return bad(format!("{what} {list:?}: {v} is less than {least}"));
    }
    let mut out = [fill; 3];
    for d in 0..dims {
        out[3 - dims + d] = if list.len() == 1 { list[0] } else { list[d] };
    }
    Ok(out)
}

/// Places of a kernel on a padded dimension; none where it does not fit or the sizes overflow.
pub(crate) fn places(
    size: i64,
    kernel: i64,
    stride: i64,
    padding: i64,
    dilation: i64,
) -> Option<i64> {
    let reach = (kernel - 1).checked_mul(dilation)?.checked_add(1)?;
    let padded = padding.checked_mul(2)?.checked_add(size)?;
    padded.checked_add(reach)?;
    if reach > padded { None } else { Some((padded - reach) / stride + 1) }
}

/// Steps that are never taken as 1, so that arithmetic with them cannot overflow.
pub(crate) fn tame(stride: i64, places: i64, dilation: i64, kernel: i64) -> (i64, i64) {
    (if places <= 1 { 1 } else { stride }, if kernel == 1 { 1 } else { dilation })
}

impl Checked {
    fn new(
        op: &'static str,
        input: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
        m: &Moves,
    ) -> Result<Checked> {
        let mut all = vec![input, weight];
        all.extend(bias);
        floats(op, &all)?;
        let bad = |text: String| Err(Error::shape(op, &all, text));
        let dims = weight.rank().wrapping_sub(2);
        if !(1..=3).contains(&dims) {
            return bad("the weight must have 3 to 5 dimensions".into());
        }
        if input.rank() != dims + 2 {
            return bad(format!("the input must have {} dimensions", dims + 2));
        }
        if m.groups < 1 {
            return bad(format!("groups {} must be positive", m.groups));
        }
        let mut stride = spread_list(op, "stride", m.stride, dims, 1, 1)?;
        let padding = spread_list(op, "padding", m.padding, dims, 0, 0)?;
        let mut dilation = spread_list(op, "dilation", m.dilation, dims, 1, 1)?;
        let (w, x) = (weight.shape(), input.shape());
        let mut size = [1; 3];
        let mut kernel = [1; 3];
        size[3 - dims..].copy_from_slice(&x[2..]);
        kernel[3 - dims..].copy_from_slice(&w[2..]);
        if let Some(k) = kernel.iter().find(|k| **k < 1) {
            return bad(format!("the kernel has a dimension of size {k}"));
        }
        let g = m.groups;
        if w[0] % g != 0 {
            return bad(format!("groups {g} must divide the weight's {} channels", w[0]));
        }
        let channels = if m.transposed { w[0] } else { w[1].saturating_mul(g) };
        if x[1] != channels {
            return bad(format!("the input must have {channels} channels, not {}", x[1]));
        }
        let out_channels = if m.transposed {
            let Some(n) = w[1].checked_mul(g) else { return bad("the sizes overflow".into()) };
            n
        } else {
            w[0]
        };
        if let Some(b) = bias
            && b.shape() != [out_channels]
        {
            return bad(format!("the bias must have shape [{out_channels}]"));
        }
        let mut other = [1; 3];
        if m.transposed {
            let extra = spread_list(op, "output padding", m.output_padding, dims, 0, 0)?;
            for d in 3 - dims..3 {
                if extra[d] >= stride[d].max(dilation[d]) {
                    let text = "must be less than the stride or the dilation";
                    return bad(format!("the output padding {:?} {text}", m.output_padding));
                }
                let grown = || {
                    let moved = (size[d] - 1).checked_mul(stride[d])?;
                    let reach = (kernel[d] - 1).checked_mul(dilation[d])?;
                    let all = moved.checked_add(reach)?.checked_add(extra[d] + 1)?;
                    all.checked_sub(padding[d].checked_mul(2)?).filter(|n| *n > 0)
                };
                let Some(n) = grown() else {
                    let (size, kernel) = (&x[2..], &w[2..]);
                    return bad(format!(
                        "a kernel of {kernel:?} and padding {:?} leave nothing of {size:?}, or the sizes overflow",
                        m.padding
                    ));
                };
                other[d] = n;
            }
        } else {
            for d in 3 - dims..3 {
                match places(size[d], kernel[d], stride[d], padding[d], dilation[d]) {
                    Some(n) => other[d] = n,
                    None => {
                        let (size, kernel) = (&x[2..], &w[2..]);
                        return bad(format!(
                            "a kernel of {kernel:?} with dilation {:?} does not fit {size:?} with padding {:?}",
                            m.dilation, m.padding
                        ));
                    }
                }
            }
        }
        let (large, small) = if m.transposed { (other, size) } else { (size, other) };
        for d in 0..3 {
            (stride[d], dilation[d]) = tame(stride[d], small[d], dilation[d], kernel[d]);
        }
        let (few, many) = (w[1] as usize, (w[0] / g) as usize);
        let mut shape = vec![x[0], out_channels];
        shape.extend_from_slice(&other[3 - dims..]);
        Ok(Checked {
            conv: Conv {
                geometry: Geometry { large, small, kernel, stride, padding, dilation },
                samples: x[0] as usize,
                groups: g as usize,
                few,
                many,
            },
            shape,
            transposed: m.transposed,
        })
    }
}

/// A batch of one of an input without a batch dimension, where the weight shows that it is one.
fn batched(op: &'static str, input: &Tensor, weight: &Tensor) -> Result<Option<Tensor>> {
    if input.rank() + 1 != weight.rank() || input.rank() < 2 {
        return Ok(None);
    }
    input.with_layout(op, input.layout().unsqueeze(0)).map(Some)
}

/// A convolution, in libtorch's sense: the kernel is not turned.
pub fn convolution(
    ctx: &Context,
    op: &'static str,
    input: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    moves: &Moves,
) -> Result<Tensor> {
    let single = batched(op, input, weight)?;
    let x = single.as_ref().unwrap_or(input);
    let checked = Checked::new(op, x, weight, bias, moves)?;
    let dtype = input.dtype();
    let compute = dtype.compute();
    let out = Tensor::empty(ctx, op, compute, &checked.shape)?;
    let (x, w) = (dense(ctx, x, compute)?, dense(ctx, weight, compute)?);
    let b = bias.map(|b| dense(ctx, b, compute)).transpose()?;
    let run = if checked.transposed { spread } else { forward };
    run(ctx, &checked.conv, &x, &w, b.as_ref(), &out)?;
    let out = back(ctx, out, dtype)?;
    match single {
        Some(_) => out.with_layout(op, out.layout().select(0, 0)),
        None => Ok(out),
    }
}

/// The gradients of a convolution for its input, weight and bias, those that `wanted` asks for.
pub fn convolution_backward(
    ctx: &Context,
    grad: &Tensor,
    input: &Tensor,
    weight: &Tensor,
    moves: &Moves,
    wanted: [bool; 3],
) -> Result<[Option<Tensor>; 3]> {
    let op = "convolution_backward";
    let single = batched(op, input, weight)?;
    let lifted = match single {
        Some(_) => Some(grad.with_layout(op, grad.layout().unsqueeze(0))?),
        None => None,
    };
    let (x, g) = (single.as_ref().unwrap_or(input), lifted.as_ref().unwrap_or(grad));
    let checked = Checked::new(op, x, weight, None, moves)?;
    floats(op, &[grad, input])?;
    if g.shape() != checked.shape {
        let text = format!("the gradient must have shape {:?}", checked.shape);
        return Err(Error::shape(op, &[grad, input, weight], text));
    }
    let dtype = input.dtype();
    let compute = dtype.compute();
    let g = dense(ctx, g, compute)?;
    let mut out = [None, None, None];
    if wanted[0] {
        let w = dense(ctx, weight, compute)?;
        let to = Tensor::empty(ctx, op, compute, x.shape())?;
        // The gradient of the one kind is the other.
        let run = if checked.transposed { forward } else { spread };
        run(ctx, &checked.conv, &g, &w, None, &to)?;
        let to = back(ctx, to, dtype)?;
        out[0] = Some(match single {
            Some(_) => to.with_layout(op, to.layout().select(0, 0))?,
            None => to,
        });
    }
    if wanted[1] {
        let x = dense(ctx, x, compute)?;
        let to = Tensor::empty(ctx, op, compute, weight.shape())?;
        let (large, small) = if checked.transposed { (&g, &x) } else { (&x, &g) };
        weigh(ctx, &checked.conv, large, small, &to)?;
        out[1] = Some(back(ctx, to, dtype)?);
    }
    if wanted[2] {
        out[2] = Some(bias_gradient(ctx, &g, dtype)?);
    }
    Ok(out)
}

/// Sums over all dimensions but that of channels.
fn bias_gradient(ctx: &Context, grad: &Tensor, dtype: DType) -> Result<Tensor> {
    if grad.numel() == 0 {
        return full(ctx, dtype, &[grad.shape()[1]], Scalar::Int(0));
    }
    let dims: Vec<i64> = (0..grad.rank() as i64).filter(|d| *d != 1).collect();
    let over = Over { dims: Some(&dims), keep_dim: false };
    let sums = made(reduce(ctx, ReduceOp::Sum, grad, over, None, 0.0, Out::New))?;
    back(ctx, sums, dtype)
}

/// A checked unfolding: the patches of each sample as the columns of a matrix.
fn unfolding(
    op: &'static str,
    x: &Tensor,
    image: &[i64],
    kernel: &[i64],
    m: &Moves,
) -> Result<(Geometry, i64)> {
    let bad = |text: String| Err(Error::shape(op, &[x], text));
    let kernel = spread_list(op, "kernel", kernel, 2, 1, 1)?;
    let mut stride = spread_list(op, "stride", m.stride, 2, 1, 1)?;
    let padding = spread_list(op, "padding", m.padding, 2, 0, 0)?;
    let mut dilation = spread_list(op, "dilation", m.dilation, 2, 1, 1)?;
    if image.len() != 2 || image.iter().any(|n| *n < 1) {
        return bad(format!("sizes {image:?}: expected two positive numbers"));
    }
    let large = [1, image[0], image[1]];
    let mut small = [1; 3];
    for d in 1..3 {
        let Some(n) = places(large[d], kernel[d], stride[d], padding[d], dilation[d]) else {
            return bad(format!(
                "a kernel of {:?} with dilation {:?} does not fit {image:?} with padding {:?}",
                &kernel[1..],
                m.dilation,
                m.padding
            ));
        };
        small[d] = n;
        (stride[d], dilation[d]) = tame(stride[d], n, dilation[d], kernel[d]);
    }
    let taps = kernel[1].checked_mul(kernel[2]);
    let Some((taps, _)) = taps.zip(small[1].checked_mul(small[2])) else {
        return bad("the sizes overflow".into());
    };
    Ok((Geometry { large, small, kernel, stride, padding, dilation }, taps))
}

/// Patches of images `[batch, channels, height, width]`, or without the batch, as the columns of
/// matrices `[batch, channels * kernel, places]`.
pub fn im2col(ctx: &Context, x: &Tensor, kernel: &[i64], moves: &Moves) -> Result<Tensor> {
    let op = "im2col";
    let dtype = floats(op, &[x])?;
    let rank = x.rank();
    if rank != 3 && rank != 4 {
        return Err(Error::shape(op, &[x], "expected 3 or 4 dimensions"));
    }
    let (geometry, taps) = unfolding(op, x, &x.shape()[rank - 2..], kernel, moves)?;
    let channels = x.shape()[rank - 3];
    let Some(rows) = channels.checked_mul(taps) else {
        return Err(Error::shape(op, &[x], "the sizes overflow"));
    };
    let mut shape = x.shape()[..rank - 3].to_vec();
    shape.extend([rows, geometry.places() as i64]);
    let compute = dtype.compute();
    let out = Tensor::empty(ctx, op, compute, &shape)?;
    let x = dense(ctx, x, compute)?;
    compute::unfold(ctx, geometry, channels as usize, &x, &out, false);
    back(ctx, out, dtype)
}

/// The gradient of [`im2col`], as an operation: columns added up where they lie in images of size
/// `image`.
pub fn col2im(
    ctx: &Context,
    columns: &Tensor,
    image: &[i64],
    kernel: &[i64],
    moves: &Moves,
) -> Result<Tensor> {
    let op = "col2im";
    let dtype = floats(op, &[columns])?;
    let rank = columns.rank();
    if rank != 2 && rank != 3 {
        return Err(Error::shape(op, &[columns], "expected 2 or 3 dimensions"));
    }
    let (geometry, taps) = unfolding(op, columns, image, kernel, moves)?;
    let (rows, n) = (columns.shape()[rank - 2], columns.shape()[rank - 1]);
    let wanted = geometry.places() as i64;
    if n != wanted || rows % taps != 0 {
        let text = format!("expected {wanted} columns, and rows that {taps} divides");
        return Err(Error::shape(op, &[columns], text));
    }
    let mut shape = columns.shape()[..rank - 2].to_vec();
    shape.extend([rows / taps, image[0], image[1]]);
    let compute = dtype.compute();
    let out = full(ctx, compute, &shape, Scalar::Int(0))?;
    let columns = dense(ctx, columns, compute)?;
    compute::unfold(ctx, geometry, (rows / taps) as usize, &out, &columns, true);
    back(ctx, out, dtype)
}
