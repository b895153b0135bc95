//! All interleavings of a few threads that use one mirrored storage, by loom: no access ever meets a
//! transfer or a write on its side (loom's cells would tell), none is lost, nobody waits for ever.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use super::coherence::{Access, Coherence, Refusal, Side};

/// A storage of one number.
struct Storage {
    coherence: Coherence<()>,
    places: [UnsafeCell<u32>; 2],
}

// SAFETY: the places are what the test is about: loom watches each access.
unsafe impl Sync for Storage {}
// SAFETY: as above.
unsafe impl Send for Storage {}

impl Storage {
    fn new() -> Arc<Storage> {
        let places = [UnsafeCell::new(0), UnsafeCell::new(99)];
        Arc::new(Storage { coherence: Coherence::default(), places })
    }

    fn carry(&self, to: Side, ticket: u64) {
        self.coherence.carry(ticket, || {
            // SAFETY: what is tested.
            let value = self.places[to.other() as usize].with(|v| unsafe { *v });
            // SAFETY: as above.
            self.places[to as usize].with_mut(|v| unsafe { *v = value });
            Ok(())
        });
    }

    fn access(&self, side: Side, access: Access, f: impl FnOnce(&UnsafeCell<u32>)) {
        self.coherence.enter(side, access, &mut |ticket| self.carry(side, ticket)).unwrap();
        f(&self.places[side as usize]);
        self.coherence.exit(side, access);
    }

    fn read(&self, side: Side) -> u32 {
        let mut seen = 0;
        // SAFETY: what is tested.
        self.access(side, Access::Read, |v| seen = v.with(|v| unsafe { *v }));
        seen
    }

    fn add(&self, side: Side, n: u32) {
        // SAFETY: what is tested.
        self.access(side, Access::Write, |v| v.with_mut(|v| unsafe { *v += n }));
    }
}

/// Interaction 3: an upload carried by another thread, a write meanwhile, a read on the device.
#[test]
fn dl_06_upload_against_write() {
    loom::model(|| {
        let s = Storage::new();
        let mut ticket = 0;
        s.coherence.prefetch(Side::Mirror, &mut |t| ticket = t).unwrap();
        let worker = {
            let s = s.clone();
            thread::spawn(move || s.carry(Side::Mirror, ticket))
        };
        s.add(Side::Home, 1);
        assert_eq!(s.read(Side::Mirror), 1);
        worker.join().unwrap();
        assert_eq!((s.read(Side::Home), s.read(Side::Mirror)), (1, 1));
    });
}

/// DL-34: a reader on the device and a writer on the host.
#[test]
fn dl_34_reader_against_writer() {
    loom::model(|| {
        let s = Storage::new();
        let reader = {
            let s = s.clone();
            thread::spawn(move || s.read(Side::Mirror))
        };
        s.add(Side::Home, 1);
        assert!(reader.join().unwrap() <= 1);
        assert_eq!(s.read(Side::Mirror), 1);
    });
}

/// DL-34: writers on both sides are put in order.
#[test]
fn dl_34_writers_on_both_sides() {
    loom::model(|| {
        let s = Storage::new();
        let other = {
            let s = s.clone();
            thread::spawn(move || s.add(Side::Mirror, 1))
        };
        s.add(Side::Home, 1);
        other.join().unwrap();
        assert_eq!((s.read(Side::Home), s.read(Side::Mirror)), (2, 2));
    });
}

/// An overwrite given up against a reader: it sees the old elements or is refused.
#[test]
fn dl_08_discard_against_reader() {
    loom::model(|| {
        let s = Storage::new();
        let reader = {
            let s = s.clone();
            thread::spawn(move || {
                let start = &mut |ticket| s.carry(Side::Mirror, ticket);
                match s.coherence.enter(Side::Mirror, Access::Read, start) {
                    Ok(()) => s.coherence.exit(Side::Mirror, Access::Read),
                    Err(e) => assert_eq!(e, Refusal::Undefined),
                }
            })
        };
        s.coherence.discard().unwrap();
        reader.join().unwrap();
        // SAFETY: what is tested.
        s.access(Side::Home, Access::Overwrite, |v| v.with_mut(|v| unsafe { *v = 5 }));
        assert_eq!(s.read(Side::Mirror), 5);
    });
}
