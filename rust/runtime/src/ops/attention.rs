//! Scaled dot product attention by tiles, and its gradients: the whole matrix of scores is never
//! made. Tiles depend on the shapes alone, and so does the order of all sums.

use wick_core::kernels::attention::{Tile, dots, finish, slopes};
use wick_core::kernels::conv::Place;
use wick_core::kernels::elementwise::Scalar;
use wick_core::kernels::matmul::{Mat, Product};
use wick_core::kernels::reduce::ReduceOp;
use wick_core::layout::broadcast;
use wick_core::ops::TernaryOp;
use wick_core::{DType, Layout, Nest, Real};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::backward::{back, dense, floats, made};
use crate::ops::creation::full;
use crate::ops::elementwise::{Out, ternary};
use crate::ops::matmul::product::Gemm;
use crate::ops::promote::Arg;
use crate::ops::reduce::{Over, reduce};
use crate::ops::scratch::Scratch;
use crate::tensor::Tensor;

/// Queries of a tile.
const ROWS: usize = 128;
/// Keys of a tile.
const COLS: usize = 512;

/// What all calls take.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Attention<'a> {
    pub query: &'a Tensor,
    pub key: &'a Tensor,
    pub value: &'a Tensor,
    /// Numbers to add to the scores, or a bool mask that is true where they count.
    pub bias: Option<&'a Tensor>,
    /// A query sees the keys up to its own number.
    pub causal: bool,
    /// What scores are multiplied by; none: one over the root of the query's length.
    pub scale: Option<f64>,
}

/// Checked operands: dense, of the compute type, and of one batch.
struct Heads {
    q: Tensor,
    k: Tensor,
    v: Tensor,
    /// Stretched to the scores, and the loops over its batch.
    bias: Option<(Tensor, Nest)>,
    batch: Vec<i64>,
    heads: usize,
    rows: usize,
    cols: usize,
    /// Elements of a query and of a value.
    width: usize,
    out_width: usize,
    causal: bool,
    scale: f64,
}

impl Heads {
    fn new(ctx: &Context, op: &'static str, a: &Attention, same: bool) -> Result<Heads> {
        let all = [a.query, a.key, a.value];
        let dtype = floats(op, &all)?;
        if all.iter().any(|t| t.rank() < 2) {
            return Err(Error::shape(op, &all, "expected at least 2 dimensions each"));
        }
        let last = |t: &Tensor, d: usize| t.shape()[t.rank() - d];
        let (rows, cols, width) = (last(a.query, 2), last(a.key, 2), last(a.query, 1));
        let out_width = last(a.value, 1);
        if last(a.key, 1) != width || last(a.value, 2) != cols {
            let text = "queries and keys must be of one length, keys and values of one number";
            return Err(Error::shape(op, &all, text));
        }
        let outer = |t: &'_ Tensor| t.shape()[..t.rank() - 2].to_vec();
        let mut batch = outer(a.query);
        for t in [a.key, a.value] {
            let other = outer(t);
            let both = broadcast(&batch, &other).map(|(sizes, rank)| sizes[..rank].to_vec());
            batch = match both {
                Ok(sizes) if !same || batch == other => sizes,
                _ => {
                    let text = format!("the batch dimensions {batch:?} and {other:?} do not fit");
                    return Err(Error::shape(op, &all, text));
                }
            };
        }
        let compute = dtype.compute();
        let prepare = |t: &Tensor| {
            let sizes = [&batch[..], &t.shape()[t.rank() - 2..]].concat();
            dense(ctx, &t.broadcast_to(op, &sizes)?, compute)
        };
        let bias = match a.bias {
            None => None,
            Some(b) => {
                let b2 = bias_numbers(ctx, op, b, a.query, compute)?;
                let sizes = [&batch[..], &[rows, cols]].concat();
                let b2 = b2.broadcast_to(op, &sizes).map_err(|_| {
                    let text = format!("the bias does not broadcast to the scores {sizes:?}");
                    Error::shape(op, &[b, a.query, a.key], text)
                })?;
                let strides = &b2.layout().strides()[..batch.len()];
                let layout =
                    Layout::strided(&batch, strides, 0).map_err(|e| Error::layout(op, &b2, e))?;
                // Loops in the order of the batch.
                let order = Layout::contiguous(&batch).map_err(|e| Error::layout(op, &b2, e))?;
                Some((b2, Nest::new(&[&order, &layout])))
            }
        };
        Ok(Heads {
            q: prepare(a.query)?,
            k: prepare(a.key)?,
            v: prepare(a.value)?,
            bias,
            heads: batch.iter().product::<i64>() as usize,
            batch,
            rows: rows as usize,
            cols: cols as usize,
            width: width as usize,
            out_width: out_width as usize,
            causal: a.causal,
            scale: a.scale.unwrap_or(1.0 / (width as f64).sqrt()),
        })
    }

