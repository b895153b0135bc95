//! The memory of runs: so many equal pools, each leased to one run at a time.

use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use wick_core::{DType, Layout};

use super::planner::{Owner, Place};
use crate::alloc::ALIGN;
use crate::context::Context;
use crate::error::{Error, Kind, Result};
use crate::storage::Storage;
use crate::tensor::Tensor;

/// One pool: a storage for each block of the plan, shared with tensors that lie in it.
type Pool = Vec<Arc<Storage>>;

/// Equal pools. A run that finds none free waits for one.
pub struct PoolSet {
    state: Mutex<State>,
    freed: Condvar,
    /// Memory is cleared when a lease ends.
    wipe: bool,
}

struct State {
    free: Vec<Pool>,
    total: usize,
    /// Threads with a lease.
    holders: Vec<u64>,
    /// How many threads wait for a pool.
    waiting: usize,
    closed: bool,
}

/// A pool, until this is dropped.
pub struct Lease {
    set: Arc<PoolSet>,
    pool: Pool,
    thread: u64,
    /// Tells the lease's tensors, once there are any, that it is over.
    ended: OnceLock<Arc<AtomicBool>>,
}

/// The number of this thread, which no other one gets. The standard library's comes with a counted
/// reference.
fn thread() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    thread_local! {
        static OWN: Cell<u64> = const { Cell::new(0) };
    }
    if OWN.get() == 0 {
        OWN.set(LAST.fetch_add(1, Relaxed) + 1);
    }
    OWN.get()
}

fn refused(what: impl Into<String>) -> Error {
    Kind::State { op: "acquire", expected: what.into().into() }.into()
}

impl PoolSet {
    /// So many pools of these blocks.
    pub fn new(ctx: &Context, blocks: &[Owner], pools: usize, wipe: bool) -> Result<PoolSet> {
        let block = |b: &Owner| {
            if b.align > ALIGN {
                let what = format!("an alignment of {}, at most {ALIGN} is possible", b.align);
                return Err(refused(what));
            }
            Storage::allocate(ctx.allocator(), b.bytes).map(Arc::new)
        };
        let pool = |_| blocks.iter().map(block).collect::<Result<Pool>>();
        let free = (0..pools).map(pool).collect::<Result<Vec<_>>>()?;
        let state =
            State { total: free.len(), free, holders: Vec::new(), waiting: 0, closed: false };
        Ok(PoolSet { state: Mutex::new(state), freed: Condvar::new(), wipe })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many there are, and how many are free.
    pub fn counts(&self) -> (usize, usize) {
        let state = self.state();
        (state.total, state.free.len())
    }

    /// A free pool, waited for until the time is out. A thread that has one gets no second: if all were
    /// waiting so, none would ever be free.
    pub fn acquire(set: &Arc<PoolSet>, timeout: Duration) -> Result<Lease> {
        let thread = thread();
        let mut state = set.state();
        if state.holders.contains(&thread) {
            return Err(refused("this thread holds a pool already: release it first"));
        }
        let mut until = None;
        loop {
            if state.closed {
                return Err(refused("the pools are gone"));
            }
            if let Some(pool) = state.free.pop() {
                state.holders.push(thread);
                drop(state);
                let ended = OnceLock::new();
                let mut lease = Lease { set: Arc::clone(set), pool, thread, ended };
                lease.renew()?;
                return Ok(lease);
            }
            let now = Instant::now();
            let end = *until.get_or_insert(now + timeout);
            if now >= end {
                let n = state.total;
                let what =
                    format!("all {n} pools are in use, and none was free within {timeout:?}");
                return Err(refused(what));
            }
            state.waiting += 1;
            let waited = set.freed.wait_timeout(state, end - now);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            state.waiting -= 1;
        }
    }

    /// Takes the pools out of use; an error while one is leased.
    pub fn close(&self) -> Result<()> {
        let mut state = self.state();
        if state.free.len() < state.total {
            let n = state.total - state.free.len();
            return Err(refused(format!("no pool in use, but {n} are")));
        }
        state.closed = true;
        state.free.clear();
        state.total = 0;
        Ok(())
    }
}

impl Lease {
    /// Memory that tensors of an earlier lease still see stays theirs: an operation on another thread
    /// may be using it.
    fn renew(&mut self) -> Result<()> {
        for block in &mut self.pool {
            if Arc::get_mut(block).is_none() {
                *block = Arc::new(Storage::allocate(block.allocator(), block.bytes())?);
            }
        }
        Ok(())
    }

    /// The first byte of a block.
    pub fn block(&self, block: usize) -> *mut u8 {
        self.pool[block].ptr()
    }

    /// A tensor at a place of the pool. Once the lease has ended, using it is an error.
    pub fn tensor(
        &self,
        op: &'static str,
        place: Place,
        bytes: usize,
        dtype: DType,
        shape: &[i64],
    ) -> Result<Tensor> {
        let size = |e| Error::size(op, dtype, shape, e);
        let layout = Layout::contiguous(shape).map_err(size)?;
        let wanted = layout.numel().checked_mul(dtype.size() as i64);
        if wanted != Some(bytes as i64) {
            let what = format!("{dtype} {shape:?} is not of the {bytes} bytes that were managed");
            return Err(Error::shape(op, &[], what));
        }
        let block = &self.pool[place.block];
        let start = NonNull::new(block.ptr().wrapping_add(place.offset));
        let start = start.ok_or_else(|| Error::internal("the pool has no memory".into()))?;
        let giver = Box::new(Arc::clone(block));
        let ended = Arc::clone(self.ended.get_or_init(Arc::default));
        // SAFETY: the plan's places lie inside their blocks, which the giver keeps.
        let storage = unsafe { Storage::lend(block.allocator(), start, bytes, giver, ended) };
        Ok(Tensor::imported(storage, layout, dtype))
    }

    /// Clears all of its memory.
    pub fn wipe(&mut self) {
        for block in &self.pool {
            for at in 0..block.bytes() {
                // SAFETY: inside the block, which is this lease's; volatile, so that the compiler
                // keeps the writes although nobody reads them.
                unsafe { block.ptr().add(at).write_volatile(0) };
            }
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(ended) = self.ended.get() {
            ended.store(true, Release);
        }
        if self.set.wipe {
            self.wipe();
        }
        let pool = std::mem::take(&mut self.pool);
        let mut state = self.set.state();
        if let Some(at) = state.holders.iter().position(|t| *t == self.thread) {
            state.holders.swap_remove(at);
        }
        state.free.push(pool);
        let waited_for = state.waiting > 0;
        drop(state);
        // Waking nobody costs a call of the system, too.
        if waited_for {
            self.set.freed.notify_one();
        }
    }
}
