//! Operations by family: check, promote, broadcast, allocate, run.

pub mod advanced;
pub mod array;
pub mod attention;
pub mod backward;
pub mod conv;
pub mod creation;
pub mod cumulative;
pub mod elementwise;
pub mod embedding;
pub mod index;
pub mod join;
pub mod loss;
pub mod mask;
pub mod matmul;
pub mod norm;
pub mod pool;
pub mod promote;
pub mod put;
pub mod random;
pub mod rearrange;
pub mod reduce;
pub mod resample;
mod scratch;
pub mod shape;
pub mod softmax;
