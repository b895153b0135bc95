//! Memory for the parts of an operation, from the allocator, taken before the work begins.

use std::sync::{Condvar, Mutex};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::storage::Storage;

/// A few equal pieces, each used by one part at a time.
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
