//! Discrete Fourier transforms along one dimension, by `rustfft` and `realfft`. A complex number is a
//! pair of reals in a last dimension of size 2, as libtorch's `view_as_real` shows it.

use std::slice::from_raw_parts_mut;
use std::sync::Arc;

use realfft::{FftNum, RealFftPlanner};
use rustfft::FftPlanner;
use rustfft::num_complex::Complex;
use wick_core::DType;
use wick_core::kernels::elementwise::Scalar;
use wick_core::layout::wrap_dim;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::creation::full;
use crate::ops::elementwise::{cast, copy};
use crate::tensor::Tensor;

wick_core::named_ops! {
    /// The transforms.
    FftOp {
        /// Complex to complex.
        Fft "fft",
        /// Its inverse.
        Ifft "ifft",
        /// Real to the half of the spectrum that is not redundant.
        Rfft "rfft",
        /// Its inverse.
        Irfft "irfft",
    }
}

wick_core::named_ops! {
    /// Which direction is divided by the length.
    Norm {
        /// The inverse.
        Backward "backward",
        /// Both, by its square root.
        Ortho "ortho",
        /// The forward one.
        Forward "forward",
    }
}

impl FftOp {
    fn inverse(self) -> bool {
        matches!(self, FftOp::Ifft | FftOp::Irfft)
    }

    /// Length of a line of input and of output for a signal of `n`.
    fn lengths(self, n: i64) -> (i64, i64) {
        match self {
            FftOp::Fft | FftOp::Ifft => (n, n),
            FftOp::Rfft => (n, n / 2 + 1),
            FftOp::Irfft => (n / 2 + 1, n),
        }
    }

    fn factor(self, norm: Norm, n: i64) -> f64 {
        match norm {
            Norm::Ortho => 1.0 / (n as f64).sqrt(),
            _ if (norm == Norm::Forward) != self.inverse() => 1.0 / n as f64,
            _ => 1.0,
        }
    }
}

/// The transform of the lines along `dim`, which does not count the pairs; a line is cut or filled
/// up with zeros so that the signal has `n` elements.
pub fn fft(
    ctx: &Context,
    op: FftOp,
    a: &Tensor,
    n: Option<i64>,
    dim: i64,
    norm: Norm,
) -> Result<Tensor> {
    let name = op.name();
    if a.dtype().is_half() {
        return Err(Error::dtype(name, &[a], "expected f32 or f64: cast first"));
    }
    let (pairs_in, pairs_out) = (op != FftOp::Rfft, op != FftOp::Irfft);
    if pairs_in && a.shape().last() != Some(&2) {
        let text = "expected a last dimension of size 2, real and imaginary parts";
        return Err(Error::shape(name, &[a], text));
    }
    let rank = a.rank() - pairs_in as usize;
    if rank == 0 {
        return Err(Error::shape(name, &[a], "expected a dimension to transform along"));
    }
    let d = wrap_dim(dim, rank).map_err(|e| Error::layout(name, a, e))?;
    let length = a.shape()[d];
    let n = n.unwrap_or(if op == FftOp::Irfft { 2 * (length - 1) } else { length });
    if n < 1 {
        return Err(Error::shape(
            name,
            &[a],
            format!("a signal of {n} elements: expected 1 or more"),
        ));
    }
    let (m, k) = op.lengths(n);
    let real = cast(ctx, a, a.dtype().to_float())?;
    let last = rank as i64 - 1;
    let lying = real.with_layout(name, real.layout().movedim(d as i64, last))?;
    let mut sizes = lying.shape().to_vec();
    sizes[rank - 1] = m;
    // A copy in any case: the transforms work in place.
    let from = full(ctx, a.dtype().to_float(), &sizes, Scalar::Int(0))?;
    let kept = |t: &Tensor| t.with_layout(name, t.layout().narrow(last, 0, m.min(length)));
    copy(ctx, &kept(&from)?, &kept(&lying)?)?;
    sizes[rank - 1] = k;
    match (pairs_in, pairs_out) {
        (true, false) => sizes.truncate(rank),
        (false, true) => sizes.push(2),
        _ => {}
    }
    let factor = op.factor(norm, n);
    let out = if pairs_in && pairs_out {
        from.clone()
    } else {
        Tensor::empty(ctx, name, from.dtype(), &sizes)?
    };
    match from.dtype() {
        DType::F64 => lines::<f64>(ctx, op, n as usize, &from, &out, factor),
        _ => lines::<f32>(ctx, op, n as usize, &from, &out, factor as f32),
    }
    out.with_layout(name, out.layout().movedim(last, d as i64))
}

