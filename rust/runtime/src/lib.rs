//! Storage, allocation, handles, scheduling, and the operations as users know them: checked,
//! promoted, broadcast, with an allocated result.

pub mod alloc;
pub mod context;
pub mod device;
pub mod error;
pub mod handle;
pub mod kernels;
pub mod ops;
mod parts;
pub mod plan;
mod pool;
pub mod scheduler;
mod slots;
pub mod storage;
pub mod tensor;

pub use context::{Context, Stream};
pub use error::{Error, Result};
pub use tensor::Tensor;
