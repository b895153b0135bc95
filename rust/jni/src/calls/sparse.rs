//! Sparse tensors: their own methods, and what the methods of other families do with them.

use jni::objects::{JClass, JLongArray};
use jni::sys::{jint, jlong};
use jni::{EnvUnowned, NativeMethod, native_method};
use wick_core::DType;
use wick_core::kernels::elementwise::Scalar;
use wick_core::kernels::reduce::ReduceOp;
use wick_core::named_ops;
use wick_core::ops::{BinaryOp, UnaryOp};
use wick_runtime::error::Kind;
use wick_runtime::ops::elementwise::{self, Out};
use wick_runtime::ops::mask;
use wick_runtime::ops::matmul::{AddmmOp, MatmulOp};
use wick_runtime::ops::promote::can_cast;
use wick_runtime::ops::reduce::Over;
use wick_runtime::ops::shape::ShapeOp;
use wick_runtime::ops::sparse::{self, Coo, Summed};
use wick_runtime::{Error, Result, Tensor};

use crate::array::{give_all, got, longs, same, write_longs};
use crate::boundary::{boundary, operation};
use crate::runtime::{Any, SparsePin, dtype_some, no_op, runtime};

pub const METHODS: &[NativeMethod<'static>] = &[
    native_method! { static raw fn sparse_coo(indices: jlong, values: jlong, shape: jlong[]) -> jlong },
    native_method! { static raw fn sparse(op: jint, a: jlong, dims: jlong) -> jlong },
    native_method! { static raw fn sparse_mask(grad: jlong, input: jlong) -> jlong },
    native_method! { static raw fn sparse_info(a: jlong, out: jlong[]) -> () },
    native_method! { static raw fn sparse_parts(a: jlong, results: jlong[]) -> () },
];

named_ops! {
    /// Operations between dense and sparse tensors.
    SparseOp {
        /// Each coordinate once, in order.
        Coalesce "coalesce",
        /// The coordinates.
        Indices "indices",
        /// The values.
        Values "values",
        /// All elements; a dense tensor itself.
        ToDense "to_dense",
        /// What is not zero over leading dimensions, -1 for all; a sparse tensor itself.
        ToSparse "to_sparse",
        /// No element at all.
        ZerosLike "zeros_like",
    }
}

pub fn code(name: &str) -> Option<i32> {
    SparseOp::from_name(name).map(|op| op as i32)
}

fn sparse_coo<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    indices: jlong,
    values: jlong,
    shape: JLongArray<'l>,
) -> jlong {
    let sizes = longs(&env, &shape);
    operation(env, move || {
        let (rt, op) = (runtime(), "sparse_coo");
        let (indices, values) = (rt.pin(op, indices)?, rt.pin(op, values)?);
        rt.own_sparse(Coo::new(&rt.ctx, &indices, &values, got(&sizes)?)?)
    })
}

/// The error that an operation takes sparse tensors alone.
fn dense_refused(op: &'static str, a: &Tensor) -> Error {
    let expected = "expected a sparse tensor: call toSparse first";
    Kind::Dense { op, operand: a.into(), expected: expected.into() }.into()
}

fn sparse(env: EnvUnowned, _: JClass, op: jint, a: jlong, dims: jlong) -> jlong {
    operation(env, move || {
        let rt = runtime();
        let op = SparseOp::from_code(op).ok_or_else(|| no_op(op))?;
        let a = match (rt.pin_any(op.name(), a)?, op) {
            (Any::Sparse(a), _) => a.get(),
            (Any::Dense(a), SparseOp::ToSparse) => {
                let dims = if dims == -1 { a.rank() as i64 } else { dims };
                return rt.own_sparse(Coo::from_dense(&rt.ctx, &a, dims)?);
            }
            (Any::Dense(a), SparseOp::ToDense) => return rt.give(Some(a.clone()), Some(&a), None),
            (Any::Dense(a), _) => return Err(dense_refused(op.name(), &a)),
        };
        match op {
            SparseOp::Coalesce => rt.own_sparse(a.coalesce(&rt.ctx)?),
            SparseOp::Indices => rt.own(a.indices(&rt.ctx)?),
            SparseOp::Values => rt.own(a.values()?),
            SparseOp::ToDense => rt.own(a.to_dense(&rt.ctx)?),
            SparseOp::ZerosLike => rt.own_sparse(a.zeros_like(&rt.ctx)?),
            SparseOp::ToSparse if dims == -1 || dims == a.sparse_dims() as i64 => rt.own_sparse(a),
            SparseOp::ToSparse => {
                let text = format!("it has {} sparse dimensions already", a.sparse_dims());
                Err(a.refuse(op.name(), text))
            }
        }
    })
}

