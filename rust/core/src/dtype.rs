//! Element types: what is stored, what it is computed in, how two of them combine.

use crate::number::Number;
use crate::scalar::half as bits;
use half::{bf16, f16};

/// The ten element types, numbered as libtorch's scalar types.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum DType {
    U8 = 0,
    I8 = 1,
    I16 = 2,
    I32 = 3,
    I64 = 4,
    F16 = 5,
    F32 = 6,
    F64 = 7,
    Bool = 11,
    BF16 = 15,
}

/// How promotion ranks types: any float outranks any integer, any integer bool.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum Category {
    Bool,
    Int,
    Float,
}

impl DType {
    /// All of them, in the order of the documentation.
    pub const ALL: [DType; 10] = [
        DType::F64,
        DType::F32,
        DType::F16,
        DType::BF16,
        DType::I64,
        DType::I32,
        DType::I16,
        DType::I8,
        DType::U8,
        DType::Bool,
    ];

    /// The type of a libtorch scalar type number.
    pub fn from_code(code: i32) -> Option<DType> {
        Self::ALL.into_iter().find(|d| *d as i32 == code)
    }

    /// Bytes an element.
    #[inline]
    pub const fn size(self) -> usize {
        match self {
            DType::F64 | DType::I64 => 8,
            DType::F32 | DType::I32 => 4,
            DType::F16 | DType::BF16 | DType::I16 => 2,
            DType::U8 | DType::I8 | DType::Bool => 1,
        }
    }

    /// Short name, as in messages: `f32`.
    pub const fn name(self) -> &'static str {
        match self {
            DType::F64 => "f64",
            DType::F32 => "f32",
            DType::F16 => "f16",
            DType::BF16 => "bf16",
            DType::I64 => "i64",
            DType::I32 => "i32",
            DType::I16 => "i16",
            DType::I8 => "i8",
            DType::U8 => "u8",
            DType::Bool => "bool",
        }
    }

    /// Its rank in promotion.
    #[inline]
    pub const fn category(self) -> Category {
        match self {
            DType::F64 | DType::F32 | DType::F16 | DType::BF16 => Category::Float,
            DType::Bool => Category::Bool,
            _ => Category::Int,
        }
    }

    /// f64, f32, f16, bf16.
    pub const fn is_float(self) -> bool {
        matches!(self.category(), Category::Float)
    }

    /// f16, bf16.
    pub const fn is_half(self) -> bool {
        matches!(self, DType::F16 | DType::BF16)
    }

    /// The type kernels compute in: half types in f32, bool in u8, the others in themselves.
    pub const fn compute(self) -> DType {
        match self {
            DType::F16 | DType::BF16 => DType::F32,
            DType::Bool => DType::U8,
            other => other,
        }
    }

    /// Itself where it is a float, else libtorch's default float, f32.
    pub const fn to_float(self) -> DType {
        if self.is_float() { self } else { DType::F32 }
    }

    /// The type that holds both, as libtorch's `promote_types`.
    #[inline]
    pub fn promote(self, other: DType) -> DType {
        use DType::*;
        if self == other {
            return self;
        }
        if self.category() != other.category() {
            return if self.category() > other.category() { self } else { other };
        }
        match (self, other) {
            (F16, BF16) | (BF16, F16) => F32,
            (U8, I8) | (I8, U8) => I16,
            _ if self.size() >= other.size() => self,
            _ => other,
        }
    }
}

impl core::fmt::Display for DType {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}

/// A stored boolean: one byte, any non-zero value reads as true.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(transparent)]
pub struct Bool(pub u8);

/// A type as it lies in memory.
pub trait Element: Copy + Send + Sync + 'static {
    /// Its name.
    const DTYPE: DType;
    /// The type it is computed in.
    type Compute: Number;
    /// The stored value as a compute value.
    fn load(self) -> Self::Compute;
    /// A compute value (of any type) as a stored one: floats to integers truncate and saturate,
    /// integers wrap, anything but zero is true.
    fn store<T: Number>(value: T) -> Self;
}

macro_rules! plain_element {
    ($($t:ty, $dtype:ident, $to:ident;)*) => {$(
        impl Element for $t {
            const DTYPE: DType = DType::$dtype;
            type Compute = $t;
            #[inline(always)]
            fn load(self) -> $t {
                self
            }
            #[inline(always)]
            fn store<T: Number>(value: T) -> $t {
                value.$to()
            }
        }
    )*};
}
plain_element! {
    f64, F64, to_f64; f32, F32, to_f32; i64, I64, to_i64; i32, I32, to_i32;
    i16, I16, to_i16; i8, I8, to_i8; u8, U8, to_u8;
}

impl Element for f16 {
    const DTYPE: DType = DType::F16;
    type Compute = f32;
    #[inline(always)]
    fn load(self) -> f32 {
        bits::f16_to_f32(self.to_bits())
    }
    #[inline(always)]
    fn store<T: Number>(value: T) -> f16 {
        f16::from_bits(bits::f32_to_f16(value.to_f32()))
    }
}

impl Element for bf16 {
    const DTYPE: DType = DType::BF16;
    type Compute = f32;
    #[inline(always)]
    fn load(self) -> f32 {
        bits::bf16_to_f32(self.to_bits())
    }
    #[inline(always)]
    fn store<T: Number>(value: T) -> bf16 {
        bf16::from_bits(bits::f32_to_bf16(value.to_f32()))
    }
}

impl Element for Bool {
    const DTYPE: DType = DType::Bool;
    type Compute = u8;
    #[inline(always)]
    fn load(self) -> u8 {
        (self.0 != 0) as u8
    }
    #[inline(always)]
    fn store<T: Number>(value: T) -> Bool {
        Bool(value.is_true() as u8)
    }
}

/// Runs an expression with `$t` standing for the stored type of a [`DType`].
#[macro_export]
macro_rules! with_dtype {
    ($dtype:expr, $t:ident => $body:expr) => {
        match $dtype {
            $crate::DType::F64 => {
                type $t = f64;
                $body
            }
            $crate::DType::F32 => {
                type $t = f32;
                $body
            }
            $crate::DType::F16 => {
                type $t = ::half::f16;
                $body
            }
            $crate::DType::BF16 => {
                type $t = ::half::bf16;
                $body
            }
            $crate::DType::I64 => {
                type $t = i64;
                $body
            }
            $crate::DType::I32 => {
                type $t = i32;
                $body
            }
            $crate::DType::I16 => {
                type $t = i16;
                $body
            }
            $crate::DType::I8 => {
                type $t = i8;
                $body
            }
            $crate::DType::U8 => {
                type $t = u8;
                $body
            }
            $crate::DType::Bool => {
                type $t = $crate::Bool;
                $body
            }
        }
    };
}

/// Runs an expression with `$t` standing for the compute type of a [`DType`].
#[macro_export]
macro_rules! with_compute {
    ($dtype:expr, $t:ident => $body:expr) => {
        match $dtype.compute() {
            $crate::DType::F64 => {
                type $t = f64;
                $body
            }
            $crate::DType::F32 | $crate::DType::F16 | $crate::DType::BF16 => {
                type $t = f32;
                $body
            }
            $crate::DType::I64 => {
                type $t = i64;
                $body
            }
            $crate::DType::I32 => {
                type $t = i32;
                $body
            }
            $crate::DType::I16 => {
                type $t = i16;
                $body
            }
            $crate::DType::I8 => {
                type $t = i8;
                $body
            }
            $crate::DType::U8 | $crate::DType::Bool => {
                type $t = u8;
                $body
            }
        }
    };
}
