//! Elementwise kernels: a loop a table row, over slices of one compute type.

use core::marker::PhantomData;

use pulp::{Simd, WithSimd};

use crate::block::{BLOCK, Operands};
use crate::dtype::{Bool, DType, Element};
use crate::number::Number;
#[allow(unused_imports)]
use crate::ops::activation::Activation;
use crate::ops::{BinaryOp, TernaryOp, UnaryOp};
use crate::scalar::{Quick, Real, reinterpret};
use crate::window::{Kernel, ThreadInfo, Window};
use crate::with_compute;

/// Integer compute types: those with bits.
trait Integer:
    Number
    + Element
    + core::ops::BitAnd<Output = Self>
    + core::ops::BitOr<Output = Self>
    + core::ops::BitXor<Output = Self>
{
}
impl Integer for i64 {}
impl Integer for i32 {}
impl Integer for i16 {}
impl Integer for i8 {}
impl Integer for u8 {}

/// What a kind of row gives: the type of the output and the value of the body.
macro_rules! gives {
    (@type value $t:ident) => { $t };
    (@type test $t:ident) => { Bool };
    (@body value $($body:tt)*) => { $($body)* };
    (@body test $($body:tt)*) => { Bool(($($body)*) as u8) };
}

/// A kind of row: the trait of its functions, and the loop around one, compiled for each CPU level;
/// `fused` where the functions multiply and add, `quick` where they have quick forms as well.
macro_rules! kinds {
    ($($kind:ident $loop:ident ($($bound:tt)*) ($($x:ident)*) $p:ty => $out:ident $how:ident ($($lift:tt)*);)*) => {$(
        trait $kind {
            fn apply<T: $($bound)*>($($x: T,)* p: $p) -> gives!(@type $out T);
        }

        struct $loop<'a, F, T> {
            $($x: &'a [T],)*
            out: &'a mut [gives!(@type $out T)],
            p: $p,
            row: PhantomData<F>,
        }

        impl<F: $kind, T: $($bound)*> $loop<'_, F, T> {
            #[inline(always)]
            fn each(self) {
                let n = self.out.len();
                $(let $x = &self.$x[..n];)*
                for i in 0..n {
                    self.out[i] = F::apply($($x[i],)* self.p);
                }
            }
        }

        kinds!(@$how $kind $loop ($($bound)*) ($($x)*) ($($lift)*));

        impl<F: $kind, T: $($bound)*> WithSimd for $loop<'_, F, T> {
            type Output = ();

            #[inline(always)]
            fn with_simd<S: Simd>(self, _: S) {
                kinds!(@run $how S self $loop ($($bound)*));
            }
        }
    )*};
    (@run plain $s:ident $self:ident $loop:ident $bound:tt) => { $self.each() };
    (@run fused $s:ident $self:ident $loop:ident $bound:tt) => { kinds!(@fused each $s $self $loop $bound) };
    (@run quick $s:ident $self:ident $loop:ident $bound:tt) => { kinds!(@fused each_quick $s $self $loop $bound) };
    (@fused $each:ident $s:ident $self:ident $loop:ident ($bound:ident)) => {
        if $s::IS_SCALAR {
            $self.$each()
        } else {
            // SAFETY: the loop is made of numbers, and every level above the scalar one fuses.
            unsafe { reinterpret::<_, $loop<F, <T as $bound>::Fused>>($self) }.$each()
        }
    };
    (@quick $kind:ident $loop:ident ($($bound:tt)*) ($($x:ident)*) ($lift:expr)) => {
        impl<F: $kind, T: $($bound)*> $loop<'_, F, T> {
            /// Block by block without the special cases, and again with them where some occur. They
            /// come in crowds, so the next blocks are done with them at once.
            #[inline(always)]
            fn each_quick(self) {
                const CROWD: usize = 8;
                let p = ($lift)(self.p);
                let mut special = 0;
                for start in (0..self.out.len()).step_by(BLOCK) {
                    let end = self.out.len().min(start + BLOCK);
                    let out = &mut self.out[start..end];
                    $(let $x = &self.$x[start..end];)*
                    if special == 0 {
                        let mut key = T::ORDINARY;
                        for i in 0..out.len() {
                            let y = F::apply($(Quick::new($x[i]),)* p);
                            out[i] = y.get();
                            key = key.max(y.key());
                        }
                        if key < T::SPECIAL {
                            continue;
                        }
                        special = CROWD;
                    }
                    special -= 1;
                    $loop::<F, T> { $($x,)* out, p: self.p, row: PhantomData }.each();
                }
            }
        }
    };
    (@$how:ident $($row:tt)*) => {};
}
kinds! {
    UnaryReal UnaryRealLoop (Real) (x) [T; 3] => value quick (|p: [T; 3]| p.map(Quick::new));
    UnaryNumber UnaryNumberLoop (Number) (x) [T; 3] => value plain ();
    UnaryTest UnaryTestLoop (Number) (x) [T; 3] => test plain ();
    BinaryReal BinaryRealLoop (Real) (x y) T => value quick (Quick::new);
    BinaryNumber BinaryNumberLoop (Number) (x y) T => value fused ();
    BinaryInteger BinaryIntegerLoop (Integer) (x y) T => value plain ();
    BinaryTest BinaryTestLoop (Number) (x y) T => test plain ();
    TernaryReal TernaryRealLoop (Real) (x y z) T => value plain ();
    TernaryNumber TernaryNumberLoop (Number) (x y z) T => value plain ();
}

