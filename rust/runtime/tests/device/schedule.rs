//! Schedulers, hints, contexts.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use wick_runtime::device::Device;
use wick_runtime::scheduler::{Hints, Parts, Scheduler, SerialScheduler, Strategy, with_hints};
use wick_runtime::{Context, Stream};

use super::common::{tensor, values};
use wick_core::DType;

/// Counts what it is asked, and lends a new thread each time.
#[derive(Default)]
struct Threads {
    asked: AtomicUsize,
    parts: AtomicUsize,
    early: AtomicBool,
}

impl Scheduler for Threads {
    fn help(&self, parts: &Arc<Parts>, helpers: usize) {
        self.asked.fetch_add(1, Relaxed);
        self.parts.store(parts.total(), Relaxed);
        for _ in 0..helpers {
            let parts = Arc::clone(parts);
            let late = self.early.load(Relaxed);
            thread::spawn(move || {
                if late {
                    thread::sleep(Duration::from_millis(5));
                }
                while parts.run_one() {}
                // Once more than there are parts: nothing happens.
                assert!(!parts.run_one());
            });
        }
    }
}

const COST: f64 = 1e6;

fn ranges(ctx: &Context, n: i64) -> (Vec<(i64, i64)>, HashSet<ThreadId>) {
    let seen = Mutex::new((Vec::new(), HashSet::new()));
    ctx.for_ranges(n, COST, &|start, end| {
        let mut seen = seen.lock().unwrap();
        seen.0.push((start, end));
        seen.1.insert(thread::current().id());
    });
    let (mut ranges, threads) = seen.into_inner().unwrap();
    ranges.sort();
    (ranges, threads)
}

fn covers(ranges: &[(i64, i64)], n: i64) -> bool {
    ranges.iter().try_fold(0, |at, (s, e)| (*s == at && e > s).then_some(*e)) == Some(n)
}

/// AC-13: hints say into how many parts work is cut; AC-14: and how many threads one call takes.
#[test]
fn ac_13_hints() {
    let ctx = Context::new(1 << 30, 4);
    let cut = |strategy, threads| {
        let hints = Hints { strategy, threads, split_dim: None };
        with_hints(hints, || ranges(&ctx, 1000))
    };
    let (all, _) = cut(Strategy::Static, None);
    assert!(all.len() == 4 && covers(&all, 1000));
    let (all, _) = cut(Strategy::Dynamic(100), None);
    assert!(all.len() == 100 && covers(&all, 1000));
    let (all, _) = cut(Strategy::Dynamic(5000), None);
    assert_eq!(all.len(), 1000, "no empty part");
    let (all, threads) = cut(Strategy::Dynamic(100), Some(1));
    assert!(covers(&all, 1000) && threads.len() == 1 && all.len() == 1);
    assert_eq!(cut(Strategy::Static, Some(2)).0.len(), 2);
    assert_eq!(cut(Strategy::Static, Some(64)).0.len(), 4, "a call cannot exceed its context");
    assert_eq!(Hints::current(), Hints::default(), "hints end with their block");
}

/// AC-03: the scheduler can be replaced, by one that does nothing and by one with threads of its own;
/// AC-10: results are the same, and late helpers harm nobody.
#[test]
fn ac_03_replaceable_schedulers() {
    let ctx = Context::new(1 << 30, 3);
    let own = Arc::new(Threads::default());
    ctx.set_scheduler(Some(own.clone()));
    for early in [false, true] {
        own.early.store(early, Relaxed);
        for n in [10, 1000, 12345] {
            let (all, _) = ranges(&ctx, n);
            assert!(covers(&all, n));
            assert_eq!(own.parts.load(Relaxed), all.len());
        }
    }
    assert_eq!(own.asked.load(Relaxed), 6);
    ctx.set_scheduler(Some(Arc::new(SerialScheduler)));
    let (all, threads) = ranges(&ctx, 1000);
    assert!(covers(&all, 1000));
    assert_eq!(threads, HashSet::from([thread::current().id()]), "serial is the caller alone");
    ctx.set_scheduler(None);
    assert!(covers(&ranges(&ctx, 1000).0, 1000));
    assert_eq!(own.asked.load(Relaxed), 6);
}

