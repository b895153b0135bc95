//! The recycling allocator: blocks freed at scope exit serve the next operations, 64-byte aligned
//! and uninitialised. Its cache is bounded and visible, and a cap turns exhaustion into an error.
//! Small ones pass it by: threads keep them whole (`pool.rs`).

use std::alloc::{Layout, alloc, dealloc};
use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Kind, Result};
use crate::pool::{self, Pools};

/// Alignment of every block, in bytes.
pub const ALIGN: usize = 64;

/// Blocks from this size on are mapped from the system on their own, so that freeing one returns it.
const MAPPED: usize = 1 << 20;

/// Blocks from this size on are aligned to and advised as huge pages.
const HUGE: usize = 2 << 20;

/// Blocks up to this size are small.
pub(crate) const SMALL: usize = 4096;

/// Classes of small blocks.
pub(crate) const SMALL_CLASSES: usize = 32;

const SHARDS: usize = 16;

/// 8 classes an octave waste at most an eighth; below 512 bytes, multiples of 64.
#[cfg(test)]
const CLASSES: usize = 8 + 8 * 40;

/// The size class of a request, and the bytes it gets.
pub(crate) fn class_of(bytes: usize) -> (usize, usize) {
    if bytes <= 512 {
        let n = bytes.div_ceil(ALIGN).max(1);
        return (n - 1, n * ALIGN);
    }
    let octave = (bytes - 1).ilog2() as usize;
    let step = 1usize << (octave - 3);
    let eighth = (bytes - 1 - (1 << octave)) / step + 1;
    (8 * (octave - 9) + 7 + eighth, (1 << octave) + eighth * step)
}

/// Counters as users see them, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Memory {
    pub live: usize,
    pub peak: usize,
    pub cached: usize,
    pub cap: usize,
}

/// Free blocks by class.
#[derive(Default)]
struct FreeLists {
    classes: Vec<Vec<NonNull<u8>>>,
}

// SAFETY: free blocks belong to whoever holds the lock.
unsafe impl Send for FreeLists {}

thread_local! {
    static SHARD: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// A small number that spreads threads over shards.
fn shard_of_thread() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    SHARD.with(|shard| {
        if shard.get() == usize::MAX {
            shard.set(NEXT.fetch_add(1, Relaxed) & 0xFFFF);
        }
        shard.get()
    })
}

/// Hands out and recycles blocks.
pub struct Allocator {
    pools: Pools,
    shards: [Mutex<FreeLists>; SHARDS],
    large: Mutex<FreeLists>,
    live: AtomicUsize,
    peak: AtomicUsize,
    cached: AtomicUsize,
    cap: AtomicUsize,
    cache_limit: AtomicUsize,
    device: u32,
}

impl std::fmt::Debug for Allocator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.memory().fmt(f)
    }
}

/// A block of the allocator; whoever holds it gives it back, once.
#[derive(Debug)]
pub struct Block {
    ptr: NonNull<u8>,
    pub(crate) class: u32,
    pub(crate) size: usize,
}

// SAFETY: a block is owned memory.
unsafe impl Send for Block {}
// SAFETY: access to the bytes is the storage's business.
unsafe impl Sync for Block {}

impl Block {
    /// Memory that no allocator gave, and that none takes back.
    pub(crate) fn imported(ptr: NonNull<u8>, size: usize) -> Block {
        Block { ptr, class: 0, size }
    }

    /// Its first byte.
    pub fn ptr(&self) -> *mut u8 {
        self.ptr.as_ptr()
    }
}

