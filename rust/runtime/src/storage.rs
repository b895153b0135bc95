//! The bytes behind tensors, shared by all their views and freed with the last.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::alloc::{Allocator, Block};
use crate::error::Result;

/// Owned bytes; `Arc<Storage>` is what tensors share.
#[derive(Debug)]
pub struct Storage {
    block: Block,
    /// Written only while nobody shares the storage.
    bytes: AtomicUsize,
    allocator: &'static Allocator,
}

impl Storage {
    /// `bytes` uninitialised bytes.
    pub fn allocate(allocator: &'static Allocator, bytes: usize) -> Result<Storage> {
        let block = allocator.allocate(bytes)?;
        Ok(Storage { block, bytes: AtomicUsize::new(bytes), allocator })
    }

    /// The first byte. Writing through it is the business of operations that hold the tensor.
    pub fn ptr(&self) -> *mut u8 {
        self.block.ptr()
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Relaxed)
    }

    /// For a storage that is used again for another tensor.
    pub(crate) fn set_bytes(&self, bytes: usize) {
        self.bytes.store(bytes, Relaxed);
    }

    pub(crate) fn block(&self) -> &Block {
        &self.block
    }

    pub(crate) fn allocator(&self) -> &'static Allocator {
        self.allocator
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        self.allocator.free(&self.block);
    }
}
