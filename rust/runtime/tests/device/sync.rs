//! loom's locks in the place of the library's.

pub use loom::sync::{Condvar, Mutex, MutexGuard};

/// Time does not pass in a model: whoever waits for ever is found.
pub fn wait<'a, T>(changed: &Condvar, guard: MutexGuard<'a, T>) -> Option<MutexGuard<'a, T>> {
    changed.wait(guard).ok()
}
