//! Copies between any two dtypes and layouts.

use crate::block::Operands;
use crate::dtype::Element;
use crate::window::{Kernel, ThreadInfo, Window};
use crate::with_dtype;

/// out = x, cast.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Copy {
    pub operands: Operands<1>,
}

impl Kernel for Copy {
    fn window(&self) -> Window {
        Window::flat(self.operands.nest.numel())
    }

    fn cost(&self) -> f64 {
        0.4
    }

    fn run(&self, part: &Window, _: ThreadInfo, _: &mut [u8]) {
        let dim = part.dim(0);
        let out = self.operands.out;
        if self.operands.inputs[0].dtype == out.dtype {
            // Bits move as they are: NaN payloads survive.
            let unsigned = match out.dtype.size() {
                1 => crate::DType::U8,
                2 => crate::DType::I16,
                4 => crate::DType::I32,
                _ => crate::DType::I64,
            };
            let mut same = self.operands;
            same.out.dtype = unsigned;
            same.inputs[0].dtype = unsigned;
            return copy_as(&same, unsigned, dim.start, dim.end);
        }
        copy_as(
            &self.operands,
            self.operands.inputs[0].dtype,
            dim.start,
            dim.end,
        )
    }
}

fn copy_as(operands: &Operands<1>, dtype: crate::DType, start: i64, end: i64) {
    with_dtype!(dtype, S => {
        type T = <S as Element>::Compute;
        // SAFETY: whoever made the operands keeps their storages alive and their layouts inside;
        // the scheduler gives each part its own elements.
        unsafe {
            operands.for_blocks::<T, T>(start, end, &mut |[x], out| out.copy_from_slice(x));
        }
    })
}