/// The gradient of to_dense: sparse as the input is, which may be dense.
fn sparse_mask(env: EnvUnowned, _: JClass, grad: jlong, input: jlong) -> jlong {
    operation(env, move || {
        let (rt, op) = (runtime(), "to_dense_backward");
        let grad = rt.pin(op, grad)?;
        match rt.pin_any(op, input)? {
            Any::Sparse(x) => rt.own_sparse(x.get().mask(&rt.ctx, op, &grad)?),
            Any::Dense(x) if x.same_shape(&grad) => {
                rt.give(Some(grad.clone()), Some(&grad), Some(&x))
            }
            Any::Dense(x) => {
                let text = "the gradient must have the shape of the input";
                Err(Error::shape(op, &[&grad, &x], text))
            }
        }
    })
}

fn sparse_of(op: &'static str, a: jlong) -> Result<SparsePin> {
    match runtime().pin_any(op, a)? {
        Any::Sparse(a) => Ok(a),
        Any::Dense(a) => Err(dense_refused(op, &a)),
    }
}

/// Coordinates, 1 where they are coalesced, sparse dimensions, bytes.
fn sparse_info<'l>(env: EnvUnowned<'l>, _: JClass<'l>, a: jlong, out: JLongArray<'l>) {
    let inner = same(&env);
    boundary(env, "nnz", || {
        let a = sparse_of("nnz", a)?.get();
        let coalesced = a.is_coalesced() as i64;
        let info = [a.count(), coalesced, a.sparse_dims() as i64, a.bytes()];
        write_longs(&inner, &out, &info)
    })
}

fn sparse_parts<'l>(env: EnvUnowned<'l>, _: JClass<'l>, a: jlong, results: JLongArray<'l>) {
    let inner = same(&env);
    boundary(env, "toString", || {
        let parts = sparse_of("toString", a)?.get().parts(&runtime().ctx)?;
        give_all(&inner, &results, parts.into())
    })
}

/// Gives a sparse result: into the tensor of `out`, or a new one where that is 0.
fn put(op: &'static str, result: Coo, out: jlong) -> Result<jlong> {
    let rt = runtime();
    if out == 0 {
        return rt.own_sparse(result);
    }
    let Any::Sparse(target) = rt.pin_any(op, out)? else {
        return Err(result.refuse(op, "a sparse result cannot be written to a dense tensor"));
    };
    let now = target.get();
    if now.shape() != result.shape() || now.sparse_dims() != result.sparse_dims() {
        let text = format!(
            "a result with shape {:?} and {} sparse dimensions cannot be written there",
            result.shape(),
            result.sparse_dims()
        );
        return Err(now.refuse(op, text));
    }
    if !can_cast(result.dtype(), now.dtype()) {
        let text = format!("a result of type {} cannot be written there", result.dtype());
        return Err(now.refuse(op, text));
    }
    target.set(sparse::cast(&rt.ctx, &result, now.dtype())?);
    Ok(0)
}

/// Gives a dense result of an operation that was handed a dense target, or none.
fn give(result: Option<Tensor>) -> Result<jlong> {
    runtime().give(result, None, None)
}

pub fn unary(op: UnaryOp, a: jlong, p: [f64; 3], out: jlong) -> Result<jlong> {
    let a = sparse_of(op.name(), a)?.get();
    if !sparse::zero_preserving(op) {
        return Err(a.refuse(op.name(), "not 0 at 0: call toDense first"));
    }
    put(op.name(), sparse::unary(&runtime().ctx, op, &a, p)?, out)
}