    /// Address of the numbers that join the scores of a head, and their steps.
    fn bias_at<T>(&self, head: usize) -> Option<(*const T, isize, isize)> {
        let (t, nest) = self.bias.as_ref()?;
        let strides = &t.layout().strides()[self.batch.len()..];
        let first = t.view().start().cast::<T>();
        let at = nest.offset(1, head as i64);
        Some((first.wrapping_offset(at as isize), strides[0] as isize, strides[1] as isize))
    }

    /// Columns that the rows below `end` see.
    fn seen(&self, end: usize) -> usize {
        if self.causal { end.min(self.cols) } else { self.cols }
    }

    fn shape(&self, last: &[usize]) -> Vec<i64> {
        self.batch.iter().copied().chain(last.iter().map(|n| *n as i64)).collect()
    }
}

/// A bias as numbers: itself, or 0 where a mask is true and negative infinity elsewhere.
fn bias_numbers(
    ctx: &Context,
    op: &'static str,
    bias: &Tensor,
    query: &Tensor,
    compute: DType,
) -> Result<Tensor> {
    if bias.dtype() == DType::Bool {
        let zero = full(ctx, compute, &[], Scalar::Int(0))?;
        let low = full(ctx, compute, &[], Scalar::Float(f64::NEG_INFINITY))?;
        let args = [bias, &zero, &low].map(Arg::Tensor);
        return made(ternary(ctx, TernaryOp::Where, &args, Scalar::Int(0), Out::New));
    }
    floats(op, &[query, bias])?;
    dense(ctx, bias, compute)
}

fn mat<T>(ptr: *const T, rows: usize, cols: usize) -> Mat<T> {
    Mat { ptr: ptr.cast_mut(), rows: rows as isize, cols: cols as isize }
}

/// `out = alpha a b`, or added to what is there.
///
/// # Safety
/// As [`Gemm::gemm`].
unsafe fn product<T: Gemm>(
    (m, n, k): (usize, usize, usize),
    alpha: f64,
    a: Mat<T>,
    b: Mat<T>,
    out: Mat<T>,
    add: bool,
) {
    let (alpha, beta) = (T::from_f64(alpha), T::ONE);
    // SAFETY: the caller's promise.
    unsafe { T::gemm(&Product { m, n, k, a, b, out, addend: None, alpha, beta }, add) }
}

/// An address that tasks share; each writes its own elements.
struct Shared<T>(*mut T);

// SAFETY: see the type; the tensors live as long as the call.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    fn of(t: &Tensor) -> Shared<T> {
        Shared(t.view().start().cast_mut().cast())
    }

    fn at(&self, i: usize) -> *mut T {
        self.0.wrapping_add(i)
    }
}

