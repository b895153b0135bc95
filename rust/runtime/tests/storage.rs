//! Shared and imported memory, and what is read of it element by element.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use common::{Lie, ctx, tensor, values};
use proptest::prelude::*;
use wick_core::DType;
use wick_runtime::error::Kind;
use wick_runtime::ops::creation::{empty, fill};
use wick_runtime::ops::elementwise::copy;
use wick_runtime::ops::storage::{copy_elements, dot_double, import, read_elements};
use wick_runtime::{Context, Tensor};

fn narrow(t: &Tensor, start: i64, length: i64) -> Tensor {
    t.with_layout("narrow", t.layout().narrow(0, start, length)).unwrap()
}

/// SG-09: holders come and go on eight threads, and the count and the bytes are right at the end.
#[test]
fn the_counter_is_atomic() {
    let ctx = ctx(1);
    for size in [4, 40_000] {
        let base = tensor(&ctx, DType::F64, &[size], &vec![1.5; size as usize]);
        let live = ctx.allocator().memory().live;
        std::thread::scope(|s| {
            for k in 0..8 {
                let (base, ctx) = (&base, &ctx);
                s.spawn(move || {
                    for i in 0..5_000i64 {
                        let view = narrow(base, (i + k) % 3, 1);
                        let again = view.clone();
                        drop(view);
                        assert!(again.sharers() >= 2);
                        let mut one = [0.0];
                        read_elements(ctx, &again, 0, &mut one).unwrap();
                        assert_eq!(one, [1.5]);
                    }
                });
            }
        });
        assert_eq!(base.sharers(), 1);
        assert_eq!(ctx.allocator().memory().live, live);
    }
    assert_eq!(ctx.allocator().memory().live, 0);
}

/// SG-11: what nobody has written is zero in a debug build, also where the memory was used before.
#[test]
fn empty_tensors_are_zero_in_debug_builds() {
    let ctx = ctx(1);
    for shape in [vec![3, 5], vec![1 << 16]] {
        let dirty = empty(&ctx, DType::F32, &shape).unwrap();
        fill(&ctx, &dirty, wick_core::kernels::elementwise::Scalar::Float(7.0)).unwrap();
        drop(dirty);
        let fresh = empty(&ctx, DType::F32, &shape).unwrap();
        assert!(!cfg!(debug_assertions) || values(&ctx, &fresh).iter().all(|v| *v == 0.0));
    }
}

struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

fn imported(ctx: &Context, memory: &mut [f32], ends: &Arc<AtomicUsize>) -> Tensor {
    let (shape, bytes) = ([memory.len() as i64], 4 * memory.len() as i64);
    let giver = Box::new(Counted(ends.clone()));
    // SAFETY: the tests drop all tensors before the memory.
    unsafe {
        import(ctx, DType::F32, &shape, memory.as_mut_ptr().cast(), bytes, false, giver).unwrap()
    }
}

/// AC-50: the giver is let go of once, with the last view, on whichever thread that is.
#[test]
fn imported_memory_stays_its_givers() {
    let (ctx, ends) = (ctx(1), Arc::new(AtomicUsize::new(0)));
    let mut memory = vec![0f32; 64];
    let t = imported(&ctx, &mut memory, &ends);
    assert!(t.storage().is_imported());
    assert_eq!(ctx.allocator().memory().live, 0);
    let view = narrow(&t, 8, 2);
    drop(t);
    fill(&ctx, &view, wick_core::kernels::elementwise::Scalar::Float(2.0)).unwrap();
    assert_eq!(ends.load(SeqCst), 0);
    std::thread::spawn(move || drop(view)).join().unwrap();
    assert_eq!(ends.load(SeqCst), 1);
    assert_eq!((memory[7], memory[8], memory[9], memory[10]), (0.0, 2.0, 2.0, 0.0));
    assert_eq!((ctx.allocator().memory().live, ctx.allocator().memory().cached), (0, 0));
}

