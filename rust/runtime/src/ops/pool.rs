//! Pooling of one to three dimensions, and its gradients.

use wick_core::kernels::conv::Geometry;
use wick_core::kernels::elementwise::Scalar;
use wick_core::kernels::pool::{Divisor, Windows};
use wick_core::{DType, Number, with_dtype};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::backward::{back, dense, floats};
use crate::ops::conv::{places, spread_list, tame};
use crate::ops::creation::full;
use crate::ops::index::Checked;
use crate::tensor::Tensor;

/// How the windows lie; each list has a number a dimension, or one for all.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Pool<'a> {
    pub dims: usize,
    pub kernel: &'a [i64],
    /// Empty: the kernel's sizes.
    pub stride: &'a [i64],
    pub padding: &'a [i64],
    pub dilation: &'a [i64],
    /// A last window may reach beyond the padding, if it begins before its end.
    pub ceil: bool,
}

/// Planes of an input and the shape of the result.
struct Planes {
    count: i64,
    windows: Windows,
    shape: Vec<i64>,
}

/// The spatial sizes, the last of three.
fn sizes(op: &'static str, x: &Tensor, dims: usize) -> Result<[i64; 3]> {
    if x.rank() != dims + 1 && x.rank() != dims + 2 {
        let text = format!("the input must have {} or {} dimensions", dims + 1, dims + 2);
        return Err(Error::shape(op, &[x], text));
    }
    let mut out = [1; 3];
    out[3 - dims..].copy_from_slice(&x.shape()[x.rank() - dims..]);
    if let Some(n) = out.iter().find(|n| **n < 1) {
        return Err(Error::shape(op, &[x], format!("a dimension to pool has size {n}")));
    }
    Ok(out)
}

impl Planes {
    fn new(op: &'static str, x: &Tensor, pool: &Pool) -> Result<Planes> {
        let dims = pool.dims;
        let large = sizes(op, x, dims)?;
        let kernel = spread_list(op, "kernel", pool.kernel, dims, 1, 1)?;
        let stride = if pool.stride.is_empty() { pool.kernel } else { pool.stride };
        let mut stride = spread_list(op, "stride", stride, dims, 1, 1)?;
        let padding = spread_list(op, "padding", pool.padding, dims, 0, 0)?;
        let mut dilation = spread_list(op, "dilation", pool.dilation, dims, 1, 1)?;
        let mut small = [1; 3];
        for d in 3 - dims..3 {
            let reach = (kernel[d] - 1).checked_mul(dilation[d]).and_then(|n| n.checked_add(1));
            if reach.is_none_or(|reach| padding[d] > reach / 2) {
                let text = format!(
                    "padding {:?} must be at most half of the kernel {:?}",
                    pool.padding, pool.kernel
                );
                return Err(Error::shape(op, &[x], text));
            }
            let reach = reach.unwrap_or(1);
            let Some(mut n) = places(large[d], kernel[d], stride[d], padding[d], dilation[d])
            else {
                let text = format!(
                    "a kernel of {:?} with dilation {:?} does not fit with padding {:?}",
                    pool.kernel, pool.dilation, pool.padding
                );
                return Err(Error::shape(op, &[x], text));
            };
            let left = large[d] + 2 * padding[d] - reach - (n - 1) * stride[d];
            let begins = n.checked_mul(stride[d]).is_some_and(|at| at < large[d] + padding[d]);
            if pool.ceil && left > 0 && begins {
                n += 1;
            }
            small[d] = n;
            (stride[d], dilation[d]) = tame(stride[d], n, dilation[d], kernel[d]);
        }
        let geometry = Geometry { large, small, kernel, stride, padding, dilation };
        Ok(Planes::of(x, Windows::Moved(geometry), &small[3 - dims..]))
    }

    fn adaptive(op: &'static str, x: &Tensor, output: &[i64]) -> Result<Planes> {
        let dims = output.len();
        if !(1..=3).contains(&dims) {
            return Err(Error::shape(op, &[x], format!("{output:?}: expected 1 to 3 sizes")));
        }
        let large = sizes(op, x, dims)?;
        let mut small = [1; 3];
        for (d, n) in output.iter().enumerate() {
            if *n < 0 {
                return Err(Error::shape(op, &[x], format!("the result's size {n} is negative")));
            }
            small[3 - dims + d] = *n;
        }
        Ok(Planes::of(x, Windows::Adaptive(large, small), output))
    }

    fn of(x: &Tensor, windows: Windows, small: &[i64]) -> Planes {
        let outer = &x.shape()[..x.rank() - small.len()];
        Planes { count: outer.iter().product(), windows, shape: [outer, small].concat() }
    }

