//! Devices: where storages live and operations run, each with an allocator, threads and random
//! numbers of its own. The processor's memory is one; a device beside it has queues, too.

mod coherence;
mod copy;
mod mirror;
mod queue;
mod sim;
mod sync;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

pub use coherence::Access;
pub use copy::{copy_between, copy_to};
pub use mirror::Accesses;
pub(crate) use mirror::Mirror;
pub use queue::{Event, Queue};
pub use sim::Sim;

use crate::context::Context;
use crate::error::{Error, Kind, Result};
use crate::tensor::Tensor;

/// What a device does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    /// An operation.
    Compute = 0,
    /// A copy to it.
    Upload = 1,
    /// A copy from it.
    Download = 2,
}

impl Work {
    /// As errors call it.
    pub fn name(self) -> &'static str {
        ["compute", "upload", "download"][self as usize]
    }
}

/// A device beside the processor.
pub trait Backend: Send + Sync {
    /// Called on the queue's thread before a piece of work.
    fn wait(&self, work: Work);

    /// Called on the queue's thread before an operation gets its turn; an error takes its place.
    fn begin(&self, op: &'static str) -> Result<()>;

    /// Copies between the processor's memory and its own; called on a queue's thread.
    ///
    /// # Safety
    /// Both places have so many bytes, and nobody else uses them meanwhile.
    unsafe fn copy(&self, work: Work, from: *const u8, to: *mut u8, bytes: usize) -> Result<()>;
}

/// A device.
pub struct Device {
    context: Context,
    /// None: its memory is the processor's, and operations run on the caller as they come.
    lanes: Option<Lanes>,
}

struct Lanes {
    compute: Queue,
    /// Copies to the device pass by its operations.
    upload: Queue,
    backend: Arc<dyn Backend>,
}

/// Devices by number; the default context is not among them.
static DEVICES: Mutex<Vec<(u32, Weak<Device>)>> = Mutex::new(Vec::new());

/// Whether there is, or was, anything but the default context.
static OTHERS: AtomicBool = AtomicBool::new(false);

fn devices() -> MutexGuard<'static, Vec<(u32, Weak<Device>)>> {
    DEVICES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// False as long as the default context is all there is, so that operations need not look for
/// their device.
#[inline]
pub fn others() -> bool {
    OTHERS.load(Relaxed)
}

fn note_others() {
    OTHERS.store(true, Relaxed);
}

/// The device of a number.
pub fn find(number: u32) -> Option<Arc<Device>> {
    devices().iter().find(|(n, _)| *n == number).and_then(|(_, d)| d.upgrade())
}

/// What errors call a device.
pub fn name_of(number: u32) -> String {
    match find(number) {
        Some(device) => device.name().to_owned(),
        None if number == 0 => "cpu".to_owned(),
        None => format!("context {number}, which is closed"),
    }
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<Device>>> = const { RefCell::new(None) };
}

/// The device whose operation this thread runs; none for the default context.
pub fn current() -> Option<Arc<Device>> {
    CURRENT.with(|current| current.borrow().clone())
}

fn current_number() -> u32 {
    CURRENT.with(|current| current.borrow().as_ref().map_or(0, |d| d.number()))
}

/// Restores the thread's device.
struct Leave(Option<Arc<Device>>);

impl Drop for Leave {
    fn drop(&mut self) {
        CURRENT.with(|current| *current.borrow_mut() = self.0.take());
    }
}

/// Fails where an operand is not on the device whose operation this thread runs. Where it runs none,
/// the error says where the operation is to be run instead; nothing has been done yet.
#[cold]
pub fn check(op: &'static str, t: &Tensor) -> Result<()> {
    check_number(op, t.device())
}

/// As [`check`] for a tensor that is to be made on a device.
#[cold]
pub fn check_number(op: &'static str, device: u32) -> Result<()> {
    let here = current_number();
    if device == here {
        Ok(())
    } else if here == 0 {
        Err(Kind::Elsewhere { op, device }.into())
    } else {
        Err(mixed(op, device, here))
    }
}

fn mixed(op: &'static str, a: u32, b: u32) -> Error {
    let expected = format!(
        "operands on {} and {}: all of an operation's live on one device; copy with to",
        name_of(a),
        name_of(b)
    );
    Kind::Device { op, expected: expected.into() }.into()
}

/// Runs an operation where its operands live: in the context that is given where they are its own,
/// else in their device's turn.
pub fn run<T>(
    host: &Context,
    op: &'static str,
    operands: &[&Tensor],
    body: impl FnOnce(&Context) -> Result<T>,
) -> Result<T> {
    let number = operands.first().map_or(host.number(), |t| t.device());
    if let Some(t) = operands.iter().find(|t| t.device() != number) {
        return Err(mixed(op, number, t.device()));
    }
    if number != host.number() {
        return get(op, number)?.run(op, |device| body(device.context()));
    }
    attempt(|| {
        let _accesses = Accesses::begin();
        body(host)
    })
}

/// The device of a number, which must be there.
pub fn get(op: &'static str, number: u32) -> Result<Arc<Device>> {
    let gone =
        || Kind::Device { op, expected: format!("{} is gone", name_of(number)).into() }.into();
    find(number).ok_or_else(gone)
}

/// Ends the operation that this thread is in with an error, where no result can carry it:
/// [`attempt`] receives it.
#[cold]
pub(crate) fn raise(error: Error) -> ! {
    resume_unwind(Box::new(error))
}

/// Runs an operation and receives what accesses inside it raise.
pub fn attempt<T, E: From<Error>>(
    body: impl FnOnce() -> std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(result) => result,
        Err(payload) => match payload.downcast::<Error>() {
            Ok(error) => Err(E::from(*error)),
            Err(payload) => resume_unwind(payload),
        },
    }
}

