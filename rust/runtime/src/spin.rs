//! A lock for a few instructions at a time that threads seldom meet at: one atomic exchange to take
//! it and a store to give it back, where a `Mutex` needs two exchanges.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Looks at a taken lock before the processor is left to whoever holds it.
const SPINS: u32 = 100;

/// A value behind the lock, in cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
pub struct Spin<T> {
    locked: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the lock lets one thread at the value at a time.
unsafe impl<T: Send> Sync for Spin<T> {}

/// The value while the lock is held.
pub struct Held<'a, T>(&'a Spin<T>);

impl<T> Spin<T> {
    /// Waits for the value.
    #[inline]
    pub fn lock(&self) -> Held<'_, T> {
        if self.locked.swap(true, Acquire) {
            self.wait();
        }
        Held(self)
    }

    #[cold]
    fn wait(&self) {
        let mut looks = 0;
        loop {
            while self.locked.load(Relaxed) {
                looks += 1;
                if looks < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
            }
            if !self.locked.swap(true, Acquire) {
                return;
            }
        }
    }
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the lock is held.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Held<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for Held<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.0.locked.store(false, Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_at_a_time() {
        let sum = Spin::<u64>::default();
        std::thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| (0..100_000).for_each(|_| *sum.lock() += 1));
            }
        });
        assert_eq!(*sum.lock(), 400_000);
    }
}
