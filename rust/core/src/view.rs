//! What kernels see of a tensor: the start of its storage, its type and its layout.

use crate::{DType, Layout};

/// A tensor to read. `ptr` is the start of the storage; the layout's offset is not in it.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct View {
    pub ptr: *const u8,
    pub dtype: DType,
    pub layout: Layout,
}

/// A tensor to write.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct ViewMut {
    pub ptr: *mut u8,
    pub dtype: DType,
    pub layout: Layout,
}

// SAFETY: a view is an address with a description; whoever runs a kernel on it keeps the storage
// alive and lets no two threads write one element.
unsafe impl Send for View {}
// SAFETY: as above.
unsafe impl Sync for View {}
// SAFETY: as above.
unsafe impl Send for ViewMut {}
// SAFETY: as above.
unsafe impl Sync for ViewMut {}

impl View {
    /// Address of the first element.
    pub fn start(&self) -> *const u8 {
        self.ptr.wrapping_offset(
            (self.layout.offset() as isize).wrapping_mul(self.dtype.size() as isize),
        )
    }

    /// The same elements through another layout.
    pub fn with(&self, layout: Layout) -> View {
        View { layout, ..*self }
    }
}

impl ViewMut {
    /// Address of the first element.
    pub fn start(&self) -> *mut u8 {
        self.ptr.wrapping_offset(
            (self.layout.offset() as isize).wrapping_mul(self.dtype.size() as isize),
        )
    }

    /// The same elements through another layout.
    pub fn with(&self, layout: Layout) -> ViewMut {
        ViewMut { layout, ..*self }
    }

    /// To read what was written.
    pub fn as_view(&self) -> View {
        View { ptr: self.ptr, dtype: self.dtype, layout: self.layout }
    }
}