/// The result, and the logarithms of the rows' sums of exponentials (negative infinity where a
/// row sees no key; its result is 0).
pub fn attention(ctx: &Context, op: &'static str, a: &Attention) -> Result<(Tensor, Tensor)> {
    let heads = Heads::new(ctx, op, a, false)?;
    let compute = heads.q.dtype();
    let out = Tensor::empty(ctx, op, compute, &heads.shape(&[heads.rows, heads.out_width]))?;
    let log = Tensor::empty(ctx, op, compute, &heads.shape(&[heads.rows]))?;
    match compute {
        DType::F64 => heads.forward::<f64>(ctx, &out, &log)?,
        _ => heads.forward::<f32>(ctx, &out, &log)?,
    }
    Ok((back(ctx, out, a.query.dtype())?, log))
}

impl Heads {
    fn forward<T: Gemm + Real>(&self, ctx: &Context, out: &Tensor, log: &Tensor) -> Result<()> {
        let arch = ctx.arch();
        let (q, k, v) =
            (Shared::<T>::of(&self.q), Shared::<T>::of(&self.k), Shared::<T>::of(&self.v));
        let (to, log) = (Shared::<T>::of(out), Shared::<T>::of(log));
        let Heads { rows, cols, width, out_width, .. } = *self;
        let (down, across) = (ROWS.min(rows.max(1)), COLS.min(cols.max(1)));
        let tiles = rows.div_ceil(down);
        let tasks = (self.heads * tiles) as i64;
        // The scores of a tile, then the rows' sums and maxima.
        let held = down * across * size_of::<T>() + down * 16;
        let scratch = Scratch::new(ctx, held, tasks)?;
        let work = (down * cols * (width + out_width + 16)) as f64;
        let cost = 100.0 + 0.004 * size_of::<T>() as f64 * work;
        let bias: Vec<_> = self.biases::<T>();
        ctx.for_ranges(tasks, cost, &|start, end| {
            scratch.with(|held| {
                let totals = held.cast::<f64>();
                let maxima = held.wrapping_add(down * 8).cast::<T>();
                let scores = held.wrapping_add(down * 16).cast::<T>();
                for task in start as usize..end as usize {
                    let (head, tile) = (task / tiles, task % tiles);
                    let first = tile * down;
                    let n = down.min(rows - first);
                    let row = head * rows + first;
                    let out = to.at(row * out_width);
                    // SAFETY: dense tensors of these sizes; each row is one task's, and so is the
                    // scratch.
                    unsafe {
                        let total = std::slice::from_raw_parts_mut(totals, n);
                        let max = std::slice::from_raw_parts_mut(maxima, n);
                        total.fill(0.0);
                        max.fill(<T as Real>::NEG_INFINITY);
                        std::slice::from_raw_parts_mut(out, n * out_width).fill(<T as Real>::ZERO);
                        let from = mat(q.at(row * width).cast_const(), width, 1);
                        let seen = self.seen(first + n);
                        let mut col = 0;
                        while col < seen {
                            let m = across.min(cols - col);
                            let at = head * cols + col;
                            let keys = mat(k.at(at * width).cast_const(), 1, width);
                            let values = mat(v.at(at * out_width).cast_const(), out_width, 1);
                            let s = mat(scores.cast_const(), m, 1);
                            product((n, m, width), self.scale, from, keys, s, false);
                            let tile = Tile {
                                scores,
                                rows: n,
                                cols: m,
                                first_row: first,
                                first_col: col,
                                causal: self.causal,
                                bias: bias[head].0,
                            };
                            tile.online(arch, max, total, out, out_width);
                            let result = mat(out.cast_const(), out_width, 1);
                            product((n, out_width, m), 1.0, s, values, result, true);
                            col += m;
                        }
                        let log = std::slice::from_raw_parts_mut(log.at(row), n);
                        finish(arch, max, total, out, out_width, log);
                    }
                }
            });
        });
        Ok(())
    }

    /// The addresses of the heads' biases.
    fn biases<T>(&self) -> Vec<Bias<T>> {
        (0..self.heads).map(|head| Bias(self.bias_at(head))).collect()
    }
}

/// A head's bias.
struct Bias<T>(Option<(*const T, isize, isize)>);

