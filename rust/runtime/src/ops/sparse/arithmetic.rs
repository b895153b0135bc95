//! Sums, factors, transposition, reduction. What is linear works on values that are not coalesced,
//! anything else coalesces first.

use wick_core::DType;
use wick_core::kernels::elementwise::Scalar;
use wick_core::kernels::reduce::ReduceOp;
use wick_core::layout::{dim_mask, wrap_dim};
use wick_core::ops::{BinaryOp, UnaryOp};

use super::{Coo, Sums};
use crate::context::Context;
use crate::error::{Error, Operand, Result};
use crate::ops::array::contiguous;
use crate::ops::backward::made;
use crate::ops::elementwise::{self, Out, copy};
use crate::ops::index::{longs, longs_mut};
use crate::ops::join::cat;
use crate::ops::promote::{Arg, check_out, result_type};
use crate::ops::reduce::{Over, reduce};
use crate::tensor::Tensor;

impl Coo {
    /// Another function of the values; where their type changes, of the summed ones.
    fn map(
        &self,
        ctx: &Context,
        dtype: DType,
        f: impl Fn(&Tensor) -> Result<Tensor>,
    ) -> Result<Coo> {
        let x = if dtype == self.dtype() { self.clone() } else { self.coalesce(ctx)? };
        let values = f(&x.values)?;
        Ok(Coo { values, ..x })
    }

    /// 0 + alpha * this or 0 - alpha * this, in the operation's type rules.
    fn scaled(&self, ctx: &Context, op: BinaryOp, alpha: Option<Scalar>) -> Result<Coo> {
        let plain = matches!(alpha, None | Some(Scalar::Int(1)) | Some(Scalar::Float(1.0)));
        if op == BinaryOp::Add && plain {
            return Ok(self.clone());
        }
        self.map(ctx, self.dtype(), |v| {
            let zero = Arg::Scalar(Scalar::Bool(false));
            made(elementwise::binary(ctx, op, &[zero, Arg::Tensor(v)], alpha, Out::New))
        })
    }

    fn same_shape(&self, op: &'static str, other: Operand) -> Result<()> {
        if self.shape() == other.shape.0 {
            return Ok(());
        }
        let text = "expected one shape: sparse tensors do not broadcast".into();
        Err(self.misfit(op, Some(other), text))
    }

    pub(super) fn operand(&self) -> Operand {
        Operand { dtype: self.dtype(), shape: self.shape().into() }
    }
}

/// In another element type.
pub fn cast(ctx: &Context, a: &Coo, dtype: DType) -> Result<Coo> {
    a.map(ctx, dtype, |v| elementwise::cast(ctx, v, dtype))
}

/// a + alpha * b or a - alpha * b; of two coalesced operands a coalesced result.
pub fn add(ctx: &Context, op: BinaryOp, a: &Coo, b: &Coo, alpha: Option<Scalar>) -> Result<Coo> {
    let name = op.name();
    a.same_shape(name, b.operand())?;
    if a.sparse_dims() != b.sparse_dims() {
        let text = format!("{} and {} sparse dimensions", a.sparse_dims(), b.sparse_dims());
        return Err(a.misfit(name, Some(b.operand()), text));
    }
    let dtype = a.dtype().promote(b.dtype());
    let (a, b) = (cast(ctx, a, dtype)?, cast(ctx, b, dtype)?.scaled(ctx, op, alpha)?);
    let indices = made(cat(ctx, &[&a.indices, &b.indices], 1, None))?;
    let values = made(cat(ctx, &[&a.values, &b.values], 0, None))?;
    let both = Coo { indices, values, coalesced: false, shape: a.shape };
    if a.coalesced && b.coalesced { both.coalesce(ctx) } else { Ok(both) }
}

