//! AC-01: kernels allocate nothing: their scratch comes from whoever runs them.

use std::alloc::{GlobalAlloc, Layout as Block, System};
use std::cell::Cell;

use wick_core::kernels::image::{Stencil, StencilOp};
use wick_core::{Arch, BorderMode, DType, Kernel, Layout, Rect, ThreadInfo, View, ViewMut};

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, which counts this thread's calls.
struct Counting;

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, block: Block) -> *mut u8 {
        let _ = COUNT.try_with(|n| n.set(n.get() + 1));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(block) }
    }

    unsafe fn dealloc(&self, at: *mut u8, block: Block) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, block) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn kernels_allocate_nothing() {
    let (h, w) = (30, 40);
    let mut from = vec![7u8; h * w];
    let mut to = [vec![0u8; 2 * h * w], vec![0u8; 2 * h * w]];
    let layout = Layout::contiguous(&[h as i64, w as i64]).unwrap();
    for op in StencilOp::ALL {
        let from = View { ptr: from.as_mut_ptr(), dtype: DType::U8, layout };
        let dtype = op.result(DType::U8);
        let to = to.each_mut().map(|t| ViewMut { ptr: t.as_mut_ptr(), dtype, layout });
        let all = Rect::of(h as i64, w as i64);
        let mode = BorderMode::Reflect;
        let kernel =
            Stencil { op: *op, arch: Arch::new(), from, to, mode, region: all, window: all };
        let mut scratch = vec![0u8; kernel.scratch()];
        let before = COUNT.get();
        let window = kernel.window();
        for id in 0..3 {
            kernel.run(&window.split(1, id, 3), ThreadInfo { id, total: 3 }, &mut scratch);
        }
        assert_eq!(COUNT.get(), before, "{op:?}");
    }
    assert!(COUNT.get() > 0);
}