/// AC-50: a refused import lets go of the giver at once and reads nothing.
#[test]
fn imports_are_checked() {
    let (ctx, ends) = (ctx(1), Arc::new(AtomicUsize::new(0)));
    let mut memory = [0f32; 4];
    let start: *mut u8 = memory.as_mut_ptr().cast();
    let cases: [(*mut u8, i64, &[i64]); 6] = [
        (std::ptr::null_mut(), 16, &[4]),
        (start.wrapping_add(1), 15, &[1]),
        (start, 15, &[4]),
        (start, -1, &[0]),
        (start, 16, &[-1]),
        (start, i64::MAX, &[i64::MAX]),
    ];
    for (i, (address, bytes, shape)) in cases.into_iter().enumerate() {
        let giver = Box::new(Counted(ends.clone()));
        // SAFETY: nothing is imported.
        let refused = unsafe { import(&ctx, DType::F32, shape, address, bytes, false, giver) };
        assert!(refused.is_err(), "{i}");
        assert_eq!(ends.load(SeqCst), i + 1);
    }
}

/// DL-12: the annotation is the storage's, and memory that is used again has none.
#[test]
fn annotations_belong_to_the_storage() {
    let ctx = ctx(1);
    for round in 0..3 {
        let t = tensor(&ctx, DType::F32, &[4], &[0.0; 4]);
        assert!(t.storage().annotation().is_none(), "{round}");
        let note = Arc::new(round);
        t.storage().annotate(Some(note.clone()));
        let view = narrow(&t, 1, 2);
        drop(t);
        let found = view.storage().annotation().unwrap();
        assert_eq!(found.downcast_ref(), Some(&round));
        drop((found, view));
        assert_eq!(Arc::strong_count(&note), 1);
    }
    assert_eq!(ctx.allocator().memory().live, 0);
}

/// DL-31: views of a read-only tensor are read-only, copies are not.
#[test]
fn read_only_tensors_stay_so() {
    let ctx = ctx(1);
    let t = tensor(&ctx, DType::F32, &[2, 3], &[1.0; 6]);
    let r = t.read_only();
    let views = [r.clone(), narrow(&r, 0, 1), narrow(&r.clone(), 1, 1)];
    for view in views {
        assert!(view.is_read_only());
        let copied = [copy(&ctx, &view, &view), copy_elements(&ctx, &view, &view)];
        for e in copied {
            assert!(matches!(e.unwrap_err().kind(), Kind::ReadOnly { .. }));
        }
        let filled = fill(&ctx, &view, wick_core::kernels::elementwise::Scalar::Int(3));
        assert!(matches!(filled.unwrap_err().kind(), Kind::ReadOnly { .. }));
    }
    assert!(!t.is_read_only());
    assert_eq!(values(&ctx, &r), [1.0; 6]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// DL-11, DL-18, DL-28: elements in row-major order of any layout, copied and multiplied.
    #[test]
    fn elements_of_any_layout(
        shape in prop::collection::vec(0..6i64, 0..4),
        bits in any::<u64>(),
        dtype in prop::sample::select(vec![DType::F32, DType::F64, DType::I64, DType::F16, DType::U8]),
    ) {
        let ctx = ctx(1);
        let n: i64 = shape.iter().product();
        let numbers: Vec<f64> = (0..n).map(|i| (i % 17) as f64).collect();
        let t = Lie::random(shape.len(), bits, false).make(&ctx, dtype, &shape, |_| 0.0);
        copy(&ctx, &t, &tensor(&ctx, dtype, &shape, &numbers)).unwrap();
        let mut out = vec![0.0; n as usize];
        read_elements(&ctx, &t, 0, &mut out).unwrap();
        prop_assert_eq!(&out, &numbers);
        if n > 2 {
            read_elements(&ctx, &t, 1, &mut out[..n as usize - 2]).unwrap();
            prop_assert_eq!(&out[..n as usize - 2], &numbers[1..n as usize - 1]);
        }
        prop_assert!(read_elements(&ctx, &t, 1, &mut vec![0.0; n as usize]).is_err());
        let flat = tensor(&ctx, dtype, &[n], &vec![3.0; n as usize]);
        prop_assert_eq!(dot_double(&ctx, &t, &flat).unwrap(), 3.0 * numbers.iter().sum::<f64>());
        copy_elements(&ctx, &flat, &t).unwrap();
        prop_assert_eq!(values(&ctx, &flat), numbers.clone());
        copy_elements(&ctx, &t, &tensor(&ctx, dtype, &[n, 1], &vec![2.0; n as usize])).unwrap();
        prop_assert_eq!(values(&ctx, &t), vec![2.0; n as usize]);
    }
}
