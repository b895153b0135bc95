//! The bytes behind tensors, shared by all their views and freed with the last.

use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicUsize, fence};

use crate::alloc::{Allocator, Block};
use crate::error::Result;

/// Owned bytes.
#[derive(Debug)]
pub struct Storage {
    block: Block,
    /// Written only while one owner has the storage.
    bytes: AtomicUsize,
    allocator: &'static Allocator,
}

impl Storage {
    pub(crate) fn new(allocator: &'static Allocator, block: Block, bytes: usize) -> Storage {
        Storage { block, bytes: AtomicUsize::new(bytes), allocator }
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
}

impl Drop for Storage {
    fn drop(&mut self) {
        self.allocator.free(&self.block);
    }
}

/// A share of a storage: what tensors hold. The last one hands a small storage, record and all,
/// back for the next tensor.
#[derive(Debug)]
pub struct Shared(ManuallyDrop<Arc<Storage>>);

impl Shared {
    /// `bytes` uninitialised bytes.
    pub fn allocate(allocator: &'static Allocator, bytes: usize) -> Result<Shared> {
        Ok(Shared(ManuallyDrop::new(allocator.storage(bytes)?)))
    }

    /// Whether both are shares of one storage.
    pub fn same(&self, other: &Shared) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Clone for Shared {
    fn clone(&self) -> Shared {
        Shared(self.0.clone())
    }
}

impl Deref for Shared {
    type Target = Storage;

    fn deref(&self) -> &Storage {
        &self.0
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: not used again.
        let storage = unsafe { ManuallyDrop::take(&mut self.0) };
        // No weak references are made, so the only share stays the only one.
        if Arc::strong_count(&storage) == 1 {
            // What other threads did with it before they let go has happened.
            fence(Acquire);
            let allocator = storage.allocator;
            allocator.recycle(storage);
        }
    }
}
