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
use wick_core::{DType, Nest, Number, with_dtype};

use crate::context::Context;
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

/// A matrix, or the first of a batch: its first element and its steps, none along a dimension of
/// one element. The tensor it was taken of keeps its memory alive while the product runs, and its
/// layout stays inside.
#[derive(Clone, Copy)]
pub(super) struct Side {
    ptr: *mut u8,
    rows: isize,
    cols: isize,
}

impl Side {
    /// The last two dimensions.
    pub fn of(t: &Tensor) -> Side {
        Side { ptr: t.view().start().cast_mut(), rows: step(t, 2), cols: step(t, 1) }
    }

    /// A vector as a matrix of one row.
    pub fn row(t: &Tensor) -> Side {
        Side { ptr: t.view().start().cast_mut(), rows: 0, cols: step(t, 1) }
    }

    /// A vector as a matrix of one column.
    pub fn column(t: &Tensor) -> Side {
        Side::row(t).turned()
    }

    /// A dense matrix that is still to be made.
    pub fn dense(m: i64, n: i64) -> Side {
        Side {
            ptr: std::ptr::null_mut(),
            rows: if m > 1 { n as isize } else { 0 },
            cols: isize::from(n > 1),
        }
    }

    fn turned(self) -> Side {
        Side { rows: self.cols, cols: self.rows, ..self }
    }

    fn mat<S>(self) -> Mat<S> {
        Mat { ptr: self.ptr.cast(), rows: self.rows, cols: self.cols }
    }
}

/// `out = alpha * a b + beta * addend`, for one matrix or each of a batch. The operation has checked
/// that the output lies apart from what is multiplied, and that its elements lie apart.
#[derive(Clone, Copy)]
pub(super) struct Job {
    dtype: DType,
    m: i64,
    n: i64,
    k: i64,
    pub a: Side,
    pub b: Side,
    out: Side,
    addend: Option<Side>,
    alpha: Scalar,
    beta: Scalar,
    path: Path,
    /// The operands stand for the transposed ones, exchanged.
    pub turned: bool,
}

/// The copies that a job's loops want.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Want {
    /// None: ready to run.
    Nothing,
    /// The left operand, dense.
    Left,
    /// The right operand, dense.
    Right,
    /// Both, dense and in f32.
    Wide,
}

impl Job {
    /// A product of `m` by `k` and `k` by `n`; `single`: of no batch.
    pub fn new(
        dtype: DType,
        (m, n, k): (i64, i64, i64),
        single: bool,
        (a, b, out): (Side, Side, Side),
        alpha: Scalar,
        addend: Option<(Side, Scalar)>,
    ) -> Job {
        // Without a sum its factor does not count, be it infinite; with factor 0 there is no sum.
        let empty = k == 0 || alpha.to::<f64>() == 0.0;
        let mut job = Job {
            dtype,
            m,
            n,
            k: if empty { 0 } else { k },
            a,
            b,
            out,
            addend: addend.map(|(c, _)| c),
            alpha: if empty { Scalar::Int(0) } else { alpha },
            beta: addend.map_or(Scalar::Int(0), |(_, beta)| beta),
            path: Path::Wide,
            turned: false,
        };
        // A vector is to be the right operand; else the output's rows the ones with elements side
        // by side.
        let vector = m == 1 || n == 1;
        if vector && n != 1 || !vector && out.rows < out.cols {
            job = Job {
                m: n,
                n: m,
                a: b.turned(),
                b: a.turned(),
                out: out.turned(),
                addend: job.addend.map(Side::turned),
                turned: true,
                ..job
            };
        }
        job.path = job.choose(single);
        job
    }

    fn choose(&self, single: bool) -> Path {
        let few = SMALL as i64;
        // faer is good at small products too, but not at rows of up to four elements.
        let widest = if matches!(self.dtype, DType::F32 | DType::F64) { 4 } else { few };
        if self.k == 0 {
            Path::Wide
        } else if self.n <= widest && self.k <= few && self.m <= 4 * few {
            Path::Small
        } else if self.m == 1 && self.n == 1 && single {
            Path::Dot
        } else if self.n == 1 {
            Path::Vector
        } else if self.dtype.is_float() {
            Path::Float
        } else {
            Path::Wide
        }
    }

