//! Small tensors that nobody has any more, kept whole by the thread that let go of them: its next
//! small tensor costs neither a lock nor an allocation.

use std::cell::{RefCell, RefMut};
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicUsize, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::alloc::{Allocator, Block, SMALL, SMALL_CLASSES, class_of};
use crate::tensor::Record;

/// Bytes that one thread keeps.
const KEPT: usize = 64 << 10;

/// What an allocator knows of the threads' pools. Their bytes are still live ones for its own
/// counters, so that using them again moves nothing that threads share.
#[derive(Default)]
pub struct Pools {
    /// Bytes in each, written by its thread alone.
    kept: Mutex<Vec<Arc<AtomicUsize>>>,
    /// How often the pools were told to empty themselves.
    emptied: AtomicUsize,
}

impl Pools {
    fn all(&self) -> MutexGuard<'_, Vec<Arc<AtomicUsize>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes in all pools.
    pub fn bytes(&self) -> usize {
        self.all().iter().map(|kept| kept.load(Relaxed)).sum()
    }
}

/// The pool of one thread.
struct Pool {
    of: Option<&'static Allocator>,
    classes: [Vec<Arc<Record>>; SMALL_CLASSES],
    kept: Arc<AtomicUsize>,
    emptied: usize,
}

thread_local! {
    static POOL: RefCell<Pool> = RefCell::new(Pool {
        of: None,
        classes: Default::default(),
        kept: Arc::default(),
        emptied: 0,
    });
}

impl Pool {
    /// Frees what it keeps.
    fn empty(&mut self) {
        self.kept.store(0, Relaxed);
        self.classes.iter_mut().for_each(Vec::clear);
    }

    /// Makes it the pool of an allocator, emptied where it should be.
    #[inline]
    fn attune(&mut self, to: &'static Allocator) {
        let emptied = to.pools().emptied.load(Relaxed);
        if self.emptied != emptied || self.of.is_none_or(|of| !std::ptr::eq(of, to)) {
            self.change(to, emptied);
        }
    }

    #[cold]
    fn change(&mut self, to: &'static Allocator, emptied: usize) {
        self.empty();
        if self.of.is_none_or(|of| !std::ptr::eq(of, to)) {
            self.leave();
            to.pools().all().push(self.kept.clone());
            self.of = Some(to);
        }
        self.emptied = emptied;
    }

    fn leave(&mut self) {
        if let Some(of) = self.of.take() {
            of.pools().all().retain(|kept| !Arc::ptr_eq(kept, &self.kept));
        }
    }

    fn keep(&mut self, change: isize) -> bool {
        let kept = self.kept.load(Relaxed).wrapping_add_signed(change);
        let room = kept <= KEPT;
        if room {
            self.kept.store(kept, Relaxed);
        }
        room
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.empty();
        self.leave();
    }
}

/// This thread's pool, unless the thread is ending.
#[inline]
fn own() -> Option<RefMut<'static, Pool>> {
    let pool = POOL.try_with(|pool| &raw const *pool).ok()?;
    // SAFETY: it lives as long as the thread's locals, and nothing here keeps the borrow beyond a
    // call, so the destructor of the locals finds none.
    unsafe { &*pool }.try_borrow_mut().ok()
}

/// A tensor that this thread kept, its storage now of `bytes` bytes; nobody else has it.
#[inline]
pub fn take(allocator: &'static Allocator, bytes: usize) -> Option<Arc<Record>> {
    if bytes > SMALL {
        return None;
    }
    let (class, size) = class_of(bytes);
    let mut pool = own()?;
    pool.attune(allocator);
    let record = pool.classes[class].pop()?;
    pool.keep(-(size as isize));
    record.storage.set_bytes(bytes);
    Some(record)
}

/// Ends a tensor: what nobody shares and is small is kept for the next one.
#[inline]
pub fn give(record: Arc<Record>) {
    let Block { class, size, .. } = *record.storage.block();
    // No weak references are made, so the only share stays the only one.
    let shared = Arc::strong_count(&record) > 1 || Arc::strong_count(&record.storage) > 1;
    if size > SMALL || shared || !record.storage.is_plain() {
        return;
    }
    // What other threads did with it before they let go has happened.
    fence(Acquire);
    // A thread that is ending has no pool.
    let Some(mut pool) = own() else { return };
    pool.attune(record.storage.allocator());
    if pool.keep(size as isize) {
        pool.classes[class as usize].push(record);
    }
}

/// Empties this thread's pool now, and the others' when they next come to them.
pub fn empty(allocator: &Allocator) {
    allocator.pools().emptied.fetch_add(1, Relaxed);
    if let Some(mut pool) = own()
        && pool.of.is_some_and(|of| std::ptr::eq(of, allocator))
    {
        pool.empty();
    }
}
