//! What operations need: memory, workers, the CPU level, the random generator. No global state: a
//! process may have several contexts, independent of each other.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use once_cell::sync::OnceCell;
use rayon::ThreadPoolBuilder;
use wick_core::{Arch, Kernel, ThreadInfo, Window};

use crate::alloc::{Allocator, machine_memory};
use crate::error::Result;
use crate::kernels::KernelCache;
use crate::plan::trace;
use crate::scheduler::{Hints, PoolScheduler, Scheduler, Strategy};

/// Work below this many nanoseconds stays on the caller: waking a worker takes it tens of thousands.
const SMALL: f64 = 150_000.0;

/// Work worth handing to another thread, in nanoseconds.
const PART: f64 = 20_000.0;

/// A place in a sequence of random numbers: all of its state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stream {
    /// Which sequence.
    pub seed: u64,
    /// Steps taken of it.
    pub offset: u64,
}

/// More parts than threads even out what a thread loses to other work of the machine.
const PARTS_A_THREAD: usize = 4;

/// Services shared by operations.
pub struct Context {
    allocator: &'static Allocator,
    arch: Arch,
    threads: AtomicUsize,
    pool: OnceCell<PoolScheduler>,
    /// Another scheduler than the context's own pool.
    scheduler: RwLock<Option<Arc<dyn Scheduler>>>,
    has_scheduler: AtomicBool,
    kernels: KernelCache,
    stream: Mutex<Stream>,
    name: String,
}

impl Default for Context {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Context::new(machine_memory(), threads)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        self.allocator.trim();
    }
}

impl Context {
    /// With a memory cap in bytes and a number of threads (the caller counts as one).
    pub fn new(cap: usize, threads: usize) -> Context {
        Context::of_device("cpu".to_owned(), 0, cap, threads)
    }

    /// One that stands apart from the default context: its tensors are not mixed with others'.
    /// `name` makes what errors call it of its number.
    pub fn apart(name: impl FnOnce(u32) -> String, cap: usize, threads: usize) -> Context {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let number = LAST.fetch_add(1, Relaxed) + 1;
        Context::of_device(name(number), number, cap, threads)
    }

    fn of_device(name: String, number: u32, cap: usize, threads: usize) -> Context {
        Context {
            allocator: Allocator::of_device(cap, number),
            arch: arch_of(std::env::var("WICK_CPU").ok().as_deref()),
            threads: AtomicUsize::new(threads.max(1)),
            pool: OnceCell::new(),
            scheduler: RwLock::new(None),
            has_scheduler: AtomicBool::new(false),
            kernels: KernelCache::new(&name),
            stream: Mutex::new(Stream::default()),
            name,
        }
    }

    /// Which context: 0 the default one.
    pub fn number(&self) -> u32 {
        self.allocator.device()
    }

