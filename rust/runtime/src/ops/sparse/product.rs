//! Matrix products with a sparse factor. Rows of the result are shared among threads, and each is
//! summed in the order of the coordinates.

use wick_core::kernels::elementwise::Scalar;
use wick_core::{DType, Layout};

use super::{Coo, Sums};
use crate::context::Context;
use crate::error::{Operand, Result};
use crate::ops::array::contiguous;
use crate::ops::elementwise::{Out, copy};
use crate::ops::index::{longs, longs_mut};
use crate::ops::promote::check_out;
use crate::tensor::Tensor;

/// A sparse matrix by rows.
struct Rows {
    matrix: Coo,
    /// Where each row begins among the coordinates, and where the last ends.
    heads: Tensor,
    values: Tensor,
}

impl Rows {
    fn of(ctx: &Context, op: &'static str, a: &Coo) -> Result<Rows> {
        let matrix = a.coalesce(ctx)?;
        let rows = matrix.shape()[0];
        let heads = Tensor::empty(ctx, op, DType::I64, &[rows + 1])?;
        let places = &longs(&matrix.indices)[..matrix.count() as usize];
        let (to, mut at) = (longs_mut(&heads), 0);
        for (row, head) in to.iter_mut().enumerate() {
            while at < places.len() && places[at] < row as i64 {
                at += 1;
            }
            *head = at as i64;
        }
        let values = contiguous(ctx, &matrix.values)?;
        Ok(Rows { matrix, heads, values })
    }

    fn columns(&self) -> &[i64] {
        &longs(&self.matrix.indices)[self.matrix.count() as usize..]
    }
}

fn check(op: &'static str, a: &Coo, b: Operand, flipped: bool) -> Result<()> {
    let refused = |text: &str| Err(a.misfit(op, Some(b.clone()), text.into()));
    if a.shape().len() != 2 || b.shape.0.len() != 2 {
        return refused("expected two matrices");
    }
    if a.sparse_dims() != 2 {
        return refused("both dimensions of the sparse matrix must be sparse");
    }
    let inner = if flipped { (a.shape()[0], b.shape.0[1]) } else { (a.shape()[1], b.shape.0[0]) };
    if inner.0 != inner.1 {
        return refused(&format!("the inner sizes {} and {} differ", inner.0, inner.1));
    }
    let text = if a.dtype() != b.dtype {
        "expected one dtype: cast first"
    } else if a.dtype() == DType::Bool {
        "not defined for bool"
    } else {
        return Ok(());
    };
    let operands = crate::error::Operands(vec![a.operand(), b.clone()]);
    Err(crate::error::Kind::DType { op, operands, expected: text.into() }.into())
}

/// A sparse times a dense matrix, which is dense.
pub fn mm(ctx: &Context, op: &'static str, a: &Coo, b: &Tensor) -> Result<Tensor> {
    product(ctx, op, a, b, Scalar::Int(1), None)
}

fn product(
    ctx: &Context,
    op: &'static str,
    a: &Coo,
    b: &Tensor,
    alpha: Scalar,
    base: Option<(Scalar, &Tensor)>,
) -> Result<Tensor> {
    check(op, a, b.into(), false)?;
    let (n, m) = (a.shape()[0], b.shape()[1]);
    let out = Tensor::empty(ctx, op, a.dtype(), &[n, m])?;
    let rows = Rows::of(ctx, op, a)?;
    let right = contiguous(ctx, b)?;
    let mut sums = Sums::new(&right, m as usize, &out, n);
    (sums.heads, sums.terms) = (Some(longs(&rows.heads)), Some(rows.columns()));
    (sums.weights, sums.alpha, sums.base) = (Some(&rows.values), alpha, base);
    sums.run(ctx, rows.matrix.count() as f64 / n.max(1) as f64)?;
    Ok(out)
}

/// A dense times a sparse matrix, which is dense.
pub fn mm_dense_sparse(ctx: &Context, op: &'static str, a: &Tensor, b: &Coo) -> Result<Tensor> {
    check(op, b, a.into(), true)?;
    let left = a.with_layout(op, a.layout().transpose(0, 1))?;
    let flipped = mm(ctx, op, &super::transpose(ctx, b, 0, 1)?, &left)?;
    contiguous(ctx, &flipped.with_layout(op, flipped.layout().transpose(0, 1))?)
}

