//! The process's runtime, and what every native method does with handles.

use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use once_cell::sync::OnceCell;
use wick_core::DType;
use wick_core::kernels::elementwise::Scalar;
use wick_runtime::device::{self, Device};
use wick_runtime::error::Kind;
use wick_runtime::handle::{Call, Table};
use wick_runtime::ops::elementwise::Out;
use wick_runtime::ops::sparse::Coo;
use wick_runtime::plan::{Lease, Manager};
use wick_runtime::{Context, Error, Result, Tensor};

use crate::devices::Devices;
use crate::pipeline::{self, Pipeline};

/// Sees to what had to wait for a call, when that has ended.
struct Late(&'static Runtime);

impl Drop for Late {
    #[inline]
    fn drop(&mut self) {
        let Runtime { tensors, pipelines, managers, leases, devices, .. } = self.0;
        let late = tensors.has_late() | pipelines.has_late() | managers.has_late();
        if late | leases.has_late() | devices.events.has_late() {
            self.0.collect();
        }
    }
}

/// What a handle stands for.
pub enum Entry {
    Dense(Tensor),
    /// Behind a lock, since operations in place change how many coordinates there are; shared by
    /// the handles of one tensor.
    Sparse(Arc<Mutex<Coo>>),
}

/// Services and tensors of this library's copy.
pub struct Runtime {
    /// What operations run with.
    pub ctx: Current,
    pub tensors: Table<Entry>,
    pub devices: Devices,
    pub pipelines: Table<Arc<Pipeline>>,
    pub managers: Table<Mutex<Manager>>,
    /// None: released, while calls in progress keep the slot.
    pub leases: Table<Mutex<Option<Lease>>>,
}

/// The context that this thread's operation runs in: the default one, or that of a device whose turn
/// the thread has.
pub struct Current {
    pub host: Arc<Device>,
}

impl Deref for Current {
    type Target = Context;

    #[inline]
    fn deref(&self) -> &Context {
        if !device::others() {
            return self.host.context();
        }
        match device::current() {
            None => self.host.context(),
            // SAFETY: the thread holds the device until its turn ends, which is after the body of the
            // native method that asks, and no body keeps the context.
            Some(device) => unsafe { &*std::ptr::from_ref(device.context()) },
        }
    }
}

/// The one runtime.
pub fn runtime() -> &'static Runtime {
    static RUNTIME: OnceCell<Runtime> = OnceCell::new();
    RUNTIME.get_or_init(|| Runtime {
        ctx: Current { host: Device::host(Context::default()) },
        tensors: Table::default(),
        devices: Devices::default(),
        pipelines: Table::default(),
        managers: Table::default(),
        leases: Table::default(),
    })
}

/// Where the two hint bits stand in a returned handle.
const HINT_SHIFT: u32 = 62;

/// The hint that says that the new tensor is sparse.
const SPARSE: i64 = 3;

/// A dense tensor of the table, alive for the duration of a native method's body: the boundary is in a
/// call until the body has ended, and no body keeps one.
pub enum Pin {
    Held(&'static Tensor),
    /// A run of a pipeline has it.
    Lent(Tensor),
}

impl Deref for Pin {
    type Target = Tensor;

