//! The locks of the state machine: a model checker takes it with its own in their place.

use std::time::Duration;

pub use std::sync::{Condvar, Mutex, MutexGuard};

/// How long an access waits for one that stands in its way.
const PATIENCE: Duration = Duration::from_secs(2);

/// Waits for a change; none where it takes too long.
pub fn wait<'a, T>(changed: &Condvar, guard: MutexGuard<'a, T>) -> Option<MutexGuard<'a, T>> {
    let (guard, result) = changed.wait_timeout(guard, PATIENCE).unwrap_or_else(|e| e.into_inner());
    (!result.timed_out()).then_some(guard)
}
