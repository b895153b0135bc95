//! The table that handles point into. A handle is a slot and a generation, so a stale one is found
//! out and never followed; a call pins its slot, so closing a tensor that another thread works on
//! frees it when that work is done. A pin is one compare-and-swap on the slot; there is no lock.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU64};
use std::sync::{Arc, Mutex};

use crate::slots::Slots;

const SLOT_BITS: u32 = 26;
const TAG_BITS: u32 = 4;

/// Slots of the first chunk; each further chunk is twice as long, so that slots never move.
const FIRST_CHUNK: usize = 1024;
const CHUNKS: usize = (SLOT_BITS as usize) - 9;

const LIVE: u64 = 1 << 31;
const CLOSED: u64 = 1 << 30;
const PINS: u64 = CLOSED - 1;

struct Slot<T> {
    /// Generation in the upper half; LIVE, CLOSED and the pin count in the lower.
    state: AtomicU64,
    value: UnsafeCell<MaybeUninit<T>>,
}

/// Values behind handles. A handle has `tag` (4 bits, the caller's) at the bottom, then slot and
/// generation, and is never 0 or negative; bits 62 and 63 are free.
pub struct Table<T> {
    chunks: [AtomicPtr<Slot<T>>; CHUNKS],
    growth: Mutex<()>,
    slots: Arc<Slots>,
}

// SAFETY: values are reached through pins and closed slots only, which order their accesses; a
// value is dropped by whichever thread lets go last.
unsafe impl<T: Send + Sync> Sync for Table<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Send for Table<T> {}

/// A value that stays alive while this does.
pub struct Pinned<'a, T> {
    table: &'a Table<T>,
    slot: &'a Slot<T>,
    index: u32,
}

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
        }
    }
}

impl<T> Table<T> {
    fn slot(&self, index: u32) -> Option<&Slot<T>> {
        let (chunk, at) = chunk_of(index);
        let start = self.chunks.get(chunk)?.load(Acquire);
        // SAFETY: a chunk, once set, holds FIRST_CHUNK << chunk slots for the table's life.
        (!start.is_null()).then(|| unsafe { &*start.add(at) })
    }

    fn grow(&self, chunk: usize) {
        let _guard = self.growth.lock().unwrap_or_else(|e| e.into_inner());
        if self.chunks[chunk].load(Acquire).is_null() {
            let slots: Box<[Slot<T>]> = (0..FIRST_CHUNK << chunk)
                .map(|_| Slot {
                    state: AtomicU64::new(1 << 32),
                    value: UnsafeCell::new(MaybeUninit::uninit()),
                })
                .collect();
            self.chunks[chunk].store(Box::into_raw(slots).cast(), Release);
        }
    }

    /// A handle for a value; none where 2^26 are live.
    pub fn insert(&self, tag: u8, value: T) -> Option<i64> {
        let index = self.slots.take(1 << SLOT_BITS)?;
        let slot = match self.slot(index) {
            Some(slot) => slot,
            None => {
                self.grow(chunk_of(index).0);
                self.slot(index)?
            }
        };
        let generation = slot.state.load(Acquire) >> 32;
        // SAFETY: a free slot is ours alone until its state says LIVE.
        unsafe { (*slot.value.get()).write(value) };
        slot.state.store(generation << 32 | LIVE, Release);
        Some(
            (generation << (SLOT_BITS + TAG_BITS)) as i64
                | (index << TAG_BITS) as i64
                | (tag & 0xF) as i64,
        )
    }

    fn find(&self, handle: i64) -> Option<(&Slot<T>, u32, u64)> {
        let bits = handle as u64;
        let index = (bits >> TAG_BITS) as u32 & ((1 << SLOT_BITS) - 1);
        Some((self.slot(index)?, index, bits >> (SLOT_BITS + TAG_BITS)))
    }

    /// The value of a handle, kept alive by the pin; none where it was closed.
    pub fn pin(&self, handle: i64) -> Option<Pinned<'_, T>> {
        let (slot, index, generation) = self.find(handle)?;
        let mut state = slot.state.load(Relaxed);
        loop {
            if state >> 32 != generation || state & (LIVE | CLOSED) != LIVE {
                return None;
            }
            match slot.state.compare_exchange_weak(state, state + 1, Acquire, Relaxed) {
                Ok(_) => {
                    return Some(Pinned { table: self, slot, index });
                }
                Err(now) => state = now,
            }
        }
    }

    /// Whether a handle still stands for a value.
    pub fn is_live(&self, handle: i64) -> bool {
        self.find(handle).is_some_and(|(slot, _, generation)| {
            let state = slot.state.load(Acquire);
            state >> 32 == generation && state & (LIVE | CLOSED) == LIVE
        })
    }

    /// Closes a handle; false where it was closed before. The value goes with the last pin.
    pub fn close(&self, handle: i64) -> bool {
        let Some((slot, index, generation)) = self.find(handle) else {
            return false;
        };
        let mut state = slot.state.load(Relaxed);
        loop {
            if state >> 32 != generation || state & (LIVE | CLOSED) != LIVE {
                return false;
            }
            match slot.state.compare_exchange_weak(state, state | CLOSED, AcqRel, Relaxed) {
                Ok(_) => break,
                Err(now) => state = now,
            }
        }
        if state & PINS == 0 {
            self.reclaim(slot, index);
        }
        true
    }

    fn reclaim(&self, slot: &Slot<T>, index: u32) {
        let generation = slot.state.load(Relaxed) >> 32;
        // SAFETY: CLOSED lets no new pin in and none is left, so this thread alone has the value.
        let value = unsafe { (*slot.value.get()).assume_init_read() };
        // A generation never comes back: a slot that has used them all is retired.
        let last = generation == u32::MAX as u64;
        slot.state.store(if last { 0 } else { (generation + 1) << 32 }, Release);
        self.slots.give((!last).then_some(index));
        drop(value);
    }

    /// Handles ever made and ever freed.
    pub fn counts(&self) -> (u64, u64) {
        self.slots.counts()
    }
}

impl<T> Drop for Table<T> {
    fn drop(&mut self) {
        for (chunk, start) in self.chunks.iter().enumerate() {
            let start = start.load(Acquire);
            if start.is_null() {
                continue;
            }
            // SAFETY: made by grow with this length; nobody else has the table any more.
            unsafe {
                let slots = std::ptr::slice_from_raw_parts_mut(start, FIRST_CHUNK << chunk);
                for slot in &mut *slots {
                    if slot.state.load(Acquire) & LIVE != 0 {
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

    fn deref(&self) -> &T {
        // SAFETY: the pin keeps the value in its slot.
        unsafe { (*self.slot.value.get()).assume_init_ref() }
    }
}

impl<T> Drop for Pinned<'_, T> {
    fn drop(&mut self) {
        let before = self.slot.state.fetch_sub(1, AcqRel);
        if before & CLOSED != 0 && before & PINS == 1 {
            self.table.reclaim(self.slot, self.index);
        }
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
