//! The kernels, by family.

pub mod elementwise;