impl Allocator {
    /// With a cap in bytes on live and cached memory together. It stays for the process's life:
    /// a counted reference in every storage would cost each tensor two atomic operations.
    pub fn new(cap: usize) -> &'static Allocator {
        Allocator::of_device(cap, 0)
    }

    /// As [`Allocator::new`] for the device of a number.
    pub fn of_device(cap: usize, device: u32) -> &'static Allocator {
        let out = Box::leak(Box::new(Allocator {
            pools: Default::default(),
            shards: Default::default(),
            large: Default::default(),
            live: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            cached: AtomicUsize::new(0),
            cap: AtomicUsize::new(0),
            cache_limit: AtomicUsize::new(0),
            device,
        }));
        out.set_cap(cap);
        out
    }

    /// A new cap; memory that is live already stays.
    pub fn set_cap(&self, cap: usize) {
        self.cap.store(cap, Relaxed);
        self.cache_limit.store((cap / 4).min(512 << 20), Relaxed);
        if self.cached.load(Relaxed) > cap / 4 {
            self.trim();
        }
    }

    /// The number of the device whose memory it hands out.
    pub fn device(&self) -> u32 {
        self.device
    }

    /// The counters now.
    pub fn memory(&self) -> Memory {
        let pooled = self.pools.bytes();
        let live = self.live.load(Relaxed).saturating_sub(pooled);
        Memory {
            live,
            peak: self.peak.load(Relaxed).max(live),
            cached: self.cached.load(Relaxed) + pooled,
            cap: self.cap.load(Relaxed),
        }
    }

    /// Makes the peak start again from what is live.
    pub fn reset_peak(&self) {
        self.peak.store(self.memory().live, Relaxed);
    }

    pub(crate) fn pools(&self) -> &Pools {
        &self.pools
    }

    fn lists(&self, size: usize) -> MutexGuard<'_, FreeLists> {
        let shard =
            if size >= MAPPED { &self.large } else { &self.shards[shard_of_thread() % SHARDS] };
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// At least `bytes` bytes, uninitialised.
    pub fn allocate(&self, bytes: usize) -> Result<Block> {
        let fail = || -> Error {
            let m = self.memory();
            Kind::OutOfMemory { asked: bytes, live: m.live, cached: m.cached, cap: m.cap }.into()
        };
        if bytes > isize::MAX as usize / 2 {
            return Err(fail());
        }
        let (class, size) = class_of(bytes);
        let reserved = self.reserve(size).or_else(|| {
            pool::empty(self);
            self.reserve(size)
        });
        reserved.ok_or_else(fail)?;
        let recycled = self.lists(size).classes.get_mut(class).and_then(Vec::pop);
        if let Some(ptr) = recycled {
            self.cached.fetch_sub(size, Relaxed);
            return Ok(Block { ptr, class: class as u32, size });
        }
        let cap = self.cap.load(Relaxed);
        if self.live.load(Relaxed) + self.cached.load(Relaxed) > cap {
            self.trim();
        }
        let ptr = system_allocate(size).or_else(|| {
            self.trim();
            system_allocate(size)
        });
        match ptr {
            Some(ptr) => Ok(Block { ptr, class: class as u32, size }),
            None => {
                self.live.fetch_sub(size, Relaxed);
                Err(fail())
            }
        }
    }

    /// Counts bytes as live unless the cap forbids it.
    fn reserve(&self, size: usize) -> Option<()> {
        let cap = self.cap.load(Relaxed);
        let live = self.live.fetch_add(size, Relaxed) + size;
        if live > cap {
            self.live.fetch_sub(size, Relaxed);
            return None;
        }
        if live > self.peak.load(Relaxed) {
            self.peak.fetch_max(live, Relaxed);
        }
        Some(())
    }

    /// Takes a block back: into the cache, or to the system where the cache is full.
    pub fn free(&self, block: &Block) {
        let Block { ptr, class, size } = *block;
        self.live.fetch_sub(size, Relaxed);
        if self.cached.fetch_add(size, Relaxed) + size > self.cache_limit.load(Relaxed) {
            self.cached.fetch_sub(size, Relaxed);
            system_free(ptr, size);
            return;
        }
        let mut lists = self.lists(size);
        let class = class as usize;
        if lists.classes.len() <= class {
            lists.classes.resize_with(class + 1, Vec::new);
        }
        lists.classes[class].push(ptr);
    }

    /// Returns the whole cache to the system.
    pub fn trim(&self) {
        pool::empty(self);
        for shard in self.shards.iter().chain([&self.large]) {
            let lists = std::mem::take(&mut *shard.lock().unwrap_or_else(PoisonError::into_inner));
            for (class, blocks) in lists.classes.into_iter().enumerate() {
                let size = size_of_class(class);
                for ptr in blocks {
                    self.cached.fetch_sub(size, Relaxed);
                    system_free(ptr, size);
                }
            }
        }
        trim_heap();
    }
}

/// Has the C library give free pages of its heap back, where it can: glibc's `malloc_trim`.
fn trim_heap() {
    #[cfg(unix)]
    {
        type MallocTrim = unsafe extern "C" fn(usize) -> i32;
        let process = libloading::os::unix::Library::this();
        // SAFETY: under this name there is glibc's function of this type, or none.
        unsafe {
            if let Ok(trim) = process.get::<MallocTrim>(b"malloc_trim\0") {
                trim(0);
            }
        }
    }
}

fn size_of_class(class: usize) -> usize {
    if class < 8 {
        return (class + 1) * ALIGN;
    }
    let (octave, eighth) = ((class - 8) / 8 + 9, (class - 8) % 8 + 1);
    (1 << octave) + eighth * (1 << (octave - 3))
}

fn heap_layout(size: usize) -> Option<Layout> {
    Layout::from_size_align(size, ALIGN).ok()
}