// SAFETY: an address that is only read while the tensor lives.
unsafe impl<T> Send for Bias<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Bias<T> {}

/// The gradients for query, key and value, from the result and the logarithms that it came with; and
/// for the bias, if that is wanted: then the slopes of all scores are held at once.
pub fn attention_backward(
    ctx: &Context,
    op: &'static str,
    grad: &Tensor,
    a: &Attention,
    out: &Tensor,
    log: &Tensor,
    with_bias: bool,
) -> Result<([Tensor; 3], Option<Tensor>)> {
    let bias = a.bias.filter(|_| with_bias);
    if with_bias && !bias.is_some_and(|b| b.dtype().is_float()) {
        let all: Vec<_> = [grad, a.query].into_iter().chain(a.bias).collect();
        return Err(Error::dtype(op, &all, "only a bias of floats has a gradient"));
    }
    let heads = Heads::new(ctx, op, a, true)?;
    let dtype = floats(op, &[a.query, grad, out])?;
    let shape = heads.shape(&[heads.rows, heads.out_width]);
    for t in [grad, out] {
        if t.shape() != shape {
            let text = format!("gradient and result must have shape {shape:?}");
            return Err(Error::shape(op, &[grad, out, a.query], text));
        }
    }
    let shape = heads.shape(&[heads.rows]);
    if log.numel() != shape.iter().product::<i64>() || !log.dtype().is_float() {
        let text = format!("logsumexp must be floats of shape {shape:?}");
        return Err(Error::shape(op, &[grad, log], text));
    }
    let compute = dtype.compute();
    let inputs = [dense(ctx, grad, compute)?, dense(ctx, out, compute)?, dense(ctx, log, compute)?];
    let zeros = |t: &Tensor| full(ctx, compute, t.shape(), Scalar::Int(0));
    let results = [zeros(&heads.q)?, zeros(&heads.k)?, zeros(&heads.v)?];
    let shape = heads.shape(&[heads.rows, heads.cols]);
    let scores = bias.map(|_| full(ctx, compute, &shape, Scalar::Int(0))).transpose()?;
    match compute {
        DType::F64 => heads.backward::<f64>(ctx, &inputs, &results, scores.as_ref())?,
        _ => heads.backward::<f32>(ctx, &inputs, &results, scores.as_ref())?,
    }
    let [dq, dk, dv] = results;
    let three = [back(ctx, dq, dtype)?, back(ctx, dk, dtype)?, back(ctx, dv, dtype)?];
    let fourth = match (bias, scores) {
        (Some(bias), Some(scores)) => Some(sum_to(ctx, op, scores, bias)?),
        _ => None,
    };
    Ok((three, fourth))
}

/// Sums over the dimensions along which a tensor was stretched to this shape, in its dtype.
fn sum_to(ctx: &Context, op: &'static str, all: Tensor, like: &Tensor) -> Result<Tensor> {
    let more = all.rank() - like.rank();
    let stretched = |d: &usize| *d < more || like.shape()[d - more] != all.shape()[*d];
    let dims: Vec<i64> = (0..all.rank()).filter(stretched).map(|d| d as i64).collect();
    let sums = if dims.is_empty() {
        all
    } else if all.numel() == 0 {
        return full(ctx, like.dtype(), like.shape(), Scalar::Int(0));
    } else {
        let over = Over { dims: Some(&dims), keep_dim: true };
        made(reduce(ctx, ReduceOp::Sum, &all, over, None, 0.0, Out::New))?
    };
    let sums = sums.with_layout(op, sums.layout().view(like.shape()))?;
    back(ctx, sums, like.dtype())
}

