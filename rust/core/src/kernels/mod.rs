//! The kernels, by family.

pub mod copy;
pub mod creation;
pub mod elementwise;
pub mod fill;
pub mod philox;
pub mod random;
