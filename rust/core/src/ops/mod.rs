//! The elementwise operations as data: one table, from which the enums here, the CPU loops, the
//! CUDA text and the Scala methods are made.

pub mod activation;
mod enums;
pub mod gradient;
mod table;

pub use enums::{BinaryOp, Class, Row, TernaryOp, UnaryOp};

/// An enum of operations that share one native signature, with codes and libtorch names.
#[macro_export]
macro_rules! named_ops {
    ($(#[$doc:meta])* $enum:ident { $($(#[$row:meta])* $variant:ident $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum $enum {
            $($(#[$row])* $variant,)*
        }

        impl $enum {
            /// Every operation, in the order of the codes.
            pub const ALL: &'static [$enum] = &[$($enum::$variant),*];

            /// libtorch's name.
            pub const fn name(self) -> &'static str {
                match self {
                    $($enum::$variant => $name,)*
                }
            }

            /// The operation of a code.
            pub fn from_code(code: i32) -> Option<$enum> {
                Self::ALL.get(usize::try_from(code).ok()?).copied()
            }

            /// The operation of a libtorch name.
            pub fn from_name(name: &str) -> Option<$enum> {
                Self::ALL.iter().copied().find(|op| op.name() == name)
            }
        }
    };
}
