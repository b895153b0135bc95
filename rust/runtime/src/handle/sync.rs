//! The atomics of the handle table: a model checker takes it with its own in their place.

pub use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64};
