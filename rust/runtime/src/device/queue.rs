//! Queues, which run jobs in order on a thread of their own, and the events that tell of their end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Error, Kind, Result};

type Job = Box<dyn FnOnce() + Send>;

/// The end of a job: may be asked for, waited for, and waited for by a queue.
#[derive(Clone, Default)]
pub struct Event(Arc<Signal>);

#[derive(Default)]
struct Signal {
    result: Mutex<Option<Result<()>>>,
    done: Condvar,
}

impl Event {
    /// Of something that has ended.
    pub(crate) fn ended(result: Result<()>) -> Event {
        let event = Event::default();
        event.set(result);
        event
    }

    fn lock(&self) -> MutexGuard<'_, Option<Result<()>>> {
        self.0.result.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, result: Result<()>) {
        *self.lock() = Some(result);
        self.0.done.notify_all();
    }

    /// Whether the job has ended, well or not.
    pub fn is_done(&self) -> bool {
        self.lock().is_some()
    }

    /// Waits for the end; the job's error, if it had one.
    pub fn wait(&self) -> Result<()> {
        let mut result = self.lock();
        loop {
            if let Some(result) = &*result {
                return result.clone();
            }
            result = self.0.done.wait(result).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// As [`Event::wait`] for a limited time; none where it was not enough.
    pub fn wait_for(&self, limit: Duration) -> Option<Result<()>> {
        let end = Instant::now() + limit;
        let mut result = self.lock();
        loop {
            if result.is_some() {
                return result.clone();
            }
            let left = end.checked_duration_since(Instant::now())?;
            let waited = self.0.done.wait_timeout(result, left);
            result = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Runs jobs one after another. Its thread starts with the first and ends, after all of them, with
/// the queue.
pub struct Queue {
    name: String,
    jobs: Mutex<Option<Sender<Job>>>,
}

impl Queue {
    /// A queue whose thread has this name.
    pub fn new(name: String) -> Queue {
        Queue { name, jobs: Mutex::new(None) }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs a job after those before it. A panic is the event's error.
    pub fn submit(&self, job: impl FnOnce() -> Result<()> + Send + 'static) -> Event {
        let event = Event::default();
        let end = event.clone();
        let job = move || {
            let result = catch_unwind(AssertUnwindSafe(job))
                .unwrap_or_else(|payload| Err(crate::error::of_panic(payload)));
            end.set(result);
        };
        if let Err(e) = self.send(Box::new(job)) {
            event.set(Err(e));
        }
        event
    }

    fn send(&self, job: Job) -> Result<()> {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        if jobs.is_none() {
            let (sender, receiver) = channel::<Job>();
            let work = move || receiver.into_iter().for_each(|job| job());
            let started = thread::Builder::new().name(self.name.clone()).spawn(work);
            started.map_err(|e| Kind::Device {
                op: "queue",
                expected: format!("{}: no thread: {e}", self.name).into(),
            })?;
            *jobs = Some(sender);
        }
        let ended = || Error::internal("a queue's thread has ended".into());
        jobs.as_ref().ok_or_else(ended)?.send(job).map_err(|_| ended())
    }

    /// Jobs submitted from now on begin after an event of whichever queue.
    pub fn wait_for(&self, event: &Event) {
        let event = event.clone();
        self.submit(move || {
            // Its failure is told to those who wait for it.
            let _ = event.wait();
            Ok(())
        });
    }

    /// Done when all jobs submitted before are.
    pub fn event(&self) -> Event {
        self.submit(|| Ok(()))
    }

    /// Waits for all jobs submitted before.
    pub fn sync(&self) -> Result<()> {
        self.event().wait()
    }

    /// Runs `body` on the calling thread when its turn in the queue has come; later jobs wait for
    /// its end. `begin` runs on the queue's thread first and may refuse.
    pub fn turn<T>(
        &self,
        begin: impl FnOnce() -> Result<()> + Send + 'static,
        body: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let (go, turn) = channel::<()>();
        let (end, ended) = channel::<()>();
        let event = self.submit(move || {
            begin()?;
            // A caller that is gone needs no turn; one that panics drops its end of the channel.
            if go.send(()).is_ok() {
                let _ = ended.recv();
            }
            Ok(())
        });
        if turn.recv().is_err() {
            return event.wait().and(Err(Error::internal("a queue gave no turn".into())));
        }
        let _end = end;
        body()
    }
}
