//! shuttle's atomics in the place of the library's.

pub use shuttle::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64};