    /// Whether operands must be copied, as the loops cannot take their steps or take them badly.
    pub fn wants(&self) -> Want {
        match self.path {
            Path::Vector | Path::Dot if self.k > 1 && self.b.rows != 1 => Want::Right,
            Path::Wide if self.k > 0 && self.n > 1 && self.b.cols != 1 => Want::Right,
            Path::Float if self.dtype.is_half() => Want::Wide,
            // faer packs the right operand and walks the left one along k as it lies.
            Path::Float if self.k >= 256 && self.n >= 64 => {
                if self.a.cols as usize * self.dtype.size() >= 64 {
                    Want::Left
                } else {
                    Want::Nothing
                }
            }
            _ => Want::Nothing,
        }
    }

    /// With the output made meanwhile.
    pub fn into(mut self, out: &Tensor) -> Job {
        self.out.ptr = out.view_mut().start();
        self
    }

    /// Computes everything. `nest`: the loops over the batch for output, left and right operand,
    /// addend.
    pub fn run(&self, ctx: &Context, nest: Option<&Nest>) {
        match (self.path, self.dtype) {
            (Path::Float, DType::F64) => self.float::<f64, f64>(ctx, nest),
            (Path::Float, DType::F32) => self.float::<f32, f32>(ctx, nest),
            (Path::Float, DType::F16) => self.float::<f32, half::f16>(ctx, nest),
            (Path::Float, DType::BF16) => self.float::<f32, half::bf16>(ctx, nest),
            (_, dtype) => with_dtype!(dtype, S => self.plain::<S>(ctx, nest)),
        }
    }

    fn plain<S: Element>(&self, ctx: &Context, nest: Option<&Nest>) {
        let arch = ctx.arch();
        let one: Product<S> = Product {
            m: self.m as usize,
            n: self.n as usize,
            k: self.k as usize,
            a: self.a.mat(),
            b: self.b.mat(),
            out: self.out.mat(),
            addend: self.addend.map(Side::mat),
            alpha: self.alpha.to(),
            beta: self.beta.to(),
        };
        let at = |i: i64| Product {
            out: moved(&one.out, nest, 0, i),
            a: moved(&one.a, nest, 1, i),
            b: moved(&one.b, nest, 2, i),
            addend: one.addend.map(|c| moved(&c, nest, 3, i)),
            ..one
        };
        let batch = nest.map_or(1, Nest::numel);
        let (m, n, k) = (self.m, self.n, self.k as f64);
        match self.path {
            Path::Small => {
                let cost = 20.0 + m as f64 * (2.0 + k);
                ctx.for_ranges(batch, cost, &|start, end| {
                    for i in start..end {
                        // SAFETY: see `Side`; each matrix of the batch is one task's.
                        unsafe { small(arch, at(i)) };
                    }
                });
            }
            Path::Vector => {
                let easy = one.a.cols == 1 || one.a.rows == 1;
                let element = if easy { 0.03 * S::DTYPE.size() as f64 } else { 1.0 };
                ctx.for_ranges(batch * m, 2.0 + element * k, &|start, end| {
                    let mut row = start;
                    while row < end {
                        let (i, first) = (row / m, row % m);
                        let rows = (m - first).min(end - row);
                        let part = at(i).tile(first as usize, 0, rows as usize, 1);
                        // SAFETY: see `Side`; each row is one task's.
                        unsafe { by_vector(arch, part) };
                        row += rows;
                    }
                });
            }
            Path::Dot => {
                let sum = long_dot(ctx, &one);
                // SAFETY: see `Side`; the output's one element.
                unsafe { one.finish(0, 0, sum) };
            }
            Path::Wide | Path::Float => {
                let tiles = Tiles { m, n, down: (m / 64).max(1), across: (n / 1024).max(1) };
                let cost = 5.0 + 0.2 * tiles.mean() * (k + 1.0);
                ctx.for_ranges(batch * tiles.count(), cost, &|start, end| {
                    for task in start..end {
                        let (i, j, rows, cols) = tiles.place(task);
                        let part = at(task / tiles.count()).tile(i, j, rows, cols);
                        // SAFETY: see `Side`; each tile is one task's.
                        unsafe { wide(arch, part) };
                    }
                });
            }
        }
    }