#[cfg(unix)]
fn system_allocate(size: usize) -> Option<NonNull<u8>> {
    if size < MAPPED {
        // SAFETY: the size is not 0.
        return NonNull::new(unsafe { alloc(heap_layout(size)?) });
    }
    // Room to align, the surplus unmapped again: huge pages need an aligned start.
    let align = if size >= HUGE { HUGE } else { 4096 };
    let room = size.checked_add(align)?;
    // SAFETY: a fresh private mapping; the parts unmapped are ours and not handed out.
    unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let start = libc::mmap(
            std::ptr::null_mut(),
            room,
            libc::PROT_READ | libc::PROT_WRITE,
            flags,
            -1,
            0,
        );
        if start == libc::MAP_FAILED {
            return None;
        }
        let address = start as usize;
        let aligned = address.next_multiple_of(align);
        let (head, length) = (aligned - address, page_round(size));
        let tail = room - head - length.min(room - head);
        if head > 0 {
            libc::munmap(start, head);
        }
        if tail > 0 {
            libc::munmap((aligned + length) as *mut _, tail);
        }
        #[cfg(target_os = "linux")]
        if size >= HUGE {
            libc::madvise(aligned as *mut _, length, libc::MADV_HUGEPAGE);
        }
        NonNull::new(aligned as *mut u8)
    }
}

#[cfg(unix)]
fn page_round(size: usize) -> usize {
    size.next_multiple_of(4096)
}

#[cfg(unix)]
fn system_free(ptr: NonNull<u8>, size: usize) {
    // SAFETY: the block came from system_allocate with this size.
    unsafe {
        if size >= MAPPED {
            libc::munmap(ptr.as_ptr().cast(), page_round(size));
        } else if let Some(layout) = heap_layout(size) {
            dealloc(ptr.as_ptr(), layout);
        }
    }
}

#[cfg(not(unix))]
fn system_allocate(size: usize) -> Option<NonNull<u8>> {
    // SAFETY: the size is not 0.
    NonNull::new(unsafe { alloc(heap_layout(size)?) })
}

#[cfg(not(unix))]
fn system_free(ptr: NonNull<u8>, size: usize) {
    if let Some(layout) = heap_layout(size) {
        // SAFETY: the block came from system_allocate with this size.
        unsafe { dealloc(ptr.as_ptr(), layout) }
    }
}

/// Bytes of memory that this process may use: the machine's, or its container's where less.
pub fn machine_memory() -> usize {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let number = |text: String| text.trim().parse::<usize>().ok();
    let total = read("/proc/meminfo").and_then(|text| {
        let line = text.lines().find(|l| l.starts_with("MemTotal:"))?.to_owned();
        line.split_whitespace().nth(1)?.parse::<usize>().ok()
    });
    let total = total.map_or(16 << 30, |kib| kib << 10);
    ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        .into_iter()
        .filter_map(|path| read(path).and_then(number))
        .fold(total, usize::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_round_up_and_invert() {
        let mut last = 0;
        for bytes in
            (1..5000).chain([1 << 20, (1 << 20) + 1, 40_000_000, 1 << 33, (1 << 33) + 12345])
        {
            let (class, size) = class_of(bytes);
            assert!(size >= bytes && size % ALIGN == 0, "{bytes} → {size}");
            assert!(size <= bytes + bytes / 8 + ALIGN, "{bytes} → {size}");
            assert_eq!(size_of_class(class), size, "class of {bytes}");
            assert!(class >= last && class < CLASSES);
            last = class;
        }
    }

    #[test]
    fn recycles_counts_and_caps() {
        let a = Allocator::new(16 << 20);
        let block = a.allocate(3 << 20).unwrap();
        let (ptr, live) = (block.ptr(), a.memory().live);
        assert_eq!(ptr as usize % ALIGN, 0);
        a.free(&block);
        assert_eq!((a.memory().live, a.memory().cached), (0, live));
        let again = a.allocate(3 << 20).unwrap();
        assert_eq!(again.ptr(), ptr);
        assert!(
            matches!(a.allocate(14 << 20), Err(e) if matches!(e.kind(), Kind::OutOfMemory { .. }))
        );
        assert_eq!(a.memory().live, live);
        a.free(&again);
        a.trim();
        assert_eq!(a.memory().cached, 0);
        assert_eq!(a.memory().peak, live);
    }

    #[test]
    fn bounds_the_cache() {
        let a = Allocator::new(16 << 20);
        let blocks: Vec<_> = (0..4).map(|_| a.allocate(3 << 20).unwrap()).collect();
        blocks.into_iter().for_each(|b| a.free(&b));
        assert!(a.memory().cached <= 4 << 20);
    }
}