/// The sum or difference of a sparse and a dense tensor, which is dense; `reversed`: the sparse one
/// is the left operand, which `out` then cannot be.
pub fn add_dense(
    ctx: &Context,
    op: BinaryOp,
    dense: &Tensor,
    sparse: &Coo,
    alpha: Option<Scalar>,
    reversed: bool,
    out: Out,
) -> Result<Option<Tensor>> {
    let name = op.name();
    sparse.same_shape(name, dense.into())?;
    if reversed {
        let left = sparse.to_dense(ctx)?;
        return elementwise::binary(
            ctx,
            op,
            &[Arg::Tensor(&left), Arg::Tensor(dense)],
            alpha,
            match out {
                Out::InPlace => {
                    return Err(sparse.refuse(name, "a sum with a dense tensor is dense"));
                }
                out => out,
            },
        );
    }
    let dtype = dense.dtype().promote(sparse.dtype());
    let target = match out {
        Out::New => None,
        Out::InPlace => Some(dense),
        Out::Into(t) => Some(t),
    };
    if let Some(t) = target {
        check_out(name, t, dense.shape(), dtype, &[dense])?;
    }
    let part = cast(ctx, sparse, dtype)?.scaled(ctx, op, alpha)?;
    // A copy of its own, so that the sum does not see what it writes.
    let result = elementwise::cast(ctx, &contiguous(ctx, dense)?, dtype)?;
    part.add_into(ctx, &result)?;
    match target {
        None => Ok(Some(result)),
        Some(t) => copy(ctx, t, &result).map(|()| None),
    }
}

/// The values times or divided by a number.
pub fn scale(ctx: &Context, op: BinaryOp, a: &Coo, by: Scalar, out: Out) -> Result<Option<Coo>> {
    let number = Arg::Scalar(by);
    if let Out::InPlace = out {
        elementwise::binary(ctx, op, &[Arg::Tensor(&a.values), number], None, Out::InPlace)?;
        return Ok(None);
    }
    let dtype = result_type(&[Arg::Tensor(&a.values), number]);
    let dtype = if op == BinaryOp::Div { dtype.to_float() } else { dtype };
    let f =
        |v: &Tensor| made(elementwise::binary(ctx, op, &[Arg::Tensor(v), number], None, Out::New));
    a.map(ctx, dtype, f).map(Some)
}

/// The product with a dense tensor of the shape, or with a single value: what is not there stays
/// so, whatever the other operand has there.
pub fn mul_dense(ctx: &Context, op: BinaryOp, a: &Coo, dense: &Tensor) -> Result<Coo> {
    let single = dense.rank() == 0;
    if !single {
        a.same_shape(op.name(), dense.into())?;
    }
    // A number yields to dimensions in promotion, and a sparse tensor may have none itself.
    let dtype = match single && !a.shape().is_empty() {
        true => result_type(&[Arg::Tensor(&a.values), Arg::Tensor(dense)]),
        false => a.dtype().promote(dense.dtype()),
    };
    let x = if dtype == a.dtype() { a.clone() } else { a.coalesce(ctx)? };
    let own = if single { elementwise::cast(ctx, &x.values, dtype)? } else { x.values.clone() };
    let factor = if single { dense.clone() } else { x.gather(ctx, op.name(), dense)? };
    let args = (Arg::Tensor(&own), Arg::Tensor(&factor));
    let values = made(elementwise::binary(ctx, op, &[args.0, args.1], None, Out::New))?;
    Ok(Coo { values, ..x })
}

