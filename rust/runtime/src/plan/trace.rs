//! What storages a sequence of operations asks for on this thread, and in which order it lets go of
//! them: recorded once, and then served from planned memory as often as the same sequence runs.
//!
//! A run that does not follow its recording is found out at the first difference, before memory is
//! used by two intermediates at once; from there on it gets memory of its own.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ptr::NonNull;
use std::sync::Arc;

use super::planner::{Lifetime, Plan, Strategy, lower_bound, plan};
use super::pool::Lease;
use crate::alloc::{ALIGN, Allocator, Block};
use crate::error::Result;
use crate::pool;
use crate::tensor::Tensor;

/// What happens to the intermediate of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Event {
    Begin { index: u32, bytes: usize },
    End { index: u32 },
}

/// A recorded sequence, planned.
#[derive(Debug)]
pub struct Schedule {
    events: Vec<Event>,
    lifetimes: Vec<Lifetime>,
    plan: Plan,
}

impl Schedule {
    /// Plans a sequence: every intermediate begins before it ends, once. Those that do not end live to
    /// the end of a run.
    pub fn new(events: Vec<Event>, strategy: Strategy) -> Schedule {
        let last = events.len();
        let mut lifetimes = Vec::new();
        for (step, event) in events.iter().enumerate() {
            match *event {
                Event::Begin { bytes, .. } => {
                    lifetimes.push(Lifetime { bytes, align: ALIGN, start: step, end: last });
                }
                Event::End { index } => lifetimes[index as usize].end = step,
            }
        }
        let plan = plan(strategy, &lifetimes);
        Schedule { events, lifetimes, plan }
    }

    /// Places of its intermediates, and the blocks that they lie in.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Bytes of all intermediates together, and the most that live at once.
    pub fn bytes(&self) -> (usize, usize) {
        (self.lifetimes.iter().map(|l| l.bytes).sum(), lower_bound(&self.lifetimes))
    }

    /// Where each intermediate lies: block, offset, bytes.
    pub fn places(&self) -> impl Iterator<Item = [usize; 3]> {
        let lives = self.plan.places.iter().zip(&self.lifetimes);
        lives.map(|(p, l)| [p.block, p.offset, l.bytes])
    }

    /// How many intermediates there are.
    pub fn len(&self) -> usize {
        self.lifetimes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.lifetimes.is_empty()
    }
}

#[derive(Default)]
struct Recording {
    events: Vec<Event>,
    count: u32,
    /// Blocks that live, by address.
    live: HashMap<usize, u32>,
}

struct Replay {
    schedule: Arc<Schedule>,
    lease: Lease,
    next: usize,
    /// The run did something else than was recorded.
    astray: bool,
}

enum Trace {
    Record(Recording),
    Replay(Replay),
}

thread_local! {
    static ACTIVE: Cell<bool> = const { Cell::new(false) };
    static TRACE: RefCell<Option<Trace>> = const { RefCell::new(None) };
}

/// Whether storages of this thread are being watched.
#[inline]
pub(crate) fn active() -> bool {
    ACTIVE.get()
}

fn begin(trace: Trace) {
    // The thread's small tensors would come and go unseen.
    pool::leave();
    TRACE.set(Some(trace));
    ACTIVE.set(true);
}

fn end() -> Option<Trace> {
    ACTIVE.set(false);
    TRACE.take()
}

/// Begins to record; false where the thread records or replays already.
pub fn record() -> bool {
    let free = !active();
    if free {
        begin(Trace::Record(Recording::default()));
    }
    free
}

/// Ends the recording: what happened, in order; none where there was no recording.
pub fn recorded() -> Option<Vec<Event>> {
    match end() {
        Some(Trace::Record(recording)) => Some(recording.events),
        _ => None,
    }
}

/// How much was recorded up to now.
pub fn recorded_events() -> usize {
    recording(|r| r.events.len()).unwrap_or(0)
}

/// The number of the storage that a tensor lies in, where it began in the recording.
pub fn recorded_index(t: &Tensor) -> Option<u32> {
    recording(|r| r.live.get(&(t.storage().ptr() as usize)).copied())?
}

fn recording<T>(f: impl FnOnce(&Recording) -> T) -> Option<T> {
    TRACE.with_borrow(|trace| match trace {
        Some(Trace::Record(recording)) => Some(f(recording)),
        _ => None,
    })
}

/// Runs `f` with the storages it asks for in leased memory. False where it did not follow the
/// recording; what it gave is right even so.
pub fn replay<T>(
    schedule: &Arc<Schedule>,
    lease: Lease,
    f: impl FnOnce() -> T,
) -> (T, bool, Lease) {
    struct Stop;
    impl Drop for Stop {
        fn drop(&mut self) {
            end();
        }
    }
    let schedule = Arc::clone(schedule);
    begin(Trace::Replay(Replay { schedule, lease, next: 0, astray: false }));
    let stop = Stop;
    let value = f();
    std::mem::forget(stop);
    match end() {
        Some(Trace::Replay(replay)) => (value, !replay.astray, replay.lease),
        _ => unreachable!("only this function ends a replay"),
    }
}

/// A block for a storage of this thread, which is being watched.
#[cold]
pub(crate) fn allocate(allocator: &'static Allocator, bytes: usize) -> Result<Block> {
    let planned = TRACE.with_borrow_mut(|trace| match trace {
        Some(Trace::Replay(replay)) => replay.take(allocator, bytes),
        _ => None,
    });
    if let Some(block) = planned {
        return Ok(block);
    }
    let block = allocator.allocate(bytes)?;
    TRACE.with_borrow_mut(|trace| {
        if let Some(Trace::Record(recording)) = trace
            && allocator.device() == 0
        {
            let index = recording.count;
            recording.count += 1;
            recording.events.push(Event::Begin { index, bytes });
            recording.live.insert(block.ptr() as usize, index);
        }
    });
    Ok(block)
}

/// A storage of this thread, which is being watched, lets its block go.
#[cold]
pub(crate) fn freed(block: &Block) {
    TRACE.with_borrow_mut(|trace| match trace {
        Some(Trace::Record(recording)) => {
            if let Some(index) = recording.live.remove(&(block.ptr() as usize)) {
                recording.events.push(Event::End { index });
            }
        }
        Some(Trace::Replay(replay)) => {
            if let Some(index) = block.planned() {
                replay.follow(Event::End { index });
            }
        }
        None => {}
    });
}

impl Replay {
    fn take(&mut self, allocator: &Allocator, bytes: usize) -> Option<Block> {
        if allocator.device() != 0 {
            return None;
        }
        let index = match self.schedule.events.get(self.next) {
            Some(Event::Begin { index, .. }) => *index,
            _ => u32::MAX,
        };
        if !self.follow(Event::Begin { index, bytes }) {
            return None;
        }
        let place = self.schedule.plan.places[index as usize];
        let start = self.lease.block(place.block).wrapping_add(place.offset);
        Some(Block::at(NonNull::new(start)?, index))
    }

    fn follow(&mut self, event: Event) -> bool {
        let as_recorded = !self.astray && self.schedule.events.get(self.next) == Some(&event);
        self.next += 1;
        self.astray = !as_recorded;
        as_recorded
    }
}
