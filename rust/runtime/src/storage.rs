//! The bytes behind tensors, shared by all their views and freed with the last.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::alloc::{Allocator, Block};
use crate::device::Mirror;
use crate::error::Result;

/// Owner of imported memory: dropped when no tensor sees the memory any more, on whichever thread.
pub type Giver = Box<dyn Any + Send + Sync>;

/// A value beside the elements, the same for all tensors of a storage.
pub type Annotation = Arc<dyn Any + Send + Sync>;

/// What few storages have.
#[derive(Default)]
struct Extras {
    giver: Option<Giver>,
    annotation: Mutex<Option<Annotation>>,
    /// Its state on two devices, once it was wanted on a second.
    mirror: OnceLock<Mirror>,
}

/// The allocator's bytes, or imported ones; `Arc<Storage>` is what tensors share.
pub struct Storage {
    block: Block,
    /// Written only while nobody shares the storage.
    bytes: AtomicUsize,
    allocator: &'static Allocator,
    extras: OnceLock<Box<Extras>>,
}

impl std::fmt::Debug for Storage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Storage({:?}, {} bytes)", self.ptr(), self.bytes())
    }
}

impl Storage {
    /// `bytes` uninitialised bytes.
    pub fn allocate(allocator: &'static Allocator, bytes: usize) -> Result<Storage> {
        let block = allocator.allocate(bytes)?;
        let (bytes, extras) = (AtomicUsize::new(bytes), OnceLock::new());
        Ok(Storage { block, bytes, allocator, extras })
    }

    /// Memory that stays its giver's.
    ///
    /// # Safety
    /// From `ptr` on, `bytes` bytes may be read, and written unless all tensors of the storage are
    /// read-only, for as long as `giver` lives.
    pub unsafe fn import(
        allocator: &'static Allocator,
        ptr: NonNull<u8>,
        bytes: usize,
        giver: Giver,
    ) -> Storage {
        let extras = Extras { giver: Some(giver), ..Extras::default() };
        Storage {
            block: Block::imported(ptr, bytes),
            bytes: AtomicUsize::new(bytes),
            allocator,
            extras: OnceLock::from(Box::new(extras)),
        }
    }

    /// The first byte at home, which need not be right where the storage has a mirror. Writing through
    /// it is the business of operations that hold the tensor.
    pub fn ptr(&self) -> *mut u8 {
        self.block.ptr()
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Relaxed)
    }

    /// Whether the memory is a giver's.
    pub fn is_imported(&self) -> bool {
        self.extras.get().is_some_and(|e| e.giver.is_some())
    }

    /// The value that was put beside the elements.
    pub fn annotation(&self) -> Option<Annotation> {
        let extras = self.extras.get()?;
        extras.annotation.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Puts a value beside the elements, or takes it away.
    pub fn annotate(&self, value: Option<Annotation>) {
        if value.is_none() && self.extras.get().is_none() {
            return;
        }
        let cell = &self.extras.get_or_init(Box::default).annotation;
        // The old value is dropped without the lock: its destructor may be anyone's code.
        drop(std::mem::replace(&mut *cell.lock().unwrap_or_else(PoisonError::into_inner), value));
    }

    /// Whether a tensor that lets go of it alone may leave it to the next one.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.extras.get().is_none()
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

    /// The number of the device that it was allocated on.
    pub fn home(&self) -> u32 {
        self.allocator.device()
    }

    /// Its state on two devices, where it has been on a second.
    #[inline]
    pub(crate) fn mirror(&self) -> Option<&Mirror> {
        self.extras.get()?.mirror.get()
    }

    pub(crate) fn mirror_or_new(&self) -> &Mirror {
        self.extras.get_or_init(Box::default).mirror.get_or_init(Mirror::default)
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        if !self.is_imported() {
            self.allocator.free(&self.block);
        }
    }
}
