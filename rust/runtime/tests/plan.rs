//! Planned memory: planners against the definition, pools and leases, recorded runs against eager
//! ones.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use proptest::prelude::*;
use wick_core::DType;
use wick_core::kernels::elementwise::Scalar;
use wick_core::ops::{BinaryOp, UnaryOp};
use wick_runtime::ops::elementwise::{Out, binary, unary};
use wick_runtime::ops::matmul::{MatmulOp, matmul};
use wick_runtime::ops::promote::Arg;
use wick_runtime::plan::{
    Lifetime, Manager, Owner, Place, Plan, PoolSet, Strategy as How, lower_bound, plan, trace,
};
use wick_runtime::{Context, Result, Tensor};

fn lifetimes() -> impl Strategy<Value = Vec<Lifetime>> {
    let life = (0usize..10_000, 0usize..7, 0usize..60, 1usize..20).prop_map(
        |(bytes, align, start, length)| Lifetime {
            bytes,
            align: [0, 1, 2, 4, 8, 16, 64][align],
            start,
            end: start + length,
        },
    );
    prop::collection::vec(life, 0..60)
}

/// No two that live at once share a byte; all are aligned and inside their block.
fn check(lives: &[Lifetime], plan: &Plan) {
    assert_eq!(plan.places.len(), lives.len());
    for (l, p) in lives.iter().zip(&plan.places) {
        assert!(p.offset + l.bytes <= plan.blocks[p.block].bytes);
        assert_eq!(p.offset % l.align.max(1), 0);
        assert!(l.align <= plan.blocks[p.block].align);
    }
    for (i, (a, p)) in lives.iter().zip(&plan.places).enumerate() {
        for (b, q) in lives.iter().zip(&plan.places).skip(i + 1) {
            let together = a.start < b.end && b.start < a.end && p.block == q.block;
            let apart = p.offset + a.bytes <= q.offset || q.offset + b.bytes <= p.offset;
            // Blobs have one tenant at a time, whatever its size.
            assert!(!together || apart, "{a:?} at {p:?} and {b:?} at {q:?}");
        }
    }
}

proptest! {
    /// AC-43, AC-44, AC-45, AC-46
    #[test]
    fn intermediates_that_live_at_once_lie_apart(lives in lifetimes()) {
        let lives: Vec<Lifetime> = lives.into_iter().filter(|l| l.bytes > 0).collect();
        for how in [How::Blob, How::Offset] {
            let plan = plan(how, &lives);
            check(&lives, &plan);
            prop_assert!(plan.bytes() >= lower_bound(&lives));
            prop_assert!(plan.blocks.windows(2).all(|b| b[0].bytes >= b[1].bytes));
        }
    }
}

/// Sizes as of tensors: lifetimes short and long, so many of them.
fn random_lives(n: usize, seed: u64) -> Vec<Lifetime> {
    let mut state = seed;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    let life = |_| {
        let start = next(n);
        let octave = next(12);
        let bytes = 64 * (1 + next(1 << octave));
        Lifetime { bytes, align: 64, start, end: start + 1 + next(20) }
    };
    (0..n).map(life).collect()
}

/// AC-45: the offset planner stays within 10 % of the largest sum of live bytes.
#[test]
fn offsets_are_near_the_lower_bound() {
    for seed in 0..5 {
        let lives = random_lives(1000, seed);
        let plan = plan(How::Offset, &lives);
        check(&lives, &plan);
        let (bytes, bound) = (plan.bytes(), lower_bound(&lives));
        assert!(bytes * 10 <= bound * 11, "{bytes} bytes, at least {bound} are needed");
    }
}

/// AC-42, AC-43, AC-44: ACL's example: 12, 128 and 32 bytes, aligned to 8, 16 and 0; the third is the
/// second tenant of the first one's blob.
#[test]
fn the_third_takes_the_first_ones_blob() {
    let mut manager = Manager::new(How::Blob, false);
    let group = manager.group().unwrap();
    let a = manager.manage(group, 12, 8).unwrap();
    let b = manager.manage(group, 128, 16).unwrap();
    manager.end(a).unwrap();
    let c = manager.manage(group, 32, 0).unwrap();
    manager.end(b).unwrap();
    manager.end(c).unwrap();
    let ctx = Context::new(1 << 20, 1);
    manager.populate(&ctx, 1).unwrap();
    let owner = |bytes, align, owners| Owner { bytes, align, owners };
    assert_eq!(manager.blocks(), [owner(128, 16, 1), owner(32, 8, 2)]);
    assert_eq!(manager.place(a).unwrap().0, manager.place(c).unwrap().0);
}

