//! The second place that a storage may have, on another device than its home.

use std::cell::RefCell;
use std::sync::{Arc, OnceLock};

use super::coherence::{Access, Coherence, Refusal, Side};
use super::{Device, Work};
use crate::alloc::{Allocator, Block};
use crate::error::{Error, Kind, Result};
use crate::storage::Storage;

/// What a storage has beside its home, once it was asked for: the state of both places, and the
/// second of them (a storage whose elements became undefined has no second).
#[derive(Default)]
pub struct Mirror {
    coherence: Coherence<Error>,
    slot: OnceLock<Slot>,
}

impl std::fmt::Debug for Mirror {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mirror({:?})", self.slot.get().map(|s| s.device))
    }
}

struct Slot {
    device: u32,
    allocator: &'static Allocator,
    block: Block,
    /// The one of the two devices that copies.
    link: Arc<Device>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.allocator.free(&self.block);
    }
}

fn refused(op: &'static str, why: Refusal<Error>) -> Error {
    let expected = match why {
        Refusal::Failed(e) => return e,
        Refusal::Busy => {
            "the elements are being written on another device, or used where they would be copied to"
        }
        Refusal::Undefined => {
            return Kind::Undefined { op }.into();
        }
    };
    Kind::Device { op, expected: expected.into() }.into()
}

impl Mirror {
    fn side(&self, storage: &Storage, device: u32) -> Result<Side> {
        if device == storage.home() {
            return Ok(Side::Home);
        }
        match self.slot.get() {
            Some(slot) if slot.device == device => Ok(Side::Mirror),
            _ => Err(Error::internal("a tensor's device is none of its storage's".into())),
        }
    }

    fn ptr(&self, storage: &Storage, side: Side) -> *mut u8 {
        match (side, self.slot.get()) {
            (Side::Mirror, Some(slot)) => slot.block.ptr(),
            _ => storage.ptr(),
        }
    }

    /// Queues the transfer of a ticket.
    fn start(&self, storage: &Arc<Storage>, to: Side, ticket: u64) {
        let Some(slot) = self.slot.get() else { return };
        let arriving = if to == Side::Mirror { slot.device } else { storage.home() };
        let work = if arriving == slot.link.number() { Work::Upload } else { Work::Download };
        // The job's share keeps the bytes until it has ended, whoever closes the tensor.
        let (kept, backend) = (Arc::clone(storage), slot.link.backend());
        let job = move || {
            let (Some(mirror), Some(backend)) = (kept.mirror(), backend) else { return Ok(()) };
            backend.wait(work);
            mirror.coherence.carry(ticket, || {
                let (from, to) = (mirror.ptr(&kept, to.other()), mirror.ptr(&kept, to));
                // SAFETY: both places have the storage's bytes, and the state lets nobody write to
                // the one nor use the other meanwhile.
                unsafe { backend.copy(work, from, to, kept.bytes()) }
            });
            Ok(())
        };
        slot.link.submit(work, job);
    }
}

/// An access that lasts until the operation's end.
struct Open {
    storage: Arc<Storage>,
    side: Side,
    access: Access,
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(mirror) = self.storage.mirror() {
            mirror.coherence.exit(self.side, self.access);
        }
    }
}

thread_local! {
    /// The accesses of this thread's operation; none outside of operations.
    static OPEN: RefCell<Option<Vec<Open>>> = const { RefCell::new(None) };
}

/// While it lives, the accesses that this thread begins stay open: an operation's.
#[must_use]
pub struct Accesses {
    before: Option<usize>,
}

impl Accesses {
    /// Until it is dropped.
    pub fn begin() -> Accesses {
        let before = OPEN.with(|open| {
            let mut open = open.borrow_mut();
            let before = open.as_ref().map(Vec::len);
            open.get_or_insert_default();
            before
        });
        Accesses { before }
    }
}

impl Drop for Accesses {
    fn drop(&mut self) {
        let ended = OPEN.with(|open| {
            let mut open = open.borrow_mut();
            match self.before {
                None => open.take(),
                Some(before) => open.as_mut().map(|open| open.split_off(before)),
            }
        });
        drop(ended);
    }
}

impl Storage {
    /// Where the elements are on a device of the storage, made right there for an access, which
    /// ends with the operation that this thread is in (at once outside of one).
    pub(crate) fn reach(self: &Arc<Storage>, device: u32, access: Access) -> Result<*mut u8> {
        const OP: &str = "access";
        let Some(mirror) = self.mirror() else { return Ok(self.ptr()) };
        let side = mirror.side(self, device)?;
        let mut start = |ticket| mirror.start(self, side, ticket);
        mirror.coherence.enter(side, access, &mut start).map_err(|e| refused(OP, e))?;
        let open = Open { storage: Arc::clone(self), side, access };
        OPEN.with(|all| {
            if let Some(all) = &mut *all.borrow_mut() {
                all.push(open);
            }
        });
        Ok(mirror.ptr(self, side))
    }

    /// Gives the storage a place on a device, where it has none there.
    pub(crate) fn spread(&self, op: &'static str, device: &Arc<Device>) -> Result<()> {
        let fail = |expected: String| Err(Kind::Device { op, expected: expected.into() }.into());
        let number = device.number();
        if number == self.home() {
            return Ok(());
        }
        if let Some(slot) = self.mirror().and_then(|m| m.slot.get()) {
            return if slot.device == number {
                Ok(())
            } else {
                let (a, b) = (super::name_of(self.home()), super::name_of(slot.device));
                fail(format!(
                    "the storage is on {a} and {b} already: copy it to {} with to",
                    device.name()
                ))
            };
        }
        let home = super::find(self.home()).filter(|home| home.backend().is_some());
        let link = match (home, device.backend()) {
            (None, Some(_)) => Some(Arc::clone(device)),
            (Some(home), None) => Some(home),
            _ => None,
        };
        let Some(link) = link else {
            let from = super::name_of(self.home());
            return fail(format!(
                "no shared storage on {from} and {}: copy it with to",
                device.name()
            ));
        };
        let allocator = device.context().allocator();
        let block = allocator.allocate(self.bytes())?;
        let slot = Slot { device: number, allocator, block, link };
        super::note_others();
        match self.mirror_or_new().slot.set(slot) {
            Ok(()) => Ok(()),
            // Another thread was first, perhaps with another device.
            Err(_) => self.spread(op, device),
        }
    }

    /// Begins to make the elements right on a device of the storage.
    pub(crate) fn prefetch(self: &Arc<Storage>, op: &'static str, device: u32) -> Result<()> {
        let Some(mirror) = self.mirror() else { return Ok(()) };
        let side = mirror.side(self, device)?;
        let mut start = |ticket| mirror.start(self, side, ticket);
        mirror.coherence.prefetch(side, &mut start).map_err(|e| refused(op, e))
    }

    /// Whether the elements are right on a device; false where the storage has no place there.
    pub(crate) fn is_right(&self, device: u32) -> bool {
        match self.mirror() {
            None => device == self.home(),
            Some(mirror) => {
                mirror.side(self, device).is_ok_and(|side| mirror.coherence.is_right(side))
            }
        }
    }

    /// Makes the elements undefined, until all are written again.
    pub(crate) fn discard(&self, op: &'static str) -> Result<()> {
        super::note_others();
        self.mirror_or_new().coherence.discard().map_err(|e| refused(op, e))
    }
}
