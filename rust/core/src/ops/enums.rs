//! The enums made from the table.

/// What an operation does with dtypes; see the head of the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Class {
    Float,
    Strict,
    Same,
    SameBool,
    Int,
    Test,
}

/// A row as data, for whoever prints it (Scala methods, CUDA text).
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Row {
    /// libtorch's name.
    pub name: &'static str,
    /// The Scala method; empty: none is made.
    pub scala: &'static str,
    /// Names of the Scala method's parameters, all doubles.
    pub params: &'static [&'static str],
    pub cuda: &'static str,
    pub doc: &'static str,
    pub class: Class,
}

macro_rules! class {
    (float) => {
        Class::Float
    };
    (strict) => {
        Class::Strict
    };
    (same) => {
        Class::Same
    };
    (power) => {
        Class::Same
    };
    (same_bool) => {
        Class::SameBool
    };
    (int) => {
        Class::Int
    };
    (test) => {
        Class::Test
    };
}

macro_rules! operations {
    ($enum:ident, $doc:literal, $($class:ident $variant:ident $name:literal $scala:literal [$($param:ident),*]
        $cuda:literal $text:literal;)*) => {
        #[doc = $doc]
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum $enum {
            $(#[doc = $text] $variant,)*
        }

        impl $enum {
            /// Every operation, in the order of the codes.
            pub const ALL: &'static [$enum] = &[$($enum::$variant),*];

            const ROWS: &'static [Row] = &[$(Row {
                name: $name,
                scala: $scala,
                params: &[$(stringify!($param)),*],
                cuda: $cuda,
                doc: $text,
                class: class!($class),
            }),*];

            /// The table's row.
            pub const fn row(self) -> &'static Row {
                &Self::ROWS[self as usize]
            }

            /// libtorch's name.
            pub const fn name(self) -> &'static str {
                self.row().name
            }

            /// What it does with dtypes.
            pub const fn class(self) -> Class {
                self.row().class
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

macro_rules! unary_enum {
    ($($class:ident $variant:ident $name:literal $scala:literal [$($param:ident),*] ($x:ident, $p:ident)
        { $($body:tt)* } $cuda:literal $text:literal;)*) => {
        operations!(UnaryOp, "One input.", $($class $variant $name $scala [$($param),*] $cuda $text;)*);
    };
}
crate::unary_table!(unary_enum);

macro_rules! binary_enum {
    ($($class:ident $variant:ident $name:literal $scala:literal ($x:ident, $y:ident, $p:ident)
        { $($body:tt)* } $cuda:literal $text:literal;)*) => {
        operations!(BinaryOp, "Two inputs.", $($class $variant $name $scala [] $cuda $text;)*);
    };
}
crate::binary_table!(binary_enum);

macro_rules! ternary_enum {
    ($($class:ident $variant:ident $name:literal $scala:literal ($x:ident, $y:ident, $z:ident, $p:ident)
        { $($body:tt)* } $cuda:literal $text:literal;)*) => {
        operations!(TernaryOp, "Three inputs.", $($class $variant $name $scala [] $cuda $text;)*);
    };
}
crate::ternary_table!(ternary_enum);
