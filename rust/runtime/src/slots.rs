//! Which slots of a handle table are free. A thread keeps some of its own, so that making and
//! freeing a handle takes no lock; it trades with the others by the run.

use std::cell::RefCell;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Slots that change hands at a time.
const RUN: usize = 32;

/// What all threads share.
#[derive(Default)]
pub struct Slots(Mutex<Spare>);

#[derive(Default)]
struct Spare {
    free: Vec<u32>,
    /// Slots from here on were never used.
    next: u32,
    counts: Vec<Arc<Counts>>,
    /// Of threads that have ended.
    made: u64,
    freed: u64,
}

/// Handles that a thread made and freed; it alone writes.
#[derive(Default)]
struct Counts {
    made: AtomicU64,
    freed: AtomicU64,
}

/// One thread's free slots of one table.
#[derive(Default)]
struct Own {
    of: Option<Arc<Slots>>,
    free: Vec<u32>,
    counts: Arc<Counts>,
}

thread_local! {
    static OWN: RefCell<Own> = RefCell::default();
}

fn count(counter: &AtomicU64) {
    counter.store(counter.load(Relaxed) + 1, Release);
}

impl Slots {
    fn spare(&self) -> MutexGuard<'_, Spare> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A free slot below `limit`; none where all are taken. Counts a handle as made.
    #[inline]
    pub fn take(self: &Arc<Self>, limit: u32) -> Option<u32> {
        let own = |own: &RefCell<Own>| {
            let own = &mut *own.try_borrow_mut().ok()?;
            own.attune(self);
            if own.free.is_empty() {
                own.fetch(self, limit);
            }
            let slot = own.free.pop()?;
            count(&own.counts.made);
            Some(slot)
        };
        match OWN.try_with(own) {
            Ok(slot) => slot,
            // A thread that is ending keeps nothing.
            Err(_) => {
                let mut spare = self.spare();
                let slot = spare.free.pop().or_else(|| spare.fresh(limit))?;
                spare.made += 1;
                Some(slot)
            }
        }
    }

    /// Takes a slot back; none where it is not to be used again. Counts a handle as freed.
    #[inline]
    pub fn give(self: &Arc<Self>, slot: Option<u32>) {
        let own = |own: &RefCell<Own>| {
            let Ok(mut own) = own.try_borrow_mut() else { return };
            own.attune(self);
            own.free.extend(slot);
            if own.free.len() > 2 * RUN {
                let run = own.free.split_off(RUN);
                self.spare().free.extend(run);
            }
            count(&own.counts.freed);
        };
        if OWN.try_with(own).is_err() {
            let mut spare = self.spare();
            spare.free.extend(slot);
            spare.freed += 1;
        }
    }

    /// Handles ever made and ever freed.
    pub fn counts(&self) -> (u64, u64) {
        let spare = self.spare();
        // Freed first: it never exceeds made.
        let freed: u64 = spare.counts.iter().map(|c| c.freed.load(Acquire)).sum();
        let made: u64 = spare.counts.iter().map(|c| c.made.load(Acquire)).sum();
        (spare.made + made, spare.freed + freed)
    }
}

impl Spare {
    fn fresh(&mut self, limit: u32) -> Option<u32> {
        let slot = (self.next < limit).then_some(self.next)?;
        self.next += 1;
        Some(slot)
    }
}

impl Own {
    #[inline]
    fn attune(&mut self, to: &Arc<Slots>) {
        if self.of.as_ref().is_none_or(|of| !Arc::ptr_eq(of, to)) {
            self.change(to);
        }
    }

    #[cold]
    fn change(&mut self, to: &Arc<Slots>) {
        self.leave();
        self.counts = Arc::default();
        to.spare().counts.push(self.counts.clone());
        self.of = Some(to.clone());
    }

    fn leave(&mut self) {
        let Some(of) = self.of.take() else { return };
        let mut spare = of.spare();
        spare.free.append(&mut self.free);
        spare.counts.retain(|c| !Arc::ptr_eq(c, &self.counts));
        spare.made += self.counts.made.load(Relaxed);
        spare.freed += self.counts.freed.load(Relaxed);
    }

    #[cold]
    fn fetch(&mut self, from: &Slots, limit: u32) {
        let mut spare = from.spare();
        let kept = spare.free.len().saturating_sub(RUN);
        self.free.extend(spare.free.drain(kept..));
        while self.free.len() < RUN {
            let Some(slot) = spare.fresh(limit) else { break };
            self.free.push(slot);
        }
        // The lowest first: they lie together.
        self.free.reverse();
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        self.leave();
    }
}