/// The product of two sparse tensors: what both have.
pub fn mul_sparse(ctx: &Context, a: &Coo, b: &Coo) -> Result<Coo> {
    let op = BinaryOp::Mul;
    let name = op.name();
    a.same_shape(name, b.operand())?;
    if a.sparse_dims() != b.sparse_dims() {
        let text = format!("{} and {} sparse dimensions", a.sparse_dims(), b.sparse_dims());
        return Err(a.misfit(name, Some(b.operand()), text));
    }
    let (a, b) = (a.coalesce(ctx)?, b.coalesce(ctx)?);
    let (a_keys, b_keys) = (a.keys(ctx)?, b.keys(ctx)?);
    let (x, y) = (longs(&a_keys), longs(&b_keys));
    // Where both have a coordinate: the places in each.
    let common = |f: &mut dyn FnMut(usize, usize, usize)| {
        let (mut i, mut j, mut n) = (0, 0, 0);
        while i < x.len() && j < y.len() {
            match x[i].cmp(&y[j]) {
                std::cmp::Ordering::Less => i += 1,
                std::cmp::Ordering::Greater => j += 1,
                std::cmp::Ordering::Equal => {
                    f(n, i, j);
                    (i, j, n) = (i + 1, j + 1, n + 1);
                }
            }
        }
        n
    };
    let n = common(&mut |_, _, _| {}) as i64;
    let places = Tensor::empty(ctx, name, DType::I64, &[2, n])?;
    let (left, right) = longs_mut(&places).split_at_mut(n as usize);
    common(&mut |k, i, j| (left[k], right[k]) = (i as i64, j as i64));
    let picked = |c: &Coo, terms: &[i64]| {
        let mut shape = c.values.shape().to_vec();
        shape[0] = n;
        let out = Tensor::empty(ctx, name, c.dtype(), &shape)?;
        let rows = contiguous(ctx, &c.values)?;
        let mut sums = Sums::new(&rows, c.columns(), &out, n);
        sums.terms = Some(terms);
        sums.run(ctx, 2.0)?;
        Ok::<_, Error>(out)
    };
    let (v, w) = (picked(&a, left)?, picked(&b, right)?);
    let values =
        made(elementwise::binary(ctx, op, &[Arg::Tensor(&v), Arg::Tensor(&w)], None, Out::New))?;
    let rows = a.sparse_dims();
    let indices = Tensor::empty(ctx, name, DType::I64, &[rows as i64, n])?;
    let (from, to, all) = (longs(&a.indices), longs_mut(&indices), a.count() as usize);
    for d in 0..rows {
        for (k, &i) in left.iter().enumerate() {
            to[d * n as usize + k] = from[d * all + i as usize];
        }
    }
    Ok(Coo { indices, values, ..a })
}

/// Whether a function of 0 is 0, so that what is not there stays so.
pub fn zero_preserving(op: UnaryOp) -> bool {
    matches!(
        op.name(),
        "abs"
            | "asin"
            | "asinh"
            | "atan"
            | "atanh"
            | "ceil"
            | "erf"
            | "expm1"
            | "floor"
            | "frac"
            | "log1p"
            | "neg"
            | "relu"
            | "round"
            | "sign"
            | "sin"
            | "sinh"
            | "sqrt"
            | "square"
            | "tan"
            | "tanh"
            | "trunc"
    )
}

/// A function that is 0 at 0, of each element.
pub fn unary(ctx: &Context, op: UnaryOp, a: &Coo, p: [f64; 3]) -> Result<Coo> {
    let x = a.coalesce(ctx)?;
    let values = made(elementwise::unary(ctx, op, &x.values, p, Out::New))?;
    Ok(Coo { values, ..x })
}

/// Two dimensions exchanged, both sparse or both dense.
pub fn transpose(ctx: &Context, a: &Coo, dim1: i64, dim2: i64) -> Result<Coo> {
    let op = "transpose";
    let rank = a.shape().len();
    let wrap = |d| wrap_dim(d, rank).map_err(|_| bad_dim(a, op, d));
    let (p, q) = (wrap(dim1)?, wrap(dim2)?);
    if p == q {
        return Ok(a.clone());
    }
    let sparse = a.sparse_dims();
    let mut sizes = a.shape().to_vec();
    sizes.swap(p, q);
    let shape = wick_core::Layout::contiguous(&sizes);
    let shape = shape.map_err(|e| Error::size(op, a.dtype(), &sizes, e))?;
    match (p < sparse, q < sparse) {
        (true, true) => {
            let n = a.count() as usize;
            let indices = crate::ops::rearrange::clone(ctx, op, &a.indices)?;
            let (to, from) = (longs_mut(&indices), longs(&a.indices));
            to[p * n..(p + 1) * n].copy_from_slice(&from[q * n..(q + 1) * n]);
            to[q * n..(q + 1) * n].copy_from_slice(&from[p * n..(p + 1) * n]);
            Ok(Coo { indices, shape, coalesced: n < 2, ..a.clone() })
        }
        (false, false) => {
            let (p, q) = ((p - sparse + 1) as i64, (q - sparse + 1) as i64);
            let values = a.values.with_layout(op, a.values.layout().transpose(p, q))?;
            Ok(Coo { values, shape, ..a.clone() })
        }
        _ => {
            let text = format!("dimensions {p} and {q} must be both sparse or both dense");
            Err(a.misfit(op, None, text))
        }
    }
}