/// AC-48, AC-49: states that populate, clear and manage refuse.
#[test]
fn managers_refuse_what_does_not_fit_their_state() {
    let ctx = Context::new(1 << 20, 1);
    let mut manager = Manager::new(How::Offset, false);
    let group = manager.group().unwrap();
    let a = manager.manage(group, 100, 8).unwrap();
    assert!(manager.manage(group, 1, 3).is_err());
    let text = |r: Result<()>| r.unwrap_err().to_string();
    assert!(text(manager.populate(&ctx, 1)).contains("has not ended"));
    manager.end(a).unwrap();
    assert!(text(manager.end(a)).contains("has ended"));
    assert!(text(manager.populate(&ctx, 0)).contains("at least 1"));
    assert!(manager.acquire(Duration::ZERO).is_err());
    manager.populate(&ctx, 2).unwrap();
    assert!(text(manager.populate(&ctx, 1)).contains("after populate"));
    assert!(manager.manage(group, 1, 1).is_err());
    let lease = manager.acquire(Duration::ZERO).unwrap();
    assert!(text(manager.clear()).contains("no pool in use, but 1 are"));
    drop(lease);
    let live = ctx.allocator().memory().live;
    assert!(live >= 200);
    manager.clear().unwrap();
    assert_eq!(ctx.allocator().memory().live, 0);
    // Cleared, it may be planned anew.
    manager.manage(group, 50, 1).and_then(|m| manager.end(m)).unwrap();
    manager.populate(&ctx, 1).unwrap();
}

/// AC-45: groups share a pool, which is as large as the larger of them.
#[test]
fn groups_share_a_pool() {
    let ctx = Context::new(1 << 20, 1);
    let mut manager = Manager::new(How::Offset, false);
    for sizes in [[100, 200], [50, 400]] {
        let group = manager.group().unwrap();
        let both = sizes.map(|bytes| manager.manage(group, bytes, 1).unwrap());
        let _ = both.map(|m| manager.end(m).unwrap());
    }
    manager.populate(&ctx, 1).unwrap();
    assert_eq!(manager.blocks(), [Owner { bytes: 450, align: 1, owners: 4 }]);
}

fn pools(ctx: &Context, n: usize, wipe: bool) -> Arc<PoolSet> {
    Arc::new(PoolSet::new(ctx, &[Owner { bytes: 1000, align: 64, owners: 1 }], n, wipe).unwrap())
}

/// AC-51, AC-52: a run waits for a free pool until its time is out; a thread gets one only.
#[test]
fn pools_are_leased_one_run_each() {
    let ctx = Context::new(1 << 20, 1);
    let set = pools(&ctx, 1, false);
    let first = PoolSet::acquire(&set, Duration::ZERO).unwrap();
    let again = PoolSet::acquire(&set, Duration::from_secs(60));
    assert!(again.err().unwrap().to_string().contains("this thread holds a pool"));
    std::thread::scope(|s| {
        let other = s.spawn(|| PoolSet::acquire(&set, Duration::from_millis(20)).err());
        assert!(other.join().unwrap().unwrap().to_string().contains("all 1 pools are in use"));
        let waiting = s.spawn(|| PoolSet::acquire(&set, Duration::from_secs(60)).is_ok());
        std::thread::sleep(Duration::from_millis(10));
        drop(first);
        assert!(waiting.join().unwrap());
    });
    assert_eq!(set.counts(), (1, 1));
    set.close().unwrap();
    assert!(PoolSet::acquire(&set, Duration::ZERO).is_err());
}

/// AC-52: no more runs are under way than there are pools, and all end.
#[test]
fn as_many_runs_as_pools() {
    let ctx = Context::new(1 << 20, 1);
    for n in [1, 2, 3] {
        let (set, running, most) =
            (pools(&ctx, n, false), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|s| {
            for _ in 0..6 {
                s.spawn(|| {
                    for _ in 0..50 {
                        let lease = PoolSet::acquire(&set, Duration::from_secs(60)).unwrap();
                        most.fetch_max(running.fetch_add(1, SeqCst) + 1, SeqCst);
                        std::thread::yield_now();
                        running.fetch_sub(1, SeqCst);
                        drop(lease);
                    }
                });
            }
        });
        assert!(most.into_inner() <= n);
    }
}

