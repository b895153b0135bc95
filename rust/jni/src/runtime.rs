//! The process's runtime, and what every native method does with handles.

use once_cell::sync::OnceCell;
use wick_core::DType;
use wick_core::kernels::elementwise::Scalar;
use wick_runtime::error::Kind;
use wick_runtime::handle::{Pinned, Table};
use wick_runtime::ops::elementwise::Out;
use wick_runtime::{Context, Error, Result, Tensor};

/// Services and tensors of this library's copy.
pub struct Runtime {
    pub ctx: Context,
    pub tensors: Table<Tensor>,
}

/// The one runtime.
pub fn runtime() -> &'static Runtime {
    static RUNTIME: OnceCell<Runtime> = OnceCell::new();
    RUNTIME.get_or_init(|| Runtime { ctx: Context::default(), tensors: Table::default() })
}

/// Where the two hint bits stand in a returned handle.
const HINT_SHIFT: u32 = 62;

/// A tensor of the table, alive for the duration of a call.
pub type Pin = Pinned<'static, Tensor>;

impl Runtime {
    /// The tensor of a handle.
    pub fn pin(&'static self, op: &'static str, handle: i64) -> Result<Pin> {
        self.tensors.pin(handle).ok_or_else(|| {
            let dtype = DType::from_code((handle & 0xF) as i32).map_or("unknown", DType::name);
            Kind::Closed { op, dtype }.into()
        })
    }

    /// The tensor of a handle that may be 0.
    pub fn pin_some(&'static self, op: &'static str, handle: i64) -> Result<Option<Pin>> {
        if handle == 0 { Ok(None) } else { self.pin(op, handle).map(Some) }
    }

    /// The tensors of several handles.
    pub fn pin_all(&'static self, op: &'static str, handles: &[i64]) -> Result<Vec<Pin>> {
        handles.iter().map(|h| self.pin(op, *h)).collect()
    }

    /// A handle for a new tensor, without hints.
    pub fn own(&self, t: Tensor) -> Result<i64> {
        let tag = t.dtype() as u8;
        self.tensors.insert(tag, t).ok_or_else(|| Error::internal("2^26 tensors are live".into()))
    }

    /// What a method returns for an operation's result: 0 where it went into an operand, else the
    /// new handle, saying which operand's shape it has.
    pub fn give(
        &self,
        result: Option<Tensor>,
        a: Option<&Tensor>,
        b: Option<&Tensor>,
    ) -> Result<i64> {
        let Some(t) = result else { return Ok(0) };
        let same = |o: Option<&Tensor>| o.is_some_and(|o| o.same_shape(&t));
        let hint: i64 = if same(a) {
            1
        } else if same(b) {
            2
        } else {
            0
        };
        Ok(self.own(t)? | hint << HINT_SHIFT)
    }
}

/// Where a result goes, its target pinned.
pub enum Target {
    New,
    InPlace,
    Into(Pin),
}

impl Target {
    /// `out` = 0: new; = the first operand's handle: in place.
    pub fn of(op: &'static str, a: i64, out: i64) -> Result<Target> {
        Ok(match out {
            0 => Target::New,
            out if out == a => Target::InPlace,
            out => Target::Into(runtime().pin(op, out)?),
        })
    }

    pub fn out(&self) -> Out<'_> {
        match self {
            Target::New => Out::New,
            Target::InPlace => Out::InPlace,
            Target::Into(t) => Out::Into(t),
        }
    }
}

/// A scalar from its kind and bits.
pub fn scalar(kind: i32, bits: i64) -> Scalar {
    match kind {
        0 => Scalar::Int(bits),
        1 => Scalar::Float(f64::from_bits(bits as u64)),
        _ => Scalar::Bool(bits != 0),
    }
}

/// A dtype from its number.
pub fn dtype(op: &'static str, code: i32) -> Result<DType> {
    DType::from_code(code).ok_or_else(|| Error::internal(format!("{op}: no dtype {code}").into()))
}

/// A dtype that may be left out (-1).
pub fn dtype_some(op: &'static str, code: i32) -> Result<Option<DType>> {
    if code < 0 { Ok(None) } else { dtype(op, code).map(Some) }
}

/// An operation that no caller of ours asks for.
pub fn no_op(code: i32) -> Error {
    Error::internal(format!("no operation {code}").into())
}