    /// As errors call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its memory.
    pub fn allocator(&self) -> &'static Allocator {
        self.allocator
    }

    /// The CPU level that kernels run at.
    pub fn arch(&self) -> Arch {
        self.arch
    }

    /// baseline, avx2 or avx512.
    pub fn cpu_level(&self) -> &'static str {
        match self.arch {
            #[cfg(target_arch = "x86_64")]
            Arch::V4(_) => "avx512",
            #[cfg(target_arch = "x86_64")]
            Arch::V3(_) => "avx2",
            _ => "baseline",
        }
    }

    /// How many threads an operation may use.
    pub fn threads(&self) -> usize {
        self.threads.load(Relaxed)
    }

    /// At least 1; more than the machine has is allowed.
    pub fn set_threads(&self, n: usize) {
        self.threads.store(n.clamp(1, 1024), Relaxed);
    }

    /// The place of its random numbers.
    pub fn stream(&self) -> Stream {
        *self.lock_stream()
    }

    /// Makes random numbers go on from a place.
    pub fn set_stream(&self, stream: Stream) {
        *self.lock_stream() = stream;
    }

    /// Takes `steps` of the random numbers: where they begin.
    pub fn draw(&self, steps: u64) -> Stream {
        let mut stream = self.lock_stream();
        let from = *stream;
        stream.offset = from.offset.wrapping_add(steps);
        from
    }

    fn lock_stream(&self) -> MutexGuard<'_, Stream> {
        // A plain pair is right even if a holder panicked.
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has another scheduler lend the threads; none: the context's own pool again.
    pub fn set_scheduler(&self, scheduler: Option<Arc<dyn Scheduler>>) {
        let mut current = self.scheduler.write().unwrap_or_else(PoisonError::into_inner);
        self.has_scheduler.store(scheduler.is_some(), Relaxed);
        *current = scheduler;
    }

    fn scheduler(&self) -> Option<Arc<dyn Scheduler>> {
        self.scheduler.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Programs built for its device.
    pub fn kernels(&self) -> &KernelCache {
        &self.kernels
    }

    fn pool(&self) -> Option<&PoolScheduler> {
        // The caller takes a share itself, so one worker fewer than there are processors.
        let workers =
            std::thread::available_parallelism().map_or(1, usize::from).saturating_sub(1).max(1);
        let make = || {
            ThreadPoolBuilder::new()
                .num_threads(workers)
                .thread_name(|i| format!("wick-{i}"))
                .build()
                .map(PoolScheduler)
        };
        // Without workers (no thread can be made) everything runs on the caller.
        self.pool.get_or_try_init(make).ok()
    }

    /// Binds the threads of its own pool to processors; see [`PoolScheduler::bind`].
    pub fn bind_threads(&self, cores: &[usize]) -> usize {
        self.pool().map_or(0, |pool| pool.bind(cores))
    }

    /// Into how many parts work of so many nanoseconds should be cut.
    fn parts(&self, work: f64, iterations: i64) -> usize {
        if work < SMALL {
            return 1;
        }
        let (hints, most) = (Hints::current(), iterations.max(1) as usize);
        let threads = self.allowed(hints);
        if threads == 1 {
            return 1;
        }
        match hints.strategy {
            Strategy::Auto => (threads * PARTS_A_THREAD).min((work / PART) as usize).min(most),
            Strategy::Static => threads.min(most),
            Strategy::Dynamic(granules) => granules.clamp(1, most),
        }
    }

    fn allowed(&self, hints: Hints) -> usize {
        hints.threads.map_or(usize::MAX, |n| n.max(1)).min(self.threads())
    }

    /// Runs a kernel over its whole window, on as many threads as it is worth. A panic in a part
    /// comes out here after all parts have ended.
    #[inline]
    pub fn run<K: Kernel>(&self, kernel: &K) {
        let window = kernel.window();
        if window.iterations() == 0 {
            return;
        }
        let Some(dim) = kernel.split_dim() else {
            return run_part(kernel, &window, ThreadInfo { id: 0, total: 1 });
        };
        let iterations = window.dim(dim).iterations();
        if self.parts(kernel.cost() * iterations as f64, iterations) == 1 {
            return run_part(kernel, &window, ThreadInfo { id: 0, total: 1 });
        }
        self.split(iterations, kernel.cost(), &|id, total| {
            run_part(kernel, &window.split(dim, id, total), ThreadInfo { id, total })
        });
    }

    /// Runs a part of a kernel's window, which keeps the rules, on the caller.
    pub fn run_part<K: Kernel>(&self, kernel: &K, part: &Window) {
        run_part(kernel, part, ThreadInfo { id: 0, total: 1 });
    }

    /// Runs a kernel over a part of its window, cut as this thread's hints say.
    pub fn run_window<K: Kernel>(&self, kernel: &K, window: &Window) {
        let Some(own) = kernel.split_dim().filter(|_| window.iterations() > 0) else {
            if window.iterations() > 0 {
                self.run_part(kernel, window);
            }
            return;
        };
        let dim = Hints::current().split_dim.filter(|d| *d < window.dims().len()).unwrap_or(own);
        let n = window.dim(dim).iterations();
        let cost = kernel.cost() * window.dim(own).iterations() as f64 / n as f64;
        self.split(n, cost, &|id, total| {
            run_part(kernel, &window.split(dim, id, total), ThreadInfo { id, total })
        });
    }

    /// Runs `f(id)` for every id below `total`, in parts as they are, whatever they cost.
    pub fn for_parts(&self, total: usize, f: &(dyn Fn(usize) + Sync)) {
        self.spread(total, &|id, _| f(id));
    }

    /// Runs `f(start, end)` over `[0, n)`, each iteration taking about `cost` nanoseconds.
    pub fn for_ranges(&self, n: i64, cost: f64, f: &(dyn Fn(i64, i64) + Sync)) {
        let window = Window::flat(n);
        self.split(n, cost, &|id, total| {
            let part = window.split(0, id, total).dim(0);
            f(part.start, part.end);
        });
    }

    /// As [`Context::for_ranges`] where a range may fail; one of the failures comes out.
    pub fn try_ranges(
        &self,
        n: i64,
        cost: f64,
        f: &(dyn Fn(i64, i64) -> Result<()> + Sync),
    ) -> Result<()> {
        let failure = Mutex::new(Ok(()));
        self.for_ranges(n, cost, &|start, end| {
            if let Err(e) = f(start, end) {
                *failure.lock().unwrap_or_else(PoisonError::into_inner) = Err(e);
            }
        });
        failure.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `f(index)` for every index below `n` until one fails, each costing so many nanoseconds and
    /// perhaps allocating: where the thread's memory is being traced, all on this thread.
    pub fn try_each(
        &self,
        n: i64,
        cost: f64,
        f: &(dyn Fn(i64) -> Result<()> + Sync),
    ) -> Result<()> {
        if trace::active() {
            return (0..n).try_for_each(f);
        }
        self.try_ranges(n, cost, &|start, end| (start..end).try_for_each(f))
    }

    /// Runs `f(id, total)` for each part that the work is worth cutting into. The caller and the
    /// workers take parts until none is left: any number of parts is shared evenly, and a worker
    /// that wakes late costs nothing.
    fn split(&self, iterations: i64, cost: f64, f: &(dyn Fn(usize, usize) + Sync)) {
        match self.parts(cost * iterations as f64, iterations) {
            1 => f(0, 1),
            total => self.spread(total, f),
        }
    }

    fn spread(&self, total: usize, f: &(dyn Fn(usize, usize) + Sync)) {
        let threads = self.allowed(Hints::current());
        if threads > 1 && total > 1 {
            if self.has_scheduler.load(Relaxed)
                && let Some(scheduler) = self.scheduler()
            {
                return crate::parts::run(&*scheduler, threads, total, f);
            }
            if let Some(pool) = self.pool() {
                return crate::parts::run(pool, threads, total, f);
            }
        }
        (0..total).for_each(|id| f(id, total));
    }
}

/// Runs a part of a kernel with the scratch that it wants.
#[inline]
fn run_part<K: Kernel>(kernel: &K, part: &Window, info: ThreadInfo) {
    let scratch = kernel.scratch();
    if scratch == 0 {
        return kernel.run(part, info, &mut []);
    }
    // u64 keeps the scratch aligned for any element.
    let mut bytes = vec![0u64; scratch.div_ceil(8)];
    // SAFETY: a u64 buffer seen as the bytes it is.
    let bytes =
        unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast::<u8>(), bytes.len() * 8) };
    kernel.run(part, info, bytes);
}

fn arch_of(level: Option<&str>) -> Arch {
    #[cfg(target_arch = "x86_64")]
    {
        let v3 = || pulp::x86::V3::try_new().map(Arch::V3);
        match level {
            Some("baseline") => Arch::Scalar,
            Some("avx2") => v3().unwrap_or(Arch::Scalar),
            _ => Arch::new(),
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = level;
        Arch::new()
    }
}