/// A row's function.
macro_rules! row {
    (@impl $kind:ident ($($bound:tt)*) $p:ty, $out:ident, $row:ident ($($x:ident)*) $name:ident { $($body:tt)* }) => {
        pub(super) struct $row;
        row!(@apply $kind ($($bound)*) $p, $out, $row ($($x)*) $name { $($body)* });
    };
    (@apply $kind:ident ($($bound:tt)*) $p:ty, $out:ident, $row:ident ($($x:ident)*) $name:ident { $($body:tt)* }) => {
        impl $kind for $row {
            #[inline(always)]
            #[allow(unused_variables)]
            fn apply<T: $($bound)*>($($x: T,)* $name: $p) -> gives!(@type $out T) {
                gives!(@body $out $($body)*)
            }
        }
    };
    (unary float $($r:tt)*) => { row!(@impl UnaryReal (Real) [T; 3], value, $($r)*); };
    (unary strict $($r:tt)*) => { row!(@impl UnaryReal (Real) [T; 3], value, $($r)*); };
    (unary test $($r:tt)*) => { row!(@impl UnaryTest (Number) [T; 3], test, $($r)*); };
    (unary $same:ident $($r:tt)*) => { row!(@impl UnaryNumber (Number) [T; 3], value, $($r)*); };
    (binary float $($r:tt)*) => { row!(@impl BinaryReal (Real) T, value, $($r)*); };
    (binary int $($r:tt)*) => { row!(@impl BinaryInteger (Integer) T, value, $($r)*); };
    (binary test $($r:tt)*) => { row!(@impl BinaryTest (Number) T, test, $($r)*); };
    (binary power $($r:tt)*) => {
        row!(@impl BinaryReal (Real) T, value, $($r)*);
        row!(@apply BinaryNumber (Number) T, value, $($r)*);
    };
    (binary $same:ident $($r:tt)*) => { row!(@impl BinaryNumber (Number) T, value, $($r)*); };
    (ternary strict $($r:tt)*) => { row!(@impl TernaryReal (Real) T, value, $($r)*); };
    (ternary $same:ident $($r:tt)*) => { row!(@impl TernaryNumber (Number) T, value, $($r)*); };
}