impl Device {
    /// A context as a device: its memory is the processor's.
    pub fn host(context: Context) -> Arc<Device> {
        Device::enrol(Device { context, lanes: None })
    }

    /// A device beside the processor.
    pub fn beside(context: Context, backend: Arc<dyn Backend>) -> Arc<Device> {
        let queue = |kind| Queue::new(format!("{}-{kind}", context.name()));
        let lanes = Lanes { compute: queue("compute"), upload: queue("upload"), backend };
        Device::enrol(Device { context, lanes: Some(lanes) })
    }

    fn enrol(device: Device) -> Arc<Device> {
        let device = Arc::new(device);
        if device.number() > 0 {
            note_others();
            let mut all = devices();
            all.retain(|(_, d)| d.strong_count() > 0);
            all.push((device.number(), Arc::downgrade(&device)));
        }
        device
    }

    /// Unique in the process; 0 is the default context.
    pub fn number(&self) -> u32 {
        self.context.number()
    }

    /// As errors call it.
    pub fn name(&self) -> &str {
        self.context.name()
    }

    /// What operations on it run with.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// What copies to and from it; none where its memory is the processor's.
    pub fn backend(&self) -> Option<Arc<dyn Backend>> {
        self.lanes.as_ref().map(|lanes| Arc::clone(&lanes.backend))
    }

    /// The queue of its operations and downloads.
    pub fn compute_queue(&self) -> Option<&Queue> {
        self.lanes.as_ref().map(|lanes| &lanes.compute)
    }

    /// The queue of copies to it.
    pub fn upload_queue(&self) -> Option<&Queue> {
        self.lanes.as_ref().map(|lanes| &lanes.upload)
    }

    /// Queues a copy: those to the device pass by its operations, those from it wait for them.
    fn submit(&self, work: Work, job: impl FnOnce() -> Result<()> + Send + 'static) -> Event {
        match &self.lanes {
            // In this device's turn its operations wait for the thread at hand.
            Some(lanes) if work == Work::Upload || current_number() == self.number() => {
                lanes.upload.submit(job)
            }
            Some(lanes) => lanes.compute.submit(job),
            None => Event::ended(job()),
        }
    }

    /// Runs an operation on the device: on the calling thread, when its turn in the queue has come.
    pub fn run<T, E: From<Error>>(
        self: &Arc<Device>,
        op: &'static str,
        body: impl FnOnce(&Device) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let here = current_number();
        if here == self.number() {
            return body(self);
        }
        if here != 0 {
            return Err(mixed(op, here, self.number()).into());
        }
        let run = || {
            let _leave = Leave(CURRENT.with(|c| c.borrow_mut().replace(Arc::clone(self))));
            attempt(|| {
                let _accesses = Accesses::begin();
                body(self)
            })
        };
        let Some(lanes) = &self.lanes else { return run() };
        let backend = Arc::clone(&lanes.backend);
        let begin = move || {
            backend.wait(Work::Compute);
            backend.begin(op)
        };
        lanes.compute.turn(begin, || Ok(run()))?
    }
}
