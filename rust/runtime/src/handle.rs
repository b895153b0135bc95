//! The table that handles point into. A handle is a slot and a generation, so a stale one is found
//! out and never followed. A call pins what it uses; closing a tensor that another call may use
//! frees it when that call has ended.
//!
//! A pin writes nothing that threads share but the record of its thread. Closing asks the
//! records of all threads only for what another thread than its maker has ever used.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicPtr, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::slots::Slots;
use claim::Claim;
use reader::{Reader, Turn};

mod claim;
mod reader;
mod sync;
mod thread;

const SLOT_BITS: u32 = 26;
const TAG_BITS: u32 = 4;

/// Slots of the first chunk; each further chunk is twice as long, so that slots never move.
const FIRST_CHUNK: usize = 1024;
const CHUNKS: usize = (SLOT_BITS as usize) - 9;

struct Slot<T> {
    claim: Claim,
    value: UnsafeCell<MaybeUninit<T>>,
}

/// A slot that was closed while calls were in progress that may use it.
struct Late {
    index: u32,
    calls: Vec<Turn>,
}

/// Values behind handles. A handle has `tag` (4 bits, the caller's) at the bottom, then slot and
/// generation, and is never 0 or negative; bits 62 and 63 are free. No handle has generation 0.
pub struct Table<T> {
    chunks: [AtomicPtr<Slot<T>>; CHUNKS],
    growth: Mutex<()>,
    slots: Arc<Slots>,
    late: Mutex<Vec<Late>>,
    late_count: AtomicUsize,
}

// SAFETY: values are reached through pins and closed slots only, which order their accesses; a
// value is dropped by one thread, when no call can use it any more.
unsafe impl<T: Send + Sync> Sync for Table<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Send for Table<T> {}

/// A value that stays alive while this does, on the thread that pinned it.
pub struct Pinned<'a, T> {
    value: &'a T,
    table: &'a Table<T>,
    /// Its depth counts this pin. A pointer, since a pin must end on its own thread.
    reader: *const Reader,
}

/// A call of this thread: what it [gets](Table::get) from tables stays alive until it ends.
pub struct Call {
    /// A pointer, since a call must end on its own thread.
    reader: *const Reader,
}

impl Call {
    /// Begins a call, perhaps within another.
    #[inline]
    pub fn begin() -> Call {
        let reader = thread::own();
        reader.enter();
        Call { reader }
    }
}

impl Drop for Call {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: records live for ever; this is the thread that began.
        unsafe { &*self.reader }.leave();
    }
}

#[inline]
fn chunk_of(index: u32) -> (usize, usize) {
    let n = index as usize + FIRST_CHUNK;
    let chunk = (n.ilog2() - FIRST_CHUNK.ilog2()) as usize;
    (chunk, n - (FIRST_CHUNK << chunk))
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Table {
            chunks: std::array::from_fn(|_| AtomicPtr::new(std::ptr::null_mut())),
            growth: Mutex::new(()),
            slots: Arc::default(),
            late: Mutex::default(),
            late_count: AtomicUsize::new(0),
        }
    }
}

impl<T> Table<T> {
    #[inline]
    fn slot(&self, index: u32) -> Option<&Slot<T>> {
        let (chunk, at) = chunk_of(index);
        let start = self.chunks.get(chunk)?.load(Acquire);
        // SAFETY: a chunk, once set, holds FIRST_CHUNK << chunk slots for the table's life.
        (!start.is_null()).then(|| unsafe { &*start.add(at) })
    }

    #[cold]
    fn grow(&self, chunk: usize) {
        let _guard = self.growth.lock().unwrap_or_else(|e| e.into_inner());
        if self.chunks[chunk].load(Acquire).is_null() {
            let slots: Box<[Slot<T>]> = (0..FIRST_CHUNK << chunk)
                .map(|_| Slot {
                    claim: Claim::default(),
                    value: UnsafeCell::new(MaybeUninit::uninit()),
                })
                .collect();
            self.chunks[chunk].store(Box::into_raw(slots).cast(), Release);
        }
    }