/// Runs a row's loop in the compute types that its class allows.
macro_rules! run_row {
    (float $($r:tt)*) => { run_row!(@real $($r)*) };
    (strict $($r:tt)*) => { run_row!(@real $($r)*) };
    (@real $method:ident $test:ident $int:ident $real:ident $self:ident $row:path, $start:ident $end:ident) => {
        match $self.compute {
            DType::F64 => $self.$real::<$row, f64>($start, $end),
            _ => $self.$real::<$row, f32>($start, $end),
        }
    };
    (power $method:ident $test:ident $int:ident $real:ident $self:ident $row:path, $start:ident $end:ident) => {
        match $self.compute {
            DType::F64 => $self.$real::<$row, f64>($start, $end),
            DType::F32 => $self.$real::<$row, f32>($start, $end),
            _ => run_row!(integers $self $method $row, $start $end),
        }
    };
    (int $method:ident $test:ident $int:ident $real:ident $self:ident $row:path, $start:ident $end:ident) => {
        run_row!(integers $self $int $row, $start $end)
    };
    (integers $self:ident $int:ident $row:path, $start:ident $end:ident) => {
        match $self.compute {
            DType::I64 => $self.$int::<$row, i64>($start, $end),
            DType::I32 => $self.$int::<$row, i32>($start, $end),
            DType::I16 => $self.$int::<$row, i16>($start, $end),
            DType::I8 => $self.$int::<$row, i8>($start, $end),
            _ => $self.$int::<$row, u8>($start, $end),
        }
    };
    (test $method:ident $test:ident $int:ident $real:ident $self:ident $row:path, $start:ident $end:ident) => {
        with_compute!($self.compute, T => $self.$test::<$row, T>($start, $end))
    };
    ($same:ident $method:ident $test:ident $int:ident $real:ident $self:ident $row:path, $start:ident $end:ident) => {
        with_compute!($self.compute, T => $self.$method::<$row, T>($start, $end))
    };
}

/// A scalar argument in the exact type it came in.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs)]
pub enum Scalar {
    Int(i64),
    Float(f64),
    Bool(bool),
}

impl Scalar {
    /// As a compute type: integers stay exact.
    pub fn to<T: Number>(self) -> T {
        match self {
            Scalar::Int(v) => T::from_i64(v),
            Scalar::Float(v) => T::from_f64(v),
            Scalar::Bool(v) => T::of_bool(v),
        }
    }
}

macro_rules! kernel {
    ($(#[$doc:meta])* $name:ident $op:ident $n:literal ($($x:ident)*) $p:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        #[allow(missing_docs)]
        pub struct $name<'a> {
            pub op: $op,
            /// f64 f32 i64 i32 i16 i8 u8; a float for the float classes.
            pub compute: DType,
            pub p: $p,
            pub operands: &'a Operands<$n>,
            /// Nanoseconds an element, for the scheduler.
            pub cost: f64,
        }

        impl Kernel for $name<'_> {
            fn window(&self) -> Window {
                Window::flat(self.operands.nest.numel())
            }

            fn cost(&self) -> f64 {
                self.cost
            }

            fn run(&self, part: &Window, _: ThreadInfo, _: &mut [u8]) {
                let dim = part.dim(0);
                self.run_range(dim.start, dim.end);
            }
        }
    };
}

/// The method of a kernel that runs a row of one kind.
macro_rules! run_kind {
    ($method:ident $kind:ident $loop:ident ($($bound:tt)*) $n:literal [$($x:ident),*] $out:ident, $self:ident $p:expr) => {
        fn $method<F: $kind, T: $($bound)*>(&self, start: i64, end: i64) {
            let $self = self;
            let (p, arch) = ($p, self.operands.arch);
            // SAFETY: whoever made the operands keeps their storages alive and their layouts
            // inside; the scheduler gives each part its own elements.
            unsafe {
                self.operands.for_blocks::<T, gives!(@type $out T)>(start, end, &mut |[$($x),*], out| {
                    arch.dispatch($loop::<F, T> { $($x,)* out, p, row: PhantomData })
                });
            }
        }
    };
}

