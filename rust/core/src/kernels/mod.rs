//! The kernels, by family.

pub mod copy;
pub mod elementwise;
pub mod fill;
pub mod triangle;
