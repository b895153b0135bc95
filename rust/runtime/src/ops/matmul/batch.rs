//! A batch of products as loops over its matrices, or as one product where it is that.

use wick_core::kernels::elementwise::Scalar;
use wick_core::{DType, Layout, Nest};

use super::product::{Job, Side, Want};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::elementwise::copy_values;
use crate::tensor::Tensor;

/// Matrices, or batches of them of one batch shape.
pub(super) struct Batch {
    pub a: Tensor,
    pub b: Tensor,
    pub out: Tensor,
    /// The addend of the output's shape, with its factor.
    pub addend: Option<(Tensor, Scalar)>,
    pub alpha: Scalar,
}

impl Batch {
    /// Makes the copies that the loops want, then computes everything; an error leaves the output
    /// as it was.
    pub fn run(mut self, ctx: &Context, op: &'static str) -> Result<()> {
        self.fold(op)?;
        let sizes = (last(&self.out, 2), last(&self.out, 1), last(&self.a, 1));
        let sides = (Side::of(&self.a), Side::of(&self.b), Side::of(&self.out));
        let addend = self.addend.as_ref().map(|(c, beta)| (Side::of(c), *beta));
        let single = self.out.rank() == 2;
        let dtype = self.out.dtype();
        let mut job = Job::new(dtype, sizes, single, sides, self.alpha, addend);
        let wants = job.wants();
        if wants != Want::Nothing || !single {
            if job.turned {
                let turned = |t: &Tensor| t.with_layout(op, t.layout().transpose(-2, -1));
                (self.a, self.b) = (turned(&self.b)?, turned(&self.a)?);
            }
            let to = if wants == Want::Wide { DType::F32 } else { dtype };
            if wants == Want::Left || wants == Want::Wide {
                self.a = dense(ctx, op, &self.a, to)?;
                job.a = Side::of(&self.a);
            }
            if wants == Want::Right || wants == Want::Wide {
                self.b = dense(ctx, op, &self.b, to)?;
                job.b = Side::of(&self.b);
            }
        }
        if single {
            job.run(ctx, None);
        } else {
            job.run(ctx, Some(&self.nest()));
        }
        Ok(())
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
            Some((c, beta)) => match flat(c) {
                Ok(layout) => Some((c.with_layout(op, Ok(layout))?, *beta)),
                Err(_) => return Ok(()),
            },
        };
        let mut b = *self.b.layout();
        for _ in 2..rank {
            if b.shape()[0] == 0 {
                return Ok(());
            }
            b = b.select(0, 0).map_err(|e| Error::layout(op, &self.b, e))?;
        }
        self.a = self.a.with_layout(op, Ok(a))?;
        self.out = self.out.with_layout(op, Ok(out))?;
        self.b = self.b.with_layout(op, Ok(b))?;
        self.addend = addend;
        Ok(())
    }

    fn nest(&self) -> Nest {
        let (out, a, b) = (outer(&self.out), outer(&self.a), outer(&self.b));
        match &self.addend {
            None => Nest::new(&[&out, &a, &b]),
            Some((c, _)) => Nest::new(&[&out, &a, &b, &outer(c)]),
        }
    }
}

/// Size of a dimension counted from the last, which is 1.
fn last(t: &Tensor, d: usize) -> i64 {
    t.shape()[t.rank() - d]
}

/// The batch dimensions.
fn outer(t: &Tensor) -> Layout {
    let (layout, rank) = (t.layout(), t.rank() - 2);
    // Part of a valid layout is valid.
    Layout::strided(&layout.shape()[..rank], &layout.strides()[..rank], 0)
        .unwrap_or(Layout::scalar())
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
