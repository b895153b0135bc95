//! The record of the thread at hand.

use std::cell::Cell;
use std::sync::LazyLock;

use super::reader::{Reader, Readers, Turn};

static READERS: LazyLock<Readers> = LazyLock::new(Readers::default);

thread_local! {
    static OWN: Cell<Option<&'static Reader>> = const { Cell::new(None) };
    static END: End = const { End };
}

/// Gives the thread's record back when the thread ends.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        if let Some(reader) = OWN.take() {
            reader.give_back();
        }
    }
}

/// This thread's record.
#[inline]
pub fn own() -> &'static Reader {
    OWN.get().unwrap_or_else(first_call)
}

#[cold]
fn first_call() -> &'static Reader {
    let reader = READERS.take();
    OWN.set(Some(reader));
    // A thread that is ending keeps its record for good.
    let _ = END.try_with(|_| {});
    reader
}

/// The calls of all threads that are in progress.
pub fn calls() -> Vec<Turn> {
    READERS.calls()
}
