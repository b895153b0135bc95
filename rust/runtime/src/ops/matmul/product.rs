//! How a checked product is computed: which loops suit its shape, how it is cut into tiles.
//!
//! Large float products go to faer, sequentially, a tile at a time. Tiles depend on the shape
//! alone and no sum is cut between threads, so that a result has the same bits however many there
//! are. faer picks its kernels by the processor's features itself, whatever `WICK_CPU` says: its
//! results may differ in rounding from machine to machine.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use wick_core::dtype::Element;
use wick_core::kernels::elementwise::Scalar;
use wick_core::kernels::matmul::{Mat, Product, SMALL, by_vector, dot, small, wide};
use wick_core::{DType, Layout, Nest, Number, with_dtype};

use crate::context::Context;
use crate::error::Result;
use crate::ops::elementwise::copy_values;
use crate::tensor::Tensor;

/// Elements that one task of a long scalar product takes.
const DOT_RUN: i64 = 1 << 16;

/// Which loops a product takes.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Path {
    Small,
    Vector,
    /// One long row by one column.
    Dot,
    /// Integers, and whatever has nothing to sum.
    Wide,
    /// By faer.
    Float,
}

/// `out = alpha * a b + beta * addend` for each matrix of a batch, ready to run.
pub(super) struct Batch {
    a: Tensor,
    b: Tensor,
    out: Tensor,
    addend: Option<Tensor>,
    alpha: Scalar,
    beta: Scalar,
    k: i64,
    path: Path,
}

/// Operands of [`Batch::new`]: matrices, or batches of them of one batch shape.
pub(super) struct Operands {
    pub a: Tensor,
    pub b: Tensor,
    pub out: Tensor,
    /// The addend of the output's shape, with its factor.
    pub addend: Option<(Tensor, Scalar)>,
    pub alpha: Scalar,
}

impl Batch {
    /// Chooses loops and makes the copies that they need. Nothing is written yet.
    pub fn new(ctx: &Context, op: &'static str, operands: Operands) -> Result<Batch> {
        let Operands {
            a,
            b,
            out,
            addend,
            alpha,
        } = operands;
        let (addend, beta) = match addend {
            Some((c, beta)) => (Some(c), beta),
            None => (None, Scalar::Int(0)),
        };
        // Without a sum its factor does not count, be it infinite; with factor 0 there is no sum.
        let k = last(&a, 1);
        let (k, alpha) = if k == 0 || alpha.to::<f64>() == 0.0 {
            (0, Scalar::Int(0))
        } else {
            (k, alpha)
        };
        let mut batch = Batch {
            a,
            b,
            out,
            addend,
            alpha,
            beta,
            k,
            path: Path::Wide,
        };
        batch.fold(op)?;
        batch.turn(op)?;
        batch.choose();
        batch.prepare(ctx, op)?;
        Ok(batch)
    }

    /// A batch by one matrix is one product, where the rows lie evenly.
    fn fold(&mut self, op: &'static str) -> Result<()> {
        let rank = self.a.rank();
        let batched =
            |t: &Tensor| (0..rank - 2).any(|d| t.shape()[d] != 1 && t.layout().strides()[d] != 0);
        if rank == 2 || batched(&self.b) {
            return Ok(());
        }
        let flat = |t: &Tensor| {
            let rows = t.shape()[..rank - 1].iter().product();
            t.layout().view(&[rows, last(t, 1)])
        };
        let (Ok(a), Ok(out)) = (flat(&self.a), flat(&self.out)) else {
            return Ok(());
        };
        let addend = match &self.addend {
            None => None,
            Some(c) => match flat(c) {
                Ok(layout) => Some(c.with_layout(op, Ok(layout))?),
                Err(_) => return Ok(()),
            },
        };
        let mut b = *self.b.layout();
        for _ in 2..rank {
            if b.shape()[0] == 0 {
                return Ok(());
            }
            b = b
                .select(0, 0)
                .map_err(|e| crate::Error::layout(op, &self.b, e))?;
        }
        self.a = self.a.with_layout(op, Ok(a))?;
        self.out = self.out.with_layout(op, Ok(out))?;
        self.b = self.b.with_layout(op, Ok(b))?;
        self.addend = addend;
        Ok(())
    }