/// AC-53: memory is cleared when a run is over, all of it.
#[test]
fn a_wiped_pool_holds_zeros() {
    let ctx = Context::new(1 << 20, 1);
    let set = pools(&ctx, 1, true);
    let lease = PoolSet::acquire(&set, Duration::ZERO).unwrap();
    let block = lease.block(0);
    // SAFETY: the block has 1000 bytes, leased to this thread.
    let bytes = || unsafe { std::slice::from_raw_parts_mut(block, 1000) };
    bytes().fill(7);
    drop(lease);
    let lease = PoolSet::acquire(&set, Duration::ZERO).unwrap();
    assert_eq!(lease.block(0), block);
    assert!(bytes().iter().all(|b| *b == 0));
}

/// AC-51: what a tensor of an ended lease still sees, an operation of another thread may be using: no
/// later lease writes there, and the last tensor frees it.
#[test]
fn memory_in_use_is_not_leased_again() {
    let ctx = Context::new(1 << 20, 1);
    let set = pools(&ctx, 1, false);
    let block = ctx.allocator().memory().live;
    let lease = PoolSet::acquire(&set, Duration::ZERO).unwrap();
    let start = lease.block(0);
    let place = Place { block: 0, offset: 0 };
    let t = lease.tensor("t", place, 1000, DType::U8, &[1000]).unwrap();
    drop(lease);
    let lease = PoolSet::acquire(&set, Duration::ZERO).unwrap();
    let fresh = lease.block(0);
    assert_ne!(fresh, start);
    assert_eq!(ctx.allocator().memory().live, 2 * block);
    drop(t);
    assert_eq!(ctx.allocator().memory().live, block);
    drop(lease);
    let lease = PoolSet::acquire(&set, Duration::ZERO).unwrap();
    drop(lease.tensor("t", place, 1000, DType::U8, &[1000]).unwrap());
    drop(lease);
    assert_eq!(PoolSet::acquire(&set, Duration::ZERO).unwrap().block(0), fresh);
}

/// Some operations with intermediates, small and large.
fn work(ctx: &Context, x: &Tensor, extra: usize) -> Tensor {
    let two = Arg::Scalar(Scalar::Float(2.0));
    let made = |r: Result<Option<Tensor>>| r.unwrap().unwrap();
    let mut y = made(matmul(ctx, MatmulOp::Mm, x, x, None));
    for _ in 0..3 + extra {
        let z = made(unary(ctx, UnaryOp::Tanh, &y, [0.0; 3], Out::New));
        y = made(binary(ctx, BinaryOp::Add, &[Arg::Tensor(&z), two], None, Out::New));
    }
    let row = y.with_layout("select", y.layout().select(0, 1)).unwrap();
    made(binary(ctx, BinaryOp::Mul, &[Arg::Tensor(&y), Arg::Tensor(&row)], None, Out::New))
}

fn bits(ctx: &Context, t: &Tensor) -> Vec<u64> {
    common::values(ctx, t).into_iter().map(f64::to_bits).collect()
}

/// AC-42, AC-47, AC-51: a recorded sequence runs in its pool, asks the allocator for nothing, and
/// gives the eager run's bits; the intermediates' places are used again and again.
#[test]
fn a_recorded_run_allocates_nothing() {
    for size in [10, 100] {
        let ctx = Context::new(1 << 30, 2);
        let numbers: Vec<f64> = (0..size * size).map(|i| i as f64 / (size * size) as f64).collect();
        let x = common::tensor(&ctx, DType::F32, &[size, size], &numbers);
        assert!(trace::record());
        assert!(!trace::record());
        let want = work(&ctx, &x, 0);
        let schedule = Arc::new(trace::Schedule::new(trace::recorded().unwrap(), How::Offset));
        let (sum, peak) = schedule.bytes();
        assert!(schedule.plan().bytes() >= peak && schedule.plan().bytes() * 2 <= sum);
        let set = Arc::new(PoolSet::new(&ctx, &schedule.plan().blocks, 1, false).unwrap());
        let before = ctx.allocator().memory();
        let eager = [0, 2].map(|extra| bits(&ctx, &work(&ctx, &x, extra)));
        // Its result lies in the lease.
        let run = |extra| {
            let lease = PoolSet::acquire(&set, Duration::ZERO).unwrap();
            trace::replay(&schedule, lease, || work(&ctx, &x, extra))
        };
        for _ in 0..3 {
            ctx.allocator().reset_peak();
            let (got, followed, _lease) = run(0);
            assert!(followed);
            assert_eq!(ctx.allocator().memory().peak, before.live);
            assert_eq!(bits(&ctx, &got), eager[0]);
        }
        // A run that does something else gives what it should all the same, and says so.
        let (got, followed, _lease) = run(2);
        assert!(!followed);
        assert_eq!(bits(&ctx, &got), eager[1]);
        assert_eq!(bits(&ctx, &want), eager[0]);
    }
}
