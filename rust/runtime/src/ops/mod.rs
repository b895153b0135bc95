//! Operations by family: check, promote, broadcast, allocate, run.

pub mod array;
pub mod creation;
pub mod elementwise;
pub mod promote;
pub mod random;
