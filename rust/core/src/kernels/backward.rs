//! Elementwise gradients and losses: a loop a row of the gradient tables, in f32 or f64.

use core::marker::PhantomData;

use pulp::{Simd, WithSimd};

use crate::block::Operands;
use crate::dtype::{DType, Element};
use crate::number::Number;
#[allow(unused_imports)]
use crate::ops::activation::Activation;
use crate::ops::gradient::{PairOp, TripleOp};
use crate::scalar::Real;
use crate::window::{Kernel, ThreadInfo, Window};

/// A row's function.
trait Row<const N: usize> {
    fn apply<T: Real + Element>(x: [T; N], p: [T; 3]) -> T;
}

struct Loop<'a, F, T, const N: usize> {
    inputs: [&'a [T]; N],
    out: &'a mut [T],
    p: [T; 3],
    row: PhantomData<F>,
}

impl<F: Row<N>, T: Real + Element, const N: usize> WithSimd for Loop<'_, F, T, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let n = self.out.len();
        let inputs = self.inputs.map(|x| &x[..n]);
        for i in 0..n {
            self.out[i] = F::apply(core::array::from_fn(|k| inputs[k][i]), self.p);
        }
    }
}

/// `op` is a [`PairOp`] for two operands, a [`TripleOp`] for three.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Pointwise<'a, O, const N: usize> {
    pub op: O,
    /// f64 or f32.
    pub compute: DType,
    pub p: [f64; 3],
    pub operands: &'a Operands<N>,
}

impl<O, const N: usize> Pointwise<'_, O, N> {
    fn rows<F: Row<N>, T: Real + Number + Element>(&self, start: i64, end: i64) {
        let (p, arch) = (self.p.map(<T as Real>::from_f64), self.operands.arch);
        // SAFETY: whoever made the operands keeps their storages alive and their layouts inside;
        // the scheduler gives each part its own elements.
        unsafe {
            self.operands.for_blocks::<T, T>(start, end, &mut |inputs, out| {
                arch.dispatch(Loop::<F, T, N> { inputs, out, p, row: PhantomData })
            });
        }
    }

    fn run_row<F: Row<N>>(&self, part: &Window) {
        let dim = part.dim(0);
        match self.compute {
            DType::F64 => self.rows::<F, f64>(dim.start, dim.end),
            _ => self.rows::<F, f32>(dim.start, dim.end),
        }
    }
}

macro_rules! table {
    ($module:ident $enum:ident $n:literal: $($variant:ident $name:literal [$($x:ident),*] $p:ident $cost:literal { $($body:tt)* } $doc:literal;)*) => {
        mod $module {
            use super::*;
            $(
                pub(super) struct $variant;
                impl Row<$n> for $variant {
                    #[inline(always)]
                    #[allow(unused_variables)]
                    fn apply<T: Real + Element>([$($x),*]: [T; $n], $p: [T; 3]) -> T {
                        $($body)*
                    }
                }
            )*
        }

        impl Kernel for Pointwise<'_, $enum, $n> {
            fn window(&self) -> Window {
                Window::flat(self.operands.nest.numel())
            }

            fn cost(&self) -> f64 {
                let wide = if self.compute == DType::F64 { 2.0 } else { 1.0 };
                wide * match self.op {
                    $($enum::$variant => $cost,)*
                }
            }

            fn run(&self, part: &Window, _: ThreadInfo, _: &mut [u8]) {
                match self.op {
                    $($enum::$variant => self.run_row::<$module::$variant>(part),)*
                }
            }
        }
    };
}

macro_rules! pairs {
    ($($rows:tt)*) => { table!(pair_rows PairOp 2: $($rows)*); };
}
crate::pair_table!(pairs);

macro_rules! triples {
    ($($rows:tt)*) => { table!(triple_rows TripleOp 3: $($rows)*); };
}
crate::triple_table!(triples);
