//! Memory for an operation's own use, from the allocator.

use std::marker::PhantomData;
use std::sync::{Condvar, Mutex};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::storage::Storage;

/// Room for plain numbers, for one user.
pub(crate) struct Room<T> {
    storage: Storage,
    length: usize,
    of: PhantomData<T>,
}

impl<T: Copy> Room<T> {
    /// Room for `length` numbers, which are to be written before they are read.
    pub fn new(ctx: &Context, length: usize) -> Result<Room<T>> {
        // More than there can be is out of memory, too.
        let bytes = length.saturating_mul(size_of::<T>());
        let storage = Storage::allocate(ctx.allocator(), bytes)?;
        Ok(Room { storage, length, of: PhantomData })
    }

    /// It starts at a multiple of 64.
    pub fn slice(&mut self) -> &mut [T] {
        if self.length == 0 {
            return &mut [];
        }
        // SAFETY: as long and owned by this value alone; plain numbers have no invalid bits.
        unsafe { std::slice::from_raw_parts_mut(self.storage.ptr().cast(), self.length) }
    }
}

/// A few equal pieces, taken before the work begins, each used by one part of it at a time.
pub(crate) struct Scratch {
    storage: Storage,
    each: usize,
    free: Mutex<Vec<usize>>,
    returned: Condvar,
}

impl Scratch {
    /// Pieces of `bytes` bytes, as many as threads may work on that many tasks.
    pub fn new(ctx: &Context, bytes: usize, tasks: i64) -> Result<Scratch> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from).max(2);
        let pieces = ctx.threads().min(processors).min(tasks.max(1) as usize);
        let each = bytes.next_multiple_of(64);
        let all =
            each.checked_mul(pieces).ok_or(Error::internal("the scratch overflows".into()))?;
        Ok(Scratch {
            storage: Storage::allocate(ctx.allocator(), all)?,
            each,
            free: Mutex::new((0..pieces).collect()),
            returned: Condvar::new(),
        })
    }

    /// Runs `f` on a piece, which starts at a multiple of 64.
    pub fn with(&self, f: impl FnOnce(*mut u8)) {
        let mut free = self.free.lock().unwrap_or_else(|e| e.into_inner());
        let piece = loop {
            match free.pop() {
                Some(piece) => break piece,
                // Only where the number of threads was raised meanwhile.
                None => free = self.returned.wait(free).unwrap_or_else(|e| e.into_inner()),
            }
        };
        drop(free);
        let back = Back(self, piece);
        f(self.storage.ptr().wrapping_add(piece * self.each));
        drop(back);
    }
}

/// Gives a piece back, after a panic too.
struct Back<'a>(&'a Scratch, usize);

impl Drop for Back<'_> {
    fn drop(&mut self) {
        self.0.free.lock().unwrap_or_else(|e| e.into_inner()).push(self.1);
        self.0.returned.notify_one();
    }
}
