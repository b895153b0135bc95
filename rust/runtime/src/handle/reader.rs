//! Which threads are in a call: a record a thread. A value that is to be freed waits for the calls
//! that were in progress when it was closed.

use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

use super::sync::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64};

/// One thread's record; used again by another thread when that one has ended.
pub struct Reader {
    /// 1 and up.
    id: u32,
    /// Odd while the thread is in a call, another number in each.
    turn: AtomicU64,
    /// Calls within each other; the thread's own.
    depth: Cell<u32>,
    taken: AtomicBool,
    next: *mut Reader,
}

// SAFETY: `depth` is touched by the thread that took the record alone; `next` never changes.
unsafe impl Sync for Reader {}
// SAFETY: as above.
unsafe impl Send for Reader {}

/// A call in progress, by the turn of its thread.
pub type Turn = (&'static Reader, u64);

impl Reader {
    /// Its number.
    #[inline]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Begins a call. Whoever closes a value after this sees that the call is in progress.
    #[inline]
    pub fn enter(&self) {
        let depth = self.depth.get();
        if depth == 0 {
            self.turn.store(self.turn.load(Relaxed) + 1, SeqCst);
        }
        self.depth.set(depth + 1);
    }

    /// Ends it; true where it was the outermost.
    #[inline]
    pub fn leave(&self) -> bool {
        let depth = self.depth.get() - 1;
        self.depth.set(depth);
        if depth == 0 {
            self.turn.store(self.turn.load(Relaxed) + 1, Release);
        }
        depth == 0
    }

    /// Gives the record back, when its thread ends.
    pub fn give_back(&self) {
        self.taken.store(false, Release);
    }

    /// The call that its thread is in.
    #[inline]
    pub fn call(&'static self) -> Option<Turn> {
        let turn = self.turn.load(SeqCst);
        (turn & 1 == 1).then_some((self, turn))
    }

    /// Whether a call has ended.
    pub fn ended((reader, turn): &Turn) -> bool {
        reader.turn.load(Acquire) != *turn
    }
}

/// All records. They are never freed: there are as many as threads at most were.
pub struct Readers {
    first: AtomicPtr<Reader>,
    count: AtomicU32,
}

impl Default for Readers {
    fn default() -> Readers {
        Readers { first: AtomicPtr::new(null_mut()), count: AtomicU32::new(0) }
    }
}

impl Readers {
    /// The records, also of threads that have ended.
    fn all(&self) -> impl Iterator<Item = &'static Reader> {
        let mut at = self.first.load(Acquire);
        std::iter::from_fn(move || {
            // SAFETY: records are leaked boxes, whole before the list shows them.
            let reader: &'static Reader = unsafe { at.as_ref()? };
            at = reader.next;
            Some(reader)
        })
    }

    /// The calls that are in progress.
    pub fn calls(&self) -> Vec<Turn> {
        self.all().filter_map(Reader::call).collect()
    }

    /// A record for a thread.
    pub fn take(&self) -> &'static Reader {
        let free = self.all().find(|r| !r.taken.swap(true, Acquire));
        free.unwrap_or_else(|| {
            let reader = Box::leak(Box::new(Reader {
                id: self.count.fetch_add(1, Relaxed) + 1,
                turn: AtomicU64::new(0),
                depth: Cell::new(0),
                taken: AtomicBool::new(true),
                next: self.first.load(Relaxed),
            }));
            let new: *mut Reader = reader;
            while let Err(first) = self.first.compare_exchange(reader.next, new, Release, Relaxed) {
                reader.next = first;
            }
            // SAFETY: the list has it now, and nothing changes it any more.
            unsafe { &*new }
        })
    }
}