impl Heads {
    fn backward<T: Gemm + Real>(
        &self,
        ctx: &Context,
        [grad, out, log]: &[Tensor; 3],
        [dq, dk, dv]: &[Tensor; 3],
        scores: Option<&Tensor>,
    ) -> Result<()> {
        let arch = ctx.arch();
        let of = Shared::<T>::of;
        let (q, k, v) = (of(&self.q), of(&self.k), of(&self.v));
        let (grad, out, log) = (of(grad), of(out), of(log));
        let (dq, dk, dv) = (of(dq), of(dk), of(dv));
        let scores = scores.map(of);
        let Heads { rows, cols, width, out_width, scale, .. } = *self;
        let (down, across) = (ROWS.min(rows.max(1)), COLS.min(cols.max(1)));
        let tile = down * across;
        let held = (2 * tile + down) * size_of::<T>();
        let scratch = Scratch::new(ctx, held, self.heads as i64)?;
        let work = (rows * cols * (3 * width + 2 * out_width + 16)) as f64;
        let cost = 100.0 + 0.004 * size_of::<T>() as f64 * work;
        let bias: Vec<_> = self.biases::<T>();
        ctx.for_ranges(self.heads as i64, cost, &|start, end| {
            scratch.with(|held| {
                let p = held.cast::<T>();
                let (dp, mean) = (p.wrapping_add(tile), p.wrapping_add(2 * tile));
                for head in start as usize..end as usize {
                    for first in (0..rows).step_by(down) {
                        let n = down.min(rows - first);
                        let row = head * rows + first;
                        // SAFETY: dense tensors of these sizes; each head is one task's, and so
                        // is the scratch.
                        unsafe {
                            let g = grad.at(row * out_width).cast_const();
                            let o = out.at(row * out_width).cast_const();
                            let mean = std::slice::from_raw_parts_mut(mean, n);
                            let elements = n * out_width;
                            let g_row = std::slice::from_raw_parts(g, elements);
                            let o_row = std::slice::from_raw_parts(o, elements);
                            dots(arch, g_row, o_row, out_width, mean);
                            let log = std::slice::from_raw_parts(log.at(row), n);
                            let from = q.at(row * width).cast_const();
                            let seen = self.seen(first + n);
                            for col in (0..seen).step_by(across) {
                                let m = across.min(cols - col);
                                let at = head * cols + col;
                                let keys = k.at(at * width).cast_const();
                                let values = v.at(at * out_width).cast_const();
                                let (s, t) =
                                    (mat(p.cast_const(), m, 1), mat(dp.cast_const(), m, 1));
                                let queries = mat(from, width, 1);
                                let sizes = (n, m, width);
                                product(sizes, scale, queries, mat(keys, 1, width), s, false);
                                let tile = Tile {
                                    scores: p,
                                    rows: n,
                                    cols: m,
                                    first_row: first,
                                    first_col: col,
                                    causal: self.causal,
                                    bias: bias[head].0,
                                };
                                tile.probabilities(arch, log);
                                let g = mat(g, out_width, 1);
                                let to = mat(dv.at(at * out_width).cast_const(), out_width, 1);
                                product((m, out_width, n), 1.0, s.transposed(), g, to, true);
                                let turned = mat(values, 1, out_width);
                                product((n, m, out_width), 1.0, g, turned, t, false);
                                slopes(
                                    arch,
                                    std::slice::from_raw_parts(p, n * m),
                                    std::slice::from_raw_parts_mut(dp, n * m),
                                    m,
                                    mean,
                                );
                                if let Some(scores) = &scores {
                                    let place = Place {
                                        rows: n,
                                        n: m,
                                        from: dp.cast_const(),
                                        from_step: m,
                                        to: scores.at(row * cols + col),
                                        to_step: cols,
                                        bias: std::ptr::null(),
                                    };
                                    place.run(arch);
                                }
                                let to = mat(dq.at(row * width).cast_const(), width, 1);
                                product((n, width, m), scale, t, mat(keys, width, 1), to, true);
                                let to = mat(dk.at(at * width).cast_const(), width, 1);
                                product((m, width, n), scale, t.transposed(), queries, to, true);
                            }
                        }
                    }
                }
            });
        });
        Ok(())
    }
}
