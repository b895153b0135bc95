//! A simulated device: memory, queues and latencies of its own, on the processor. What a program
//! with a real one would meet only now and then (a slow transfer, one that fails), tests ask for.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::{Backend, Work};
use crate::error::{Kind, Result};

/// What a simulated device does next, and what it has done.
#[derive(Default)]
pub struct Sim {
    work: Mutex<[Conduct; 3]>,
    changed: Condvar,
}

#[derive(Default)]
struct Conduct {
    delay: Duration,
    failures: u32,
    held: bool,
    done: u64,
}

impl Sim {
    fn lock(&self) -> MutexGuard<'_, [Conduct; 3]> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every piece of such work begins so much later.
    pub fn delay(&self, work: Work, delay: Duration) {
        self.lock()[work as usize].delay = delay;
    }

    /// The next `count` pieces of such work fail.
    pub fn fail(&self, work: Work, count: u32) {
        self.lock()[work as usize].failures = count;
    }

    /// Such work does not begin until it is let go.
    pub fn hold(&self, work: Work, held: bool) {
        self.lock()[work as usize].held = held;
        self.changed.notify_all();
    }

    /// How many pieces of such work were done.
    pub fn done(&self, work: Work) -> u64 {
        self.lock()[work as usize].done
    }

    /// No delays, no failures, nothing held.
    pub fn reset(&self) {
        for work in &mut *self.lock() {
            *work = Conduct { done: work.done, ..Conduct::default() };
        }
        self.changed.notify_all();
    }

    fn finish(&self, work: Work) -> Result<()> {
        let mut all = self.lock();
        let conduct = &mut all[work as usize];
        if conduct.failures > 0 {
            conduct.failures -= 1;
            let expected = "failed, as the simulation was told".into();
            return Err(Kind::Device { op: work.name(), expected }.into());
        }
        conduct.done += 1;
        Ok(())
    }
}

impl Backend for Sim {
    fn wait(&self, work: Work) {
        let mut all = self.lock();
        let delay = all[work as usize].delay;
        if !delay.is_zero() {
            drop(all);
            thread::sleep(delay);
            all = self.lock();
        }
        while all[work as usize].held {
            all = self.changed.wait(all).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn begin(&self, _op: &'static str) -> Result<()> {
        self.finish(Work::Compute)
    }

    unsafe fn copy(&self, work: Work, from: *const u8, to: *mut u8, bytes: usize) -> Result<()> {
        self.finish(work)?;
        // SAFETY: the caller's promise; a simulated device's memory is the processor's.
        unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) };
        Ok(())
    }
}