fn bad_dim(a: &Coo, op: &'static str, dim: i64) -> Error {
    use crate::error::{Kind, Operands};
    let n = a.shape().len().max(1);
    let expected = format!("dimension {dim} is outside [-{n}, {n})").into();
    Kind::Index { op, operands: Operands(vec![a.operand()]), expected }.into()
}

/// What a sum over dimensions is: sparse where a sparse dimension is left, else dense.
pub enum Summed {
    /// All sparse dimensions went.
    Dense(Tensor),
    /// Some are left; coalesced.
    Sparse(Box<Coo>),
}

/// The sum of all elements, or over dimensions.
pub fn sum(ctx: &Context, a: &Coo, over: Over, dtype: Option<DType>) -> Result<Summed> {
    let op = ReduceOp::Sum;
    let name = op.name();
    let dims = over.dims.unwrap_or(&[]);
    let mask = dim_mask(dims, a.shape().len()).map_err(|e| match e {
        wick_core::LayoutError::Dim { dim, .. } => bad_dim(a, name, dim),
        _ => a.misfit(name, None, format!("a dimension of {dims:?} is named twice")),
    })?;
    let goes = |d: usize| mask >> d & 1 == 1;
    // Sums of integers are i64, so those that were to wrap or to be joined by "or" are made first.
    let x = match a.dtype() {
        DType::F64 | DType::F32 | DType::I64 if dtype.is_none_or(|d| d == a.dtype()) => a.clone(),
        _ => a.coalesce(ctx)?,
    };
    let (sparse, rank) = (x.sparse_dims(), x.shape().len());
    let left: Vec<usize> = (0..sparse).filter(|d| !goes(*d)).collect();
    let add = |t: &Tensor, dims: &[i64], keep_dim: bool| {
        let over = Over { dims: Some(dims), keep_dim };
        made(reduce(ctx, op, t, over, dtype, 0.0, Out::New))
    };
    let dense: Vec<i64> =
        (sparse..rank).filter(|d| goes(*d)).map(|d| (d - sparse + 1) as i64).collect();
    if left.is_empty() {
        let total = add(&x.values, &[&[0], &dense[..]].concat(), false)?;
        let kept = |d: usize| if goes(d) { 1 } else { x.shape()[d] };
        let shape: Vec<i64> = (0..rank).map(kept).collect();
        return Ok(Summed::Dense(match over.keep_dim {
            true => total.with_layout(name, total.layout().view(&shape))?,
            false => total,
        }));
    }
    let n = x.count();
    let values = match dense.is_empty() {
        // No dense dimension goes: the type is that of a sum all the same.
        true => {
            let wide = x.values.with_layout(name, x.values.layout().unsqueeze(-1))?;
            add(&wide, &[-1], false)?
        }
        false => add(&x.values, &dense, over.keep_dim)?,
    };
    let keep = over.keep_dim;
    let rows: Vec<usize> = (0..sparse).filter(|d| keep || !goes(*d)).collect();
    let indices = Tensor::empty(ctx, name, DType::I64, &[rows.len() as i64, n])?;
    let (from, to, n) = (longs(&x.indices), longs_mut(&indices), n as usize);
    for (k, &d) in rows.iter().enumerate() {
        let row = &mut to[k * n..(k + 1) * n];
        match goes(d) {
            true => row.fill(0),
            false => row.copy_from_slice(&from[d * n..(d + 1) * n]),
        }
    }
    let sizes: Vec<i64> = (0..rank)
        .filter(|d| keep || !goes(*d))
        .map(|d| if goes(d) { 1 } else { x.shape()[d] })
        .collect();
    let shape = wick_core::Layout::contiguous(&sizes);
    let shape = shape.map_err(|e| Error::size(name, x.dtype(), &sizes, e))?;
    let result = Coo { indices, values, shape, coalesced: false };
    result.coalesce(ctx).map(|c| Summed::Sparse(Box::new(c)))
}
