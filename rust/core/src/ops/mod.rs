//! The elementwise operations as data: one table, from which the enums here, the CPU loops, the
//! CUDA text and the Scala methods are made.

pub mod activation;
mod enums;
mod table;

pub use enums::{BinaryOp, Class, Row, TernaryOp, UnaryOp};