    /// A handle for a value; none where 2^26 are live.
    #[inline]
    pub fn insert(&self, tag: u8, value: T) -> Option<i64> {
        let index = self.slots.take(1 << SLOT_BITS)?;
        let slot = match self.slot(index) {
            Some(slot) => slot,
            None => {
                self.grow(chunk_of(index).0);
                self.slot(index)?
            }
        };
        // SAFETY: a free slot is ours alone until it is published.
        unsafe { (*slot.value.get()).write(value) };
        let generation = slot.claim.publish(thread::own());
        Some(
            (generation << (SLOT_BITS + TAG_BITS)) as i64
                | (index << TAG_BITS) as i64
                | (tag & 0xF) as i64,
        )
    }

    #[inline]
    fn find(&self, handle: i64) -> Option<(&Slot<T>, u32, u64)> {
        let bits = handle as u64;
        let index = (bits >> TAG_BITS) as u32 & ((1 << SLOT_BITS) - 1);
        Some((self.slot(index)?, index, bits >> (SLOT_BITS + TAG_BITS)))
    }

    /// The value of a handle, kept alive by the pin; none where it was closed.
    #[inline]
    pub fn pin(&self, handle: i64) -> Option<Pinned<'_, T>> {
        let (slot, _, generation) = self.find(handle)?;
        let reader = thread::own();
        reader.enter();
        if !slot.claim.find(generation, reader) {
            self.leave(reader);
            return None;
        }
        // SAFETY: it was found in a call, which it outlives.
        let value = unsafe { (*slot.value.get()).assume_init_ref() };
        Some(Pinned { value, table: self, reader })
    }

    /// The value of a handle; none where it was closed.
    ///
    /// # Safety
    /// The thread is in a [`Call`], and the value is not used after its end.
    #[inline]
    pub unsafe fn get(&self, handle: i64) -> Option<&T> {
        let (slot, _, generation) = self.find(handle)?;
        let found = slot.claim.find(generation, thread::own());
        // SAFETY: it was found in a call, which it outlives.
        found.then(|| unsafe { (*slot.value.get()).assume_init_ref() })
    }

    /// Whether closed values wait for calls to end.
    #[inline]
    pub fn has_late(&self) -> bool {
        self.late_count.load(Relaxed) != 0
    }

    /// Ends a pin; the last one of a call sees to what had to wait for it.
    #[inline]
    fn leave(&self, reader: &Reader) {
        if reader.leave() && self.has_late() {
            self.collect();
        }
    }

    /// Whether a handle still stands for a value.
    pub fn is_live(&self, handle: i64) -> bool {
        self.find(handle).is_some_and(|(slot, _, generation)| slot.claim.is_live(generation))
    }

    /// Closes a handle; false where it was closed before. The value goes with the last call that
    /// may use it.
    #[inline]
    pub fn close(&self, handle: i64) -> bool {
        let Some((slot, index, generation)) = self.find(handle) else {
            return false;
        };
        let own = thread::own();
        let Some(alone) = slot.claim.close(generation, own) else { return false };
        if alone && own.call().is_none() {
            self.reclaim(slot, index);
        } else {
            self.close_shared(slot, index);
        }
        true
    }

    #[cold]
    fn close_shared(&self, slot: &Slot<T>, index: u32) {
        let calls = thread::calls();
        if calls.is_empty() {
            return self.reclaim(slot, index);
        }
        let mut late = self.late();
        late.push(Late { index, calls });
        self.late_count.store(late.len(), SeqCst);
        drop(late);
        // A call that ended before the count was there to be seen.
        self.collect();
    }

    fn late(&self) -> MutexGuard<'_, Vec<Late>> {
        self.late.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Frees what was closed during calls that have ended. They see to it themselves; one may miss
    /// what was closed at the moment of its end.
    #[cold]
    pub fn collect(&self) {
        loop {
            let mut late = self.late();
            let free = late.iter().position(|l| l.calls.iter().all(Reader::ended));
            let free = free.map(|i| late.swap_remove(i));
            self.late_count.store(late.len(), SeqCst);
            drop(late);
            let Some(Late { index, .. }) = free else { return };
            if let Some(slot) = self.slot(index) {
                self.reclaim(slot, index);
            }
        }
    }

    #[inline]
    fn reclaim(&self, slot: &Slot<T>, index: u32) {
        // SAFETY: it is closed and every call that may have found it before has ended, so this
        // thread alone has the value.
        let value = unsafe { (*slot.value.get()).assume_init_read() };
        let again = slot.claim.free();
        self.slots.give(again.then_some(index));
        drop(value);
    }

    /// Handles ever made and ever freed.
    pub fn counts(&self) -> (u64, u64) {
        self.slots.counts()
    }
}

