//! One value everywhere.

use crate::dtype::Element;
use crate::kernels::elementwise::Scalar;
use crate::nest::Nest;
use crate::view::ViewMut;
use crate::window::{Kernel, ThreadInfo, Window};
use crate::with_dtype;

/// out = value, cast to the output's type.
#[derive(Clone, Copy)]
pub struct Fill {
    out: ViewMut,
    value: Scalar,
    nest: Nest,
}

impl Fill {
    /// Elements of `out` may share places.
    pub fn new(out: ViewMut, value: Scalar) -> Fill {
        Fill { out, value, nest: Nest::new(&[&out.layout]) }
    }
}

impl Kernel for Fill {
    fn window(&self) -> Window {
        Window::flat(self.nest.numel())
    }

    fn cost(&self) -> f64 {
        0.1 * self.out.dtype.size() as f64
    }

    fn run(&self, part: &Window, _: ThreadInfo, _: &mut [u8]) {
        let dim = part.dim(0);
        with_dtype!(self.out.dtype, D => {
            let value = match self.value {
                Scalar::Int(v) => D::store(v),
                Scalar::Float(v) => D::store(v),
                Scalar::Bool(v) => D::store(v as u8),
            };
            let base = self.out.start().cast::<D>();
            let stride = self.nest.inner_stride(0) as isize;
            self.nest.pieces(0, dim.start, dim.end - dim.start, |length, offset| {
                // SAFETY: the nest stays inside the layout and the layout inside the storage,
                // whose elements in this part are ours to write.
                unsafe {
                    let first = base.offset(offset as isize);
                    if stride == 1 {
                        core::slice::from_raw_parts_mut(first, length as usize).fill(value);
                    } else {
                        for i in 0..length as isize {
                            first.offset(i * stride).write(value);
                        }
                    }
                }
            });
        })
    }
}