/// The product of two sparse matrices, which is sparse and coalesced.
pub fn mm_sparse(ctx: &Context, op: &'static str, a: &Coo, b: &Coo) -> Result<Coo> {
    check(op, a, b.operand(), false)?;
    let (left, right) = (a.coalesce(ctx)?, Rows::of(ctx, op, b)?);
    let shape = [a.shape()[0], b.shape()[1]];
    let layout = Layout::contiguous(&shape);
    let layout = layout.map_err(|e| crate::error::Error::size(op, a.dtype(), &shape, e))?;
    let n = left.count() as usize;
    let (rows, inner) = longs(&left.indices).split_at(n);
    let heads = longs(&right.heads);
    // Each coordinate of the left meets a row of the right; the sum over what meets is coalesce's.
    let width = |k: i64| heads[k as usize]..heads[k as usize + 1];
    let total = inner.iter().map(|k| width(*k).end - width(*k).start);
    let total = total.fold(0i64, i64::saturating_add);
    let indices = Tensor::empty(ctx, op, DType::I64, &[2, total])?;
    let pairs = Tensor::empty(ctx, op, DType::I64, &[2, total])?;
    let (to_rows, to_columns) = longs_mut(&indices).split_at_mut(total as usize);
    let (of_left, of_right) = longs_mut(&pairs).split_at_mut(total as usize);
    let (columns, mut at) = (right.columns(), 0);
    for (i, (row, k)) in rows.iter().zip(inner).enumerate() {
        for j in width(*k) {
            (to_rows[at], to_columns[at]) = (*row, columns[j as usize]);
            (of_left[at], of_right[at]) = (i as i64, j);
            at += 1;
        }
    }
    let values = Tensor::empty(ctx, op, a.dtype(), &[total])?;
    let factors = Tensor::empty(ctx, op, a.dtype(), &[total])?;
    let own = contiguous(ctx, &left.values)?;
    let mut gathered = Sums::new(&own, 1, &factors, total);
    let (of_left, of_right): (&[i64], &[i64]) = (of_left, of_right);
    gathered.terms = Some(of_left);
    gathered.run(ctx, 2.0)?;
    let mut times = Sums::new(&right.values, 1, &values, total);
    (times.terms, times.weights) = (Some(of_right), Some(&factors));
    times.run(ctx, 2.0)?;
    Coo { indices, values, shape: layout, coalesced: false }.coalesce(ctx)
}

/// beta * c + alpha * a b for a sparse `a`; with beta 0 the values of `c` do not count.
#[allow(clippy::too_many_arguments)]
pub fn addmm(
    ctx: &Context,
    op: &'static str,
    c: &Tensor,
    a: &Coo,
    b: &Tensor,
    beta: Scalar,
    alpha: Scalar,
    out: Out,
) -> Result<Option<Tensor>> {
    check(op, a, b.into(), false)?;
    let shape = [a.shape()[0], b.shape()[1]];
    if c.dtype() != a.dtype() {
        let text = "expected one dtype: cast first";
        return Err(crate::error::Error::dtype(op, &[c, b], text));
    }
    let (beta, alpha) = (factor(op, beta, c)?, factor(op, alpha, c)?);
    let addend = c.broadcast_to(op, &shape).map_err(|_| {
        let text = format!("the first does not broadcast to the product's shape {shape:?}");
        a.misfit(op, Some(c.into()), text)
    })?;
    let target = match out {
        Out::New => None,
        Out::InPlace => Some(c),
        Out::Into(t) => Some(t),
    };
    if let Some(t) = target {
        check_out(op, t, &shape, c.dtype(), &[c, b])?;
    }
    let addend = contiguous(ctx, &addend)?;
    let base = (beta.to::<f64>() != 0.0).then_some((beta, &addend));
    let result = product(ctx, op, a, b, alpha, base)?;
    match target {
        None => Ok(Some(result)),
        Some(t) => copy(ctx, t, &result).map(|()| None),
    }
}

/// A factor of a sum of integers must be a whole number.
fn factor(op: &'static str, s: Scalar, c: &Tensor) -> Result<Scalar> {
    match s {
        Scalar::Float(v) if !c.dtype().is_float() => {
            let whole = v as i64;
            if whole as f64 == v {
                return Ok(Scalar::Int(whole));
            }
            let text = format!("the factor {v} of integers must be a whole number");
            Err(crate::error::Error::dtype(op, &[c], text))
        }
        _ => Ok(s),
    }
}