impl<T> Drop for Table<T> {
    fn drop(&mut self) {
        // No pin is left: it would borrow the table.
        for Late { index, .. } in std::mem::take(&mut *self.late()) {
            if let Some(slot) = self.slot(index) {
                self.reclaim(slot, index);
            }
        }
        for (chunk, start) in self.chunks.iter().enumerate() {
            let start = start.load(Acquire);
            if start.is_null() {
                continue;
            }
            // SAFETY: made by grow with this length; nobody else has the table any more.
            unsafe {
                let slots = std::ptr::slice_from_raw_parts_mut(start, FIRST_CHUNK << chunk);
                for slot in &mut *slots {
                    if slot.claim.is_live_now() {
                        slot.value.get_mut().assume_init_drop();
                    }
                }
                drop(Box::from_raw(slots));
            }
        }
    }
}

impl<T> Deref for Pinned<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.value
    }
}

impl<T> Drop for Pinned<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: records live for ever; this is the thread that pinned.
        self.table.leave(unsafe { &*self.reader });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_all_slots() {
        assert_eq!(chunk_of(0), (0, 0));
        assert_eq!(chunk_of(1023), (0, 1023));
        assert_eq!(chunk_of(1024), (1, 0));
        assert_eq!(chunk_of(3072), (2, 0));
        assert_eq!(chunk_of((1 << SLOT_BITS) - 1).0, CHUNKS - 1);
    }

    #[test]
    fn stale_handles_are_found_out() {
        let table = Table::default();
        let a = table.insert(7, "a").unwrap();
        assert!(a > 0 && a & 0xF == 7);
        assert_eq!(*table.pin(a).unwrap(), "a");
        assert!(table.close(a));
        assert!(!table.close(a));
        assert!(table.pin(a).is_none());
        let b = table.insert(7, "b").unwrap();
        assert_ne!(a, b);
        assert!(table.pin(a).is_none());
        for wild in [0, -1, i64::MAX, i64::MIN, 1, a ^ (1 << 4), a.wrapping_add(1 << 40)] {
            assert!(wild == b || table.pin(wild).is_none());
            assert!(wild == b || !table.close(wild));
        }
        assert_eq!(table.counts(), (2, 1));
    }

    #[test]
    fn a_pin_outlives_a_close() {
        let table = Table::default();
        let value = Arc::new(5);
        let handle = table.insert(0, value.clone()).unwrap();
        let pin = table.pin(handle).unwrap();
        assert!(table.close(handle));
        assert_eq!(**pin, 5);
        assert_eq!(Arc::strong_count(&value), 2);
        drop(pin);
        assert_eq!(Arc::strong_count(&value), 1);
    }

    /// BR-218: closes from many threads free once, readers get the value or nothing.
    #[test]
    fn concurrent_closes_free_once() {
        let table: Table<Arc<u64>> = Table::default();
        for round in 0..2000u64 {
            let value = Arc::new(round);
            let handle = table.insert(1, value.clone()).unwrap();
            let closed = std::thread::scope(|s| {
                let threads: Vec<_> = (0..4)
                    .map(|i| {
                        let table = &table;
                        s.spawn(move || {
                            if i % 2 == 0 {
                                return table.close(handle) as u32;
                            }
                            if let Some(v) = table.pin(handle) {
                                assert_eq!(**v, round);
                            }
                            0
                        })
                    })
                    .collect();
                threads.into_iter().map(|t| t.join().unwrap()).sum::<u32>()
            });
            assert_eq!(closed, 1);
            assert_eq!(Arc::strong_count(&value), 1);
        }
        assert_eq!(table.counts(), (2000, 2000));
    }
}
