//! Failures, writes during transfers, ends during transfers, threads.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

use wick_runtime::device::{Work, copy_to};
use wick_runtime::error::Kind;

use super::{Machine, part};

/// DL-06: a failed upload shows at the access that needs it, the host's side stays right, and the
/// next access tries again.
#[test]
fn dl_06_failures_surface_where_they_matter() {
    let m = Machine::new();
    let host = m.tensor(&[1.0, 2.0]);
    let there = m.there(&host);
    m.sim.fail(Work::Upload, 1);
    there.prefetch("async_copy").unwrap();
    m.device.upload_queue().unwrap().sync().unwrap();
    assert!(!there.is_ready(m.device.number()));
    assert_eq!(m.read(&host).unwrap(), [1.0, 2.0]);
    let error = m.read(&there).unwrap_err();
    assert!(error.to_string().contains("upload"), "{error}");
    assert_eq!(m.read(&there).unwrap(), [1.0, 2.0]);

    // The other way round.
    m.add(&there, 1.0).unwrap();
    m.sim.fail(Work::Download, 1);
    assert!(m.read(&host).is_err());
    assert_eq!(m.read(&there).unwrap(), [2.0, 3.0]);
    assert_eq!(m.read(&host).unwrap(), [2.0, 3.0]);

    // An operation that the device refuses changes nothing.
    m.sim.fail(Work::Compute, 1);
    assert!(m.add(&there, 1.0).is_err());
    assert_eq!(m.read(&there).unwrap(), [2.0, 3.0]);

    // A copy that fails leaves nothing behind.
    let live = m.device.context().allocator().memory().live;
    m.sim.fail(Work::Upload, 1);
    assert!(copy_to(&m.host, "to", &host, &m.device).is_err());
    assert_eq!(m.device.context().allocator().memory().live, live);
}

/// Interaction 2 of CAPABILITIES 2.4: an overwrite through a column while the device's copy is newer
/// leaves the other columns as the device has them.
#[test]
fn interaction_2_overwriting_a_part_keeps_the_rest() {
    let m = Machine::new();
    let host = m.matrix(2, 3);
    let there = m.there(&host);
    m.add(&there, 10.0).unwrap();
    assert!(!host.is_ready(0));
    let column = host.with_layout("narrow", host.layout().narrow(1, 1, 1)).unwrap();
    m.fill(&column, -1.0).unwrap();
    assert_eq!(m.read(&host).unwrap(), [10.0, -1.0, 12.0, 13.0, -1.0, 15.0]);
    assert_eq!(m.read(&there).unwrap(), [10.0, -1.0, 12.0, 13.0, -1.0, 15.0]);
}

/// Interaction 3, DL-06: a write while an upload is held up neither waits for it nor is lost.
#[test]
fn interaction_3_a_write_during_an_upload() {
    let m = Machine::new();
    let host = m.tensor(&[1.0, 2.0]);
    let there = m.there(&host);
    m.sim.hold(Work::Upload, true);
    let start = Instant::now();
    there.prefetch("async_copy").unwrap();
    m.add(&host, 1.0).unwrap();
    assert!(start.elapsed() < Duration::from_secs(1), "neither call waits for the queue");
    assert!(!there.is_ready(m.device.number()));
    let seen = thread::scope(|s| {
        let reader = s.spawn(|| m.read(&there).unwrap());
        thread::sleep(Duration::from_millis(10));
        m.sim.hold(Work::Upload, false);
        reader.join().unwrap()
    });
    assert_eq!(seen, [2.0, 3.0]);
}

/// Interaction 12: tensors that end while a copy uses their storage leave it to the copy.
#[test]
fn interaction_12_a_storage_outlives_its_tensors_for_a_copy() {
    let m = Machine::new();
    let memory = |d: &wick_runtime::device::Device| d.context().allocator().memory().live;
    let before = [&m.host, &m.device].map(|d| memory(d));
    let values: Vec<f64> = (0..1000).map(f64::from).collect();
    let host = m.tensor(&values);
    let there = m.there(&host);
    m.sim.hold(Work::Upload, true);
    there.prefetch("async_copy").unwrap();
    drop((host, there));
    assert!(memory(&m.host) > before[0] && memory(&m.device) > before[1], "kept for the copy");
    m.sim.hold(Work::Upload, false);
    m.device.upload_queue().unwrap().sync().unwrap();
    assert_eq!(m.sim.done(Work::Upload), 1);
    assert_eq!([&m.host, &m.device].map(|d| memory(d)), before, "freed after it");
}

/// DL-08, DL-10: an overwrite that is given up leaves elements that nobody may read until all are
/// written.
#[test]
fn dl_08_undefined_until_rewritten() {
    let m = Machine::new();
    let host = m.tensor(&[1.0, 2.0]);
    assert!(!part(&host, 0, 1).discard("host_overwrite").unwrap(), "a part is not discarded");
    assert_eq!(m.read(&host).unwrap(), [1.0, 2.0]);
    assert!(host.discard("host_overwrite").unwrap());
    for _ in 0..2 {
        let undefined = |e: wick_runtime::Error| matches!(e.kind(), Kind::Undefined { .. });
        assert!(undefined(m.read(&host).unwrap_err()));
        assert!(undefined(m.read(&m.there(&host)).unwrap_err()));
        assert!(undefined(m.add(&host, 1.0).unwrap_err()));
        assert!(undefined(m.fill(&part(&host, 0, 1), 1.0).unwrap_err()));
    }
    m.fill(&m.there(&host), 3.0).unwrap();
    assert_eq!(m.read(&host).unwrap(), [3.0, 3.0]);
}

/// DL-34: any threads may read on either side; writes on both sides at once are put in order or
/// refused, and never lost or torn.
#[test]
fn dl_34_threads() {
    let m = Machine::new();
    let host = m.tensor(&vec![0.0; 512]);
    let there = m.there(&host);
    let done = AtomicUsize::new(0);
    thread::scope(|s| {
        for i in 0..4 {
            let (m, t, done) = (&m, if i % 2 == 0 { &host } else { &there }, &done);
            s.spawn(move || {
                for _ in 0..100 {
                    match m.read(t) {
                        Ok(_) => {}
                        Err(e) => assert!(matches!(e.kind(), Kind::Device { .. }), "{e}"),
                    }
                }
            });
            // One writer a side: those of one side would race for its elements as for a plain tensor's.
            if i < 2 {
                s.spawn(move || {
                    for _ in 0..100 {
                        match m.add(t, 1.0) {
                            Ok(()) => done.fetch_add(1, Relaxed),
                            Err(e) => {
                                assert!(matches!(e.kind(), Kind::Device { .. }), "{e}");
                                0
                            }
                        };
                    }
                });
            }
        }
    });
    let sum = done.load(Relaxed) as f64;
    assert!(sum > 0.0);
    assert_eq!(m.read(&host).unwrap(), vec![sum; 512]);
    assert_eq!(m.read(&there).unwrap(), vec![sum; 512]);
}