    /// Runs `f(first element of the plane, first window)` for each plane.
    fn each(&self, ctx: &Context, f: &(dyn Fn(usize, usize) + Sync)) {
        let (volume, places) = (self.windows.volume(), self.windows.places());
        let cost = 10.0 + places as f64 * (4.0 + 1.5 * self.windows.elements());
        ctx.for_ranges(self.count, cost, &|start, end| {
            for plane in start as usize..end as usize {
                f(plane * volume, plane * places);
            }
        });
    }
}

/// Addresses of dense tensors that the planes' tasks share.
fn at<T>(t: &Tensor) -> Address<T> {
    Address(t.view().start().cast_mut().cast())
}

struct Address<T>(*mut T);

// SAFETY: each task reads and writes its own plane; the tensors live as long as the call.
unsafe impl<T> Sync for Address<T> {}

impl<T> Address<T> {
    fn add(&self, i: usize) -> *mut T {
        self.0.wrapping_add(i)
    }
}

fn not_bool(op: &'static str, x: &Tensor) -> Result<()> {
    if x.dtype() == DType::Bool {
        return Err(Error::dtype(op, &[x], "not defined for bool"));
    }
    Ok(())
}

fn greatest(
    ctx: &Context,
    op: &'static str,
    x: &Tensor,
    planes: &Planes,
) -> Result<(Tensor, Tensor)> {
    not_bool(op, x)?;
    let out = Tensor::empty(ctx, op, x.dtype(), &planes.shape)?;
    let indices = Tensor::empty(ctx, op, DType::I64, &planes.shape)?;
    let x = dense(ctx, x, x.dtype())?;
    let to = at::<i64>(&indices);
    with_dtype!(x.dtype(), S => {
        let (from, out) = (at::<S>(&x), at::<S>(&out));
        planes.each(ctx, &|x, w| {
            // SAFETY: planes of dense tensors, each one task's.
            unsafe { planes.windows.max::<S>(from.add(x).cast_const(), out.add(w), to.add(w)) };
        });
    });
    Ok((out, indices))
}

/// The greatest elements of windows and their places in their planes.
pub fn max_pool(
    ctx: &Context,
    op: &'static str,
    x: &Tensor,
    pool: &Pool,
) -> Result<(Tensor, Tensor)> {
    greatest(ctx, op, x, &Planes::new(op, x, pool)?)
}

/// As many greatest elements as wanted.
pub fn adaptive_max_pool(
    ctx: &Context,
    op: &'static str,
    x: &Tensor,
    output: &[i64],
) -> Result<(Tensor, Tensor)> {
    greatest(ctx, op, x, &Planes::adaptive(op, x, output)?)
}

fn check_grad(op: &'static str, grad: &Tensor, x: &Tensor, planes: &Planes) -> Result<DType> {
    let dtype = floats(op, &[grad, x])?;
    if grad.shape() != planes.shape {
        let text = format!("the gradient must have shape {:?}", planes.shape);
        return Err(Error::shape(op, &[grad, x], text));
    }
    Ok(dtype)
}

/// The gradient of greatest elements of `dims` dimensions, from the places that were given.
pub fn max_pool_backward(
    ctx: &Context,
    op: &'static str,
    grad: &Tensor,
    x: &Tensor,
    indices: &Tensor,
    dims: usize,
) -> Result<Tensor> {
    let large = sizes(op, x, dims)?;
    if grad.rank() != x.rank() || indices.shape() != grad.shape() {
        let text = "the gradient and the indices must have one shape, of the input's rank";
        return Err(Error::shape(op, &[grad, x, indices], text));
    }
    let output = &grad.shape()[x.rank() - dims..];
    let mut small = [1; 3];
    small[3 - dims..].copy_from_slice(output);
    let planes = Planes::of(x, Windows::Adaptive(large, small), output);
    let dtype = check_grad(op, grad, x, &planes)?;
    let size = planes.windows.volume() as i64;
    let operands = [grad, indices];
    let checked = Checked { op, operands: &operands, dim: None, size, wrap: false, i32: false };
    let indices = checked.indices(ctx, indices)?;
    let compute = dtype.compute();
    let g = dense(ctx, grad, compute)?;
    let out = full(ctx, compute, x.shape(), Scalar::Int(0))?;
    let from = at::<i64>(&indices);
    match compute {
        DType::F64 => spread::<f64>(ctx, &planes, &g, &out, &|g, w, out| {
            // SAFETY: planes of dense tensors, each one task's; the places were checked.
            unsafe { planes.windows.max_backward(g, from.add(w).cast_const(), out) };
        }),
        _ => spread::<f32>(ctx, &planes, &g, &out, &|g, w, out| {
            // SAFETY: as above.
            unsafe { planes.windows.max_backward(g, from.add(w).cast_const(), out) };
        }),
    }
    back(ctx, out, dtype)
}