pub fn binary(op: BinaryOp, a: jlong, b: jlong, alpha: Scalar, out: jlong) -> Result<jlong> {
    let (rt, name) = (runtime(), op.name());
    let sum = matches!(op, BinaryOp::Add | BinaryOp::Sub);
    match (rt.pin_any(name, a)?, rt.pin_any(name, b)?) {
        (Any::Sparse(x), Any::Sparse(y)) if sum => {
            put(name, sparse::add(&rt.ctx, op, &x.get(), &y.get(), Some(alpha))?, out)
        }
        (Any::Sparse(x), Any::Sparse(y)) if op == BinaryOp::Mul => {
            put(name, sparse::mul_sparse(&rt.ctx, &x.get(), &y.get())?, out)
        }
        (Any::Dense(x), Any::Sparse(y)) if sum => {
            let target = if out == 0 || out == a { None } else { Some(rt.pin(name, out)?) };
            let to = match &target {
                Some(t) => Out::Into(t),
                None if out == 0 => Out::New,
                None => Out::InPlace,
            };
            give(sparse::add_dense(&rt.ctx, op, &x, &y.get(), Some(alpha), false, to)?)
        }
        (Any::Sparse(x), Any::Dense(y)) if sum => {
            if out == a {
                return Err(x.get().refuse(name, "its sum with a dense tensor is dense"));
            }
            let target = rt.pin_some(name, out)?;
            let to = target.as_deref().map_or(Out::New, Out::Into);
            give(sparse::add_dense(&rt.ctx, op, &y, &x.get(), Some(alpha), true, to)?)
        }
        (Any::Sparse(x), Any::Dense(y)) if op == BinaryOp::Mul => {
            put(name, sparse::mul_dense(&rt.ctx, op, &x.get(), &y)?, out)
        }
        (Any::Sparse(x), Any::Dense(y)) if op == BinaryOp::Div && y.rank() == 0 => {
            put(name, sparse::mul_dense(&rt.ctx, op, &x.get(), &y)?, out)
        }
        (Any::Dense(x), Any::Sparse(y)) if op == BinaryOp::Mul && out != a => {
            put(name, sparse::mul_dense(&rt.ctx, op, &y.get(), &x)?, out)
        }
        (Any::Sparse(x), _) | (_, Any::Sparse(x)) => Err(refused(name, &x.get())),
        // Only the target is sparse.
        _ => refused_target(name, out),
    }
}

fn refused(op: &'static str, a: &Coo) -> Error {
    a.refuse(op, "not defined for it: call toDense first")
}

fn refused_target(op: &'static str, out: jlong) -> Result<jlong> {
    Err(refused(op, &sparse_of(op, out)?.get()))
}

pub fn binary_scalar(
    op: BinaryOp,
    a: jlong,
    by: Scalar,
    reversed: bool,
    out: jlong,
) -> Result<jlong> {
    let (rt, name) = (runtime(), op.name());
    let Any::Sparse(pin) = rt.pin_any(name, a)? else { return refused_target(name, out) };
    let x = pin.get();
    if op != BinaryOp::Mul && (op != BinaryOp::Div || reversed) {
        return Err(x.refuse(name, "with a number it is dense: call toDense first"));
    }
    if out == a {
        return sparse::scale(&rt.ctx, op, &x, by, Out::InPlace).map(|_| 0);
    }
    match sparse::scale(&rt.ctx, op, &x, by, Out::New)? {
        Some(result) => put(name, result, out),
        None => Ok(0),
    }
}

pub fn cast(a: jlong, dtype: DType) -> Result<jlong> {
    let rt = runtime();
    rt.own_sparse(sparse::cast(&rt.ctx, &sparse_of("to", a)?.get(), dtype)?)
}

/// Zeros can be written into a sparse tensor: then it has no coordinates.
pub fn fill(a: jlong, value: Scalar) -> Result<()> {
    let pin = sparse_of("fill_", a)?;
    let x = pin.get();
    if value.to::<f64>() != 0.0 || matches!(value, Scalar::Float(v) if v.is_nan()) {
        return Err(x.refuse("fill_", "only zeros can be written into it"));
    }
    pin.set(x.zeros_like(&runtime().ctx)?);
    Ok(())
}

pub fn view(op: ShapeOp, a: jlong, p: &[i64]) -> Result<jlong> {
    let rt = runtime();
    let x = sparse_of(op.name(), a)?.get();
    let at = |i: usize| p.get(i).copied().unwrap_or(0);
    let result = match op {
        ShapeOp::T if x.shape().len() < 2 => x,
        ShapeOp::T if x.shape().len() == 2 => sparse::transpose(&rt.ctx, &x, 0, 1)?,
        ShapeOp::Transpose => sparse::transpose(&rt.ctx, &x, at(0), at(1))?,
        ShapeOp::Clone => x.duplicate(&rt.ctx)?,
        _ => return Err(refused(op.name(), &x)),
    };
    rt.own_sparse(result)
}

/// Elements of two tensors, either of which may be sparse.
pub fn equal(a: jlong, b: jlong) -> Result<bool> {
    let (rt, name) = (runtime(), "equal");
    let same = |x: &Coo, y: &Tensor| {
        let dims = x.sparse_dims().min(y.rank()) as i64;
        if x.dtype() == y.dtype() && x.shape() != y.shape() {
            return Ok(false);
        }
        x.equal(&rt.ctx, &Coo::from_dense(&rt.ctx, y, dims)?)
    };
    match (rt.pin_any(name, a)?, rt.pin_any(name, b)?) {
        (Any::Sparse(x), Any::Sparse(y)) => x.get().equal(&rt.ctx, &y.get()),
        (Any::Sparse(x), Any::Dense(y)) => same(&x.get(), &y),
        (Any::Dense(x), Any::Sparse(y)) => same(&y.get(), &x),
        (Any::Dense(x), Any::Dense(y)) => mask::equal(&rt.ctx, &x, &y),
    }
}

