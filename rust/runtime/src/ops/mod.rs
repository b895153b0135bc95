//! Operations by family: check, promote, broadcast, allocate, run.

pub mod advanced;
pub mod array;
pub mod creation;
pub mod cumulative;
pub mod elementwise;
pub mod index;
pub mod join;
pub mod linalg;
pub mod mask;
pub mod matmul;
pub mod promote;
pub mod put;
pub mod random;
pub mod rearrange;
pub mod reduce;
pub mod shape;
pub mod softmax;
