//! What wick computes: dtypes, layouts, windows and kernels. No allocation, no threads, no locks:
//! the caller owns memory, scratch and scheduling.
#![no_std]

pub mod block;
pub mod border;
pub mod dtype;
pub mod kernels;
pub mod layout;
pub mod nest;
pub mod number;
pub mod ops;
pub mod scalar;
pub mod view;
pub mod window;

pub use border::{Access, Border, BorderMode, Rect, Sides};
pub use dtype::{Bool, DType, Element};
pub use layout::{Layout, LayoutError, MAX_RANK};
pub use nest::Nest;
pub use number::Number;
pub use pulp::Arch;
pub use scalar::Real;
pub use view::{View, ViewMut};
pub use window::{Dim, Kernel, Rule, ThreadInfo, Window};
