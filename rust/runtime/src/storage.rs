//! The bytes behind tensors, shared by all their views and freed with the last.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::alloc::{Allocator, Block};
use crate::device::Mirror;
use crate::error::Result;
use crate::plan::trace;

/// Owner of imported memory: dropped when no tensor sees the memory any more, on whichever thread.
pub type Giver = Box<dyn Any + Send + Sync>;

/// A value beside the elements, the same for all tensors of a storage.
pub type Annotation = Arc<dyn Any + Send + Sync>;

/// What few storages have.
#[derive(Default)]
struct Extras {
    giver: Option<Giver>,
    annotation: Mutex<Option<Annotation>>,
    /// Set when memory that was lent for a time goes back.
    ended: Option<Arc<AtomicBool>>,
    /// Its state on two devices, once it was wanted on a second.
    mirror: OnceLock<Mirror>,
    watch: OnceLock<Watch>,
}

/// Tells a storage from all others, and what it holds now from what it held before.
struct Watch {
    id: u64,
    writes: AtomicU64,
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
        let block = match trace::active() {
            false => allocator.allocate(bytes)?,
            true => trace::allocate(allocator, bytes)?,
        };
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
        Storage::given(allocator, ptr, bytes, extras)
    }

    fn given(
        allocator: &'static Allocator,
        ptr: NonNull<u8>,
        bytes: usize,
        extras: Extras,
    ) -> Storage {
        let (block, extras) = (Block::at(ptr, 0), OnceLock::from(Box::new(extras)));
        Storage { block, bytes: AtomicUsize::new(bytes), allocator, extras }
    }

    /// As [`Storage::import`] for a time: until `ended` says otherwise.
    ///
    /// # Safety
    /// As for `import`.
    pub(crate) unsafe fn lend(
        allocator: &'static Allocator,
        ptr: NonNull<u8>,
        bytes: usize,
        giver: Giver,
        ended: Arc<AtomicBool>,
    ) -> Storage {
        let extras = Extras { giver: Some(giver), ended: Some(ended), ..Extras::default() };
        Storage::given(allocator, ptr, bytes, extras)
    }

    /// The storage's number, which no other one gets, and how often it was written since it was first
    /// asked for.
    pub fn watch(&self) -> (u64, u64) {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let new = || Watch { id: LAST.fetch_add(1, Relaxed) + 1, writes: AtomicU64::new(0) };
        let watch = self.extras.get_or_init(Box::default).watch.get_or_init(new);
        (watch.id, watch.writes.load(Acquire))
    }

    /// Notes that it is about to be written.
    pub(crate) fn note_write(&self) {
        if let Some(watch) = self.extras.get().and_then(|e| e.watch.get()) {
            watch.writes.fetch_add(1, AcqRel);
        }
    }

    /// Whether its memory was lent and has gone back.
    pub(crate) fn has_ended(&self) -> bool {
        let ended = self.extras.get().and_then(|e| e.ended.as_ref());
        ended.is_some_and(|ended| ended.load(Acquire))
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
        if trace::active() {
            trace::freed(&self.block);
        }
        if self.block.planned().is_none() {
            self.allocator.free(&self.block);
        }
    }
}
