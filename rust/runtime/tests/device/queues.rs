//! Queues and events.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use wick_runtime::Error;
use wick_runtime::device::Queue;
use wick_runtime::error::Kind;

fn failure() -> Error {
    Kind::Device { op: "test", expected: "told to fail".into() }.into()
}

/// DL-04, AC-15, AC-17: jobs run in order; events tell of their end and chain queues.
#[test]
fn ac_17_events_order_queues() {
    let (a, b) = (Queue::new("a".into()), Queue::new("b".into()));
    let log = Arc::new(Mutex::new(Vec::new()));
    let note = |text: &'static str| {
        let log = log.clone();
        move || {
            log.lock().unwrap().push(text);
            Ok(())
        }
    };
    let (go, wait) = channel::<()>();
    let first = a.submit(move || {
        wait.recv().map_err(|_| failure())?;
        Ok(())
    });
    a.submit(note("a1"));
    let last = a.submit(note("a2"));
    b.wait_for(&last);
    let after = b.submit(note("b1"));
    assert!(!first.is_done() && !after.is_done());
    assert_eq!(after.wait_for(Duration::from_millis(5)), None);
    go.send(()).unwrap();
    assert_eq!(after.wait(), Ok(()));
    assert!(last.is_done());
    a.sync().unwrap();
    assert_eq!(*log.lock().unwrap(), ["a1", "a2", "b1"]);
}

/// A job's error and its panic are its event's; the queue goes on.
#[test]
fn jobs_may_fail() {
    let queue = Queue::new("q".into());
    assert_eq!(queue.submit(|| Err(failure())).wait(), Err(failure()));
    let panicked = queue.submit(|| panic!("in a job")).wait().unwrap_err();
    assert!(panicked.to_string().contains("in a job"));
    assert_eq!(queue.submit(|| Ok(())).wait(), Ok(()));
}

/// A turn runs on its caller between the jobs before and after it, and ends when it panics.
#[test]
fn turns_are_in_order() {
    let queue = Queue::new("q".into());
    let here = thread::current().id();
    let turn = queue.turn(|| Ok(()), || Ok(thread::current().id() == here));
    assert_eq!(turn, Ok(true));
    assert_eq!(queue.turn(|| Err(failure()), || Ok(())), Err(failure()));
    let body = || -> Result<(), Error> { panic!("in a turn") };
    let panicked =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| queue.turn(|| Ok(()), body)));
    assert!(panicked.is_err());
    assert_eq!(queue.sync(), Ok(()));
    let sum = Mutex::new(0);
    thread::scope(|s| {
        for _ in 0..8 {
            s.spawn(|| {
                for _ in 0..50 {
                    // Only one at a time: no lock waits.
                    let add = || {
                        *sum.try_lock().unwrap() += 1;
                        Ok(())
                    };
                    queue.turn(|| Ok(()), add).unwrap();
                }
            });
        }
    });
    assert_eq!(*sum.lock().unwrap(), 400);
}