/// AC-10: a panic in a part is one error, after all parts have ended, whichever scheduler runs them.
#[test]
fn ac_10_panics_come_out_once() {
    let ctx = Context::new(1 << 30, 3);
    let schedulers: [Option<Arc<dyn Scheduler>>; 3] =
        [None, Some(Arc::new(SerialScheduler)), Some(Arc::new(Threads::default()))];
    for scheduler in schedulers {
        let serial = scheduler.is_some();
        ctx.set_scheduler(scheduler);
        for _ in 0..50 {
            let ran = AtomicU32::new(0);
            let caught = catch_unwind(AssertUnwindSafe(|| {
                ctx.for_parts(20, &|id| {
                    ran.fetch_add(1, Relaxed);
                    if id % 7 == 3 {
                        panic!("a part");
                    }
                });
            }));
            assert_eq!(*caught.unwrap_err().downcast_ref::<&str>().unwrap(), "a part");
            assert_eq!(ran.load(Relaxed), 20, "{serial}");
        }
    }
}

/// AC-03: operations of several threads share the workers and do not disturb each other.
#[test]
fn ac_03_concurrent_submissions() {
    let ctx = Context::new(1 << 30, 4);
    thread::scope(|s| {
        for _ in 0..6 {
            s.spawn(|| {
                for n in 1..60 {
                    let sum = AtomicUsize::new(0);
                    ctx.for_parts(n, &|id| {
                        sum.fetch_add(id + 1, Relaxed);
                    });
                    assert_eq!(sum.into_inner(), n * (n + 1) / 2);
                }
            });
        }
    });
}

/// AC-02, AC-61: two contexts have memory, threads, random numbers and schedulers of their own.
#[test]
fn ac_61_contexts_are_independent() {
    let apart =
        |threads| Device::host(Context::apart(|n| format!("context {n}"), 1 << 20, threads));
    let (a, b) = (apart(1), apart(3));
    let (a, b) = (a.context(), b.context());
    assert_ne!(a.number(), b.number());
    let t = tensor(a, DType::F32, &[100], &[1.0; 100]);
    assert!(a.allocator().memory().live > 0);
    assert_eq!(b.allocator().memory().live, 0);
    assert!(b.allocator().allocate(2 << 20).is_err(), "its own cap");
    a.draw(5);
    assert_eq!((a.stream().offset, b.stream()), (5, Stream::default()));
    b.set_scheduler(Some(Arc::new(SerialScheduler)));
    b.set_threads(7);
    assert_eq!((a.threads(), b.threads()), (1, 7));
    // Both at once, in two threads.
    thread::scope(|s| {
        for ctx in [a, b] {
            s.spawn(move || {
                for _ in 0..50 {
                    let t = tensor(ctx, DType::F64, &[64], &[2.0; 64]);
                    assert_eq!(values(ctx, &t), [2.0; 64]);
                }
            });
        }
    });
    drop(t);
}

/// AC-13: 1,000 uneven granules on two threads within 15 % of the ideal. A timing: run it alone, by
/// `cargo test --release -p wick-runtime --test device -- --ignored --nocapture`.
#[test]
#[ignore = "a timing, for a quiet machine"]
fn ac_13_dynamic_granules_are_balanced() {
    let ctx = Context::new(1 << 30, 2);
    let spin = |id: usize| {
        let until = Duration::from_micros(5 + (id as u64 * 7919) % 200);
        let start = Instant::now();
        while start.elapsed() < until {
            std::hint::spin_loop();
        }
    };
    ctx.for_parts(8, &spin);
    let time = |f: &dyn Fn()| {
        let start = Instant::now();
        f();
        start.elapsed()
    };
    let serial = time(&|| (0..1000).for_each(spin));
    let best = (0..5).map(|_| time(&|| ctx.for_parts(1000, &spin))).min().unwrap();
    let ratio = best.as_secs_f64() / (serial.as_secs_f64() / 2.0);
    println!("1,000 granules: {best:?}, {ratio:.3} of the ideal");
    assert!(ratio < 1.15);
}