    /// Exchanges the operands, transposed, so that a vector is the right one, or else the output's
    /// rows are the ones with elements side by side.
    fn turn(&mut self, op: &'static str) -> Result<()> {
        let (m, n) = (last(&self.out, 2), last(&self.out, 1));
        let (rows, cols) = (step(&self.out, 2), step(&self.out, 1));
        if if m == 1 || n == 1 {
            n != 1
        } else {
            rows < cols
        } {
            let turned = |t: &Tensor| t.with_layout(op, t.layout().transpose(-2, -1));
            (self.a, self.b) = (turned(&self.b)?, turned(&self.a)?);
            self.out = turned(&self.out)?;
            self.addend = self.addend.as_ref().map(turned).transpose()?;
        }
        Ok(())
    }

    fn choose(&mut self) {
        let (m, n, k) = (last(&self.out, 2), last(&self.out, 1), self.k);
        let tiny = SMALL as i64;
        self.path = if k == 0 {
            Path::Wide
        } else if n <= tiny && k <= tiny && m <= tiny {
            Path::Small
        } else if m == 1 && n == 1 && self.out.numel() == 1 {
            Path::Dot
        } else if n == 1 {
            Path::Vector
        } else if self.out.dtype().is_float() {
            Path::Float
        } else {
            Path::Wide
        };
    }