kernel! {
    /// out = op(x).
    Unary UnaryOp 1 (x) [f64; 3]
}
kernel! {
    /// out = op(x, y).
    Binary BinaryOp 2 (x y) Scalar
}
kernel! {
    /// out = op(x, y, z).
    Ternary TernaryOp 3 (x y z) Scalar
}

mod unary_rows {
    use super::*;
    macro_rules! rows {
        ($($class:ident $row:ident $n:literal $s:literal [$($a:ident),*] ($x:ident, $p:ident) $body:tt $c:literal $d:literal;)*) => {
            $(row!(unary $class $row ($x) $p $body);)*
        };
    }
    crate::unary_table!(rows);
}

mod binary_rows {
    use super::*;
    macro_rules! rows {
        ($($class:ident $row:ident $n:literal $s:literal ($x:ident, $y:ident, $p:ident) $body:tt $c:literal $d:literal;)*) => {
            $(row!(binary $class $row ($x $y) $p $body);)*
        };
    }
    crate::binary_table!(rows);
}

mod ternary_rows {
    use super::*;
    macro_rules! rows {
        ($($class:ident $row:ident $n:literal $s:literal ($x:ident, $y:ident, $z:ident, $p:ident) $body:tt $c:literal $d:literal;)*) => {
            $(row!(ternary $class $row ($x $y $z) $p $body);)*
        };
    }
    crate::ternary_table!(rows);
}

impl Unary<'_> {
    run_kind!(real UnaryReal UnaryRealLoop (Real + Number + Element) 1 [x] value, k k.p.map(<T as Real>::from_f64));
    run_kind!(number UnaryNumber UnaryNumberLoop (Number + Element) 1 [x] value, k k.p.map(T::from_f64));
    run_kind!(test UnaryTest UnaryTestLoop (Number + Element) 1 [x] test, k k.p.map(T::from_f64));

    fn run_range(&self, start: i64, end: i64) {
        macro_rules! run {
            ($($class:ident $row:ident $n:literal $s:literal [$($a:ident),*] $args:tt $body:tt $c:literal $d:literal;)*) => {
                match self.op {
                    $(UnaryOp::$row => run_row!($class number test number real self unary_rows::$row, start end),)*
                }
            };
        }
        crate::unary_table!(run)
    }
}

impl Binary<'_> {
    run_kind!(real BinaryReal BinaryRealLoop (Real + Number + Element) 2 [x, y] value, k k.p.to::<T>());
    run_kind!(number BinaryNumber BinaryNumberLoop (Number + Element) 2 [x, y] value, k k.p.to::<T>());
    run_kind!(integer BinaryInteger BinaryIntegerLoop (Integer) 2 [x, y] value, k k.p.to::<T>());
    run_kind!(test BinaryTest BinaryTestLoop (Number + Element) 2 [x, y] test, k k.p.to::<T>());

    fn run_range(&self, start: i64, end: i64) {
        macro_rules! run {
            ($($class:ident $row:ident $n:literal $s:literal $args:tt $body:tt $c:literal $d:literal;)*) => {
                match self.op {
                    $(BinaryOp::$row => run_row!($class number test integer real self binary_rows::$row, start end),)*
                }
            };
        }
        crate::binary_table!(run)
    }
}

impl Ternary<'_> {
    run_kind!(real TernaryReal TernaryRealLoop (Real + Number + Element) 3 [x, y, z] value, k k.p.to::<T>());
    run_kind!(number TernaryNumber TernaryNumberLoop (Number + Element) 3 [x, y, z] value, k k.p.to::<T>());

    fn run_range(&self, start: i64, end: i64) {
        macro_rules! run {
            ($($class:ident $row:ident $n:literal $s:literal $args:tt $body:tt $c:literal $d:literal;)*) => {
                match self.op {
                    $(TernaryOp::$row => run_row!($class number number number real self ternary_rows::$row, start end),)*
                }
            };
        }
        crate::ternary_table!(run)
    }
}