    /// `C` is what faer computes in and the operands' type, `D` the output's; they differ for half
    /// types, whose tiles are summed in `C` and rounded once.
    fn float<C: Gemm, D: Element<Compute = C>>(&self, ctx: &Context, nest: Option<&Nest>) {
        let tiles = Tiles::for_float(self.m, self.n, self.k);
        let (a, b) = (self.a.mat::<C>(), self.b.mat::<C>());
        let (out, addend) = (self.out.mat::<D>(), self.addend.map(Side::mat::<D>));
        let (alpha, beta): (C, C) = (self.alpha.to(), self.beta.to());
        let (half, k) = (self.dtype.is_half(), self.k as usize);
        let in_place = !half
            && self.beta.to::<f64>() == 1.0
            && addend.is_some_and(|c| c.ptr == out.ptr && c.rows == out.rows && c.cols == out.cols);
        let cost = 20.0 + 0.003 * size_of::<C>() as f64 * tiles.mean() * self.k as f64;
        let batch = nest.map_or(1, Nest::numel);
        ctx.for_ranges(batch * tiles.count(), cost, &|start, end| {
            let mut scratch = Vec::<C>::new();
            for task in start..end {
                let batch = task / tiles.count();
                let (i, j, rows, cols) = tiles.place(task);
                let out = moved(&out, nest, 0, batch).from(i, j);
                let addend = addend.map(|c| moved(&c, nest, 3, batch).from(i, j));
                let sums = if half {
                    scratch.resize(rows * cols, C::ZERO);
                    Mat { ptr: scratch.as_mut_ptr(), rows: cols as isize, cols: 1 }
                } else {
                    Mat { ptr: out.ptr.cast::<C>(), rows: out.rows, cols: out.cols }
                };
                let part = Product {
                    m: rows,
                    n: cols,
                    k,
                    a: moved(&a, nest, 1, batch).from(i, 0),
                    b: moved(&b, nest, 2, batch).from(0, j),
                    out: sums,
                    addend: None,
                    alpha,
                    beta,
                };
                // SAFETY: see `Side`; each tile is one task's, and so is the scratch.
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
        let (first, length) = ((i * DOT_RUN) as usize, DOT_RUN.min(k - i * DOT_RUN) as usize);
        // SAFETY: see `Side`; the right vector is dense, as `wants` said.
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
    let to = Mat { ptr: sums.as_mut_ptr(), rows: 1, cols: 0 };
    let element = if p.a.cols == 1 { 0.06 } else { 1.0 };
    ctx.for_ranges(runs, element * DOT_RUN as f64, &|start, end| {
        for i in start..end {
            // SAFETY: each run's sum is one task's.
            unsafe { to.at(i as usize, 0).write(part(i)) };
        }
    });
    sums.into_iter().reduce(Number::add).unwrap_or(S::Compute::ZERO)
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
        Tiles { m, n, down, across: ((n + WIDTH / 2) / WIDTH).max(1) }
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
                if i == parts { size } else { size * i / parts / unit * unit }
            };
            (at(i) as usize, (at(i + 1) - at(i)) as usize)
        };
        let (i, rows) = cut(self.m, self.down, tile / self.across, 4);
        let (j, cols) = cut(self.n, self.across, tile % self.across, 48);
        (i, j, rows, cols)
    }
}

/// Types that faer multiplies.
pub(crate) trait Gemm: Number + Element<Compute = Self> {
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

/// Step along a dimension counted from the last, which is 1; 0 where there is nothing to step over.
fn step(t: &Tensor, d: usize) -> isize {
    let d = t.rank() - d;
    if t.shape()[d] <= 1 {
        return 0;
    }
    t.layout().strides()[d] as isize
}

/// A matrix of the batch.
fn moved<S>(first: &Mat<S>, nest: Option<&Nest>, operand: usize, i: i64) -> Mat<S> {
    let offset = nest.map_or(0, |nest| nest.offset(operand, i));
    Mat { ptr: first.ptr.wrapping_offset(offset as isize), ..*first }
}
