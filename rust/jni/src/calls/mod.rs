//! The native methods, a file a family: each has its registration table `METHODS` and, where
//! operations share a signature, `code`, which gives an operation's number by its libtorch name.

mod array;
mod context;
mod creation;
mod device;
mod elementwise;
mod fft;
mod file;
mod fuse;
mod handle;
mod image;
mod index;
mod linalg;
mod manager;
mod matmul;
mod neural;
mod pipeline;
mod random;
mod reduce;
mod search;
mod shape;
mod sort;
mod sparse;
mod storage;
mod window;

use crate::Methods;

/// All registration tables.
pub const ALL: &[Methods] = &[
    array::METHODS,
    context::METHODS,
    creation::METHODS,
    device::METHODS,
    elementwise::METHODS,
    fft::METHODS,
    file::METHODS,
    fuse::METHODS,
    handle::METHODS,
    pipeline::METHODS,
    random::METHODS,
    reduce::METHODS,
    linalg::METHODS,
    manager::METHODS,
    matmul::METHODS,
    index::METHODS,
    neural::METHODS,
    shape::METHODS,
    sort::METHODS,
    sparse::METHODS,
    storage::METHODS,
    search::METHODS,
    image::METHODS,
    window::METHODS,
];

/// A family's name and its code of an operation.
type Code = (&'static str, fn(&str) -> Option<i32>);

/// All families whose operations have codes.
pub const CODES: &[Code] = &[
    ("unary", elementwise::unary_code),
    ("binary", elementwise::binary_code),
    ("ternary", elementwise::ternary_code),
    ("random", random::code),
    ("variate", random::variate_code),
    ("reduce", reduce::reduce_code),
    ("along", reduce::along_code),
    ("linalg", linalg::code),
    ("matmul", matmul::matmul_code),
    ("addmm", matmul::addmm_code),
    ("fft", fft::code),
    ("fft_norm", fft::norm_code),
    ("image", image::code),
    ("index", index::code),
    ("index_put", index::put_code),
    ("pair", neural::pair_code),
    ("neural", neural::code),
    ("view", shape::code),
    ("index_kind", shape::index_kind),
    ("pick", sort::pick_code),
    ("sparse", sparse::code),
    ("running", sort::running_code),
    ("interpolation", sort::interpolation_code),
];
