//! Sharing the parts of one operation between the caller and a scheduler's threads.
//!
//! A worker may take tens of microseconds to wake. So nobody waits for workers, only for parts
//! that were begun: whoever comes first takes the next part, and a worker that finds none left
//! touches nothing of the caller's.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::{Arc, Mutex};
use std::thread::{self, Thread};

use crate::scheduler::Scheduler;

/// What a part runs: its number and how many there are.
type Part = dyn Fn(usize, usize) + Sync;

/// The parts of one operation, for those who help with it.
pub struct Parts {
    total: usize,
    next: AtomicUsize,
    done: AtomicUsize,
    /// Borrowed from the caller, who stays until every part that was taken is done.
    part: *const Part,
    caller: Thread,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: `part` is Sync and is followed only while the caller waits; the rest is Send and Sync.
unsafe impl Send for Parts {}
// SAFETY: as above.
unsafe impl Sync for Parts {}

impl Parts {
    /// How many there are in all.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Runs parts until none is left.
    pub fn run(&self) {
        while self.run_one() {}
    }

    /// Runs the next part; false where none is left. A panic in it is the operation's.
    pub fn run_one(&self) -> bool {
        let id = self.next.fetch_add(1, Relaxed);
        if id >= self.total {
            // Far from an overflow, however often a scheduler asks.
            self.next.store(self.total, Relaxed);
            return false;
        }
        // SAFETY: this part is not done, so the caller has not left.
        let part = unsafe { &*self.part };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| part(id, self.total))) {
            self.fail(payload);
        }
        if self.done.fetch_add(1, AcqRel) + 1 == self.total {
            self.caller.unpark();
        }
        true
    }

    fn fail(&self, payload: Box<dyn Any + Send>) {
        self.panic.lock().unwrap_or_else(|e| e.into_inner()).get_or_insert(payload);
    }
}

/// Runs `part(id, total)` for every id below `total` on at most `threads` threads, the caller
/// being one. A panic, the scheduler's own too, comes out here after all parts have ended.
pub fn run<S: Scheduler + ?Sized>(
    scheduler: &S,
    threads: usize,
    total: usize,
    part: &(dyn Fn(usize, usize) + Sync),
) {
    // SAFETY: only the lifetime changes; see `Parts::part`.
    let part: *const Part =
        unsafe { std::mem::transmute::<&(dyn Fn(usize, usize) + Sync), &'static Part>(part) };
    let parts = Arc::new(Parts {
        total,
        next: AtomicUsize::new(0),
        done: AtomicUsize::new(0),
        part,
        caller: thread::current(),
        panic: Mutex::new(None),
    });
    let helpers = threads.min(total) - 1;
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| scheduler.help(&parts, helpers))) {
        parts.fail(payload);
    }
    parts.run();
    let mut spins = 0;
    while parts.done.load(Acquire) < total {
        // The last part is about to end: parking would take longer.
        if spins < 2000 {
            spins += 1;
            std::hint::spin_loop();
        } else {
            thread::park();
        }
    }
    let payload = parts.panic.lock().unwrap_or_else(|e| e.into_inner()).take();
    if let Some(payload) = payload {
        resume_unwind(payload);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::PoolScheduler;
    use rayon::ThreadPoolBuilder;
    use std::sync::atomic::AtomicU32;

    fn pool(threads: usize) -> PoolScheduler {
        PoolScheduler(ThreadPoolBuilder::new().num_threads(threads).build().unwrap())
    }

    #[test]
    fn every_part_runs_once() {
        let pool = pool(3);
        for total in 2..200 {
            let counts: Vec<AtomicU32> = (0..total).map(|_| AtomicU32::new(0)).collect();
            run(&pool, 4, total, &|id, n| {
                assert_eq!(n, total);
                counts[id].fetch_add(1, Relaxed);
            });
            assert!(counts.iter().all(|c| c.load(Relaxed) == 1));
        }
    }

    #[test]
    fn a_panic_comes_out_after_all_parts() {
        let pool = pool(2);
        for _ in 0..200 {
            let ran = AtomicU32::new(0);
            let caught = catch_unwind(AssertUnwindSafe(|| {
                run(&pool, 3, 16, &|id, _| {
                    ran.fetch_add(1, Relaxed);
                    if id == 5 {
                        panic!("part 5");
                    }
                })
            }));
            assert_eq!(*caught.unwrap_err().downcast_ref::<&str>().unwrap(), "part 5");
            assert_eq!(ran.load(Relaxed), 16);
        }
    }

    #[test]
    fn callers_share_the_pool() {
        let pool = pool(2);
        thread::scope(|s| {
            for _ in 0..8 {
                s.spawn(|| {
                    for _ in 0..200 {
                        let sum = AtomicUsize::new(0);
                        run(&pool, 3, 10, &|id, _| {
                            sum.fetch_add(id, Relaxed);
                        });
                        assert_eq!(sum.into_inner(), 45);
                    }
                });
            }
        });
    }
}
