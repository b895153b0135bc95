//! Operations by family: check, promote, broadcast, allocate, run.

pub mod advanced;
pub mod array;
pub mod backward;
pub mod creation;
pub mod cumulative;
pub mod elementwise;
pub mod embedding;
pub mod index;
pub mod join;
pub mod linalg;
pub mod loss;
pub mod mask;
pub mod matmul;
pub mod promote;
pub mod put;
pub mod quantile;
pub mod random;
pub mod rearrange;
pub mod reduce;
pub mod repeat;
pub mod search;
pub mod select;
pub mod shape;
pub mod softmax;
pub mod sort;
pub mod unique;