fn spread<T: Number>(
    ctx: &Context,
    planes: &Planes,
    grad: &Tensor,
    out: &Tensor,
    f: &(dyn Fn(*const T, usize, *mut T) + Sync),
) {
    let (grad, out) = (at::<T>(grad), at::<T>(out));
    planes.each(ctx, &|x, w| f(grad.add(w).cast_const(), w, out.add(x)));
}

fn means(
    ctx: &Context,
    op: &'static str,
    x: &Tensor,
    planes: &Planes,
    rule: Divisor,
) -> Result<Tensor> {
    not_bool(op, x)?;
    let out = Tensor::empty(ctx, op, x.dtype(), &planes.shape)?;
    let x = dense(ctx, x, x.dtype())?;
    with_dtype!(x.dtype(), S => {
        let (from, out) = (at::<S>(&x), at::<S>(&out));
        planes.each(ctx, &|x, w| {
            // SAFETY: planes of dense tensors, each one task's.
            unsafe { planes.windows.mean::<S>(rule, from.add(x).cast_const(), out.add(w)) };
        });
    });
    Ok(out)
}

fn means_backward(
    ctx: &Context,
    op: &'static str,
    grad: &Tensor,
    x: &Tensor,
    planes: &Planes,
    rule: Divisor,
) -> Result<Tensor> {
    let dtype = check_grad(op, grad, x, planes)?;
    let compute = dtype.compute();
    let g = dense(ctx, grad, compute)?;
    let out = full(ctx, compute, x.shape(), Scalar::Int(0))?;
    match compute {
        DType::F64 => spread::<f64>(ctx, planes, &g, &out, &|g, _, out| {
            // SAFETY: planes of dense tensors, each one task's.
            unsafe { planes.windows.mean_backward(rule, g, out) };
        }),
        _ => spread::<f32>(ctx, planes, &g, &out, &|g, _, out| {
            // SAFETY: as above.
            unsafe { planes.windows.mean_backward(rule, g, out) };
        }),
    }
    back(ctx, out, dtype)
}

/// What sums are divided by: a given number, or the window's elements with or without padding.
fn divisor(op: &'static str, x: &Tensor, include: bool, given: Option<i64>) -> Result<Divisor> {
    match given {
        Some(0) => Err(Error::shape(op, &[x], "the divisor must not be 0")),
        Some(n) => Ok(Divisor::Given(n)),
        None if include => Ok(Divisor::Padded),
        None => Ok(Divisor::Inside),
    }
}

/// Means of windows; padding counts as zeros where `include`, else not.
pub fn avg_pool(
    ctx: &Context,
    op: &'static str,
    x: &Tensor,
    pool: &Pool,
    include: bool,
    given: Option<i64>,
) -> Result<Tensor> {
    means(ctx, op, x, &Planes::new(op, x, pool)?, divisor(op, x, include, given)?)
}

/// Its gradient.
pub fn avg_pool_backward(
    ctx: &Context,
    op: &'static str,
    grad: &Tensor,
    x: &Tensor,
    pool: &Pool,
    include: bool,
    given: Option<i64>,
) -> Result<Tensor> {
    let rule = divisor(op, x, include, given)?;
    means_backward(ctx, op, grad, x, &Planes::new(op, x, pool)?, rule)
}

/// As many means as wanted.
pub fn adaptive_avg_pool(
    ctx: &Context,
    op: &'static str,
    x: &Tensor,
    output: &[i64],
) -> Result<Tensor> {
    means(ctx, op, x, &Planes::adaptive(op, x, output)?, Divisor::Inside)
}

/// Its gradient; the gradient's shape says how many there were.
pub fn adaptive_avg_pool_backward(
    ctx: &Context,
    op: &'static str,
    grad: &Tensor,
    x: &Tensor,
    dims: usize,
) -> Result<Tensor> {
    if grad.rank() < dims {
        return Err(Error::shape(op, &[grad, x], "the gradient has too few dimensions"));
    }
    let planes = Planes::adaptive(op, x, &grad.shape()[grad.rank() - dims..])?;
    means_backward(ctx, op, grad, x, &planes, Divisor::Inside)
}
