//! Which side of a mirrored storage is right: the state machine, apart from bytes and queues.
//!
//! All of it is under one lock. Any number of accesses may be open on a side; a transfer never
//! copies from a side that is being written nor to one that is in use, and both sides are never
//! written at once: whoever comes second waits, and is refused where that takes too long, so that
//! two operations that wait for each other end with an error.

use super::sync::{Condvar, Mutex, MutexGuard, wait};

/// One of the two places of a mirrored storage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Side {
    Home = 0,
    Mirror = 1,
}

impl Side {
    /// The opposite one.
    pub fn other(self) -> Side {
        if self == Side::Home { Side::Mirror } else { Side::Home }
    }
}

/// What an access does with the elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Leaves them.
    Read,
    /// Changes some: the others must be right.
    Write,
    /// Writes all without reading any.
    Overwrite,
}

/// Why an access cannot begin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal<E> {
    /// Another access stood in the way for too long.
    Busy,
    /// An overwrite was begun and given up, so that the elements are neither old nor new.
    Undefined,
    /// The transfer that would have made this side right failed.
    Failed(E),
}

#[derive(Clone, Copy)]
struct Transfer {
    to: Side,
    ticket: u64,
    copying: bool,
}

struct State<E> {
    right: [bool; 2],
    readers: [u32; 2],
    writers: [u32; 2],
    transfer: Option<Transfer>,
    /// Of a transfer to this side that nobody was told of yet.
    failure: Option<(Side, E)>,
    tickets: u64,
    undefined: bool,
}

/// The state of one storage.
pub struct Coherence<E> {
    state: Mutex<State<E>>,
    changed: Condvar,
}

impl<E> Default for Coherence<E> {
    /// The home is right.
    fn default() -> Self {
        let state = State {
            right: [true, false],
            readers: [0; 2],
            writers: [0; 2],
            transfer: None,
            failure: None,
            tickets: 0,
            undefined: false,
        };
        Coherence { state: Mutex::new(state), changed: Condvar::new() }
    }
}

impl<E> State<E> {
    /// Whether a transfer to a side would meet no access that it must not.
    fn free_to_fetch(&self, to: Side) -> bool {
        let (from, to) = (to.other() as usize, to as usize);
        self.writers[from] == 0 && self.readers[to] + self.writers[to] == 0
    }

    fn begin_transfer(&mut self, to: Side) -> u64 {
        self.tickets += 1;
        self.transfer = Some(Transfer { to, ticket: self.tickets, copying: false });
        self.tickets
    }

    /// Ends the transfer under way, which carries what is no longer wanted; false where its copy has
    /// begun and must be waited for.
    fn cancel(&mut self) -> bool {
        if self.transfer.is_some_and(|t| t.copying) {
            return false;
        }
        self.transfer = None;
        true
    }

    fn take_failure(&mut self, side: Side) -> Option<E> {
        match self.failure.take() {
            Some((to, e)) if to == side => Some(e),
            other => {
                self.failure = other;
                None
            }
        }
    }
}

impl<E> Coherence<E> {
    fn lock(&self) -> MutexGuard<'_, State<E>> {
        // Every change is complete before anything that may panic.
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn pause<'a>(
        &self,
        state: MutexGuard<'a, State<E>>,
    ) -> Result<MutexGuard<'a, State<E>>, Refusal<E>> {
        wait(&self.changed, state).ok_or(Refusal::Busy)
    }

    /// Begins an access; [`Coherence::exit`] ends it. Where the side is not right, `start` is called
    /// with a ticket, has [`Coherence::carry`] called with it on whichever thread, and the caller
    /// waits for that.
    pub fn enter(
        &self,
        side: Side,
        access: Access,
        start: &mut dyn FnMut(u64),
    ) -> Result<(), Refusal<E>> {
        let (at, other) = (side as usize, side.other() as usize);
        let mut s = self.lock();
        loop {
            if s.undefined && access != Access::Overwrite {
                return Err(Refusal::Undefined);
            }
            if !s.right[at] && access != Access::Overwrite {
                s = self.fetch(s, side, start)?;
                continue;
            }
            if access == Access::Read {
                s.readers[at] += 1;
                return Ok(());
            }
            if s.writers[other] > 0 || !s.cancel() {
                s = self.pause(s)?;
                continue;
            }
            (s.right[at], s.right[other], s.undefined, s.failure) = (true, false, false, None);
            s.writers[at] += 1;
            self.changed.notify_all();
            return Ok(());
        }
    }

    /// A step towards a side that is not right: the caller looks again afterwards.
    fn fetch<'a>(
        &'a self,
        mut s: MutexGuard<'a, State<E>>,
        side: Side,
        start: &mut dyn FnMut(u64),
    ) -> Result<MutexGuard<'a, State<E>>, Refusal<E>> {
        if s.transfer.is_none() {
            if let Some(e) = s.take_failure(side) {
                return Err(Refusal::Failed(e));
            }
            if s.free_to_fetch(side) {
                let ticket = s.begin_transfer(side);
                drop(s);
                start(ticket);
                return Ok(self.lock());
            }
        } else {
            // However long a transfer takes, it ends.
            return Ok(self.changed.wait(s).unwrap_or_else(|e| e.into_inner()));
        }
        self.pause(s)
    }

    /// Ends an access.
    pub fn exit(&self, side: Side, access: Access) {
        let mut s = self.lock();
        let open = if access == Access::Read { &mut s.readers } else { &mut s.writers };
        open[side as usize] -= 1;
        self.changed.notify_all();
    }

    /// Begins to make a side right without waiting for it. A failure shows at the next access that
    /// needs the side.
    pub fn prefetch(&self, side: Side, start: &mut dyn FnMut(u64)) -> Result<(), Refusal<E>> {
        let mut s = self.lock();
        loop {
            if s.undefined {
                return Err(Refusal::Undefined);
            }
            if s.right[side as usize] || s.transfer.is_some() {
                return Ok(());
            }
            if s.free_to_fetch(side) {
                s.failure = None;
                let ticket = s.begin_transfer(side);
                drop(s);
                start(ticket);
                return Ok(());
            }
            s = self.pause(s)?;
        }
    }

    /// Does the transfer of a ticket by `copy`, unless a write has made it useless.
    pub fn carry(&self, ticket: u64, copy: impl FnOnce() -> Result<(), E>) {
        let mut s = self.lock();
        let Some(transfer) = s.transfer.as_mut().filter(|t| t.ticket == ticket) else { return };
        transfer.copying = true;
        let to = transfer.to;
        drop(s);
        let copied = copy();
        let mut s = self.lock();
        s.transfer = None;
        match copied {
            Ok(()) => s.right[to as usize] = true,
            Err(e) => s.failure = Some((to, e)),
        }
        self.changed.notify_all();
    }

    /// Makes the elements undefined until the next overwrite.
    pub fn discard(&self) -> Result<(), Refusal<E>> {
        let mut s = self.lock();
        while s.writers[0] + s.writers[1] > 0 || !s.cancel() {
            s = self.pause(s)?;
        }
        (s.right, s.undefined, s.failure) = ([false; 2], true, None);
        self.changed.notify_all();
        Ok(())
    }

    /// Whether a side could be read without a transfer.
    pub fn is_right(&self, side: Side) -> bool {
        self.lock().right[side as usize]
    }
}
