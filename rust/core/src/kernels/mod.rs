//! The kernels, by family.

pub mod copy;
pub mod creation;
pub mod elementwise;
pub mod fill;
pub mod reduce;
pub mod index;
pub mod mask;
pub mod matmul;
pub mod triangle;
