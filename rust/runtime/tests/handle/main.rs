//! Interleavings of a few threads at one slot of the handle table, by shuttle, which runs the library's
//! own code with its atomics: nobody ever sees a value that was freed, and each is freed once. The
//! shortest are run in every order, the others in the orders that few preemptions make (Burckhardt et
//! al. 2010), which is where such faults are.

#[path = "../../src/handle/claim.rs"]
#[allow(dead_code)]
mod claim;
#[path = "../../src/handle/reader.rs"]
#[allow(dead_code)]
mod reader;
mod sync;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use claim::Claim;
use reader::{Reader, Readers, Turn};
use shuttle::sync::Arc;
use shuttle::thread;

/// A slot whose value is the number of times that it was freed, and what waits to be freed.
#[derive(Default)]
struct Slot {
    claim: Claim,
    readers: Readers,
    freed: AtomicU32,
    closed: AtomicU32,
    late: Mutex<Vec<Turn>>,
}

impl Slot {
    /// A use as the table does it.
    fn read(&self, generation: u64, reader: &'static Reader) {
        reader.enter();
        if self.claim.find(generation, reader) {
            assert_eq!(self.freed.load(SeqCst), 0, "freed before it was found");
            thread::yield_now();
            assert_eq!(self.freed.load(SeqCst), 0, "freed during the call");
        }
        reader.leave();
    }

    /// A close as the table does it; what has to wait is freed at the end.
    fn close(&self, generation: u64, reader: &'static Reader) {
        let Some(alone) = self.claim.close(generation, reader) else { return };
        self.closed.fetch_add(1, SeqCst);
        if alone && reader.call().is_none() {
            return self.free();
        }
        let calls = self.readers.calls();
        if calls.is_empty() {
            self.free();
        } else {
            *self.late.lock().unwrap() = calls;
        }
    }

    fn free(&self) {
        self.freed.fetch_add(1, SeqCst);
        self.claim.free();
    }

    /// After all threads have ended.
    fn settle(&self, generation: u64) {
        let late = std::mem::take(&mut *self.late.lock().unwrap());
        if !late.is_empty() {
            assert!(late.iter().all(Reader::ended));
            self.free();
        }
        assert_eq!(self.closed.load(SeqCst), 1);
        assert_eq!(self.freed.load(SeqCst), 1);
        assert!(!self.claim.is_live(generation));
    }
}

type Act = fn(&Slot, u64, &'static Reader);

/// The maker and others, each doing its acts.
fn acting(
    maker: &'static [Act],
    others: &'static [&'static [Act]],
) -> impl Fn() + Send + Sync + 'static {
    move || {
        let slot = Arc::new(Slot::default());
        let own = slot.readers.take();
        let generation = slot.claim.publish(own);
        let threads: Vec<_> = others
            .iter()
            .map(|acts| {
                let slot = Arc::clone(&slot);
                let reader = slot.readers.take();
                thread::spawn(move || acts.iter().for_each(|act| act(&slot, generation, reader)))
            })
            .collect();
        maker.iter().for_each(|act| act(&slot, generation, own));
        threads.into_iter().for_each(|t| t.join().unwrap());
        slot.settle(generation);
    }
}

fn all_orders(maker: &'static [Act], others: &'static [&'static [Act]]) {
    shuttle::check_dfs(acting(maker, others), None);
}

fn some_orders(maker: &'static [Act], others: &'static [&'static [Act]]) {
    shuttle::check_pct(acting(maker, others), 1000, 4);
}

#[test]
fn the_maker_closes_while_another_reads() {
    all_orders(&[Slot::close], &[&[Slot::read]]);
    some_orders(&[Slot::read, Slot::close], &[&[Slot::read]]);
}

#[test]
fn another_closes_while_the_maker_reads() {
    all_orders(&[Slot::read], &[&[Slot::close]]);
    some_orders(&[Slot::read], &[&[Slot::read, Slot::close]]);
}

/// BR-218
#[test]
fn two_close_and_one_frees() {
    all_orders(&[Slot::close], &[&[Slot::close]]);
    some_orders(&[Slot::close], &[&[Slot::read, Slot::close]]);
}

#[test]
fn strangers_read_and_close() {
    some_orders(&[], &[&[Slot::read], &[Slot::close]]);
    some_orders(&[Slot::close], &[&[Slot::read], &[Slot::read]]);
}
