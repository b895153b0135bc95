//! Distances between all pairs of points.

use wick_core::DType;
use wick_core::kernels::linalg::distance::{Distance, between};

use super::batch::*;
use super::products::product;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::array::contiguous;
use crate::tensor::Tensor;

/// With more points than this on either side Euclidean distances come from a matrix product.
const FEW: i64 = 25;

/// Squared distances below this part of the squared lengths have lost digits in the product: those
/// pairs are computed anew from their differences.
const NEAR: f64 = 1.0 / 16.0;

/// Distances of exponent `p` between the points of two batches, a point a row.
pub(super) fn cdist(
    ctx: &Context,
    op: &'static str,
    a: &Tensor,
    b: &Tensor,
    p: f64,
) -> Result<Tensor> {
    let dtype = check_float(op, &[a, b])?;
    let ((m, k), (n, other)) = (check_matrix(op, a)?, check_matrix(op, b)?);
    if k != other {
        let text = format!("points of {k} and {other} coordinates");
        return Err(Error::shape(op, &[a, b], text));
    }
    if p.is_nan() || p < 0.0 {
        return Err(Error::shape(op, &[a, b], format!("the exponent {p} is negative")));
    }
    let shape = common_batch(op, a, b)?;
    let out = Tensor::empty(ctx, op, dtype, &[&shape[..], &[m as i64, n as i64]].concat())?;
    if out.numel() == 0 {
        return Ok(out);
    }
    let (a, b) = (contiguous(ctx, a)?, contiguous(ctx, b)?);
    let (x, y) = (expand_batch(op, &a, &shape)?, expand_batch(op, &b, &shape)?);
    let distance = Distance::of(p);
    let by_product = distance == Distance::Euclid && (m as i64 > FEW || n as i64 > FEW) && k > 0;
    let inner = if by_product {
        let turned = y.with_layout(op, y.layout().transpose(-2, -1))?;
        Some(product(ctx, &x, &turned)?)
    } else {
        None
    };
    with_float!(dtype, T => rows::<T>(ctx, (&x, &y), inner.as_ref(), &out, distance));
    debug_assert!(matches!(out.dtype(), DType::F32 | DType::F64));
    Ok(out)
}

/// Fills in the distances, a row a task; `inner`: the products of the points.
fn rows<T: Float>(
    ctx: &Context,
    (x, y): (&Tensor, &Tensor),
    inner: Option<&Tensor>,
    out: &Tensor,
    distance: Distance,
) {
    let (m, n, k) = (last(x, 2), last(y, 2), last(x, 1));
    let batch = Batch::new(&[x, y]);
    let from = (Mats::<T>::of(x), Mats::<T>::of(y));
    let (to, inner) = (Mats::<T>::of(out), inner.map(Mats::<T>::of));
    let arch = ctx.arch();
    let point = |mats: &Mats<T>, operand: usize, i: i64, row: usize| -> &[T] {
        if k == 0 {
            return &[];
        }
        // SAFETY: the points lie densely, a row each.
        unsafe {
            let at = batch.offset(operand, i) + (row * k) as isize;
            std::slice::from_raw_parts(mats.at(at).as_ptr(), k)
        }
    };
    let zero = vec![T::ZERO; k];
    let square = |p: &[T]| {
        let length = between(arch, p, &zero, Distance::Euclid).to_f64();
        length * length
    };
    let pair_cost = 8.0 + k as f64 * if matches!(distance, Distance::Power(_)) { 5.0 } else { 0.3 };
    let cost = n as f64 * if inner.is_some() { 3.0 } else { pair_cost };
    ctx.for_ranges(batch.count * m as i64, cost, &|start, end| {
        for task in start..end {
            let (i, row) = (task / m as i64, (task % m as i64) as usize);
            let a = point(&from.0, 0, i, row);
            // SAFETY: this row is this task's; results lie densely, row by row.
            let result = unsafe { &mut to.slice(i)[row * n..(row + 1) * n] };
            match &inner {
                None => {
                    for (j, d) in result.iter_mut().enumerate() {
                        *d = between(arch, a, point(&from.1, 1, i, j), distance);
                    }
                }
                Some(inner) => {
                    let length = square(a);
                    // SAFETY: a product is dense, and nobody writes it any more.
                    let products = unsafe { &inner.slice(i)[row * n..(row + 1) * n] };
                    for (j, (d, product)) in result.iter_mut().zip(products).enumerate() {
                        let b = point(&from.1, 1, i, j);
                        let sum = length + square(b);
                        let squared = sum - 2.0 * product.to_f64();
                        *d = if squared > NEAR * sum && squared.is_finite() && sum > 1e-30 {
                            <T as wick_core::Real>::from_f64(squared.sqrt())
                        } else {
                            between(arch, a, b, distance)
                        };
                    }
                }
            }
        }
    });
}