pub fn reduce(op: ReduceOp, a: jlong, over: Over, dtype: i32, out: jlong) -> Result<jlong> {
    let (rt, name) = (runtime(), op.name());
    let Any::Sparse(pin) = rt.pin_any(name, a)? else { return refused_target(name, out) };
    let x = pin.get();
    if op != ReduceOp::Sum || out != 0 {
        return Err(refused(name, &x));
    }
    match sparse::sum(&rt.ctx, &x, over, dtype_some(name, dtype)?)? {
        Summed::Dense(t) => rt.own(t),
        Summed::Sparse(t) => rt.own_sparse(*t),
    }
}

pub fn matmul(op: MatmulOp, a: jlong, b: jlong, out: jlong) -> Result<jlong> {
    let (rt, name) = (runtime(), op.name());
    let (x, y) = (rt.pin_any(name, a)?, rt.pin_any(name, b)?);
    let dense = match (&x, &y) {
        (Any::Sparse(x), Any::Sparse(y)) => match op {
            MatmulOp::Mm | MatmulOp::Matmul => {
                let product = sparse::mm_sparse(&rt.ctx, name, &x.get(), &y.get())?;
                return put(name, product, out);
            }
            _ => return Err(refused(name, &x.get())),
        },
        (Any::Sparse(x), Any::Dense(y)) => match (op, y.rank()) {
            (MatmulOp::Mm, _) | (MatmulOp::Matmul, 2) => sparse::mm(&rt.ctx, name, &x.get(), y)?,
            (MatmulOp::Mv, 1) | (MatmulOp::Matmul, 1) => {
                let column = y.with_layout(name, y.layout().unsqueeze(1))?;
                let product = sparse::mm(&rt.ctx, name, &x.get(), &column)?;
                product.with_layout(name, product.layout().squeeze(1))?
            }
            _ => return Err(refused(name, &x.get())),
        },
        (Any::Dense(x), Any::Sparse(y)) => match (op, x.rank()) {
            (MatmulOp::Mm, _) | (MatmulOp::Matmul, 2) => {
                sparse::mm_dense_sparse(&rt.ctx, name, x, &y.get())?
            }
            _ => return Err(refused(name, &y.get())),
        },
        _ => return refused_target(name, out),
    };
    if out == 0 {
        return rt.own(dense);
    }
    let target = rt.pin(name, out)?;
    let inputs: Vec<&Tensor> = [&x, &y].into_iter().filter_map(dense_of).collect();
    into(name, &target, &dense, &inputs)?;
    Ok(0)
}

fn dense_of(a: &Any) -> Option<&Tensor> {
    match a {
        Any::Dense(t) => Some(t),
        Any::Sparse(_) => None,
    }
}

fn into(op: &'static str, target: &Tensor, result: &Tensor, inputs: &[&Tensor]) -> Result<()> {
    use wick_runtime::ops::promote::check_out;
    check_out(op, target, result.shape(), result.dtype(), inputs)?;
    elementwise::copy(&runtime().ctx, target, result)
}

pub fn addmm(
    op: AddmmOp,
    c: jlong,
    a: jlong,
    b: jlong,
    beta: Scalar,
    alpha: Scalar,
    out: jlong,
) -> Result<jlong> {
    let (rt, name) = (runtime(), op.name());
    match (op, rt.pin_any(name, c)?, rt.pin_any(name, a)?, rt.pin_any(name, b)?) {
        (AddmmOp::Addmm, Any::Dense(z), Any::Sparse(x), Any::Dense(y)) => {
            let target = if out == 0 || out == c { None } else { Some(rt.pin(name, out)?) };
            let to = match &target {
                Some(t) => Out::Into(t),
                None if out == 0 => Out::New,
                None => Out::InPlace,
            };
            give(sparse::addmm(&rt.ctx, name, &z, &x.get(), &y, beta, alpha, to)?)
        }
        (_, Any::Sparse(x), _, _) | (_, _, Any::Sparse(x), _) | (_, _, _, Any::Sparse(x)) => {
            Err(refused(name, &x.get()))
        }
        _ => refused_target(name, out),
    }
}
