//! The kernels, by family.

pub mod attention;
pub mod backward;
pub mod conv;
pub mod copy;
pub mod creation;
pub mod cumulative;
pub mod elementwise;
pub mod embedding;
pub mod fill;
pub mod index;
pub mod linalg;
pub mod lines;
pub mod loss;
pub mod mask;
pub mod matmul;
pub mod norm;
pub mod philox;
pub mod pool;
pub mod random;
pub mod reduce;
pub mod rejection;
pub mod resample;
pub mod softmax;
pub mod softmax_backward;
pub mod sort;
pub mod triangle;