    /// Copies of operands whose steps the loops cannot take, or take badly.
    fn prepare(&mut self, ctx: &Context, op: &'static str) -> Result<()> {
        let dtype = self.out.dtype();
        match self.path {
            Path::Vector | Path::Dot if self.k > 1 && step(&self.b, 2) != 1 => {
                self.b = dense(ctx, op, &self.b, dtype)?;
            }
            Path::Wide if self.k > 0 && last(&self.b, 1) > 1 && step(&self.b, 1) != 1 => {
                self.b = dense(ctx, op, &self.b, dtype)?;
            }
            Path::Float if dtype.is_half() => {
                self.a = dense(ctx, op, &self.a, DType::F32)?;
                self.b = dense(ctx, op, &self.b, DType::F32)?;
            }
            // faer packs the right operand and walks the left one along k as it lies.
            Path::Float if far_apart(&self.a, self.k, last(&self.b, 1)) => {
                self.a = dense(ctx, op, &self.a, dtype)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Computes everything.
    pub fn run(&self, ctx: &Context) {
        match (self.path, self.out.dtype()) {
            (Path::Float, DType::F64) => self.float::<f64, f64>(ctx),
            (Path::Float, DType::F32) => self.float::<f32, f32>(ctx),
            (Path::Float, DType::F16) => self.float::<f32, half::f16>(ctx),
            (Path::Float, DType::BF16) => self.float::<f32, half::bf16>(ctx),
            (_, dtype) => with_dtype!(dtype, S => self.plain::<S>(ctx)),
        }
    }

    /// The loops over the batch.
    fn nest(&self) -> Nest {
        let outer = [
            Some(&self.out),
            Some(&self.a),
            Some(&self.b),
            self.addend.as_ref(),
        ]
        .map(|t| t.map_or(Layout::scalar(), outer));
        let layouts = [&outer[0], &outer[1], &outer[2], &outer[3]];
        Nest::new(&layouts[..3 + self.addend.is_some() as usize])
    }

    fn plain<S: Element>(&self, ctx: &Context) {
        let arch = ctx.arch();
        let nest = self.nest();
        let one: Product<S> = Product {
            m: last(&self.out, 2) as usize,
            n: last(&self.out, 1) as usize,
            k: self.k as usize,
            a: mat(&self.a),
            b: mat(&self.b),
            out: mat(&self.out),
            addend: self.addend.as_ref().map(mat),
            alpha: self.alpha.to(),
            beta: self.beta.to(),
        };
        let at = |i: i64| shifted(&one, &nest, i);
        let (m, n, k) = (one.m as i64, one.n as i64, one.k as f64);
        match self.path {
            Path::Small => {
                ctx.for_ranges(nest.numel(), 20.0 + m as f64 * (2.0 + k), &|start, end| {
                    for i in start..end {
                        // SAFETY: see `mat`; each matrix of the batch is one task's.
                        unsafe { small(arch, at(i)) };
                    }
                })
            }
            Path::Vector => {
                let easy = one.a.cols == 1 || one.a.rows == 1;
                let element = if easy {
                    0.03 * S::DTYPE.size() as f64
                } else {
                    1.0
                };
                ctx.for_ranges(nest.numel() * m, 2.0 + element * k, &|start, end| {
                    let mut row = start;
                    while row < end {
                        let (i, first) = (row / m, row % m);
                        let rows = (m - first).min(end - row);
                        let part = at(i).tile(first as usize, 0, rows as usize, 1);
                        // SAFETY: see `mat`; each row is one task's.
                        unsafe { by_vector(arch, part) };
                        row += rows;
                    }
                });
            }
            Path::Dot => {
                let sum = long_dot(ctx, &one);
                // SAFETY: see `mat`; the output's one element.
                unsafe { one.finish(0, 0, sum) };
            }
            Path::Wide | Path::Float => {
                let tiles = Tiles {
                    m,
                    n,
                    down: (m / 64).max(1),
                    across: (n / 1024).max(1),
                };
                let cost = 5.0 + 0.2 * tiles.mean() * (k + 1.0);
                ctx.for_ranges(nest.numel() * tiles.count(), cost, &|start, end| {
                    for task in start..end {
                        let (i, j, rows, cols) = tiles.place(task);
                        let part = at(task / tiles.count()).tile(i, j, rows, cols);
                        // SAFETY: see `mat`; each tile is one task's.
                        unsafe { wide(arch, part) };
                    }
                });
            }
        }
    }

    /// `C` is what faer computes in and the operands' type, `D` the output's; they differ for half
    /// types, whose tiles are summed in `C` and rounded once.
    fn float<C: Gemm, D: Element<Compute = C>>(&self, ctx: &Context) {
        let nest = self.nest();
        let (m, n) = (last(&self.out, 2), last(&self.out, 1));
        let tiles = Tiles::for_float(m, n, self.k);
        let (a, b) = (mat::<C>(&self.a), mat::<C>(&self.b));
        let (out, addend) = (mat::<D>(&self.out), self.addend.as_ref().map(mat::<D>));
        let (alpha, beta): (C, C) = (self.alpha.to(), self.beta.to());
        let half = self.out.dtype().is_half();
        let in_place = !half
            && self.beta.to::<f64>() == 1.0
            && addend.is_some_and(|c| c.ptr == out.ptr && c.rows == out.rows && c.cols == out.cols);
        let cost = 50.0 + 0.003 * size_of::<C>() as f64 * tiles.mean() * self.k as f64;
        ctx.for_ranges(nest.numel() * tiles.count(), cost, &|start, end| {
            let mut scratch = Vec::<C>::new();
            for task in start..end {
                let batch = task / tiles.count();
                let (i, j, rows, cols) = tiles.place(task);
                let out = moved(&out, &nest, 0, batch).from(i, j);
                let addend = addend.map(|c| moved(&c, &nest, 3, batch).from(i, j));
                if half {
                    scratch.resize(rows * cols, C::ZERO);
                }
                let sums = if half {
                    Mat {
                        ptr: scratch.as_mut_ptr(),
                        rows: cols as isize,
                        cols: 1,
                    }
                } else {
                    Mat {
                        ptr: out.ptr.cast::<C>(),
                        rows: out.rows,
                        cols: out.cols,
                    }
                };
                let part = Product {
                    m: rows,
                    n: cols,
                    k: self.k as usize,
                    a: moved(&a, &nest, 1, batch).from(i, 0),
                    b: moved(&b, &nest, 2, batch).from(0, j),
                    out: sums,
                    addend: None,
                    alpha,
                    beta,
                };
                // SAFETY: see `mat`; each tile is one task's, and so is the scratch.
                unsafe {
                    if let Some(c) = addend.filter(|_| !in_place) {
                        each(rows, cols, |i, j| {
                            let scaled = beta.mul((*c.at(i, j)).load());
                            sums.at(i, j).write(scaled);
                        });
                    }
                    C::gemm(&part, addend.is_some());
                    if half {
                        each(rows, cols, |i, j| {
                            out.at(i, j).write(D::store(*sums.at(i, j)));
                        });
                    }
                }
            }
        });
    }
}

fn each(rows: usize, cols: usize, mut f: impl FnMut(usize, usize)) {
    for i in 0..rows {
        for j in 0..cols {
            f(i, j);
        }
    }
}

/// One sum over long vectors: runs of a fixed length, their sums added in order.
fn long_dot<S: Element>(ctx: &Context, p: &Product<S>) -> S::Compute {
    let k = p.k as i64;
    let part = |i: i64| {
        let (first, length) = (
            (i * DOT_RUN) as usize,
            DOT_RUN.min(k - i * DOT_RUN) as usize,
        );
        // SAFETY: see `mat`; `prepare` has made the right vector dense.
        unsafe {
            dot(
                ctx.arch(),
                p.a.at(0, first).cast_const(),
                p.a.cols,
                p.b.ptr.add(first).cast_const(),
                length,
            )
        }
    };
    let runs = (k - 1) / DOT_RUN + 1;
    if runs == 1 {
        return part(0);
    }
    let mut sums = vec![S::Compute::ZERO; runs as usize];
    let to = Mat {
        ptr: sums.as_mut_ptr(),
        rows: 1,
        cols: 0,
    };
    let element = if p.a.cols == 1 { 0.06 } else { 1.0 };
    ctx.for_ranges(runs, element * DOT_RUN as f64, &|start, end| {
        for i in start..end {
            // SAFETY: each run's sum is one task's.
            unsafe { to.at(i as usize, 0).write(part(i)) };
        }
    });
    sums.into_iter()
        .reduce(Number::add)
        .unwrap_or(S::Compute::ZERO)
}

/// The cut of a result: `down` by `across` tiles that differ little in size.
struct Tiles {
    m: i64,
    n: i64,
    down: i64,
    across: i64,
}

impl Tiles {
    /// Widths are multiples of the widest kernels of faer. Cutting rows makes it pack the right
    /// operand again for each cut, so there are as few as two threads need, or tall ones.
    fn for_float(m: i64, n: i64, k: i64) -> Tiles {
        const WIDTH: i64 = 192;
        let down = if m >= 1024 {
            m / 512
        } else if m >= 64 && m.saturating_mul(n).saturating_mul(k) >= 1 << 22 {
            2
        } else {
            1
        };
        Tiles {
            m,
            n,
            down,
            across: ((n + WIDTH / 2) / WIDTH).max(1),
        }
    }

    fn count(&self) -> i64 {
        self.down * self.across
    }

    /// Elements of a tile, on average.
    fn mean(&self) -> f64 {
        self.m as f64 * self.n as f64 / self.count() as f64
    }

    /// First row, first column, rows and columns of a task's tile; tasks of all matrices of a
    /// batch count through.
    fn place(&self, task: i64) -> (usize, usize, usize, usize) {
        let tile = task % self.count();
        let cut = |size: i64, parts: i64, i: i64, unit: i64| {
            let at = |i: i64| {
                if i == parts {
                    size
                } else {
                    size * i / parts / unit * unit
                }
            };
            (at(i) as usize, (at(i + 1) - at(i)) as usize)
        };
        let (i, rows) = cut(self.m, self.down, tile / self.across, 4);
        let (j, cols) = cut(self.n, self.across, tile % self.across, 48);
        (i, j, rows, cols)
    }
}

/// Types that faer multiplies.
trait Gemm: Number + Element<Compute = Self> {
    /// `out = alpha * a b`, added to what is there where `add`.
    ///
    /// # Safety
    /// The matrices cover their sizes, and nobody else touches the output's elements meanwhile.
    unsafe fn gemm(p: &Product<Self>, add: bool);
}

macro_rules! gemm {
    ($($t:ty)*) => {$(
        impl Gemm for $t {
            unsafe fn gemm(p: &Product<$t>, add: bool) {
                // SAFETY: the caller's promise.
                let (out, a, b) = unsafe {
                    (
                        MatMut::from_raw_parts_mut(p.out.ptr, p.m, p.n, p.out.rows, p.out.cols),
                        MatRef::from_raw_parts(p.a.ptr.cast_const(), p.m, p.k, p.a.rows, p.a.cols),
                        MatRef::from_raw_parts(p.b.ptr.cast_const(), p.k, p.n, p.b.rows, p.b.cols),
                    )
                };
                let start = if add { Accum::Add } else { Accum::Replace };
                matmul(out, start, a, b, p.alpha, Par::Seq);
            }
        }
    )*};
}
gemm! { f64 f32 }

/// Size of a dimension counted from the last, which is 1.
fn last(t: &Tensor, d: usize) -> i64 {
    t.shape()[t.rank() - d]
}

/// Step along a dimension counted from the last, which is 1; none where there is nothing to step over.
fn step(t: &Tensor, d: usize) -> i64 {
    if last(t, d) <= 1 {
        return 0;
    }
    t.layout().strides()[t.rank() - d]
}

/// The first matrix of a batch. The tensor keeps its memory alive while the product runs, its
/// layout stays inside, and the operation has checked that the output lies apart from what is read.
fn mat<S: Element>(t: &Tensor) -> Mat<S> {
    Mat {
        ptr: t.view().start().cast_mut().cast(),
        rows: step(t, 2) as isize,
        cols: step(t, 1) as isize,
    }
}

/// The batch dimensions.
fn outer(t: &Tensor) -> Layout {
    let (layout, rank) = (t.layout(), t.rank() - 2);
    // Part of a valid layout is valid.
    Layout::strided(&layout.shape()[..rank], &layout.strides()[..rank], 0)
        .unwrap_or(Layout::scalar())
}

/// A matrix of the batch.
fn moved<S>(first: &Mat<S>, nest: &Nest, operand: usize, i: i64) -> Mat<S> {
    Mat {
        ptr: first.ptr.wrapping_offset(nest.offset(operand, i) as isize),
        ..*first
    }
}

fn shifted<S: Element>(first: &Product<S>, nest: &Nest, i: i64) -> Product<S> {
    Product {
        out: moved(&first.out, nest, 0, i),
        a: moved(&first.a, nest, 1, i),
        b: moved(&first.b, nest, 2, i),
        addend: first.addend.map(|c| moved(&c, nest, 3, i)),
        ..*first
    }
}

/// Whether elements along k lie so far apart that walking them costs more than a copy.
fn far_apart(a: &Tensor, k: i64, n: i64) -> bool {
    k >= 256 && n >= 64 && step(a, 1) * a.dtype().size() as i64 >= 64
}

/// A copy whose matrices are dense and row-major; matrices that a batch repeats are copied once.
fn dense(ctx: &Context, op: &'static str, t: &Tensor, dtype: DType) -> Result<Tensor> {
    let mut once = Ok(*t.layout());
    for d in 0..t.rank() - 2 {
        if t.layout().strides()[d] == 0 && t.shape()[d] > 1 {
            once = once.and_then(|l| l.narrow(d as i64, 0, 1));
        }
    }
    let once = t.with_layout(op, once)?;
    let copy = Tensor::empty(ctx, op, dtype, once.shape())?;
    copy_values(ctx, &copy, &once);
    copy.with_layout(op, copy.layout().expand(t.shape()))
}
