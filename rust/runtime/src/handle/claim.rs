//! Who may use the value of a slot: its generation, whether it lives, which thread made it, and
//! whether another one has ever found it.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

use super::reader::Reader;
use super::sync::AtomicU64;

const LIVE: u64 = 1 << 31;
/// Another thread than the owner has found the value.
const SHARED: u64 = 1 << 30;
const OWNER: u64 = SHARED - 1;

/// Generation in the upper half; LIVE, SHARED and the owner, the reader that made it, below.
pub struct Claim(AtomicU64);

impl Default for Claim {
    /// Free, of generation 1.
    fn default() -> Claim {
        Claim(AtomicU64::new(1 << 32))
    }
}

fn is_live(state: u64, generation: u64) -> bool {
    state >> 32 == generation && state & LIVE != 0
}

fn is_of(state: u64, reader: &Reader) -> bool {
    state & OWNER == u64::from(reader.id())
}

impl Claim {
    /// Lets others find the value that `owner` has put into a free slot; its generation.
    #[inline]
    pub fn publish(&self, owner: &Reader) -> u64 {
        let generation = self.0.load(Acquire) >> 32;
        self.0.store(generation << 32 | LIVE | u64::from(owner.id()), Release);
        generation
    }

    /// Whether the value is there for a reader, who is in a call: then it stays until the call ends,
    /// since whoever closes it waits for the call. A stranger asks all records, and so does the owner
    /// of what is shared.
    #[inline]
    pub fn find(&self, generation: u64, reader: &Reader) -> bool {
        let mut state = self.0.load(SeqCst);
        loop {
            if !is_live(state, generation) {
                return false;
            }
            if state & SHARED != 0 || is_of(state, reader) {
                return true;
            }
            // Once for each value that changes hands.
            match self.0.compare_exchange(state, state | SHARED, SeqCst, SeqCst) {
                Ok(_) => return true,
                Err(now) => state = now,
            }
        }
    }

    /// Whether any value lives in the slot.
    pub fn is_live_now(&self) -> bool {
        self.0.load(Acquire) & LIVE != 0
    }

    /// Whether the value of a generation lives.
    pub fn is_live(&self, generation: u64) -> bool {
        is_live(self.0.load(Acquire), generation)
    }

    /// Ends the value's life, once: whether `reader` alone can have found it. None where it had ended.
    #[inline]
    pub fn close(&self, generation: u64, reader: &Reader) -> Option<bool> {
        let mut state = self.0.load(Relaxed);
        loop {
            if !is_live(state, generation) {
                return None;
            }
            match self.0.compare_exchange(state, state & !LIVE, SeqCst, Relaxed) {
                Ok(_) => return Some(state & SHARED == 0 && is_of(state, reader)),
                Err(now) => state = now,
            }
        }
    }

    /// Makes the slot free again, its value being gone; false where it has used all generations, none
    /// of which comes back.
    #[inline]
    pub fn free(&self) -> bool {
        let generation = self.0.load(Relaxed) >> 32;
        let last = generation == u64::from(u32::MAX);
        self.0.store(if last { 0 } else { (generation + 1) << 32 }, Release);
        !last
    }
}