    #[inline]
    fn deref(&self) -> &Tensor {
        match self {
            Pin::Held(t) => t,
            Pin::Lent(t) => t,
        }
    }
}

/// A sparse tensor of the table, alive as a [`Pin`].
pub struct SparsePin(&'static Arc<Mutex<Coo>>);

impl SparsePin {
    /// What it is now.
    pub fn get(&self) -> Coo {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A second handle of it.
    pub fn alias(&self) -> Result<i64> {
        let cell = Arc::clone(self.0);
        let handle = runtime().enter(self.get().dtype(), Entry::Sparse(cell))?;
        Ok(handle | SPARSE << HINT_SHIFT)
    }

    /// Makes it something else of the same shape and dtype.
    pub fn set(&self, value: Coo) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = value;
    }
}

/// Either kind of tensor.
pub enum Any {
    Dense(Pin),
    Sparse(SparsePin),
}

impl Runtime {
    /// The dense tensor of a handle, on the device whose operation this thread runs; where it is on
    /// another the boundary runs the body there.
    #[inline]
    pub fn pin(&'static self, op: &'static str, handle: i64) -> Result<Pin> {
        let pin = self.look(op, handle)?;
        if device::others() {
            device::check(op, &pin)?;
        }
        Ok(pin)
    }

    /// The dense tensor of a handle, wherever it is: for what does not touch its elements.
    #[inline]
    pub fn look(&'static self, op: &'static str, handle: i64) -> Result<Pin> {
        if pipeline::busy() {
            pipeline::used(handle);
        }
        // SAFETY: the body that asks is in a call (`Pin`).
        match unsafe { self.tensors.get(handle) } {
            Some(Entry::Dense(t)) => Ok(Pin::Held(t)),
            other => lent(op, handle, other),
        }
    }

    /// The dense tensor of a handle as the processor sees it: its own memory is on either side of
    /// what a device shares with it.
    pub fn pin_host(&'static self, op: &'static str, handle: i64) -> Result<Tensor> {
        let t = self.look(op, handle)?;
        if !device::others() {
            return Ok(t.clone());
        }
        match device::find(t.device()).filter(|d| d.backend().is_some()) {
            Some(_) => t.on(op, &self.ctx.host),
            None => device::check(op, &t).map(|()| t.clone()),
        }
    }

    /// The tensor of a handle, whichever it is.
    pub fn pin_any(&'static self, op: &'static str, handle: i64) -> Result<Any> {
        if pipeline::busy() {
            pipeline::used(handle);
        }
        // SAFETY: the body that asks is in a call (`Pin`).
        match unsafe { self.tensors.get(handle) } {
            Some(Entry::Sparse(cell)) => {
                let pin = SparsePin(cell);
                if device::others() {
                    device::check_number(op, pin.get().device())?;
                }
                Ok(Any::Sparse(pin))
            }
            Some(Entry::Dense(t)) => {
                if device::others() {
                    device::check(op, t)?;
                }
                Ok(Any::Dense(Pin::Held(t)))
            }
            None => lent(op, handle, None).map(Any::Dense),
        }
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
    #[inline]
    pub fn own(&self, t: Tensor) -> Result<i64> {
        if pipeline::busy() {
            return self.own_in_pipeline(t);
        }
        self.enter(t.dtype(), Entry::Dense(t))
    }

    #[cold]
    fn own_in_pipeline(&self, t: Tensor) -> Result<i64> {
        if let Some(kept) = pipeline::keep(&t) {
            return kept;
        }
        let handle = self.enter(t.dtype(), Entry::Dense(t.clone()))?;
        pipeline::made(handle, &t);
        Ok(handle)
    }

    /// Runs the body of a native method in a call, so that what it pins stays alive.
    #[inline]
    pub fn call<R>(&'static self, body: impl FnOnce() -> R) -> R {
        let _end = Late(self);
        let _call = Call::begin();
        body()
    }

    /// Frees what was closed during calls that have ended, and that none of them has seen to.
    pub fn collect(&self) {
        self.pipelines.collect();
        self.managers.collect();
        self.leases.collect();
        self.devices.events.collect();
        self.tensors.collect();
    }

    /// Closes a handle.
    #[inline]
    pub fn close(&self, handle: i64) {
        self.tensors.close(handle);
    }

    /// Handles for new tensors, 0 for one that is not there; where that fails, none of them lives on.
    pub fn own_all(&self, tensors: Vec<Option<Tensor>>) -> Result<Vec<i64>> {
        let mut handles = Vec::with_capacity(tensors.len());
        let own = |t: Option<Tensor>| t.map_or(Ok(0), |t| self.own(t)).map(|h| handles.push(h));
        let made = tensors.into_iter().try_for_each(own);
        made.inspect_err(|_| handles.iter().for_each(|h| self.close(*h)))?;
        Ok(handles)
    }

    /// A handle for a new sparse tensor, with the hint that it is one.
    pub fn own_sparse(&self, t: Coo) -> Result<i64> {
        pipeline::refuse("a sparse tensor", "how many elements it has depends on values")?;
        let handle = self.enter(t.dtype(), Entry::Sparse(Arc::new(Mutex::new(t))))?;
        Ok(handle | SPARSE << HINT_SHIFT)
    }

    fn enter(&self, dtype: DType, entry: Entry) -> Result<i64> {
        let handle = self.tensors.insert(dtype as u8, entry);
        handle.ok_or_else(|| Error::internal("2^26 tensors are live".into()))
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

/// The tensor of a handle that the table does not have as a dense one.
#[cold]
fn lent(op: &'static str, handle: i64, found: Option<&Entry>) -> Result<Pin> {
    match pipeline::node(handle) {
        Some(t) => Ok(Pin::Lent(t)),
        None => Err(not_dense(op, handle, found)),
    }
}

fn not_dense(op: &'static str, handle: i64, found: Option<&Entry>) -> Error {
    match found {
        Some(Entry::Sparse(cell)) => {
            let tensor = cell.lock().unwrap_or_else(PoisonError::into_inner);
            tensor.refuse(op, "not defined for it: call toDense first")
        }
        _ => {
            let dtype = DType::from_code((handle & 0xF) as i32).map_or("unknown", DType::name);
            Kind::Closed { op, dtype }.into()
        }
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

/// A dtype from its number in the low byte. Where a tensor is made of nothing, its device's number
/// stands above: the boundary runs the body there.
pub fn dtype(op: &'static str, code: i32) -> Result<DType> {
    if code > 0xFF {
        device::check_number(op, (code >> 8) as u32)?;
    }
    DType::from_code(code & 0xFF)
        .ok_or_else(|| Error::internal(format!("{op}: no dtype {code}").into()))
}

/// A dtype that may be left out (-1).
pub fn dtype_some(op: &'static str, code: i32) -> Result<Option<DType>> {
    if code < 0 { Ok(None) } else { dtype(op, code).map(Some) }
}

/// An operation that no caller of ours asks for.
pub fn no_op(code: i32) -> Error {
    Error::internal(format!("no operation {code}").into())
}
