//! Cross products.

use pulp::{Arch, Simd, WithSimd};

use crate::dtype::Element;
use crate::nest::Nest;
use crate::number::Number;
use crate::view::{View, ViewMut};
use crate::window::{Kernel, ThreadInfo, Window};
use crate::with_dtype;

/// `out = a × b` along one dimension of size 3.
pub struct Cross {
    arch: Arch,
    nest: Nest,
    out: ViewMut,
    a: View,
    b: View,
    /// Steps along the dimension, in the order of output, left and right operand.
    steps: [i64; 3],
}

impl Cross {
    /// `nest`: the loops over all other dimensions, for output, left and right operand.
    pub fn new(arch: Arch, nest: Nest, out: ViewMut, a: View, b: View, steps: [i64; 3]) -> Cross {
        Cross { arch, nest, out, a, b, steps }
    }
}

struct Run<'a, E> {
    out: [*mut E; 3],
    a: [*const E; 3],
    b: [*const E; 3],
    steps: &'a [isize; 3],
    n: usize,
}

impl<E: Element> WithSimd for Run<'_, E> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Run { out, a, b, steps, n } = self;
        for i in 0..n as isize {
            // SAFETY: the kernel's promise: places of the operands' elements.
            unsafe {
                let load = |p: [*const E; 3], step: isize| p.map(|p| (*p.offset(i * step)).load());
                let (x, y) = (load(a, steps[1]), load(b, steps[2]));
                for k in 0..3 {
                    let (p, q) = ((k + 1) % 3, (k + 2) % 3);
                    let value = x[p].mul(y[q]).sub(x[q].mul(y[p]));
                    *out[k].offset(i * steps[0]) = E::store(value);
                }
            }
        }
    }
}

impl Kernel for Cross {
    fn window(&self) -> Window {
        Window::flat(self.nest.numel())
    }

    fn cost(&self) -> f64 {
        3.0
    }

    fn run(&self, part: &Window, _: ThreadInfo, _: &mut [u8]) {
        let (start, end) = (part.dim(0).start, part.dim(0).end);
        let steps: [isize; 3] = core::array::from_fn(|k| self.nest.inner_stride(k) as isize);
        with_dtype!(self.out.dtype, E => {
            let (out, a, b) = (
                self.out.start().cast::<E>(),
                self.a.start().cast::<E>(),
                self.b.start().cast::<E>(),
            );
            self.nest.runs::<3>(start, end - start, |n, offsets| {
                let at = |k: usize, i: i64| (offsets[k] + i * self.steps[k]) as isize;
                let run = Run {
                    out: core::array::from_fn(|i| out.wrapping_offset(at(0, i as i64))),
                    a: core::array::from_fn(|i| a.wrapping_offset(at(1, i as i64))),
                    b: core::array::from_fn(|i| b.wrapping_offset(at(2, i as i64))),
                    steps: &steps,
                    n: n as usize,
                };
                self.arch.dispatch(run);
            });
        })
    }
}