/// Transforms every line; `from` and `to` are dense, and one where both are complex.
fn lines<T: FftNum>(ctx: &Context, op: FftOp, n: usize, from: &Tensor, to: &Tensor, factor: T) {
    let (m, k) = op.lengths(n as i64);
    let (m, k) = (m as usize, k as usize);
    let width = if op == FftOp::Rfft { m } else { 2 * m };
    let count = from.numel() / width as i64;
    let cost = n as f64 * (n as f64).log2().max(1.0);
    let (x, y) = (from.place().start as usize, to.place_mut().start as usize);
    // SAFETY: line `i` of dense tensors that live on; each line is one thread's.
    let input = |i: i64| unsafe { (x as *mut T).add(i as usize * width) };
    let complex = |p: *mut T, n: usize| {
        // SAFETY: pairs, which is what a complex number is.
        unsafe { from_raw_parts_mut(p.cast::<Complex<T>>(), n) }
    };
    match op {
        FftOp::Fft | FftOp::Ifft => {
            let mut planner = FftPlanner::<T>::new();
            let plan = if op.inverse() {
                planner.plan_fft_inverse(n)
            } else {
                planner.plan_fft_forward(n)
            };
            ctx.for_ranges(count, cost, &|start, end| {
                let mut scratch =
                    vec![Complex::new(T::zero(), T::zero()); plan.get_inplace_scratch_len()];
                for i in start..end {
                    let line = complex(input(i), n);
                    plan.process_with_scratch(line, &mut scratch);
                    line.iter_mut().for_each(|v| *v = *v * factor);
                }
            });
        }
        FftOp::Rfft => {
            let plan = RealFftPlanner::<T>::new().plan_fft_forward(n);
            ctx.for_ranges(count, cost, &|start, end| {
                let mut scratch = plan.make_scratch_vec();
                for i in start..end {
                    // SAFETY: as above.
                    let (line, out) = unsafe {
                        (from_raw_parts_mut(input(i), n), (y as *mut T).add(i as usize * 2 * k))
                    };
                    let out = complex(out, k);
                    let done = plan.process_with_scratch(line, out, &mut scratch);
                    debug_assert!(done.is_ok());
                    out.iter_mut().for_each(|v| *v = *v * factor);
                }
            });
        }
        FftOp::Irfft => {
            let plan = RealFftPlanner::<T>::new().plan_fft_inverse(n);
            ctx.for_ranges(count, cost, &|start, end| {
                let plan = Arc::clone(&plan);
                let mut scratch = plan.make_scratch_vec();
                for i in start..end {
                    let line = complex(input(i), m);
                    // A real signal has none there; what is given is not looked at, as in libtorch.
                    line[0].im = T::zero();
                    if n.is_multiple_of(2) {
                        line[m - 1].im = T::zero();
                    }
                    // SAFETY: as above.
                    let out = unsafe { from_raw_parts_mut((y as *mut T).add(i as usize * n), n) };
                    let done = plan.process_with_scratch(line, out, &mut scratch);
                    debug_assert!(done.is_ok());
                    out.iter_mut().for_each(|v| *v = *v * factor);
                }
            });
        }
    }
}
