//! The bytes behind tensors, shared by all their views and freed with the last.

use std::sync::Arc;

use crate::alloc::{Allocator, Block};
use crate::error::Result;

/// Owned bytes; `Arc<Storage>` is what tensors share.
#[derive(Debug)]
pub struct Storage {
    block: Option<Block>,
    bytes: usize,
    allocator: Arc<Allocator>,
}

impl std::fmt::Debug for Allocator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.memory().fmt(f)
    }
}

impl Storage {
    /// `bytes` uninitialised bytes.
    pub fn allocate(allocator: &Arc<Allocator>, bytes: usize) -> Result<Arc<Storage>> {
        let block = Some(allocator.allocate(bytes)?);
        Ok(Arc::new(Storage { block, bytes, allocator: allocator.clone() }))
    }

    /// The first byte. Writing through it is the business of operations that hold the tensor.
    pub fn ptr(&self) -> *mut u8 {
        self.block.as_ref().map_or(std::ptr::null_mut(), Block::ptr)
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        if let Some(block) = self.block.take() {
            self.allocator.free(block);
        }
    }
}
