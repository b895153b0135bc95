//! Who runs the parts of an operation, and into how many it is cut.

use std::cell::Cell;
use std::sync::Arc;

use rayon::ThreadPool;

pub use crate::parts::Parts;

/// Lends threads to operations. The thread that runs an operation takes parts until none is left,
/// whatever a scheduler does, and returns when all have ended: a scheduler that calls too often, too
/// late or not at all makes it slower and no more.
pub trait Scheduler: Send + Sync {
    /// Has `parts.run()` (all that are left) or `parts.run_one()` called on up to `helpers` threads,
    /// now or later.
    fn help(&self, parts: &Arc<Parts>, helpers: usize);
}

/// Everything on the caller.
pub struct SerialScheduler;

impl Scheduler for SerialScheduler {
    fn help(&self, _: &Arc<Parts>, _: usize) {}
}

/// A pool's workers, shared by all operations that run at once.
pub struct PoolScheduler(pub ThreadPool);

impl Scheduler for PoolScheduler {
    #[inline]
    fn help(&self, parts: &Arc<Parts>, helpers: usize) {
        for _ in 0..helpers.min(self.0.current_num_threads()) {
            let parts = Arc::clone(parts);
            self.0.spawn(move || parts.run());
        }
    }
}

impl PoolScheduler {
    /// Binds worker `i` to processor `cores[i % cores.len()]`, or without any lets the workers run
    /// where the caller may. How many the system has bound: it refuses processors that are not there
    /// or not the process's.
    pub fn bind(&self, cores: &[usize]) -> usize {
        let allowed = affinity::current();
        let bound = self.0.broadcast(|worker| match cores {
            [] => allowed.is_some_and(|set| affinity::bind(&set)),
            _ => affinity::bind_to(cores[worker.index() % cores.len()]),
        });
        bound.into_iter().filter(|b| *b).count()
    }
}

/// Which processors the thread at hand may run on.
#[cfg(target_os = "linux")]
mod affinity {
    use libc::{CPU_SET, CPU_SETSIZE, cpu_set_t, sched_getaffinity, sched_setaffinity};

    const SIZE: usize = size_of::<cpu_set_t>();

    fn none() -> cpu_set_t {
        // SAFETY: a set of bits, all of them 0.
        unsafe { std::mem::zeroed() }
    }

    pub fn current() -> Option<cpu_set_t> {
        let mut set = none();
        // SAFETY: 0 is this thread; the set has the given size.
        (unsafe { sched_getaffinity(0, SIZE, &mut set) } == 0).then_some(set)
    }

    pub fn bind(set: &cpu_set_t) -> bool {
        // SAFETY: as above.
        unsafe { sched_setaffinity(0, SIZE, set) == 0 }
    }

    pub fn bind_to(core: usize) -> bool {
        if core >= CPU_SETSIZE as usize {
            return false;
        }
        let mut set = none();
        // SAFETY: the set has a bit for it.
        unsafe { CPU_SET(core, &mut set) };
        bind(&set)
    }
}

/// Other systems have no such call.
#[cfg(not(target_os = "linux"))]
mod affinity {
    pub fn current() -> Option<()> {
        None
    }

    pub fn bind(_: &()) -> bool {
        false
    }

    pub fn bind_to(_: usize) -> bool {
        false
    }
}

/// Into how many parts an operation is cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Strategy {
    /// As many as its cost suggests.
    #[default]
    Auto,
    /// One a thread.
    Static,
    /// So many, each taken by whichever thread is free.
    Dynamic(usize),
}

/// Wishes for the operations of one thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Hints {
    /// The dimension to cut a window along that is run part by part (none: the kernel's choice).
    pub split_dim: Option<usize>,
    /// See [`Strategy`].
    pub strategy: Strategy,
    /// At most so many threads, where the context allows more.
    pub threads: Option<usize>,
}

thread_local! {
    static HINTS: Cell<Hints> = const {
        Cell::new(Hints { split_dim: None, strategy: Strategy::Auto, threads: None })
    };
}

impl Hints {
    /// Those of this thread.
    pub fn current() -> Hints {
        HINTS.get()
    }

    /// Makes them this thread's; the ones before.
    pub fn install(self) -> Hints {
        HINTS.replace(self)
    }
}

/// Runs `f` with hints for the operations in it.
pub fn with_hints<T>(hints: Hints, f: impl FnOnce() -> T) -> T {
    struct Restore(Hints);
    impl Drop for Restore {
        fn drop(&mut self) {
            HINTS.set(self.0);
        }
    }
    let _restore = Restore(hints.install());
    f()
}
