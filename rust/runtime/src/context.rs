//! What operations need: memory, workers, the CPU level, the random generator. No global state: a
//! process may have several contexts, independent of each other.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use once_cell::sync::OnceCell;
use rayon::{ThreadPool, ThreadPoolBuilder};
use wick_core::{Arch, Kernel, ThreadInfo, Window};

use crate::alloc::{Allocator, machine_memory};

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
    pool: OnceCell<ThreadPool>,
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

    fn pool(&self) -> Option<&ThreadPool> {
        // The caller takes a share itself, so one worker fewer than there are processors.
        let workers =
            std::thread::available_parallelism().map_or(1, usize::from).saturating_sub(1).max(1);
        let make = || {
            ThreadPoolBuilder::new()
                .num_threads(workers)
                .thread_name(|i| format!("wick-{i}"))
                .build()
        };
        // Without workers (no thread can be made) everything runs on the caller.
        self.pool.get_or_try_init(make).ok()
    }

    /// Into how many parts work of so many nanoseconds should be cut.
    fn parts(&self, work: f64, iterations: i64) -> usize {
        if work < SMALL {
            return 1;
        }
        let threads = self.threads();
        if threads == 1 {
            return 1;
        }
        let worth = (work / PART) as usize;
        (threads * PARTS_A_THREAD).min(worth).min(iterations.max(1) as usize)
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

    /// Runs `f(start, end)` over `[0, n)`, each iteration taking about `cost` nanoseconds.
    pub fn for_ranges(&self, n: i64, cost: f64, f: &(dyn Fn(i64, i64) + Sync)) {
        let window = Window::flat(n);
        self.split(n, cost, &|id, total| {
            let part = window.split(0, id, total).dim(0);
            f(part.start, part.end);
        });
    }

    /// Runs `f(id, total)` for each part that the work is worth cutting into. The caller and the
    /// workers take parts until none is left: any number of parts is shared evenly, and a worker
    /// that wakes late costs nothing.
    fn split(&self, iterations: i64, cost: f64, f: &(dyn Fn(usize, usize) + Sync)) {
        let total = self.parts(cost * iterations as f64, iterations);
        match if total > 1 { self.pool() } else { None } {
            None => f(0, 1),
            Some(pool) => crate::parts::run(pool, self.threads(), total, f),
        }
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
